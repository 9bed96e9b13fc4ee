//! The fields of a pod and of a NodePool that do not agree.

use karpenter::labels;
use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::pod::{LabelExpression, Pod, PodAffinityTerm, TopologySpreadConstraint};
use objects::taint::TaintItem;

use super::reason::{Disagreement, PoolReason};
use crate::taints::PoolTaint;

impl<'d> PoolReason<'d> {
    /// The field of the pod.
    pub fn place_in_pod(&self, pod: Pod<'d>) -> Option<Place<'d>> {
        let spec = pod.spec();
        match self.disagreement {
            Disagreement::Taint(_) => {
                let list = spec.toleration_list();
                Some(list.map_or_else(|| Place::missing(spec.node(), "tolerations"), Place::value))
            }
            Disagreement::Label(key) => place_of_label(pod, key),
            Disagreement::Resource(name) => place_of_request(pod, name),
            Disagreement::HostPort(port) => place_of_port(pod, port),
            Disagreement::Topology(key) => place_of_topology(pod, key),
            Disagreement::Volume => spec.node().get("volumes").map(Place::key),
            Disagreement::Limits | Disagreement::Unknown => None,
        }
    }

    /// The field of the NodePool.
    pub fn place_in_pool(&self) -> Option<Place<'d>> {
        let pool = NodePool::of(self.pool)?;
        match self.disagreement {
            Disagreement::Taint(taint) => {
                let same = |item: &TaintItem<'d>| PoolTaint::from_item(*item) == taint;
                pool.taints(TaintField::Taints).find(same).map(|item| Place::value(item.node()))
            }
            Disagreement::Label(key) => Some(place_of_pool_label(pool, key)),
            Disagreement::Limits => pool.limits().map(Place::key),
            Disagreement::Resource(_) => pool.requirements().node().map(Place::key),
            _ => None,
        }
    }
}

fn place_of_label<'d>(pod: Pod<'d>, key: &str) -> Option<Place<'d>> {
    let mut expressions = pod.expressions();
    expressions.find(|expression| labels::normalised(expression.key) == key).map(LabelExpression::place)
}

/// The requirement or the label of a NodePool, or the place where a label is missing.
fn place_of_pool_label<'d>(pool: NodePool<'d>, key: &str) -> Place<'d> {
    let mut items = pool.requirements().items();
    let item = items.find(|item| item.key().is_some_and(|name| labels::normalised(name) == key));
    if let Some(item) = item {
        return Place::value(item.node());
    }
    if let Some((_, node)) = pool.node_labels().find(|(name, _)| *name == key) {
        return Place::key_of_map(node);
    }
    match pool.requirements().node() {
        Some(list) => Place::key(list),
        None => Place::missing(pool.object().root(), "spec.template.spec.requirements"),
    }
}

/// The request of the container that asks for a resource, or its limit.
fn place_of_request<'d>(pod: Pod<'d>, name: &str) -> Option<Place<'d>> {
    let containers = || {
        let spec = pod.spec().node();
        items_of(spec.get("containers")).chain(items_of(spec.get("initContainers")))
    };
    let find = |part: &str| containers().find_map(|container| container.at_path(&["resources", part, name]));
    find("requests").or_else(|| find("limits")).map(Place::value)
}

fn place_of_port(pod: Pod<'_>, port: i64) -> Option<Place<'_>> {
    let containers = items_of(pod.spec().node().get("containers"));
    let mut ports = containers.flat_map(|container| items_of(container.get("ports")));
    let has = |item: &Node<'_>, field: &str| item.get(field).and_then(Node::as_int) == Some(port);
    let found = ports.find(|item| has(item, "hostPort") || has(item, "containerPort"))?;
    Some(Place::value(found.get("hostPort").unwrap_or(found)))
}

fn place_of_topology<'d>(pod: Pod<'d>, key: &str) -> Option<Place<'d>> {
    let spreads = pod.spec().topology_spread_constraints().filter_map(TopologySpreadConstraint::topology_key);
    let terms = pod.spec().pod_affinity_terms().filter_map(PodAffinityTerm::topology_key);
    spreads.chain(terms).find(|node| node.as_str() == Some(key)).map(Place::value)
}
