//! The contract between rules and the driver: what a rule declares, what its check gets, and what it returns.

pub mod classification;
pub mod context;
mod declaration;
pub mod finding;
pub mod fix;
pub mod module_path;
pub mod registry;
pub mod settings;
pub mod suppression;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use declaration::{Check, Fixes, LookUp, On, Phase, Reviews, Rule, RuleNames, Runs, Subject};
