//! Every symptom.

use super::symptom::Symptom;
use super::{correlations, vocabulary};

/// All symptoms: correlations first, then the vocabulary.
pub fn all() -> impl Iterator<Item = &'static Symptom> {
    correlations::ALL.iter().map(|correlation| correlation.symptom).chain(vocabulary::symptoms())
}

/// Returns the names of all symptoms.
pub fn names() -> Vec<&'static str> {
    all().map(|symptom| symptom.name).collect()
}

/// The symptom of a name.
pub fn find(name: &str) -> Option<&'static Symptom> {
    all().find(|symptom| symptom.name == name)
}
