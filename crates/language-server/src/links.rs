//! Names that lead to another object: the node class of a NodePool, the labels and taints that a pod requests, the class of a claim.

use karpenter::kind::Kind;
use karpenter::labels;
use manifest::tree::Node;
use objects::node_claim::{NodeClaim, TaintField};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use objects::storage::{VolumeClaim, claims_in};

/// Something that names lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget<'d> {
    /// An object of a cluster: the group, the kind and the name.
    Object(&'d str, &'d str, &'d str),
    /// An object in a namespace, which may be empty: the kind, the namespace and the name.
    Namespaced(&'d str, &'d str, &'d str),
    /// A label of nodes with a value.
    Label(&'d str, &'d str),
    /// The key of a taint.
    Taint(&'d str),
}

/// A node that leads to a target, or that gives it its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'d> {
    pub(crate) node: Node<'d>,
    pub(crate) target: LinkTarget<'d>,
}

const fn of_kind(kind: Kind, name: &str) -> LinkTarget<'_> {
    LinkTarget::Object(kind.group, kind.name, name)
}

/// The names in an object that lead to others.
pub(crate) fn references(object: Object<'_>) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    let spec = NodePool::of(object).and_then(NodePool::claim_spec);
    let spec = spec.or_else(|| NodeClaim::of(object)?.spec());
    if let Some(node) = spec.and_then(|spec| spec.node_class_ref()?.name()) {
        links.extend(node.as_str().map(|name| Link { node, target: of_kind(Kind::NODE_CLASS, name) }));
    }
    for pod in Pod::all(object) {
        links.extend(of_pod(pod));
    }
    let is_named = |claim: &VolumeClaim<'_>| claim.class().is_some();
    links.extend(claims_in(object).iter().filter(|claim| is_named(claim)).filter_map(|claim| {
        Some(Link { node: claim.class_node(), target: of_kind(Kind::STORAGE_CLASS, claim.class()?) })
    }));
    links
}

fn of_pod(pod: Pod<'_>) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for expression in pod.expressions() {
        for node in expression.values() {
            let Some(value) = node.as_str().filter(|_| !expression.operator.is_negative()) else { continue };
            let target = if labels::normalised(expression.key) == labels::NODEPOOL {
                of_kind(Kind::NODE_POOL, value)
            } else {
                LinkTarget::Label(labels::normalised(expression.key), value)
            };
            links.push(Link { node, target });
        }
    }
    let spec = pod.spec();
    for toleration in spec.tolerations() {
        let (Some(node), Some(key)) = (toleration.key_node(), toleration.key()) else { continue };
        links.push(Link { node, target: LinkTarget::Taint(key) });
    }
    let namespace = pod.object().namespace();
    for claim in spec.volumes().filter_map(objects::pod::PodVolume::claim_name) {
        let target =
            claim.as_str().map(|name| LinkTarget::Namespaced("PersistentVolumeClaim", namespace, name));
        links.extend(target.map(|target| Link { node: claim, target }));
    }
    if let (Some(name), Some(node)) = (spec.priority_class_name(), spec.node().get("priorityClassName")) {
        links.push(Link { node, target: of_kind(Kind::PRIORITY_CLASS, name) });
    }
    links
}

/// The names that an object gives: its own, and the labels and taints of the nodes of a NodePool.
pub(crate) fn declarations(object: Object<'_>) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    if let Some((node, name)) = object.metadata().name().and_then(|node| Some((node, node.as_str()?))) {
        let target = if object.is(VolumeClaim::KIND) {
            LinkTarget::Namespaced(object.kind(), object.namespace(), name)
        } else {
            LinkTarget::Object(object.group(), object.kind(), name)
        };
        links.push(Link { node, target });
    }
    let Some(pool) = NodePool::of(object) else { return links };
    for (key, node) in pool.node_labels() {
        links.extend(node.as_str().map(|value| Link { node, target: LinkTarget::Label(key, value) }));
    }
    for item in pool.requirements().items() {
        // A requirement with another operator names no value that pods could request.
        let is_in = item.operator_text() == Some("In");
        let Some(key) = item.key().filter(|_| is_in) else { continue };
        let values = item.values().filter_map(|node| Some((node, node.as_str()?)));
        links.extend(
            values.map(|(node, value)| Link {
                node,
                target: LinkTarget::Label(labels::normalised(key), value),
            }),
        );
    }
    for taint in TaintField::ALL.into_iter().flat_map(|field| pool.taints(field)) {
        let (Some(node), Some(key)) = (taint.key_node(), taint.key()) else { continue };
        links.push(Link { node, target: LinkTarget::Taint(key) });
    }
    links
}
