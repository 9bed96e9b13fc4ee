//! The part of Kustomize that the overlays use: resources, components, and JSON patches with a target.
//!
//! Any other field of a `kustomization.yaml` is an error, so that the tests see what `kubectl apply -k` applies.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::home;
use crate::yaml::documents;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Kustomization {
    api_version: String,
    kind: String,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    components: Vec<String>,
    #[serde(default)]
    patches: Vec<Patch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    target: Target,
    patch: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    kind: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    op: String,
    path: String,
    value: Value,
}

/// The objects that a folder of the repository renders to, in order.
pub fn render(folder: &str) -> Result<Vec<Value>> {
    let mut objects = Vec::new();
    add(folder, &mut objects)?;
    Ok(objects)
}

/// The objects that a user's `kustomization.yaml` renders to. An address of this repository at the current version means
/// the folder in the working tree.
pub fn render_text(text: &str) -> Result<Vec<Value>> {
    let mut objects = Vec::new();
    build("", text, &mut objects)?;
    Ok(objects)
}

fn add(folder: &str, objects: &mut Vec<Value>) -> Result<()> {
    build(folder, &home::text(&format!("{folder}/kustomization.yaml"))?, objects)
}

/// The path of an entry of a kustomization in the repository.
fn local(folder: &str, entry: &str) -> String {
    let of_repository = entry.strip_prefix(home::REPOSITORY).and_then(|rest| rest.strip_prefix("//"));
    let current = format!("?ref=v{}", home::VERSION);
    match of_repository.and_then(|rest| rest.strip_suffix(&current)) {
        Some(path) => path.to_owned(),
        None => format!("{folder}/{entry}"),
    }
}

fn build(folder: &str, text: &str, objects: &mut Vec<Value>) -> Result<()> {
    let file = format!("{folder}/kustomization.yaml");
    let kustomization: Kustomization = serde_saphyr::from_str(text).with_context(|| file.clone())?;
    let expected = match kustomization.kind.as_str() {
        "Kustomization" => "kustomize.config.k8s.io/v1beta1",
        "Component" => "kustomize.config.k8s.io/v1alpha1",
        other => bail!("{file}: unknown kind {other}"),
    };
    if kustomization.api_version != expected {
        bail!("{file}: a {} has the apiVersion {expected}", kustomization.kind);
    }
    for resource in kustomization.resources {
        let path = local(folder, &resource);
        if home::path(&path).is_dir() {
            add(&path, objects)?;
        } else {
            objects.extend(documents(&home::text(&path)?).with_context(|| path.clone())?);
        }
    }
    for component in kustomization.components {
        add(&local(folder, &component), objects)?;
    }
    for patch in kustomization.patches {
        let changes: Vec<Change> = serde_saphyr::from_str(&patch.patch).with_context(|| file.clone())?;
        let is_target = |object: &&mut Value| {
            let is = |pointer, wanted: &str| object.pointer(pointer).and_then(Value::as_str) == Some(wanted);
            is("/kind", &patch.target.kind)
                && patch.target.name.as_deref().is_none_or(|name| is("/metadata/name", name))
        };
        let mut targets: Vec<&mut Value> = objects.iter_mut().filter(is_target).collect();
        if targets.is_empty() {
            bail!("{file}: a patch matches no object");
        }
        for target in &mut targets {
            for change in &changes {
                apply(target, change).with_context(|| file.clone())?;
            }
        }
    }
    Ok(())
}

/// Applies a change of RFC 6902: `add` to an object, or `replace`.
fn apply(object: &mut Value, change: &Change) -> Result<()> {
    let (parent, key) = change.path.rsplit_once('/').context("a path starts with a slash")?;
    let parent = object.pointer_mut(parent).and_then(Value::as_object_mut);
    let fields = parent.with_context(|| format!("no object at the parent of {}", change.path))?;
    match change.op.as_str() {
        "replace" if !fields.contains_key(key) => bail!("nothing at {}", change.path),
        "add" | "replace" => fields.insert(key.to_owned(), change.value.clone()),
        other => bail!("unknown operation {other}"),
    };
    Ok(())
}
