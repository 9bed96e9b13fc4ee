#![doc = include_str!("../README.md")]

mod adaptation;
mod agreed;
mod convert;
mod draft;
mod given;
mod input;
mod managed;
mod merge;
mod parts;
mod spans;
mod text;
mod value;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use manifest::limits::Limits;
use manifest::tree::{ModuleInstance, Tree};
use manifest::{Document, File, FileKind, ReadOptions};
use objects::embedded::READ_OPTIONS;
use terraform::{
    CommandVariables, ConfigurationInput, EvaluatedBlock, EvaluatedConfiguration, is_plan, root_folders,
    texts_of_modules,
};

pub use given::{evaluate_given, is_template, is_variables, keep_manifests, needs_evaluation};
pub use managed::{Deletion, ManagedObject, ManagedObjects, forgotten, recreated, variables_differ};
pub use terraform::{PlannedSide, is_configuration};
pub use variables::NamedVariables;

use draft::DocumentDraft;
use input::InputFiles;
use merge::Merge;
use variables::{CommandFiles, GivenRoot};

/// Options for reading files that [`evaluate`] gets next: it reads the here-documents of configurations that it does not replace.
pub const OPTIONS_BEFORE_EVALUATION: ReadOptions =
    ReadOptions { leaves_here_documents: is_configuration, ..READ_OPTIONS };

/// Files beside the input that configurations may read, such as templates.
pub trait FilesBeside {
    /// Reads a file by its name in reports, with its kind: [`FileKind::Referenced`] outside of the input. `None` if the file does not exist or must not be read.
    fn read(&self, name: &str) -> Option<File>;

    /// The names of the files in the folders of the input.
    fn names(&self) -> Vec<String>;

    /// The names of the files of a folder that is outside of the folders of the input; none for another folder.
    fn names_in(&self, folder: &str) -> Vec<String>;
}

/// No files beside the input.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFilesBeside;

impl FilesBeside for NoFilesBeside {
    fn read(&self, _: &str) -> Option<File> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn names_in(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Replaces the documents of configurations by the objects that the configurations make, each with the places of its values. Files beside
/// the input that a configuration reads are added at the end.
///
/// Evaluating again after a change of a text gives the documents of the new text.
///
/// Of a resource that a plan in the folder of a configuration knows, only the object of the plan is left.
pub fn evaluate(files: &mut Vec<File>, beside: &dyn FilesBeside, limits: &Limits) {
    evaluate_into(files, beside, limits, (None, NamedVariables::Open));
}

/// Does the same as [`evaluate`] for a comparison, and returns the objects whose resources may be created again when they change. A resource
/// that makes no object has no document, and every file of variables beside the input is one of the files.
pub fn evaluate_managed(
    files: &mut Vec<File>,
    beside: &dyn FilesBeside,
    limits: &Limits,
    named: NamedVariables,
) -> ManagedObjects {
    let mut managed = ManagedObjects::default();
    evaluate_into(files, beside, limits, (Some(&mut managed), named));
    managed
}

fn evaluate_into(
    files: &mut Vec<File>,
    beside: &dyn FilesBeside,
    limits: &Limits,
    (mut managed, named): (Option<&mut ManagedObjects>, NamedVariables),
) {
    let planned = planned_in_folders(files, PlannedSide::After, managed.is_some(), limits);
    if !files.iter().any(|file| is_configuration(file.source.name())) {
        return;
    }
    let found = InputFiles::new(files, beside);
    // A comparison takes a resource that makes no object as a removal, and not as a text that hides one.
    let mut merge = Merge::of_configurations(managed.is_none());
    let is_beside_others = files.iter().any(|file| convert::may_depend(file.source.text()));
    let is_compared = managed.is_some();
    // The rest of a configuration may only say that Terraform forgets the objects.
    let is_mentioned = |text: &str| {
        convert::is_mentioned(text, is_beside_others) || (is_compared && managed::may_forget(text))
    };
    let configurations = files.iter().filter(|file| is_configuration(file.source.name()));
    let input = ConfigurationInput::new(&found, configurations.map(|file| file.source.text().len()).sum());
    let input = if managed.is_some() { input.with_contents_in_names() } else { input };
    let roots = if files.iter().any(|file| may_make_objects(file, is_mentioned)) {
        root_folders(&input)
    } else {
        Vec::new()
    };
    let makes_objects = |root: &String| {
        found.any_in(root, is_mentioned)
            || found.any_in(root, calls_local_module)
                && texts_of_modules(&input, root).iter().any(|text| is_mentioned(text.text()))
    };
    // A command may name any of them, so that a change of one may change an object.
    if managed.is_some() && !roots.is_empty() {
        found.read_variables();
    }
    let all_roots = roots;
    let roots: Vec<String> = all_roots.iter().filter(|root| makes_objects(root)).cloned().collect();
    let for_commands = is_compared.then(|| CommandFiles::of(&found, &input, (&roots, &all_roots), named));
    for root in roots {
        let planned = planned.get(&root);
        let is_planned = |address: &str| planned.is_some_and(|planned| planned.contains(address));
        let given = GivenRoot::all(&root, for_commands.as_ref());
        if let Some(managed) = &mut managed {
            let apart = given.iter().filter(|one| !one.files.is_empty());
            let apart = apart.map(|one| input::name_of(&one.name)).collect();
            managed.roots.insert(input::name_of(&root), apart);
        }
        for GivenRoot { name, files, possible, open } in given {
            let command = CommandVariables { files: &files, possible: &possible, open: &open };
            let mut configuration = EvaluatedConfiguration::evaluate_for(&root, &input, command);
            convert::read_files(&mut configuration, &root, &input);
            merge.add_problems(&configuration);
            if let Some(managed) = &mut managed {
                managed.add_moves(&name, &configuration);
            }
            let root_name = input::name_of(&name);
            for (block, drafts) in convert::drafts(&configuration, is_compared, is_planned) {
                let (module, texts) = (module_of(block, &root_name), &configuration.texts);
                if let Some(managed) = &mut managed {
                    managed.objects.extend(managed::objects_of(&module, block, &drafts, texts, limits));
                }
                merge.add_of_module(module, &drafts, texts, limits);
            }
            merge.add(&convert::absent(&configuration), &configuration.texts, limits);
        }
    }
    let read = found.into_read().into_iter();
    let known = files.len();
    files.extend(read.map(|file| File { documents: Vec::new(), ..file }));
    merge.apply(files, limits);
    for file in files.iter_mut().skip(known).filter(|file| file.documents.is_empty()) {
        file.kind = FileKind::TextOnly;
    }
}

/// The module of a block of a root module with a name.
fn module_of(block: &EvaluatedBlock, root: &str) -> ModuleInstance {
    let address = block.module.strip_suffix('.').unwrap_or_default().to_owned();
    ModuleInstance { root: root.to_owned(), address }
}

/// Replaces plans and states of Terraform among files by the objects of one side.
///
/// Source: `terraform show -json`, described in "JSON Output Format" in the documentation of Terraform.
pub fn evaluate_plans(files: &mut [File], side: PlannedSide, limits: &Limits) {
    planned_in_folders(files, side, true, limits);
}

/// Evaluates plans. Returns the addresses of the resources whose objects they know, by folder.
fn planned_in_folders(
    files: &mut [File],
    side: PlannedSide,
    is_compared: bool,
    limits: &Limits,
) -> BTreeMap<String, BTreeSet<String>> {
    files.iter_mut().filter(|file| is_evaluated(file)).for_each(|file| read_again(file, limits));
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter_mut() {
        let [Document::Read(tree)] = file.documents.as_slice() else { continue };
        if !is_plan(tree) {
            continue;
        }
        let plan = EvaluatedConfiguration::of_plan(tree, &file.source, side);
        let mut merge = Merge::of_plan(&file.source);
        let root = input::folder_of_name(file.source.name());
        let root_name = input::name_of(&root);
        let folder = known.entry(root.clone()).or_default();
        // A state has what was applied last, and not what the configuration says now.
        let is_state = tree.root().get("values").is_some();
        for (block, drafts) in convert::planned(&plan, is_compared) {
            if !is_state && drafts.iter().all(DocumentDraft::is_known) {
                folder.insert(block.address.clone());
            }
            merge.add_of_module(module_of(block, &root_name), &drafts, &plan.texts, limits);
        }
        merge.apply(core::slice::from_mut(file), limits);
        if file.kind == FileKind::Unknown {
            file.kind = FileKind::Plan;
        }
    }
    known
}

/// The address of the resource in a plan or a state that makes a document.
pub fn planned_address(document: &Tree) -> Option<String> {
    let root = document.root();
    let written = root.source().slice(root.span());
    let is_of_plan = document.is_evaluated() && !is_configuration(root.source().name());
    let address = written.strip_prefix('"')?.strip_suffix('"').filter(|_| is_of_plan && root.is_mapping())?;
    Some(address.replace("\\\"", "\""))
}

/// Whether a file is a configuration that mentions a resource with objects, or a module in a folder above, which may be outside of the
/// input.
fn may_make_objects(file: &File, is_mentioned: impl Fn(&str) -> bool) -> bool {
    let text = file.source.text();
    is_configuration(file.source.name()) && (is_mentioned(text) || text.contains("\"../"))
}

/// Whether a text may call a local module, whose source starts with its quote.
fn calls_local_module(text: &str) -> bool {
    text.contains("\"../") || text.contains("\"./")
}

/// Whether a file has documents of a configuration.
fn is_evaluated(file: &File) -> bool {
    file.documents.iter().any(|document| match document {
        Document::Read(tree) => tree.is_assembled(),
        // Other files have such documents for other reasons, which must stay.
        Document::Unevaluated { .. } => {
            file.kind == FileKind::Plan
                || (is_configuration(file.source.name()) && !file.source.text().is_empty())
        }
        _ => false,
    })
}

/// Reads the documents of a file as if there were no configuration.
fn read_again(file: &mut File, limits: &Limits) {
    let options = ReadOptions { limits: *limits, ..READ_OPTIONS };
    let read = File::read(file.source.name(), file.source.text(), options);
    *file = File { kind: file.kind, is_relevant: file.is_relevant, ..read };
}
