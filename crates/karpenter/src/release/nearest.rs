//! The release to check against for a version that a user names. A version that is newer than this build is checked as the
//! nearest known release, so that a new patch of Karpenter stops no program.

use core::fmt;

use super::published::Release;

/// Name of the newest known release in flags and settings.
const LATEST: &str = "latest";

/// Known release that is nearest to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearestRelease {
    /// The release itself, or the newest patch of the minor release.
    Known(Release),
    /// The patch is newer than the newest known patch of its minor release, which is this release.
    NewerPatch(Release),
    /// The version is newer than every known release.
    Newer,
}

impl NearestRelease {
    /// Parses `1.8` or `1.8.3`, with a leading `v` or without, or `latest`, which is the newest known release.
    pub fn parse(text: &str) -> Result<Self, UnknownRelease> {
        if text == LATEST {
            return Ok(Self::Known(Release::NEWEST));
        }
        let (major, minor, patch) =
            numbers(text).ok_or_else(|| UnknownRelease::new(text, reason_for_other_text(text)))?;
        match major {
            0 => return Err(UnknownRelease::new(text, Reason::BeforeV1)),
            1 => {}
            _ => return Err(UnknownRelease::new(text, Reason::OtherMajor)),
        }
        let Some(newest) = Release::newest_of_minor(minor) else { return Ok(Self::Newer) };
        let Some(patch) = patch else { return Ok(Self::Known(newest)) };
        Ok(newest.with_patch(patch).map_or(Self::NewerPatch(newest), Self::Known))
    }

    /// The release to check against.
    pub const fn release(self) -> Release {
        match self {
            Self::Known(release) | Self::NewerPatch(release) => release,
            Self::Newer => Release::NEWEST,
        }
    }

    /// Remark on a version that is not checked exactly, such as `checked as 1.8.8, its newest known patch`.
    pub fn note(self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::NewerPatch(release) => {
                Some(format!("checked as {}, its newest known patch", release.name_of_patch()))
            }
            Self::Newer => Some(format!("checked as {}, the newest known release", Release::NEWEST)),
        }
    }
}

impl Release {
    /// Parses `1.8`, which is its newest patch, `1.8.3`, with a leading `v` or without, or `latest`.
    pub fn parse(text: &str) -> Result<Self, UnknownRelease> {
        match NearestRelease::parse(text)? {
            NearestRelease::Known(release) => Ok(release),
            NearestRelease::NewerPatch(_) | NearestRelease::Newer => {
                Err(UnknownRelease::new(text, Reason::Unpublished))
            }
        }
    }
}

/// Error for a text that names no release from 1.0 on, or a release that this build does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRelease {
    text: String,
    reason: Reason,
}

/// Reason why a text is not a known release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The version is newer than the known releases.
    Unpublished,
    /// The version is below 1.0.
    BeforeV1,
    /// The major version is above 1.
    OtherMajor,
    /// The text is a version of the API, such as `v1beta1`.
    ApiVersion,
    /// The text is no version.
    NoVersion,
}

impl UnknownRelease {
    fn new(text: &str, reason: Reason) -> Self {
        Self { text: text.to_owned(), reason }
    }
}

impl fmt::Display for UnknownRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, newest) = (&self.text, Release::NEWEST.name_of_minor());
        match self.reason {
            Reason::Unpublished => write!(
                f,
                "`{text}` is not a known Karpenter release; the known releases are 1.0 to {newest} and their patches, such as 1.0.3"
            ),
            Reason::BeforeV1 => write!(
                f,
                "Karpenter `{text}` is older than 1.0, the first release that is covered; to see what an upgrade needs, write 1.0"
            ),
            Reason::OtherMajor => {
                write!(f, "Karpenter `{text}` is another major version; the newest known release is {newest}")
            }
            Reason::ApiVersion => write!(
                f,
                "`{text}` is a version of Karpenter's API, not a Karpenter release; write the release of the controller, such as 1.8"
            ),
            Reason::NoVersion => {
                write!(
                    f,
                    "`{text}` is not a Karpenter release; write a release such as 1.8 or 1.8.3, or `latest`"
                )
            }
        }
    }
}

impl core::error::Error for UnknownRelease {}

/// Major, minor and patch number of a version.
fn numbers(text: &str) -> Option<(u32, u32, Option<u32>)> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(number);
    let (major, minor, patch, more) = (parts.next()??, parts.next()??, parts.next(), parts.next());
    if more.is_some() {
        return None;
    }
    let patch = match patch {
        None => None,
        Some(patch) => Some(patch?),
    };
    Some((major, minor, patch))
}

/// A decimal number without sign and leading zeros.
fn number(text: &str) -> Option<u32> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    (is_decimal && (text == "0" || !text.starts_with('0'))).then(|| text.parse().ok())?
}

fn reason_for_other_text(text: &str) -> Reason {
    // `v1`, `v1beta1` and `v1alpha5`, alone or after `karpenter.sh/`.
    let version = text.rsplit_once('/').map_or(text, |(_, version)| version);
    let is_api_version = version.strip_prefix('v').is_some_and(|rest| {
        let word: String = rest.chars().filter(|char| !char.is_ascii_digit()).collect();
        rest.starts_with(|char: char| char.is_ascii_digit()) && matches!(word.as_str(), "" | "alpha" | "beta")
    });
    if is_api_version { Reason::ApiVersion } else { Reason::NoVersion }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_known_release() {
        let known = |text: &str| Release::parse(text).unwrap();
        for (text, expected) in [
            ("1.8", NearestRelease::Known(known("1.8"))),
            ("v1.8.3", NearestRelease::Known(known("1.8.3"))),
            ("1.8.99", NearestRelease::NewerPatch(known("1.8"))),
            ("1.8.9999", NearestRelease::NewerPatch(known("1.8"))),
            ("1.99", NearestRelease::Newer),
            ("latest", NearestRelease::Known(Release::NEWEST)),
            ("1.999.3", NearestRelease::Newer),
        ] {
            let nearest = NearestRelease::parse(text).unwrap();
            assert_eq!(nearest, expected, "{text}");
            assert_eq!(nearest.note().is_none(), matches!(nearest, NearestRelease::Known(_)), "{text}");
        }
        assert_eq!(NearestRelease::parse("1.99").unwrap().release(), Release::NEWEST);
        let note = NearestRelease::parse("1.8.99").unwrap().note();
        assert_eq!(note.as_deref(), Some("checked as 1.8.8, its newest known patch"));
    }

    #[test]
    fn says_why_a_text_is_no_release() {
        for (texts, reason) in [
            (&["0.37", "v0.37.8", "0.5"][..], "is older than 1.0"),
            (&["v1beta1", "v1alpha5", "v1", "karpenter.sh/v1"], "is a version of Karpenter's API"),
            (&["2.0", "3.1.4"], "is another major version"),
            (
                &[
                    "newest",
                    "Latest",
                    "",
                    "1",
                    "1.8.3.1",
                    "1.08",
                    "1.-1",
                    "1.+8",
                    "1.",
                    "1.8.x",
                    "vbeta1",
                    "1.99999999999",
                ],
                "write a release such as",
            ),
        ] {
            for text in texts {
                let message = NearestRelease::parse(text).unwrap_err().to_string();
                assert!(message.contains(reason), "{text}: {message}");
            }
        }
    }
}
