//! The order in which drifted nodes are tried.

use std::collections::{BTreeMap, BTreeSet};

use values::timestamp::Timestamp;

use crate::cluster::{ClusterPod, StateNode};

/// Place of a node in the order of drift: empty nodes come first, and then the nodes that drifted first. Of nodes that drifted at the
/// same time, Karpenter takes any; here it is the first one by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn<'d> {
    pub(super) has_pods: bool,
    since: Option<Timestamp>,
    pub(super) name: &'d str,
}

impl<'d> Turn<'d> {
    pub(super) fn of(node: &StateNode<'d>) -> Self {
        let has_pods = node.pods.iter().copied().any(ClusterPod::is_reschedulable);
        Self { has_pods, since: node.drifted_since, name: node.name() }
    }
}

/// The nodes that wait for their turn, by NodePool.
#[derive(Debug, Default)]
pub(super) struct Turns<'d>(BTreeMap<&'d str, BTreeSet<Turn<'d>>>);

impl<'d> Turns<'d> {
    pub(super) fn insert(&mut self, pool: &'d str, turn: Turn<'d>) {
        self.0.entry(pool).or_default().insert(turn);
    }

    /// Removes a node; `false` if it does not wait.
    pub(super) fn remove(&mut self, pool: &str, turn: &Turn<'d>) -> bool {
        let Some(of_pool) = self.0.get_mut(pool) else { return false };
        let is_removed = of_pool.remove(turn);
        if of_pool.is_empty() {
            self.0.remove(pool);
        }
        is_removed
    }

    /// The NodePools with nodes that wait.
    pub(super) fn pools(&self) -> impl Iterator<Item = &'d str> {
        self.0.keys().copied()
    }

    /// The waiting nodes of some NodePools in their order.
    pub(super) fn of_pools(&self, is_chosen: impl Fn(&str) -> bool) -> impl Iterator<Item = Turn<'d>> {
        let chosen = self.0.iter().filter(move |(pool, _)| is_chosen(pool));
        let mut rests: Vec<_> = chosen.map(|(_, turns)| turns.iter().copied()).collect();
        // The next node of each NodePool, with the position of the NodePool.
        let mut heads: BTreeSet<(Turn<'d>, usize)> = BTreeSet::new();
        for (at, rest) in rests.iter_mut().enumerate() {
            heads.extend(rest.next().map(|turn| (turn, at)));
        }
        std::iter::from_fn(move || {
            let (turn, at) = heads.pop_first()?;
            let next = rests.get_mut(at).and_then(Iterator::next);
            heads.extend(next.map(|turn| (turn, at)));
            Some(turn)
        })
    }
}
