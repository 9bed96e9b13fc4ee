//! Kustomizations, built as `kustomize build` builds them.
//!
//! [`Builds::of`] finds the kustomizations among the files of an input, and builds every one that no other one includes. The result
//! is one document per changed object, whose nodes keep the places of their text: in the base, in the patch, or in the
//! kustomization itself. Nothing outside the input is read. Objects of a remote base or of a chart are not in
//! the input, so nothing can be said about them; an object that a step changes in an unknown way is marked as unresolved. `ConfigMaps` of a
//! generator are there for replacements and for variables of Flux.
//!
//! Source: kubernetes-sigs/kustomize at kustomize/v5.5.0 (api v0.18.0, kyaml v0.18.1), the version in kubectl 1.32.

mod build;
mod failure;
mod field_spec;
mod generator;
mod json_patch;
mod kustomization;
mod merge;
mod name_reference;
mod patches;
mod path;
mod replacement;
mod resource;
mod schema;
mod selector;
mod steps;
mod transform;
mod unexecuted;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use manifest::limits::Limits;
use manifest::tree::{Assembly, NodeId, Tree};
use manifest::{DocumentNumber, File, FileNumber};

use build::{Builder, Inputs};
use kustomization::{InlinePatches, Kustomization, PatchText};
use resource::Resource;
use steps::Steps;

pub use generator::{GeneratedEntry, Generator, generator_files, generators, text_of};
pub use patches::{Patches, is_named_patch, is_part, looks_like_patch};
pub use path::KUSTOMIZATION_FILES;
pub use unexecuted::{sources_of_variables, unexecuted_fields, unexecuted_files};

/// Steps that all builds may take for each node of the limits.
const STEPS_PER_NODE: usize = 32;
/// The part of all steps that one build may take, so that others are built even if it is too large.
const MAX_SHARE: usize = 8;

/// The builds of an input.
#[derive(Debug, Default)]
pub struct Builds {
    /// One build for each kustomization that no other one includes.
    pub overlays: Vec<Overlay>,
    /// The kustomizations whose build would take more steps than the limits allow. They have no overlay.
    pub unfinished: BTreeSet<FileNumber>,
    /// The files that are kustomizations.
    pub kustomizations: BTreeSet<FileNumber>,
    /// The files that are patches: for each, the overlays whose objects it changes.
    pub patches: BTreeMap<FileNumber, Vec<String>>,
    /// The `ConfigMaps` that generators make.
    pub generated: Vec<GeneratedMap>,
}

/// A `ConfigMap` that a generator makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedMap {
    /// The name, before a suffix with the hash of the content.
    pub name: String,
    /// The namespace, if the kustomization sets one.
    pub namespace: Option<String>,
    /// The folder of the kustomization with the generator.
    pub folder: String,
    /// The entries.
    pub entries: BTreeMap<String, String>,
}

/// The build of one kustomization.
#[derive(Debug)]
pub struct Overlay {
    /// The folder of the kustomization; `.` if it is in the current folder.
    pub name: String,
    /// The objects that the input has text for.
    pub objects: Vec<BuiltObject>,
}

/// An object of a build.
#[derive(Debug)]
pub struct BuiltObject {
    /// The place of the object in the input.
    pub origin: Origin,
    /// The object after the build.
    pub outcome: BuildOutcome,
    /// The reason why the object after the build is not known for certain.
    pub unresolved: Option<String>,
}

/// Place of an object in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The document.
    pub document: DocumentNumber,
    /// The root of the object in the document.
    pub root: NodeId,
}

/// Result of a build for one object.
#[derive(Debug)]
pub enum BuildOutcome {
    /// The object as its file has it.
    Unchanged,
    /// A changed object.
    Changed(Box<Tree>),
    /// A patch removes the object.
    Deleted,
}

impl Builds {
    /// Builds the kustomizations of some files. The built documents together have at most `limits.nodes` nodes.
    pub fn of(files: &[File], limits: &Limits) -> Self {
        Self::with_roots(files, limits, &BTreeSet::new())
    }

    /// Builds the kustomizations of some files, and the ones of some folders although other kustomizations include them.
    pub fn with_roots(files: &[File], limits: &Limits, roots: &BTreeSet<String>) -> Self {
        let kustomizations = kustomizations(files);
        if kustomizations.is_empty() {
            return Self::default();
        }
        let by_path = |(index, file): (FileNumber, &File)| (path::join("", file.source.name()), index);
        let by_path = FileNumber::enumerate(files).map(by_path).collect();
        let inline = InlinePatches::parse(&kustomizations, limits);
        let inputs = Inputs { files, by_path, kustomizations };
        let included = included(&inputs);
        let mut steps = Steps::new(limits.nodes.saturating_mul(STEPS_PER_NODE));
        let mut nodes = limits.nodes;
        let files = inputs.kustomizations.values().map(|kustomization| kustomization.file).collect();
        let (overlays, unfinished) = (Vec::new(), BTreeSet::new());
        let mut builds = Self {
            overlays,
            unfinished,
            kustomizations: files,
            patches: patch_files(&inputs),
            generated: Vec::new(),
        };
        for (folder, kustomization) in &inputs.kustomizations {
            let is_included = included.contains(folder) && !roots.contains(folder);
            if is_included || kustomization.is_component() {
                continue;
            }
            let name = if folder.is_empty() { ".".to_owned() } else { folder.clone() };
            let mut share = steps.share(MAX_SHARE);
            let mut builder = Builder::new(&inputs, &inline, &mut share);
            let result = builder.build(folder);
            let Builder { deleted, applied, .. } = builder;
            steps.put_back(&share);
            let Ok(resources) = result else {
                builds.unfinished.insert(kustomization.file);
                continue;
            };
            let deleted = deleted.iter().filter(|resource| !resource.is_generated);
            let deleted = deleted.map(|resource| built(resource, BuildOutcome::Deleted));
            let mut objects: Vec<BuiltObject> = deleted.collect();
            let (generated, resources): (Vec<_>, Vec<_>) =
                resources.iter().partition(|resource| resource.is_generated);
            for resource in resources {
                objects.push(written(resource, limits, &mut nodes));
            }
            for map in generated.into_iter().filter_map(generated_map) {
                if !builds.generated.contains(&map) {
                    builds.generated.push(map);
                }
            }
            for file in &applied {
                builds.patches.entry(*file).or_default().push(name.clone());
            }
            builds.overlays.push(Overlay { name, objects });
        }
        builds
    }
}

/// Whether any file is a kustomization, so that objects are checked as it builds them.
pub fn has_kustomization(files: &[File]) -> bool {
    FileNumber::enumerate(files).any(|(index, file)| Kustomization::find(file, index).is_some())
}

/// Names of the files and folders to which a kustomization refers, as they would be in the input; empty for another file. A reference to
/// another machine gives a name that no file has.
pub fn references(file: &File) -> Vec<String> {
    let Some(kustomization) = Kustomization::find(file, FileNumber::new(0)) else { return Vec::new() };
    let lists = ["resources", "bases", "components"].into_iter().flat_map(|list| kustomization.paths(list));
    let patches = kustomization.patches().into_iter().chain(kustomization.json_patches());
    let patches = patches.filter_map(|patch| match patch.text {
        PatchText::Path(path) => Some(path),
        PatchText::Inline(_) => None,
    });
    let name = path::join("", file.source.name());
    lists.chain(patches).map(|path| path::join(path::folder(&name), path)).collect()
}

/// A generated `ConfigMap` after a build; `None` if its content is not known for certain.
fn generated_map(resource: &Resource<'_>) -> Option<GeneratedMap> {
    let data = resource.value.get("data").filter(|_| resource.unresolved.is_none())?;
    let entries = data.parts().into_iter();
    let entries = entries.filter_map(|(key, text)| Some((key.into_owned(), text.text()?.to_owned())));
    Some(GeneratedMap {
        name: resource.value.text_at(&["metadata", "name"])?,
        namespace: resource.value.text_at(&["metadata", "namespace"]),
        folder: path::folder(&path::join("", resource.root.source().name())).to_owned(),
        entries: entries.collect(),
    })
}

/// The object of a build.
fn written(resource: &Resource<'_>, limits: &Limits, nodes: &mut usize) -> BuiltObject {
    if !resource.is_changed {
        return built(resource, BuildOutcome::Unchanged);
    }
    let mut assembly = Assembly::new(resource.root, limits.nodes.min(*nodes));
    let is_complete = resource.value.write(&mut assembly, None, None).is_some();
    *nodes = nodes.saturating_sub(assembly.len());
    if is_complete {
        return built(resource, BuildOutcome::Changed(Box::new(assembly.finish())));
    }
    let unresolved = Some("the objects of the builds are too large".to_owned());
    BuiltObject { unresolved, ..built(resource, BuildOutcome::Unchanged) }
}

fn built(resource: &Resource<'_>, outcome: BuildOutcome) -> BuiltObject {
    BuiltObject { origin: resource.origin, outcome, unresolved: resource.unresolved.clone() }
}

/// The kustomizations by folder. A folder with two of them has none: kustomize refuses it.
fn kustomizations(files: &[File]) -> BTreeMap<String, Kustomization<'_>> {
    let mut found = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for (index, file) in FileNumber::enumerate(files) {
        let name = path::join("", file.source.name());
        if let Some(kustomization) = Kustomization::find(file, index)
            && found.insert(path::folder(&name).to_owned(), kustomization).is_some()
        {
            refused.insert(path::folder(&name).to_owned());
        }
    }
    found.retain(|folder, _| !refused.contains(folder));
    found
}

/// The folders that any kustomization includes.
fn included(inputs: &Inputs<'_>) -> BTreeSet<String> {
    let mut included = BTreeSet::new();
    for (folder, kustomization) in &inputs.kustomizations {
        for list in ["resources", "bases", "components"] {
            included.extend(kustomization.paths(list).map(|path| path::join(folder, path)));
        }
    }
    included
}

/// The files that are patches and no resources.
fn patch_files(inputs: &Inputs<'_>) -> BTreeMap<FileNumber, Vec<String>> {
    let (mut patches, mut resources) = (BTreeSet::new(), BTreeSet::new());
    for (folder, kustomization) in &inputs.kustomizations {
        for patch in kustomization.patches().into_iter().chain(kustomization.json_patches()) {
            if let PatchText::Path(path) = patch.text {
                patches.insert(path::join(folder, path));
            }
        }
        resources.extend(kustomization.paths("resources").map(|path| path::join(folder, path)));
    }
    let indices = patches.difference(&resources).filter_map(|path| inputs.by_path.get(path));
    indices.map(|index| (*index, Vec::new())).collect()
}
