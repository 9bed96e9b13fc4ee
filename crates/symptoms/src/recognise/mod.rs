//! The one step in which an entry is matched against the vocabulary.

pub mod fields;
mod index;
pub mod mask;
mod pieces;
#[cfg(test)]
mod tests;

use super::entry::Entry;
use super::vocabulary::MessageId;
pub use index::{Known, Meaning, PatternId, SymptomId};
use index::{Matches, index};

/// Recognises entries one after another.
#[derive(Debug, Default)]
pub struct Recogniser {
    /// The matches of the last entry: their memory is used again for the next one.
    matches: Matches,
}

/// An entry, and the messages that it matches.
#[derive(Clone, Copy, Debug)]
pub struct Recognised<'r, 'e> {
    /// The entry.
    pub entry: &'r Entry<'e>,
    matches: &'r Matches,
}

impl Recogniser {
    /// Matches an entry against the vocabulary.
    pub fn recognise<'r, 'e>(&'r mut self, entry: &'r Entry<'e>) -> Recognised<'r, 'e> {
        index().find(entry, &mut self.matches);
        Recognised { entry, matches: &self.matches }
    }
}

impl Recognised<'_, '_> {
    /// Whether the vocabulary knows a message of the entry.
    pub fn is_understood(&self) -> bool {
        !self.matches.messages.is_empty()
    }

    /// Whether only a text anywhere in the line was recognised.
    pub fn is_by_text_alone(&self) -> bool {
        self.matches.by_text_alone
    }

    /// The messages with their patterns, in the order of the vocabulary.
    pub fn messages(&self) -> impl Iterator<Item = (PatternId, Known)> {
        self.matches.messages.iter().filter_map(|id| index().known(*id).map(|known| (*id, known)))
    }

    /// The identities of the messages, each once, in their own order.
    pub fn ids(&self) -> impl Iterator<Item = MessageId> {
        self.matches.ids.iter().copied()
    }

    /// Whether a message of this identity is among them.
    pub fn is(&self, id: MessageId) -> bool {
        self.matches.ids.contains(&id)
    }
}
