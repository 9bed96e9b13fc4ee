//! Places of values in the texts of a configuration.

use std::sync::Arc;

use manifest::source::{Source, Span};

/// Number of a text in the list of texts of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextNumber(u32);

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

/// The texts that a configuration was read from.
#[derive(Debug, Default)]
pub struct Texts {
    sources: Vec<Arc<Source>>,
}

impl Texts {
    /// Adds a text.
    pub(crate) fn push(&mut self, source: Arc<Source>) -> TextNumber {
        self.sources.push(source);
        TextNumber(u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX))
    }

    /// The text of a number of this list.
    pub fn get(&self, text: TextNumber) -> Option<&Arc<Source>> {
        self.sources.get(text.0 as usize)
    }

    /// The bytes at a place.
    pub fn slice(&self, place: TextPlace) -> &str {
        self.get(place.text).map_or("", |source| place.span().text(source.text()))
    }

    /// The texts in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.sources.iter()
    }
}
