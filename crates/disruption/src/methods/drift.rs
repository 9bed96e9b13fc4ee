//! Drift: replaces a node that does not match its NodePool any more.
//!
//! Source: pkg/controllers/disruption/drift.go of kubernetes-sigs/karpenter at v1.14.1, v1.5.0 and v1.4.1.

use super::Pass;
use crate::behaviour::Behaviour;
use crate::blocker::sentence;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::engine::Engine;
use crate::simulate::{Fault, Purpose};

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Replaces the node that drifted first and whose pods find a place. Empty nodes come first.
    pub(crate) fn drift(
        &self,
        mut candidates: Vec<Candidate<'e, 's, 'o>>,
        pass: &mut Pass<'o>,
    ) -> Option<Draft<'e, 's, 'o>> {
        let release = self.settings.release();
        candidates.sort_by_key(|candidate| candidate.node.drifted_since);
        let is_empty = |candidate: &Candidate<'_, '_, '_>| candidate.reschedulable.is_empty();
        let (empty, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_empty);
        if !Behaviour::EMPTINESS_FIRST.holds_in(release) {
            let allowed: Vec<_> = empty.iter().filter(|candidate| pass.take(candidate)).cloned().collect();
            if !allowed.is_empty() {
                return Some(Draft::delete(allowed));
            }
        }
        let skips_empty = Behaviour::DRIFT_SKIPS_EMPTY.holds_in(release);
        let empty = empty.iter().filter(|_| !skips_empty);
        for candidate in empty.chain(&others) {
            // An error stops the method.
            if let Some(draft) = self.drift_of(candidate, pass).ok()? {
                return Some(draft);
            }
        }
        None
    }

    /// Replaces a node if the budget is left and its pods find a place.
    pub(crate) fn drift_of(
        &self,
        candidate: &Candidate<'e, 's, 'o>,
        pass: &mut Pass<'o>,
    ) -> Result<Option<Draft<'e, 's, 'o>>, Fault> {
        if pass.is_exhausted(candidate) {
            return Ok(None);
        }
        let simulated = self.simulate(&[candidate], Purpose::Drift, &mut pass.recorder)?;
        let Some(simulated) = simulated else { return Ok(None) };
        if let Some(failure) = &simulated.failure {
            let release = self.settings.release();
            pass.recorder.blocked(candidate.node, sentence(failure, release), release);
            pass.meets_starting |= simulated.meets_starting;
            return Ok(None);
        }
        Ok(Some(Draft::of(&[candidate], simulated)))
    }
}
