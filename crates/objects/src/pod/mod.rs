//! Pods, and the templates that workloads make them from.

mod container;
pub mod metadata_service;
mod node_affinity;
pub(crate) mod template;
mod topology;
mod volume;

use manifest::tree::{Members, Node, items_of, members_of};

use crate::metadata::Metadata;
use crate::object::Object;

pub use container::{Container, EnvVar};
pub use node_affinity::{ExpressionOrigin, LabelExpression, NodeSelectorTerm, PreferredTerm};
pub use template::PodTemplate;
pub use topology::{PodAffinityTerm, TopologySpreadConstraint};
pub use volume::PodVolume;

/// View of a pod or a pod template within its object.
#[derive(Clone, Copy, Debug)]
pub struct Pod<'d> {
    object: Object<'d>,
    template: Node<'d>,
    spec: PodSpec<'d>,
}

impl<'d> Pod<'d> {
    /// The pod or template of an object, where it has one. Of several templates the object names one at a time.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let template = object.pod()?;
        let spec = PodSpec { node: template.spec, defaults: template.defaults };
        Some(Self { object, template: template.holder, spec })
    }

    /// Every pod and template of an object.
    pub fn all(object: Object<'d>) -> Vec<Self> {
        let further = object.with_further_pods();
        Self::of(object).into_iter().chain(further.into_iter().filter_map(Self::of)).collect()
    }

    /// The object that holds the pod.
    pub fn object(self) -> Object<'d> {
        self.object
    }

    /// The metadata of the pod, not of the workload.
    pub fn metadata(self) -> Metadata<'d> {
        Metadata::of(self.template)
    }

    /// The pod's specification.
    pub fn spec(self) -> PodSpec<'d> {
        self.spec
    }

    /// Whether a DaemonSet makes the pods, so that Karpenter launches no node for them.
    pub fn is_daemon(self) -> bool {
        self.object.kind() == "DaemonSet" || self.is_owned_by(&["DaemonSet", "Node"])
    }

    fn is_owned_by(self, kinds: &[&str]) -> bool {
        self.object.kind() == "Pod" && self.object.metadata().owner_kinds().any(|kind| kinds.contains(&kind))
    }

    /// Every mention of a label key: the node selector, the required and the preferred terms, in this order.
    // A list, for a chain of iterators would be compiled anew in every rule that goes through it.
    pub fn expressions(self) -> impl Iterator<Item = LabelExpression<'d>> + Clone {
        let mut all: Vec<_> = self.spec.node_selector_expressions().collect();
        for (term, node) in self.spec.required_terms().enumerate() {
            all.extend(node.expressions(ExpressionOrigin::Required { term }));
        }
        for term in self.spec.preferred_terms() {
            let origin = ExpressionOrigin::Preferred { heaviest: term.is_heaviest };
            all.extend(term.preference.expressions(origin));
        }
        all.into_iter()
    }
}

/// Whether any pod of an object selects nodes by label.
pub fn has_node_expressions(object: Object<'_>) -> bool {
    Pod::all(object).into_iter().any(|pod| pod.expressions().next().is_some())
}

/// View of a pod's specification. The values of Karpenter's chart have some of its fields at their top level.
#[derive(Clone, Copy, Debug)]
pub struct PodSpec<'d> {
    node: Node<'d>,
    /// The node that has the fields about scheduling where the specification has none.
    defaults: Option<Node<'d>>,
}

impl<'d> PodSpec<'d> {
    /// The specification that a node holds.
    pub fn new(node: Node<'d>) -> Self {
        Self { node, defaults: None }
    }

    /// The whole specification.
    pub fn node(self) -> Node<'d> {
        self.node
    }

    /// A field about scheduling. An empty map or list counts as absent if there is a default.
    fn scheduling(self, field: &str) -> Option<Node<'d>> {
        let own = self.node.get(field);
        let default = self.defaults.and_then(|defaults| defaults.get(field));
        let is_empty =
            |node: Node<'d>| node.is_null() || ((node.is_mapping() || node.is_sequence()) && node.is_empty());
        if own.is_none_or(is_empty) { default.or(own) } else { own }
    }

    /// The items of `containers`.
    pub fn containers(self) -> impl Iterator<Item = Container<'d>> {
        items_of(self.node.get("containers")).map(Container::new)
    }

    /// `nodeName`.
    pub fn node_name(self) -> Option<Node<'d>> {
        self.node.get("nodeName")
    }

    /// `activeDeadlineSeconds`.
    pub fn active_deadline_seconds(self) -> Option<Node<'d>> {
        self.node.get("activeDeadlineSeconds")
    }

    /// `resources` of the whole pod.
    pub fn resources(self) -> Option<Node<'d>> {
        self.node.get("resources")
    }

    /// Whether `hostNetwork` is true.
    pub fn is_in_host_network(self) -> bool {
        self.node.get("hostNetwork").and_then(Node::as_bool) == Some(true)
    }

    /// `schedulerName`, where it is a string.
    pub fn scheduler_name(self) -> Option<&'d str> {
        self.scheduling("schedulerName")?.as_str()
    }

    /// `priorityClassName`, where it is a string.
    pub fn priority_class_name(self) -> Option<&'d str> {
        self.scheduling("priorityClassName")?.as_str()
    }

    /// Whether the pod has a priority: `priorityClassName`, or the `priority` that the API server fills in.
    pub fn has_priority(self) -> bool {
        self.priority_class_name().is_some_and(|name| !name.is_empty())
            || self.scheduling("priority").is_some()
    }

    /// `nodeSelector`.
    pub fn node_selector_map(self) -> Option<Node<'d>> {
        self.scheduling("nodeSelector")
    }

    /// The members of `nodeSelector`.
    pub fn node_selector(self) -> Members<'d> {
        members_of(self.node_selector_map())
    }

    /// The members of `nodeSelector` as expressions.
    pub fn node_selector_expressions(self) -> impl Iterator<Item = LabelExpression<'d>> {
        self.node_selector().map(|(key, node)| LabelExpression::of_selector(key, node))
    }

    fn affinity(self, kind: &str) -> Option<Node<'d>> {
        self.scheduling("affinity")?.get(kind)
    }

    /// `affinity.nodeAffinity`.
    pub fn node_affinity(self) -> Option<Node<'d>> {
        self.affinity("nodeAffinity")
    }

    /// The list of required terms of the node affinity.
    pub fn required_term_list(self) -> Option<Node<'d>> {
        self.node_affinity()?.get(REQUIRED)?.get("nodeSelectorTerms")
    }

    /// The required terms of the node affinity.
    pub fn required_terms(self) -> impl Iterator<Item = NodeSelectorTerm<'d>> + Clone {
        items_of(self.required_term_list()).map(NodeSelectorTerm::new)
    }

    /// The preferred terms of the node affinity.
    pub fn preferred_terms(self) -> impl Iterator<Item = PreferredTerm<'d>> + Clone {
        let list = self.node_affinity().and_then(|affinity| affinity.get(PREFERRED));
        PreferredTerm::all(list)
    }

    /// The terms of `podAffinity` and `podAntiAffinity`: of each the required terms, then the preferred.
    pub fn pod_affinity_terms(self) -> impl Iterator<Item = PodAffinityTerm<'d>> {
        ["podAffinity", "podAntiAffinity"].into_iter().filter_map(move |kind| self.affinity(kind)).flat_map(
            |affinity| {
                let preferred =
                    items_of(affinity.get(PREFERRED)).filter_map(|term| term.get("podAffinityTerm"));
                items_of(affinity.get(REQUIRED)).chain(preferred).map(PodAffinityTerm::new)
            },
        )
    }

    /// The required terms of `podAffinity`.
    pub fn required_pod_affinity_terms(self) -> impl Iterator<Item = PodAffinityTerm<'d>> {
        items_of(self.affinity("podAffinity").and_then(|affinity| affinity.get(REQUIRED)))
            .map(PodAffinityTerm::new)
    }

    /// The required terms of `podAntiAffinity`.
    pub fn required_pod_anti_affinity_terms(self) -> impl Iterator<Item = PodAffinityTerm<'d>> {
        items_of(self.affinity("podAntiAffinity").and_then(|affinity| affinity.get(REQUIRED)))
            .map(PodAffinityTerm::new)
    }

    /// The preferred terms of `podAntiAffinity`.
    pub fn preferred_pod_anti_affinity_terms(self) -> impl Iterator<Item = PodAffinityTerm<'d>> {
        let list = self.affinity("podAntiAffinity").and_then(|affinity| affinity.get(PREFERRED));
        items_of(list).filter_map(|term| term.get("podAffinityTerm")).map(PodAffinityTerm::new)
    }

    /// `tolerations`.
    pub fn toleration_list(self) -> Option<Node<'d>> {
        self.scheduling("tolerations")
    }

    /// The items of `tolerations`.
    pub fn tolerations(self) -> impl Iterator<Item = TolerationItem<'d>> {
        items_of(self.toleration_list()).map(TolerationItem)
    }

    /// Whether the pod is for Fargate, where each pod has its own node: it tolerates or selects the compute type.
    pub fn is_for_fargate(self) -> bool {
        const COMPUTE_TYPE: &str = "eks.amazonaws.com/compute-type";
        self.tolerations().any(|item| item.key() == Some(COMPUTE_TYPE))
            || self.node_selector().any(|(key, node)| key == COMPUTE_TYPE && node.as_str() == Some("fargate"))
    }

    /// The items of `topologySpreadConstraints`.
    pub fn topology_spread_constraints(self) -> impl Iterator<Item = TopologySpreadConstraint<'d>> {
        items_of(self.node.get("topologySpreadConstraints")).map(TopologySpreadConstraint::new)
    }

    /// `resourceClaims`.
    pub fn resource_claims(self) -> Option<Node<'d>> {
        self.node.get("resourceClaims")
    }

    /// The items of `volumes`.
    pub fn volumes(self) -> impl Iterator<Item = PodVolume<'d>> {
        items_of(self.node.get("volumes")).map(PodVolume::new)
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// View of an item of `tolerations`.
#[derive(Clone, Copy, Debug)]
pub struct TolerationItem<'d>(Node<'d>);

impl<'d> TolerationItem<'d> {
    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `key`.
    pub fn key_node(self) -> Option<Node<'d>> {
        self.0.get("key")
    }

    /// `key`, where it is a string.
    pub fn key(self) -> Option<&'d str> {
        self.key_node()?.as_str()
    }

    /// `operator`.
    pub fn operator_node(self) -> Option<Node<'d>> {
        self.0.get("operator")
    }

    /// `value`.
    pub fn value_node(self) -> Option<Node<'d>> {
        self.0.get("value")
    }

    /// `effect`.
    pub fn effect_node(self) -> Option<Node<'d>> {
        self.0.get("effect")
    }
}
