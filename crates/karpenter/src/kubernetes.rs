//! The Kubernetes versions that each release supports.

use crate::release::{Interval, Releases};

/// The minor versions of Kubernetes, and the releases that support each.
///
/// Source: `MinK8sVersion` and `MaxK8sVersion` in pkg/providers/version/version.go of aws/karpenter-provider-aws at every
/// tag; for 1.37 website/content/en/v1.15/upgrading/compatibility.md.
const SUPPORTED: [(u8, Releases); 8] = [
    (25, Releases::until(4)),
    (31, Releases::since_patch(0, 5)),
    (32, Releases::since(2)),
    (33, Releases::since(5)),
    (34, Releases::union(&[Interval::patches_from(6, 6), Interval::since_patch(7, 4)])),
    (35, Releases::since(9)),
    (36, Releases::since(13)),
    (37, Releases::since(15)),
];

/// The releases that support Kubernetes 1.`minor`; `None` for a version that no table knows.
pub fn supporting(minor: u8) -> Option<Releases> {
    let known = SUPPORTED.iter().find(|(version, _)| *version == minor).map(|(_, releases)| *releases);
    known.or(match minor {
        0..=24 => Some(Releases::NONE),
        26..=30 => Some(Releases::ALL),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_releases_of_each_version() {
        let text = |minor| supporting(minor).map(|releases| releases.to_string());
        assert_eq!(text(24).as_deref(), Some(""));
        assert_eq!(text(25).as_deref(), Some("until 1.4"));
        assert_eq!(text(30).as_deref(), Some("all"));
        assert_eq!(text(34).as_deref(), Some("1.6 since 1.6.6, since 1.7.4"));
        assert_eq!(text(37).as_deref(), Some("since 1.15"));
        assert_eq!(text(38), None);
    }
}
