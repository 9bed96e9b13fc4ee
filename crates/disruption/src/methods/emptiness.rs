//! Emptiness: deletes empty nodes.
//!
//! Source: pkg/controllers/disruption/emptiness.go of kubernetes-sigs/karpenter at v1.14.1.

use super::Pass;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::engine::Engine;

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Deletes as many empty nodes as budgets allow.
    pub(super) fn emptiness(
        &self,
        mut candidates: Vec<Candidate<'e, 's, 'o>>,
        pass: &mut Pass<'o>,
    ) -> Option<Draft<'e, 's, 'o>> {
        self.sort(&mut candidates);
        candidates.retain(|candidate| pass.take(candidate));
        (!candidates.is_empty()).then(|| Draft::delete(candidates))
    }
}
