//! Taints that a node registers with, and the parts of user data that may add others.
//!
//! A node registers with the taints of `--register-with-taints` and of `registerWithTaints`. Both reach the kubelet in
//! several ways: as arguments of bootstrap.sh, in a configuration that the script writes, in a NodeConfig, in
//! Bottlerocket's settings, as an argument of Start-EKSBootstrap.ps1. Parts that only the booting node can evaluate are
//! listed as [`Unresolved`]: with such a part, a taint cannot be reported as missing.

mod collector;
mod model;
mod script;
#[cfg(test)]
mod tests;
mod user_data;

pub use model::{FoundTaint, Join, Registration, TaintSource, Unresolved, UnresolvedReason};
