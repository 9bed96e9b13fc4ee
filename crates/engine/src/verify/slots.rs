//! Documents that fixes change together.

use std::collections::BTreeMap;

use cluster::ids::DocumentId;

use super::candidate::FixCandidate;

/// Sets of documents that fixes change together, each named by its first document. The fixes of a set are tried together.
#[derive(Debug, Default)]
pub(super) struct Slots(BTreeMap<DocumentId, DocumentId>);

impl Slots {
    /// Joins the documents of each fix.
    pub(super) fn of(candidates: &[FixCandidate<'_>]) -> Self {
        let mut slots = Self::default();
        for candidate in candidates {
            let mut documents = candidate.parts.iter().map(|part| part.document);
            let Some(first) = documents.next() else { continue };
            for other in documents {
                let (one, two) = (slots.slot_of(first), slots.slot_of(other));
                if one != two {
                    slots.0.insert(one.max(two), one.min(two));
                }
            }
        }
        slots
    }

    /// The set that a document belongs to.
    pub(super) fn slot_of(&mut self, document: DocumentId) -> DocumentId {
        let mut slot = document;
        while let Some(above) = self.0.get(&slot) {
            slot = *above;
        }
        // The next search from one of these documents takes one step.
        let mut at = document;
        while at != slot {
            let Some(above) = self.0.insert(at, slot) else { break };
            at = above;
        }
        slot
    }
}
