//! The state and the simulation that the methods share.

use std::collections::BTreeMap;

use scheduling::simulation::Cluster;

use crate::cluster::ClusterState;
use crate::options::Options;

/// The state and the simulation that the methods share.
#[derive(Clone, Copy)]
pub(crate) struct Engine<'e, 's, 'o> {
    /// The state.
    pub(crate) state: &'e ClusterState<'o>,
    /// The rounds of the provisioner.
    pub(crate) rounds: &'e Cluster<'e, 's>,
    /// The facts that objects do not show.
    pub(crate) options: &'e Options,
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
