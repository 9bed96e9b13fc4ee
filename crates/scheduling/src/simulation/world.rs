//! The cluster that rounds of the provisioner start from.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::{IdVec, ids};
use karpenter::labels;
use objects::object::Object;
use objects::pod::Pod;

use super::behaviour::SchedulerBehaviour;
use super::daemons::Daemons;
use super::exclusion::without_types;
use super::launch::Launch;
use super::node::{ExistingNode, OccupiedNode, read_nodes};
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
use super::topology::{Domains, Topology, TopologyNode};
use super::workloads::InputPods;

ids! {
    /// NodePool that Karpenter uses.
    PoolId;
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
    /// The existing nodes, in the order in which they are tried.
    pub(super) nodes: Vec<Rc<ExistingNode<'d>>>,
    /// The pods that wait for a node, in the order of the input.
    pub(super) pods: IdVec<PodId, PendingPod<'d>>,
    /// The shapes of these pods.
    pub(super) shapes: IdVec<ShapeId, PodShape<'d>>,
    /// The constraints on topology.
    pub(super) topology: Topology<'d>,
    /// The capacity reservations.
    pub(super) reservations: Reservations<'d>,
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

/// Node with the pods that count for topology.
pub(super) struct BaseNode<'d> {
    /// The node.
    pub(super) node: Rc<ExistingNode<'d>>,
    /// `None` for a NodeClaim without a Node, which topology does not look at (`countDomains`).
    topology: Option<Rc<TopologyNode<'d>>>,
    /// The pods on the node.
    pub(super) pods: Vec<RunningPod<'d>>,
    host: Option<&'d str>,
    /// Its NodePool.
    pool: Option<PoolId>,
}

/// The part of a cluster that several rounds share.
pub(super) struct Base<'d> {
    reader: PodReader<'d>,
    names: Rc<ResourceNames<'d>>,
    settings: &'d SimulationSettings,
    /// All NodePools, whether or not they take pods.
    pub(super) known: Vec<Pool<'d>>,
    pools: IdVec<PoolId, Pool<'d>>,
    used_pools: usize,
    unusable: Vec<PoolReason<'d>>,
    has_soft_taint: bool,
    domains: Rc<Domains<'d>>,
    daemons: Daemons<'d>,
    /// The existing nodes, in the order in which they are tried.
    pub(super) nodes: Vec<BaseNode<'d>>,
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
        Self::read_changed(objects, all, settings, None)
    }

    /// Reads the NodePools, nodes and running pods of objects, with a change of NodePools and of the pods that wait for a node.
    pub(super) fn read_changed(
        objects: &'d [Object<'d>],
        all: &InputPods<'d>,
        settings: &'d SimulationSettings,
        change: Option<&ProposedChange<'d>>,
    ) -> Self {
        let names = Rc::new(ResourceNames::new());
        let reader = PodReader::new(objects, &names, settings).with_change(change.cloned());
        let mut unusable = pools::unready(objects);
        let mut known = pools::read_pools(objects, &names, settings);
        if let Some(change) = change {
            change.change_pools(&mut known, &names);
        }
        let mut pools: IdVec<PoolId, Pool<'d>> = known.iter().filter(|pool| pool.is_used).cloned().collect();
        let domains = Domains::of_pools(&pools);
        let PlacedPods { daemons, running } = reader.placed(all);
        let mut daemons = Daemons::new(daemons, settings.release);
        daemons.prepare(&mut pools, settings);
        let nodes = read_nodes(objects, running, &names, settings).into_iter();
        let nodes = nodes.map(|occupied| BaseNode::new(occupied, &daemons, &pools)).collect();
        let used_pools = pools.len();
        let has_soft_taint = pools.iter().any(Pool::has_soft_taint);
        unusable.extend(pools.iter().filter(|pool| pool.types.is_empty()).map(without_types));
        let domains = Rc::new(domains);
        Self {
            reader,
            names,
            settings,
            known,
            pools,
            used_pools,
            unusable,
            has_soft_taint,
            domains,
            daemons,
            nodes,
            taken: BTreeMap::new(),
        }
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

    /// Lets a new node join the cluster with its pods. A capacity reservation without an instance left is not offered any more.
    pub(super) fn join(&mut self, launch: &Launch<'_, 'd>, host: &'d str, number: ClaimId) -> usize {
        let node = ExistingNode::launched(launch, host, number);
        let occupied = OccupiedNode { node, pods: Vec::new() };
        self.nodes.push(BaseNode::new(occupied, &self.daemons, &self.pools));
        if let Some(id) = launch.offering.reservation {
            let taken = self.taken.entry(id).or_default();
            *taken += 1;
            if self.settings.reservation_capacity.get(id).is_some_and(|all| *taken >= *all) {
                self.pools.iter_mut().for_each(|pool| Rc::make_mut(&mut pool.catalog).drop_reservation(id));
            }
        }
        self.nodes.len().saturating_sub(1)
    }

    /// The capacity reservations at the start of a round.
    pub(super) fn reservations(&self) -> Reservations<'d> {
        Reservations::after(self.settings, &self.taken)
    }

    /// The cluster at the start of a round.
    pub(super) fn round(&self, batch: Vec<BatchPod<'d>>, absence: &Absence<'d>) -> World<'d> {
        let is_present = |one: &&BaseNode<'d>| !absence.nodes.contains(one.node.name);
        let present: Vec<&BaseNode<'d>> = self.nodes.iter().filter(is_present).collect();
        let mut nodes: Vec<Rc<ExistingNode<'d>>> = present.iter().map(|one| Rc::clone(&one.node)).collect();
        for node in nodes.iter_mut().filter(|node| absence.waiting.contains(node.name)) {
            Rc::make_mut(node).is_waiting = true;
        }
        let topology_nodes = self.nodes.iter().filter_map(|one| one.topology(absence)).collect();
        let mut topology = Topology::new(Rc::clone(&self.domains), topology_nodes, self.settings);
        let PendingPods { pods, shapes } = self.reader.pending(batch);
        for shape in &shapes {
            topology.join(shape);
        }
        for host in present.iter().filter_map(|one| one.host) {
            topology.register(labels::HOSTNAME, host);
        }
        World {
            names: Rc::clone(&self.names),
            pools: self.pools(&present),
            used_pools: self.used_pools,
            unusable: self.unusable.clone(),
            has_soft_taint: self.has_soft_taint,
            nodes,
            pods,
            shapes,
            topology,
            reservations: self.reservations(),
        }
    }

    /// The NodePools with what their limits leave beside nodes.
    fn pools(&self, nodes: &[&BaseNode<'d>]) -> Vec<Rc<Pool<'d>>> {
        let pools = self.pools.clone();
        for one in nodes {
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
    fn new(occupied: OccupiedNode<'d>, daemons: &Daemons<'d>, pools: &IdVec<PoolId, Pool<'d>>) -> Self {
        let OccupiedNode { mut node, pods } = occupied;
        let label = |key: &str| node.labels.get(key).and_then(|value| value.named_values().next());
        let (host, name) = (label(labels::HOSTNAME), label(labels::NODEPOOL));
        let pool = pools.enumerate().find(|(_, pool)| Some(pool.object.name()) == name).map(|(id, _)| id);
        let of_topology = || TopologyNode::new(node.own.labels.clone(), node.own.taints.clone(), &pods);
        let topology = node.origin.has_joined().then(|| Rc::new(of_topology()));
        node.reserve_for_daemons(daemons);
        Self { node: Rc::new(node), topology, pods, host, pool }
    }

    /// The node as topology looks at it. A node that takes no pods counts for the pods that stay on it.
    fn topology(&self, absence: &Absence<'d>) -> Option<Rc<TopologyNode<'d>>> {
        if !absence.nodes.contains(self.node.name) {
            return self.topology.clone();
        }
        let stays =
            |pod: &&RunningPod<'d>| !absence.pods.contains(&(namespace_of(pod.object), pod.object.name()));
        let pods: Vec<&RunningPod<'d>> = self.pods.iter().filter(stays).collect();
        let TopologyNode { labels, taints, .. } = self.topology.as_deref()?;
        (!pods.is_empty()).then(|| Rc::new(TopologyNode::new(labels.clone(), taints.clone(), pods)))
    }
}
