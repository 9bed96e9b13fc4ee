//! Clusters that fight.

family! {
    cluster_name_mismatch,
    cluster_name_shared,
    clustername_empty,
    helm_values_removed_keys,
    iam_delete_unscoped,
    iam_passrole_mismatch,
    iam_tag_condition_mismatch,
    interruption_queue_malformed,
    interruption_queue_shared,
    karpenter_on_own_nodes,
    restricted_tags,
    selector_cluster_mismatch,
    selector_not_cluster_specific,
    sg_cluster_tag_selector,
    two_controllers,
}
