//! The files that are derived from the settings, the registry of rules and the changelog: the policy's metadata and settings form,
//! the install manifests, Artifact Hub's files.
//!
//! `make generate` writes them, and a test in `tests/delivery` fails if one is out of date.

pub mod changelog;
pub mod generated;
pub mod home;
pub mod kustomize;
pub mod yaml;
