//! Diagnoses from several messages together, one file each.

mod correlation;
pub mod double_nodeclaim;
mod draft;
pub mod drift_loop;
pub mod foreign_collection;
pub mod instance_profile_blocks_nodepool;
pub mod node_never_joined;
pub mod node_stays_terminating;
pub mod nodeclaim_refused_label;
pub mod object_not_ready;
pub mod pod_ignored;
pub mod registration_taint_absent;
#[cfg(test)]
mod testing;
pub mod unready_node_not_repaired;

use std::collections::BTreeSet;

pub use correlation::Correlation;

use crate::history::History;

/// Number of NodeClaims that are kept as evidence.
const MAX_EVIDENCE: usize = 5_000;

/// Every correlation, the most severe first.
pub const ALL: &[&Correlation] = &[
    &foreign_collection::CORRELATION,
    &nodeclaim_refused_label::CORRELATION,
    &registration_taint_absent::CORRELATION,
    &node_never_joined::CORRELATION,
    &instance_profile_blocks_nodepool::CORRELATION,
    &double_nodeclaim::CORRELATION,
    &drift_loop::CORRELATION,
    &pod_ignored::CORRELATION,
    &object_not_ready::CORRELATION,
    &unready_node_not_repaired::CORRELATION,
    &node_stays_terminating::CORRELATION,
];

/// The NodeClaims that the diagnoses of a history name. They are kept when the history has to forget NodeClaims.
pub(super) fn evidence(history: &History) -> BTreeSet<String> {
    let mut found = Vec::new();
    for correlation in ALL {
        (correlation.find)(std::slice::from_ref(history), &mut found);
    }
    let objects = found.iter().flat_map(|diagnosis| &diagnosis.objects);
    let claims = objects.filter(|object| object.kind == "NodeClaim").map(|object| object.name.to_string());
    claims.take(MAX_EVIDENCE).collect()
}
