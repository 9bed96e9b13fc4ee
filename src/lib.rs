//! Karpwarden checks Karpenter (AWS provider) manifests and the Kubernetes objects around them.
//!
//! ```text
//! text ──▶ manifest ──▶ documents ──▶ check ──▶ findings ──▶ report
//!                                       ▲  ▲
//!                       settings ───────┘  └─────── inventory
//! ```
//!
//! The workspace's crates do the work; this one adds the rules and is the facade that front ends call. A front end
//! translates its input into documents and settings, and findings into its output.

#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "the YAML blocks of rules contain settings, such as `yaml,karpenter=1.8`"
)]

#[macro_use(family, rule)]
pub extern crate rule;

pub mod disrupt;
pub mod reference;
pub mod rules;
pub mod simulate;

use answers::report::Report;
use cluster::Cluster;
use rule::settings::Settings;

pub use answers;
pub use cluster;
pub use disruption;
pub use engine;
pub use karpenter;
pub use manifest;
pub use objects;
pub use render;
pub use rules::REGISTRY;
#[cfg(feature = "symptoms")]
pub use rules::REGISTRY_WITH_SYMPTOMS;
pub use scheduling;
#[cfg(feature = "symptoms")]
pub use symptoms;
pub use userdata;
pub use values;

/// Checks the manifests of one or several clusters.
pub fn check(clusters: &[Cluster], settings: &Settings) -> Report {
    engine::check::check(&REGISTRY, clusters, settings)
}

/// Checks like [`check`] if every object is Karpenter's own and no file is a kustomization. It needs much less code, which
/// matters to a page.
pub fn check_karpenter_objects(clusters: &[Cluster], settings: &Settings) -> Option<Report> {
    engine::check::check_karpenter_objects(&REGISTRY, clusters, settings)
}
