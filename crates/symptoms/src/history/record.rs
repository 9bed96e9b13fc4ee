//! Records of messages and objects, to be quoted as evidence.

use crate::entry::{At, Entry, Time};

/// Length of a quote in characters.
const MAX_TEXT: usize = 1_000;

/// A message or object with its time and location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time, if it is known.
    pub time: Option<Time>,
    /// The location in the input.
    pub at: At,
    /// The text, cut if it is long.
    pub text: Box<str>,
}

impl Record {
    /// Returns the record of an entry.
    pub fn of(entry: &Entry<'_>) -> Self {
        Self::new(entry.time, entry.at, &entry.text)
    }

    /// Returns a record with a text.
    pub fn new(time: Option<Time>, at: At, text: &str) -> Self {
        // Text that is short in bytes is short in characters.
        let cut = if text.len() > MAX_TEXT { text.char_indices().nth(MAX_TEXT) } else { None };
        let end = cut.map_or(text.len(), |(end, _)| end);
        Self { time, at, text: text.get(..end).unwrap_or(text).into() }
    }

    /// Sort key: dates first, then ages, then records without a time.
    pub fn key(&self) -> (bool, Option<Time>, At) {
        (self.time.is_none(), self.time, self.at)
    }

    /// Keeps the earlier one of the record in the slot and the entry.
    pub fn keep_first(slot: &mut Option<Self>, entry: &Entry<'_>) {
        let key = (entry.time.is_none(), entry.time, entry.at);
        if slot.as_ref().is_none_or(|there| key < there.key()) {
            *slot = Some(Self::of(entry));
        }
    }
}

/// Returns the milliseconds from one record to the other; negative if the other is earlier.
pub fn gap(from: Option<&Record>, to: Option<&Record>) -> Option<i64> {
    to?.time?.since(from?.time?)
}
