//! Changes of a cluster between its rounds: new nodes are added and start, pods run on other nodes, nodes go.

use std::rc::Rc;

use objects::object::Object;
use objects::pod::Pod;
use values::quantity::Quantity;

use super::catalog::TypeSet;
use super::claim::Claim;
use super::launch::Launch;
use super::new_node::NewNode;
use super::node::NodeOrigin;
use super::resources::Resources;
use super::round::SimulatedCluster;
use super::selector::namespace_of;
use super::workloads::InputPod;
use super::world::{Base, BaseNode, NodeSlot};
use crate::taints::PoolTaint;

/// Node that was added to a cluster, with its cheapest instance type.
#[derive(Clone, Debug)]
pub struct LaunchedNode<'d> {
    /// The name.
    pub name: &'d str,
    /// The NodePool.
    pub pool: Object<'d>,
    /// The instance type.
    pub instance_type: &'static str,
    /// The zone.
    pub zone: &'d str,
    /// The capacity type.
    pub capacity_type: &'d str,
    /// The price in USD per hour.
    pub price: f64,
    /// The labels without the host name.
    pub labels: Vec<(&'d str, &'d str)>,
    /// The taints.
    pub taints: Vec<PoolTaint<'d>>,
    /// The capacity.
    pub capacity: Vec<(&'d str, Quantity)>,
    /// The allocatable resources.
    pub allocatable: Vec<(&'d str, Quantity)>,
}

impl<'s> SimulatedCluster<'s> {
    /// Whether an instance type of a new node can be bought.
    pub fn can_add(&self, node: &NewNode<'s>) -> bool {
        node.launch().is_some()
    }

    /// Adds a new node of a round; `None` if none of its instance types can be bought, or no name is left. It has not started completely.
    pub fn add(&mut self, node: &NewNode<'s>) -> Option<LaunchedNode<'s>> {
        self.add_launched(&node.launch()?)
    }

    /// Adds a node without pods to a NodePool; `None` if no instance type can be bought, or no name is left. It has not started completely.
    pub fn add_of_pool(&mut self, name: &str) -> Option<LaunchedNode<'s>> {
        let pool = self.base.known.iter().find(|pool| pool.object.name() == name)?;
        let mut types: TypeSet = pool.catalog.all();
        pool.catalog.retain_compatible(&mut types, &pool.requirements);
        let claim = Claim::open(&Rc::new(pool.clone()), types, "");
        self.add_launched(&Launch::of(&claim)?)
    }

    fn add_launched(&mut self, launch: &Launch<'_, 's>) -> Option<LaunchedNode<'s>> {
        let host = self.take_host()?;
        let node = self.base.launched(launch, host, NodeOrigin::Added(host));
        let resources = |all: &Resources| {
            let named = all.iter().filter(|(id, _)| *id != super::resources::NODES);
            named.map(|(id, amount)| (self.base.resource_name(id), amount)).collect()
        };
        let all = launch.labels();
        let labels = all.iter().filter_map(|(key, value)| Some((key, value.named_values().next()?)));
        let added = LaunchedNode {
            name: host,
            pool: launch.pool.object,
            instance_type: launch.instance_type(),
            zone: launch.offering.zone,
            capacity_type: launch.offering.capacity_type,
            price: launch.price(),
            labels: labels.collect(),
            taints: node.node.taints.clone(),
            capacity: resources(&node.node.capacity),
            allocatable: resources(&node.node.allocatable),
        };
        self.insert(node);
        Some(added)
    }

    /// Lets a node start completely.
    pub fn start(&mut self, name: &str) {
        if let Some(mut node) = self.base.take(name) {
            node.start();
            self.insert(node);
        }
    }

    /// Inserts a node at its place in the order.
    fn insert(&mut self, node: BaseNode<'s>) {
        self.fitting.get_mut().note(&node);
        self.topology.borrow_mut().note(node.slot, Some(&node));
        self.base.insert(node);
    }

    /// Lets a pod run on a node.
    pub fn settle(&mut self, pod: Object<'s>, node: &str) {
        let Some((pod, at)) = Pod::of(pod).zip(self.base.position(node)) else { return };
        let object = pod.object();
        let namespace = namespace_of(object);
        let running = self.homeless.remove(&(namespace, object.name()));
        let running = running
            .unwrap_or_else(|| self.base.running(&InputPod::new(pod, namespace, object.name().to_owned())));
        self.base.settle(at, running);
        self.note(at);
    }

    /// Notes that the node at a position has changed.
    fn note(&mut self, at: usize) {
        if let Some(one) = self.base.nodes.get(at) {
            self.fitting.get_mut().note(one);
            self.topology.borrow_mut().note(one.slot, Some(one));
        }
    }

    /// Lets the pods that a function chooses end on their nodes, except for daemons. Returns the pods.
    pub fn end(&mut self, ends: impl Fn(Object<'s>) -> bool) -> Vec<Object<'s>> {
        let ended = self.base.end(|pod| !pod.is_daemon && ends(pod.object));
        for at in ended.keys() {
            self.note(*at);
        }
        ended.into_values().flatten().map(|pod| pod.object).collect()
    }

    /// Removes a node with its pods.
    pub fn remove(&mut self, node: &str) {
        if let Some(gone) = self.base.take(node) {
            self.fitting.get_mut().note(&gone);
            self.topology.borrow_mut().note(gone.slot, None);
            let pods = gone.pods.into_iter().filter(|pod| !pod.is_daemon);
            self.homeless.extend(pods.map(|pod| ((namespace_of(pod.object), pod.object.name()), pod)));
        }
    }
}

impl<'d> Base<'d> {
    /// The position of a node among the nodes in their order.
    fn position(&self, name: &str) -> Option<usize> {
        let found = [false, true].into_iter().find_map(|is_starting| {
            self.nodes.binary_search_by_key(&(is_starting, name), |one| one.node.sort_key()).ok()
        });
        // A node that has not joined is sorted by the name of its NodeClaim.
        let is_meant = |at: &usize| self.nodes.get(*at).is_some_and(|one| one.node.name == name);
        found.filter(is_meant).or_else(|| self.nodes.iter().position(|one| one.node.name == name))
    }

    /// The node of a slot, if it is still at its place in the order.
    pub(super) fn find(&self, slot: NodeSlot, key: (bool, &str)) -> Option<&BaseNode<'d>> {
        let first = self.nodes.partition_point(|one| one.node.sort_key() < key);
        let equal = self.nodes.get(first..)?.iter().take_while(|one| one.node.sort_key() == key);
        equal.into_iter().find(|one| one.slot == slot)
    }

    /// The nodes with a name. A NodeClaim without a Node may have the name of a Node.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &BaseNode<'d>> {
        let at = |is_starting| self.nodes.partition_point(|one| one.node.sort_key() < (is_starting, name));
        let near = [false, true].map(|is_starting| self.nodes.get(at(is_starting)));
        let near: Vec<_> = near.into_iter().flatten().filter(|one| one.node.name == name).collect();
        let others = if near.is_empty() { self.nodes.as_slice() } else { &[] };
        near.into_iter().chain(others.iter().filter(move |one| one.node.name == name))
    }

    fn take(&mut self, name: &str) -> Option<BaseNode<'d>> {
        self.position(name).map(|at| self.nodes.remove(at))
    }

    /// Inserts a node at its place in the order.
    fn insert(&mut self, node: BaseNode<'d>) {
        let key = node.node.sort_key();
        let at = self.nodes.partition_point(|one| one.node.sort_key() < key);
        self.nodes.insert(at, node);
    }
}
