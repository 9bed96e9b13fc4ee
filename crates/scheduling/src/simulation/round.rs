//! Rounds of the provisioner in a cluster that changes: some nodes are gone, and their pods look for a place.
//!
//! Source: `SimulateScheduling` in pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter at v1.14.1.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::IdVec;
use objects::object::Object;

use super::ClusterInput;
use super::fitting_nodes::FittingNodes;
use super::known_pods::KnownPods;
use super::known_pool::KnownPool;
use super::new_node::NewNode;
use super::pods::RunningPod;
use super::refine::{self, ReasonDetail};
use super::report::{self, Placements};
use super::result::{ClaimId, PodId, SimulatedPod};
use super::selector::namespace_of;
use super::settings::SimulationSettings;
use super::solver::Solver;
use super::topology::KeptTopology;
use super::work::Work;
use super::world::{Absence, Base, KeptParts, PodKey};

/// Pod that a round places.
#[derive(Clone, Copy, Debug)]
pub struct RoundPod<'d> {
    /// The pod.
    pub object: Object<'d>,
    /// Whether the pod leaves a node. Other pods are validated first.
    pub is_moved: bool,
    /// Whether the pod avoids the nodes in [`RoundInput::waiting`].
    pub avoids_waiting: bool,
}

/// Pods to place in a round, and the nodes that are gone or wait.
#[derive(Clone, Debug, Default)]
pub struct RoundInput<'d> {
    /// The pods to place, in the order of their UIDs.
    pub pods: Vec<RoundPod<'d>>,
    /// The names of the nodes that take no pods.
    pub absent: BTreeSet<&'d str>,
    /// The names of the nodes whose `consolidateAfter` is not over.
    pub waiting: BTreeSet<&'d str>,
    /// Whether pods without a place have Karpenter's messages.
    pub explains: bool,
    /// Whether existing nodes are tried although no NodePool takes pods, as kube-scheduler does without Karpenter.
    pub on_nodes: bool,
}

/// Result of a round.
#[derive(Debug)]
pub struct Round<'d> {
    /// The pods, in the order of the input.
    pub pods: IdVec<PodId, SimulatedPod<'d>>,
    /// The new nodes, in the order of their first pod.
    pub nodes: IdVec<ClaimId, NewNode<'d>>,
}

/// Cluster in which several rounds are simulated.
pub struct SimulatedCluster<'s> {
    pub(super) base: Base<'s>,
    settings: &'s SimulationSettings,
    hosts: &'s [String],
    /// The number of host names that nodes of earlier rounds have.
    used_hosts: usize,
    /// The number of steps of work of all rounds.
    steps: Cell<u64>,
    /// The number of steps after which no further round is due.
    most_steps: u64,
    /// The pods of earlier rounds.
    known: RefCell<KnownPods<'s>>,
    /// The pods of nodes that are gone, as they ran there.
    pub(super) homeless: BTreeMap<PodKey<'s>, RunningPod<'s>>,
    /// The nodes that may take pods.
    pub(super) fitting: RefCell<FittingNodes<'s>>,
    /// The pods of the nodes by constraint.
    pub(super) topology: Rc<RefCell<KeptTopology<'s>>>,
}

impl<'s> SimulatedCluster<'s> {
    /// The cluster of objects and settings.
    pub(super) fn new(input: &'s ClusterInput<'_>) -> Self {
        let ClusterInput { objects, settings, pods, hosts } = input;
        let base = Base::read(objects, pods, settings);
        let mut topology = KeptTopology::default();
        base.nodes.iter().for_each(|one| topology.note(one.slot, Some(one)));
        Self {
            base,
            topology: Rc::new(RefCell::new(topology)),
            settings,
            hosts,
            used_hosts: 0,
            steps: Cell::new(0),
            most_steps: u64::MAX,
            known: RefCell::default(),
            homeless: BTreeMap::new(),
            fitting: RefCell::default(),
        }
    }

    /// The cluster with a bound on the steps of all rounds. The caller asks before each round whether they are over.
    #[must_use]
    pub fn within_steps(self, most_steps: u64) -> Self {
        Self { most_steps, ..self }
    }

    /// Whether the rounds took more steps than their bound.
    pub fn is_over(&self) -> bool {
        self.steps() > self.most_steps
    }

    /// The number of steps of work that all rounds took. A step takes about 50 nanoseconds.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// The number of names that are left for nodes that are added.
    pub fn names_left(&self) -> usize {
        self.hosts.len().saturating_sub(self.used_hosts)
    }

    /// The name for the next node that is added.
    pub(super) fn take_host(&mut self) -> Option<&'s str> {
        let host = self.hosts.get(self.used_hosts)?;
        self.used_hosts += 1;
        Some(host)
    }

    /// A NodePool whose node class belongs to the provider.
    pub fn pool(&self, name: &str) -> Option<KnownPool<'_, 's>> {
        let pool = self.base.known.iter().find(|pool| pool.object.name() == name)?;
        Some(KnownPool::new(pool, self.settings))
    }

    /// Whether a NodePool takes pods. Otherwise the scheduler returns an error before it looks at any pod.
    pub fn has_used_pools(&self) -> bool {
        self.base.known.iter().any(|pool| pool.is_used)
    }

    /// Places pods after a change.
    pub fn round(&self, input: &RoundInput<'s>) -> Round<'s> {
        let moved = input.pods.iter().filter(|pod| pod.is_moved);
        let absence = Absence {
            nodes: input.absent.clone(),
            pods: moved.map(|pod| (namespace_of(pod.object), pod.object.name())).collect(),
            waiting: input.waiting.clone(),
        };
        let work = || Work::of(input.pods.len(), self.base.nodes.len());
        let placing = Rc::new(work());
        let (pending, known) = self.known.borrow_mut().batch(&input.pods, self.base.reader());
        let mut fitting = self.fitting.borrow_mut();
        let of_shape = |(id, shape)| fitting.of_shape(id, shape, &self.base, &placing);
        let fitting = known.into_iter().zip(&pending.shapes).map(of_shape).collect();
        let kept = KeptParts { topology: &self.topology, fitting };
        let world = self.base.round(pending, &absence, Some(kept), &placing);
        let hosts = self.hosts.get(self.used_hosts..).unwrap_or_default();
        let mut solver = Solver::new(world, self.settings, hosts, &placing);
        if input.on_nodes {
            solver.solve_on_nodes();
        } else {
            solver.solve();
        }
        let explaining = work();
        let detail = if input.explains { ReasonDetail::Messages } else { ReasonDetail::None };
        refine::explain(&mut solver, detail, &explaining);
        let release = self.settings.release;
        let names = Rc::clone(&solver.world.names);
        let Placements { pods, claims } = report::placements(solver, 0);
        let nodes = claims.into_iter().map(|claim| NewNode::new(claim, &names, release)).collect();
        self.steps.set(self.steps.get() + placing.done() + explaining.done());
        Round { pods, nodes }
    }
}
