//! Taints that something takes off a node once it is ready, and what that something is.
//!
//! Karpenter itself takes off its own taints only. It waits for the startup taints of a node to go, and until then does
//! not count it as initialized (kubernetes-sigs/karpenter `pkg/controllers/nodeclaim/lifecycle/initialization.go`,
//! 1.0-1.14).

/// How the key of a taint is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// The whole key.
    Key(&'static str),
    /// What the key begins with.
    Prefix(&'static str),
}

/// The taints that are known to be taken off, and by what.
///
/// Sources: docs.cilium.io "Taints" (installation/taints); the installation notes of aws-ebs-csi-driver,
/// aws-efs-csi-driver, aws-fsx-csi-driver and mountpoint-s3-csi-driver on their startup taint; kubernetes.io "Cloud
/// Controller Manager Administration"; istio.io on `PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS`; the README of
/// kubernetes-sigs/node-readiness-controller and of uswitch/nidhogg; kubernetes.io "Taints and Tolerations" on what the
/// node controller sets and removes.
const REMOVED: [(Match, &str); 11] = [
    (Match::Key("node.cilium.io/agent-not-ready"), "the Cilium agent"),
    (Match::Key("ebs.csi.aws.com/agent-not-ready"), "the EBS CSI driver"),
    (Match::Key("efs.csi.aws.com/agent-not-ready"), "the EFS CSI driver"),
    (Match::Key("fsx.csi.aws.com/agent-not-ready"), "the FSx CSI driver"),
    (Match::Key("s3.csi.aws.com/agent-not-ready"), "the Mountpoint for S3 CSI driver"),
    (Match::Key("node.cloudprovider.kubernetes.io/uninitialized"), "the cloud controller manager"),
    (Match::Key("cni.istio.io/not-ready"), "Istio's node untaint controller"),
    (Match::Prefix("readiness.k8s.io/"), "the Node Readiness Controller"),
    (Match::Prefix("nidhogg.uswitch.com/"), "Nidhogg"),
    (Match::Key("node.kubernetes.io/not-ready"), "the node controller"),
    (Match::Key("node.kubernetes.io/network-unavailable"), "the network plugin"),
];

/// What takes the taint off, where it is known.
pub fn remover(key: &str) -> Option<&'static str> {
    let is = |known: Match| match known {
        Match::Key(whole) => key == whole,
        Match::Prefix(prefix) => key.starts_with(prefix),
    };
    REMOVED.iter().find(|(known, _)| is(*known)).map(|(_, remover)| *remover)
}

/// Whether the key follows the custom of agents that taint a node until they run on it:
/// `example.com/agent-not-ready`.
pub fn is_named_not_ready(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or_default();
    name == "not-ready" || name.ends_with("-not-ready")
}

/// Words in a key that tell that its author means the taint to be taken off again.
const PASSING: [&str; 10] = [
    "notready",
    "not-ready",
    "unready",
    "pending",
    "initializ",
    "initialis",
    "uninit",
    "startup",
    "bootstrap",
    "provisioning",
];

/// Whether the key itself says that the taint is to be taken off again.
pub fn sounds_passing(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    PASSING.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_taints_name_what_takes_them_off() {
        assert_eq!(remover("node.cilium.io/agent-not-ready"), Some("the Cilium agent"));
        assert_eq!(remover("nidhogg.uswitch.com/kube-system.kiam"), Some("Nidhogg"));
        assert_eq!(remover("node.cilium.io/agent-not-ready-2"), None);
        assert_eq!(remover("app"), None);
    }

    #[test]
    fn a_name_tells_what_its_author_meant() {
        assert!(is_named_not_ready("zalando.org/node-not-ready"));
        assert!(is_named_not_ready("not-ready"));
        assert!(!is_named_not_ready("team/notready"));
        assert!(sounds_passing("node.spack.io/certificate-pending"));
        assert!(!sounds_passing("example.com/another-taint"));
    }
}
