//! Termination of a node: eviction of its pods, detachment of its volumes, end of its instance.
//!
//! Source: pkg/controllers/node/termination of kubernetes-sigs/karpenter at v1.14.1 (controller.go, terminator/terminator.go,
//! terminator/eviction.go).

mod estimate;
mod eviction;
mod pod;
mod step;
mod termination;
#[cfg(test)]
mod tests;
mod volumes;

pub use estimate::{DrainEstimate, DrainReason, estimate, expires_at};
pub(crate) use estimate::{Drains, budget_reason, ends_by_itself};
pub use step::{DrainEvent, DrainStep};
pub use termination::{Provider, Termination};
