//! Kinds that the commands read: what is collected, and the rights that this needs.

/// Kind of the Kubernetes API that is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CollectedKind {
    /// The kind's name.
    pub(super) name: &'static str,
    /// The API group; empty for the core group.
    pub(super) group: &'static str,
    /// The name of the resource: the kind in lower case and in the plural. It is also the name of the file.
    pub(super) resource: &'static str,
    pub(super) scope: Scope,
    /// The objects of other namespaces that the commands need.
    pub(super) elsewhere: Elsewhere,
    /// The labels of the objects that are collected; `None` for all objects.
    pub(super) selector: Option<&'static str>,
}

/// Labels of the reports of Kubewarden's audit scanner. Other scanners write reports of the same kinds.
/// Source: internal/report/constants.go of kubewarden/audit-scanner at 558953acaf921e03983c79de43c992c3d47e38ac, `getReportObjectMeta` in
/// internal/audit-scanner/report/report.go of kubewarden/kubewarden-controller at 0fa5500b9120887870b597c0d2ca6ef3ba0995a6.
const AUDIT_SCANNER: &str = "app.kubernetes.io/managed-by=kubewarden";

/// Whether the objects of a kind belong to a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Cluster,
    Namespace,
}

/// Objects outside the chosen namespace that are collected all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    Nothing,
    /// The objects of Karpenter's chart.
    Controller,
    /// The events about nodes and other objects without a namespace.
    ClusterEvents,
}

impl CollectedKind {
    /// The resource as kubectl reads it: `nodepools.karpenter.sh`. kubectl takes the version that the server prefers.
    /// Source: `ParseResourceArg` in `pkg/runtime/schema/group_version.go` of kubernetes/apimachinery at v0.33.0.
    pub(super) fn full_name(&self) -> String {
        if self.group.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// Whether the snapshot keeps an object, given the kinds of its owners. A Deployment keeps the `ReplicaSets` of its earlier
    /// revisions; their template is in the Deployment, and their name in the pods.
    pub(super) fn keeps(&self, is_owned: bool) -> bool {
        !(is_owned && self.resource == "replicasets")
    }
}

const fn in_cluster(group: &'static str, name: &'static str, resource: &'static str) -> CollectedKind {
    CollectedKind {
        name,
        group,
        resource,
        scope: Scope::Cluster,
        elsewhere: Elsewhere::Nothing,
        selector: None,
    }
}

const fn in_namespace(group: &'static str, name: &'static str, resource: &'static str) -> CollectedKind {
    CollectedKind {
        name,
        group,
        resource,
        scope: Scope::Namespace,
        elsewhere: Elsewhere::Nothing,
        selector: None,
    }
}

impl CollectedKind {
    const fn and(self, elsewhere: Elsewhere) -> Self {
        Self { elsewhere, ..self }
    }

    const fn of_audit_scanner(self) -> Self {
        Self { selector: Some(AUDIT_SCANNER), ..self }
    }
}

/// All kinds, in the order in which they are collected. Secrets and `ConfigMaps` are not among them.
pub(super) const KINDS: &[CollectedKind] = &[
    in_cluster("karpenter.sh", "NodePool", "nodepools"),
    in_cluster("karpenter.k8s.aws", "EC2NodeClass", "ec2nodeclasses"),
    in_cluster("eks.amazonaws.com", "NodeClass", "nodeclasses"),
    in_cluster("karpenter.sh", "NodeClaim", "nodeclaims"),
    in_cluster("karpenter.sh", "NodeOverlay", "nodeoverlays"),
    in_namespace("autoscaling.x-k8s.io", "CapacityBuffer", "capacitybuffers"),
    in_cluster("", "Node", "nodes"),
    in_cluster("", "Namespace", "namespaces"),
    in_namespace("apps", "Deployment", "deployments").and(Elsewhere::Controller),
    in_namespace("apps", "StatefulSet", "statefulsets"),
    in_namespace("apps", "DaemonSet", "daemonsets"),
    in_namespace("apps", "ReplicaSet", "replicasets"),
    in_namespace("", "ReplicationController", "replicationcontrollers"),
    in_namespace("batch", "Job", "jobs"),
    in_namespace("batch", "CronJob", "cronjobs"),
    in_namespace("", "Pod", "pods").and(Elsewhere::Controller),
    in_namespace("policy", "PodDisruptionBudget", "poddisruptionbudgets"),
    in_namespace("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    in_namespace("", "LimitRange", "limitranges"),
    in_namespace("", "PersistentVolumeClaim", "persistentvolumeclaims"),
    in_cluster("", "PersistentVolume", "persistentvolumes"),
    in_cluster("storage.k8s.io", "StorageClass", "storageclasses"),
    in_cluster("storage.k8s.io", "CSINode", "csinodes"),
    in_cluster("storage.k8s.io", "VolumeAttachment", "volumeattachments"),
    in_cluster("scheduling.k8s.io", "PriorityClass", "priorityclasses"),
    in_namespace("", "ServiceAccount", "serviceaccounts").and(Elsewhere::Controller),
    in_namespace("vpcresources.k8s.aws", "SecurityGroupPolicy", "securitygrouppolicies"),
    in_namespace("monitoring.coreos.com", "PrometheusRule", "prometheusrules"),
    in_namespace("operator.victoriametrics.com", "VMRule", "vmrules"),
    in_namespace("", "Event", "events").and(Elsewhere::ClusterEvents),
    in_cluster("openreports.io", "ClusterReport", "clusterreports").of_audit_scanner(),
    in_namespace("openreports.io", "Report", "reports").of_audit_scanner(),
    in_cluster("wgpolicyk8s.io", "ClusterPolicyReport", "clusterpolicyreports").of_audit_scanner(),
    in_namespace("wgpolicyk8s.io", "PolicyReport", "policyreports").of_audit_scanner(),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use karpenter::kind::Kind;
    use karpwarden::REGISTRY_WITH_SYMPTOMS;
    use rule::On;

    use super::*;

    /// Kinds that rules read and the snapshot lacks, with the reason.
    const NOT_COLLECTED: [(&str, &str); 7] = [
        ("AccessEntry", "an object of an operator, which often runs in another cluster"),
        ("Addon", "an object of an operator, which often runs in another cluster"),
        ("ClusterConfig", "a file of eksctl, which no API server has"),
        ("ConfigMap", "may contain anything"),
        (
            "CustomResourceDefinition",
            "the definitions of a cluster are larger than all its objects of Karpenter",
        ),
        (
            "MutatingWebhookConfiguration",
            "the API server names a webhook that fails, and `diagnose` explains it",
        ),
        (
            "ValidatingWebhookConfiguration",
            "the API server names a webhook that fails, and `diagnose` explains it",
        ),
    ];

    fn is_collected(kind: Kind) -> bool {
        KINDS.iter().any(|one| one.name == kind.name && one.group == kind.group)
    }

    #[test]
    fn collects_every_kind_that_a_rule_reads() {
        let mut missing = BTreeSet::new();
        for rule in REGISTRY_WITH_SYMPTOMS.rules() {
            let read =
                rule.on.iter().filter_map(|on| if let On::Kind(kind) = on { Some(*kind) } else { None });
            for kind in read.chain(rule.inventory.iter().map(|look_up| look_up.kind())) {
                let is_exempt = NOT_COLLECTED.iter().any(|(name, _)| *name == kind.name);
                if !is_collected(kind) && !is_exempt {
                    missing.insert(format!("{}: {}/{}", rule.name, kind.group, kind.name));
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn collects_no_secrets() {
        let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.resource).collect();
        assert_eq!(names.len(), KINDS.len(), "each kind has its file");
        assert!(!names.contains("secrets") && !names.contains("configmaps"));
    }

    #[test]
    fn keeps_replicasets_without_a_deployment_only() {
        let of = |resource| KINDS.iter().find(|kind| kind.resource == resource).unwrap();
        assert!(!of("replicasets").keeps(true) && of("replicasets").keeps(false));
        assert!(of("jobs").keeps(true) && of("pods").keeps(true));
    }
}
