//! Karpenter's scheduler, offline: which NodePools take which pods.

pub mod elsewhere;
pub mod fit;
pub mod pod;
pub mod pools;
pub mod requirements;
pub mod taints;
