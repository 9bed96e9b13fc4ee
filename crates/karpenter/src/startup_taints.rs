//! Taints that a component removes from a node once the node is ready.
//!
//! Karpenter removes only its own taints. It waits until the startup taints of a node are gone before the node counts as
//! initialized (kubernetes-sigs/karpenter `pkg/controllers/nodeclaim/lifecycle/initialization.go`,
//! 1.0-1.14).

/// Match of the key of a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// The whole key.
    Key(&'static str),
    /// The start of the key.
    Prefix(&'static str),
}

/// Taints that a component is known to remove, and the component.
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

/// The component that removes a taint, if it is known.
pub fn remover(key: &str) -> Option<&'static str> {
    let is = |known: Match| match known {
        Match::Key(whole) => key == whole,
        Match::Prefix(prefix) => key.starts_with(prefix),
    };
    REMOVED.iter().find(|(known, _)| is(*known)).map(|(_, remover)| *remover)
}

/// Whether the key follows the naming convention of agents that taint a node until they run on it, such as
/// `example.com/agent-not-ready`.
pub fn is_named_not_ready(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    name == "not-ready" || name.ends_with("-not-ready")
}

/// Words in a key that suggest a temporary taint.
const TEMPORARY: [&str; 10] = [
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

/// Whether the key suggests a temporary taint.
pub fn sounds_temporary(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    TEMPORARY.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_component_that_removes_a_taint() {
        assert_eq!(remover("node.cilium.io/agent-not-ready"), Some("the Cilium agent"));
        assert_eq!(remover("nidhogg.uswitch.com/kube-system.kiam"), Some("Nidhogg"));
        assert_eq!(remover("node.cilium.io/agent-not-ready-2"), None);
        assert_eq!(remover("app"), None);
    }

    #[test]
    fn recognises_temporary_taints_by_name() {
        assert!(is_named_not_ready("zalando.org/node-not-ready"));
        assert!(is_named_not_ready("not-ready"));
        assert!(!is_named_not_ready("team/notready"));
        assert!(sounds_temporary("node.spack.io/certificate-pending"));
        assert!(!sounds_temporary("example.com/another-taint"));
    }
}
