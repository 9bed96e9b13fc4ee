//! Simulation of Karpenter's provisioner.
//!
//! A pod goes down this table, and the later module never hands it back to an earlier one:
//!
//! | module | content |
//! |---|---|
//! | `workloads`, `ownership`, `scaling` | the pods of the input, and chosen numbers of replicas |
//! | `world` | the cluster at the start of a round |
//! | `pools`, `pool`, `daemons`, `filter` | NodePools, and the choice of instance types |
//! | `offerings`, `node_class`, `overlay`, `catalog`, `amounts` | instance types with resources, zones and prices |
//! | `node`, `node_claims`, `leaving` | existing nodes, and the pods of nodes that go |
//! | `pods`, `daemon_pods`, `default_spreads`, `validation`, `ignored` | the pods that wait for a node, and the pods that have one |
//! | `shape`, `selector`, `resources`, `volumes` | the part of a pod that decides where it runs |
//! | `solver`, `queue`, `variant` | the loop over the pods |
//! | `claim`, `reservations`, `host_ports`, `topology` | new nodes, and the state that nodes share |
//! | `explain`, `exclusion`, `reason`, `report`, `result` | the result |
//! | `refine`, `unmet`, `unmet_types` | the reasons: the smallest set of demands for which a pod has no place |
//! | `proposals`, `remedy`, `trials` | changes with which the pod has a place, each simulated |
//! | `work` | the bound of all these parts, in steps |
//! | `binding`, `launch`, `rounds` | kube-scheduler's part, and the rounds until nothing changes |
//!
//! | module | content |
//! |---|---|
//! | `round`, `evolution`, `new_node`, `known_pool` | rounds in a cluster that changes, for decisions about disruption |
//! | `room` | pods and DaemonSets that are too large for the instance types |
//! | `types_left` | the instance types that each requirement leaves |

mod amounts;
mod behaviour;
mod binding;
mod catalog;
mod claim;
mod daemon_pods;
mod daemons;
mod default_spreads;
mod evolution;
mod exclusion;
mod explain;
mod filter;
mod fitting_nodes;
mod go_sort;
mod host_ports;
mod ignored;
mod known_pods;
mod known_pool;
mod launch;
mod leaving;
mod new_node;
mod node;
mod node_claims;
mod node_class;
mod node_search;
mod offerings;
mod overlay;
mod ownership;
mod pods;
mod pool;
mod pools;
mod proposals;
mod queue;
mod reason;
mod refine;
mod remedy;
mod report;
mod reservations;
mod resources;
mod result;
mod room;
mod round;
mod rounds;
mod scaling;
mod selector;
mod settings;
mod shape;
mod solver;
mod topology;
mod trials;
mod types_left;
mod unmet;
mod unmet_types;
mod validation;
mod variant;
mod volumes;
mod work;
mod workloads;
mod world;

use karpenter::release::Release;
use objects::object::Object;
use objects::pod::Pod;
use thiserror::Error;
use values::quantity::Quantity;

use pods::{BatchPod, PendingPods};
use refine::ReasonDetail;
use rounds::Rounds;
use work::Work;
use workloads::InputPods;
use world::Base;

pub use evolution::LaunchedNode;
pub use ignored::{FieldProblem, IgnoredField};
pub use known_pool::KnownPool;
pub use new_node::NewNode;
pub use ownership::WorkloadKey;
pub use proposals::{asks_for_no_known_value, is_of_node_groups};
pub use reason::{Disagreement, LimitMiss, NearestMiss, PoolReason, ReasonKind, UnmetLabel, UnmetMinValues};
pub use remedy::Remedy;
pub use result::{ClaimId, Placement, PodId, SimulatedClaim, SimulatedPod, SimulationResult, Unplaced};
pub use room::{DaemonLoad, Misfit, MissingResource, NodeRoom, Shortage};
pub use round::{Round, RoundInput, RoundPod, SimulatedCluster};
pub use scaling::ScaledWorkload;
pub use selector::{LabelSelector, Labels, labels_of, namespace_of};
pub use settings::{DefaultSpread, Prices, ReplicaCount, SimulationSettings, Zone};
pub use types_left::{PoolTypes, RequirementTypes};
pub use workloads::scalable_workloads;

/// Simulation of the provisioner.
#[derive(Debug)]
pub struct Simulation<'o>(ClusterInput<'o>);

/// More pods wait for a node than a simulation takes: [`Simulation::MAX_PODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the input has more than {} pods", Simulation::MAX_PODS)]
pub struct TooManyPods;

/// Objects and settings of a cluster in which rounds of the provisioner are simulated. The caller chooses the pods of each round, so
/// that any number of pods may wait for a node.
#[derive(Debug)]
pub struct ClusterInput<'o> {
    objects: &'o [Object<'o>],
    settings: SimulationSettings,
    pods: InputPods<'o>,
    /// A name for each new node.
    hosts: Vec<String>,
}

impl<'o> ClusterInput<'o> {
    /// The cluster of the objects.
    pub fn new(settings: SimulationSettings, objects: &'o [Object<'o>]) -> Self {
        let pods = InputPods::of(objects, &settings);
        // In a whole cluster, every pod may need a new node.
        let running = if settings.whole_state { pods.running.len() } else { 0 };
        // A node that is given up again has a name too.
        let numbers = 1..=2 * pods.pending.len().saturating_add(running).min(Simulation::MAX_PODS);
        Self { objects, settings, pods, hosts: numbers.map(host_name).collect() }
    }

    /// The cluster with names for a number of further nodes.
    #[must_use]
    pub fn with_added_nodes(mut self, count: usize) -> Self {
        let named = self.hosts.len();
        self.hosts.extend((named + 1..=named + count).map(host_name));
        self
    }

    /// The cluster, for several rounds.
    pub fn cluster(&self) -> SimulatedCluster<'_> {
        SimulatedCluster::new(self)
    }
}

/// The name of a new node.
fn host_name(number: usize) -> String {
    format!("hostname-placeholder-{number:04}")
}

impl<'o> Simulation<'o> {
    /// Maximum number of pods that a simulation places.
    pub const MAX_PODS: usize = workloads::MAX_PODS;

    /// A simulation of the pods among objects.
    pub fn new(settings: SimulationSettings, objects: &'o [Object<'o>]) -> Result<Self, TooManyPods> {
        let input = ClusterInput::new(settings, objects);
        if input.pods.is_truncated { Err(TooManyPods) } else { Ok(Self(input)) }
    }

    /// The settings.
    pub fn settings(&self) -> &SimulationSettings {
        &self.0.settings
    }

    /// Places the pods among the objects. The reasons name neither unmet demands nor changes.
    pub fn run(&self) -> SimulationResult<'_> {
        let (base, pending) = self.read();
        self.place(base, pending, ReasonDetail::Messages, self.work())
    }

    /// Places the pods among the objects, and finds the demands that decide about the pods without a place, and the changes that place them.
    pub fn run_with_remedies(&self) -> SimulationResult<'_> {
        let (base, pending) = self.read();
        let mut result = self.place(base.clone(), pending.clone(), ReasonDetail::Demands, self.work());
        trials::add_remedies(self, &base, &pending, &mut result);
        result
    }

    fn work(&self) -> Work {
        let nodes = self.0.objects.iter().filter(|object| object.kind() == "Node").count();
        Work::of(self.0.pods.pending.len(), nodes)
    }

    /// Reads the cluster and the pods that wait for a node.
    fn read(&self) -> (Base<'_>, PendingPods<'_>) {
        let ClusterInput { objects, settings, pods, .. } = &self.0;
        let base = Base::read(objects, pods, settings);
        let pending = base.pending(pods.pending.iter().cloned().map(BatchPod::pending).collect());
        (base, pending)
    }

    /// Places pods in a cluster.
    fn place<'s>(
        &'s self,
        base: Base<'s>,
        pending: PendingPods<'s>,
        explanation: ReasonDetail,
        work: Work,
    ) -> SimulationResult<'s> {
        let ClusterInput { settings, pods, hosts, .. } = &self.0;
        let result = Rounds::new(base, settings, hosts, pending, work).run(explanation);
        SimulationResult { workloads: pods.scaled.clone(), ..result }
    }
}

/// The resources that a pod requests, and one of `pods`.
pub fn requests_of(pod: Pod<'_>, release: Release) -> Vec<(&str, Quantity)> {
    let names = resources::ResourceNames::new();
    let requests = resources::requests_of_pod(pod.spec().node(), &names, release);
    requests.iter().map(|(id, amount)| (names.name(id), amount)).collect()
}
