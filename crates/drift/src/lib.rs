#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! | module | what it has |
//! |---|---|
//! | `fnv` | the bytes that hashstructure hashes, and how it joins hashes |
//! | `go` | Go's types as hashstructure sees them |
//! | `node_pool`, `node_class` | the hashed types of the two kinds |
//! | `hasher` | the hash of a stored value of such a type |
//! | `elements` | what the hash of an object consists of, by release |
//! | `decision` | whether Karpenter marks a node as drifted, and for which reason |
//! | `difference` | the fields in which two objects differ |
//! | `effect`, `change` | what a change of each field does to nodes, and what the change of an object does |
//! | `hovered` | what changing the field at a place of a text does |
//! | `json` | JSON as Go writes it |

mod change;
mod decision;
mod difference;
mod effect;
mod elements;
mod error;
mod fnv;
mod go;
mod hasher;
mod hovered;
mod json;
mod node_class;
mod node_pool;

pub use change::{
    ConcernedPools, FieldChange, ObjectChange, ObjectChangeKind, changes, field_changes, is_written_alike,
};
pub use decision::{
    DriftDecision, DriftObstacle, DriftQuestion, DriftReason, KnownInstance, MissingFact, OfferedType,
    StaticDrift, decide, decide_with, meets_requirements, selected_image,
};
pub use difference::{Difference, differences};
pub use effect::{Effect, FIELD_EFFECTS, FieldEffect};
pub use elements::{
    HashOptions, HashedKind, StaticHash, has_unrecorded_hash, hash, kubelet_hash_of_1_0, unrecorded_hash,
};
pub use error::{HashError, HashProblem};
pub use hovered::HoveredField;
