//! The published releases of Karpenter's AWS provider, and sets of them.
//!
//! Source of the patch counts: the tags of aws/karpenter-provider-aws up to v1.14.1.

use core::fmt;

/// The newest patch of each minor: index 0 is 1.0, whose newest patch is 1.0.14.
const NEWEST_PATCH: [u8; 15] = [14, 10, 8, 8, 4, 8, 8, 6, 8, 2, 2, 3, 2, 1, 1];

#[expect(clippy::cast_possible_truncation, reason = "a table of a handful of minors")]
const MINORS: u8 = NEWEST_PATCH.len() as u8;

/// The position of each minor's first patch among all releases in order, and after them the number of releases.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const FIRST: [u8; NEWEST_PATCH.len() + 1] = {
    let mut first = [0; NEWEST_PATCH.len() + 1];
    let mut minor = 0;
    while minor < NEWEST_PATCH.len() {
        first[minor + 1] = first[minor] + NEWEST_PATCH[minor] + 1;
        minor += 1;
    }
    first
};

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const TOTAL: u8 = {
    let total = FIRST[NEWEST_PATCH.len()];
    assert!(total <= 128, "Releases holds one bit for each release: widen its integer");
    total
};

/// The minor of each release in order.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const MINOR_OF: [u8; TOTAL as usize] = {
    let mut minors = [0; TOTAL as usize];
    let (mut minor, mut position) = (0, 0);
    while position < TOTAL {
        if position == FIRST[minor as usize + 1] {
            minor += 1;
        }
        minors[position as usize] = minor;
        position += 1;
    }
    minors
};

/// The position of 1.`minor`.0 among all releases in order.
#[expect(clippy::indexing_slicing, reason = "the minor is at most the table's last by construction")]
const fn first_of(minor: u8) -> u8 {
    FIRST[minor as usize]
}

#[expect(clippy::indexing_slicing, reason = "the minor is below the table's length by construction")]
const fn newest_patch(minor: u8) -> u8 {
    NEWEST_PATCH[minor as usize]
}

/// One published release, such as 1.8.3. A minor on its own means its newest patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(u8);

impl Release {
    /// The newest release this build knows.
    pub const NEWEST: Self = Self(TOTAL - 1);

    /// The newest patch of 1.`minor`; `None` for a minor this build does not know.
    pub const fn minor(minor: u8) -> Option<Self> {
        if minor < MINORS { Some(Self(first_of(minor) + newest_patch(minor))) } else { None }
    }

    /// The newest patch of every minor, oldest first.
    pub fn minors() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..MINORS).filter_map(Self::minor)
    }

    /// Reads `1.8` (its newest patch) or `1.8.3`; a leading `v` is accepted.
    pub fn parse(text: &str) -> Result<Self, UnknownRelease> {
        Self::known(text).ok_or_else(|| UnknownRelease(text.to_owned()))
    }

    fn known(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(number);
        let (major, minor, patch, more) = (parts.next()??, parts.next()??, parts.next(), parts.next());
        if major != 1 || minor >= MINORS || more.is_some() {
            return None;
        }
        let patch = patch.map_or(Some(newest_patch(minor)), |patch| patch)?;
        (patch <= newest_patch(minor)).then(|| Self(first_of(minor) + patch))
    }

    /// Whether it is the first patch of its minor.
    pub const fn is_first_patch(self) -> bool {
        self.parts().1 == 0
    }

    /// Whether it is the newest patch of its minor.
    pub const fn is_newest_patch(self) -> bool {
        let (minor, patch) = self.parts();
        patch == newest_patch(minor)
    }

    /// `1.8`, without the patch.
    pub fn name_of_minor(self) -> String {
        format!("1.{}", self.parts().0)
    }

    /// `1.8.8`, with the patch even where it is the newest.
    pub fn name_of_patch(self) -> String {
        let (minor, patch) = self.parts();
        format!("1.{minor}.{patch}")
    }

    /// All patches of the minor that this release belongs to.
    pub const fn minor_set(self) -> Releases {
        let (minor, _) = self.parts();
        Releases::between(minor, minor)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "a release is a position below the table's length by construction"
    )]
    const fn parts(self) -> (u8, u8) {
        let minor = MINOR_OF[self.0 as usize];
        (minor, self.0 - first_of(minor))
    }
}

/// A plain decimal number: no sign, no leading zero.
fn number(text: &str) -> Option<u8> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (plain && (text == "0" || !text.starts_with('0'))).then(|| text.parse().ok())?
}

/// Prints `1.8` for the newest patch of a minor and `1.8.3` for any other.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minor, patch) = self.parts();
        if patch == newest_patch(minor) { write!(f, "1.{minor}") } else { write!(f, "1.{minor}.{patch}") }
    }
}

/// A release that does not exist, or that this build does not know yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRelease(String);

impl fmt::Display for UnknownRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a known Karpenter release; known are ", self.0)?;
        for (index, release) in Release::minors().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{release}")?;
        }
        f.write_str(" and their patches, such as 1.8.3")
    }
}

impl core::error::Error for UnknownRelease {}

/// A set of releases: where a fact or a finding holds.
///
/// ```
/// use karpwarden_karpenter::release::{Release, Releases};
/// let refused = Releases::until(8);
/// assert_eq!(refused.to_string(), "1.0-1.8");
/// assert!(refused.contains(Release::parse("1.8.3").unwrap()));
/// assert_eq!(Releases::ALL.without(refused), Releases::since(9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Releases(u128);

impl Releases {
    /// No release.
    pub const NONE: Self = Self(0);
    /// Every release this build knows.
    pub const ALL: Self = Self::positions(0, TOTAL);

    /// The positions `from..to` among all releases.
    const fn positions(from: u8, to: u8) -> Self {
        Self(ones_below(to) & !ones_below(from))
    }

    /// From 1.`minor`.0 on.
    pub const fn since(minor: u8) -> Self {
        Self::positions(first_of(minor), TOTAL)
    }

    /// Up to and including every patch of 1.`minor`.
    pub const fn until(minor: u8) -> Self {
        Self::positions(0, first_of(minor + 1))
    }

    /// From 1.`first`.0 to the newest patch of 1.`last`.
    pub const fn between(first: u8, last: u8) -> Self {
        Self::since(first).and(Self::until(last))
    }

    /// Patches `first` to `last` of one minor.
    pub const fn patches(minor: u8, first: u8, last: u8) -> Self {
        Self::positions(first_of(minor) + first, first_of(minor) + last + 1)
    }

    /// One release alone.
    pub const fn only(release: Release) -> Self {
        Self::positions(release.0, release.0 + 1)
    }

    /// In both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// In either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// In this set and not in the other.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the release is in the set.
    pub const fn contains(self, release: Release) -> bool {
        self.0 & (1 << release.0) != 0
    }

    /// Whether the set has no release.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the two sets have a release in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The releases in order, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Release> {
        (0..TOTAL).map(Release).filter(move |release| self.contains(*release))
    }

    /// The first and the last release of the set as it prints: `("1.0", "1.8")`; empty for the empty set.
    pub fn ends(self) -> (String, String) {
        let text = self.to_string();
        let first = text.split(['-', ',']).next().unwrap_or_default();
        let last = text.rsplit(['-', ' ']).next().unwrap_or_default();
        (first.to_owned(), last.to_owned())
    }

    /// The runs of this set: from a release to a release, both included. A run holds whole minors, or patches of one.
    fn runs(self) -> impl Iterator<Item = (Release, Release)> {
        let mut position = 0;
        core::iter::from_fn(move || {
            while position < TOTAL && !self.contains(Release(position)) {
                position += 1;
            }
            let first = (position < TOTAL).then_some(Release(position))?;
            while position < TOTAL && self.contains(Release(position)) {
                position += 1;
                let (minor, patch) = Release(position - 1).parts();
                let whole = first.parts().1 == 0;
                let next_whole = minor + 1 < MINORS && self.has_minor(minor + 1);
                if patch == newest_patch(minor) && !(whole && next_whole) {
                    break;
                }
            }
            Some((first, Release(position - 1)))
        })
    }

    /// Whether every patch of the minor is in the set.
    const fn has_minor(self, minor: u8) -> bool {
        let all = Self::between(minor, minor).0;
        self.0 & all == all
    }
}

const fn ones_below(position: u8) -> u128 {
    if position >= 128 { u128::MAX } else { (1 << position) - 1 }
}

/// `1.0-1.8`, `1.14`, `1.0.0-1.0.8, 1.1-1.14`; a minor stands for all its patches. The empty set prints nothing.
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.runs().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            let ((from, from_patch), (to, to_patch)) = (first.parts(), last.parts());
            let whole = from_patch == 0 && to_patch == newest_patch(to);
            match (whole, first == last) {
                (true, _) if from == to => write!(f, "1.{from}")?,
                (true, _) => write!(f, "1.{from}-1.{to}")?,
                (false, true) => write!(f, "1.{from}.{from_patch}")?,
                (false, false) => write!(f, "1.{from}.{from_patch}-1.{to}.{to_patch}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minor_means_its_newest_patch() {
        assert_eq!(Release::parse("1.8"), Release::parse("1.8.8"));
        assert_eq!(Release::parse("v1.0.3").unwrap().to_string(), "1.0.3");
        assert_eq!(Release::NEWEST.to_string(), "1.14");
    }

    #[test]
    fn what_was_never_published_is_refused_with_the_known_ones() {
        for text in ["1.15", "0.37", "1.8.9", "1", "1.8.3.1", "", "latest", "1.08", "1.-1", "2.0"] {
            let message = Release::parse(text).unwrap_err().to_string();
            assert!(message.contains("1.0, 1.1,") && message.contains("1.14 and"), "{message}");
        }
    }

    #[test]
    fn sets_print_as_runs_of_minors_or_patches() {
        assert_eq!(Releases::ALL.to_string(), "1.0-1.14");
        assert_eq!(Releases::NONE.to_string(), "");
        assert_eq!(Releases::patches(0, 0, 8).or(Releases::since(1)).ends(), ("1.0.0".into(), "1.14".into()));
        assert_eq!(Releases::between(8, 8).ends(), ("1.8".into(), "1.8".into()));
        assert_eq!(Releases::between(14, 14).to_string(), "1.14");
        assert_eq!(Releases::patches(8, 4, 4).to_string(), "1.8.4");
        let hard = Releases::patches(0, 0, 8).or(Releases::patches(1, 0, 3)).or(Releases::patches(2, 0, 1));
        assert_eq!(hard.to_string(), "1.0.0-1.0.8, 1.1.0-1.1.3, 1.2.0-1.2.1");
        assert_eq!(Releases::patches(0, 0, 8).or(Releases::since(1)).to_string(), "1.0.0-1.0.8, 1.1-1.14");
        assert_eq!(Releases::patches(0, 9, 14).or(Releases::since(1)).to_string(), "1.0.9-1.0.14, 1.1-1.14");
        assert_eq!(Releases::until(3).or(Releases::patches(4, 0, 1)).to_string(), "1.0-1.3, 1.4.0-1.4.1");
    }

    #[test]
    fn every_release_is_in_exactly_one_of_a_set_and_its_rest() {
        for minor in 0..MINORS {
            let set = Releases::since(minor);
            for release in Releases::ALL.iter() {
                assert_ne!(set.contains(release), Releases::ALL.without(set).contains(release));
            }
        }
    }
}
