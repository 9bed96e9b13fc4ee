//! What only several lines together tell, one file each.

use super::history::History;
use super::{Diagnosis, Symptom};

/// A correlation: what it diagnoses, and how it finds it.
#[derive(Debug)]
pub struct Correlation {
    /// What it diagnoses.
    pub symptom: &'static Symptom,
    /// Looks at the histories of all clusters, in their order, and adds what it finds.
    pub find: fn(&[History], &mut Vec<Diagnosis>),
}

/// Every correlation, the gravest first.
pub const ALL: &[&Correlation] = &[];
