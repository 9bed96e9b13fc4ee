//! Plural and scope of kinds, as the API server has them.

/// Cluster-scoped kinds. All other kinds are assumed to be namespaced.
///
/// Karpenter's are all cluster-scoped: kubernetes-sigs/karpenter `pkg/apis/crds`, aws/karpenter-provider-aws
/// `pkg/apis/crds` (and the kinds before 1.0, which manifests still contain).
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("karpenter.k8s.aws", "AWSNodeTemplate"),
    ("karpenter.k8s.aws", "EC2NodeClass"),
    ("karpenter.sh", "Machine"),
    ("karpenter.sh", "NodeClaim"),
    ("karpenter.sh", "NodeOverlay"),
    ("karpenter.sh", "NodePool"),
    ("karpenter.sh", "Provisioner"),
    ("networking.k8s.io", "IngressClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("policies.kubewarden.io", "ClusterAdmissionPolicy"),
    ("policies.kubewarden.io", "ClusterAdmissionPolicyGroup"),
    ("policies.kubewarden.io", "PolicyServer"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("snapshot.storage.k8s.io", "VolumeSnapshotClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
];

/// Built-in groups whose name does not end in `.k8s.io`.
const BUILT_IN_GROUPS: &[&str] = &["", "apps", "autoscaling", "batch", "policy"];

/// Whether objects of this kind have a namespace.
pub fn is_namespaced(group: &str, kind: &str) -> bool {
    !CLUSTER_SCOPED.contains(&(group, kind))
}

/// Whether the group is built into the API server, rather than defined by a CRD.
pub fn is_built_in(group: &str) -> bool {
    BUILT_IN_GROUPS.contains(&group) || group.ends_with(".k8s.io")
}

/// The plural of a kind, which names the resource in the API: `nodepools`, `ec2nodeclasses`, `networkpolicies`.
///
/// The rule of kubernetes/apimachinery `pkg/api/meta/restmapper.go` `UnsafeGuessKindToResource`, except that a `y`
/// after a vowel stays: the CRD in kubernetes-sigs/karpenter `pkg/apis/crds/karpenter.sh_nodeoverlays.yaml` has
/// `nodeoverlays`.
pub fn plural(kind: &str) -> String {
    let singular = kind.to_ascii_lowercase();
    if singular == "endpoints" {
        return singular;
    }
    if singular.ends_with('s') {
        return format!("{singular}es");
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{singular}s"),
    }
}

/// Splits `karpenter.sh/v1` into group and version; the core group is empty.
pub fn group_and_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_match_the_crds() {
        for (kind, expected) in [
            ("NodePool", "nodepools"),
            ("NodeOverlay", "nodeoverlays"),
            ("EC2NodeClass", "ec2nodeclasses"),
            ("StorageClass", "storageclasses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
            ("Pod", "pods"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn karpenters_kinds_are_cluster_scoped_and_pods_namespaced() {
        assert!(!is_namespaced("karpenter.sh", "NodePool"));
        assert!(!is_namespaced("karpenter.k8s.aws", "EC2NodeClass"));
        assert!(is_namespaced("", "Pod"));
        assert!(is_built_in("storage.k8s.io") && !is_built_in("karpenter.k8s.aws"));
    }
}
