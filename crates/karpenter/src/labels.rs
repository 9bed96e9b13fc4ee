//! Label keys: the well-known keys, and the keys that Karpenter restricts in each release.
//!
//! Four checks restrict keys, and they differ: the CEL rules of the CRDs for requirements and for labels, `RuntimeValidate`
//! of the NodePool and NodeOverlay controllers, and the provisioner's check of pending pods. All except the CEL rules share
//! one list of restricted domains.
//!
//! Sources: pkg/apis/v1/labels.go of kubernetes-sigs/karpenter and of aws/karpenter-provider-aws, and
//! pkg/apis/crds/*.yaml of the latter, at v1.0.0 to v1.14.1.

use super::release::{Release, ReleaseSet, Releases};
use values::spelling;

/// The NodePool of a node. Karpenter sets the label; pods may select it, but a NodePool cannot set it.
pub const NODEPOOL: &str = "karpenter.sh/nodepool";
/// The capacity type: spot, on-demand or reserved.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// The node class of a node. Only Karpenter sets the label.
pub const NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";
/// The host name of a node.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// The availability zone of a node.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The ID of the zone.
pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";
/// The name of [`NODEPOOL`] until 0.32.
pub const PROVISIONER_NAME: &str = "karpenter.sh/provisioner-name";

/// The annotation that protects pods and nodes from disruption.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// A label of old releases that no 1.x release supports, although the documentation lists it
/// (aws/karpenter-provider-aws#5055).
pub const INSTANCE_PODS: &str = "karpenter.k8s.aws/instance-pods";

const CLOCK_SPEED: &str = "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz";
const NITRO_SANDBOX: &str = "karpenter.k8s.aws/nitro-sandbox";
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

/// The labels that Karpenter supports, and the first minor release of each. Pods may select them without a requirement or
/// label in the NodePool, and no check restricts them at run time.
const WELL_KNOWN: &[(&str, u8)] = &[
    (NODEPOOL, 0),
    (CAPACITY_TYPE, 0),
    ("topology.kubernetes.io/zone", 0),
    ("topology.kubernetes.io/region", 0),
    (ZONE_ID, 0),
    ("node.kubernetes.io/instance-type", 0),
    ("node.kubernetes.io/windows-build", 0),
    ("kubernetes.io/arch", 0),
    ("kubernetes.io/os", 0),
    ("karpenter.k8s.aws/instance-accelerator-count", 0),
    ("karpenter.k8s.aws/instance-accelerator-manufacturer", 0),
    ("karpenter.k8s.aws/instance-accelerator-name", 0),
    ("karpenter.k8s.aws/instance-category", 0),
    ("karpenter.k8s.aws/instance-cpu", 0),
    ("karpenter.k8s.aws/instance-cpu-manufacturer", 0),
    ("karpenter.k8s.aws/instance-ebs-bandwidth", 0),
    ("karpenter.k8s.aws/instance-encryption-in-transit-supported", 0),
    ("karpenter.k8s.aws/instance-family", 0),
    ("karpenter.k8s.aws/instance-generation", 0),
    ("karpenter.k8s.aws/instance-gpu-count", 0),
    ("karpenter.k8s.aws/instance-gpu-manufacturer", 0),
    ("karpenter.k8s.aws/instance-gpu-memory", 0),
    ("karpenter.k8s.aws/instance-gpu-name", 0),
    ("karpenter.k8s.aws/instance-hypervisor", 0),
    ("karpenter.k8s.aws/instance-local-nvme", 0),
    ("karpenter.k8s.aws/instance-memory", 0),
    ("karpenter.k8s.aws/instance-network-bandwidth", 0),
    ("karpenter.k8s.aws/instance-size", 0),
    (CLOCK_SPEED, 1),
    ("karpenter.k8s.aws/capacity-reservation-id", 3),
    ("karpenter.k8s.aws/capacity-reservation-type", 6),
    ("karpenter.k8s.aws/instance-capability-flex", 7),
    (TENANCY, 9),
    ("karpenter.k8s.aws/capacity-reservation-interruptible", 10),
    ("karpenter.k8s.aws/placement-group-id", 11),
    ("karpenter.k8s.aws/placement-group-partition", 11),
    (NITRO_SANDBOX, 15),
];

/// Older names that Karpenter replaces with the current names in requirements, selectors and affinities, in every release,
/// but neither in the labels of a template nor in a `topologyKey`.
const ALIASES: &[(&str, &str)] = &[
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    // pkg/operator/operator.go of the provider
    ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"),
];

/// The keys of the domain `kubernetes.io` that the CEL rules allow by name until 1.8.
const ALLOWED_OF_KUBERNETES: &[&str] = &[
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "kubernetes.io/arch",
    "kubernetes.io/os",
];

/// The releases that restrict the domains of Kubernetes, until kubernetes-sigs/karpenter#2586.
const KUBERNETES_DOMAINS: Releases = Releases::until(8);

/// The field that has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelField {
    /// `spec.template.metadata.labels` of a NodePool.
    PoolLabel,
    /// `spec.template.spec.requirements` of a NodePool.
    PoolRequirement,
    /// `spec.requirements` of a NodeClaim.
    ClaimRequirement,
    /// `spec.requirements` of a NodeOverlay.
    OverlayRequirement,
}

impl LabelField {
    /// The releases that have the field.
    pub const fn releases(self) -> Releases {
        match self {
            Self::OverlayRequirement => Releases::since(7),
            _ => Releases::ALL,
        }
    }
}

/// The current name of a key, which may be an alias.
pub fn normalised(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// The label that is probably meant by a `topologyKey` that is not well known: the current name of an alias, or the label of the
/// host name or the zone.
pub fn likely_topology(key: &str) -> Option<&'static str> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == key).map(|(_, name)| *name);
    let name = key.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let by_name = if name.contains("host") {
        Some(HOSTNAME)
    } else if name.contains("zone") || name == "az" {
        Some(ZONE)
    } else {
        None
    };
    alias.or(by_name).or_else(|| spelling::nearest(key, [HOSTNAME, ZONE]))
}

/// The releases that support a key; none for custom keys and aliases.
pub fn well_known(key: &str) -> Releases {
    WELL_KNOWN
        .iter()
        .find(|(name, _)| *name == key)
        .map_or(Releases::NONE, |(_, since)| Releases::since(*since))
}

/// The well-known labels of every release.
pub fn all_well_known() -> impl Iterator<Item = &'static str> + Clone {
    WELL_KNOWN.iter().map(|(name, _)| *name)
}

/// Whether a field may have a well-known label in a release.
pub fn is_usable(field: LabelField, key: &str, release: Release) -> bool {
    let refused = refused_at_apply(field, key).or(refused_at_run_time(field, key));
    well_known(key).contains(release) && !refused.contains(release)
}

/// The releases whose API server refuses a key in a field.
pub fn refused_at_apply(field: LabelField, key: &str) -> ReleaseSet {
    // CEL uses `find("^([^/]+)")`, which is the whole key if it has no slash, and compares suffixes without a dot.
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    let mut refused = ReleaseSet::none();
    let exempt = domain.ends_with("node.kubernetes.io") || domain.ends_with("node-restriction.kubernetes.io");
    if domain.ends_with("kubernetes.io") && !exempt && !ALLOWED_OF_KUBERNETES.contains(&key) {
        refused = refused.or(KUBERNETES_DOMAINS);
    }
    if domain.ends_with("k8s.io") && !domain.ends_with("kops.k8s.io") {
        refused = refused.or(KUBERNETES_DOMAINS);
    }
    let in_pool = matches!(field, LabelField::PoolLabel | LabelField::PoolRequirement);
    let allowed = key == CAPACITY_TYPE || (key == NODEPOOL && !in_pool);
    if (domain.ends_with("karpenter.sh") && !allowed) || key == HOSTNAME {
        refused = ReleaseSet::all();
    }
    if domain.ends_with("karpenter.k8s.aws") {
        refused = refused.or(Releases::ALL.without(allowed_of_the_provider(field, key)));
    }
    refused.and(field.releases())
}

/// The releases whose CEL rules allow a key of the domain `karpenter.k8s.aws`.
fn allowed_of_the_provider(field: LabelField, key: &str) -> ReleaseSet {
    // The CRDs of 1.0.9 allow the keys that the controller of 1.1 writes, for the sake of downgrades.
    let ahead =
        if field == LabelField::ClaimRequirement { Releases::patches_from(0, 9) } else { Releases::NONE };
    match key {
        NODE_CLASS | CLOCK_SPEED => Releases::since(1).or(ahead),
        _ if field == LabelField::OverlayRequirement && !is_of_instance_types(key) => ReleaseSet::none(),
        _ => well_known(key).set(),
    }
}

/// Whether a key describes instance types. The list of NodeOverlay is the list of 1.7, without keys that are decided at launch,
/// and with the key of 1.15.
fn is_of_instance_types(key: &str) -> bool {
    (key.starts_with("karpenter.k8s.aws/instance-") && key != TENANCY) || key == NITRO_SANDBOX
}

/// The releases whose controller refuses a key that the API server accepts. A NodePool or NodeOverlay with the key is never
/// Ready. The controller does not validate NodeClaims.
pub fn refused_at_run_time(field: LabelField, key: &str) -> ReleaseSet {
    let refused = match field {
        // The controller replaces aliases in requirements, but not in labels.
        LabelField::PoolLabel => restricted(key),
        LabelField::PoolRequirement | LabelField::OverlayRequirement => restricted(normalised(key)),
        LabelField::ClaimRequirement => ReleaseSet::none(),
    };
    if refused.is_empty() {
        refused
    } else {
        refused.and(field.releases()).without(refused_at_apply(field, key))
    }
}

/// The releases that ignore a pod with a key in its node selector or in a required term of its node affinity. Until 1.4 they
/// also ignore a pod with the key in a preferred term.
pub fn refused_in_pods(key: &str) -> ReleaseSet {
    restricted(normalised(key))
}

/// The releases that restrict a key, as in `IsRestrictedLabel`, which all checks except the CEL rules use.
fn restricted(key: &str) -> ReleaseSet {
    let Some((domain, _)) = key.split_once('/') else { return ReleaseSet::none() };
    // Until 1.8 suffixes are compared without a dot, and exceptions come first. Since 1.9 whole domains are compared.
    let is_exempt = ["kops.k8s.io", "node.kubernetes.io", "node-restriction.kubernetes.io"]
        .iter()
        .any(|exempt| domain.ends_with(exempt));
    let ends = |names: &[&str]| names.iter().any(|name| domain.ends_with(name));
    let mut refused = ReleaseSet::none();
    if !is_exempt && ends(&["kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws"]) {
        refused = KUBERNETES_DOMAINS.set();
    }
    if is_within(domain, "karpenter.sh") || is_within(domain, "karpenter.k8s.aws") || key == HOSTNAME {
        refused = refused.or(Releases::since(9));
    }
    if refused.is_empty() { refused } else { refused.without(well_known(key)) }
}

/// Whether a domain is another domain or a subdomain of it.
pub fn is_within(domain: &str, other: &str) -> bool {
    domain.strip_suffix(other).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The restricted domain that is a suffix of the domain of a key. A key without a slash is its own domain.
pub fn restricted_domain(key: &str) -> Option<&'static str> {
    const DOMAINS: [&str; 4] = ["kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws"];
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    DOMAINS.into_iter().find(|name| domain.ends_with(name))
}

/// Whether Karpenter used a key before 1.0, and renamed or removed it since.
pub fn is_of_old_releases(key: &str) -> bool {
    matches!(key, PROVISIONER_NAME | INSTANCE_PODS)
}

/// The well-known key that is probably meant by an unknown key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LikelyLabel {
    /// The well-known key.
    pub key: &'static str,
    /// The kind of likeness.
    pub likeness: Likeness,
}

/// Likeness of an unknown key to a well-known key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// No other key can be meant, and the values are the same.
    Certain,
    /// The key has the same meaning, but other values.
    OtherValues,
    /// The keys are similar.
    Likely,
}

impl LikelyLabel {
    /// Whether no other key can be meant, and the values are the same.
    pub fn is_certain(self) -> bool {
        self.likeness == Likeness::Certain
    }

    /// The help: what to write instead.
    pub fn help(self) -> String {
        match self.likeness {
            Likeness::Certain => format!("write `{}`", self.key),
            Likeness::OtherValues => format!("write `{}`, with its own values", self.key),
            Likeness::Likely => format!("did you mean `{}`?", self.key),
        }
    }
}

/// Other names for well-known keys.
const OTHER_WORDS: &[(&str, &str, Likeness)] = &[
    ("kubernetes.io/architecture", "kubernetes.io/arch", Likeness::Certain),
    ("karpenter.k8s.aws/instance-vcpu", "karpenter.k8s.aws/instance-cpu", Likeness::Certain),
    ("karpenter.k8s.aws/instance-vcpus", "karpenter.k8s.aws/instance-cpu", Likeness::Certain),
    ("eks.amazonaws.com/capacityType", CAPACITY_TYPE, Likeness::OtherValues),
    ("node.kubernetes.io/lifecycle", CAPACITY_TYPE, Likeness::OtherValues),
    ("karpenter.sh/lifecycle", CAPACITY_TYPE, Likeness::OtherValues),
    ("k8s.amazonaws.com/accelerator", "karpenter.k8s.aws/instance-gpu-name", Likeness::OtherValues),
    (PROVISIONER_NAME, NODEPOOL, Likeness::OtherValues),
];

/// The well-known key that is probably meant by an unknown key, which has the name in another domain or misspells it.
pub fn likely_label(key: &str) -> Option<LikelyLabel> {
    if let Some((_, key, likeness)) = OTHER_WORDS.iter().find(|(other, ..)| *other == key) {
        return Some(LikelyLabel { key, likeness: *likeness });
    }
    let name = last_part(key);
    if let Some(same) = all_well_known().find(|known| last_part(known) == name) {
        return Some(LikelyLabel { key: same, likeness: Likeness::Certain });
    }
    // A short name is similar to too many, but not together with its domain.
    if name.len() < 5 {
        let mut slips = all_well_known().filter(|known| spelling::is_near(key, known, 1));
        let only = slips.next().filter(|_| slips.next().is_none());
        return only.map(|key| LikelyLabel { key, likeness: Likeness::Likely });
    }
    // The first half of a name may be the start of several (`instance-gpu`).
    let mut longer: Vec<&str> =
        all_well_known().map(last_part).filter(|known| known.starts_with(name)).collect();
    longer.dedup();
    if longer.len() > 1 {
        return None;
    }
    let near = spelling::nearest(name, all_well_known().map(last_part))?;
    let others = all_well_known().map(last_part).filter(|known| *known != near);
    let alone = spelling::nearest(name, others).is_none();
    let slip = spelling::is_near(name, near, if name.len() < 8 { 1 } else { 2 });
    let key = all_well_known().find(|known| last_part(known) == near)?;
    Some(LikelyLabel { key, likeness: if alone && slip { Likeness::Certain } else { Likeness::Likely } })
}

/// The text after the last slash.
fn last_part(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_label_that_a_topology_key_means() {
        for (key, expected) in [
            ("failure-domain.beta.kubernetes.io/zone", Some(ZONE)),
            ("failure-domain.beta.kubernetes.io/region", Some("topology.kubernetes.io/region")),
            ("topology.kubernetes.io/hostname", Some(HOSTNAME)),
            ("kubernetes.io/hostnmae", Some(HOSTNAME)),
            ("topology.kubernetes.io/zones", Some(ZONE)),
            ("zone", Some(ZONE)),
            ("example.com/rack", None),
        ] {
            assert_eq!(likely_topology(key), expected, "{key}");
        }
    }

    fn at_apply(field: LabelField, key: &str) -> String {
        refused_at_apply(field, key).to_string()
    }

    #[test]
    fn restricts_kubernetes_domains_by_suffix_until_1_8() {
        for field in [LabelField::PoolLabel, LabelField::PoolRequirement, LabelField::ClaimRequirement] {
            for key in [
                "node-role.kubernetes.io/spot",
                "mykubernetes.io/x",
                "kubernetes.io",
                "x-k8s.io/a",
                "node.k8s.io/a",
            ] {
                assert_eq!(at_apply(field, key), "until 1.8", "{key}");
            }
            for key in [
                "node.kubernetes.io/lifecycle",
                "foonode.kubernetes.io/x",
                "a.kops.k8s.io/x",
                "kubernetes.io/os",
                "example.com/kubernetes.io",
            ] {
                assert_eq!(at_apply(field, key), "", "{key}");
            }
        }
        assert_eq!(at_apply(LabelField::OverlayRequirement, "node-role.kubernetes.io/spot"), "1.7 to 1.8");
    }

    #[test]
    fn restricts_karpenter_domains_in_every_release() {
        for key in [
            "karpenter.sh/registered",
            "notkarpenter.sh/x",
            "karpenter.sh",
            HOSTNAME,
            "karpenter.k8s.aws/instance-pods",
            "foo.karpenter.k8s.aws/x",
        ] {
            assert_eq!(at_apply(LabelField::PoolRequirement, key), "all", "{key}");
        }
        assert_eq!(at_apply(LabelField::PoolLabel, NODEPOOL), "all");
        assert_eq!(at_apply(LabelField::ClaimRequirement, NODEPOOL), "");
        assert_eq!(at_apply(LabelField::PoolLabel, CAPACITY_TYPE), "");
        assert_eq!(at_apply(LabelField::PoolLabel, "karpenter.sh.example.com/x"), "");
    }

    #[test]
    fn restricts_keys_until_the_release_that_supports_them() {
        let pool = |name: &str| at_apply(LabelField::PoolRequirement, &format!("karpenter.k8s.aws/{name}"));
        assert_eq!(pool("instance-cpu"), "");
        assert_eq!(pool("ec2nodeclass"), "1.0");
        assert_eq!(pool("capacity-reservation-id"), "until 1.2");
        assert_eq!(pool("instance-tenancy"), "until 1.8");
        assert_eq!(pool("placement-group-partition"), "until 1.10");
        assert_eq!(at_apply(LabelField::ClaimRequirement, NODE_CLASS), "until 1.0.8");
        assert_eq!(at_apply(LabelField::ClaimRequirement, CLOCK_SPEED), "until 1.0.8");
        assert_eq!(at_apply(LabelField::OverlayRequirement, TENANCY), "since 1.7");
        assert_eq!(at_apply(LabelField::OverlayRequirement, NODE_CLASS), "");
    }

    #[test]
    fn restricts_some_keys_only_at_run_time() {
        let at_run_time = |field, key| refused_at_run_time(field, key).to_string();
        assert_eq!(at_run_time(LabelField::PoolRequirement, NODE_CLASS), "since 1.1");
        assert_eq!(at_run_time(LabelField::PoolLabel, NODE_CLASS), "since 1.1");
        assert_eq!(at_run_time(LabelField::OverlayRequirement, NODE_CLASS), "since 1.7");
        assert_eq!(at_run_time(LabelField::PoolLabel, "beta.kubernetes.io/arch"), "until 1.8");
        assert_eq!(at_run_time(LabelField::PoolRequirement, "beta.kubernetes.io/arch"), "");
        assert_eq!(at_run_time(LabelField::PoolLabel, "kubernetes.io"), "");
        assert_eq!(at_run_time(LabelField::ClaimRequirement, NODE_CLASS), "");
    }

    #[test]
    fn compares_whole_domains_in_pods_since_1_9() {
        let in_pods = |key| refused_in_pods(key).to_string();
        assert_eq!(in_pods("notkarpenter.sh/x"), "until 1.8");
        assert_eq!(in_pods("a.karpenter.sh/x"), "all");
        assert_eq!(in_pods("node-role.kubernetes.io/worker"), "until 1.8");
        assert_eq!(in_pods("kubernetes.io"), "");
        assert_eq!(in_pods(HOSTNAME), "all");
        assert_eq!(in_pods(TENANCY), "until 1.8");
        for key in [
            "failure-domain.beta.kubernetes.io/zone",
            "topology.ebs.csi.aws.com/zone",
            NODEPOOL,
            "node.kubernetes.io/x",
            "example.com/x",
        ] {
            assert_eq!(in_pods(key), "", "{key}");
        }
    }

    #[test]
    fn recognises_well_known_names_in_other_domains_and_misspelt() {
        let meant = |key| likely_label(key).map(|meant| (meant.key, meant.is_certain()));
        assert_eq!(meant("karpenter.sh/instance-family"), Some(("karpenter.k8s.aws/instance-family", true)));
        assert_eq!(
            meant("karpenter.k8s.aws/instance-types"),
            Some(("node.kubernetes.io/instance-type", true))
        );
        assert_eq!(
            meant("karpenter.k8s.aws/instance-catgory"),
            Some(("karpenter.k8s.aws/instance-category", true))
        );
        assert_eq!(meant("topology.kubernetes.io/zones"), Some(("topology.kubernetes.io/zone", true)));
        assert_eq!(meant("eks.amazonaws.com/capacityType"), Some((CAPACITY_TYPE, false)));
        // Two slips in a name of eight letters leave no doubt, but two in a shorter name do.
        assert_eq!(meant("karpenter.sh/nodepole"), Some((NODEPOOL, true)));
        assert_eq!(meant("karpenter.sh/nodepl"), Some((NODEPOOL, false)));
        assert_eq!(meant("karpenter.k8s.aws/instance-gpu"), None);
        assert_eq!(meant("karpenter.k8s.aws/instance"), None);
        assert_eq!(meant("node-role.kubernetes.io/node"), None);
    }

    #[test]
    fn recognises_one_slip_anywhere_in_a_key() {
        let meant = |key| likely_label(key).map(|meant| meant.key);
        for (key, expected) in [
            ("karpenter.sh/capacity-typ", CAPACITY_TYPE),
            ("karpenter.sh/apacity-type", CAPACITY_TYPE),
            ("karpenter.sh/capacity-tpye", CAPACITY_TYPE),
            ("karpnter.sh/capacity-type", CAPACITY_TYPE),
            ("topology.kubernetes.io/zon", "topology.kubernetes.io/zone"),
            ("topology.kubernetes.io/zoen", "topology.kubernetes.io/zone"),
            ("kubernetes.io/arhc", "kubernetes.io/arch"),
            ("kubernetes.io/oss", "kubernetes.io/os"),
        ] {
            assert_eq!(meant(key), Some(expected), "{key}");
        }
    }

    #[test]
    fn overlay_requires_labels_of_instance_types() {
        let field = LabelField::OverlayRequirement;
        let always = field.releases().to_string();
        for key in ["karpenter.k8s.aws/instance-family", NITRO_SANDBOX] {
            assert_ne!(at_apply(field, key), always, "{key}");
        }
        for key in [TENANCY, "karpenter.k8s.aws/capacity-reservation-id"] {
            assert_eq!(at_apply(field, key), always, "{key}");
        }
    }
}
