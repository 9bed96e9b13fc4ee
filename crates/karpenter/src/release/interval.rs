//! An interval of releases.

use core::fmt;

use super::published::{Release, Version};

/// Half-open interval of releases: from `start` up to, but without, `end`.
///
/// The end of an open interval is [`Version::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    pub(super) start: Version,
    pub(super) end: Version,
}

impl Interval {
    pub(super) const ALL: Self = Self { start: Version::FIRST, end: Version::NEVER };

    /// From 1.`minor`.0 on.
    pub const fn since(minor: u8) -> Self {
        Self::since_patch(minor, 0)
    }

    /// From 1.`minor`.`patch` on.
    pub const fn since_patch(minor: u8, patch: u8) -> Self {
        Self { start: Version::new(minor, patch), end: Version::NEVER }
    }

    /// Up to and including every patch of 1.`minor`, also a future one.
    pub const fn until(minor: u8) -> Self {
        Self::between(0, minor)
    }

    /// From 1.`first`.0 up to and including every patch of 1.`last`.
    pub const fn between(first: u8, last: u8) -> Self {
        Self { start: Version::new(first, 0), end: Version::new(last + 1, 0) }
    }

    /// Patches `first` to `last` of one minor release, both included.
    pub const fn patches(minor: u8, first: u8, last: u8) -> Self {
        Self { start: Version::new(minor, first), end: Version::new(minor, last + 1) }
    }

    /// Patch `first` of 1.`minor` and the later patches of the same minor release.
    pub const fn patches_from(minor: u8, first: u8) -> Self {
        Self { start: Version::new(minor, first), end: Version::new(minor + 1, 0) }
    }

    /// From patch `patch` of 1.`minor` up to and including every patch of 1.`last`.
    pub const fn patch_to_minor(minor: u8, patch: u8, last: u8) -> Self {
        Self { start: Version::new(minor, patch), end: Version::new(last + 1, 0) }
    }

    /// The interval as part of a sentence: `since 1.7`, `until 1.8`, `in 1.3 to 1.6`, `in all releases`.
    pub(super) fn when(self) -> String {
        match (self.start == Version::FIRST, self.end == Version::NEVER) {
            (true, true) => "in all releases".to_owned(),
            (false, false) => format!("in {self}"),
            _ if self.first_and_last_are_equal() => format!("in {self}"),
            _ => self.to_string(),
        }
    }

    fn first_and_last_are_equal(self) -> bool {
        self.last().is_some_and(|last| last == self.first())
    }

    /// One release.
    pub(super) const fn only(release: Release) -> Self {
        let Version { minor, patch } = release.version();
        Self::patches(minor, patch, patch)
    }

    pub(super) fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether the release is in the interval.
    pub fn contains(self, release: Release) -> bool {
        (self.start..self.end).contains(&release.version())
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// The part before another interval, and the part behind it. Either may be empty.
    pub(super) fn around(self, hole: Self) -> [Self; 2] {
        let before = Self { end: self.end.min(hole.start), ..self };
        let behind = Self { start: self.start.max(hole.end), ..self };
        [before, behind]
    }

    /// The first release of the interval: `1.8` if the interval starts with a minor release, otherwise `1.8.3`.
    pub(super) fn first(self) -> String {
        let Version { minor, patch } = self.start;
        if patch == 0 && self.end.minor > minor { format!("1.{minor}") } else { format!("1.{minor}.{patch}") }
    }

    /// The last release of the interval: `1.8` if the interval ends with a minor release, otherwise `1.8.3`; `None` if
    /// the interval is open.
    pub(super) fn last(self) -> Option<String> {
        let Version { minor, patch } = self.end;
        match (self.end == Version::NEVER, patch.checked_sub(1)) {
            (true, _) => None,
            (false, Some(last)) => Some(format!("1.{minor}.{last}")),
            (false, None) => Some(format!("1.{}", minor.saturating_sub(1))),
        }
    }
}

/// Prints `all`, `since 1.7`, `until 1.8`, `1.3 to 1.6`, `1.8`, `1.8.4`, `1.0.9 to 1.0.12`, or `1.0 since 1.0.9` for the
/// later patches of one minor release.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first();
        let Some(last) = self.last() else {
            return if self.start == Version::FIRST {
                f.write_str("all")
            } else {
                write!(f, "since {first}")
            };
        };
        let of_one_minor = self.end == Version::new(self.start.minor + 1, 0);
        if self.first_and_last_are_equal() {
            f.write_str(&first)
        } else if of_one_minor {
            write!(f, "{last} since {first}")
        } else if self.start == Version::FIRST {
            write!(f, "until {last}")
        } else {
            write!(f, "{first} to {last}")
        }
    }
}
