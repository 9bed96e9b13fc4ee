//! The part of a cluster that several rounds of the provisioner share: NodePools with instance types, nodes with running
//! pods.

use std::collections::BTreeSet;
use std::rc::Rc;

use karpenter::labels;
use objects::object::Object;

use super::behaviour::Behaviour;
use super::daemons::Daemons;
use super::node::ExistingNode;
use super::pool::Pool;
use super::reason::{PoolReason, ReasonKind};
use super::settings::SimulationSettings;
use super::shape::PodShape;
use super::topology::{Domains, Topology, TopologyNode};
use super::volumes::namespace_of;
use super::workloads::{InputPod, InputPods};
use super::world::{Input, PendingPods, World, unusable_pool};
use crate::ids::{IdVec, ids};

ids! {
    /// NodePool that Karpenter uses.
    pub(super) PoolId;
}

/// Pod on a node.
#[derive(Clone, Debug)]
pub(super) struct RunningPod<'d> {
    /// The pod.
    pub(super) object: Object<'d>,
    /// Its shape.
    pub(super) shape: Rc<PodShape<'d>>,
}

/// Pod to place.
#[derive(Debug)]
pub(super) struct BatchPod<'d> {
    /// The pod.
    pub(super) input: InputPod<'d>,
    /// Whether it leaves a node.
    pub(super) is_moved: bool,
    /// Whether it avoids nodes whose `consolidateAfter` is not over.
    pub(super) avoids_waiting: bool,
}

impl<'d> BatchPod<'d> {
    /// A pod without a node.
    pub(super) fn pending(input: InputPod<'d>) -> Self {
        Self { input, is_moved: false, avoids_waiting: false }
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

/// Node with the pods that count for topology.
struct BaseNode<'d> {
    node: Rc<ExistingNode<'d>>,
    topology: Rc<TopologyNode<'d>>,
    pods: Vec<RunningPod<'d>>,
    host: Option<&'d str>,
    /// Its NodePool.
    pool: Option<PoolId>,
}

/// The part of a cluster that several rounds share.
pub(super) struct Base<'i, 'd> {
    input: Input<'i, 'd>,
    /// All NodePools, whether or not they take pods.
    pub(super) known: Vec<Pool<'d>>,
    pools: IdVec<PoolId, Pool<'d>>,
    used_pools: usize,
    unusable: Vec<PoolReason<'d>>,
    has_soft_taint: bool,
    domains: Rc<Domains<'d>>,
    nodes: Vec<BaseNode<'d>>,
}

impl<'i, 'd> Base<'i, 'd> {
    /// Reads the NodePools, nodes and running pods of objects.
    pub(super) fn read(
        objects: &'i [Object<'d>],
        all: &InputPods<'d>,
        settings: &'d SimulationSettings,
    ) -> Self {
        let input = Input::new(objects, settings);
        let known = input.pools();
        let mut pools: IdVec<PoolId, Pool<'d>> = known.iter().filter(|pool| pool.is_used).cloned().collect();
        let domains = Domains::of_pools(&pools);
        let daemons = all.daemons.iter().map(|daemon| input.shape(daemon)).collect();
        let mut daemons = Daemons::new(daemons, settings.release);
        input.prepare(&mut pools, &mut daemons);
        let nodes = input.nodes(&all.running).into_iter();
        let nodes = nodes.map(|(node, pods)| BaseNode::new(node, pods, &daemons, &pools)).collect();
        let used_pools = pools.len();
        let has_soft_taint = pools.iter().any(Pool::has_soft_taint);
        let mut unusable = input.unready();
        unusable.extend(pools.iter().filter(|pool| pool.types.is_empty()).map(|pool| {
            unusable_pool(pool.object, ReasonKind::NoInstanceTypes, "the requirements leave no instance type")
        }));
        let domains = Rc::new(domains);
        Self { input, known, pools, used_pools, unusable, has_soft_taint, domains, nodes }
    }

    /// The cluster at the start of a round.
    pub(super) fn round(&self, batch: Vec<BatchPod<'d>>, absence: &Absence<'d>) -> World<'d> {
        let settings = self.input.settings;
        let is_present = |one: &&BaseNode<'d>| !absence.nodes.contains(one.node.name);
        let present: Vec<&BaseNode<'d>> = self.nodes.iter().filter(is_present).collect();
        let mut nodes: Vec<Rc<ExistingNode<'d>>> = present.iter().map(|one| Rc::clone(&one.node)).collect();
        for node in nodes.iter_mut().filter(|node| absence.waiting.contains(node.name)) {
            Rc::make_mut(node).is_waiting = true;
        }
        let topology_nodes = self.nodes.iter().filter_map(|one| one.topology(absence)).collect();
        let mut topology = Topology::new(Rc::clone(&self.domains), topology_nodes, settings);
        let PendingPods { pods, shapes } = self.input.pending(batch);
        for shape in &shapes {
            topology.join(shape);
        }
        for host in present.iter().filter_map(|one| one.host) {
            topology.register(labels::HOSTNAME, host);
        }
        World {
            names: Rc::clone(&self.input.names),
            pools: self.pools(&present),
            used_pools: self.used_pools,
            unusable: self.unusable.clone(),
            has_soft_taint: self.has_soft_taint,
            nodes,
            pods,
            shapes,
            topology,
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
        let drops_pools = Behaviour::DROPS_EMPTY_POOLS.holds_in(self.input.settings.release);
        let kept = pools.into_iter().filter(|pool| !drops_pools || !pool.types.is_empty());
        kept.map(Rc::new).collect()
    }
}

impl<'d> BaseNode<'d> {
    fn new(
        mut node: ExistingNode<'d>,
        pods: Vec<RunningPod<'d>>,
        daemons: &Daemons<'d>,
        pools: &IdVec<PoolId, Pool<'d>>,
    ) -> Self {
        let label = |key: &str| node.labels.get(key).and_then(|value| value.named_values().next());
        let (host, name) = (label(labels::HOSTNAME), label(labels::NODEPOOL));
        let pool = pools.enumerate().find(|(_, pool)| Some(pool.object.name()) == name).map(|(id, _)| id);
        let shapes = pods.iter().map(|pod| Rc::clone(&pod.shape)).collect();
        let topology = Rc::new(TopologyNode::new(node.labels.clone(), node.taints.clone(), shapes));
        node.reserve_for_daemons(daemons);
        Self { node: Rc::new(node), topology, pods, host, pool }
    }

    /// The node as topology looks at it. A node that takes no pods counts for the pods that stay on it.
    fn topology(&self, absence: &Absence<'d>) -> Option<Rc<TopologyNode<'d>>> {
        if !absence.nodes.contains(self.node.name) {
            return Some(Rc::clone(&self.topology));
        }
        let stays =
            |pod: &&RunningPod<'d>| !absence.pods.contains(&(namespace_of(pod.object), pod.object.name()));
        let pods: Vec<_> = self.pods.iter().filter(stays).map(|pod| Rc::clone(&pod.shape)).collect();
        let TopologyNode { labels, taints, .. } = &*self.topology;
        (!pods.is_empty()).then(|| Rc::new(TopologyNode::new(labels.clone(), taints.clone(), pods)))
    }
}
