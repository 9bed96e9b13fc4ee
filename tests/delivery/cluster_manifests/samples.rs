//! A good and a bad object of each kind that the policies match.

use serde_json::{Value, json};

/// The kind of a resource.
pub(super) fn kind(group: &str, resource: &str) -> &'static str {
    match (group, resource) {
        ("karpenter.sh", "nodepools") => "NodePool",
        ("karpenter.sh", "nodeclaims") => "NodeClaim",
        ("karpenter.sh", "nodeoverlays") => "NodeOverlay",
        ("karpenter.k8s.aws", "ec2nodeclasses") => "EC2NodeClass",
        ("storage.k8s.io", "storageclasses") => "StorageClass",
        ("apps", "deployments") => "Deployment",
        ("apps", "statefulsets") => "StatefulSet",
        ("apps", "daemonsets") => "DaemonSet",
        ("apps", "replicasets") => "ReplicaSet",
        ("batch", "jobs") => "Job",
        ("batch", "cronjobs") => "CronJob",
        ("", "pods") => "Pod",
        ("", "persistentvolumes") => "PersistentVolume",
        ("", "persistentvolumeclaims") => "PersistentVolumeClaim",
        _ => panic!("no sample for {resource}.{group}"),
    }
}

/// An object without findings.
pub(super) fn good(kind: &str) -> Value {
    object(kind, false)
}

/// An object with an error, and its rule; `None` for kinds without an error.
pub(super) fn bad(kind: &str) -> Option<(Value, &'static str)> {
    let rule = match kind {
        "NodePool" => "restricted-label",
        "NodeClaim" => "api-enum",
        "NodeOverlay" => "api-pattern",
        "EC2NodeClass" => "instance-profile-is-arn",
        // Karpenter creates no node for the pods of a DaemonSet, whatever they select.
        "DaemonSet" | "PersistentVolume" | "PersistentVolumeClaim" | "StorageClass" => return None,
        _ => "pod-restricted-label",
    };
    Some((object(kind, true), rule))
}

fn object(kind: &str, is_bad: bool) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let capacity = json!([{"key": "karpenter.sh/capacity-type", "operator": if kind == "NodeClaim" && is_bad { "Is" } else { "In" }, "values": ["spot"]}]);
    let selector =
        if is_bad { json!({"karpenter.sh/team": "a"}) } else { json!({"kubernetes.io/arch": "arm64"}) };
    let pod = json!({"metadata": {"labels": {"app": "a"}}, "spec": {
        "restartPolicy": if matches!(kind, "Job" | "CronJob") { "Never" } else { "Always" },
        "nodeSelector": selector, "containers": [{"name": "a", "image": "registry.example/a:1"}]}});
    let selected = json!({"selector": {"matchLabels": {"app": "a"}}, "template": pod});
    let terms = json!([{"tags": {"karpenter.sh/discovery": "prod-eu-1"}}]);
    let (api_version, mut fields) = match kind {
        "NodePool" => {
            let labels =
                if is_bad { json!({"karpenter.sh/team": "a"}) } else { json!({"example.com/team": "a"}) };
            let requirements =
                json!([{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]);
            let template = json!({"metadata": {"labels": labels}, "spec": {"nodeClassRef": class, "requirements": requirements}});
            ("karpenter.sh/v1", json!({"spec": {"template": template}}))
        }
        "NodeClaim" => {
            ("karpenter.sh/v1", json!({"spec": {"nodeClassRef": class, "requirements": capacity}}))
        }
        "NodeOverlay" => ("karpenter.sh/v1alpha1", {
            let adjustment = if is_bad { "a tenth" } else { "-10%" };
            json!({"spec": {"requirements": capacity, "priceAdjustment": adjustment}})
        }),
        "EC2NodeClass" => {
            let profile = if is_bad { "arn:aws:iam::111122223333:instance-profile/a" } else { "a" };
            let spec = json!({"instanceProfile": profile, "amiSelectorTerms": [{"alias": "al2023@v20250807"}],
                "subnetSelectorTerms": terms, "securityGroupSelectorTerms": terms});
            ("karpenter.k8s.aws/v1", json!({"spec": spec}))
        }
        "StorageClass" => (
            "storage.k8s.io/v1",
            json!({"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}),
        ),
        "PersistentVolume" => (
            "v1",
            json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}}}),
        ),
        "PersistentVolumeClaim" => (
            "v1",
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "gp3",
            "resources": {"requests": {"storage": "1Gi"}}}}),
        ),
        "Pod" => ("v1", pod),
        "Job" => ("batch/v1", json!({"spec": {"template": pod}})),
        "CronJob" => (
            "batch/v1",
            json!({"spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": pod}}}}),
        ),
        _ => ("apps/v1", json!({"spec": selected})),
    };
    fields["apiVersion"] = api_version.into();
    fields["kind"] = kind.into();
    fields["metadata"] = json!({"name": "default"});
    fields
}
