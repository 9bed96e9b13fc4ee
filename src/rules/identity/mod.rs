//! Clusters that fight.

family! {
    clustername_empty,
}
