//! The path from one release to another, as an upgrade or a downgrade, and the release on it in which a problem begins.

use core::fmt;

use serde::{Serialize, Serializer};

use super::release::{Release, ReleaseSet};

/// Path from the release that runs now to the release that will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradePath {
    from: Release,
    to: Release,
}

impl UpgradePath {
    /// The path between two releases; a downgrade if `to` is older.
    pub const fn new(from: Release, to: Release) -> Self {
        Self { from, to }
    }

    /// The first and the last release of the path.
    pub const fn ends(self) -> (Release, Release) {
        (self.from, self.to)
    }

    fn is_downgrade(self) -> bool {
        self.to < self.from
    }

    /// Whether an upgrade may stop at a release: at the end of the path, and at the newest patch of each minor release.
    fn stops_at(self, release: Release) -> bool {
        release == self.to || release.is_newest_patch()
    }

    /// Every release after the start, up to and including the end, in the order of the path.
    fn steps(self) -> Vec<Release> {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let is_step = |release: &Release| (low..=high).contains(release) && *release != self.from;
        let mut steps: Vec<Release> = Release::all().filter(is_step).collect();
        if self.is_downgrade() {
            steps.reverse();
        }
        steps
    }

    /// The release at which a problem begins, given the releases that have the problem.
    ///
    /// `None` if the start of the path already has the problem, or if no release at which an upgrade stops has it.
    pub fn boundary(self, affected: &ReleaseSet) -> Option<Boundary> {
        if affected.contains(self.from) {
            return None;
        }
        let mut first = None;
        for release in self.steps() {
            if !affected.contains(release) {
                first = None;
            } else if self.stops_at(release) {
                let release = first.unwrap_or(release);
                let until = self.last_affected(affected, release).filter(|last| *last != self.to);
                return Some(Boundary { release, until, is_downgrade: self.is_downgrade() });
            } else {
                first = first.or(Some(release));
            }
        }
        None
    }

    /// The last of the consecutive affected releases that begin with `first`.
    fn last_affected(self, affected: &ReleaseSet, first: Release) -> Option<Release> {
        let steps = self.steps();
        let rest = steps.iter().skip_while(|release| **release != first);
        rest.take_while(|release| affected.contains(**release)).last().copied()
    }
}

/// The release at which a problem begins on an upgrade path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    release: Release,
    /// The last release with the problem, if the problem ends before the path does.
    until: Option<Release>,
    is_downgrade: bool,
}

impl Boundary {
    /// The release at which the problem begins: a minor release if the problem begins with its first patch.
    pub fn release(self) -> String {
        let is_whole =
            if self.is_downgrade { self.release.is_newest_patch() } else { self.release.is_first_patch() };
        if is_whole { self.release.name_of_minor() } else { self.release.name_of_patch() }
    }

    fn until(self) -> Option<String> {
        let until = self.until?;
        let is_whole = if self.is_downgrade { until.is_first_patch() } else { until.is_newest_patch() };
        Some(if is_whole { until.name_of_minor() } else { until.name_of_patch() })
    }
}

/// Orders boundaries as they occur on the path.
impl Ord for Boundary {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let order = self.release.cmp(&other.release);
        if self.is_downgrade { order.reverse() } else { order }
    }
}

impl PartialOrd for Boundary {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints `from 1.9 on`, `from 1.8 down`, `from 1.9 to 1.11` or `only in 1.9`.
impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let release = self.release();
        match (self.until(), self.is_downgrade) {
            (Some(until), _) if until == release => write!(f, "only in {release}"),
            (Some(until), _) => write!(f, "from {release} to {until}"),
            (None, false) => write!(f, "from {release} on"),
            (None, true) => write!(f, "from {release} down"),
        }
    }
}

impl Serialize for Boundary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.release())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Releases;

    fn begins(from: &str, to: &str, affected: impl Into<ReleaseSet>) -> Option<[String; 2]> {
        let path = UpgradePath::new(Release::parse(from).unwrap(), Release::parse(to).unwrap());
        path.boundary(&affected.into()).map(|boundary| [boundary.release(), boundary.to_string()])
    }

    #[test]
    fn ignores_problem_of_the_start() {
        assert_eq!(begins("1.8", "1.14", Releases::ALL), None);
        assert_eq!(begins("1.8", "1.14", Releases::since(8)), None);
        assert_eq!(begins("1.8", "1.14", Releases::NONE), None);
        assert_eq!(begins("1.8", "1.8", Releases::since(8)), None);
    }

    #[test]
    fn finds_boundary_after_the_start_and_up_to_the_end() {
        let since = Releases::since(9);
        assert_eq!(begins("1.8", "1.14", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.8", "1.9", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.8", "1.9.0", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.7", "1.8", since), None);
        assert_eq!(begins("1.9.0", "1.14", since), None);
        assert_eq!(begins("1.14", "1.8", since), None);
    }

    #[test]
    fn finds_first_lower_release_on_a_downgrade() {
        let until = Releases::until(8);
        assert_eq!(begins("1.14", "1.6", until), Some(["1.8".into(), "from 1.8 down".into()]));
        assert_eq!(begins("1.14", "1.8.3", until), Some(["1.8".into(), "from 1.8 down".into()]));
        assert_eq!(begins("1.14", "1.9", until), None);
        assert_eq!(begins("1.6", "1.14", until), None);
    }

    #[test]
    fn names_patch_if_only_later_patches_are_affected() {
        let affected = Releases::since_patch(12, 2);
        assert_eq!(begins("1.11", "1.14", affected), Some(["1.12.2".into(), "from 1.12.2 on".into()]));
        assert_eq!(begins("1.12.0", "1.12.1", affected), None);
        let below = Releases::ALL.without(affected);
        assert_eq!(begins("1.14", "1.11", below), Some(["1.12.1".into(), "from 1.12.1 down".into()]));
    }

    #[test]
    fn names_the_end_of_a_problem_and_skips_patches_between_stops() {
        assert_eq!(
            begins("1.8", "1.14", Releases::between(9, 11)),
            Some(["1.9".into(), "from 1.9 to 1.11".into()])
        );
        assert_eq!(
            begins("1.6", "1.14", Releases::between(9, 11)),
            Some(["1.9".into(), "from 1.9 to 1.11".into()])
        );
        assert_eq!(
            begins("1.8", "1.14", Releases::between(9, 9)),
            Some(["1.9".into(), "only in 1.9".into()])
        );
        assert_eq!(begins("1.7", "1.9", Releases::patches(8, 4, 4)), None);
        assert_eq!(
            begins("1.7", "1.8.4", Releases::patches(8, 4, 4)),
            Some(["1.8.4".into(), "from 1.8.4 on".into()])
        );
        assert_eq!(
            begins("1.9", "1.8.4", Releases::patches(8, 4, 4)),
            Some(["1.8.4".into(), "from 1.8.4 down".into()])
        );
    }
}
