//! Storage that keeps pods Pending or makes Karpenter launch extra nodes.

family! {
    in_tree_storage,
    pvc_unprovisionable,
    storage_zone_unreachable,
    storageclass_immediate,
    volume_topology_alternatives,
}
