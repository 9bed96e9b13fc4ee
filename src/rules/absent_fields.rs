//! The fields that an object lacks, to suggest one for an unknown field.

use std::collections::BTreeSet;

use manifest::tree::{Node, NodeId};

/// Number of unknown fields in a document that get a suggestion. More unknown fields are not misspelt, and each search for a
/// similar name compares all names.
const MAX_SUGGESTIONS: usize = 100;

/// The names that an object can have and has not. The names of the last object are kept, because unknown fields come object by
/// object, and to search the object for each of them would take quadratic time.
#[derive(Debug, Default)]
pub(crate) struct AbsentFields {
    /// Position of the object in its document.
    holder: Option<NodeId>,
    names: Vec<&'static str>,
    /// Number of fields so far.
    asked: usize,
}

impl AbsentFields {
    /// The names among `known` that the object around a field lacks. `None` after the fields that get a suggestion.
    pub(crate) fn around(
        &mut self,
        field: Node<'_>,
        known: impl Iterator<Item = &'static str>,
    ) -> Option<&[&'static str]> {
        self.asked += 1;
        if self.asked > MAX_SUGGESTIONS {
            return None;
        }
        let holder = field.parent();
        if holder.map(Node::id) != self.holder || self.holder.is_none() {
            let members = holder.into_iter().flat_map(Node::members);
            let present: BTreeSet<&str> = members.map(|(key, _)| key).collect();
            self.holder = holder.map(Node::id);
            self.names = known.filter(|name| !present.contains(name)).collect();
        }
        Some(&self.names)
    }
}
