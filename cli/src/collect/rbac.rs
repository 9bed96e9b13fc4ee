//! The minimal role for a collection, derived from the kinds that are collected.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kinds::{KINDS, Scope};
use super::query::{CollectedNamespaces, Query};

/// Namespace in which the chart's documentation installs Karpenter.
/// Source: website/content/en/docs/getting-started of aws/karpenter-provider-aws at v1.14.0.
const USUAL_NAMESPACE: &str = "kube-system";

/// Name of the roles, and of the group that has them.
const NAME: &str = "karpwarden-collect";

/// Rights in one namespace, or in the whole cluster.
#[derive(Debug, Default)]
struct Rights {
    /// Verb and API group, with the resources.
    rules: BTreeMap<(&'static str, &'static str), Vec<&'static str>>,
}

impl Rights {
    fn add(&mut self, verb: &'static str, group: &'static str, resource: &'static str) {
        let resources = self.rules.entry((verb, group)).or_default();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }

    /// The role and its binding.
    fn write(&self, namespace: Option<&str>, name: &str, out: &mut String) {
        let prefix = if namespace.is_some() { "" } else { "Cluster" };
        let place = namespace.map_or_else(String::new, |namespace| format!("\n  namespace: {namespace}"));
        // A `String` takes every text.
        let _ = write!(
            out,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {prefix}Role\nmetadata:\n  name: {name}{place}\nrules:\n"
        );
        for ((verb, group), resources) in &self.rules {
            let _ = writeln!(
                out,
                "  - apiGroups: [\"{group}\"]\n    resources: [{}]\n    verbs: [{verb}]",
                resources.join(", ")
            );
        }
        let _ = write!(
            out,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {prefix}RoleBinding\nmetadata:\n  name: {name}{place}\n\
            roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {prefix}Role\n  name: {name}\n\
            subjects:\n  - apiGroup: rbac.authorization.k8s.io\n    kind: Group\n    name: {NAME}\n"
        );
    }
}

/// The roles and bindings that a collection needs, as YAML.
pub(super) fn manifest(namespaces: &CollectedNamespaces) -> String {
    let mut by_namespace: BTreeMap<Option<String>, Rights> = BTreeMap::new();
    for kind in KINDS {
        for query in Query::all(kind, namespaces) {
            let place = query.namespace.filter(|_| kind.scope == Scope::Namespace);
            by_namespace.entry(place).or_default().add("list", kind.group, kind.resource);
        }
    }
    // `kubectl logs` reads the pod first. Source: `RunLogsContext` and `Complete` in pkg/cmd/logs/logs.go of kubernetes/kubectl
    // at v0.33.0.
    let controller = namespaces.controller.clone().unwrap_or_else(|| USUAL_NAMESPACE.to_owned());
    let logs = by_namespace.entry(Some(controller)).or_default();
    logs.add("get", "", "pods");
    logs.add("get", "", "pods/log");
    let mut out = String::from(
        "# Rights of `karpwarden collect`: only get and list, and no Secrets. The group `karpwarden-collect` has them: map your\n\
        # users to it, or write them under `subjects`. `--karpenter-namespace` changes the namespace of the controller.\n",
    );
    for (namespace, rights) in &by_namespace {
        rights.write(namespace.as_deref(), NAME, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_the_whole_cluster_and_the_logs_of_the_controller() {
        insta::assert_snapshot!(manifest(&CollectedNamespaces::default()), @r#"
        # Rights of `karpwarden collect`: only get and list, and no Secrets. The group `karpwarden-collect` has them: map your
        # users to it, or write them under `subjects`. `--karpenter-namespace` changes the namespace of the controller.
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata:
          name: karpwarden-collect
        rules:
          - apiGroups: [""]
            resources: [nodes, namespaces, replicationcontrollers, pods, limitranges, persistentvolumeclaims, persistentvolumes, serviceaccounts, events]
            verbs: [list]
          - apiGroups: ["apps"]
            resources: [deployments, statefulsets, daemonsets, replicasets]
            verbs: [list]
          - apiGroups: ["autoscaling"]
            resources: [horizontalpodautoscalers]
            verbs: [list]
          - apiGroups: ["autoscaling.x-k8s.io"]
            resources: [capacitybuffers]
            verbs: [list]
          - apiGroups: ["batch"]
            resources: [jobs, cronjobs]
            verbs: [list]
          - apiGroups: ["eks.amazonaws.com"]
            resources: [nodeclasses]
            verbs: [list]
          - apiGroups: ["karpenter.k8s.aws"]
            resources: [ec2nodeclasses]
            verbs: [list]
          - apiGroups: ["karpenter.sh"]
            resources: [nodepools, nodeclaims, nodeoverlays]
            verbs: [list]
          - apiGroups: ["monitoring.coreos.com"]
            resources: [prometheusrules]
            verbs: [list]
          - apiGroups: ["openreports.io"]
            resources: [clusterreports, reports]
            verbs: [list]
          - apiGroups: ["operator.victoriametrics.com"]
            resources: [vmrules]
            verbs: [list]
          - apiGroups: ["policy"]
            resources: [poddisruptionbudgets]
            verbs: [list]
          - apiGroups: ["scheduling.k8s.io"]
            resources: [priorityclasses]
            verbs: [list]
          - apiGroups: ["storage.k8s.io"]
            resources: [storageclasses, csinodes, volumeattachments]
            verbs: [list]
          - apiGroups: ["vpcresources.k8s.aws"]
            resources: [securitygrouppolicies]
            verbs: [list]
          - apiGroups: ["wgpolicyk8s.io"]
            resources: [clusterpolicyreports, policyreports]
            verbs: [list]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata:
          name: karpwarden-collect
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: ClusterRole
          name: karpwarden-collect
        subjects:
          - apiGroup: rbac.authorization.k8s.io
            kind: Group
            name: karpwarden-collect
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: karpwarden-collect
          namespace: kube-system
        rules:
          - apiGroups: [""]
            resources: [pods, pods/log]
            verbs: [get]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: karpwarden-collect
          namespace: kube-system
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: karpwarden-collect
        subjects:
          - apiGroup: rbac.authorization.k8s.io
            kind: Group
            name: karpwarden-collect
        "#);
    }

    #[test]
    fn grants_single_namespaces_only() {
        let namespaces =
            CollectedNamespaces { only: Some("shop".to_owned()), controller: Some("karpenter".to_owned()) };
        let text = manifest(&namespaces);
        let roles = text.split("---\n").filter(|document| document.contains("rules:"));
        let summary = |role: &str| {
            let shown =
                role.lines().filter(|line| line.contains("namespace:") || line.contains("resources:"));
            shown.map(str::trim).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(roles.map(summary).collect::<Vec<_>>().join("\n\n"), @"
        resources: [nodes, namespaces, persistentvolumes]
        resources: [nodeclasses]
        resources: [ec2nodeclasses]
        resources: [nodepools, nodeclaims, nodeoverlays]
        resources: [clusterreports]
        resources: [priorityclasses]
        resources: [storageclasses, csinodes, volumeattachments]
        resources: [clusterpolicyreports]

        namespace: default
        resources: [events]

        namespace: karpenter
        resources: [pods, pods/log]
        resources: [pods, serviceaccounts]
        resources: [deployments]

        namespace: shop
        resources: [replicationcontrollers, pods, limitranges, persistentvolumeclaims, serviceaccounts, events]
        resources: [deployments, statefulsets, daemonsets, replicasets]
        resources: [horizontalpodautoscalers]
        resources: [capacitybuffers]
        resources: [jobs, cronjobs]
        resources: [prometheusrules]
        resources: [reports]
        resources: [vmrules]
        resources: [poddisruptionbudgets]
        resources: [securitygrouppolicies]
        resources: [policyreports]
        ");
    }
}
