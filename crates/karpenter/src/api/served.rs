//! The kinds and versions that Karpenter has ever had, and the releases that serve them.

use crate::release::Releases;

/// A kind in a version, and the releases that serve it.
#[derive(Debug)]
pub struct ServedKind {
    /// The API group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The releases that serve it.
    pub releases: Releases,
    /// The `apiVersion` and kind that replace it.
    pub instead: Option<(&'static str, &'static str)>,
}

const fn served(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    releases: Releases,
) -> ServedKind {
    ServedKind { group, version, kind, releases, instead: None }
}

impl ServedKind {
    const fn replaced_by(mut self, api_version: &'static str, kind: &'static str) -> Self {
        self.instead = Some((api_version, kind));
        self
    }
}

/// Every kind in every version. Sources: the custom resource definitions at v1.0.0 (with v1beta1), v1.1.0 (without it) and
/// v1.7.0 (the first NodeOverlay); website/content/en/docs/upgrading/v1-migration.md for earlier kinds.
pub const SERVED_KINDS: &[ServedKind] = &[
    served("karpenter.sh", "v1", "NodePool", Releases::ALL),
    served("karpenter.sh", "v1", "NodeClaim", Releases::ALL),
    served("karpenter.k8s.aws", "v1", "EC2NodeClass", Releases::ALL),
    served("karpenter.sh", "v1alpha1", "NodeOverlay", Releases::since(7)),
    served("karpenter.sh", "v1beta1", "NodePool", Releases::until(0))
        .replaced_by("karpenter.sh/v1", "NodePool"),
    served("karpenter.sh", "v1beta1", "NodeClaim", Releases::until(0))
        .replaced_by("karpenter.sh/v1", "NodeClaim"),
    served("karpenter.k8s.aws", "v1beta1", "EC2NodeClass", Releases::until(0))
        .replaced_by("karpenter.k8s.aws/v1", "EC2NodeClass"),
    served("karpenter.sh", "v1alpha5", "Provisioner", Releases::NONE)
        .replaced_by("karpenter.sh/v1", "NodePool"),
    served("karpenter.sh", "v1alpha5", "Machine", Releases::NONE).replaced_by("karpenter.sh/v1", "NodeClaim"),
    served("karpenter.k8s.aws", "v1alpha1", "AWSNodeTemplate", Releases::NONE)
        .replaced_by("karpenter.k8s.aws/v1", "EC2NodeClass"),
];

/// Whether an API group is Karpenter's.
pub const fn is_own_group(group: &str) -> bool {
    matches!(group.as_bytes(), b"karpenter.sh" | b"karpenter.k8s.aws")
}

/// The releases that serve a kind in a version; `None` outside Karpenter's API groups.
pub fn releases_of(group: &str, version: &str, kind: &str) -> Option<Releases> {
    is_own_group(group).then(|| find(group, version, kind).map_or(Releases::NONE, |served| served.releases))
}

/// The entry of a kind in a version.
pub fn find(group: &str, version: &str, kind: &str) -> Option<&'static ServedKind> {
    let same =
        |served: &&ServedKind| served.group == group && served.version == version && served.kind == kind;
    SERVED_KINDS.iter().find(same)
}
