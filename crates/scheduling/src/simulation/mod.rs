//! Simulation of one round of Karpenter's provisioner.
//!
//! | module | content |
//! |---|---|
//! | `base`, `world`, `workloads`, `shape`, `requests`, `volumes` | the input: pods, NodePools, nodes, storage |
//! | `catalog`, `amounts`, `offerings`, `node_class`, `overlay` | instance types with resources, zones and prices |
//! | `pool`, `daemons`, `filter` | NodePools and the choice of instance types |
//! | `topology`, `default_spreads` | topology spread, affinity and anti-affinity |
//! | `solver`, `queue`, `relaxation`, `variant` | the loop over the pods |
//! | `node`, `claim`, `reservations`, `host_ports` | existing and new nodes |
//! | `result`, `reason` | the result |
//! | `round`, `new_node`, `known_pool` | rounds in a cluster that changes, for decisions about disruption |
//! | `room` | pods and DaemonSets that are too large for the instance types |
//! | `types_left` | the instance types that each requirement leaves |

mod amounts;
mod base;
mod behaviour;
mod catalog;
mod claim;
mod daemons;
mod default_spreads;
mod filter;
mod go_sort;
mod host_ports;
mod known_pool;
mod locate;
mod namespaces;
mod new_node;
mod node;
mod node_class;
mod offerings;
mod overlay;
mod pool;
mod queue;
mod reason;
mod relaxation;
mod report;
mod requests;
mod reservations;
mod resources;
mod result;
mod room;
mod round;
mod selector;
mod settings;
mod shape;
mod solver;
mod topology;
mod types_left;
mod validation;
mod variant;
mod volumes;
mod workloads;
mod world;

use karpenter::release::Release;
use objects::object::Object;
use objects::pod::Pod;
use values::quantity::Quantity;

pub use known_pool::KnownPool;
pub use new_node::NewNode;
pub use reason::{Disagreement, NearestMiss, PoolReason, ReasonKind};
pub use result::{ClaimId, Placement, PodId, SimulatedClaim, SimulatedPod, SimulationResult, Unplaced};
pub use room::{DaemonLoad, Misfit, MissingResource, NodeRoom, Shortage};
pub use round::{Round, RoundInput, RoundPod, SimulatedCluster};
pub use selector::{LabelSelector, Labels, labels_of};
pub use settings::{DefaultSpread, Prices, ReplicaCount, SimulationSettings, Zone};
pub use types_left::{PoolTypes, RequirementTypes};

/// Simulation of one round of the provisioner.
#[derive(Debug)]
pub struct Simulation {
    settings: SimulationSettings,
    hosts: Vec<String>,
    is_truncated: bool,
}

impl Simulation {
    /// A simulation of the pods among objects.
    pub fn new(settings: SimulationSettings, objects: &[Object<'_>]) -> Self {
        let pods = workloads::InputPods::of(objects, &settings);
        // In a whole cluster, every pod may need a new node.
        let running = if settings.whole_state { pods.running.len() } else { 0 };
        let numbers = 1..=pods.pending.len().saturating_add(running).min(Self::MAX_PODS);
        let hosts = numbers.map(|number| format!("hostname-placeholder-{number:04}")).collect();
        Self { settings, hosts, is_truncated: pods.is_truncated }
    }

    /// Largest number of pods of a simulation.
    pub const MAX_PODS: usize = workloads::MAX_PODS;

    /// Whether pods beyond [`Self::MAX_PODS`] are left out.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// The settings.
    pub fn settings(&self) -> &SimulationSettings {
        &self.settings
    }

    /// The cluster of some objects, for several rounds.
    pub fn cluster<'i, 'd>(&'d self, objects: &'i [Object<'d>]) -> SimulatedCluster<'i, 'd> {
        SimulatedCluster::new(objects, &self.settings, &self.hosts)
    }

    /// Places the pods among objects.
    pub fn run<'d>(&'d self, objects: &[Object<'d>]) -> SimulationResult<'d> {
        let world = world::World::read(objects, &self.settings);
        let mut solver = solver::Solver::new(world, &self.settings, &self.hosts);
        solver.solve();
        report::outcome(solver)
    }
}

/// The resources that a pod requests, and one of `pods`.
pub fn requests_of(pod: Pod<'_>, release: Release) -> Vec<(&str, Quantity)> {
    let names = resources::ResourceNames::new();
    let requests = requests::of_pod(pod.spec().node(), &names, release);
    requests.iter().map(|(id, amount)| (names.name(id), amount)).collect()
}
