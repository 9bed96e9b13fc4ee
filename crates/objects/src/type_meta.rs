//! The keys `apiVersion` and `kind`, which say what an object is. Without them `kubectl` refuses the object.

use karpenter::api::served::SERVED_KINDS;
use karpenter::kind::is_karpenter_group;
use manifest::tree::Node;
use values::spelling::is_near;

/// A built-in kind that rules read.
struct BuiltIn {
    kind: &'static str,
    version: &'static str,
    /// Paths that a whole object has. A patch of the object has a part of them only.
    required: &'static [&'static [&'static str]],
}

/// Paths that a whole object with a selector and pods has.
const OF_WORKLOAD: &[&[&str]] = &[&["spec", "selector"], &["spec", "template", "spec", "containers"]];

/// Built-in kinds that rules read. A mapping of such a kind is an object also if `apiVersion` is missing, unless it may be a
/// patch.
///
/// Source: api/openapi-spec/swagger.json of kubernetes/kubernetes at v1.33.0. A job needs a `restartPolicy`, because it refuses
/// the default: `validateJobSpec` in pkg/apis/batch/validation/validation.go of kubernetes/kubernetes at 00bdb3fade2e.
const BUILT_IN: [BuiltIn; 14] = [
    built_in(
        "CronJob",
        "batch/v1",
        &[&["spec", "schedule"], &["spec", "jobTemplate", "spec", "template", "spec", "restartPolicy"]],
    ),
    built_in("DaemonSet", "apps/v1", OF_WORKLOAD),
    built_in("Deployment", "apps/v1", OF_WORKLOAD),
    built_in(
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        &[&["spec", "scaleTargetRef"], &["spec", "maxReplicas"]],
    ),
    built_in("Job", "batch/v1", &[&["spec", "template", "spec", "restartPolicy"]]),
    built_in("PersistentVolume", "v1", &[&["spec", "capacity"], &["spec", "accessModes"]]),
    built_in("PersistentVolumeClaim", "v1", &[&["spec", "accessModes"], &["spec", "resources"]]),
    built_in("Pod", "v1", &[&["spec", "containers"]]),
    built_in("PodDisruptionBudget", "policy/v1", &[&["spec", "selector"]]),
    built_in("PriorityClass", "scheduling.k8s.io/v1", &[&["value"]]),
    built_in("ReplicaSet", "apps/v1", OF_WORKLOAD),
    built_in("Service", "v1", &[&["spec", "selector"], &["spec", "ports"]]),
    built_in("StatefulSet", "apps/v1", OF_WORKLOAD),
    built_in("StorageClass", "storage.k8s.io/v1", &[&["provisioner"]]),
];

const fn built_in(
    kind: &'static str,
    version: &'static str,
    required: &'static [&'static [&'static str]],
) -> BuiltIn {
    BuiltIn { kind, version, required }
}

/// State of the key `apiVersion` or `kind` in a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKey<'d> {
    /// The key has a text.
    Written(Node<'d>),
    /// The key has another spelling, such as `apiversion` or `Kind`.
    Misspelt(Node<'d>),
    /// The key has no text.
    Empty(Node<'d>),
    /// There is no such key.
    Missing,
}

/// The keys `apiVersion` and `kind` of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMeta<'d> {
    root: Node<'d>,
    /// The key `apiVersion`.
    pub api_version: TypeKey<'d>,
    /// The key `kind`.
    pub kind: TypeKey<'d>,
}

impl<'d> TypeKey<'d> {
    fn of(root: Node<'d>, name: &str) -> Self {
        if let Some(node) = root.get(name) {
            return if node.as_str().is_some_and(|text| !text.is_empty()) {
                Self::Written(node)
            } else {
                Self::Empty(node)
            };
        }
        // A key of four letters with one slip may be another word: `find`, `kinds`.
        let edits = usize::from(name.len() > 4);
        let is_slip = |key: &str| is_near(&key.to_ascii_lowercase(), &name.to_ascii_lowercase(), edits);
        let slips = root.members().filter(|(key, _)| is_slip(key));
        slips.min_by_key(|(key, _)| *key).map_or(Self::Missing, |(_, node)| Self::Misspelt(node))
    }

    /// The text of the key, however it is spelt.
    pub fn text(self) -> Option<&'d str> {
        match self {
            Self::Written(node) | Self::Misspelt(node) => node.as_str(),
            Self::Empty(_) | Self::Missing => None,
        }
    }

    /// Whether the key is written as it must be.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Written(_))
    }
}

impl<'d> TypeMeta<'d> {
    /// The keys of a mapping.
    pub fn of(root: Node<'d>) -> Self {
        Self { root, api_version: TypeKey::of(root, "apiVersion"), kind: TypeKey::of(root, "kind") }
    }

    /// Whether the mapping is certainly an object of Karpenter or Kubernetes, although a key is missing or misspelt.
    pub fn is_broken_object(self) -> bool {
        if self.api_version.is_written() && self.kind.is_written() {
            return false;
        }
        let is_mapping = |key| self.root.get(key).is_some_and(Node::is_mapping);
        let is_named = self.root.at_path(&["metadata", "name"]).is_some();
        let has_content = is_mapping("spec") || self.root.get("provisioner").is_some();
        match (self.api_version.text(), self.kind.text()) {
            (Some(version), Some(kind)) => {
                is_kind(kind) && self.is_known_with(version) && (is_mapping("metadata") || is_mapping("spec"))
            }
            (Some(version), None) => {
                let is_whole = is_named && has_content;
                is_of_karpenter(version) && (is_named || has_content) || is_built_in(version) && is_whole
            }
            // No other program has these kinds, whatever else the document lacks.
            (None, Some(kind)) if is_only_of_karpenter(kind) => is_mapping("metadata") || is_mapping("spec"),
            (None, Some(_)) => {
                self.known_version().is_some() && is_named && has_content && !self.may_be_patch()
            }
            (None, None) => false,
        }
    }

    /// Whether the version belongs to the API of a Kubernetes cluster, perhaps together with the kind. Other programs have
    /// `kind` and a version in their files, too.
    fn is_known_with(self, version: &str) -> bool {
        let Some(group) = group_of(version) else { return false };
        let is_group_of_built_in = || BUILT_IN.iter().any(|known| group_of(known.version) == Some(group));
        // The core API has no group and one version.
        let is_core = || version == CORE && self.known_version().as_deref() == Some(CORE);
        if group.is_empty() { is_core() } else { group.contains('.') || is_group_of_built_in() }
    }

    /// Whether the mapping may change a part of a built-in object, as a patch does, because a field is absent that a whole object
    /// needs.
    pub fn may_be_patch(self) -> bool {
        let Some(known) = self.built_in() else { return false };
        known.required.iter().any(|path| self.root.at_path(path).is_none())
    }

    fn built_in(self) -> Option<&'static BuiltIn> {
        let kind = self.kind.text()?;
        BUILT_IN.iter().find(|known| known.kind == kind)
    }

    /// The usual `apiVersion` of the kind.
    pub fn known_version(self) -> Option<String> {
        let kind = self.kind.text()?;
        if let Some(known) = self.built_in() {
            return Some(known.version.to_owned());
        }
        // The first version of each kind is the current one.
        let served = SERVED_KINDS.iter().find(|served| served.kind == kind)?;
        Some(format!("{}/{}", served.group, served.version))
    }
}

/// The version of the core API.
const CORE: &str = "v1";

/// The group of a text such as `apps/v1` or `karpenter.sh/v1beta1`; empty for `v1`. `None` if the text is no `apiVersion`.
fn group_of(text: &str) -> Option<&str> {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    let is_version =
        version.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (is_version && !group.contains(char::is_whitespace)).then_some(group)
}

/// Whether a text has the form of a kind: a word that starts with a capital letter.
fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether only Karpenter has a kind. `Provisioner` and `Machine` are kinds of other programs, too.
fn is_only_of_karpenter(kind: &str) -> bool {
    SERVED_KINDS.iter().any(|served| served.kind == kind) && !matches!(kind, "Provisioner" | "Machine")
}

fn is_of_karpenter(version: &str) -> bool {
    group_of(version).is_some_and(is_karpenter_group)
}

fn is_built_in(version: &str) -> bool {
    BUILT_IN.iter().any(|known| known.version == version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    fn is_broken(text: &str) -> bool {
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        TypeMeta::of(tree.root()).is_broken_object()
    }

    #[test]
    fn recognises_objects_with_a_missing_or_misspelt_key() {
        for text in [
            "{kind: NodePool, metadata: {name: a}, spec: {}}",
            "{kind: EC2NodeClass, spec: {role: a}}",
            "{kind: EC2NodeClass, metadata: {generateName: a}, spec: {role: a}}",
            "{kind: NodePool, metadata: {name: a}}",
            "{kind: Deployment, metadata: {name: a}, spec: {selector: {}, template: {spec: {containers: []}}}}",
            "{kind: StatefulSet, metadata: {name: a}, spec: {selector: {}, template: {spec: {containers: []}}}}",
            "{kind: CronJob, metadata: {name: a}, spec: {schedule: a, jobTemplate: {spec: {template: {spec: {restartPolicy: Never}}}}}}",
            "{kind: Job, metadata: {name: a}, spec: {template: {spec: {restartPolicy: Never}}}}",
            "{kind: Pod, metadata: {name: a}, spec: {containers: []}}",
            "{kind: Service, metadata: {name: a}, spec: {selector: {}, ports: []}}",
            "{kind: StorageClass, metadata: {name: a}, provisioner: x}",
            "{apiversion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}",
            "{apiVerson: apps/v1, kind: Deployment, metadata: {name: a}}",
            "{api_version: v1, kind: Pod, metadata: {name: a}}",
            "{api_version: apps/v1, kind: ControllerRevision, metadata: {name: a}}",
            "{api_version: example.net/v1, kind: Anything, metadata: {name: a}}",
            "{apiVersion: karpenter.sh/v1, Kind: NodePool, metadata: {name: a}}",
            "{apiversion: karpenter.sh/v1, KIND: NodePool, spec: {}}",
            "{apiVersion: karpenter.sh/v1, kind: '', metadata: {name: a}}",
            "{apiVersion: karpenter.k8s.aws/v1, spec: {role: a}}",
            "{apiVersion: apps/v1, metadata: {name: a}, spec: {}}",
            "{apiVersion:, kind: NodePool, metadata: {name: a}, spec: {}}",
        ] {
            assert!(is_broken(text), "{text}");
        }
    }

    #[test]
    fn leaves_whole_objects_and_other_documents_alone() {
        for text in [
            "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {}}",
            // Chart.yaml, a kustomization, values, a Grafana data source, a CI pipeline, a documentation site.
            "{apiVersion: v2, name: chart, version: 1.0.0}",
            "{kind: Kustomization, resources: [a.yaml]}",
            "{kind: pipeline, type: docker, name: a, steps: []}",
            "{kind: DaemonSet, replicas: 2}",
            "{kind: Deployment, spec: {}}",
            "{apiVersion: 1, datasources: []}",
            "{apiVersion: v1, metadata: {name: a}}",
            "{kinds: [NodePool], metadata: {name: a}, spec: {}}",
            "{Kind: book, apiversion: v1, metadata: {}}",
            "{kind: Backend, metadata: {name: a}, spec: {}}",
            // Strategic merge patches.
            "{kind: Deployment, metadata: {name: a}, spec: {replicas: 3}}",
            "{kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: []}}}}",
            "{kind: Deployment, metadata: {name: a}, spec: {selector: {}}}",
            "{kind: CronJob, metadata: {name: a}, spec: {schedule: a}}",
            "{kind: CronJob, metadata: {name: a}, spec: {schedule: a, jobTemplate: {spec: {suspend: true}}}}",
            "{kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: []}}}}",
            "{kind: Pod, metadata: {name: a}, spec: {nodeSelector: {}}}",
            "{kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1}}",
            "{kind: Service, metadata: {name: a}, spec: {type: LoadBalancer}}",
            "{kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {}}}",
            // Projects, workflows and components of other programs.
            "{apiversion: v2, kind: Project, spec: {}}",
            "{$schema: a, apiversion: v1, kind: Workflow, spec: {}}",
            "{api_version: backstage/v1, kind: Component, metadata: {name: a}}",
            "{api_version: v2, kind: Service, metadata: {name: a}}",
            "{api_version: v1, kind: Job, metadata: {name: a}}",
            "{}",
            "[]",
            "a",
        ] {
            assert!(!is_broken(text), "{text}");
        }
    }
}
