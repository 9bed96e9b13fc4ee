//! The cluster that rounds of the provisioner start from.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use ids::{Id as _, IdVec, ids};
use karpenter::labels;
use objects::object::Object;
use objects::pod::Pod;

use super::behaviour::SchedulerBehaviour;
use super::daemons::Daemons;
use super::exclusion::without_types;
use super::fitting_nodes::FittingSlots;
use super::launch::Launch;
use super::leaving::absence;
use super::node::{ExistingNode, NodeOrigin, OccupiedNode, read_nodes};
use super::pods::{BatchPod, PendingPod, PendingPods, PlacedPods, PodReader, RunningPod, ShapeId};
use super::pool::Pool;
use super::pools;
use super::reason::PoolReason;
use super::remedy::ProposedChange;
use super::reservations::Reservations;
use super::resources::{ResourceId, ResourceNames};
use super::result::{ClaimId, PodId};
use super::selector::namespace_of;
use super::settings::SimulationSettings;
use super::shape::PodShape;
use super::topology::{
    Domains, KeptNode, KeptTopology, PresentTopology, Topology, TopologyNode, TopologyNodes,
};
use super::work::Work;
use super::workloads::{InputPod, InputPods};

ids! {
    /// NodePool that Karpenter uses.
    PoolId;
    /// Number of a node, which no other node of the cluster ever has.
    pub(super) NodeSlot;
}

/// The cluster at the start of a round.
pub(super) struct World<'d> {
    /// The names of resources.
    pub(super) names: Rc<ResourceNames<'d>>,
    /// The NodePools that have instance types, in the order in which they are tried.
    pub(super) pools: Vec<Rc<Pool<'d>>>,
    /// The number of NodePools that Karpenter uses.
    pub(super) used_pools: usize,
    /// The NodePools that take no pods, with the reason.
    pub(super) unusable: Vec<PoolReason<'d>>,
    /// Whether a NodePool has a taint that is a preference.
    pub(super) has_soft_taint: bool,
    /// The existing nodes, in the order in which they are tried, without nodes that are known to refuse every pod.
    pub(super) nodes: Vec<Rc<ExistingNode<'d>>>,
    /// The slots of these nodes.
    pub(super) slots: Vec<NodeSlot>,
    /// The nodes that may take the pods of each shape; `None` if this is not known.
    pub(super) fitting: Option<IdVec<ShapeId, FittingSlots>>,
    /// The pods that wait for a node, in the order of the input.
    pub(super) pods: IdVec<PodId, PendingPod<'d>>,
    /// The shapes of these pods.
    pub(super) shapes: IdVec<ShapeId, Rc<PodShape<'d>>>,
    /// The constraints on topology.
    pub(super) topology: Topology<'d>,
    /// The capacity reservations.
    pub(super) reservations: Reservations<'d>,
}

/// Numbers of steps for the start of a round, by pod, node and NodePool.
const STEPS_OF_POD: usize = 10;
const STEPS_OF_NODE: usize = 4;
const STEPS_OF_POOL: usize = 200;

/// Number of nodes whose pods are counted already that a round reads in a step.
const KEPT_NODES_PER_STEP: usize = 16;

/// Number of steps to find the instance types of a NodePool.
const STEPS_OF_PREPARATION: usize = 600;

/// Knowledge about nodes that earlier rounds of a cluster have left.
pub(super) struct KeptParts<'k, 'd> {
    /// The pods of the nodes by constraint.
    pub(super) topology: &'k Rc<RefCell<KeptTopology<'d>>>,
    /// The nodes that may take the pods of each shape.
    pub(super) fitting: IdVec<ShapeId, FittingSlots>,
}

impl KeptParts<'_, '_> {
    /// The nodes that may take a pod of any shape. A node that refuses every pod keeps its labels, and so refuses the pods until the end of
    /// the round.
    fn of_any_shape(&self) -> FixedBitSet {
        let mut all = FixedBitSet::new();
        self.fitting.iter().for_each(|slots| all.union_with(slots));
        all
    }
}

/// Namespace and name of a pod.
pub(super) type PodKey<'d> = (&'d str, &'d str);

/// Nodes and pods that a round does not find in their place.
#[derive(Clone, Debug, Default)]
pub(super) struct Absence<'d> {
    /// The names of the nodes that take no pods.
    pub(super) nodes: BTreeSet<&'d str>,
    /// The pods that leave their nodes.
    pub(super) pods: BTreeSet<PodKey<'d>>,
    /// The names of the nodes whose `consolidateAfter` is not over.
    pub(super) waiting: BTreeSet<&'d str>,
}

impl<'d> Absence<'d> {
    /// Whether a pod leaves its node.
    pub(super) fn has(&self, pod: &RunningPod<'d>) -> bool {
        self.pods.contains(&(namespace_of(pod.object), pod.object.name()))
    }
}

/// Node with the pods that count for topology.
#[derive(Clone)]
pub(super) struct BaseNode<'d> {
    /// The node.
    pub(super) node: Rc<ExistingNode<'d>>,
    /// Its number.
    pub(super) slot: NodeSlot,
    /// `None` for a NodeClaim without a Node, which topology does not look at (`countDomains`).
    topology: Option<Rc<TopologyNode<'d>>>,
    /// The pods on the node.
    pub(super) pods: Vec<RunningPod<'d>>,
    host: Option<&'d str>,
    /// Its NodePool.
    pool: Option<PoolId>,
}

/// The part of a cluster that several rounds share.
#[derive(Clone)]
pub(super) struct Base<'d> {
    reader: Rc<PodReader<'d>>,
    /// The names of resources.
    pub(super) names: Rc<ResourceNames<'d>>,
    settings: &'d SimulationSettings,
    /// All NodePools, whether or not they take pods.
    pub(super) known: Vec<Pool<'d>>,
    pools: IdVec<PoolId, Pool<'d>>,
    used_pools: usize,
    unready: Vec<PoolReason<'d>>,
    unusable: Vec<PoolReason<'d>>,
    has_soft_taint: bool,
    domains: Rc<Domains<'d>>,
    /// The daemons before they are compared with a NodePool.
    daemons: Daemons<'d>,
    /// The daemons as the NodePools leave them.
    daemons_of_nodes: Daemons<'d>,
    /// The existing nodes, in the order in which they are tried.
    pub(super) nodes: Vec<BaseNode<'d>>,
    /// The number of slots that nodes have had.
    slots: usize,
    /// The nodes that go, and the pods that leave them.
    pub(super) absence: Absence<'d>,
    /// The instances of capacity reservations that the nodes of earlier rounds have.
    taken: BTreeMap<&'d str, u32>,
}

impl<'d> Base<'d> {
    /// Reads the NodePools, nodes and running pods of objects.
    pub(super) fn read(
        objects: &'d [Object<'d>],
        all: &InputPods<'d>,
        settings: &'d SimulationSettings,
    ) -> Self {
        let names = Rc::new(ResourceNames::new());
        let reader = Rc::new(PodReader::new(objects, &names, settings));
        let PlacedPods { daemons, running } = reader.placed(all);
        let known = pools::read_pools(objects, &names, settings);
        let mut base = Self {
            reader,
            settings,
            used_pools: 0,
            unready: pools::unready(objects),
            unusable: Vec::new(),
            has_soft_taint: false,
            domains: Rc::default(),
            daemons: Daemons::new(daemons, settings.release),
            pools: IdVec::default(),
            nodes: Vec::new(),
            slots: 0,
            absence: absence(objects, &all.pending, settings),
            daemons_of_nodes: Daemons::new(IdVec::default(), settings.release),
            taken: BTreeMap::new(),
            known,
            names,
        };
        let daemons = base.prepare();
        base.daemons_of_nodes = daemons;
        let nodes = read_nodes(objects, running, &base.names, settings).into_iter();
        base.nodes = nodes.map(|occupied| base.numbered(occupied)).collect();
        base
    }

    /// The same cluster after a change of its NodePools.
    pub(super) fn changed(&self, change: &ProposedChange<'d>, work: &Work) -> Self {
        let mut base = self.clone();
        work.count(self.nodes.len() * STEPS_OF_NODE);
        if change.changes_pools() {
            work.count(self.known.len() * STEPS_OF_PREPARATION);
            change.change_pools(&mut base.known, &base.names);
            base.prepare();
        }
        base
    }

    /// Computes the parts that follow from the NodePools. Returns the daemons as the NodePools leave them.
    fn prepare(&mut self) -> Daemons<'d> {
        self.pools = self.known.iter().filter(|pool| pool.is_used).cloned().collect();
        self.domains = Rc::new(Domains::of_pools(&self.pools));
        let mut daemons = self.daemons.clone();
        daemons.prepare(&mut self.pools, self.settings);
        self.used_pools = self.pools.len();
        self.has_soft_taint = self.pools.iter().any(Pool::has_soft_taint);
        let without_types = self.pools.iter().filter(|pool| pool.types.is_empty()).map(without_types);
        self.unusable = self.unready.iter().cloned().chain(without_types).collect();
        daemons
    }

    /// Reads a pod that is bound to a node.
    pub(super) fn running(&self, pod: &InputPod<'d>) -> RunningPod<'d> {
        self.reader.running(pod)
    }

    /// Reads the pods of a batch.
    pub(super) fn pending(&self, batch: Vec<BatchPod<'d>>) -> PendingPods<'d> {
        self.reader.pending(batch)
    }

    /// The priority of a pod.
    pub(super) fn priority(&self, pod: Pod<'d>) -> i64 {
        self.reader.priority(pod)
    }

    /// The name of a resource.
    pub(super) fn resource_name(&self, id: ResourceId) -> &'d str {
        self.names.name(id)
    }

    /// Lets a pod run on an existing node, by the position of the node.
    pub(super) fn settle(&mut self, at: usize, pod: RunningPod<'d>) {
        let Some(one) = self.nodes.get_mut(at) else { return };
        Rc::make_mut(&mut one.node).run(&pod);
        if let Some(topology) = &mut one.topology {
            Rc::make_mut(topology).add(&pod);
        }
        one.pods.push(pod);
    }

    /// Lets pods end. Returns them by the positions of their nodes.
    pub(super) fn end(
        &mut self,
        ends: impl Fn(&RunningPod<'d>) -> bool,
    ) -> BTreeMap<usize, Vec<RunningPod<'d>>> {
        let Self { nodes, daemons_of_nodes, .. } = self;
        let ended = nodes.iter_mut().map(|one| one.end(&ends, daemons_of_nodes)).enumerate();
        ended.filter(|(_, pods)| !pods.is_empty()).collect()
    }

    /// Lets a new node join the cluster with its pods. A capacity reservation without an instance left is not offered any more.
    pub(super) fn join(&mut self, launch: &Launch<'_, 'd>, host: &'d str, number: ClaimId) -> usize {
        let node = self.launched(launch, host, NodeOrigin::Launched(number));
        self.nodes.push(node);
        self.nodes.len().saturating_sub(1)
    }

    /// A new node, which takes its instance of a capacity reservation.
    pub(super) fn launched(
        &mut self,
        launch: &Launch<'_, 'd>,
        host: &'d str,
        origin: NodeOrigin<'d>,
    ) -> BaseNode<'d> {
        let node = ExistingNode::launched(launch, host, origin);
        let occupied = OccupiedNode { node, pods: Vec::new() };
        if let Some(id) = launch.offering.reservation {
            let taken = self.taken.entry(id).or_default();
            *taken += 1;
            if self.settings.reservation_capacity.get(id).is_some_and(|all| *taken >= *all) {
                self.pools.iter_mut().for_each(|pool| Rc::make_mut(&mut pool.catalog).drop_reservation(id));
            }
        }
        self.numbered(occupied)
    }

    /// Gives a node the next slot.
    fn numbered(&mut self, occupied: OccupiedNode<'d>) -> BaseNode<'d> {
        let slot = NodeSlot::from_position(self.slots);
        self.slots += 1;
        BaseNode::new(occupied, slot, &self.daemons_of_nodes, &self.pools)
    }

    /// Reads the pods that rounds of the cluster place.
    pub(super) fn reader(&self) -> &PodReader<'d> {
        &self.reader
    }

    /// The capacity reservations at the start of a round.
    pub(super) fn reservations(&self) -> Reservations<'d> {
        Reservations::after(self.settings, &self.taken)
    }

    /// The cluster at the start of a round.
    pub(super) fn round(
        &self,
        pending: PendingPods<'d>,
        absence: &Absence<'d>,
        kept: Option<KeptParts<'_, 'd>>,
        work: &Rc<Work>,
    ) -> World<'d> {
        let PendingPods { pods, shapes } = pending;
        let of_nodes = match &kept {
            Some(_) => self.nodes.len() / KEPT_NODES_PER_STEP,
            None => self.nodes.len() * STEPS_OF_NODE,
        };
        work.count(pods.len() * STEPS_OF_POD + of_nodes);
        work.count(self.pools.len() * STEPS_OF_POOL);
        let absent: Vec<&BaseNode<'d>> = absence.nodes.iter().flat_map(|name| self.named(name)).collect();
        let is_absent: BTreeSet<NodeSlot> = absent.iter().map(|one| one.slot).collect();
        let is_present = |one: &&BaseNode<'d>| !is_absent.contains(&one.slot);
        let present = || self.nodes.iter().filter(is_present);
        let open = kept.as_ref().map(KeptParts::of_any_shape);
        let is_open =
            |one: &&BaseNode<'d>| open.as_ref().is_none_or(|open| open.contains(one.slot.position()));
        let tried: Vec<&BaseNode<'d>> = self.nodes.iter().filter(is_open).filter(is_present).collect();
        let mut nodes: Vec<Rc<ExistingNode<'d>>> = tried.iter().map(|one| Rc::clone(&one.node)).collect();
        if !absence.waiting.is_empty() {
            for node in nodes.iter_mut().filter(|node| absence.waiting.contains(node.name)) {
                Rc::make_mut(node).is_waiting = true;
            }
        }
        let topology_nodes = match &kept {
            Some(kept) => {
                let rest = |one: &BaseNode<'d>| KeptNode { topology: one.topology(absence), host: None };
                let rests = absent.iter().map(|one| (one.slot, rest(one))).collect();
                TopologyNodes::Kept(PresentTopology::new(kept.topology, rests))
            }
            None => TopologyNodes::New(self.nodes.iter().filter_map(|one| one.topology(absence)).collect()),
        };
        let mut topology = Topology::new(Rc::clone(&self.domains), topology_nodes, self.settings, work);
        let mut joined = BTreeSet::new();
        for pod in pods.iter().filter(|pod| joined.insert(pod.shape)) {
            // Without work that is left, no pod is tried.
            if work.is_over() {
                break;
            }
            if let Some(shape) = shapes.get(pod.shape) {
                topology.join(shape);
            }
        }
        for host in tried.iter().filter(|_| kept.is_none()).filter_map(|one| one.host) {
            topology.register(labels::HOSTNAME, host);
        }
        World {
            names: Rc::clone(&self.names),
            pools: self.pools(present()),
            used_pools: self.used_pools,
            unusable: self.unusable.clone(),
            has_soft_taint: self.has_soft_taint,
            nodes,
            slots: tried.iter().map(|one| one.slot).collect(),
            fitting: kept.map(|kept| kept.fitting),
            pods,
            shapes,
            topology,
            reservations: self.reservations(),
        }
    }

    /// The NodePools with what their limits leave beside nodes.
    fn pools<'n>(&self, nodes: impl Iterator<Item = &'n BaseNode<'d>>) -> Vec<Rc<Pool<'d>>>
    where
        'd: 'n,
    {
        let pools = self.pools.clone();
        let has_limits = pools.iter().any(Pool::has_limits);
        for one in nodes.filter(|_| has_limits) {
            if let Some(pool) = one.pool.and_then(|id| pools.get(id)) {
                pool.count_node(&one.node.capacity);
            }
        }
        let drops_pools = SchedulerBehaviour::DROPS_EMPTY_POOLS.holds_in(self.settings.release);
        let kept = pools.into_iter().filter(|pool| !drops_pools || !pool.types.is_empty());
        kept.map(Rc::new).collect()
    }
}

impl<'d> BaseNode<'d> {
    fn new(
        occupied: OccupiedNode<'d>,
        slot: NodeSlot,
        daemons: &Daemons<'d>,
        pools: &IdVec<PoolId, Pool<'d>>,
    ) -> Self {
        let OccupiedNode { mut node, pods } = occupied;
        let label = |key: &str| node.labels.get(key).and_then(|value| value.named_values().next());
        let (host, name) = (label(labels::HOSTNAME), label(labels::NODEPOOL));
        let pool = pools.enumerate().find(|(_, pool)| Some(pool.object.name()) == name).map(|(id, _)| id);
        let of_topology = || TopologyNode::new(node.own.labels.clone(), node.own.taints.clone(), &pods);
        let topology = node.origin.has_joined().then(|| Rc::new(of_topology()));
        node.reserve_for_daemons(daemons);
        Self { node: Rc::new(node), slot, topology, pods, host, pool }
    }

    /// The node as topology looks at it when it is present.
    pub(super) fn kept(&self) -> KeptNode<'d> {
        KeptNode { topology: self.topology.clone(), host: self.host }
    }

    /// Lets the node start: its Node exists, and the taints of its start are gone.
    pub(super) fn start(&mut self) {
        let node = Rc::make_mut(&mut self.node);
        node.is_initialized = true;
        node.own.taints.clone_from(&node.taints);
        let topology = TopologyNode::new(node.own.labels.clone(), node.own.taints.clone(), &self.pods);
        self.topology = Some(Rc::new(topology));
    }

    /// Removes pods from the node, and returns them.
    fn end(&mut self, ends: impl Fn(&RunningPod<'d>) -> bool, daemons: &Daemons<'d>) -> Vec<RunningPod<'d>> {
        let ended: Vec<RunningPod<'d>> = self.pods.extract_if(.., |pod| ends(pod)).collect();
        if ended.is_empty() {
            return ended;
        }
        let node = Rc::make_mut(&mut self.node);
        node.free();
        self.pods.iter().for_each(|pod| node.run(pod));
        node.reserve_for_daemons(daemons);
        if let Some(TopologyNode { labels, taints, .. }) = self.topology.as_deref() {
            let topology = TopologyNode::new(labels.clone(), taints.clone(), &self.pods);
            self.topology = Some(Rc::new(topology));
        }
        ended
    }

    /// The node as topology looks at it. A node that takes no pods counts for the pods that stay on it.
    fn topology(&self, absence: &Absence<'d>) -> Option<Rc<TopologyNode<'d>>> {
        if !absence.nodes.contains(self.node.name) {
            return self.topology.clone();
        }
        let pods: Vec<&RunningPod<'d>> = self.pods.iter().filter(|pod| !absence.has(pod)).collect();
        let TopologyNode { labels, taints, .. } = self.topology.as_deref()?;
        (!pods.is_empty()).then(|| Rc::new(TopologyNode::new(labels.clone(), taints.clone(), pods)))
    }
}
