//! The kinds and versions that Karpenter ever had, and the releases that serve them.

use crate::release::Releases;

/// A kind in a version.
#[derive(Debug)]
pub struct Served {
    /// The API group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The releases that serve it.
    pub releases: Releases,
    /// What is written in its place: `apiVersion` and kind.
    pub instead: Option<(&'static str, &'static str)>,
}

const fn served(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    releases: Releases,
) -> Served {
    Served { group, version, kind, releases, instead: None }
}

impl Served {
    const fn now(mut self, api_version: &'static str, kind: &'static str) -> Self {
        self.instead = Some((api_version, kind));
        self
    }
}

/// Sources: the custom resource definitions at v1.0.0 (which still hold v1beta1), v1.1.0 (which do not) and v1.7.0 (the
/// first NodeOverlay); website/content/en/docs/upgrading/v1-migration.md for what was before.
pub const SERVED: &[Served] = &[
    served("karpenter.sh", "v1", "NodePool", Releases::ALL),
    served("karpenter.sh", "v1", "NodeClaim", Releases::ALL),
    served("karpenter.k8s.aws", "v1", "EC2NodeClass", Releases::ALL),
    served("karpenter.sh", "v1alpha1", "NodeOverlay", Releases::since(7)),
    served("karpenter.sh", "v1beta1", "NodePool", Releases::until(0)).now("karpenter.sh/v1", "NodePool"),
    served("karpenter.sh", "v1beta1", "NodeClaim", Releases::until(0)).now("karpenter.sh/v1", "NodeClaim"),
    served("karpenter.k8s.aws", "v1beta1", "EC2NodeClass", Releases::until(0))
        .now("karpenter.k8s.aws/v1", "EC2NodeClass"),
    served("karpenter.sh", "v1alpha5", "Provisioner", Releases::NONE).now("karpenter.sh/v1", "NodePool"),
    served("karpenter.sh", "v1alpha5", "Machine", Releases::NONE).now("karpenter.sh/v1", "NodeClaim"),
    served("karpenter.k8s.aws", "v1alpha1", "AWSNodeTemplate", Releases::NONE)
        .now("karpenter.k8s.aws/v1", "EC2NodeClass"),
];

/// The releases that serve a kind in a version; `None` outside Karpenter's API groups.
pub fn releases_of(group: &str, version: &str, kind: &str) -> Option<Releases> {
    matches!(group, "karpenter.sh" | "karpenter.k8s.aws")
        .then(|| find(group, version, kind).map_or(Releases::NONE, |served| served.releases))
}

/// The entry of a kind in a version.
pub fn find(group: &str, version: &str, kind: &str) -> Option<&'static Served> {
    let same = |served: &&Served| served.group == group && served.version == version && served.kind == kind;
    SERVED.iter().find(same)
}
