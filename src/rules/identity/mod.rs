//! Clusters that fight.

family! {
    clustername_empty,
    iam_delete_unscoped,
    iam_passrole_mismatch,
    iam_tag_condition_mismatch,
    selector_cluster_mismatch,
}
