//! Errors and notes of a run: printed to standard error, or collected for a program that passes them on.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use manifest::source::{Source, Span};
use render::human;

use super::form::Color;
use super::terminal;

/// Receiver of the errors and notes of a run.
pub(crate) trait Messages: Sync {
    fn error(&self, message: &str);

    fn note(&self, message: &str);

    /// Receives an error at a place in a text.
    fn problem(&self, source: &Source, span: Span, message: &str);
}

/// The terminal prints them.
impl Messages for Color {
    fn error(&self, message: &str) {
        terminal::error(*self, message);
    }

    fn note(&self, message: &str) {
        terminal::note(*self, message);
    }

    fn problem(&self, source: &Source, span: Span, message: &str) {
        let mut stream = terminal::stderr(*self);
        let text = human::problem(source, span, message, self.on_stderr());
        // A closed standard error is not an error.
        let _ = writeln!(stream, "{text}\n").and_then(|()| stream.flush());
    }
}

/// Messages in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct CollectedMessages {
    texts: Mutex<Vec<String>>,
}

impl CollectedMessages {
    fn push(&self, text: &str) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messages for CollectedMessages {
    fn error(&self, message: &str) {
        self.push(message);
    }

    fn note(&self, message: &str) {
        self.push(message);
    }

    fn problem(&self, source: &Source, span: Span, message: &str) {
        let position = source.position(span.start);
        self.push(&format!("`{}`:{}:{}: {message}", source.name(), position.line, position.column));
    }
}

/// Messages that are passed on once each: several commands read the same input.
pub(crate) struct DistinctMessages<'m> {
    to: &'m dyn Messages,
    /// Whether notes are left out.
    is_quiet: bool,
    seen: Mutex<BTreeSet<String>>,
}

impl<'m> DistinctMessages<'m> {
    pub(crate) fn new(to: &'m dyn Messages, is_quiet: bool) -> Self {
        Self { to, is_quiet, seen: Mutex::default() }
    }

    fn is_new(&self, text: &str) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }
}

impl Messages for DistinctMessages<'_> {
    fn error(&self, message: &str) {
        if self.is_new(message) {
            self.to.error(message);
        }
    }

    fn note(&self, message: &str) {
        if !self.is_quiet && self.is_new(message) {
            self.to.note(message);
        }
    }

    fn problem(&self, source: &Source, span: Span, message: &str) {
        if self.is_new(&format!("{} {} {message}", source.name(), span.start)) {
            self.to.problem(source, span, message);
        }
    }
}
