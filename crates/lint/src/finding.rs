//! The types that describe a finding.

pub use crate::classification::{CaughtBy, Family, Severity};
pub use crate::rule::Finding;
pub use objects::location::{Place, path_of};
