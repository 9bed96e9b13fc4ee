//! Places of values in the texts of a configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifest::source::{Source, Span};

/// Number of a text among the texts of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextNumber(u32);

impl TextNumber {
    /// The number after this one.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Bytes of a text of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPlace {
    /// The text.
    pub text: TextNumber,
    start: u32,
    end: u32,
}

impl TextPlace {
    /// The place of a span in a text. Texts are shorter than 4 GiB.
    pub fn new(text: TextNumber, span: Span) -> Self {
        let narrow = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Self { text, start: narrow(span.start), end: narrow(span.end) }
    }

    /// The bytes.
    pub fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }

    /// The part of the place that a span, relative to its start, covers.
    pub(crate) fn part(self, start: usize, end: usize) -> Self {
        let from = self.span();
        Self::new(self.text, Span::new((from.start + start).min(from.end), (from.start + end).min(from.end)))
    }
}

/// The texts that a configuration was read from, by number.
#[derive(Debug, Default)]
pub struct Texts {
    sources: BTreeMap<TextNumber, Arc<Source>>,
}

impl Texts {
    /// Adds a text.
    pub(crate) fn insert(&mut self, text: TextNumber, source: &Arc<Source>) {
        self.sources.entry(text).or_insert_with(|| Arc::clone(source));
    }

    /// The text of a number, if the configuration was read from it.
    pub fn get(&self, text: TextNumber) -> Option<&Arc<Source>> {
        self.sources.get(&text)
    }

    /// The bytes at a place.
    pub fn slice(&self, place: TextPlace) -> &str {
        self.get(place.text).map_or("", |source| place.span().text(source.text()))
    }
}
