//! Versions of Karpenter that documents pin: `1.6.2`, or a range such as `~1.6.0` or `>=1.5 <1.9`.

use core::fmt;

use super::published::Release;

/// Version of Karpenter that a document pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinnedVersion {
    major: u32,
    minor: u32,
    /// `None` if the pin leaves the patch open.
    patch: Option<u32>,
}

/// Release that the facts have for a pinned version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinnedRelease {
    /// The version is below 1.0. The facts start with 1.0.
    BeforeV1,
    /// The release itself, or the newest patch of the minor version.
    Known(Release),
    /// The patch is newer than the newest known patch of the minor version, which is this release.
    NewerPatch(Release),
    /// The version is newer than every known release.
    Newer,
}

impl PinnedVersion {
    /// The first version that clusters used. Charts that wrap Karpenter's chart start at 0.1.0, so that an earlier version
    /// says nothing about Karpenter.
    const FIRST: (u32, u32) = (0, 5);

    /// Parses a version or a range of versions. A range over several minor versions means its newest version, which Helm installs;
    /// `None` if it has no upper bound below 2.0, because the newest known release is the default anyway.
    ///
    /// Ranges are read as Helm reads them. Source: README.md of Masterminds/semver, "Checking Version Constraints".
    pub fn parse(text: &str) -> Option<Self> {
        let alternatives = text.split("||").map(Self::parse_one);
        alternatives.collect::<Option<Vec<Self>>>()?.into_iter().max_by_key(Self::order)
    }

    /// Parses a version or a range without alternatives.
    fn parse_one(text: &str) -> Option<Self> {
        let comparators = comparators(text);
        let words: Vec<&str> = comparators.split_whitespace().collect();
        let version = match words.as_slice() {
            [one] => single(one),
            [low, "-", high] => exact(low).and_then(|low| within(low, exact(high)?)),
            [low, high] => between(low, high),
            _ => None,
        };
        version.filter(|version| version.major <= 1 && (version.major, version.minor) >= Self::FIRST)
    }

    /// Orders versions; an open patch is the newest one.
    fn order(&self) -> (u32, u32, u32) {
        (self.major, self.minor, self.patch.unwrap_or(u32::MAX))
    }

    /// The release to check against.
    pub fn release(self) -> PinnedRelease {
        if self.major == 0 {
            return PinnedRelease::BeforeV1;
        }
        let Ok(newest) = Release::parse(&format!("1.{}", self.minor)) else { return PinnedRelease::Newer };
        let Some(patch) = self.patch else { return PinnedRelease::Known(newest) };
        let release = Release::parse(&format!("1.{}.{patch}", self.minor));
        release.map_or(PinnedRelease::NewerPatch(newest), PinnedRelease::Known)
    }

    /// The version that two pins have in common: patches of one minor version have the minor version in common, and
    /// versions below 1.0 have in common that they are below 1.0, with the older one as the result.
    pub fn common(self, other: Self) -> Option<Self> {
        if self == other {
            Some(self)
        } else if (self.major, self.minor) == (other.major, other.minor) {
            Some(self.without_patch())
        } else if self.major == 0 && other.major == 0 {
            Some(self.min(other))
        } else {
            None
        }
    }

    const fn without_patch(self) -> Self {
        Self { patch: None, ..self }
    }
}

/// Prints `1.6.2`, or `1.6` if the patch is open.
impl fmt::Display for PinnedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

/// The comparators of a range, separated by spaces: `>= 1.6, < 1.7` becomes `>=1.6  <1.7`.
fn comparators(text: &str) -> String {
    let mut result = String::new();
    for char in text.trim().chars() {
        let follows_operator = result.ends_with(['<', '>', '=', '~', '^']);
        if char == ',' {
            result.push(' ');
        } else if !(char.is_whitespace() && follows_operator) {
            result.push(char);
        }
    }
    result
}

/// A version, or a comparator that leaves only the patch open.
fn single(text: &str) -> Option<PinnedVersion> {
    if let Some(rest) = text.strip_prefix("~>") {
        // Terraform reads `~> 1.6` as `>= 1.6, < 2.0`, and only `~> 1.6.0` stays within the minor version. Source:
        // website/docs/language/expressions/version-constraints.mdx of hashicorp/terraform.
        return exact(rest).filter(|version| version.patch.is_some()).map(PinnedVersion::without_patch);
    }
    if let Some(rest) = text.strip_prefix('~') {
        return exact(rest).map(PinnedVersion::without_patch);
    }
    if let Some(rest) = text.strip_prefix('^') {
        // Below 1.0, the minor version is what a caret keeps.
        return exact(rest).filter(|version| version.major == 0).map(PinnedVersion::without_patch);
    }
    newest_below(text).or_else(|| exact(text.strip_prefix('=').unwrap_or(text)))
}

/// A lower and an upper bound, such as `>=1.6.0` and `<1.9.0`, in this order.
fn between(low: &str, high: &str) -> Option<PinnedVersion> {
    let low = low.strip_prefix(">=").or_else(|| low.strip_prefix('>')).and_then(exact)?;
    if low.major == 0 && high.strip_prefix('<').and_then(exact).is_some_and(is_first_of_v1) {
        return Some(low.without_patch());
    }
    within(low, newest_below(high)?)
}

/// The newest version of a range; its minor version if the range has no other.
fn within(low: PinnedVersion, newest: PinnedVersion) -> Option<PinnedVersion> {
    let is_in_order = low.order() <= newest.order();
    let is_one_minor = (low.major, low.minor) == (newest.major, newest.minor);
    is_in_order.then(|| if is_one_minor { newest.without_patch() } else { newest })
}

/// The newest version that an upper bound allows: `1.8` for `<1.9.0`, `1.8.2` for `<1.8.3` and for `<=1.8.2`. Below 1.0 and 2.0, the
/// minor version is not known.
fn newest_below(high: &str) -> Option<PinnedVersion> {
    if let Some(last) = high.strip_prefix("<=") {
        return exact(last);
    }
    let end = high.strip_prefix('<').and_then(exact)?;
    match (end.minor, end.patch.unwrap_or(0)) {
        (0, 0) => None,
        (minor, 0) => Some(PinnedVersion { minor: minor - 1, patch: None, ..end }),
        (_, patch) => Some(PinnedVersion { patch: Some(patch - 1), ..end }),
    }
}

/// Whether a version is 1.0.0.
fn is_first_of_v1(version: PinnedVersion) -> bool {
    (version.major, version.minor, version.patch.unwrap_or(0)) == (1, 0, 0)
}

/// `1.6.2`, `v1.6.2`, `1.6.2-rc.1`, `1.6`, `1.6.x` or `1.6.*`.
fn exact(text: &str) -> Option<PinnedVersion> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let core = text.split(['-', '+']).next()?;
    let mut parts = core.split('.');
    let (major, minor, patch, more) = (parts.next()?, parts.next()?, parts.next(), parts.next());
    let patch = match patch {
        None | Some("x" | "X" | "*") => None,
        Some(patch) => Some(number(patch)?),
    };
    if more.is_some() {
        return None;
    }
    Some(PinnedVersion { major: number(major)?, minor: number(minor)?, patch })
}

/// A decimal number without sign and leading zeros. The bound keeps sums of numbers in range.
fn number(text: &str) -> Option<u32> {
    const MAX: u32 = 1_000_000;
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = text.len() > 1 && text.starts_with('0');
    (is_decimal && !has_leading_zero).then(|| text.parse().ok())?.filter(|number| *number <= MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        PinnedVersion::parse(text).map_or("-".to_owned(), |version| version.to_string())
    }

    #[test]
    fn parses_exact_versions() {
        for (text, expected) in [
            ("1.6.2", "1.6.2"),
            ("v1.6.2", "1.6.2"),
            (" 1.6.2 ", "1.6.2"),
            ("=1.6.2", "1.6.2"),
            ("= 1.6.2", "1.6.2"),
            ("1.6.2-rc.1", "1.6.2"),
            ("1.0.0+build.7", "1.0.0"),
            ("0.37.0", "0.37.0"),
            ("1.6", "1.6"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn range_within_a_minor_version_pins_the_minor_version() {
        for text in [
            "1.6.*",
            "1.6.x",
            "~1.6.0",
            "~1.6",
            "~> 1.6.2",
            ">=1.6.0 <1.7.0",
            ">= 1.6.2, < 1.7",
            ">1.6.0,<=1.6.9",
        ] {
            assert_eq!(parsed(text), "1.6", "{text}");
        }
        assert_eq!(parsed("^0.37.0"), "0.37");
        assert_eq!(parsed("^0.37"), "0.37");
    }

    #[test]
    fn range_over_several_minor_versions_pins_its_newest_version() {
        for (text, expected) in [
            (">=1.5 <1.9", "1.8"),
            (">=1.5.0, <1.9.0", "1.8"),
            (">= 1.5, < 1.9", "1.8"),
            ("<1.7.0", "1.6"),
            (">=1.6.0 <1.7.1", "1.7.0"),
            (">=1.5 <=1.8.3", "1.8.3"),
            ("<=1.8", "1.8"),
            ("1.5.0 - 1.8.9", "1.8.9"),
            ("1.6.0 - 1.6.9", "1.6"),
            ("1.6.0 || 1.7.0", "1.7.0"),
            ("~1.7.0 || ~1.6.0", "1.7"),
            (">=0.32.0 <1.0.0", "0.32"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn range_without_an_upper_bound_pins_nothing() {
        for text in [
            "*",
            "1.*",
            "1.x",
            "~1",
            "1",
            "^1.6.0",
            "~> 1.6",
            ">=1.0",
            ">=1.6.0",
            "<2.0.0",
            "<1.0.0",
            ">=1.6.0 <2.0.0",
            ">=1.6.0 <2.7.0",
            ">=1.9.0 <1.7.0",
            "^1.2 || 1.7.0",
            "!=1.6.0",
        ] {
            assert_eq!(parsed(text), "-", "{text}");
        }
    }

    #[test]
    fn text_that_is_no_version_of_karpenter_pins_nothing() {
        for text in [
            "",
            "latest",
            "HEAD",
            "main",
            "${VERSION}",
            "{{ .version }}",
            "v0-abcdef1",
            "1.6.2.3",
            "1.06.2",
            "2.0.0",
            "0.1.0",
            "0.4.9",
            "2024.1.2",
            "-1.6.2",
            "1.6.a",
            "1.6.",
            ".6.2",
            "99999999999.1.1",
        ] {
            assert_eq!(parsed(text), "-", "{text}");
        }
        assert_eq!(parsed("0.5.0"), "0.5.0");
    }

    #[test]
    fn finds_the_release_to_check_against() {
        let release = |text: &str| PinnedVersion::parse(text).map(PinnedVersion::release);
        let known = |text: &str| Release::parse(text).unwrap();
        assert_eq!(release("1.6.2"), Some(PinnedRelease::Known(known("1.6.2"))));
        assert_eq!(release("~1.6.2"), Some(PinnedRelease::Known(known("1.6"))));
        assert_eq!(release("1.6.99"), Some(PinnedRelease::NewerPatch(known("1.6"))));
        assert_eq!(release("1.6.999"), Some(PinnedRelease::NewerPatch(known("1.6"))));
        assert_eq!(release("1.255.0"), Some(PinnedRelease::Newer));
        assert_eq!(release("1.999.0"), Some(PinnedRelease::Newer));
        assert_eq!(release("0.37.8"), Some(PinnedRelease::BeforeV1));
        assert_eq!(release("1.0.0"), Some(PinnedRelease::Known(known("1.0.0"))));
    }

    #[test]
    fn pins_have_a_version_in_common_whatever_their_order() {
        let version = |text: &str| PinnedVersion::parse(text).unwrap();
        for (one, other, expected) in [
            ("1.6.2", "1.6.2", Some("1.6.2")),
            ("1.6.2", "1.6.3", Some("1.6")),
            ("1.6.2", "~1.6.0", Some("1.6")),
            ("1.6.2", "1.7.2", None),
            ("0.32.1", "0.37.0", Some("0.32.1")),
            ("0.37.0", "1.0.0", None),
        ] {
            let expected = expected.map(version);
            assert_eq!(version(one).common(version(other)), expected, "{one} {other}");
            assert_eq!(version(other).common(version(one)), expected, "{other} {one}");
        }
    }
}
