//! A cluster in memory, which answers in the format of Kubewarden's host.
//!
//! Source: kubewarden/kubewarden-controller `crates/policy-evaluator/src/callback_handler/kubernetes/` (`client.rs`,
//! `reflector.rs`).

use std::{collections::BTreeSet, sync::Arc};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{
    mask::Mask,
    reflector::{HostAnswer, ReflectedList},
    selector::{fields_match, labels_match},
    session::HostRequest,
};
use crate::kinds::{group_and_version, is_built_in, is_namespaced};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Debug, Default)]
pub(super) struct FakeInventory {
    objects: Vec<Arc<Value>>,
    not_served: BTreeSet<(String, String)>,
    permitted: BTreeSet<[String; 4]>,
}

impl FakeInventory {
    pub(super) fn new(objects: impl IntoIterator<Item = impl Into<Arc<Value>>>) -> Self {
        Self { objects: objects.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub(super) fn forget_kind(&mut self, api_version: &str, kind: &str) {
        self.not_served.insert((api_version.to_owned(), kind.to_owned()));
    }

    pub(super) fn permit(&mut self, user: &str, verb: &str, group: &str, resource: &str) {
        self.permitted.insert([user, verb, group, resource].map(str::to_owned));
    }

    pub(super) fn answer(&self, request: &HostRequest) -> Result<HostAnswer> {
        let other = match request {
            HostRequest::KubernetesListResourceAll {
                api_version,
                kind,
                label_selector,
                field_selector,
                field_masks,
            } => {
                let selectors = [label_selector.as_deref(), field_selector.as_deref()];
                let list = self.list((api_version, kind), None, selectors, field_masks.as_ref())?;
                return Ok(list.into());
            }
            HostRequest::KubernetesListResourceNamespace {
                api_version,
                kind,
                namespace,
                label_selector,
                field_selector,
                field_masks,
            } => {
                let selectors = [label_selector.as_deref(), field_selector.as_deref()];
                let list =
                    self.list((api_version, kind), Some(namespace), selectors, field_masks.as_ref())?;
                return Ok(list.into());
            }
            HostRequest::KubernetesGetResource {
                api_version, kind, name, namespace, field_masks, ..
            } => self.get((api_version, kind), name, namespace.as_deref(), field_masks.as_ref())?,
            HostRequest::KubernetesCanI { request, .. } => json!({ "allowed": self.permits(request) }),
        };
        Ok(HostAnswer::Value(other))
    }

    fn list(
        &self,
        (api_version, kind): (&str, &str),
        namespace: Option<&str>,
        [labels, fields]: [Option<&str>; 2],
        masks: Option<&BTreeSet<String>>,
    ) -> Result<ReflectedList> {
        let namespaced = self.scope(api_version, kind)?;
        if namespace.is_some() && !namespaced {
            bail!(
                "resource {api_version}/{kind} is cluster wide. Cannot search for it inside of a namespace"
            );
        }
        let mask = masks.map(|masks| Mask::new(masks.iter().map(String::as_str)));
        let mut items = Vec::new();
        for object in self.of_kind(api_version, kind) {
            let wanted = namespace.is_none_or(|namespace| namespace_of(object) == namespace)
                && labels.map_or(Ok(true), |selector| labels_match(selector, object))?
                && fields.map_or(Ok(true), |selector| fields_match(selector, object))?;
            if wanted {
                items.push(listed(object.clone(), mask.as_ref()));
            }
        }
        Ok(ReflectedList::new(api_version, kind, items))
    }

    fn get(
        &self,
        (api_version, kind): (&str, &str),
        name: &str,
        namespace: Option<&str>,
        masks: Option<&BTreeSet<String>>,
    ) -> Result<Value> {
        let namespaced = self.scope(api_version, kind)?;
        if namespaced && namespace.is_none() {
            bail!("Resource {api_version}/{kind} is namespaced, but no namespace was provided");
        }
        let is_wanted = |object: &&Value| {
            name_of(object) == name && (!namespaced || namespace == Some(namespace_of(object)))
        };
        let found = self.of_kind(api_version, kind).find(is_wanted);
        let mut object = found.cloned().with_context(|| {
            format!("Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'")
        })?;
        if let Some(masks) = masks {
            Mask::new(masks.iter().map(String::as_str)).prune_object(&mut object);
        }
        Ok(object)
    }

    /// Whether objects of the kind have a namespace. Fails for a kind that is not served.
    fn scope(&self, api_version: &str, kind: &str) -> Result<bool> {
        if self.not_served.contains(&(api_version.to_owned(), kind.to_owned())) {
            bail!("Cannot find resource {api_version}/{kind}");
        }
        Ok(is_namespaced(group_and_version(api_version).0, kind))
    }

    fn of_kind(&self, api_version: &str, kind: &str) -> impl Iterator<Item = &Value> {
        let has = |object: &Value, field: &str, value: &str| {
            object.get(field).and_then(Value::as_str) == Some(value)
        };
        let wanted = (api_version.to_owned(), kind.to_owned());
        self.objects
            .iter()
            .map(Arc::as_ref)
            .filter(move |object| has(object, "apiVersion", &wanted.0) && has(object, "kind", &wanted.1))
    }

    fn permits(&self, review: &Value) -> bool {
        let text =
            |pointer: &str| review.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let requested = [
            "/user",
            "/resource_attributes/verb",
            "/resource_attributes/group",
            "/resource_attributes/resource",
        ];
        self.permitted.contains(&requested.map(text))
    }
}

/// An object as an item of the host's list. The host empties `managedFields` and drops the last applied configuration
/// (`modify_object` in `reflector.rs`). For built-in kinds the API server omits `apiVersion` and `kind` in the items of a list.
fn listed(mut object: Value, mask: Option<&Mask>) -> Value {
    let built_in = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .is_some_and(|api_version| is_built_in(group_and_version(api_version).0));
    if let Some(fields) = object.as_object_mut() {
        if built_in {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("managedFields".to_owned(), json!([]));
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.remove(LAST_APPLIED);
            }
        }
    }
    if let Some(mask) = mask {
        mask.prune_object(&mut object);
    }
    object
}

fn name_of(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

/// The namespace of an object; `default` if it names none.
fn namespace_of(object: &Value) -> &str {
    object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("default")
}
