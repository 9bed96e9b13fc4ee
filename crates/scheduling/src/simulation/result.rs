//! Result of a simulation.

use std::rc::Rc;

use ids::{IdVec, ids};
use objects::object::Object;
use objects::pod::Pod;
use values::quantity::Quantity;

use super::ignored::IgnoredField;
use super::reason::PoolReason;
use super::scaling::ScaledWorkload;
use super::shape::PodShape;

ids! {
    /// Pod that a simulation places.
    pub PodId;
    /// New node of a simulation.
    pub ClaimId;
}

/// Place of a pod after a simulation.
#[derive(Clone, Debug)]
pub enum Placement<'d> {
    /// On a new node, by its id in [`SimulationResult::claims`].
    New(ClaimId),
    /// On an existing node.
    Existing(Object<'d>),
    /// On a node that was added to the cluster after an earlier round, by its name. A [`Simulation`](super::Simulation) has no such
    /// node.
    Added(&'d str),
    /// Nowhere. Equal pods share the reasons.
    Unplaced(Rc<Unplaced<'d>>),
    /// Unknown: the simulation ended before the pod was tried, because the input takes too much work.
    Untried,
    /// Karpenter ignores the pod.
    Ignored(String),
    /// Neither placed nor reported: releases without an error for the situation.
    Unreported,
}

/// Reasons for which a pod has no place.
#[derive(Clone, Debug, Default)]
pub struct Unplaced<'d> {
    /// Karpenter's message.
    pub message: String,
    /// A reason for each NodePool, in the order in which Karpenter tries them.
    pub reasons: Vec<PoolReason<'d>>,
    /// The number of further NodePools whose reasons are left out.
    pub left_out: usize,
    /// The shape of the pod, if its reasons name unmet demands.
    pub(crate) shape: Option<Rc<PodShape<'d>>>,
}

/// Pod of a simulation.
#[derive(Clone, Debug)]
pub struct SimulatedPod<'d> {
    /// The namespace.
    pub namespace: &'d str,
    /// The name.
    pub name: String,
    /// The pod or the template that it comes from.
    pub pod: Pod<'d>,
    /// The name of the node that the pod leaves, because the node is being deleted.
    pub leaves: Option<&'d str>,
    /// The place.
    pub placement: Placement<'d>,
    /// The field for which Karpenter ignores the pod.
    pub ignored_field: Option<IgnoredField<'d>>,
    /// The round in which the pod got its place, from 1.
    pub round: Option<usize>,
}

/// New node of a simulation.
#[derive(Clone, Debug)]
pub struct SimulatedClaim<'d> {
    /// The NodePool.
    pub pool: Object<'d>,
    /// The pods, by their id in [`SimulationResult::pods`].
    pub pods: Vec<PodId>,
    /// The number of instance types.
    pub instance_types: usize,
    /// The number of instance types that can be bought.
    pub offered: usize,
    /// The instance types by price, then name, with the price in USD per hour.
    pub cheapest: Vec<(&'static str, f64)>,
    /// The on-demand price of the cheapest type, whether or not the node may be on demand.
    pub on_demand_price: Option<f64>,
    /// The spot price of the cheapest type, whether or not the node may have spot capacity.
    pub spot_price: Option<f64>,
    /// The zones.
    pub zones: Vec<&'d str>,
    /// The capacity types.
    pub capacity_types: Vec<&'d str>,
    /// The requests of the pods and the daemons.
    pub requests: Vec<(&'d str, Quantity)>,
    /// The allocatable resources of the cheapest type.
    pub allocatable: Vec<(&'d str, Quantity)>,
    /// The requirements as an author writes them, without the labels of every node.
    pub requirements: Vec<(&'d str, String)>,
    /// The capacity reservations that it may use.
    pub reservations: Vec<&'d str>,
    /// The round that opened the node, from 1.
    pub round: usize,
}

/// Result of a simulation.
#[derive(Clone, Debug, Default)]
pub struct SimulationResult<'d> {
    /// The pods, in the order of the input.
    pub pods: IdVec<PodId, SimulatedPod<'d>>,
    /// The new nodes, in the order of their first pod.
    pub claims: IdVec<ClaimId, SimulatedClaim<'d>>,
    /// The workloads with a chosen replica count, by namespace, kind and name.
    pub workloads: Vec<ScaledWorkload>,
    /// The last round that placed a pod; 0 if no round did.
    pub rounds: usize,
    /// The names of the nodes that are being deleted. They take no pods.
    pub leaving_nodes: Vec<&'d str>,
    /// The number of steps of work that placed the pods.
    pub steps: u64,
    /// The number of steps of work that found reasons and changes.
    pub steps_of_reasons: u64,
}
