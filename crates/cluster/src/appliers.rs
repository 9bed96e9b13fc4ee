//! The objects of Flux and Argo CD that apply folders of the input.

use std::collections::BTreeSet;

use kustomize::KUSTOMIZATION_FILES;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use crate::folders::{KnownFolders, folders_of, name, parent};
use crate::substitution::texts_of_elements;

/// An object of Flux or Argo CD that applies manifests.
#[derive(Clone, Debug)]
pub struct Applier<'d> {
    /// The object.
    pub root: Node<'d>,
    /// The folders of the input that it applies.
    pub(crate) folders: Vec<AppliedFolder<'d>>,
    /// Whether it applies what is not in the input.
    pub is_outside: bool,
}

/// A folder that Flux or Argo CD applies.
#[derive(Clone, Debug)]
pub(crate) struct AppliedFolder<'d> {
    pub(crate) folder: &'d str,
    /// The path in the object that means the folder.
    path: &'d str,
    /// Whether the folders below it are applied too.
    pub(crate) is_deep: bool,
}

/// The objects of Flux and Argo CD among some files.
#[derive(Debug)]
pub struct Appliers<'d> {
    all: Vec<Applier<'d>>,
    /// The folders with a kustomization.
    kustomized: BTreeSet<&'d str>,
}

impl<'d> Appliers<'d> {
    /// Finds the objects among files. Flux applies the folders below a folder without a kustomization too, and Argo CD only with `recurse`.
    ///
    /// Source: "Generate kustomization.yaml" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller, and
    /// docs/user-guide/directory.md of argoproj/argo-cd.
    pub fn of(files: &'d [File]) -> Self {
        let folders = KnownFolders::of(files);
        let roots = files.iter().filter(|file| file.is_input()).flat_map(|file| &file.documents);
        let roots = roots.filter_map(|document| match document {
            Document::Read(tree) => Some(tree.root()),
            _ => None,
        });
        let all = roots.filter_map(|root| Applier::of(root, &folders)).collect();
        let is_kustomization = |file: &&str| KUSTOMIZATION_FILES.contains(&name(file));
        let names = files.iter().map(|file| file.source.name());
        Self { all, kustomized: names.filter(is_kustomization).filter_map(parent).collect() }
    }

    /// The objects in some files.
    #[must_use]
    pub fn in_files(mut self, is_meant: impl Fn(&str) -> bool) -> Self {
        self.all.retain(|applier| is_meant(applier.root.source().name()));
        self
    }

    /// All objects.
    pub fn all(&self) -> &[Applier<'d>] {
        &self.all
    }

    /// The folders with a kustomization.
    pub const fn kustomized(&self) -> &BTreeSet<&'d str> {
        &self.kustomized
    }

    /// Whether an object applies a file that some overlays build: the outermost kustomization in the folder of the object decides which files
    /// are applied. The file may be a base elsewhere.
    pub fn reaches(&self, applier: &Applier<'d>, file: &str, overlays: &BTreeSet<&str>) -> bool {
        applier.folders.iter().any(|AppliedFolder { folder, is_deep, .. }| {
            let around = || folders_of(file).filter(|around| is_within(around, folder));
            let outermost = around().filter(|around| self.kustomized.contains(around)).last();
            match outermost {
                _ if around().next().is_none() => {
                    let reads_below = *is_deep && !self.kustomized.contains(folder);
                    let mut built = overlays.iter().map(|overlay| folder_of_overlay(overlay));
                    built.any(|built| built == *folder || (reads_below && is_within(built, folder)))
                }
                Some(kustomization) if kustomization == *folder || *is_deep => {
                    overlays.iter().any(|overlay| folder_of_overlay(overlay) == kustomization)
                }
                Some(_) => false,
                None => *is_deep || parent(file).unwrap_or_default() == *folder,
            }
        })
    }
}

impl<'d> Applier<'d> {
    fn of(root: Node<'d>, folders: &KnownFolders<'d>) -> Option<Self> {
        let group = root.str_at(&["apiVersion"])?.split('/').next();
        let applied = match (group, root.str_at(&["kind"])) {
            (Some("kustomize.toolkit.fluxcd.io"), Some("Kustomization")) => {
                let path = root.str_at(&["spec", "path"]);
                let found = path.and_then(|path| Some((folders.find(path)?, path)));
                found
                    .map(|(folder, path)| AppliedFolder { folder, path, is_deep: true })
                    .into_iter()
                    .collect()
            }
            (Some("argoproj.io"), Some("Application")) => {
                sources(root.get("spec")).filter_map(|source| source_folder(source, folders)).collect()
            }
            (Some("argoproj.io"), Some("ApplicationSet")) => {
                let template = root.at_path(&["spec", "template", "spec"]);
                let own = sources(template).flat_map(|source| generated_folders(source, root, folders));
                own.collect()
            }
            (Some("helm.toolkit.fluxcd.io"), Some("HelmRelease")) => Vec::new(),
            _ => return None,
        };
        let spec = root.get("spec");
        let has_chart = sources(root.at_path(&["spec", "template", "spec"]).or(spec))
            .any(|source| source.get("chart").is_some());
        Some(Self { root, is_outside: applied.is_empty() || has_chart, folders: applied })
    }

    /// The folders of the input that it applies.
    pub fn folders(&self) -> impl Iterator<Item = &'d str> {
        self.folders.iter().map(|applied| applied.folder)
    }

    /// The object with only the folders that a path in it means.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Self {
        let own = self.folders.iter().filter(|applied| applied.path == path);
        Self { folders: own.cloned().collect(), ..*self }
    }
}

/// The sources of an Application of Argo CD.
pub fn sources(spec: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    let one = spec.and_then(|spec| spec.get("source"));
    one.into_iter().chain(items_of(spec.and_then(|spec| spec.get("sources"))))
}

fn source_folder<'d>(source: Node<'d>, folders: &KnownFolders<'d>) -> Option<AppliedFolder<'d>> {
    let path = source.str_at(&["path"])?;
    Some(AppliedFolder { folder: folders.find(path)?, path, is_deep: recurses(source) })
}

fn recurses(source: Node<'_>) -> bool {
    source.at_path(&["directory", "recurse"]).and_then(Node::as_bool) == Some(true)
}

/// The folders that a source in the template of an `ApplicationSet` may mean: the values of generators are part of its path.
fn generated_folders<'d>(
    source: Node<'d>,
    root: Node<'d>,
    folders: &KnownFolders<'d>,
) -> Vec<AppliedFolder<'d>> {
    let Some(path) = source.str_at(&["path"]) else { return Vec::new() };
    if !path.contains("{{") {
        return source_folder(source, folders).into_iter().collect();
    }
    let is_deep = recurses(source);
    if let Some(paths) = texts_of_elements(root, path) {
        let found = paths.iter().filter_map(|path| folders.find(path));
        return found.map(|folder| AppliedFolder { folder, path, is_deep }).collect();
    }
    let patterns: Vec<&str> = if path.starts_with("{{") && path.ends_with("}}") {
        let generators = items_of(root.at_path(&["spec", "generators"]));
        let all = generators.flat_map(|generator| items_of(generator.at_path(&["git", "directories"])));
        let all = all.filter(|one| one.get("exclude").and_then(Node::as_bool) != Some(true));
        all.filter_map(|one| one.str_at(&["path"])).collect()
    } else {
        vec![path]
    };
    let is_meant = |folder: &&&str| patterns.iter().any(|pattern| matches(pattern, folder));
    folders.all().iter().filter(is_meant).map(|folder| AppliedFolder { folder, path, is_deep }).collect()
}

/// Whether a pattern from the root of a repository may mean a folder: the input may be a part of the repository, or be around it.
fn matches(pattern: &str, folder: &str) -> bool {
    let parts: Vec<&str> = pattern.trim_start_matches("./").trim_matches('/').rsplit('/').collect();
    let mut own = folder.rsplit('/');
    let is_same =
        |part: &&str| own.next().is_some_and(|own| part.contains("{{") || part.contains('*') || *part == own);
    let is_open = |part: &&str| part.contains("{{") || part.contains('*');
    !parts.iter().all(is_open) && parts.iter().all(is_same)
}

/// The folder of an overlay, whose name may have the variables of Flux behind it.
pub fn folder_of_overlay(name: &str) -> &str {
    let folder = name.split(" (").next().unwrap_or_default();
    if folder == "." { "" } else { folder }
}

/// Whether a folder is another one or below it.
pub(crate) fn is_within(folder: &str, above: &str) -> bool {
    above.is_empty()
        || folder.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
