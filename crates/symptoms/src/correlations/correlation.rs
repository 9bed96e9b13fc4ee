//! Type of a correlation.

use crate::diagnosis::Diagnosis;
use crate::history::History;
use crate::symptom::Symptom;
use cluster::ids::ClusterId;

/// A diagnosis from several messages together.
#[derive(Debug)]
pub struct Correlation {
    /// The symptom that it diagnoses.
    pub symptom: &'static Symptom,
    /// Looks at the histories of all clusters, in their order, and adds its diagnoses.
    pub find: fn(&[History], &mut Vec<Diagnosis>),
}

/// Looks at each cluster by itself.
pub(super) fn each(
    histories: &[History],
    found: &mut Vec<Diagnosis>,
    find: impl Fn(ClusterId, &History, &mut Vec<Diagnosis>),
) {
    for (cluster, history) in ClusterId::enumerate(histories) {
        find(cluster, history, found);
    }
}
