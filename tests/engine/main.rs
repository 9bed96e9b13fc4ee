//! The driver with the real rules: suppressions, fixes, upgrades, and what a terminal shows.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up, or whose output has another shape, fails"
)]

mod excerpts;
mod fixes;
mod suppressions;
mod symptoms;
mod upgrades;
