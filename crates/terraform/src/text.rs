//! Strings that know where each of their bytes comes from.

use std::sync::Arc;

use crate::place::TextPlace;
use crate::value::EvaluatedValue;

/// String with the places of its parts.
#[derive(Clone, Debug, Default)]
pub struct EvaluatedText {
    content: Arc<str>,
    pieces: Arc<[Piece]>,
    encoded: Option<Arc<EvaluatedValue>>,
}

/// Part of a string that comes from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte of the part in the string. The part ends where the next one starts.
    pub start: usize,
    /// The bytes of the configuration that it comes from.
    pub place: TextPlace,
    /// Whether the bytes of the configuration are the bytes of the string, so that a part of one is a part of the other.
    pub is_verbatim: bool,
}

impl Piece {
    /// The place of a range of the string within the part.
    fn within(&self, start: usize, end: usize) -> TextPlace {
        if self.is_verbatim { self.place.part(start - self.start, end - self.start) } else { self.place }
    }
}

impl EvaluatedText {
    /// A string that comes from one place, and does not have its bytes.
    pub(crate) fn computed(content: impl Into<Arc<str>>, place: TextPlace) -> Self {
        let mut builder = TextBuilder::default();
        builder.push(&content.into(), place, false);
        builder.finish()
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        &self.content
    }

    /// The string, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.content)
    }

    /// The parts in order. A string without bytes has none.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The value that the string is the YAML or JSON of, if `yamlencode` or `jsonencode` wrote it. Of the placeholder of an object
    /// that is known but for some of its keys and values, the object with placeholders.
    pub fn encoded(&self) -> Option<&EvaluatedValue> {
        self.encoded.as_deref()
    }

    pub(crate) fn with_encoded(self, value: EvaluatedValue) -> Self {
        Self { encoded: Some(Arc::new(value)), ..self }
    }

    /// The place that a range of the string comes from: exact within a verbatim part, otherwise from the part with the first byte to the part
    /// with the last one, as long as both are in one text.
    pub fn place_of(&self, start: usize, end: usize) -> Option<TextPlace> {
        let first = self.piece_at(start)?;
        let from = self.place_in(first, start, start)?;
        let last = self.piece_at(end.saturating_sub(1).max(start))?;
        let to = self.place_in(last, end.saturating_sub(1).max(start), end)?;
        if from.text != to.text || from.span().start > to.span().end {
            return Some(from);
        }
        Some(TextPlace::new(from.text, from.span().to(to.span())))
    }

    /// Number of the part with a byte of the string; the end of the string belongs to the last part.
    fn piece_at(&self, byte: usize) -> Option<usize> {
        self.pieces.partition_point(|piece| piece.start <= byte).checked_sub(1)
    }

    fn place_in(&self, index: usize, start: usize, end: usize) -> Option<TextPlace> {
        Some(self.pieces.get(index)?.within(start, end))
    }

    /// A range of the string. Its bounds are on boundaries of characters.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        let mut builder = TextBuilder::default();
        builder.push_range(self, start, end);
        builder.finish()
    }
}

impl PartialEq for EvaluatedText {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for EvaluatedText {}

/// Builder of a [`EvaluatedText`].
#[derive(Clone, Debug, Default)]
pub(crate) struct TextBuilder {
    content: String,
    pieces: Vec<Piece>,
}

impl TextBuilder {
    pub(crate) fn len(&self) -> usize {
        self.content.len()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.content
    }

    /// Adds bytes that come from a place.
    pub(crate) fn push(&mut self, content: &str, place: TextPlace, is_verbatim: bool) {
        if content.is_empty() {
            return;
        }
        let start = self.content.len();
        let continued = self.pieces.last().is_some_and(|last| {
            if is_verbatim {
                last.is_verbatim
                    && last.place.text == place.text
                    && last.place.span().end == place.span().start
                    && last.place.span().len() == start - last.start
            } else {
                !last.is_verbatim && last.place == place
            }
        });
        match self.pieces.last_mut().filter(|_| continued) {
            Some(last) if is_verbatim => {
                last.place = TextPlace::new(place.text, last.place.span().to(place.span()));
            }
            Some(_) => {}
            None => self.pieces.push(Piece { start, place, is_verbatim }),
        }
        self.content.push_str(content);
    }

    /// Adds a string with the places of its parts.
    pub(crate) fn push_text(&mut self, text: &EvaluatedText) {
        self.push_range(text, 0, text.content.len());
    }

    /// Adds a range of a string.
    pub(crate) fn push_range(&mut self, text: &EvaluatedText, start: usize, end: usize) {
        self.push_pieces(&text.content, &text.pieces, start, end);
    }

    /// Adds the end of another string from a byte on.
    pub(crate) fn push_built(&mut self, other: &Self, start: usize) {
        self.push_pieces(&other.content, &other.pieces, start, other.content.len());
    }

    fn push_pieces(&mut self, content: &str, pieces: &[Piece], start: usize, end: usize) {
        let end = end.min(content.len());
        let first = pieces.partition_point(|piece| piece.start <= start).saturating_sub(1);
        for (index, piece) in pieces.iter().enumerate().skip(first) {
            let next = pieces.get(index + 1).map_or(content.len(), |next| next.start);
            let (from, to) = (piece.start.max(start), next.min(end));
            if from >= to {
                break;
            }
            self.push(content.get(from..to).unwrap_or_default(), piece.within(from, to), piece.is_verbatim);
        }
    }

    /// Removes whitespace at the end, but nothing before a byte.
    pub(crate) fn trim_end(&mut self, from: usize) {
        let kept = self.content.get(from..).map_or(from, |tail| from + tail.trim_end().len());
        self.content.truncate(kept);
        self.pieces.retain(|piece| piece.start < kept);
        if let Some(last) = self.pieces.last_mut().filter(|last| last.is_verbatim) {
            last.place = last.place.part(0, kept - last.start);
        }
    }

    pub(crate) fn finish(self) -> EvaluatedText {
        EvaluatedText { content: self.content.into(), pieces: self.pieces.into(), encoded: None }
    }
}
