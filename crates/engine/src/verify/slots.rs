//! Documents that fixes change together.

use std::collections::BTreeMap;

use cluster::ids::{ClusterId, DocumentId};

use super::candidate::{FixCandidate, FixPart};

/// Sets of documents that fixes change together, each named by its first document. The fixes of a set are tried together.
#[derive(Debug, Default)]
pub(super) struct Slots(BTreeMap<DocumentId, DocumentId>);

impl Slots {
    /// Joins the documents of each fix, and all documents that configurations make.
    pub(super) fn of(candidates: &[FixCandidate<'_>]) -> Self {
        let mut slots = Self::default();
        // One evaluation verifies the fixes of all configurations of a cluster.
        let mut evaluated = BTreeMap::<ClusterId, DocumentId>::new();
        for candidate in candidates {
            let mut documents = candidate.parts.iter().map(|part| part.document);
            let Some(first) = documents.next() else { continue };
            documents.for_each(|other| slots.join(first, other));
            if candidate.parts.iter().any(FixPart::is_evaluated) {
                let known = *evaluated.entry(first.file.cluster).or_insert(first);
                slots.join(known, first);
            }
        }
        slots
    }

    fn join(&mut self, one: DocumentId, other: DocumentId) {
        let (one, other) = (self.slot_of(one), self.slot_of(other));
        if one != other {
            self.0.insert(one.max(other), one.min(other));
        }
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
