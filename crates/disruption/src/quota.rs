//! The number of nodes of each NodePool that a method may disrupt.
//!
//! Source: `BuildDisruptionBudgetMapping` in pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use crate::allowance::{DisruptionReason, PoolBudgets};
use crate::behaviour::Behaviour;
use crate::engine::Engine;
use crate::event::Recorder;

/// The nodes of a NodePool as budgets count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCount {
    /// The nodes that count: those with a NodeClaim that have started completely.
    pub nodes: usize,
    /// Of these, the nodes that are not ready or going.
    pub unavailable: usize,
}

/// The number of nodes that may be disrupted, by NodePool.
pub(crate) type Quota<'o> = BTreeMap<&'o str, i64>;

impl<'o> Engine<'_, '_, 'o> {
    /// The nodes of each NodePool as budgets count them.
    pub(crate) fn pool_counts(&self) -> BTreeMap<&'o str, PoolCount> {
        let ignores_terminated = Behaviour::TERMINATED_DO_NOT_COUNT.holds_in(self.settings.release());
        let mut all: BTreeMap<&str, PoolCount> = BTreeMap::new();
        for node in &self.state.nodes {
            let is_terminated = ignores_terminated && node.has_condition("InstanceTerminating");
            if node.claim.is_none() || !node.is_initialized() || is_terminated {
                continue;
            }
            let count = all.entry(node.pool()).or_default();
            count.nodes += 1;
            count.unavailable += usize::from(!node.is_ready() || node.is_going());
        }
        all
    }

    /// The number of nodes of each NodePool that may be disrupted for a reason.
    pub(crate) fn quota(&self, reason: DisruptionReason, recorder: &mut Recorder) -> Quota<'o> {
        let counts = self.pool_counts();
        let mut all = BTreeMap::new();
        for (name, pool) in &self.state.pools {
            if self.rounds.pool(name).is_none() {
                continue;
            }
            let count = counts.get(name).copied().unwrap_or_default();
            // A NodePool that the client refuses stops the whole pass; nothing is disrupted.
            let budgets = PoolBudgets::parse(*pool, self.settings.release());
            let most = budgets
                .map_or(0, |budgets| budgets.allowance(self.settings.now, count.nodes, reason).allowed);
            all.insert(
                *name,
                most.saturating_sub(i64::try_from(count.unavailable).unwrap_or(i64::MAX)).max(0),
            );
            if count.nodes != 0 && most == 0 {
                recorder.pool_blocked(name, reason);
            }
        }
        all
    }
}
