//! Pods that Karpenter would launch a node for.

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::Node;
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
