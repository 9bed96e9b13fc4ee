//! The build of a kustomization: its objects, and the steps that change them, in the order of kustomize.
//!
//! Source: `accumulateTarget` in api/internal/target/kusttarget.go and `configureBuiltinTransformers` in
//! `api/internal/target/kusttarget_configplugin.go` of kustomize v5.5.0.

use std::collections::{BTreeMap, BTreeSet};

use always_assert::never;
use ids::{Id as _, ids};
use manifest::tree::Node;
use manifest::{Document, DocumentNumber, File, FileNumber};

use crate::failure::{PatchFailure, ReplacementFailure};
use crate::generator::{self, generators_in};
use crate::json_patch;
use crate::kustomization::{InlinePatches, Kustomization, Patch, PatchText};
use crate::merge;
use crate::name_reference;
use crate::path;
use crate::replacement;
use crate::resource::{ObjectIdentity, PatchOptions, Resource};
use crate::selector::TargetSelector;
use crate::steps::{Steps, TooLarge};
use crate::transform;
use crate::unexecuted::UnexecutedField;
use crate::value::BuiltValue;

/// Maximum depth of kustomizations that include kustomizations.
const MAX_DEPTH: usize = 64;

/// Reason why the result of a patch is not known.
const UNREAD_PATCH: &str = "a patch that is not in the input or cannot be read";

ids! {
    /// Object among the objects of a kustomization.
    ResourceId;
}

impl ResourceId {
    fn within<'r, 'd>(self, resources: &'r mut [Resource<'d>]) -> Option<&'r mut Resource<'d>> {
        let resource = resources.get_mut(self.position());
        never!(resource.is_none(), "an object of another kustomization");
        resource
    }
}

/// The inputs of all builds.
#[derive(Debug)]
pub(crate) struct Inputs<'d> {
    pub(crate) files: &'d [File],
    /// The files by path.
    pub(crate) by_path: BTreeMap<String, FileNumber>,
    /// The kustomizations by folder.
    pub(crate) kustomizations: BTreeMap<String, Kustomization<'d>>,
}

/// The build of one kustomization that no other one includes.
#[derive(Debug)]
pub(crate) struct Builder<'b, 'd> {
    inputs: &'b Inputs<'d>,
    inline: &'d InlinePatches,
    steps: &'b mut Steps,
    /// The objects of the folders that are already built. Several kustomizations may include one.
    built: BTreeMap<String, Vec<Resource<'d>>>,
    /// The folders that are being built, from the outermost one.
    open: Vec<String>,
    /// The fields that are not executed and that the kustomizations around theirs have too, each with a reason for doubt.
    inherited: Vec<(UnexecutedField<'d>, String)>,
    /// The reason why kustomize refuses the build.
    failure: Option<String>,
    /// Objects that a patch removes.
    pub(crate) deleted: Vec<Resource<'d>>,
    /// Files whose patches changed an object.
    pub(crate) applied: BTreeSet<FileNumber>,
}

impl<'b, 'd> Builder<'b, 'd> {
    pub(crate) fn new(inputs: &'b Inputs<'d>, inline: &'d InlinePatches, steps: &'b mut Steps) -> Self {
        Self {
            inputs,
            inline,
            steps,
            built: BTreeMap::new(),
            open: Vec::new(),
            inherited: Vec::new(),
            failure: None,
            deleted: Vec::new(),
            applied: BTreeSet::new(),
        }
    }

    /// Builds the kustomization of a folder.
    pub(crate) fn build(&mut self, folder: &str) -> Result<Vec<Resource<'d>>, TooLarge> {
        let mut resources = self.accumulate(folder, Vec::new())?;
        for (field, reason) in std::mem::take(&mut self.inherited) {
            self.doubt(&field, &reason, &mut resources)?;
        }
        if let Some(reason) = &self.failure {
            for resource in &mut resources {
                resource.doubt(reason);
            }
        }
        name_reference::update(&mut resources);
        Ok(resources)
    }

    /// Spends the steps of the transformers: every entry visits every object, and every image the whole object.
    fn spend_on_transformers(
        &mut self,
        kustomization: Node<'_>,
        resources: &[Resource<'d>],
    ) -> Result<(), TooLarge> {
        let entries = 1 + kustomization.span().len() / 64;
        let images = 1 + kustomization.items_at(&["images"]).count();
        let size = resources.iter().map(|resource| resource.value.size()).fold(0, usize::saturating_add);
        self.steps.spend(entries.saturating_mul(resources.len()).saturating_add(images.saturating_mul(size)))
    }

    /// Adds the objects of a kustomization and applies its steps to them. A Component gets the objects of the kustomization
    /// that uses it.
    fn accumulate(
        &mut self,
        folder: &str,
        mut resources: Vec<Resource<'d>>,
    ) -> Result<Vec<Resource<'d>>, TooLarge> {
        let Some(kustomization) = self.inputs.kustomizations.get(folder).copied() else {
            return Ok(resources);
        };
        self.steps.spend_on_visits(1)?;
        self.open.push(folder.to_owned());
        let mut doubt: Option<String> = None;
        for list in ["resources", "bases"] {
            for path in kustomization.paths(list) {
                self.add(folder, path, &mut resources)?;
            }
        }
        self.generate(kustomization, &mut resources)?;
        for path in kustomization.paths("components") {
            let component = path::join(folder, path);
            let found = self.inputs.kustomizations.get(&component).filter(|found| found.is_component());
            if found.is_none() || self.is_refused(&component) {
                doubt
                    .get_or_insert_with(|| format!("uses the component `{path}`, which is not in the input"));
                continue;
            }
            resources = self.accumulate(&component, resources)?;
        }
        self.spend_on_transformers(kustomization.root, &resources)?;
        for patch in kustomization.patches() {
            self.patch(kustomization, patch, &mut resources, &mut doubt)?;
        }
        let root = kustomization.root;
        transform::set_namespace(&mut resources, root);
        transform::rename(&mut resources, root);
        transform::set_labels(&mut resources, root);
        transform::set_annotations(&mut resources, root);
        for patch in kustomization.json_patches() {
            self.patch(kustomization, patch, &mut resources, &mut doubt)?;
        }
        transform::set_replicas(&mut resources, root);
        transform::set_images(&mut resources, root);
        self.steps.spend(root.items_at(&["replacements"]).count().saturating_mul(1 + resources.len()))?;
        for entry in root.items_at(&["replacements"]) {
            for replacement in self.replacements(kustomization, entry, &mut doubt) {
                match replacement::apply(&mut resources, replacement, self.steps) {
                    Err(ReplacementFailure::TooLarge(error)) => return Err(error),
                    Err(failure) => drop(doubt.get_or_insert_with(|| failure.to_string())),
                    Ok(()) => {}
                }
            }
        }
        let shown = if folder.is_empty() { "." } else { folder };
        let file = |path: &str| self.file_of(kustomization, path).map(|(_, file)| file);
        for field in UnexecutedField::all_of(kustomization, file) {
            let reason = format!("`{shown}` uses `{}`", field.name);
            self.doubt(&field, &reason, &mut resources)?;
            self.inherited.extend(field.is_inherited().then_some((field, reason)));
        }
        if let Some(doubt) = doubt {
            let reason = format!("`{shown}` {doubt}");
            for resource in &mut resources {
                resource.doubt(&reason);
            }
        }
        self.open.pop();
        Ok(resources)
    }

    /// Doubts the objects that a field may change which is not executed.
    fn doubt(
        &mut self,
        field: &UnexecutedField<'d>,
        reason: &str,
        resources: &mut [Resource<'d>],
    ) -> Result<(), TooLarge> {
        let sizes = resources.iter().map(|resource| resource.value.size());
        self.steps.spend(sizes.fold(0, usize::saturating_add))?;
        self.steps.spend(field.len().saturating_mul(resources.len()))?;
        for resource in resources.iter_mut().filter(|one| field.may_change(one)) {
            resource.doubt(reason);
        }
        Ok(())
    }

    /// Runs the generators of `ConfigMaps` whose files are all in the input. Secrets have their texts in Base64, which nothing here needs. An
    /// object that a generator changes in another way is not known for certain.
    ///
    /// Source: `AbsorbAll` in api/resmap/reswrangler.go of kustomize v5.5.0.
    fn generate(
        &mut self,
        kustomization: Kustomization<'d>,
        resources: &mut Vec<Resource<'d>>,
    ) -> Result<(), TooLarge> {
        let inputs = self.inputs;
        let text = |name: &str| {
            let file = inputs.by_path.get(name)?.within(inputs.files)?;
            generator::text_of(file)
        };
        for generator in generators_in(kustomization.root) {
            let (entries, is_complete) = generator.entries(text);
            let is_known = is_complete && generator.kind == "ConfigMap";
            self.steps.spend_on_values(1 + entries.len())?;
            self.steps.spend(entries.iter().map(|entry| entry.text.len() / 64).sum())?;
            if generator.is_merged() {
                let is_same = |id: &ObjectIdentity| id.kind == generator.kind && id.name == generator.name();
                let found = matching(resources, |one| is_same(&one.id()) || one.previous.iter().any(is_same));
                match found.as_slice() {
                    [one] if is_known => {
                        one.within(resources).into_iter().for_each(|one| one.absorb(generator, &entries));
                    }
                    _ => doubt_all(resources, &found, &format!("a `{}` changes it", generator.list)),
                }
            } else if is_known {
                resources.push(Resource::generated(generator, &entries, kustomization.file.document(0)));
            }
        }
        Ok(())
    }

    /// The replacements of an entry: the entry itself, or the content of the file that it names.
    fn replacements(
        &self,
        kustomization: Kustomization<'d>,
        entry: Node<'d>,
        doubt: &mut Option<String>,
    ) -> Vec<Node<'d>> {
        let Some(path) = entry.str_at(&["path"]) else { return vec![entry] };
        let documents = self.file_of(kustomization, path).map(|(_, file)| file.documents.as_slice());
        match documents.and_then(|documents| documents.first()).and_then(root) {
            Some(list) if list.is_sequence() => list.items().collect(),
            Some(one) => vec![one],
            None => {
                doubt.get_or_insert_with(|| {
                    format!("uses the replacement `{path}`, which is not in the input")
                });
                Vec::new()
            }
        }
    }

    /// The file at a path from the folder of a kustomization.
    fn file_of(&self, kustomization: Kustomization<'d>, path: &str) -> Option<(FileNumber, &'d File)> {
        let own = kustomization.file.within(self.inputs.files)?;
        let folder = path::folder(own.source.name());
        let index = *self.inputs.by_path.get(&path::join(&path::join("", folder), path))?;
        Some((index, index.within(self.inputs.files)?))
    }

    /// Whether a folder includes itself or is too deep.
    fn is_refused(&self, folder: &str) -> bool {
        self.open.len() >= MAX_DEPTH || self.open.iter().any(|open| open == folder)
    }

    /// Adds the objects of a file, or of the kustomization of a folder. Other resources, such as a remote one, are not in the
    /// input.
    fn add(&mut self, folder: &str, path: &str, resources: &mut Vec<Resource<'d>>) -> Result<(), TooLarge> {
        self.steps.spend_on_visits(1)?;
        let name = path::join(folder, path);
        if let Some(index) = self.inputs.by_path.get(&name) {
            if let Some(file) = index.within(self.inputs.files) {
                for (position, read) in file.documents.iter().enumerate() {
                    if let Document::Read(tree) = read {
                        let before = resources.len();
                        add_objects(tree.root(), index.document(position), resources);
                        self.steps.spend(1)?;
                        self.steps.spend_on_values(resources.len() - before)?;
                    }
                }
            }
            return Ok(());
        }
        if !self.inputs.kustomizations.contains_key(&name) {
            return Ok(());
        }
        if self.is_refused(&name) {
            // kustomize refuses the whole build.
            let shown = if folder.is_empty() { "." } else { folder };
            self.failure.get_or_insert_with(|| format!("`{shown}` includes itself through `{path}`"));
            return Ok(());
        }
        if !self.built.contains_key(&name) {
            let below = self.accumulate(&name, Vec::new())?;
            self.built.insert(name.clone(), below);
        }
        for resource in self.built.get(&name).into_iter().flatten() {
            resources.push(Resource { value: self.steps.copy(&resource.value)?, ..resource.without_value() });
        }
        Ok(())
    }

    /// The documents of a patch, and its file. `None` if any of them is not in the input or cannot be read.
    fn documents_of(
        &self,
        kustomization: Kustomization<'d>,
        patch: Patch<'d>,
    ) -> (Option<Vec<Node<'d>>>, Option<FileNumber>) {
        let (documents, file) = match patch.text {
            PatchText::Inline(node) => (self.inline.get(kustomization.file, node), None),
            PatchText::Path(name) => {
                let file = self.file_of(kustomization, name);
                (file.map_or(&[][..], |(_, file)| file.documents.as_slice()), file.map(|(index, _)| index))
            }
        };
        let roots: Option<Vec<Node<'d>>> = documents.iter().map(root).collect();
        (roots.filter(|roots| !roots.is_empty()), file)
    }

    /// Applies a patch.
    fn patch(
        &mut self,
        kustomization: Kustomization<'d>,
        patch: Patch<'d>,
        resources: &mut Vec<Resource<'d>>,
        doubt: &mut Option<String>,
    ) -> Result<(), TooLarge> {
        let (roots, file) = self.documents_of(kustomization, patch);
        let selector = patch.target.map(TargetSelector::parse);
        self.steps.spend(1 + selector.as_ref().map_or(0, |_| resources.len()))?;
        let targets = match &selector {
            Some(Some(selector)) => Some(matching(resources, |resource| selector.selects(resource))),
            Some(None) => {
                doubt.get_or_insert_with(|| "has a patch target that is not a valid expression".to_owned());
                return Ok(());
            }
            None => None,
        };
        let Some(roots) = roots else {
            match targets {
                Some(targets) => doubt_all(resources, &targets, UNREAD_PATCH),
                None => drop(doubt.get_or_insert_with(|| format!("has {UNREAD_PATCH}"))),
            }
            return Ok(());
        };
        let mut gone = BTreeSet::new();
        for root in roots {
            let selected = match &targets {
                Some(targets) => targets.clone(),
                None => self.namesakes(root, resources)?,
            };
            for id in selected {
                self.steps.spend(1 + root.span().len() / 16)?;
                let Some(resource) = id.within(resources) else { continue };
                self.applied.extend(file);
                match apply_document(resource, root, options_of(patch), self.steps) {
                    Ok(true) => {}
                    Ok(false) => drop(gone.insert(id)),
                    Err(PatchFailure::TooLarge(error)) => return Err(error),
                    Err(why) => resource.doubt(&format!("a patch of it cannot be applied: {why}")),
                }
            }
        }
        self.remove(resources, &gone);
        Ok(())
    }

    /// The object that a patch without a target names. kustomize refuses a patch that names several.
    fn namesakes(
        &mut self,
        root: Node<'d>,
        resources: &mut [Resource<'d>],
    ) -> Result<Vec<ResourceId>, TooLarge> {
        self.steps.spend(resources.len())?;
        if !root.is_mapping() {
            return Ok(Vec::new());
        }
        let id = ObjectIdentity::of(&BuiltValue::Written(root));
        let found = matching(resources, |resource| resource.had_id(&id));
        if found.len() > 1 {
            doubt_all(resources, &found, "a patch names several objects");
            return Ok(Vec::new());
        }
        Ok(found)
    }

    /// Moves some objects to the deleted ones.
    fn remove(&mut self, resources: &mut Vec<Resource<'d>>, gone: &BTreeSet<ResourceId>) {
        if gone.is_empty() {
            return;
        }
        for (position, resource) in core::mem::take(resources).into_iter().enumerate() {
            let is_gone = gone.contains(&ResourceId::from_position(position));
            if is_gone { self.deleted.push(resource) } else { resources.push(resource) }
        }
    }
}

fn options_of(patch: Patch<'_>) -> PatchOptions {
    let flag = |key| patch.options.and_then(|options| options.get(key)?.as_bool()).unwrap_or(false);
    PatchOptions {
        has_target: patch.target.is_some(),
        allow_name_change: flag("allowNameChange"),
        allow_kind_change: flag("allowKindChange"),
    }
}

/// Applies one document of a patch to an object. Returns whether the object stays.
fn apply_document<'d>(
    resource: &mut Resource<'d>,
    root: Node<'d>,
    options: PatchOptions,
    steps: &mut Steps,
) -> Result<bool, PatchFailure> {
    if json_patch::is_json_patch(root) {
        resource.remember_id();
        resource.is_changed = true;
        return json_patch::apply(&mut resource.value, root, steps).map(|()| true);
    }
    if merge::is_strategic(root) {
        return resource.patch(root, options);
    }
    Err(PatchFailure::Form)
}

fn root(document: &Document) -> Option<Node<'_>> {
    if let Document::Read(tree) = document { Some(tree.root()) } else { None }
}

/// The objects that match.
fn matching<'d>(resources: &[Resource<'d>], matches: impl Fn(&Resource<'d>) -> bool) -> Vec<ResourceId> {
    resources
        .iter()
        .enumerate()
        .filter(|(_, resource)| matches(resource))
        .map(|(position, _)| ResourceId::from_position(position))
        .collect()
}

fn doubt_all(resources: &mut [Resource<'_>], selected: &[ResourceId], reason: &str) {
    for id in selected {
        if let Some(resource) = id.within(resources) {
            resource.doubt(reason);
        }
    }
}

/// Adds the objects of a document. A list is unpacked.
///
/// Source: `inlineAnyEmbeddedLists` in api/resource/factory.go.
fn add_objects<'d>(root: Node<'d>, document: DocumentNumber, resources: &mut Vec<Resource<'d>>) {
    if !root.is_mapping() || root.get("kind").is_none() {
        return;
    }
    let items = root.get("items").filter(|items| items.is_sequence());
    match items.filter(|_| root.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List"))) {
        Some(items) => {
            for item in items.items() {
                add_objects(item, document, resources);
            }
        }
        None => resources.push(Resource::new(root, document)),
    }
}
