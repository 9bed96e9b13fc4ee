//! What was said, when and where: kept so that it can be quoted.

use crate::entry::{At, Entry, Time};

/// How many characters of a line are kept.
const LONGEST: usize = 1_000;

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// When, as far as it is known.
    pub time: Option<Time>,
    /// Where it stands.
    pub at: At,
    /// In which words, cut where they are many.
    pub text: Box<str>,
}

impl Said {
    /// What an entry says.
    pub fn of(entry: &Entry<'_>) -> Self {
        Self::new(entry.time, entry.at, &entry.text)
    }

    /// What is said at a place.
    pub fn new(time: Option<Time>, at: At, text: &str) -> Self {
        // A line that is not long in bytes is not in characters.
        let cut = if text.len() > LONGEST { text.char_indices().nth(LONGEST) } else { None };
        let end = cut.map_or(text.len(), |(end, _)| end);
        Self { time, at, text: text.get(..end).unwrap_or(text).into() }
    }

    /// By this what was said is put in order: what is dated first, then what has an age, then the rest.
    pub fn key(&self) -> (bool, Option<Time>, At) {
        (self.time.is_none(), self.time, self.at)
    }

    /// Keeps the earlier of what is there and what is new.
    pub fn keep_first(slot: &mut Option<Self>, entry: &Entry<'_>) {
        let key = (entry.time.is_none(), entry.time, entry.at);
        if slot.as_ref().is_none_or(|there| key < there.key()) {
            *slot = Some(Self::of(entry));
        }
    }
}

/// How many milliseconds passed from one thing to another; negative where the other was first.
pub fn gap(from: Option<&Said>, to: Option<&Said>) -> Option<i64> {
    to?.time?.since(from?.time?)
}
