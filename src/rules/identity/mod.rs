//! Clusters that fight.

family! {
    clustername_empty,
    helm_values_removed_keys,
    iam_delete_unscoped,
    iam_passrole_mismatch,
    iam_tag_condition_mismatch,
    interruption_queue_malformed,
    karpenter_on_own_nodes,
    selector_cluster_mismatch,
    two_controllers,
}
