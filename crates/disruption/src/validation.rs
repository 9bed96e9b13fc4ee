//! Validation of a command after the wait of 15 seconds.
//!
//! Source: pkg/controllers/disruption/validation.go of kubernetes-sigs/karpenter at v1.14.1 and v1.4.0.

use std::collections::BTreeSet;

use crate::behaviour::Behaviour;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::engine::Engine;
use crate::event::Recorder;
use crate::methods::Method;
use crate::simulate::Purpose;

/// Reason for which a command is not valid any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// A node is no candidate any more.
    Churn,
    /// Budgets or a nomination do not allow it any more.
    Budget,
    /// The pods would be placed otherwise.
    Scheduling,
}

impl Invalid {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Churn => "churn",
            Self::Budget => "budget",
            Self::Scheduling => "scheduling",
        }
    }
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// The nodes of a command of `Emptiness` that are still valid.
    pub(crate) fn valid_empty(
        &self,
        draft: &Draft<'_, '_, '_>,
        recorder: &mut Recorder,
    ) -> Vec<Candidate<'e, 's, 'o>> {
        let current = self.current(Method::Emptiness, draft, recorder);
        let mut quota = self.quota(Method::Emptiness.reason(), recorder);
        let mut valid = current;
        valid.retain(|candidate| match quota.get_mut(candidate.pool_name()) {
            Some(left) if *left != 0 => {
                *left -= 1;
                true
            }
            _ => false,
        });
        let needs_all = !Behaviour::PARTIAL_EMPTINESS.holds_in(self.settings.release());
        if needs_all && valid.len() != draft.candidates.len() {
            return Vec::new();
        }
        valid
    }

    /// Whether a command of consolidation is still valid.
    pub(crate) fn validate(
        &self,
        method: Method,
        draft: &Draft<'_, '_, '_>,
        recorder: &mut Recorder,
    ) -> Result<(), Invalid> {
        let current = self.current(method, draft, recorder);
        if current.len() != draft.candidates.len() {
            return Err(Invalid::Churn);
        }
        let mut quota = self.quota(method.reason(), recorder);
        for candidate in &current {
            let left = quota.get_mut(candidate.pool_name()).filter(|left| **left != 0);
            *left.ok_or(Invalid::Budget)? -= 1;
        }
        self.places_alike(draft, &current, recorder).then_some(()).ok_or(Invalid::Scheduling)
    }

    /// The candidates of a command as they are now.
    fn current(
        &self,
        method: Method,
        draft: &Draft<'_, '_, '_>,
        recorder: &mut Recorder,
    ) -> Vec<Candidate<'e, 's, 'o>> {
        let names: BTreeSet<&str> = draft.candidates.iter().map(Candidate::name).collect();
        let (mut current, _) = self.candidates(method, recorder);
        current.retain(|candidate| names.contains(candidate.name()));
        current
    }

    /// Whether a simulation wants as many new nodes as the command, with all its instance types.
    fn places_alike(
        &self,
        draft: &Draft<'_, '_, '_>,
        current: &[Candidate<'e, 's, 'o>],
        recorder: &mut Recorder,
    ) -> bool {
        let candidates: Vec<&Candidate<'e, 's, 'o>> = current.iter().collect();
        let simulated = self.simulate(&candidates, Purpose::Consolidation, recorder);
        let Ok(Some(simulated)) = simulated else { return false };
        if simulated.failure.is_some() {
            return false;
        }
        match (draft.nodes.as_slice(), simulated.nodes.as_slice()) {
            ([], []) => true,
            ([planned], [now]) => {
                let types: BTreeSet<&str> = now.type_names().collect();
                planned.type_names().all(|name| types.contains(name))
            }
            _ => false,
        }
    }
}
