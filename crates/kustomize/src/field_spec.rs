//! The fields that the transformers of kustomize change.
//!
//! Source: api/internal/konfig/builtinpluginconsts/*.go of kustomize v5.5.0.

use manifest::tree::Node;

use crate::resource::{ObjectIdentity, Resource};
use crate::value::{BuiltValue, scalar_text};

/// A field of the objects of a kind. An empty group, version or kind selects every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldSpec<'s> {
    pub(crate) group: &'s str,
    pub(crate) version: &'s str,
    pub(crate) kind: &'s str,
    /// The keys, separated by `/`.
    pub(crate) path: &'s str,
    /// Whether missing objects on the path are created.
    pub(crate) create: bool,
}

const fn created(group: &'static str, kind: &'static str, path: &'static str) -> FieldSpec<'static> {
    FieldSpec { group, version: "", kind, path, create: true }
}

const fn existing(group: &'static str, kind: &'static str, path: &'static str) -> FieldSpec<'static> {
    FieldSpec { group, version: "", kind, path, create: false }
}

/// `metadata.labels` of every object.
pub(crate) const OWN_LABELS: &[FieldSpec<'static>] = &[created("", "", "metadata/labels")];

/// `metadata.labels` of every object and of the pod templates within it.
pub(crate) const TEMPLATE_LABELS: &[FieldSpec<'static>] = &[
    created("", "", "metadata/labels"),
    FieldSpec { version: "v1", ..created("", "ReplicationController", "spec/template/metadata/labels") },
    created("", "Deployment", "spec/template/metadata/labels"),
    created("", "ReplicaSet", "spec/template/metadata/labels"),
    created("", "DaemonSet", "spec/template/metadata/labels"),
    created("apps", "StatefulSet", "spec/template/metadata/labels"),
    created("apps", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
    created("batch", "Job", "spec/template/metadata/labels"),
    created("batch", "CronJob", "spec/jobTemplate/metadata/labels"),
    created("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
];

const PREFERRED: &str =
    "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels";

/// The selectors that `commonLabels` and `includeSelectors` change.
const SELECTORS: &[FieldSpec<'static>] = &[
    FieldSpec { version: "v1", ..created("", "Service", "spec/selector") },
    FieldSpec { version: "v1", ..created("", "ReplicationController", "spec/selector") },
    created("", "Deployment", "spec/selector/matchLabels"),
    created("", "ReplicaSet", "spec/selector/matchLabels"),
    created("", "DaemonSet", "spec/selector/matchLabels"),
    created("apps", "StatefulSet", "spec/selector/matchLabels"),
    existing("batch", "Job", "spec/selector/matchLabels"),
    existing("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"),
    existing("policy", "PodDisruptionBudget", "spec/selector/matchLabels"),
    existing("networking.k8s.io", "NetworkPolicy", "spec/podSelector/matchLabels"),
    existing("networking.k8s.io", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"),
    existing("networking.k8s.io", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"),
];

/// Sets a label in the fields of some specs. Returns whether anything changed.
pub(crate) fn set_label<'d>(
    resource: &mut Resource<'d>,
    specs: &[FieldSpec<'_>],
    key: &str,
    label: Node<'d>,
) -> bool {
    let id = resource.id();
    let mut is_changed = false;
    for spec in specs.iter().filter(|spec| spec.applies(&id)) {
        is_changed |= spec.set_entry(resource, key, label);
    }
    is_changed
}

/// Sets a label in the selectors. Returns whether anything changed.
pub(crate) fn set_selector_label<'d>(resource: &mut Resource<'d>, key: &str, label: Node<'d>) -> bool {
    let mut is_changed = set_label(resource, SELECTORS, key, label);
    let id = resource.id();
    if id.group == "apps" && matches!(id.kind.as_str(), "Deployment" | "StatefulSet") {
        let affinity = |field: &str, terms: &str| format!("spec/template/spec/affinity/{field}/{terms}");
        let paths = [
            affinity("podAffinity", PREFERRED),
            affinity("podAffinity", REQUIRED),
            affinity("podAntiAffinity", PREFERRED),
            affinity("podAntiAffinity", REQUIRED),
            "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels".to_owned(),
        ];
        for path in &paths {
            let spec = FieldSpec { group: "", version: "", kind: "", path, create: false };
            is_changed |= spec.set_entry(resource, key, label);
        }
    }
    is_changed
}

/// The fields that `commonAnnotations` changes.
pub(crate) const ANNOTATIONS: &[FieldSpec<'static>] = &[
    created("", "", "metadata/annotations"),
    FieldSpec { version: "v1", ..created("", "ReplicationController", "spec/template/metadata/annotations") },
    created("", "Deployment", "spec/template/metadata/annotations"),
    created("", "ReplicaSet", "spec/template/metadata/annotations"),
    created("", "DaemonSet", "spec/template/metadata/annotations"),
    created("", "StatefulSet", "spec/template/metadata/annotations"),
    created("batch", "Job", "spec/template/metadata/annotations"),
    created("batch", "CronJob", "spec/jobTemplate/metadata/annotations"),
    created("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations"),
];

/// The fields outside `metadata.namespace` that `namespace` changes.
pub(crate) const NAMESPACES: &[FieldSpec<'static>] = &[
    FieldSpec { version: "v1", ..created("", "Namespace", "metadata/name") },
    created("apiregistration.k8s.io", "APIService", "spec/service/namespace"),
    existing(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "spec/conversion/webhook/clientConfig/service/namespace",
    ),
];

impl<'s> FieldSpec<'s> {
    /// Reads an entry of `labels[].fields`.
    pub(crate) fn read(node: Node<'s>) -> Self {
        let text = |key| node.get(key).and_then(scalar_text).unwrap_or_default();
        let create = node.get("create").and_then(Node::as_bool).unwrap_or(false);
        Self {
            group: text("group"),
            version: text("version"),
            kind: text("kind"),
            path: text("path"),
            create,
        }
    }

    /// Whether the spec selects an object.
    pub(crate) fn applies(&self, id: &ObjectIdentity) -> bool {
        let selects = |pattern: &str, text: &str| pattern.is_empty() || pattern == text;
        selects(self.group, &id.group) && selects(self.version, &id.version) && selects(self.kind, &id.kind)
    }

    /// Sets an entry of the maps at the path.
    fn set_entry<'d>(&self, resource: &mut Resource<'d>, key: &str, entry: Node<'d>) -> bool {
        let mut is_changed = false;
        self.visit(resource, entry, &mut |map| {
            is_changed |= Resource::set_within(map, key, BuiltValue::Written(entry));
        });
        is_changed
    }

    /// Calls a function for each value at the path. Created objects have the place of `at`.
    pub(crate) fn visit<'d>(
        &self,
        resource: &mut Resource<'d>,
        at: Node<'d>,
        found: &mut dyn FnMut(&mut BuiltValue<'d>),
    ) {
        let keys: Vec<&str> = self.path.split('/').collect();
        Resource::visit(&mut resource.value, &keys, self.create.then_some(at), found);
    }

    /// Sets the scalars at the path to the scalar of a node. Returns whether anything changed.
    pub(crate) fn set_scalar<'d>(&self, resource: &mut Resource<'d>, scalar: Node<'d>) -> bool {
        let keys: Vec<&str> = self.path.split('/').collect();
        let Some((last, above)) = keys.split_last() else { return false };
        let mut is_changed = false;
        let create = self.create;
        Resource::visit(&mut resource.value, above, create.then_some(scalar), &mut |holder| {
            if create || holder.get(last).is_some() {
                is_changed |= Resource::set_within(holder, last, BuiltValue::Written(scalar));
            }
        });
        is_changed
    }
}
