//! The Karpenter releases to check against.

use core::fmt;

use karpenter::release::{Interval, NearestRelease, Release, ReleaseSet, UnknownRelease};
use karpenter::upgrade_path::UpgradePath;

/// The releases to check against: one release, a range of releases, or an upgrade path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    first: Release,
    last: Release,
    upgrade_path: Option<UpgradePath>,
}

/// Why a text is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// A version is no release from 1.0 on.
    #[error("{0}")]
    UnknownRelease(UnknownRelease),
    /// The range ends before it begins.
    #[error("`{text}` runs backwards; write `{last}..{first}`")]
    Backwards {
        /// The range as written.
        text: String,
        /// Its first release.
        first: Release,
        /// Its last release.
        last: Release,
    },
}

impl From<UnknownRelease> for TargetError {
    fn from(error: UnknownRelease) -> Self {
        Self::UnknownRelease(error)
    }
}

impl Target {
    /// One release.
    pub const fn only(release: Release) -> Self {
        Self { first: release, last: release, upgrade_path: None }
    }

    /// Parses `1.8`, `1.8.3`, `latest` or a range such as `1.0..1.8`. A version that is newer than this build means the nearest known
    /// release.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        Self::parse_with_notes(text).map(|(target, _)| target)
    }

    /// Parses a target. Also returns a remark for each version that means the nearest known release.
    pub fn parse_with_notes(text: &str) -> Result<(Self, Vec<String>), TargetError> {
        let mut notes = Vec::new();
        let mut parse = |text: &str| {
            let nearest = NearestRelease::parse(text.trim())?;
            notes.extend(nearest.note().map(|note| format!("{} is not known; {note}", text.trim())));
            Ok::<_, UnknownRelease>(nearest.release())
        };
        let (first, last) = text.split_once("..").map_or((text, None), |(first, last)| (first, Some(last)));
        let first = parse(first)?;
        let last = last.map_or(Ok(first), &mut parse)?;
        if first > last {
            return Err(TargetError::Backwards { text: text.to_owned(), first, last });
        }
        Ok((Self { first, last, upgrade_path: None }, notes))
    }

    /// Every release on an upgrade path, including its start. Only findings that begin on the path are reported.
    pub fn on_upgrade(path: UpgradePath) -> Self {
        let (from, to) = path.ends();
        Self { first: from.min(to), last: from.max(to), upgrade_path: Some(path) }
    }

    /// The upgrade path, if the check is about an upgrade.
    pub const fn upgrade_path(self) -> Option<UpgradePath> {
        self.upgrade_path
    }

    /// Whether the target is more than one release.
    pub fn is_range(self) -> bool {
        self.first != self.last
    }

    /// The first and the last release.
    pub fn ends(self) -> (Release, Release) {
        (self.first, self.last)
    }

    /// The releases, oldest first: the ends of a range, and the newest patch of each minor release between them.
    pub fn releases(self) -> impl Iterator<Item = Release> + Clone {
        let inner = Release::minors().filter(move |release| self.first < *release && *release < self.last);
        let last = self.is_range().then_some(self.last);
        core::iter::once(self.first).chain(inner).chain(last)
    }

    /// Whether one of the releases is in a set.
    pub fn meets(self, releases: impl AsRef<[Interval]>) -> bool {
        let contains = |release| releases.as_ref().iter().any(|interval| interval.contains(release));
        contains(self.first) || (self.is_range() && self.releases().any(contains))
    }

    /// Names some releases of the target as ranges of it: `1.0 to 1.8, 1.10`.
    ///
    /// The newest patch is named by its minor release unless the target has another patch of that minor release that is
    /// not in the set.
    pub fn ranges_of(self, set: &ReleaseSet) -> String {
        let releases: Vec<Release> = self.releases().collect();
        let name = |release: Release| {
            let mut of_minor = releases.iter().filter(|other| other.is_of_minor_of(release));
            if of_minor.all(|other| set.contains(*other)) {
                release.to_string()
            } else {
                release.name_of_patch()
            }
        };
        let ranges = releases.chunk_by(|one, other| set.contains(*one) == set.contains(*other));
        let ranges = ranges.filter_map(|range| match range {
            [first, ..] if !set.contains(*first) => None,
            [first, .., last] => Some(format!("{} to {}", name(*first), name(*last))),
            [only] => Some(name(*only)),
            [] => None,
        });
        ranges.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.upgrade_path.map_or((self.first, self.last), UpgradePath::ends);
        if self.is_range() { write!(f, "{first}..{last}") } else { first.fmt(f) }
    }
}
