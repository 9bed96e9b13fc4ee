//! The number of nodes of each NodePool that a method may disrupt.
//!
//! Source: `BuildDisruptionBudgetMapping` in pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use karpenter::release::Release;

use crate::allowance::{Allowance, DisruptionReason, PoolBudgets};
use crate::behaviour::Behaviour;
use crate::cluster::StateNode;
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
    /// The nodes of each NodePool as budgets count them, without the nodes that were added. A forecast keeps its own count.
    pub(crate) fn pool_counts(&self) -> BTreeMap<&'o str, PoolCount> {
        let mut all: BTreeMap<&str, PoolCount> = BTreeMap::new();
        for node in &self.state.nodes {
            let Some(is_available) = availability(node, self.settings.release()) else { continue };
            let count = all.entry(node.pool()).or_default();
            count.nodes += 1;
            count.unavailable += usize::from(!is_available);
        }
        all
    }

    /// The number of nodes of each NodePool that may be disrupted for a reason.
    pub(crate) fn quota(&self, reason: DisruptionReason, recorder: &mut Recorder) -> Quota<'o> {
        let release = self.settings.release();
        let counts = self.pool_counts();
        let mut all = BTreeMap::new();
        for (name, pool) in self.state.pools.iter().filter(|(name, _)| self.rounds.pool(name).is_some()) {
            let count = counts.get(name).copied().unwrap_or_default();
            // A NodePool that the client refuses stops the whole pass; nothing is disrupted.
            let budgets = PoolBudgets::parse(*pool, release).ok();
            let allowance = |reason| {
                budgets.as_ref().map(|budgets| budgets.allowance(self.settings.now, count.nodes, reason))
            };
            let most = allowance(reason).map_or(0, |allowance| allowance.allowed);
            all.insert(*name, count.left(most));
            if !Behaviour::OWN_CHECKS.holds_in(release) {
                publish_exhausted(name, count, allowance, recorder);
            } else if count.nodes != 0 && most == 0 {
                recorder.pool_blocked(name, reason);
            }
        }
        all
    }
}

/// Whether a node is ready and not going; `None` if budgets do not count it.
pub(crate) fn availability(node: &StateNode<'_>, release: Release) -> Option<bool> {
    let ignores_terminated = Behaviour::TERMINATED_DO_NOT_COUNT.holds_in(release);
    let is_terminated = ignores_terminated && node.has_condition("InstanceTerminating");
    let counts = node.claim.is_some() && node.is_initialized() && !is_terminated;
    counts.then(|| node.is_ready() && !node.is_going())
}

impl PoolCount {
    /// The number of nodes that may be disrupted beside the unavailable ones.
    pub(crate) fn left(self, most: i64) -> i64 {
        most.saturating_sub(i64::try_from(self.unavailable).unwrap_or(i64::MAX)).max(0)
    }
}

/// Release 1.0 asks for every reason, whatever the method, and publishes the reasons for which nothing is left
/// (`BuildDisruptionBudgets` at v1.0.9). It has no number for any reason if it cannot evaluate a budget.
fn publish_exhausted(
    pool: &str,
    count: PoolCount,
    allowance: impl Fn(DisruptionReason) -> Option<Allowance>,
    recorder: &mut Recorder,
) {
    let known = DisruptionReason::ALL.into_iter().filter(|reason| *reason != DisruptionReason::Unhealthy);
    let known = known.filter_map(|reason| Some((reason, allowance(reason)?)));
    let evaluated: Vec<_> = known.filter(|(_, allowance)| allowance.error.is_empty()).collect();
    let is_left = |allowance: &Allowance| count.left(allowance.allowed) > 0;
    for (reason, _) in evaluated.iter().filter(|(_, allowance)| !is_left(allowance)) {
        recorder.pool_blocked(pool, *reason);
    }
    if !evaluated.iter().any(|(_, allowance)| is_left(allowance)) {
        recorder.pool_blocked_entirely(pool);
    }
}
