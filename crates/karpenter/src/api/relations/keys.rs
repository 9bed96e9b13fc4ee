//! The keys of requirements and labels that are reserved for Karpenter and Kubernetes.
//!
//! Sources: hack/validation/requirements.sh and labels.sh of both repositories; the domains are compared as plain suffixes,
//! so that `notkarpenter.sh/x` counts as `karpenter.sh`, and a key without a slash is its own domain.

use super::super::stored::members;
use super::relation::{Relation, Violations, always};
use crate::release::{ReleaseSet, Releases};
use manifest::tree::Node;
use values::spelling::nearest;

/// The key of a NodePool's requirement.
pub(in super::super) const OF_NODE_POOL_REQUIREMENT: &[Relation] = &[always(|checked, violations| {
    check_key(checked.node, checked.node.as_str(), false, KeyPolicy::NODE_POOL, violations);
})];

/// The key of a NodeClaim's requirement.
pub(in super::super) const OF_NODE_CLAIM_REQUIREMENT: &[Relation] = &[always(|checked, violations| {
    check_key(checked.node, checked.node.as_str(), false, KeyPolicy::NODE_CLAIM, violations);
})];

/// The key of a NodeOverlay's requirement.
pub(in super::super) const OF_NODE_OVERLAY_REQUIREMENT: &[Relation] = &[always(|checked, violations| {
    check_key(checked.node, checked.node.as_str(), false, KeyPolicy::NODE_OVERLAY, violations);
})];

/// The labels that a NodePool gives its nodes.
pub(in super::super) const OF_NODE_POOL_LABELS: &[Relation] = &[always(|checked, violations| {
    for (key, label) in members(checked.node) {
        check_key(label, Some(key), true, KeyPolicy::NODE_POOL, violations);
    }
})];

/// The keys below `karpenter.k8s.aws/` that a NodePool's requirements and labels may have, and the releases that know them.
pub const AWS_KEYS: &[(&str, Releases)] = &[
    ("capacity-reservation-id", Releases::since(3)),
    ("capacity-reservation-interruptible", Releases::since(10)),
    ("capacity-reservation-type", Releases::since(6)),
    ("ec2nodeclass", Releases::since(1)),
    ("instance-accelerator-count", Releases::ALL),
    ("instance-accelerator-manufacturer", Releases::ALL),
    ("instance-accelerator-name", Releases::ALL),
    ("instance-capability-flex", Releases::since(7)),
    ("instance-category", Releases::ALL),
    ("instance-cpu", Releases::ALL),
    ("instance-cpu-manufacturer", Releases::ALL),
    ("instance-cpu-sustained-clock-speed-mhz", Releases::since(1)),
    ("instance-ebs-bandwidth", Releases::ALL),
    ("instance-encryption-in-transit-supported", Releases::ALL),
    ("instance-family", Releases::ALL),
    ("instance-generation", Releases::ALL),
    ("instance-gpu-count", Releases::ALL),
    ("instance-gpu-manufacturer", Releases::ALL),
    ("instance-gpu-memory", Releases::ALL),
    ("instance-gpu-name", Releases::ALL),
    ("instance-hypervisor", Releases::ALL),
    ("instance-local-nvme", Releases::ALL),
    ("instance-memory", Releases::ALL),
    ("instance-network-bandwidth", Releases::ALL),
    ("instance-size", Releases::ALL),
    ("instance-tenancy", Releases::since(9)),
    // aws/karpenter-provider-aws#9410, on the main branch before 1.15.
    ("nitro-sandbox", Releases::since(15)),
    ("placement-group-id", Releases::since(11)),
    ("placement-group-partition", Releases::since(11)),
];

/// The allowed keys below `kubernetes.io` until 1.8, which restrict the domain. The list for labels does not have
/// `node.kubernetes.io/instance-type`, but allows `node.kubernetes.io` as a whole.
const KUBERNETES_KEYS: [&str; 11] = [
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/windows-build",
];

/// The differences between the kinds.
#[derive(Clone, Copy)]
struct KeyPolicy {
    /// Whether the NodePool itself sets `karpenter.sh/nodepool`.
    sets_nodepool: bool,
    /// The releases before 1.1 that already allow the two keys of 1.1.
    early: Releases,
    /// Whether the list of keys is still the list of 1.7, without reservations.
    frozen: bool,
}

impl KeyPolicy {
    const NODE_POOL: Self = Self { sets_nodepool: true, early: Releases::NONE, frozen: false };
    // v1.0.9 allows the keys in NodeClaims that 1.1 allows in NodePools.
    const NODE_CLAIM: Self =
        Self { sets_nodepool: false, early: Releases::patches_from(0, 9), frozen: false };
    const NODE_OVERLAY: Self = Self { sets_nodepool: false, early: Releases::NONE, frozen: true };

    /// The releases that allow a key below `karpenter.k8s.aws/`.
    fn allow(self, name: &str) -> ReleaseSet {
        let Some((_, releases)) = AWS_KEYS.iter().find(|(known, _)| *known == name) else {
            return ReleaseSet::none();
        };
        let late = ["capacity-reservation-", "placement-group-", "instance-tenancy"];
        if self.frozen && late.iter().any(|prefix| name.starts_with(prefix)) {
            return ReleaseSet::none();
        }
        let of_1_1 = matches!(name, "ec2nodeclass" | "instance-cpu-sustained-clock-speed-mhz");
        if of_1_1 { releases.or(self.early) } else { releases.set() }
    }
}

/// The domain of a key: the text before its first slash.
fn domain(key: &str) -> &str {
    key.split_once('/').map_or(key, |(domain, _)| domain)
}

fn check_key<'d>(
    at: Node<'d>,
    key: Option<&str>,
    label: bool,
    policy: KeyPolicy,
    violations: &mut Violations<'d>,
) {
    let Some(key) = key else { return };
    let what = if label { "label" } else { "requirement" };
    let mut refuse = |releases: ReleaseSet, restricted: String, why: String, help: String| {
        if releases.is_empty() {
            return;
        }
        let message = format!("a {what} cannot have the key `{key}`: {why}");
        if label {
            violations.add_key(at, message, help);
        } else {
            violations.add(at, message, help);
        }
        violations.says(format!("label {restricted} is restricted"));
        violations.only_in(releases);
    };
    let of_domain = |domain: &str| format!("domain \"{domain}\"");
    let own = || {
        let name = key.rsplit('/').next().unwrap_or(key);
        format!("write a key in your own domain, such as `example.com/{name}`")
    };
    let domain = domain(key);
    if key == "kubernetes.io/hostname" {
        let help =
            format!("remove the {what}; every node has a different name, which Karpenter cannot choose");
        refuse(
            ReleaseSet::all(),
            format!("\"{key}\""),
            "the name of a node is not known before the node is created".to_owned(),
            help,
        );
    } else if domain.ends_with("kubernetes.io") {
        let free =
            domain.ends_with("node.kubernetes.io") || domain.ends_with("node-restriction.kubernetes.io");
        if !free && !KUBERNETES_KEYS.contains(&key) {
            refuse(
                Releases::until(8).set(),
                of_domain("kubernetes.io"),
                "until 1.8 the domain `kubernetes.io` is reserved for Kubernetes".to_owned(),
                own(),
            );
        }
    } else if domain.ends_with("k8s.io") {
        if !domain.ends_with("kops.k8s.io") {
            refuse(
                Releases::until(8).set(),
                of_domain("k8s.io"),
                "until 1.8 the domain `k8s.io` is reserved for Kubernetes".to_owned(),
                own(),
            );
        }
    } else if domain.ends_with("karpenter.sh") {
        if key == "karpenter.sh/nodepool" {
            if policy.sets_nodepool {
                let help = format!("remove the {what}; every node of a NodePool has it");
                let why = "Karpenter sets it to the name of the NodePool".to_owned();
                refuse(ReleaseSet::all(), format!("\"{key}\""), why, help);
            }
        } else if key != "karpenter.sh/capacity-type" {
            let near = nearest(key, ["karpenter.sh/capacity-type"]).map(|near| format!("write `{near}`"));
            refuse(
                ReleaseSet::all(),
                of_domain("karpenter.sh"),
                "the domain `karpenter.sh` is reserved for Karpenter".to_owned(),
                near.unwrap_or_else(own),
            );
        }
    } else if domain.ends_with("karpenter.k8s.aws") {
        let name = key.strip_prefix("karpenter.k8s.aws/").unwrap_or_default();
        let known = policy.allow(name);
        if known.is_empty() {
            let near = nearest(name, AWS_KEYS.iter().map(|(name, _)| *name));
            let help = near.map_or_else(own, |near| format!("write `karpenter.k8s.aws/{near}`"));
            refuse(
                ReleaseSet::all(),
                of_domain("karpenter.k8s.aws"),
                "the domain `karpenter.k8s.aws` is reserved for Karpenter, which does not have this key"
                    .to_owned(),
                help,
            );
        } else {
            let refused = Releases::ALL.without(&known);
            if refused.is_empty() {
                return;
            }
            refuse(
                refused,
                of_domain("karpenter.k8s.aws"),
                format!("Karpenter supports it only {}", known.when()),
                format!("remove the {what}, or use a release that supports it"),
            );
        }
    }
}
