#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! | module | content |
//! |---|---|
//! | [`provisionable`] | the pods that Karpenter launches nodes for |
//! | [`other_nodes`] | the pods that are meant for nodes of other tools |
//! | [`requirements`], [`taints`] | the algebra of requirements; taints and tolerations |
//! | [`template`] | the labels and taints of NodePools, and the first reason why a pod does not agree with them |
//! | [`matching`], [`pool_index`], [`shortlist`] | many NodePools: which take a pod, without instance types |
//! | [`state`] | the nodes that go, and the pods that need a place elsewhere then |
//! | [`simulation`] | the provisioner and kube-scheduler: instance types, nodes, topology |

mod demand;
mod id_set;
pub mod matching;
pub mod other_nodes;
mod places;
pub mod pool_index;
mod preferences;
pub mod provisionable;
pub mod requirements;
mod scalar;
pub mod shortlist;
pub mod simulation;
pub mod state;
pub mod taints;
pub mod template;
