//! The part of Kustomize that the overlays use: resources, components, `ConfigMap`s from files, and JSON patches with a target.
//!
//! Any other field of a `kustomization.yaml` is an error, so that the tests see what `kubectl apply -k` applies.

use anyhow::{Context as _, Result, bail};
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

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
    config_map_generator: Vec<ConfigMap>,
    #[serde(default)]
    patches: Vec<Patch>,
}

/// A ConfigMap whose keys are the names of files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigMap {
    name: String,
    namespace: String,
    files: Vec<String>,
    options: ConfigMapOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConfigMapOptions {
    disable_name_suffix_hash: bool,
    labels: Value,
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
    /// A regular expression for the whole name.
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
/// the folder in the working tree, and so does the folder `karpwarden` beside the file.
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
        None if folder.is_empty() => entry.strip_prefix("karpwarden/").unwrap_or(entry).to_owned(),
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
    for generated in kustomization.config_map_generator {
        objects.push(config_map(folder, &generated).with_context(|| file.clone())?);
    }
    for patch in kustomization.patches {
        let changes: Vec<Change> = serde_saphyr::from_str(&patch.patch).with_context(|| file.clone())?;
        let name = patch.target.name.as_deref().unwrap_or(".*");
        let name = Regex::new(&format!("^(?:{name})$")).with_context(|| file.clone())?;
        let is_target = |object: &&mut Value| {
            let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            text("/kind") == patch.target.kind && name.is_match(text("/metadata/name"))
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

fn config_map(folder: &str, generated: &ConfigMap) -> Result<Value> {
    if !generated.options.disable_name_suffix_hash {
        bail!("{}: a name with a hash cannot be removed by name", generated.name);
    }
    let mut data = Map::new();
    for name in &generated.files {
        data.insert(name.clone(), home::text(&format!("{folder}/{name}"))?.into());
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": generated.name,
            "namespace": generated.namespace,
            "labels": generated.options.labels,
        },
        "data": data,
    }))
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
