//! EKS Auto Mode, in which AWS runs its own Karpenter: the names and limits that differ from the provider for AWS.
//!
//! The releases of Karpenter do not matter here. Source: awsdocs/amazon-eks-user-guide, `latest/ug/automode`.

use crate::kind::Kind;

/// Longest life of a node: 21 days. The API refuses a NodePool whose `expireAfter` and `terminationGracePeriod` are longer
/// together. Sources: `automode.adoc`; aws-controllers-k8s/test-infra#1000, which has the text of the refusal.
pub const MAX_LIFETIME_HOURS: i64 = 504;

/// Default of `terminationGracePeriod`. Sources: `create-node-pool.adoc`, aws-controllers-k8s/test-infra#1000.
pub const DEFAULT_GRACE_HOURS: i64 = 24;

const DOMAIN: &str = "eks.amazonaws.com/";
const OF_INSTANCE_TYPES: &str = "karpenter.k8s.aws/instance-";

/// Names of the labels of instance types, after `eks.amazonaws.com/instance-`. Source: `create-node-pool.adoc`.
const INSTANCE_LABELS: [&str; 16] = [
    "category",
    "cpu",
    "cpu-manufacturer",
    "ebs-bandwidth",
    "encryption-in-transit-supported",
    "family",
    "generation",
    "gpu-count",
    "gpu-manufacturer",
    "gpu-memory",
    "gpu-name",
    "hypervisor",
    "local-nvme",
    "memory",
    "network-bandwidth",
    "size",
];

/// A field of EC2NodeClasses that the `NodeClass` of EKS Auto Mode does not have, and what does its work there.
#[derive(Clone, Copy, Debug)]
pub struct ForeignField {
    /// The field below `spec`.
    pub name: &'static str,
    /// The remedy.
    pub instead: &'static str,
}

/// Sources: `create-node-class.adoc` for the fields, `automode-learn-instances.adoc` for the image, the metadata service, the
/// kubelet and the local disks, and `auto-controls.adoc` for the public address.
const FOREIGN_FIELDS: [ForeignField; 8] = [
    field("amiFamily", "remove it: AWS chooses the AMI"),
    field("amiSelectorTerms", "remove it: AWS chooses the AMI"),
    field("associatePublicIPAddress", "write `advancedNetworking.associatePublicIPAddress`"),
    field("blockDeviceMappings", "write `ephemeralStorage`, which has `size`, `iops` and `throughput`"),
    field("instanceStorePolicy", "remove it: local disks are formatted without it"),
    field("kubelet", "remove it: AWS configures the kubelet"),
    field("metadataOptions", "remove it: IMDSv2 with a hop limit of 1 cannot be changed"),
    field("userData", "remove it: AWS configures the node; a DaemonSet can run what the nodes need"),
];

const fn field(name: &'static str, instead: &'static str) -> ForeignField {
    ForeignField { name, instead }
}

/// Returns the facts about a field below `spec` that only EC2NodeClasses have.
pub fn foreign_field(name: &str) -> Option<ForeignField> {
    FOREIGN_FIELDS.into_iter().find(|field| field.name == name)
}

/// Whether a key is a label of instance types of Karpenter's provider for AWS, which EKS Auto Mode names otherwise.
pub fn is_foreign_label(key: &str) -> bool {
    key.starts_with(OF_INSTANCE_TYPES)
}

/// Returns the documented label of EKS Auto Mode with the meaning of a label of Karpenter's provider for AWS.
pub fn own_label(key: &str) -> Option<String> {
    let name = key.strip_prefix(OF_INSTANCE_TYPES)?;
    INSTANCE_LABELS.contains(&name).then(|| format!("{DOMAIN}instance-{name}"))
}

/// Whether a reference to a node class names EKS Auto Mode's kind.
pub fn is_reference(group: &str, kind: &str) -> bool {
    group == Kind::AUTO_NODE_CLASS.group && kind == Kind::AUTO_NODE_CLASS.name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::well_known;

    #[test]
    fn each_label_has_a_counterpart_of_the_provider() {
        for name in INSTANCE_LABELS {
            let key = format!("karpenter.k8s.aws/instance-{name}");
            assert!(!well_known(&key).is_empty(), "{key}");
            assert_eq!(own_label(&key), Some(format!("eks.amazonaws.com/instance-{name}")));
        }
        assert_eq!(own_label("karpenter.k8s.aws/instance-accelerator-name"), None);
        assert!(is_foreign_label("karpenter.k8s.aws/instance-accelerator-name"));
        assert!(!is_foreign_label("karpenter.sh/capacity-type"));
    }
}
