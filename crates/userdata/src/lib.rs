//! Parsers for the text a node boots from, `spec.userData` of an EC2NodeClass: its formats and the programs it calls.
//!
//! ```text
//! text ──▶ format ──▶ mime ──▶ shell ──▶ bootstrap ──▶ kubelet ──▶ taint_list
//!                         ├──▶ toml (Bottlerocket)        ▲
//!                         ├──▶ powershell ────────────────┤
//!                         └──▶ node_config ───────────────┘
//! ```
//!
//! The crate knows neither Kubernetes objects nor rules nor front ends. The YAML parser of [`manifest`] parses a
//! NodeConfig. Every result carries [spans](manifest::source::Span): byte ranges in the given text, always on character
//! boundaries. No parser expands a variable or runs a program; a value that only the booting node can know is marked as
//! such. Parsers never panic and take linear time.

pub mod base64;
pub mod bootstrap;
pub mod format;
pub mod image_family;
pub mod kubelet;
pub mod kubelet_config;
pub mod mime;
pub mod node_config;
pub mod parts;
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
