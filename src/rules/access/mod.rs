//! Installation and options of the controller, and the access that the controller and its nodes have.

pub(crate) mod access_entry_missing_or_wrong_type;
pub(crate) mod aws_auth_node_role;
pub(crate) mod cluster_endpoint_malformed;
pub(crate) mod controller_fragile;
pub(crate) mod controller_image_is_chart;
pub(crate) mod controller_option_malformed;
pub(crate) mod controller_option_unknown;
pub(crate) mod controller_trust_policy_mismatch;
pub(crate) mod conversion_webhook_leftover;
pub(crate) mod helm_options_exclusive;
pub(crate) mod helm_values_removed_keys;
pub(crate) mod iam_allows_everything;
pub(crate) mod iam_delete_unscoped;
pub(crate) mod iam_duplicate_sid;
pub(crate) mod iam_missing_actions;
pub(crate) mod iam_passrole_mismatch;
pub(crate) mod iam_permission_needed;
pub(crate) mod iam_policies_split;
pub(crate) mod interruptible_reservations_unseen;
pub(crate) mod interruption_queue_malformed;
pub(crate) mod interruption_queue_unset;
pub(crate) mod karpenter_on_own_nodes;
pub(crate) mod kubernetes_version_unsupported;
pub(crate) mod launch_template_tag_renamed;
pub(crate) mod node_role_not_trusting_ec2;
pub(crate) mod nodeclaim_handwritten;
