//! Karpwarden checks Karpenter (AWS provider) manifests and the Kubernetes objects around them.
//!
//! ```text
//! text ──▶ manifest ──▶ documents ──▶ check ──▶ findings ──▶ report
//!                                       ▲  ▲
//!                       settings ───────┘  └─────── inventory
//! ```
//!
//! A door only translates: its input into documents and settings, the findings into its output. Modules point one way:
//! [`manifest`] ← [`karpenter`] ← [`rules`] ← [`check`](mod@check) ← doors.

#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "the examples of rules name the settings they are for"
)]

mod by_name;
pub mod check;
pub mod finding;
pub mod fix;
pub mod inventory;
pub mod karpenter;
pub mod kustomize;
pub mod manifest;
pub mod mend;
pub mod object;
mod order;
pub mod report;
pub mod rules;
pub mod scheduling;
pub mod settings;
pub mod spelling;
pub mod suppression;
#[cfg(feature = "symptoms")]
pub mod symptoms;
pub mod upgrade;
pub mod userdata;

pub use check::check;
