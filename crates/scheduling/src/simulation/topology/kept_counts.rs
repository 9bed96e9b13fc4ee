//! The number of pods in each domain, of which a round changes few.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::rc::Rc;

use super::domain_counts::Counted;
use crate::requirements::Requirement;

/// Numbers by domain without zeros, which several rounds share.
pub(super) type SharedSums<'d> = Rc<BTreeMap<&'d str, i64>>;

/// Numbers by domain, with the changes of a round.
#[derive(Debug, Default)]
pub(super) struct ChangedSums<'d> {
    shared: SharedSums<'d>,
    changed: BTreeMap<&'d str, i64>,
}

impl<'d> ChangedSums<'d> {
    /// Shared numbers without changes.
    pub(super) fn of(shared: SharedSums<'d>) -> Self {
        Self { shared, changed: BTreeMap::new() }
    }

    pub(super) fn get(&self, domain: &str) -> i64 {
        self.changed.get(domain).or_else(|| self.shared.get(domain)).copied().unwrap_or_default()
    }

    /// Adds to the number of a domain.
    pub(super) fn add(&mut self, domain: &'d str, more: i64) {
        let sum = self.get(domain).saturating_add(more);
        self.changed.insert(domain, sum);
    }

    /// The domains whose numbers are not zero.
    fn iter(&self) -> impl Iterator<Item = Counted<'d>> {
        let shared = self.shared.iter().filter(|(domain, _)| !self.changed.contains_key(*domain));
        let all = shared.chain(&self.changed).filter(|(_, sum)| **sum != 0);
        all.map(|(domain, sum)| (*sum, *domain))
    }
}

/// The number of pods in each domain.
#[derive(Debug, Default)]
pub(crate) struct KeptCounts<'d> {
    /// The domains of the NodePools.
    pub(super) of_pools: Rc<BTreeSet<&'d str>>,
    /// The number of nodes in each domain, as far as their domains are known.
    pub(super) nodes: ChangedSums<'d>,
    /// The domains of the new nodes of the round.
    pub(super) registered: BTreeSet<&'d str>,
    /// The number of pods in each domain.
    pub(super) pods: ChangedSums<'d>,
}

impl<'d> KeptCounts<'d> {
    /// Adds an empty domain.
    pub(super) fn register(&mut self, domain: &'d str) {
        self.registered.insert(domain);
    }

    /// The number of pods in a domain; `None` if it is unknown.
    pub(super) fn find(&self, domain: &str) -> Option<i64> {
        let count = self.pods.get(domain);
        let is_known = || {
            self.of_pools.contains(domain) || self.nodes.get(domain) > 0 || self.registered.contains(domain)
        };
        (count != 0 || is_known()).then_some(count)
    }

    /// The known domains by name, with their numbers of pods.
    pub(super) fn by_name(&self) -> BTreeMap<&'d str, i64> {
        let empty = self.of_pools.iter().chain(&self.registered).copied();
        let empty = empty.chain(self.nodes.iter().map(|(_, domain)| domain)).map(|domain| (domain, 0));
        empty.chain(self.pods.iter().map(|(count, domain)| (domain, count))).collect()
    }

    /// The domains with a number of pods in a range that a requirement accepts: the emptiest first, then by name.
    pub(super) fn accepted(
        &self,
        requirement: &Requirement<'d>,
        counts: &RangeInclusive<i64>,
    ) -> Vec<Counted<'d>> {
        let is_accepted = |(count, domain): &Counted<'d>| counts.contains(count) && requirement.has(domain);
        let mut found: Vec<Counted<'d>> = if counts.contains(&0) {
            let all = self.by_name().into_iter().map(|(domain, count)| (count, domain));
            all.filter(is_accepted).collect()
        } else {
            self.pods.iter().filter(is_accepted).collect()
        };
        found.sort_unstable();
        found
    }
}
