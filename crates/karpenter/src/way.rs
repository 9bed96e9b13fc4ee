//! The way from one release to another, up or down, and where on it something begins.

use core::fmt;

use serde::{Serialize, Serializer};

use super::release::{Release, Releases};

/// From a release that runs to one that is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    from: Release,
    to: Release,
}

impl Way {
    /// The way between two releases; it may lead down.
    pub const fn new(from: Release, to: Release) -> Self {
        Self { from, to }
    }

    /// Where it starts and where it ends.
    pub const fn ends(self) -> (Release, Release) {
        (self.from, self.to)
    }

    fn leads_down(self) -> bool {
        self.to < self.from
    }

    /// The releases one may stop at: the newest patch of each minor between the ends, and the end.
    fn stops(self, release: Release) -> bool {
        release == self.to || release.is_newest_patch()
    }

    /// Every release after the start up to the end, in the order of the way.
    fn steps(self) -> Vec<Release> {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let within = |release: &Release| (low..=high).contains(release) && *release != self.from;
        let mut steps: Vec<Release> = Releases::ALL.iter().filter(within).collect();
        if self.leads_down() {
            steps.reverse();
        }
        steps
    }

    /// Where something begins that holds in some releases; `None` where it holds at the start already, or at no release
    /// one stops at.
    pub fn boundary(self, holds: Releases) -> Option<Boundary> {
        if holds.contains(self.from) {
            return None;
        }
        let mut first = None;
        for release in self.steps() {
            if !holds.contains(release) {
                first = None;
            } else if self.stops(release) {
                let release = first.unwrap_or(release);
                let until = if holds.contains(self.to) { None } else { self.last(holds, release) };
                return Some(Boundary { release, until, down: self.leads_down() });
            } else {
                first = first.or(Some(release));
            }
        }
        None
    }

    /// The last release of the stretch of the way that begins at a release.
    fn last(self, holds: Releases, first: Release) -> Option<Release> {
        let steps = self.steps();
        let rest = steps.iter().skip_while(|release| **release != first);
        rest.take_while(|release| holds.contains(**release)).last().copied()
    }
}

/// The release at which something begins on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    release: Release,
    /// Where it ends again before the way does.
    until: Option<Release>,
    down: bool,
}

impl Boundary {
    /// The release as it is written: a minor on its own where all its patches are meant.
    pub fn release(self) -> String {
        let whole = if self.down { self.release.is_newest_patch() } else { self.release.is_first_patch() };
        if whole { self.release.name_of_minor() } else { self.release.name_of_patch() }
    }

    fn until(self) -> Option<String> {
        let until = self.until?;
        let whole = if self.down { until.is_first_patch() } else { until.is_newest_patch() };
        Some(if whole { until.name_of_minor() } else { until.name_of_patch() })
    }
}

/// In the order of the way.
impl Ord for Boundary {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let order = self.release.cmp(&other.release);
        if self.down { order.reverse() } else { order }
    }
}

impl PartialOrd for Boundary {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// `from 1.9 on`, `from 1.8 down`, `1.9 to 1.11`.
impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let release = self.release();
        match (self.until(), self.down) {
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

    fn begins(from: &str, to: &str, holds: Releases) -> Option<[String; 2]> {
        let way = Way::new(Release::parse(from).unwrap(), Release::parse(to).unwrap());
        way.boundary(holds).map(|boundary| [boundary.release(), boundary.to_string()])
    }

    #[test]
    fn what_holds_at_the_start_does_not_begin() {
        assert_eq!(begins("1.8", "1.14", Releases::ALL), None);
        assert_eq!(begins("1.8", "1.14", Releases::since(8)), None);
        assert_eq!(begins("1.8", "1.14", Releases::NONE), None);
        assert_eq!(begins("1.8", "1.8", Releases::since(8)), None);
    }

    #[test]
    fn the_boundary_is_after_the_start_and_not_after_the_end() {
        let since = Releases::since(9);
        assert_eq!(begins("1.8", "1.14", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.8", "1.9", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.8", "1.9.0", since), Some(["1.9".into(), "from 1.9 on".into()]));
        assert_eq!(begins("1.7", "1.8", since), None);
        assert_eq!(begins("1.9.0", "1.14", since), None);
        assert_eq!(begins("1.14", "1.8", since), None);
    }

    #[test]
    fn down_it_is_the_first_release_below() {
        let until = Releases::until(8);
        assert_eq!(begins("1.14", "1.6", until), Some(["1.8".into(), "from 1.8 down".into()]));
        assert_eq!(begins("1.14", "1.8.3", until), Some(["1.8".into(), "from 1.8 down".into()]));
        assert_eq!(begins("1.14", "1.9", until), None);
        assert_eq!(begins("1.6", "1.14", until), None);
    }

    #[test]
    fn a_patch_is_named_where_the_minor_would_be_wrong() {
        let holds = Releases::patches(12, 2, 2).or(Releases::since(13));
        assert_eq!(begins("1.11", "1.14", holds), Some(["1.12.2".into(), "from 1.12.2 on".into()]));
        assert_eq!(begins("1.12.0", "1.12.1", holds), None);
        let below = Releases::ALL.without(holds);
        assert_eq!(begins("1.14", "1.11", below), Some(["1.12.1".into(), "from 1.12.1 down".into()]));
    }

    #[test]
    fn what_ends_again_says_so_and_a_patch_that_nobody_stops_at_is_passed_by() {
        assert_eq!(
            begins("1.8", "1.14", Releases::between(9, 11)),
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
