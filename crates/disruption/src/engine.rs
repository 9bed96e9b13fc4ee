//! The state and the simulation that the methods share.

use std::collections::{BTreeMap, BTreeSet};

use scheduling::simulation::{KnownPool, SimulatedCluster};

use crate::behaviour::Behaviour;
use crate::cluster::{ClusterState, StateNode, consolidate_after};
use crate::settings::DisruptionSettings;

/// The state and the simulation that the methods share.
#[derive(Clone, Copy)]
pub(crate) struct Engine<'e, 's, 'o> {
    /// The state.
    pub(crate) state: &'e ClusterState<'o>,
    /// The rounds of the provisioner.
    pub(crate) rounds: &'e SimulatedCluster<'s>,
    /// The facts that objects do not show.
    pub(crate) settings: &'e DisruptionSettings,
    /// The nodes that are special in every simulation.
    pub(crate) special: &'e SpecialNodes<'e, 'o>,
    /// Whether pods without a place have Karpenter's messages.
    pub(crate) explains: bool,
}

/// Nodes that are special in every simulation.
pub(crate) struct SpecialNodes<'e, 'o> {
    /// The nodes that are going.
    pub(crate) going: Vec<&'e StateNode<'o>>,
    /// The names of the nodes that take no pods of consolidated nodes, because their own `consolidateAfter` is not over.
    pub(crate) waiting: BTreeSet<&'o str>,
}

impl<'e, 'o> SpecialNodes<'e, 'o> {
    /// Finds the special nodes of a state.
    pub(crate) fn of(
        state: &'e ClusterState<'o>,
        rounds: &SimulatedCluster<'_>,
        settings: &DisruptionSettings,
    ) -> Self {
        let applies = Behaviour::WAITING_DESTINATIONS.holds_in(settings.release());
        let is_waiting = |node: &&StateNode<'o>| {
            let is_used = rounds.pool(node.pool()).is_some_and(KnownPool::is_used);
            let pool = state.pools.get(node.pool()).filter(|_| is_used);
            let end = pool.and_then(|pool| node.consolidatable_from(consolidate_after(*pool)));
            end.is_some_and(|end| settings.now < end)
        };
        let waiting = state.nodes.iter().filter(|_| applies).filter(is_waiting).map(StateNode::name);
        Self {
            going: state.nodes.iter().filter(|node| node.is_going()).collect(),
            waiting: waiting.collect(),
        }
    }
}

/// The cost of a NodePool, against which moves are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolTotals {
    /// The price of its nodes in USD per hour.
    pub cost: f64,
    /// The cost of disrupting all its nodes.
    pub disruption: f64,
}

/// The totals by NodePool.
pub(crate) type Totals<'o> = BTreeMap<&'o str, PoolTotals>;
