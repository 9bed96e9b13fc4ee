//! The fields of a pod and of a NodePool that do not agree.

use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_pool::NodePool;
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};

use super::reason::{Disagreement, PoolReason};
use crate::places::{place_of_label, place_of_pool_label, place_of_taint, place_of_tolerations};

impl<'d> PoolReason<'d> {
    /// The field of the pod.
    pub fn place_in_pod(&self, pod: Pod<'d>) -> Option<Place<'d>> {
        let spec = pod.spec();
        match self.disagreement {
            Disagreement::Taint(_) => Some(place_of_tolerations(pod)),
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
            Disagreement::Taint(taint) => place_of_taint(pool, taint),
            Disagreement::Label(key) => Some(place_of_pool_label(pool, key)),
            Disagreement::Limits => pool.limits().map(Place::key),
            Disagreement::Resource(_) => pool.requirements().node().map(Place::key),
            _ => None,
        }
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
