//! Pods that Karpenter would launch a node for.

use core::fmt;

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::{ExpressionOrigin, Pod};

/// Whether Karpenter launches a node for a pending pod. It does not for daemons, for pods that have a node or another
/// scheduler, and for pods that exclude its nodes.
///
/// Source: `IsProvisionable` in pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.0.
pub fn is_provisionable(pod: Pod<'_>) -> bool {
    let spec = pod.spec();
    let scheduler = spec.scheduler_name().unwrap_or_default();
    let has_node = spec.node_name().and_then(Node::as_str).is_some_and(|name| !name.is_empty());
    let default = scheduler.is_empty() || scheduler == "default-scheduler";
    default && !has_node && !pod.is_daemon() && !excludes_karpenter(pod)
}

/// Whether the pod requires that `karpenter.sh/nodepool` does not exist, in a term that the provisioner checks
/// (`validateKarpenterManagedLabelCanExist`).
fn excludes_karpenter(pod: Pod<'_>) -> bool {
    pod.expressions().any(|expression| {
        let counts = matches!(
            expression.origin,
            ExpressionOrigin::Required { term: 0 } | ExpressionOrigin::Preferred { heaviest: true }
        );
        counts && expression.key == labels::NODEPOOL && expression.operator == Operator::DoesNotExist
    })
}

/// Reason for which Karpenter does not look at a pod without a node, however its constraints are (`IsProvisionable` in
/// pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unprovisionable<'d> {
    /// A DaemonSet owns the pod.
    Daemon,
    /// The pod is the mirror of a static pod.
    Mirror,
    /// kube-scheduler evicts other pods from this node to make room for the pod.
    Preempting(&'d str),
    /// The condition `PodScheduled` has another reason than `Unschedulable`.
    NotUnschedulable(&'d str),
}

impl<'d> Unprovisionable<'d> {
    /// The reason for a pod; `None` if Karpenter looks at it. A pod without the condition counts as one that kube-scheduler could
    /// not place.
    pub fn of(pod: Object<'d>) -> Option<Self> {
        let mut conditions = items_of(pod.at(&["status", "conditions"]));
        let scheduled = conditions.find(|condition| condition.str_at(&["type"]) == Some("PodScheduled"));
        let reason = scheduled.map(|condition| condition.str_at(&["reason"]).unwrap_or_default());
        let nominated = pod.str_at(&["status", "nominatedNodeName"]).filter(|node| !node.is_empty());
        let is_owned_by = |api_version: &str, kind: &str| {
            items_of(pod.metadata().owner_references()).any(|owner| {
                owner.str_at(&["apiVersion"]) == Some(api_version) && owner.str_at(&["kind"]) == Some(kind)
            })
        };
        if let Some(reason) = reason.filter(|reason| *reason != "Unschedulable") {
            return Some(Self::NotUnschedulable(reason));
        }
        if let Some(node) = nominated {
            return Some(Self::Preempting(node));
        }
        if is_owned_by("apps/v1", "DaemonSet") {
            return Some(Self::Daemon);
        }
        is_owned_by("v1", "Node").then_some(Self::Mirror)
    }
}

/// Prints the reason as the end of a sentence about the pod.
impl fmt::Display for Unprovisionable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("a DaemonSet owns the pod"),
            Self::Mirror => f.write_str("the pod is static"),
            Self::Preempting(node) => {
                write!(f, "kube-scheduler makes room for the pod on node {node} (`status.nominatedNodeName`)")
            }
            Self::NotUnschedulable("") => f.write_str(
                "kube-scheduler has not marked the pod as unschedulable (`PodScheduled` has no reason)",
            ),
            Self::NotUnschedulable(reason) => {
                write!(
                    f,
                    "kube-scheduler has not marked the pod as unschedulable (`PodScheduled` has the reason {reason})"
                )
            }
        }
    }
}
