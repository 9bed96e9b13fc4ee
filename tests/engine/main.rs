//! The driver with the real rules: suppressions, fixes, upgrades and excerpts.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up, or whose output has another shape, fails"
)]

mod excerpts;
mod fixes;
mod karpenter_objects;
mod placeholders;
mod plans;
mod suppressions;
mod symptoms;
mod unknown_values;
mod upgrades;
