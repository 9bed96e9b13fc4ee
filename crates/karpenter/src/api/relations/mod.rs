//! Constraints on several fields, which the definitions express as CEL in `x-kubernetes-validations`. Each is a function with
//! its releases. The messages are this project's; a violation has the API server's message too.

pub(super) mod immutable;
pub mod keys;
pub(super) mod kubelet;
pub(super) mod network;
pub(super) mod node_class;
pub(super) mod node_overlay;
pub(super) mod node_pool;
pub(super) mod nonempty;
mod relation;
pub(super) mod requirements;
pub(super) mod selector_terms;
pub(super) mod tags;
pub(super) mod volumes;

pub use relation::{CheckedValue, Relation, RelationCheck, ServerMessage, Violation, Violations};
