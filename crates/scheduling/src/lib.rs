//! Karpenter's scheduler, offline: the NodePools that can launch a node for a pod.
//!
//! | module | content |
//! |---|---|
//! | [`provisionable`] | the pods that Karpenter launches nodes for |
//! | [`other_nodes`] | the pods that are meant for nodes of other tools |
//! | [`requirements`], [`taints`] | the algebra of requirements; taints and tolerations |
//! | [`pool_index`] | the NodePools of a cluster, indexed by their labels |
//! | [`fit`], [`verdict`] | matching of a pod against the NodePools, and its result |
//! | [`simulation`] | one round of the provisioner: instance types, nodes, topology |

pub mod fit;
pub mod other_nodes;
pub mod pool_index;
pub mod provisionable;
pub mod requirements;
mod scalar;
pub mod simulation;
pub mod taints;
pub mod verdict;
