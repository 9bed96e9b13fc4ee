//! Storage that keeps pods Pending or makes Karpenter launch extra nodes.

pub(crate) mod csi_node_not_tolerating_disrupted;
pub(crate) mod in_tree_storage;
pub(crate) mod pvc_unprovisionable;
pub(crate) mod storage_zone_unreachable;
pub(crate) mod storageclass_immediate;
pub(crate) mod volume_topology_alternatives;
