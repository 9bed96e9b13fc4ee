//! Storage provisioners: the nodes that their volumes can be used from.

/// The nodes that a volume can be used from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From the nodes of one availability zone.
    Zone,
    /// From one node.
    Node,
    /// From every node of the cluster's network.
    Network,
    /// Unknown: another provisioner, or a provisioner of another cloud, whose class is for a cluster elsewhere.
    Unknown,
}

/// Provisioners of volumes that belong to one availability zone of AWS: the EBS CSI driver, the same driver in EKS Auto
/// Mode, and the in-tree plug-in. Source: the topology of the drivers, in docs/parameters.md of
/// kubernetes-sigs/aws-ebs-csi-driver and in the EKS user guide on Auto Mode storage classes.
const ZONAL: [&str; 3] = ["ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs"];

/// Provisioners of volumes that belong to one node. `kubernetes.io/no-provisioner` is not among them, because a class
/// without a provisioner is also written for volumes that are reached over the network.
const LOCAL: [&str; 7] = [
    "rancher.io/local-path",
    "openebs.io/local",
    "local.csi.openebs.io",
    "zfs.csi.openebs.io",
    "topolvm.io",
    "topolvm.cybozu.com",
    "local.csi.metal-stack.io",
];

/// Provisioners of volumes that are reached over the network. An entry that starts with `.` is a suffix.
const NETWORK: [&str; 14] = [
    "efs.csi.aws.com",
    "fsx.csi.aws.com",
    "fsx.openzfs.csi.aws.com",
    "s3.csi.aws.com",
    "file.csi.aws.com",
    "nfs.csi.k8s.io",
    "smb.csi.k8s.io",
    "driver.longhorn.io",
    "csi.trident.netapp.io",
    "csi.juicefs.com",
    "file.csi.azure.com",
    "blob.csi.azure.com",
    "filestore.csi.storage.gke.io",
    ".csi.ceph.com",
];

/// Returns the nodes that the volumes of a provisioner can be used from.
pub fn reach(provisioner: &str) -> Reach {
    let network =
        |known: &str| known == provisioner || (known.starts_with('.') && provisioner.ends_with(known));
    if ZONAL.contains(&provisioner) {
        Reach::Zone
    } else if LOCAL.contains(&provisioner) {
        Reach::Node
    } else if NETWORK.iter().any(|known| network(known)) || provisioner.contains("nfs") {
        Reach::Network
    } else {
        Reach::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_provisioners_by_name_and_suffix() {
        for (provisioner, expected) in [
            ("ebs.csi.aws.com", Reach::Zone),
            ("kubernetes.io/aws-ebs", Reach::Zone),
            ("ebs.csi.eks.amazonaws.com", Reach::Zone),
            ("rancher.io/local-path", Reach::Node),
            ("kubernetes.io/no-provisioner", Reach::Unknown),
            ("pd.csi.storage.gke.io", Reach::Unknown),
            ("disk.csi.azure.com", Reach::Unknown),
            ("efs.csi.aws.com", Reach::Network),
            ("rook-ceph.rbd.csi.ceph.com", Reach::Network),
            ("k8s-sigs.io/nfs-subdir-external-provisioner", Reach::Network),
            ("storage.example.net/block", Reach::Unknown),
        ] {
            assert_eq!(reach(provisioner), expected, "{provisioner}");
        }
    }
}
