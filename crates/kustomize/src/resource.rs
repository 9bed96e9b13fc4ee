//! An object during a build, with its names before the changes of the kustomizations.

use std::borrow::Cow;

use manifest::DocumentNumber;
use manifest::tree::Node;

use crate::Origin;
use crate::failure::PatchFailure;
use crate::generator::{GeneratedEntry, Generator};
use crate::merge;
use crate::schema::MergeSchema;
use crate::value::{BuiltValue, Member, Shape};

/// Identity of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectIdentity {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    /// `default` if the object names no namespace; `_` if the kind has none.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// An object during a build.
#[derive(Clone, Debug)]
pub(crate) struct Resource<'d> {
    pub(crate) value: BuiltValue<'d>,
    /// The object in its file.
    pub(crate) root: Node<'d>,
    pub(crate) origin: Origin,
    /// The identities before each change of the name or namespace.
    pub(crate) previous: Vec<ObjectIdentity>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) suffixes: Vec<String>,
    /// Whether any step changed the object.
    pub(crate) is_changed: bool,
    /// Whether a generator makes the object.
    pub(crate) is_generated: bool,
    /// The reason why the result of the build is not known.
    pub(crate) unresolved: Option<String>,
}

/// Options of a strategic merge patch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatchOptions {
    pub(crate) has_target: bool,
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

impl ObjectIdentity {
    /// The identity of an object.
    pub(crate) fn of(value: &BuiltValue<'_>) -> Self {
        let text = |keys: &[&str]| value.text_at(keys).unwrap_or_default();
        let api_version = text(&["apiVersion"]);
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let kind = text(&["kind"]);
        let namespace = if is_cluster_scoped(group, &kind) {
            "_".to_owned()
        } else {
            Some(text(&["metadata", "namespace"]))
                .filter(|name| !name.is_empty())
                .unwrap_or("default".to_owned())
        };
        let name = text(&["metadata", "name"]);
        Self { group: group.to_owned(), version: version.to_owned(), kind, namespace, name }
    }

    /// Whether the kind has no namespace.
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        self.namespace == "_"
    }
}

/// Whether kustomize knows that a kind has no namespace. It does not know custom resources.
///
/// Source: `precomputedIsNamespaceScoped` in kyaml/openapi/openapi.go of kustomize v5.5.0.
fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "ComponentStatus" | "Namespace" | "Node" | "PersistentVolume")
            | (
                "admissionregistration.k8s.io",
                "MutatingWebhookConfiguration"
                    | "ValidatingAdmissionPolicy"
                    | "ValidatingAdmissionPolicyBinding"
                    | "ValidatingWebhookConfiguration"
            )
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("apiregistration.k8s.io", "APIService")
            | ("authentication.k8s.io", "TokenReview")
            | (
                "authorization.k8s.io",
                "SelfSubjectAccessReview" | "SelfSubjectRulesReview" | "SubjectAccessReview"
            )
            | ("certificates.k8s.io", "CertificateSigningRequest")
            | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
            | ("networking.k8s.io", "IngressClass")
            | ("node.k8s.io", "RuntimeClass")
            | ("policy", "PodSecurityPolicy")
            | ("rbac.authorization.k8s.io", "ClusterRole" | "ClusterRoleBinding")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("storage.k8s.io", "CSIDriver" | "CSINode" | "StorageClass" | "VolumeAttachment")
    )
}

impl<'d> Resource<'d> {
    /// An object of a file.
    pub(crate) fn new(root: Node<'d>, document: DocumentNumber) -> Self {
        Self {
            value: BuiltValue::Written(root),
            root,
            origin: Origin { document, root: root.id() },
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            is_changed: false,
            is_generated: false,
            unresolved: None,
        }
    }

    /// The `ConfigMap` that a generator makes.
    pub(crate) fn generated(
        generator: Generator<'d>,
        entries: &[GeneratedEntry<'d>],
        document: DocumentNumber,
    ) -> Self {
        let at = generator.node;
        let text = |text: &str| BuiltValue::Computed(text.to_owned(), at);
        let member = |key: &'static str, value| Member { key: Cow::Borrowed(key), value };
        let names = ["name", "namespace"].into_iter();
        let names = names.filter_map(|key| Some(member(key, BuiltValue::Written(at.get(key)?)))).collect();
        let members = vec![
            member("apiVersion", text("v1")),
            member("kind", text(generator.kind)),
            member("metadata", BuiltValue::Mapping(at, names)),
        ];
        let value = BuiltValue::Mapping(at, members);
        let mut resource = Self { value, is_generated: true, ..Self::new(at, document) };
        resource.add_entries(generator, entries);
        resource
    }

    /// Takes over the entries of a generator that merges with the object or replaces its entries.
    pub(crate) fn absorb(&mut self, generator: Generator<'d>, entries: &[GeneratedEntry<'d>]) {
        if generator.replaces() {
            self.value.remove("data");
        }
        self.add_entries(generator, entries);
        self.is_changed = true;
    }

    fn add_entries(&mut self, generator: Generator<'d>, entries: &[GeneratedEntry<'d>]) {
        let at = generator.node;
        let Some(data) = self.value.member_or_object("data", at) else { return };
        for entry in entries {
            data.set(entry.key, BuiltValue::Computed(entry.text.to_owned(), at));
        }
    }

    /// The same object with the value of its file.
    pub(crate) fn without_value(&self) -> Self {
        Self {
            value: BuiltValue::Written(self.root),
            previous: self.previous.clone(),
            prefixes: self.prefixes.clone(),
            suffixes: self.suffixes.clone(),
            unresolved: self.unresolved.clone(),
            ..*self
        }
    }

    /// The current identity.
    pub(crate) fn id(&self) -> ObjectIdentity {
        ObjectIdentity::of(&self.value)
    }

    /// Records the current identity before a change.
    pub(crate) fn remember_id(&mut self) {
        let id = self.id();
        self.previous.push(id);
    }

    /// Whether the object has or had an identity.
    pub(crate) fn had_id(&self, id: &ObjectIdentity) -> bool {
        self.previous.contains(id) || self.id() == *id
    }

    /// Records why the result is not known, unless there is a reason already.
    pub(crate) fn doubt(&mut self, reason: &str) {
        self.unresolved.get_or_insert_with(|| reason.to_owned());
    }

    /// Sets a member to a value, unless the member has it already.
    pub(crate) fn set_within(holder: &mut BuiltValue<'d>, key: &str, value: BuiltValue<'d>) -> bool {
        let is_same = holder.get(key).is_some_and(|old| old.equals(&value));
        if !is_same {
            holder.set(key, value);
        }
        !is_same
    }

    /// Applies a strategic merge patch. Returns whether the object stays.
    ///
    /// The patch changes neither the API version nor the namespace, and the kind and the name only if its options allow it.
    /// Source: `ApplySmPatch` in api/resource/resource.go and api/resmap/reswrangler.go of kustomize v5.5.0.
    pub(crate) fn patch(&mut self, patch: Node<'d>, options: PatchOptions) -> Result<bool, PatchFailure> {
        let id = self.id();
        if options.allow_name_change || options.allow_kind_change {
            self.previous.push(id.clone());
        }
        self.is_changed = true;
        let schema =
            MergeSchema::for_kind(&self.value.text_at(&["apiVersion"]).unwrap_or_default(), &id.kind);
        if let Some(directive) = patch.str_at(&["$patch"]).filter(|directive| *directive != "merge") {
            if directive != "replace" {
                return merge::merge(&mut self.value, patch, schema);
            }
            return self.replace(patch, schema);
        }
        for (key, value) in patch.members() {
            match key {
                "apiVersion" | "$patch" => {}
                "kind" if !options.allow_kind_change => {}
                "metadata" => self.patch_metadata(value, schema.field(key), options)?,
                _ => merge::merge_member(&mut self.value, key, value, schema.field(key))?,
            }
        }
        Ok(true)
    }

    /// Replaces the object by the patch, except for its identity.
    fn replace(&mut self, patch: Node<'d>, schema: MergeSchema) -> Result<bool, PatchFailure> {
        let kept = ["apiVersion", "kind"].map(|key| self.value.get(key).map(Cow::into_owned));
        let metadata = self.value.get("metadata").map(Cow::into_owned);
        let stays = merge::merge(&mut self.value, patch, schema)?;
        for (key, value) in ["apiVersion", "kind"].into_iter().zip(kept) {
            if let Some(value) = value {
                self.value.set(key, value);
            }
        }
        let new = self.value.member_or_object("metadata", patch);
        if let (Some(old), Some(new)) = (metadata, new) {
            for key in ["name", "namespace"] {
                match old.get(key) {
                    Some(value) => new.set(key, value.into_owned()),
                    None => drop(new.remove(key)),
                }
            }
        }
        Ok(stays)
    }

    fn patch_metadata(
        &mut self,
        patch: Node<'d>,
        schema: MergeSchema,
        options: PatchOptions,
    ) -> Result<(), PatchFailure> {
        let Some(metadata) = self.value.member_or_object("metadata", patch) else { return Ok(()) };
        for (key, value) in patch.members() {
            match key {
                "namespace" => {}
                "name" if !options.allow_name_change => {}
                // `CopyMergeMetaDataFieldsFrom` reads the labels and annotations of such a patch as strings.
                "labels" | "annotations" if options.has_target && value.is_mapping() => {
                    let Some(map) = metadata.member_or_object(key, value) else { continue };
                    for (key, value) in value.members() {
                        let new = if value.is_null() {
                            BuiltValue::Computed("null".to_owned(), value)
                        } else {
                            BuiltValue::Written(value)
                        };
                        Self::set_within(map, key, new);
                    }
                }
                _ => merge::merge_member(metadata, key, value, schema.field(key))?,
            }
        }
        Ok(())
    }

    /// Calls a function for every value at a path of keys. A list on the path means all its items. `create` is the place
    /// of the objects that are created for missing keys.
    pub(crate) fn visit(
        value: &mut BuiltValue<'d>,
        path: &[&str],
        create: Option<Node<'d>>,
        found: &mut dyn FnMut(&mut BuiltValue<'d>),
    ) {
        let Some((first, rest)) = path.split_first() else { return found(value) };
        match value.shape() {
            Shape::Sequence => {
                for item in value.items().into_iter().flatten() {
                    Self::visit(item, path, create, found);
                }
            }
            Shape::Mapping => {
                let key = first.strip_suffix("[]");
                let member = match (key, create) {
                    (None, Some(at)) => value.member_or_object(first, at),
                    (key, _) => {
                        let key = key.unwrap_or(first);
                        if value.get(key).is_none() {
                            return;
                        }
                        value.get_mut(key)
                    }
                };
                if let Some(member) = member {
                    Self::visit(member, rest, create, found);
                }
            }
            Shape::Null | Shape::Scalar => {}
        }
    }
}
