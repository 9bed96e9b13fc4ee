//! `metadata.yml`: the policy's description, and the parts of a ClusterAdmissionPolicy that `kwctl scaffold manifest` and Rancher
//! copy.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use karpwarden::karpenter::kind::Kind;
use karpwarden::rule::On;
use karpwarden_admit::kinds::plural;

use crate::home;

/// Pods and the kinds with a pod template, by group.
const WORKLOADS: [(&str, &[&str]); 3] = [
    ("apps", &["deployments", "statefulsets", "daemonsets", "replicasets"]),
    ("batch", &["jobs", "cronjobs"]),
    ("", &["pods"]),
];

/// Karpenter's current kinds. Its earlier groups and versions occur in manifests, not in a cluster.
const OF_KARPENTER: [Kind; 4] = [Kind::NODE_POOL, Kind::NODE_CLAIM, Kind::NODE_OVERLAY, Kind::NODE_CLASS];

/// The kinds in the rules that are copied. A copied manifest has `failurePolicy: Fail` and no conditions, so it must not match
/// pods, volumes, or anything else that a cluster needs while the policy server is unavailable.
const COPIED: [Kind; 3] = [Kind::NODE_POOL, Kind::NODE_CLASS, Kind::STORAGE_CLASS];

/// Volumes, which decide where a pod can run.
const VOLUMES: [&str; 2] = ["persistentvolumes", "persistentvolumeclaims"];

/// Resources by rank, group and version.
type Resources = BTreeMap<(usize, String, String), Vec<String>>;

/// The text of `metadata.yml`.
pub(super) fn text() -> Result<String> {
    let mut text = String::from(
        "# Written by `make generate`. `kwctl scaffold manifest` and Rancher copy these rules into a policy without match\n\
         # conditions and with `failurePolicy: Fail`, so they leave out pods, workloads and volumes. The manifests in\n\
         # `kustomize/` match these too.\nrules:\n",
    );
    for kind in COPIED {
        let _ = writeln!(
            text,
            "  - apiGroups: [\"{}\"]\n    apiVersions: [\"{}\"]\n    resources: [\"{}\"]\n    operations: [\"CREATE\", \"UPDATE\"]",
            kind.group,
            kind.version,
            plural(kind.name)
        );
    }
    text.push_str(
        "# The setting `fix: true` needs a policy with `mutating: true`: kustomize/components/fix.\nmutating: false\ncontextAwareResources:\n",
    );
    text.push_str(&super::context::resources("  "));
    let _ = write!(
        text,
        "\
hostCapabilities:
  - kubernetes/list_resources_all
executionMode: kubewarden-wapc
policyType: kubernetes
# The audit scanner checks existing objects.
backgroundAudit: true
annotations:
  io.kubewarden.policy.title: karpenter
  io.kubewarden.policy.version: {version}
  io.kubewarden.policy.description: {description}
  io.kubewarden.policy.author: {author}
  io.kubewarden.policy.url: {repository}
  io.kubewarden.policy.source: {repository}
  io.kubewarden.policy.ociUrl: {module}
  io.kubewarden.policy.license: Apache-2.0
  io.kubewarden.policy.severity: high
  io.kubewarden.policy.category: Resource validation
  io.artifacthub.displayName: Karpenter
  io.artifacthub.resources: {kinds}
  io.artifacthub.keywords: {keywords}
",
        version = home::VERSION,
        description = home::DESCRIPTION,
        author = home::AUTHOR,
        repository = home::REPOSITORY,
        module = home::module_name(),
        kinds = kinds(&resources())?.join(", "),
        keywords = home::KEYWORDS.join(", "),
    );
    Ok(text)
}

/// The resources that rules read, Karpenter's kinds first.
fn resources() -> Resources {
    let mut resources = Resources::new();
    let mut add = |rank: usize, group: &str, version: &str, name: String| {
        let all = resources.entry((rank, group.to_owned(), version.to_owned())).or_default();
        if !all.contains(&name) {
            all.push(name);
        }
    };
    let read: Vec<On> = karpwarden::ADMISSION.rules().flat_map(|rule| rule.on.iter().copied()).collect();
    for kind in OF_KARPENTER {
        if read.iter().any(|on| matches!(on, On::Kind(one) if *one == kind) || *on == On::Group(kind.group)) {
            add(rank(kind.group), kind.group, kind.version, plural(kind.name));
        }
    }
    for on in &read {
        match on {
            On::Workload => {
                for (group, names) in WORKLOADS {
                    for name in names {
                        add(rank(group), group, "v1", (*name).to_owned());
                    }
                }
            }
            On::Kind(kind) if matches!(kind.group, "storage.k8s.io") => {
                add(rank(kind.group), kind.group, kind.version, plural(kind.name));
            }
            _ => {}
        }
    }
    for name in VOLUMES {
        add(rank(""), "", "v1", name.to_owned());
    }
    resources
}

fn rank(group: &str) -> usize {
    const ORDER: [&str; 5] = ["karpenter.sh", "karpenter.k8s.aws", "storage.k8s.io", "apps", "batch"];
    ORDER.iter().position(|one| *one == group).unwrap_or(ORDER.len())
}

/// The kinds of the resources, for Artifact Hub.
pub(crate) fn kinds(resources: &Resources) -> Result<Vec<&'static str>> {
    const KINDS: [&str; 14] = [
        "NodePool",
        "NodeClaim",
        "NodeOverlay",
        "EC2NodeClass",
        "StorageClass",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "Job",
        "CronJob",
        "Pod",
        "PersistentVolume",
        "PersistentVolumeClaim",
    ];
    let find = |name: &String| {
        let kind = KINDS.into_iter().find(|kind| plural(kind) == *name);
        kind.with_context(|| format!("no kind known for the resource {name}"))
    };
    resources.values().flatten().map(find).collect()
}
