//! The releases of Karpenter's AWS provider that this build knows.

use core::fmt;

/// The newest patch of each minor release: the first entry is 1.0, whose newest patch is 1.0.14.
///
/// This table is the only place that names the newest release. Everything else holds intervals, which are open-ended.
/// Source: the tags of aws/karpenter-provider-aws.
const NEWEST_PATCH: [u8; 16] = [14, 10, 8, 8, 4, 8, 8, 6, 8, 3, 2, 3, 2, 1, 1, 1];

#[expect(clippy::cast_possible_truncation, reason = "the table has far fewer than 256 entries")]
const MINORS: u8 = NEWEST_PATCH.len() as u8;

#[expect(clippy::indexing_slicing, reason = "the index is checked")]
const fn newest_patch(minor: u8) -> Option<u8> {
    if minor < MINORS { Some(NEWEST_PATCH[minor as usize]) } else { None }
}

/// The version 1.`minor`.`patch`, published or not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Version {
    pub(super) minor: u8,
    pub(super) patch: u8,
}

impl Version {
    /// The first version of all.
    pub(super) const FIRST: Self = Self::new(0, 0);
    /// A version after every release; the end of an open interval.
    pub(super) const NEVER: Self = Self::new(u8::MAX, u8::MAX);

    pub(super) const fn new(minor: u8, patch: u8) -> Self {
        Self { minor, patch }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

/// A published release, such as 1.8.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(Version);

impl Release {
    /// The newest release that this build knows.
    #[expect(clippy::indexing_slicing, reason = "the index is the table's last")]
    pub const NEWEST: Self = Self(Version::new(MINORS - 1, NEWEST_PATCH[NEWEST_PATCH.len() - 1]));

    /// Every published release, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..MINORS)
            .zip(NEWEST_PATCH)
            .flat_map(|(minor, newest)| (0..=newest).map(move |patch| Self(Version::new(minor, patch))))
    }

    /// The newest patch of every minor release, oldest first.
    pub fn minors() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..MINORS).zip(NEWEST_PATCH).map(|(minor, newest)| Self(Version::new(minor, newest)))
    }

    /// The newest known patch of 1.`minor`.
    pub(super) fn newest_of_minor(minor: u32) -> Option<Self> {
        let minor = u8::try_from(minor).ok()?;
        Some(Self(Version::new(minor, newest_patch(minor)?)))
    }

    /// The patch of the same minor release, if it is known.
    pub(super) fn with_patch(self, patch: u32) -> Option<Self> {
        let patch = u8::try_from(patch).ok().filter(|patch| *patch <= self.0.patch)?;
        Some(Self(Version::new(self.0.minor, patch)))
    }

    /// Whether the release is the first patch of its minor release.
    pub const fn is_first_patch(self) -> bool {
        self.0.patch == 0
    }

    /// Whether the release is the newest patch of its minor release.
    pub fn is_newest_patch(self) -> bool {
        newest_patch(self.0.minor) == Some(self.0.patch)
    }

    /// Whether two releases are patches of the same minor release.
    pub const fn is_of_minor_of(self, other: Self) -> bool {
        self.0.minor == other.0.minor
    }

    /// `1.8`, without the patch.
    pub fn name_of_minor(self) -> String {
        format!("1.{}", self.0.minor)
    }

    /// `1.8.8`, with the patch even for the newest one.
    pub fn name_of_patch(self) -> String {
        format!("1.{}.{}", self.0.minor, self.0.patch)
    }

    pub(super) const fn version(self) -> Version {
        self.0
    }
}

/// Prints `1.8` for the newest patch of a minor release and `1.8.3` for any other patch.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_newest_patch() { self.name_of_minor() } else { self.name_of_patch() };
        f.write_str(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_release_means_its_newest_patch() {
        assert_eq!(Release::parse("1.8"), Release::parse("1.8.8"));
        assert_eq!(Release::parse("v1.0.3").unwrap().to_string(), "1.0.3");
        assert_eq!(Release::parse(&Release::NEWEST.name_of_minor()), Ok(Release::NEWEST));
    }

    #[test]
    fn rejects_unpublished_release_and_lists_the_known_ones() {
        let next = format!("1.{MINORS}");
        for text in [&next, "1.255", "1.300", "1.8.99", "1.8.999", "v1.99.0"] {
            let message = Release::parse(text).unwrap_err().to_string();
            let known = format!("1.0 to {} and", Release::NEWEST.name_of_minor());
            assert!(message.contains(&known), "{message}");
        }
    }

    #[test]
    fn lists_releases_in_order() {
        assert!(Release::all().is_sorted() && Release::minors().is_sorted());
        assert_eq!(Release::all().last(), Some(Release::NEWEST));
        assert_eq!(Release::minors().last(), Some(Release::NEWEST));
    }
}
