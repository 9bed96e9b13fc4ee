//! What was said how often: the messages of the vocabulary, counted by cause.

use super::Diagnosis;
use super::entry::Entry;
use crate::karpenter::release::Releases;

/// What was counted in one cluster.
#[derive(Debug, Default)]
pub struct Tally {
    /// Entries that the vocabulary knows, those of normal work among them.
    pub understood: u64,
    /// Entries that it does not know.
    pub unknown: u64,
}

impl Tally {
    /// Counts what an entry says.
    pub fn observe(&mut self, _entry: &Entry<'_>) {}

    /// The releases that say everything that was read in these very words; all where nothing tells them apart.
    pub fn releases(&self) -> Releases {
        Releases::ALL
    }

    /// What the counts say of the cluster at a position among the inputs.
    pub fn diagnoses(&self, _cluster: usize) -> Vec<Diagnosis> {
        Vec::new()
    }
}
