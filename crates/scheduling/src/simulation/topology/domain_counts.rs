//! The number of pods in each domain of a constraint.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::rc::Rc;

use super::kept_counts::KeptCounts;
use crate::requirements::Requirement;

/// Every number of pods.
pub(super) const ANY: RangeInclusive<i64> = i64::MIN..=i64::MAX;
/// The numbers of pods of a domain with a pod.
pub(super) const OCCUPIED: RangeInclusive<i64> = 1..=i64::MAX;
/// The number of pods of an empty domain.
pub(super) const EMPTY: RangeInclusive<i64> = 0..=0;

/// Domains that constraints without pods share.
pub(crate) type SharedDomains<'d> = Rc<RefCell<BTreeSet<&'d str>>>;

/// Domain with its number of pods.
pub(super) type Counted<'d> = (i64, &'d str);

/// The number of pods in each known domain. Most preferences are about pods that do not exist, so that the domains of a label are
/// copied only when a pod counts.
#[derive(Debug)]
pub(crate) enum DomainCounts<'d> {
    /// No domain has a pod.
    Empty(SharedDomains<'d>),
    /// Some domain may have a pod.
    Counted {
        /// The number of pods of each domain.
        domains: BTreeMap<&'d str, i64>,
        /// The domains by their number of pods.
        by_count: BTreeSet<Counted<'d>>,
    },
    /// The numbers of pods before the round are kept.
    Kept(KeptCounts<'d>),
}

impl<'d> DomainCounts<'d> {
    /// Empty domains that no other constraint shares.
    pub(super) fn own(domains: impl IntoIterator<Item = &'d str>) -> Self {
        let domains: BTreeMap<&str, i64> = domains.into_iter().map(|domain| (domain, 0)).collect();
        let by_count = domains.iter().map(|(domain, count)| (*count, *domain)).collect();
        Self::Counted { domains, by_count }
    }

    /// Whether other constraints may share the domains.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Empty(_))
    }

    /// Adds an empty domain. Shared domains are added once for all constraints.
    pub(super) fn register(&mut self, domain: &'d str) {
        if let Self::Kept(kept) = self {
            return kept.register(domain);
        }
        let Self::Counted { domains, by_count } = self else { return };
        if let Entry::Vacant(absent) = domains.entry(domain) {
            absent.insert(0);
            by_count.insert((0, domain));
        }
    }

    /// Counts a pod in a domain.
    pub(super) fn record(&mut self, domain: &'d str) {
        if let Self::Kept(kept) = self {
            return kept.pods.add(domain, 1);
        }
        if let Self::Empty(shared) = self {
            let all: Vec<&str> = shared.borrow().iter().copied().collect();
            *self = Self::own(all);
        }
        let Self::Counted { domains, by_count } = self else { return };
        let count = domains.entry(domain).or_insert(0);
        by_count.remove(&(*count, domain));
        *count += 1;
        by_count.insert((*count, domain));
    }

    /// The number of domains.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty(shared) => shared.borrow().len(),
            Self::Counted { domains, .. } => domains.len(),
            Self::Kept(kept) => kept.by_name().len(),
        }
    }

    /// The number of pods in a domain; `None` if it is unknown.
    pub(super) fn find(&self, domain: &str) -> Option<i64> {
        match self {
            Self::Empty(shared) => shared.borrow().contains(domain).then_some(0),
            Self::Counted { domains, .. } => domains.get(domain).copied(),
            Self::Kept(kept) => kept.find(domain),
        }
    }

    /// The first domains by name, with their numbers of pods.
    pub(super) fn by_name(&self, most: usize) -> Vec<(&'d str, i64)> {
        match self {
            Self::Empty(shared) => shared.borrow().iter().take(most).map(|domain| (*domain, 0)).collect(),
            Self::Counted { domains, .. } => {
                domains.iter().take(most).map(|(domain, count)| (*domain, *count)).collect()
            }
            Self::Kept(kept) => kept.by_name().into_iter().take(most).collect(),
        }
    }

    /// The first domain by name for which a condition holds.
    pub(super) fn first_by_name(&self, is: impl Fn(&str) -> bool) -> Option<&'d str> {
        match self {
            Self::Empty(shared) => shared.borrow().iter().copied().find(|domain| is(domain)),
            Self::Counted { domains, .. } => domains.keys().copied().find(|domain| is(domain)),
            Self::Kept(kept) => kept.by_name().into_keys().find(|domain| is(domain)),
        }
    }

    /// The domains with a number of pods in a range that a requirement accepts: at most some of them, the emptiest first, then by name.
    pub(super) fn accepted(
        &self,
        requirement: &Requirement<'d>,
        counts: RangeInclusive<i64>,
        most: usize,
    ) -> Vec<Counted<'d>> {
        let has = |domain: &&'d str| requirement.has(domain);
        match self {
            Self::Empty(_) if !counts.contains(&0) => Vec::new(),
            Self::Empty(shared) => {
                let shared = shared.borrow();
                if let Some(only) = only_value(requirement) {
                    return shared
                        .get(only)
                        .filter(|domain| has(domain))
                        .map(|domain| (0, *domain))
                        .into_iter()
                        .collect();
                }
                shared.iter().copied().filter(has).take(most).map(|domain| (0, domain)).collect()
            }
            Self::Counted { domains, by_count } => {
                if let Some(only) = only_value(requirement) {
                    let found = domains
                        .get_key_value(only)
                        .filter(|(domain, count)| has(domain) && counts.contains(count));
                    return found.map(|(domain, count)| (*count, *domain)).into_iter().collect();
                }
                let (start, end) = counts.into_inner();
                let all = by_count.range((start, "")..).take_while(|(count, _)| *count <= end);
                all.filter(|(_, domain)| has(domain)).take(most).copied().collect()
            }
            Self::Kept(kept) => {
                if let Some(only) = only_value(requirement) {
                    let count = kept.find(only).filter(|count| has(&only) && counts.contains(count));
                    return count.map(|count| (count, only)).into_iter().collect();
                }
                let mut all = kept.accepted(requirement, &counts);
                all.truncate(most);
                all
            }
        }
    }

    /// The first of these domains.
    pub(super) fn first(
        &self,
        requirement: &Requirement<'d>,
        counts: RangeInclusive<i64>,
    ) -> Option<Counted<'d>> {
        self.accepted(requirement, counts, 1).first().copied()
    }
}

/// The value of a requirement that accepts one value. A node that exists has such a requirement for each of its labels.
pub(super) fn only_value<'d>(requirement: &Requirement<'d>) -> Option<&'d str> {
    let values = requirement.listed().filter(|values| values.len() == 1)?;
    values.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_emptiest_accepted_domains_first() {
        let shared: SharedDomains<'_> = Rc::new(RefCell::new(BTreeSet::from(["a", "b", "c"])));
        let mut counts = DomainCounts::Empty(Rc::clone(&shared));
        let any = Requirement::exists();
        let some = Requirement::one_of(["a", "c", "x"]);
        assert_eq!(counts.accepted(&some, ANY, 9), [(0, "a"), (0, "c")]);
        assert_eq!(counts.accepted(&any, OCCUPIED, 9), []);
        assert_eq!(counts.find("b"), Some(0));
        counts.record("a");
        counts.register("d");
        assert!(!counts.is_shared());
        assert_eq!(counts.accepted(&any, ANY, 9), [(0, "b"), (0, "c"), (0, "d"), (1, "a")]);
        assert_eq!(counts.accepted(&some, ANY, 1), [(0, "c")]);
        assert_eq!(counts.accepted(&Requirement::is("a"), EMPTY, 9), []);
        assert_eq!(counts.first(&Requirement::is("a"), OCCUPIED), Some((1, "a")));
        assert_eq!(counts.by_name(2), [("a", 1), ("b", 0)]);
        assert_eq!((counts.len(), counts.find("x")), (4, None));
        assert_eq!(shared.borrow().len(), 3);
    }
}
