//! The nodes of each NodePool as budgets count them, kept up to date, and the number that may be disrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use values::timestamp::Timestamp;

use crate::allowance::{Allowance, BudgetId, DisruptionReason, PoolBudgets};
use crate::cluster::{ClusterState, StateNode};
use crate::quota::{PoolCount, availability};
use crate::settings::DisruptionSettings;

/// The nodes of a NodePool, and its budgets.
#[derive(Debug)]
struct CountedPool<'d> {
    count: PoolCount,
    /// `None` if the controller's client refuses the NodePool.
    budgets: Option<PoolBudgets<'d>>,
    /// The instants at which a window opens or closes, of a NodePool with drifted nodes.
    edges: BTreeSet<Timestamp>,
}

/// The nodes of each NodePool as budgets count them.
#[derive(Debug, Default)]
pub(super) struct PoolCounters<'d>(BTreeMap<&'d str, CountedPool<'d>>);

impl<'d> PoolCounters<'d> {
    pub(super) fn of(state: &ClusterState<'d>, settings: &DisruptionSettings, end: Timestamp) -> Self {
        let is_drifted = |node: &&StateNode<'d>| node.drifted_since.is_some();
        let drifted: BTreeSet<&str> = state.nodes.iter().filter(is_drifted).map(StateNode::pool).collect();
        let pool = |(name, pool): (&&'d str, &_)| {
            let budgets = PoolBudgets::parse(*pool, settings.release()).ok();
            let openings = |budgets: &PoolBudgets<'d>| {
                let all = budgets.ids().filter(|id| budgets.has_window(*id));
                let openings = all.flat_map(|id| budgets.openings(id, settings.now, end));
                openings.flat_map(|opening| [opening.start, opening.end]).collect()
            };
            let is_drifted = drifted.contains(name);
            let edges = budgets.as_ref().filter(|_| is_drifted).map(openings).unwrap_or_default();
            (*name, CountedPool { count: PoolCount::default(), budgets, edges })
        };
        let mut counts = Self(state.pools.iter().map(pool).collect());
        for node in &state.nodes {
            counts.add(node, settings);
        }
        counts
    }

    /// Counts a node.
    pub(super) fn add(&mut self, node: &StateNode<'d>, settings: &DisruptionSettings) {
        let Some(is_available) = availability(node, settings.release()) else { return };
        if let Some(pool) = self.0.get_mut(node.pool()) {
            pool.count.nodes += 1;
            pool.count.unavailable += usize::from(!is_available);
        }
    }

    /// Counts a node no longer.
    pub(super) fn remove(&mut self, node: &StateNode<'d>, settings: &DisruptionSettings) {
        let Some(is_available) = availability(node, settings.release()) else { return };
        if let Some(pool) = self.0.get_mut(node.pool()) {
            pool.count.nodes = pool.count.nodes.saturating_sub(1);
            pool.count.unavailable = pool.count.unavailable.saturating_sub(usize::from(!is_available));
        }
    }

    /// Counts an added node that has started.
    pub(super) fn add_started(&mut self, pool: &str) {
        if let Some(pool) = self.0.get_mut(pool) {
            pool.count.nodes += 1;
        }
    }

    /// The count of a NodePool.
    pub(super) fn count(&self, pool: &str) -> PoolCount {
        self.0.get(pool).map(|pool| pool.count).unwrap_or_default()
    }

    /// The number of drifted nodes that the budgets allow to be unavailable at an instant.
    pub(super) fn allowance(&self, pool: &str, now: Timestamp) -> Option<Allowance> {
        let pool = self.0.get(pool)?;
        Some(pool.budgets.as_ref()?.allowance(now, pool.count.nodes, DisruptionReason::Drifted))
    }

    /// The number of nodes that may be disrupted at an instant.
    pub(super) fn left(&self, pool: &str, now: Timestamp) -> i64 {
        self.allowance(pool, now).map_or(0, |allowance| self.count(pool).left(allowance.allowed))
    }

    /// Whether the budgets of a NodePool never allow the disruption of a drifted node: one without a window allows none, or Karpenter
    /// cannot evaluate one.
    pub(super) fn never_allows(&self, pool: &str) -> bool {
        let Some(pool) = self.0.get(pool) else { return false };
        let Some(budgets) = &pool.budgets else { return true };
        let nodes = pool.count.nodes.max(1);
        budgets.ids().any(|id| {
            let always = || match budgets.value_when_active(id, nodes) {
                Some(value) => value <= 0 && budgets.covers(id, DisruptionReason::Drifted),
                None => true,
            };
            budgets.is_broken(id) || (!budgets.has_window(id) && always())
        })
    }

    /// Whether a budget of a NodePool has a window.
    pub(super) fn has_window(&self, pool: &str, budget: BudgetId) -> bool {
        let budgets = self.0.get(pool).and_then(|pool| pool.budgets.as_ref());
        budgets.is_some_and(|budgets| budgets.has_window(budget))
    }

    /// The next instant at which a window of a NodePool opens or closes.
    pub(super) fn next_edge(&self, pool: &str, now: Timestamp) -> Option<Timestamp> {
        let edges = &self.0.get(pool)?.edges;
        edges.range((Bound::Excluded(now), Bound::Unbounded)).next().copied()
    }
}
