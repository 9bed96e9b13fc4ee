//! Reasons for which a node is no candidate of any method.
//!
//! Source: `NewCandidate` in pkg/controllers/disruption/types.go, and `ValidateNodeDisruptable` and `ValidatePodsDisruptable` in
//! pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.1; the messages of older releases at v1.0.9, v1.1.4,
//! v1.2.2, v1.4.1, v1.5.0 and v1.7.0.

use karpenter::labels;
use karpenter::release::Release;
use manifest::tree::Node;
use objects::location::Place;
use objects::object::Object;
use scheduling::simulation::namespace_of;
use scheduling::state::StateBehaviour;
use values::timestamp::Timestamp;

use crate::behaviour::Behaviour;
use crate::blocked_by::BlockedBy;
use crate::cluster::ClusterPod;
use crate::drain::ends_by_itself;
use karpenter::labels::DO_NOT_DISRUPT;

/// Reason for which a node is no candidate of any method.
#[derive(Clone, Debug)]
pub enum NodeBlocker<'d> {
    /// A command in progress disrupts the node.
    InProgress,
    /// The node has no NodeClaim.
    Unmanaged(Object<'d>),
    /// The NodeClaim has no Node.
    NoNode(Object<'d>),
    /// The node has not started completely.
    NotInitialized(Object<'d>),
    /// The node is going.
    Deleting(Object<'d>),
    /// The node is nominated for a pending pod.
    Nominated(Timestamp),
    /// The annotation on the node.
    DoNotDisrupt(Node<'d>),
    /// The node lacks a label, by its key.
    NoLabel(Object<'d>, &'static str),
    /// The NodePool does not exist, belongs to another provider, or has no instance type, because its node class is missing.
    NoPool(Object<'d>, &'d str),
    /// The instance type is unknown. Since 1.1, this stops consolidation only.
    NoInstanceType(Object<'d>, &'d str),
    /// The annotation on a pod, with its end if the value is a duration.
    PodDoNotDisrupt(ClusterPod<'d>, Option<Timestamp>),
    /// A PodDisruptionBudget that allows no eviction of a pod.
    PodBudget(ClusterPod<'d>, Object<'d>),
    /// Several PodDisruptionBudgets on one pod.
    SeveralPodBudgets(ClusterPod<'d>, Vec<Object<'d>>),
}

impl<'d> NodeBlocker<'d> {
    /// The kind of obstacle.
    pub const fn kind(&self) -> BlockedBy {
        match self {
            Self::InProgress => BlockedBy::InProgress,
            Self::Unmanaged(_) => BlockedBy::Unmanaged,
            Self::NoNode(_) => BlockedBy::NoNode,
            Self::NotInitialized(_) => BlockedBy::NotInitialized,
            Self::Deleting(_) => BlockedBy::Deleting,
            Self::Nominated(_) => BlockedBy::Nominated,
            Self::DoNotDisrupt(_) => BlockedBy::DoNotDisrupt,
            Self::NoLabel(..) | Self::NoPool(..) => BlockedBy::NoPool,
            Self::NoInstanceType(..) => BlockedBy::NoInstanceType,
            Self::PodDoNotDisrupt(..) => BlockedBy::PodDoNotDisrupt,
            Self::PodBudget(..) => BlockedBy::Pdb,
            Self::SeveralPodBudgets(..) => BlockedBy::SeveralPdbs,
        }
    }

    /// The time at which the reason goes away by itself.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Nominated(end) => Some(*end),
            Self::PodDoNotDisrupt(_, end) => *end,
            _ => None,
        }
    }

    /// The pod whose eviction is in the way.
    pub fn pod(&self) -> Option<ClusterPod<'d>> {
        match self {
            Self::PodDoNotDisrupt(pod, _) | Self::PodBudget(pod, _) | Self::SeveralPodBudgets(pod, _) => {
                Some(*pod)
            }
            _ => None,
        }
    }

    /// Whether a pod is in the way that ends by itself, because it is not restarted.
    pub fn ends_with_its_pod(&self) -> bool {
        self.pod().is_some_and(|pod| ends_by_itself(pod.object()))
    }

    /// The fields that are the reason, each with its object.
    pub fn places(&self) -> Vec<Place<'d>> {
        let labels = |object: &Object<'d>| {
            let map = object.metadata().label_map();
            map.map_or_else(|| Place::missing(object.root(), "metadata.labels"), Place::key)
        };
        let allowed = |budget: &Object<'d>| {
            let status = budget.at(&["status", "disruptionsAllowed"]);
            Place::value(status.or(budget.at(&["spec"])).unwrap_or(budget.root()))
        };
        match self {
            Self::InProgress | Self::Nominated(_) => Vec::new(),
            Self::Unmanaged(object) | Self::NoNode(object) => vec![Place::value(object.name_node())],
            Self::Deleting(object) => {
                let field = object.at(&["metadata", "deletionTimestamp"]);
                vec![Place::value(field.unwrap_or(object.name_node()))]
            }
            Self::DoNotDisrupt(value) => vec![Place::key_of_map(*value)],
            Self::NotInitialized(object) | Self::NoLabel(object, _) => vec![labels(object)],
            Self::NoPool(object, _) => label(object, labels::NODEPOOL).into_iter().collect(),
            Self::NoInstanceType(object, _) => {
                label(object, "node.kubernetes.io/instance-type").into_iter().collect()
            }
            Self::PodDoNotDisrupt(pod, _) => {
                pod.object().annotation(DO_NOT_DISRUPT).map(Place::key_of_map).into_iter().collect()
            }
            Self::PodBudget(_, budget) => vec![allowed(budget)],
            Self::SeveralPodBudgets(_, budgets) => budgets.iter().map(allowed).collect(),
        }
    }

    /// Karpenter's error.
    pub fn message(&self, release: Release) -> String {
        let structured = Behaviour::STRUCTURED_MESSAGES.holds_in(release);
        let node = if Behaviour::PLAIN_NODE.holds_in(release) { "node" } else { "state node" };
        match self {
            Self::InProgress => "candidate is already being disrupted".to_owned(),
            Self::Unmanaged(_) | Self::NoNode(_) if !Behaviour::OWN_CHECKS.holds_in(release) => {
                "state node doesn't contain both a node and a nodeclaim".to_owned()
            }
            Self::Unmanaged(_) if !Behaviour::PLAIN_NODE.holds_in(release) => {
                "node is not managed by karpenter".to_owned()
            }
            Self::Unmanaged(_) => "node isn't managed by karpenter".to_owned(),
            Self::NoNode(_) => "nodeclaim does not have an associated node".to_owned(),
            Self::NotInitialized(_) => format!("{node} isn't initialized"),
            Self::Deleting(_) if Behaviour::PLAIN_NODE.holds_in(release) => {
                "node is deleting or marked for deletion".to_owned()
            }
            Self::Deleting(_) => "state node is marked for deletion".to_owned(),
            Self::Nominated(_) => format!("{node} is nominated for a pending pod"),
            Self::DoNotDisrupt(_) => {
                format!("disruption is blocked through the \"{DO_NOT_DISRUPT}\" annotation")
            }
            Self::NoLabel(_, key) if structured => format!("node doesn't have required label (label={key})"),
            Self::NoLabel(_, key) => format!("{node} doesn't have required label \"{key}\""),
            Self::NoPool(_, name) if structured => format!("nodepool not found (NodePool={name})"),
            Self::NoPool(_, name) if Behaviour::PLAIN_NODE.holds_in(release) => {
                format!("nodepool \"{name}\" not found")
            }
            Self::NoPool(_, name) => format!("nodepool \"{name}\" can't be resolved for state node"),
            Self::NoInstanceType(_, name) => format!("instance type \"{name}\" can't be resolved"),
            Self::PodDoNotDisrupt(pod, _) if structured => {
                format!("pod has \"{DO_NOT_DISRUPT}\" annotation (Pod={})", pod.full_name())
            }
            Self::PodDoNotDisrupt(pod, _) => {
                format!("pod \"{}\" has \"{DO_NOT_DISRUPT}\" annotation", pod.full_name())
            }
            Self::PodBudget(_, budget) if StateBehaviour::SEVERAL_BUDGETS_BLOCK.holds_in(release) => {
                format!("pdb prevents pod evictions (PodDisruptionBudget=[{}])", full_name(*budget))
            }
            Self::PodBudget(_, budget) if structured => {
                format!("pdb prevents pod evictions (PodDisruptionBudget={})", full_name(*budget))
            }
            Self::PodBudget(_, budget) => format!("pdb \"{}\" prevents pod evictions", full_name(*budget)),
            Self::SeveralPodBudgets(_, budgets) => {
                let names: Vec<String> = budgets.iter().map(|budget| full_name(*budget)).collect();
                format!(
                    "eviction does not support multiple PDBs (PodDisruptionBudget(s)=[{}])",
                    names.join(" ")
                )
            }
        }
    }

    /// The message of Karpenter's event; `None` for reasons without an event.
    pub fn event(&self, release: Release) -> Option<String> {
        match self {
            Self::InProgress => None,
            Self::Unmanaged(_) if Behaviour::OWN_CHECKS.holds_in(release) => None,
            Self::NoPool(_, name) if Behaviour::STRUCTURED_MESSAGES.holds_in(release) => {
                Some(format!("NodePool not found (NodePool={name})"))
            }
            Self::NoPool(_, name) => Some(format!("NodePool \"{name}\" not found")),
            Self::NoInstanceType(_, name) => Some(format!("Instance Type \"{name}\" not found")),
            _ => Some(sentence(&self.message(release), release)),
        }
    }
}

/// The text as an event has it: with a capital letter at the start (`pretty.Sentence`), since 1.2.
pub(crate) fn sentence(text: &str, release: Release) -> String {
    if !Behaviour::PLAIN_NODE.holds_in(release) {
        return text.to_owned();
    }
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

fn full_name(object: Object<'_>) -> String {
    format!("{}/{}", namespace_of(object), object.name())
}

fn label<'d>(object: &Object<'d>, key: &str) -> Option<Place<'d>> {
    object.metadata().label(key).map(Place::key_of_map)
}
