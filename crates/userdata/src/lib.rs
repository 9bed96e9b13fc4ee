//! The text a node boots from, `spec.userData` of an EC2NodeClass: its formats and the tools that are called
//! in it.
//!
//! ```text
//! text ──▶ kind ──▶ mime ──▶ shell ──▶ bootstrap ──▶ kubelet ──▶ taints
//!                       ├──▶ toml (Bottlerocket)        ▲
//!                       ├──▶ powershell ────────────────┤
//!                       └──▶ node_config ───────────────┘
//! ```
//!
//! Nothing here knows of Kubernetes objects, rules or doors; a NodeConfig is read by the YAML loader of
//! [`manifest`]. Every result carries [spans](manifest::source::Span): byte ranges in the text
//! that was given, always on character boundaries. No reader expands a variable or guesses what a program
//! prints; what only the booting node could tell is marked as such. Each reader takes one pass.

pub mod bootstrap;
pub mod kind;
pub mod kubelet;
pub mod kubelet_config;
pub mod mime;
pub mod node_config;
pub mod powershell;
pub mod registration;
pub mod shell;
pub mod taint_list;
pub mod toml;
pub mod word;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;

use manifest::source::Span;

/// A piece of text that was read, and where it stands. The two differ where quotes or escapes were taken
/// away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// What it reads as.
    pub value: String,
    /// Where it stands.
    pub span: Span,
}
