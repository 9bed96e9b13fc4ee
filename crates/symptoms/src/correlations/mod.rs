//! Diagnoses from several messages together, one file each.

mod correlation;
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

pub use correlation::Correlation;

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
];
