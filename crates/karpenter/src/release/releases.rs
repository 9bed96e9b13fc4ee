//! The releases in which a fact holds, as a constant.

use core::fmt;

use super::interval::Interval;
use super::published::Release;
use super::set::ReleaseSet;

/// Releases in which a fact holds: a constant of the tables.
///
/// Nearly every fact holds in one interval; [`Releases::union`] takes a constant list for the others, so that a fact may
/// have any number of intervals. Combining two facts makes a [`ReleaseSet`].
///
/// ```
/// use karpwarden_karpenter::release::{Interval, Releases};
/// const BACKPORTED: Releases = Releases::union(&[Interval::patches(0, 9, 12), Interval::since(1)]);
/// assert_eq!(BACKPORTED.to_string(), "1.0.9 to 1.0.12, since 1.1");
/// assert_eq!(Releases::ALL.to_string(), "all");
/// ```
#[derive(Clone, Copy)]
pub struct Releases(Intervals);

#[derive(Clone, Copy)]
enum Intervals {
    One(Interval),
    Several(&'static [Interval]),
}

impl Releases {
    /// Whether every known release is one of these.
    pub fn is_everywhere(self) -> bool {
        Release::all().all(|release| self.contains(release))
    }

    /// Whether a fact holds in every release, also a future one.
    pub fn are_all(self) -> bool {
        self.as_ref() == [Interval::ALL]
    }

    /// No release.
    pub const NONE: Self = Self(Intervals::Several(&[]));
    /// Every release, also a future one.
    pub const ALL: Self = Self(Intervals::One(Interval::ALL));

    /// From 1.`minor`.0 on.
    pub const fn since(minor: u8) -> Self {
        Self(Intervals::One(Interval::since(minor)))
    }

    /// From 1.`minor`.`patch` on.
    pub const fn since_patch(minor: u8, patch: u8) -> Self {
        Self(Intervals::One(Interval::since_patch(minor, patch)))
    }

    /// Up to and including every patch of 1.`minor`, also a future one.
    pub const fn until(minor: u8) -> Self {
        Self(Intervals::One(Interval::until(minor)))
    }

    /// From 1.`first`.0 up to and including every patch of 1.`last`.
    pub const fn between(first: u8, last: u8) -> Self {
        Self(Intervals::One(Interval::between(first, last)))
    }

    /// Patches `first` to `last` of one minor release, both included.
    pub const fn patches(minor: u8, first: u8, last: u8) -> Self {
        Self(Intervals::One(Interval::patches(minor, first, last)))
    }

    /// Patch `first` of 1.`minor` and the later patches of the same minor release.
    pub const fn patches_from(minor: u8, first: u8) -> Self {
        Self(Intervals::One(Interval::patches_from(minor, first)))
    }

    /// The union of a constant list of intervals.
    pub const fn union(intervals: &'static [Interval]) -> Self {
        Self(Intervals::Several(intervals))
    }

    /// One release.
    pub const fn only(release: Release) -> Self {
        Self(Intervals::One(Interval::only(release)))
    }

    /// The releases as a set that can be combined with others.
    pub fn set(self) -> ReleaseSet {
        match self.0 {
            Intervals::One(interval) => ReleaseSet::one(interval),
            Intervals::Several(intervals) => ReleaseSet::of(intervals.iter().copied()),
        }
    }

    /// The releases in both.
    pub fn and(self, other: impl AsRef<[Interval]>) -> ReleaseSet {
        self.set().and(other)
    }

    /// The releases in either.
    pub fn or(self, other: impl AsRef<[Interval]>) -> ReleaseSet {
        self.set().or(other)
    }

    /// These releases without the others.
    pub fn without(self, other: impl AsRef<[Interval]>) -> ReleaseSet {
        self.set().without(other)
    }

    /// Whether there is a release in both.
    pub fn meets(self, other: impl AsRef<[Interval]>) -> bool {
        self.set().meets(other)
    }

    /// The releases as part of a sentence: `since 1.7`, `until 1.8`, `in 1.3 to 1.6`, `in all releases`.
    pub fn when(self) -> String {
        self.set().when()
    }

    /// Whether the fact holds in a release.
    pub fn contains(self, release: Release) -> bool {
        self.as_ref().iter().any(|interval| interval.contains(release))
    }

    /// Whether the fact holds in no release.
    pub fn is_empty(self) -> bool {
        self.as_ref().iter().all(|interval| interval.is_empty())
    }
}

impl AsRef<[Interval]> for Releases {
    fn as_ref(&self) -> &[Interval] {
        match &self.0 {
            Intervals::One(interval) => core::slice::from_ref(interval),
            Intervals::Several(intervals) => intervals,
        }
    }
}

impl From<Releases> for ReleaseSet {
    fn from(releases: Releases) -> Self {
        releases.set()
    }
}

impl PartialEq for Releases {
    fn eq(&self, other: &Self) -> bool {
        self.set() == other.set()
    }
}

impl Eq for Releases {}

impl PartialEq<Releases> for ReleaseSet {
    fn eq(&self, other: &Releases) -> bool {
        *self == other.set()
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.set().fmt(f)
    }
}

impl fmt::Debug for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Releases({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_open_intervals_without_naming_the_newest_release() {
        assert_eq!(Releases::ALL.to_string(), "all");
        assert_eq!(Releases::NONE.to_string(), "");
        assert_eq!(Releases::since(7).to_string(), "since 1.7");
        assert_eq!(Releases::since_patch(0, 9).to_string(), "since 1.0.9");
        assert_eq!(Releases::until(8).to_string(), "until 1.8");
        assert_eq!(Releases::ALL.without(Releases::patches(0, 0, 3)).to_string(), "since 1.0.4");
    }

    #[test]
    fn prints_bounded_intervals_by_their_first_and_last_release() {
        assert_eq!(Releases::between(3, 6).to_string(), "1.3 to 1.6");
        assert_eq!(Releases::between(8, 8).to_string(), "1.8");
        assert_eq!(Releases::until(0).to_string(), "1.0");
        assert_eq!(Releases::patches(8, 4, 4).to_string(), "1.8.4");
        assert_eq!(Releases::patches(1, 0, 3).to_string(), "1.1.0 to 1.1.3");
        assert_eq!(Releases::patches(0, 0, 8).to_string(), "until 1.0.8");
        assert_eq!(Releases::patches_from(0, 9).to_string(), "1.0 since 1.0.9");
        assert_eq!(Releases::until(3).or(Releases::patches(4, 0, 1)).to_string(), "until 1.4.1");
        assert_eq!(
            Releases::until(3).or(Releases::patches(5, 1, 2)).to_string(),
            "until 1.3, 1.5.1 to 1.5.2"
        );
        assert_eq!(Releases::patches(0, 0, 8).or(Releases::since(1)).to_string(), "until 1.0.8, since 1.1");
    }

    #[test]
    fn prints_releases_as_part_of_a_sentence() {
        assert_eq!(Releases::ALL.when(), "in all releases");
        assert_eq!(Releases::since(7).when(), "since 1.7");
        assert_eq!(Releases::until(8).when(), "until 1.8");
        assert_eq!(Releases::until(0).when(), "in 1.0");
        assert_eq!(
            Releases::patches_from(0, 9).or(Releases::since(2)).when(),
            "in 1.0 since 1.0.9, since 1.2"
        );
        assert_eq!(Releases::ALL.set().note(), "");
        assert_eq!(Releases::between(3, 6).set().note(), " (1.3 to 1.6)");
    }

    #[test]
    fn joins_intervals_that_touch() {
        assert_eq!(Releases::patches_from(0, 9).or(Releases::since(1)), Releases::since_patch(0, 9));
        assert_eq!(Releases::until(8).or(Releases::since(9)), Releases::ALL);
        assert_eq!(Releases::since(7).or(Releases::until(9)), Releases::ALL);
    }

    #[test]
    fn names_the_ends_and_leaves_an_open_end_empty() {
        let ends = |releases: Releases| releases.set().ends();
        assert_eq!(ends(Releases::ALL), ("1.0".into(), String::new()));
        assert_eq!(ends(Releases::since_patch(12, 2)), ("1.12.2".into(), String::new()));
        assert_eq!(ends(Releases::between(8, 8)), ("1.8".into(), "1.8".into()));
        assert_eq!(ends(Releases::patches(8, 4, 4)), ("1.8.4".into(), "1.8.4".into()));
        assert_eq!(ends(Releases::NONE), (String::new(), String::new()));
    }

    #[test]
    fn release_is_either_in_a_set_or_in_its_complement() {
        const SETS: [Releases; 4] = [
            Releases::since(3),
            Releases::until(8),
            Releases::patches(1, 2, 4),
            Releases::union(&[
                Interval::patches(0, 2, 3),
                Interval::between(2, 4),
                Interval::since_patch(8, 1),
            ]),
        ];
        for set in SETS {
            for release in Release::all() {
                assert_ne!(
                    set.contains(release),
                    Releases::ALL.without(set).contains(release),
                    "{set} {release}"
                );
            }
            assert_eq!(Releases::ALL.without(Releases::ALL.without(set)), set);
        }
    }

    #[test]
    fn future_patch_belongs_to_its_minor_release_only() {
        let known = Releases::patches(8, 0, 8);
        assert_ne!(known, Releases::between(8, 8));
        assert_eq!(Releases::between(8, 8).without(known), Releases::patches_from(8, 9));
    }
}
