//! What happened over time, as far as it is remembered: the lives of NodeClaims, the pods they were made for, the
//! instances that were collected. Bounded: the oldest is forgotten first, and how much was is counted.

use super::entry::{At, Entry};
use crate::object::Object;

/// What is remembered of one cluster.
#[derive(Debug, Default)]
pub struct History {
    /// How many lives were forgotten to stay within bounds.
    pub forgotten: u64,
}

impl History {
    /// Takes in what an entry tells.
    pub fn observe(&mut self, _entry: &Entry<'_>) {}

    /// Takes in what an object tells beyond its conditions, such as a NodeClaim's labels or a Node's taints.
    pub fn object(&mut self, _object: Object<'_>, _at: At) {}
}
