//! Storage that keeps pods Pending or makes Karpenter launch extra nodes.

family! {
    csi_node_not_tolerating_disrupted in "kubernetes",
    in_tree_storage in "kubernetes",
    pvc_unprovisionable in "kubernetes",
    storage_zone_unreachable in "kubernetes",
    storageclass_immediate in "kubernetes",
    volume_topology_alternatives in "files",
}
