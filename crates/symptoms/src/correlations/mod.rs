//! What only several lines together tell, one file each.

pub mod double_nodeclaim;
mod draft;
pub mod drift_loop;
pub mod foreign_collection;
pub mod instance_profile_blocks_nodepool;
pub mod node_never_joined;
pub mod nodeclaim_refused_label;
pub mod pod_ignored;
pub mod registration_taint_absent;
#[cfg(test)]
mod testing;

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
pub const ALL: &[&Correlation] = &[
    &foreign_collection::CORRELATION,
    &nodeclaim_refused_label::CORRELATION,
    &registration_taint_absent::CORRELATION,
    &node_never_joined::CORRELATION,
    &instance_profile_blocks_nodepool::CORRELATION,
    &double_nodeclaim::CORRELATION,
    &drift_loop::CORRELATION,
    &pod_ignored::CORRELATION,
];

/// Looks at each cluster by itself.
fn each(
    histories: &[History],
    found: &mut Vec<Diagnosis>,
    find: impl Fn(usize, &History, &mut Vec<Diagnosis>),
) {
    for (cluster, history) in histories.iter().enumerate() {
        find(cluster, history, found);
    }
}
