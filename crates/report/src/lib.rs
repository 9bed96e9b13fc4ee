//! Findings rendered for people and programs: human-readable text, JSON, SARIF, GitHub annotations, JUnit.
//!
//! Everything here turns a [`lint::report::Report`] into text. Nothing here runs a rule.

pub mod fingerprint;
pub mod github;
#[cfg(feature = "human")]
pub mod human;
pub mod junit;
pub mod sarif;
pub mod schema;
