//! Reasons for which a NodePool cannot take a pod.

use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};
use values::quantity::Quantity;

use super::remedy::Remedy;
use crate::places::{place_of_label, place_of_pool_label, place_of_taint, place_of_tolerations};
use crate::requirements::Requirement;
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

/// Demand of a pod that a NodePool does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disagreement<'d> {
    /// The pod does not tolerate a taint.
    Taint(PoolTaint<'d>),
    /// A label.
    Label(UnmetLabel<'d>),
    /// A host port is taken.
    HostPort(i64),
    /// A label of the nodes that can attach the volumes.
    Volume(UnmetLabel<'d>),
    /// A topology constraint, by its label.
    Topology(&'d str),
    /// A resource.
    Resource(NearestMiss<'d>),
    /// `minValues` of a requirement of the NodePool.
    MinValues(UnmetMinValues<'d>),
    /// The limits of the NodePool, with the missing amount if one resource alone is missing.
    Limits(Option<LimitMiss<'d>>),
    /// A requirement of the NodePool that excludes its own instance types.
    OwnRequirement(&'d str),
}

/// Label that a pod requires and no node of a NodePool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetLabel<'d> {
    /// The key.
    pub key: &'d str,
    /// The requirement of the pod.
    pub asked: Requirement<'d>,
    /// The requirement of the NodePool; `None` if it has none.
    pub present: Option<Requirement<'d>>,
    /// Whether the NodePool accepts the label, and no instance type that is left does.
    pub is_of_types: bool,
}

/// Resource of a pod compared with the instance type that comes closest among the types that meet every other demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestMiss<'d> {
    /// The resource.
    pub resource: &'d str,
    /// The request of the pod.
    pub requested: Quantity,
    /// The allocatable amount without daemons.
    pub largest: Quantity,
    /// The instance type.
    pub instance_type: &'static str,
}

/// Label with fewer values than `minValues` among the instance types that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmetMinValues<'d> {
    /// The key.
    pub key: &'d str,
    /// `minValues`.
    pub least: i64,
    /// The number of values.
    pub found: usize,
}

/// Limit of a NodePool that no instance type for the pod keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitMiss<'d> {
    /// The resource.
    pub resource: &'d str,
    /// The amount that is left.
    pub left: Quantity,
    /// The capacity of the smallest instance type that is large enough for the pod.
    pub needed: Quantity,
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
    /// The smallest set of demands without which the NodePool takes the pod; empty if none was found.
    pub unmet: Vec<Disagreement<'d>>,
    /// The changes after which the pod has a place and no other pod loses its place. Each was simulated.
    pub remedies: Vec<Vec<Remedy<'d>>>,
    /// The changes to try.
    pub(crate) proposals: Vec<Vec<Remedy<'d>>>,
    /// Whether Karpenter's message leaves open what the kind is.
    pub is_open: bool,
}

impl NearestMiss<'_> {
    /// The amount that the pod asks too much.
    pub fn missing(&self) -> Quantity {
        self.requested.minus(self.largest)
    }
}

impl<'d> PoolReason<'d> {
    /// A NodePool that takes no pod at all.
    pub(crate) fn unusable(pool: Object<'d>, kind: ReasonKind, message: &str) -> Self {
        Self {
            pool,
            kind,
            message: message.to_owned(),
            unmet: Vec::new(),
            remedies: Vec::new(),
            proposals: Vec::new(),
            is_open: false,
        }
    }

    /// The field of the pod.
    pub fn place_in_pod(&self, pod: Pod<'d>) -> Option<Place<'d>> {
        let spec = pod.spec();
        match self.unmet.first()? {
            Disagreement::Taint(_) => Some(place_of_tolerations(pod)),
            Disagreement::Label(label) => place_of_label(pod, label.key),
            Disagreement::Resource(miss) => place_of_request(pod, miss.resource),
            Disagreement::HostPort(port) => place_of_port(pod, *port),
            Disagreement::Topology(key) => place_of_topology(pod, key),
            Disagreement::Volume(_) => spec.node().get("volumes").map(Place::key),
            Disagreement::MinValues(_) | Disagreement::Limits(_) | Disagreement::OwnRequirement(_) => None,
        }
    }

    /// The field of the NodePool.
    pub fn place_in_pool(&self) -> Option<Place<'d>> {
        let pool = NodePool::of(self.pool)?;
        match self.unmet.first()? {
            Disagreement::Taint(taint) => place_of_taint(pool, *taint),
            Disagreement::Label(label) => Some(place_of_pool_label(pool, label.key)),
            Disagreement::MinValues(miss) => Some(place_of_pool_label(pool, miss.key)),
            Disagreement::OwnRequirement(key) => Some(place_of_pool_label(pool, key)),
            Disagreement::Limits(_) => pool.limits().map(Place::key),
            Disagreement::Resource(_) => pool.requirements().node().map(Place::key),
            Disagreement::HostPort(_) | Disagreement::Topology(_) | Disagreement::Volume(_) => None,
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
