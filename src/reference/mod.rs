//! Reference documentation: one page for each rule and symptom, and an index, generated from the registry.

pub mod catalog;
mod index;
mod rule_page;
#[cfg(feature = "symptoms")]
pub mod symptoms;

pub use index::index;
pub use rule_page::page;
