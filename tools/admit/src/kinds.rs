//! What the API server knows of a kind: its plural and whether it lives in a namespace.

/// Kinds without a namespace. Every other kind is taken to have one.
///
/// Karpenter's are all cluster-scoped: kubernetes-sigs/karpenter `pkg/apis/crds`, aws/karpenter-provider-aws
/// `pkg/apis/crds` (and the kinds before 1.0, which upgrades still meet).
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

/// Groups whose name does not end in `.k8s.io` and that the API server itself serves.
const BUILT_IN_GROUPS: &[&str] = &["", "apps", "autoscaling", "batch", "policy"];

/// Whether objects of this kind live in a namespace.
pub fn is_namespaced(group: &str, kind: &str) -> bool {
    !CLUSTER_SCOPED.contains(&(group, kind))
}

/// Whether the API server serves the group itself, without a custom resource definition.
pub fn is_built_in(group: &str) -> bool {
    BUILT_IN_GROUPS.contains(&group) || group.ends_with(".k8s.io")
}

/// The plural by which the API server calls the resource: `nodepools`, `ec2nodeclasses`, `networkpolicies`.
///
/// The guess of kubernetes/apimachinery `pkg/api/meta/restmapper.go` `UnsafeGuessKindToResource`, except that a vowel
/// keeps its `y`: the definition in kubernetes-sigs/karpenter `pkg/apis/crds/karpenter.sh_nodeoverlays.yaml` says
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

/// Splits `karpenter.sh/v1` into group and version; the core group is the empty one.
pub fn group_and_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_the_definitions() {
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
    fn karpenter_lives_outside_namespaces_and_pods_inside() {
        assert!(!is_namespaced("karpenter.sh", "NodePool"));
        assert!(!is_namespaced("karpenter.k8s.aws", "EC2NodeClass"));
        assert!(is_namespaced("", "Pod"));
        assert!(is_built_in("storage.k8s.io") && !is_built_in("karpenter.k8s.aws"));
    }
}
