//! Kubernetes quantities such as `100m`, `1.5Gi` and `2e3`, parsed like `resource.ParseQuantity`.
//!
//! Limits, reserved resources, eviction thresholds and requests are quantities. An invalid quantity in `spec.kubelet` of a
//! node class makes Karpenter's `resource.MustParse` panic.
//!
//! Reference: kubernetes/apimachinery pkg/api/resource/quantity.go, suffix.go and amount.go, which are the same in every
//! release that Karpenter 1.0 to 1.14 was built with, and gopkg.in/inf.v0 dec.go. Go trims a quantity from JSON first
//! (`Quantity.UnmarshalJSON`); `ParseQuantity` and this module reject whitespace.

mod amount;
mod error;
mod message;
#[cfg(test)]
mod tests;

pub use amount::{Notation, Quantity};
pub use error::{QuantityError, QuantityProblem};
