//! Clusters that fight.

family! {
    clustername_empty,
    iam_delete_unscoped,
    selector_cluster_mismatch,
}
