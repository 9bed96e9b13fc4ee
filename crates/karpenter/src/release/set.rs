//! A set of releases that is computed at run time.

use core::fmt;

use smallvec::{SmallVec, smallvec};

use super::interval::Interval;
use super::published::Release;

/// Set of releases: the result of combining facts.
///
/// The intervals are sorted and neither overlap nor touch. A set has as many of them as it needs; it nearly always has one,
/// and sets of up to four intervals need no memory beyond the set itself, as a walk over an object makes a set for every field.
///
/// ```
/// use karpwarden_karpenter::release::{Release, Releases};
/// let refused = Releases::until(8);
/// let accepted = Releases::ALL.without(refused);
/// assert_eq!(accepted, Releases::since(9));
/// assert_eq!(accepted.to_string(), "since 1.9");
/// assert!(!accepted.contains(Release::parse("1.8.3").unwrap()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReleaseSet(SmallVec<[Interval; 4]>);

impl ReleaseSet {
    /// The empty set.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every release, also a future one.
    pub fn all() -> Self {
        Self::of([Interval::ALL])
    }

    /// The releases of one interval.
    pub(super) fn one(interval: Interval) -> Self {
        if interval.is_empty() { Self::none() } else { Self(smallvec![interval]) }
    }

    /// The union of some intervals, which may overlap.
    pub(super) fn of(intervals: impl IntoIterator<Item = Interval>) -> Self {
        let mut sorted: SmallVec<[Interval; 4]> =
            intervals.into_iter().filter(|interval| !interval.is_empty()).collect();
        sorted.sort_unstable();
        sorted.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Self(sorted)
    }

    /// The releases in both sets.
    pub fn and(&self, other: impl AsRef<[Interval]>) -> Self {
        if let ([one], [other]) = (self.0.as_slice(), other.as_ref()) {
            return Self::one(one.and(*other));
        }
        let pairs = self.0.iter().flat_map(|one| other.as_ref().iter().map(|other| one.and(*other)));
        Self::of(pairs)
    }

    /// The releases in either set.
    pub fn or(&self, other: impl AsRef<[Interval]>) -> Self {
        Self::of(self.0.iter().chain(other.as_ref()).copied())
    }

    /// The releases in this set and not in the other.
    pub fn without(&self, other: impl AsRef<[Interval]>) -> Self {
        let mut left = self.clone();
        for hole in other.as_ref() {
            // An empty hole divides an interval into pieces that touch or overlap, which `of` joins again.
            left = Self::of(left.0.iter().flat_map(|interval| interval.around(*hole)));
        }
        left
    }

    /// Whether the set has a release in common with another.
    pub fn meets(&self, other: impl AsRef<[Interval]>) -> bool {
        let mut others = other.as_ref().iter();
        others.any(|other| self.0.iter().any(|one| !one.and(*other).is_empty()))
    }

    /// Whether every known release is in the set.
    pub fn is_everywhere(&self) -> bool {
        Release::all().all(|release| self.contains(release))
    }

    /// Whether the release is in the set.
    pub fn contains(&self, release: Release) -> bool {
        self.0.iter().any(|interval| interval.contains(release))
    }

    /// Whether the set has no release.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The published releases of the set, oldest first.
    pub fn published(&self) -> impl Iterator<Item = Release> {
        Release::all().filter(|release| self.contains(*release))
    }

    /// The set as part of a sentence: `since 1.7`, `until 1.8`, `in 1.3 to 1.6`, `in all releases`.
    pub fn when(&self) -> String {
        self.0.iter().map(|interval| interval.when()).collect::<Vec<_>>().join(", ")
    }

    /// The set as a note at the end of a message: ` (since 1.7)`, or nothing for every release.
    pub fn note(&self) -> String {
        if *self == Self::all() { String::new() } else { format!(" ({self})") }
    }

    /// The first and the last release of the set: `("1.3", "1.8")`. The last is empty if the set is open-ended; both are
    /// empty if the set is.
    pub fn ends(&self) -> (String, String) {
        let first = self.0.first().map(|interval| interval.first());
        let last = self.0.last().and_then(|interval| interval.last());
        (first.unwrap_or_default(), last.unwrap_or_default())
    }
}

impl AsRef<[Interval]> for ReleaseSet {
    fn as_ref(&self) -> &[Interval] {
        &self.0
    }
}

/// Prints the intervals, joined by commas; prints nothing for the empty set.
impl fmt::Display for ReleaseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, interval) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{interval}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, ReleaseSet};

    #[test]
    fn loses_exactly_the_releases_of_the_holes() {
        let all = ReleaseSet::all();
        let holes = [Interval::between(2, 3), Interval::between(5, 7)];
        let left = all.without(holes);
        assert_eq!(left.to_string(), "until 1.1, 1.4, since 1.8");
        assert_eq!(left.without(holes), left);
        assert_eq!(left.without([Interval::ALL]), ReleaseSet::none());
        // The start of an empty hole is at or after its end.
        for empty in [Interval::patches(4, 1, 0), Interval::patches(4, 6, 2)] {
            assert!(empty.is_empty());
            assert_eq!(all.without([empty]), all);
            assert_eq!(left.without([empty]), left);
        }
    }
}
