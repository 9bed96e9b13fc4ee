//! Drift of static NodePools: replaces nodes one by one, without a simulation.
//!
//! Source: pkg/controllers/disruption/staticdrift.go and pkg/controllers/state/statenodepool.go of kubernetes-sigs/karpenter at
//! v1.14.1.

use std::collections::BTreeMap;

use manifest::tree::Node;
use objects::node_pool::NodePool;

use super::Pass;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::engine::Engine;

/// The nodes of a static NodePool.
#[derive(Clone, Copy, Debug, Default)]
struct NodeCount {
    running: i64,
    all: i64,
}

/// Obstacle to the replacement of any node of a static NodePool, whatever its budgets allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StaticObstacle {
    /// More nodes run than the NodePool has replicas.
    TooManyNodes,
    /// The limit on nodes leaves no room for a replacement.
    NodeLimit {
        /// Whether the replicas alone use up the limit.
        by_replicas: bool,
    },
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Replaces as many drifted nodes of each static NodePool as its budget and its limit on nodes allow.
    pub(crate) fn static_drift(
        &self,
        candidates: &[Candidate<'e, 's, 'o>],
        pass: &Pass<'o>,
    ) -> Vec<Draft<'e, 's, 'o>> {
        let mut by_pool: BTreeMap<&str, Vec<&Candidate<'e, 's, 'o>>> = BTreeMap::new();
        for candidate in candidates {
            by_pool.entry(candidate.pool_name()).or_default().push(candidate);
        }
        let chosen = by_pool.values().flat_map(|of_pool| {
            let count = self.replaceable(of_pool, pass);
            of_pool.iter().take(count)
        });
        chosen.map(|candidate| Draft::replace(Candidate::clone(candidate))).collect()
    }

    /// The number of candidates of a NodePool that can be replaced at the same time.
    fn replaceable(&self, candidates: &[&Candidate<'e, 's, 'o>], pass: &Pass<'o>) -> usize {
        let Some(first) = candidates.first() else { return 0 };
        let budget = pass.quota.get(first.pool_name()).copied().unwrap_or_default();
        let room = self.room_for_replacements(first.view).unwrap_or_default();
        usize::try_from(budget.min(room)).unwrap_or_default()
    }

    /// The number of nodes that a static NodePool may have more for the time of a replacement.
    pub(crate) fn room_for_replacements(&self, pool: NodePool<'o>) -> Result<i64, StaticObstacle> {
        let nodes = self.count(pool.object().name());
        let replicas = pool.replicas().and_then(Node::as_int).unwrap_or_default();
        // The number of nodes has to shrink first.
        if nodes.running > replicas {
            return Err(StaticObstacle::TooManyNodes);
        }
        let limit = pool.node_limit().map(|limit| limit.as_int().unwrap_or_else(|| quantity(limit)));
        let limit = limit.unwrap_or(i64::MAX);
        let room = limit.saturating_sub(nodes.all);
        if room > 0 { Ok(room) } else { Err(StaticObstacle::NodeLimit { by_replicas: limit <= replicas }) }
    }

    /// The NodeClaims of a NodePool.
    fn count(&self, pool: &str) -> NodeCount {
        let unlaunched = self.state.unlaunched.get(pool).copied().unwrap_or_default();
        let mut count = NodeCount { running: unlaunched, all: unlaunched };
        for node in self.state.nodes.iter().filter(|node| node.claim.is_some() && node.pool() == pool) {
            count.all += 1;
            count.running += i64::from(!node.is_going());
        }
        let added = self.state.added.values().filter(|added| added.pool == pool).count();
        let added = i64::try_from(added).unwrap_or(i64::MAX);
        NodeCount { running: count.running.saturating_add(added), all: count.all.saturating_add(added) }
    }
}

/// A quantity as a whole number.
fn quantity(node: Node<'_>) -> i64 {
    node.as_str().and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}
