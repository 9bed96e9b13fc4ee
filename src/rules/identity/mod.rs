//! Clusters that fight.

family! {
    clustername_empty,
    selector_cluster_mismatch,
}
