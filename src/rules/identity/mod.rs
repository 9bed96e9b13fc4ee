//! Cluster names, and tags, selectors, roles and queues that belong to another cluster.

pub(crate) mod cluster_name_mismatch;
pub(crate) mod cluster_name_shared;
pub(crate) mod clustername_empty;
pub(crate) mod iam_tag_condition_mismatch;
pub(crate) mod interruption_queue_shared;
pub(crate) mod node_role_is_controller_role;
pub(crate) mod selector_cluster_mismatch;
pub(crate) mod selector_not_cluster_specific;
pub(crate) mod two_controllers;

use karpenter::cluster_name::ClusterNamePlaceholder;
use objects::object::Operation;
use rule::finding::Severity;

/// Tags that Karpenter set before 1.0, and `karpenter.sh/cluster`, which Karpenter never set.
///
/// Source: pkg/utils/utils.go (`GetTags`) and pkg/apis/v1/labels.go at v1.14.1.
pub(super) const UNSET_TAGS: [&str; 4] = [
    "karpenter.sh/provisioner-name",
    "karpenter.sh/managed-by",
    "karpenter.k8s.aws/ec2nodetemplate",
    "karpenter.sh/cluster",
];

/// Severity of a placeholder in the name of a cluster or of a resource that belongs to it. A file may still be rendered
/// before it is applied. An object that has reached the cluster is not rendered any more.
pub(super) fn gravity(what: ClusterNamePlaceholder, operation: Operation) -> Severity {
    match (what, operation) {
        (ClusterNamePlaceholder::Example, _) => Severity::Warning,
        (ClusterNamePlaceholder::Unreplaced, Operation::Apply) => Severity::Info,
        (ClusterNamePlaceholder::Unreplaced, _) => Severity::Error,
    }
}
