//! Conflicting cluster identity.

pub(crate) mod cluster_endpoint_malformed;
pub(crate) mod cluster_name_mismatch;
pub(crate) mod cluster_name_shared;
pub(crate) mod clustername_empty;
pub(crate) mod controller_image_is_chart;
pub(crate) mod controller_option_unknown;
pub(crate) mod helm_options_exclusive;
pub(crate) mod helm_values_removed_keys;
pub(crate) mod iam_allows_everything;
pub(crate) mod iam_delete_unscoped;
pub(crate) mod iam_duplicate_sid;
pub(crate) mod iam_passrole_mismatch;
pub(crate) mod iam_permission_needed;
pub(crate) mod iam_policies_split;
pub(crate) mod iam_tag_condition_mismatch;
pub(crate) mod interruptible_reservations_unseen;
pub(crate) mod interruption_queue_malformed;
pub(crate) mod interruption_queue_shared;
pub(crate) mod karpenter_on_own_nodes;
pub(crate) mod launch_template_tag_renamed;
pub(crate) mod restricted_tags;
pub(crate) mod selector_cluster_mismatch;
pub(crate) mod selector_not_cluster_specific;
pub(crate) mod sg_cluster_tag_selector;
pub(crate) mod two_controllers;

use karpenter::cluster_name::ClusterNamePlaceholder;
use objects::object::Operation;
use rule::finding::Severity;

/// Tags that Karpenter set before 1.0, and `karpenter.sh/cluster`, which Karpenter never set.
///
/// Source: pkg/utils/utils.go (`GetTags`) and pkg/apis/v1/labels.go at v1.14.1.
const UNSET_TAGS: [&str; 4] = [
    "karpenter.sh/provisioner-name",
    "karpenter.sh/managed-by",
    "karpenter.k8s.aws/ec2nodetemplate",
    "karpenter.sh/cluster",
];

/// Severity of a placeholder in the name of a cluster or of a resource that belongs to it. A file may still be rendered
/// before it is applied. An object that has reached the cluster is not rendered any more.
fn gravity(what: ClusterNamePlaceholder, operation: Operation) -> Severity {
    match (what, operation) {
        (ClusterNamePlaceholder::Example, _) => Severity::Warning,
        (ClusterNamePlaceholder::Unreplaced, Operation::Apply) => Severity::Info,
        (ClusterNamePlaceholder::Unreplaced, _) => Severity::Error,
    }
}
