//! Reasons for which a NodePool cannot take a pod.

use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};
use values::quantity::Quantity;

use crate::places::{place_of_label, place_of_pool_label, place_of_taint, place_of_tolerations};
use crate::taints::PoolTaint;

/// Kind of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum ReasonKind {
    /// The pod does not tolerate a taint.
    Taint,
    /// The requirements of the pod and of the NodePool do not agree.
    Requirements,
    /// No instance type has enough resources.
    Resources,
    /// No instance type can be bought in a fitting zone and capacity type.
    Offering,
    /// The limits of the NodePool are used up.
    Limits,
    /// A topology constraint cannot be satisfied.
    Topology,
    /// The volumes of the pod are elsewhere.
    Volume,
    /// Too few values remain for `minValues`.
    MinValues,
    /// A host port is taken.
    HostPort,
    /// No instance of a capacity reservation is left.
    Reservation,
    /// The NodePool is not ready.
    PoolNotReady,
    /// The requirements of the NodePool leave no instance type.
    NoInstanceTypes,
}

impl ReasonKind {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taint => "taint",
            Self::Requirements => "requirements",
            Self::Resources => "resources",
            Self::Offering => "offering",
            Self::Limits => "limits",
            Self::Topology => "topology",
            Self::Volume => "volume",
            Self::MinValues => "min-values",
            Self::HostPort => "host-port",
            Self::Reservation => "reservation",
            Self::PoolNotReady => "pool-not-ready",
            Self::NoInstanceTypes => "no-instance-types",
        }
    }
}

/// The field about which a pod and a NodePool do not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement<'d> {
    /// A taint.
    Taint(PoolTaint<'d>),
    /// A label.
    Label(&'d str),
    /// A resource.
    Resource(&'d str),
    /// The limits.
    Limits,
    /// A host port.
    HostPort(i64),
    /// Volumes.
    Volume,
    /// A topology constraint, by its label.
    Topology(&'d str),
    /// No single field.
    Unknown,
}

/// Reason for which a NodePool cannot take a pod.
#[derive(Clone, Debug)]
pub struct PoolReason<'d> {
    /// The NodePool.
    pub pool: Object<'d>,
    /// The kind.
    pub kind: ReasonKind,
    /// Karpenter's message.
    pub message: String,
    /// The field.
    pub disagreement: Disagreement<'d>,
    /// The resource that is missing, with the request of the pod and the daemons and the most that a type has.
    pub nearest: Option<NearestMiss<'d>>,
}

/// The largest amount of a resource that the instance types of a NodePool have, compared with a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestMiss<'d> {
    /// The resource.
    pub resource: &'d str,
    /// The request of the pod.
    pub requested: Quantity,
    /// The largest allocatable amount without daemons.
    pub largest: Quantity,
}

impl<'d> PoolReason<'d> {
    /// A NodePool that takes no pod at all.
    pub(crate) fn unusable(pool: Object<'d>, kind: ReasonKind, message: &str) -> Self {
        Self { pool, kind, message: message.to_owned(), disagreement: Disagreement::Unknown, nearest: None }
    }

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
