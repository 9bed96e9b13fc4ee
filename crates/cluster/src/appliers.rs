//! The objects of Flux and Argo CD that apply folders of the input.

use std::collections::BTreeSet;

use kustomize::KUSTOMIZATION_FILES;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use objects::object::Object;

use crate::built_objects::{BuiltObjects, OverlayObject};
use crate::charts::ChartsBelow;
use crate::folders::{KnownFolders, folders_of, name, parent};
use crate::substitution::texts_of_elements;

/// An object of Flux or Argo CD that applies manifests.
#[derive(Clone, Debug)]
pub struct Applier<'d> {
    /// The object.
    pub root: Node<'d>,
    /// The name of the overlay that builds the object; empty without one.
    pub overlay: &'d str,
    /// The reason why the overlay does not build the object for certain.
    pub unresolved: Option<&'d str>,
    /// The folders of the input that it applies.
    pub(crate) folders: Vec<AppliedFolder<'d>>,
    /// Whether it applies what is not in the input.
    pub is_outside: bool,
}

/// A folder that Flux or Argo CD applies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AppliedFolder<'d> {
    pub(crate) folder: &'d str,
    /// The path in the object that means the folder.
    path: &'d str,
    /// The repository, as the object names it.
    source: &'d str,
    /// Whether the folders below it are applied too.
    pub(crate) is_deep: bool,
}

impl AppliedFolder<'_> {
    /// Whether the path means the root of the repository.
    fn is_root(&self) -> bool {
        matches!(self.path.trim_start_matches("./").trim_matches('/'), "" | ".")
    }
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
        let documents = files.iter().filter(|file| file.is_input()).flat_map(|file| &file.documents);
        let trees = documents.filter_map(Document::tree);
        let objects = trees.flat_map(Object::all).map(OverlayObject::unbuilt);
        Self::from_objects(objects, files, &InputFolders::of(files, KnownFolders::of(files)))
    }

    /// Finds the objects as the overlays build them, among files of a repository whose root is a folder, which paths such as `.` mean.
    pub fn built(root: &'d str, files: &'d [File], built: &'d BuiltObjects) -> Self {
        let objects = built.objects_by_overlay(files, is_applier);
        Self::from_objects(
            objects.into_iter(),
            files,
            &InputFolders::of(files, KnownFolders::of(files).with_root(root)),
        )
    }

    fn from_objects(
        objects: impl Iterator<Item = OverlayObject<'d>>,
        files: &'d [File],
        folders: &InputFolders<'d>,
    ) -> Self {
        let applier = |OverlayObject { object, overlay, unresolved }| {
            Some(Applier { overlay, unresolved, ..Applier::of(object.root(), folders)? })
        };
        let mut all: Vec<Applier<'d>> = objects.filter_map(applier).collect();
        leave_out_other_roots(&mut all);
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

/// Name of the repository from which Flux itself is installed.
///
/// Source: `MakeDefaultOptions` in pkg/manifestgen/sync/options.go of fluxcd/flux2.
const OWN_REPOSITORY: &str = "flux-system";

/// Leaves out the root of a repository that may be another one than the input: nothing else in the input names a folder of it. The repository of
/// the only Application counts as the input.
fn leave_out_other_roots(all: &mut [Applier<'_>]) {
    let is_argo = |applier: &Applier<'_>| applier.root.str_at(&["kind"]) != Some("Kustomization");
    let folders = || all.iter().flat_map(|applier| &applier.folders);
    let known: BTreeSet<&str> =
        folders().filter(|one| !one.is_root()).map(|one| one.source).chain([OWN_REPOSITORY]).collect();
    let roots = all.iter().filter(|one| is_argo(one)).flat_map(|applier| &applier.folders);
    // A registry has charts, and no repository of manifests.
    let roots = roots.filter(|one| one.is_root() && !one.source.starts_with("oci:"));
    let roots: BTreeSet<&str> = roots.map(|one| one.source).collect();
    let is_only = known.len() == 1 && roots.len() == 1;
    for applier in all {
        let is_own = is_only && is_argo(applier);
        let count = applier.folders.len();
        applier.folders.retain(|one| {
            !one.is_root() || known.contains(one.source) || (is_own && roots.contains(one.source))
        });
        applier.is_outside |= count > 0 && applier.folders.is_empty();
    }
}

/// Whether Flux or Argo CD applies manifests or installs charts because of an object.
pub fn is_applier(object: Object<'_>) -> bool {
    match object.group() {
        "kustomize.toolkit.fluxcd.io" => object.kind() == "Kustomization",
        "helm.toolkit.fluxcd.io" => object.kind() == "HelmRelease",
        "argoproj.io" => ["Application", "ApplicationSet"].contains(&object.kind()),
        _ => false,
    }
}

/// The folders of an input, and the charts in them.
struct InputFolders<'d> {
    known: KnownFolders<'d>,
    charts: ChartsBelow<'d>,
}

impl<'d> InputFolders<'d> {
    fn of(files: &'d [File], known: KnownFolders<'d>) -> Self {
        Self { known, charts: ChartsBelow::of(files) }
    }

    /// A folder, and the folders of the charts on which a chart in it depends.
    fn with_charts(&self, applied: AppliedFolder<'d>) -> Vec<AppliedFolder<'d>> {
        let is_deep = applied.is_deep || self.charts.has(applied.folder);
        let dependencies = self.charts.dependencies(applied.folder).into_iter();
        let dependencies = dependencies.map(|folder| AppliedFolder { folder, is_deep: true, ..applied });
        std::iter::once(AppliedFolder { is_deep, ..applied }).chain(dependencies).collect()
    }

    fn find(&self, path: &'d str, source: &'d str, is_deep: bool) -> Vec<AppliedFolder<'d>> {
        let applied = |folder| self.with_charts(AppliedFolder { folder, path, source, is_deep });
        self.known.find(path).map(applied).unwrap_or_default()
    }
}

impl<'d> Applier<'d> {
    fn of(root: Node<'d>, folders: &InputFolders<'d>) -> Option<Self> {
        let group = root.str_at(&["apiVersion"])?.split('/').next();
        let applied = match (group, root.str_at(&["kind"])) {
            (Some("kustomize.toolkit.fluxcd.io"), Some("Kustomization")) => {
                let source = root.str_at(&["spec", "sourceRef", "name"]).unwrap_or_default();
                // Without a path, Flux applies the root.
                folders.find(root.str_at(&["spec", "path"]).unwrap_or("."), source, true)
            }
            (Some("argoproj.io"), Some("Application")) => {
                sources(root.get("spec")).flat_map(|source| source_folders(source, folders)).collect()
            }
            (Some("argoproj.io"), Some("ApplicationSet")) => {
                let template = root.at_path(&["spec", "template", "spec"]);
                let own = sources(template).flat_map(|source| generated_folders(source, root, folders));
                own.collect()
            }
            (Some("helm.toolkit.fluxcd.io"), Some("HelmRelease")) => chart_folders(root, folders),
            _ => return None,
        };
        let spec = root.get("spec");
        let has_chart = sources(root.at_path(&["spec", "template", "spec"]).or(spec))
            .any(|source| source.get("chart").is_some());
        let is_outside = applied.is_empty() || has_chart;
        Some(Self { root, overlay: "", unresolved: None, is_outside, folders: applied })
    }

    /// The folders of the input that it applies.
    pub fn folders(&self) -> impl Iterator<Item = &'d str> {
        self.folders.iter().map(|applied| applied.folder)
    }

    /// The object with only the folders that a path in it means.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Self {
        let own = self.folders.iter().filter(|applied| applied.path == path);
        Self { folders: own.copied().collect(), ..*self }
    }
}

/// The sources of an Application of Argo CD.
pub fn sources(spec: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    let one = spec.and_then(|spec| spec.get("source"));
    one.into_iter().chain(items_of(spec.and_then(|spec| spec.get("sources"))))
}

/// The folders of the chart in a repository that a `HelmRelease` installs. In a repository of charts, the text is the name of the chart.
///
/// Source: "Chart template" in docs/spec/v2/helmreleases.md of fluxcd/helm-controller.
fn chart_folders<'d>(release: Node<'d>, folders: &InputFolders<'d>) -> Vec<AppliedFolder<'d>> {
    let Some(chart) = release.at_path(&["spec", "chart", "spec"]) else { return Vec::new() };
    let is_path = matches!(chart.str_at(&["sourceRef", "kind"]), Some("GitRepository" | "Bucket"));
    let path = chart.str_at(&["chart"]).filter(|path| is_path || path.starts_with('.'));
    let source = chart.str_at(&["sourceRef", "name"]).unwrap_or_default();
    path.map(|path| folders.find(path, source, true)).unwrap_or_default()
}

fn source_folders<'d>(source: Node<'d>, folders: &InputFolders<'d>) -> Vec<AppliedFolder<'d>> {
    let path = source.str_at(&["path"]);
    path.map(|path| folders.find(path, repository(source), recurses(source))).unwrap_or_default()
}

fn repository(source: Node<'_>) -> &str {
    source.str_at(&["repoURL"]).unwrap_or_default()
}

fn recurses(source: Node<'_>) -> bool {
    source.at_path(&["directory", "recurse"]).and_then(Node::as_bool) == Some(true)
}

/// The folders that a source in the template of an `ApplicationSet` may mean: the values of generators are part of its path.
fn generated_folders<'d>(
    source: Node<'d>,
    root: Node<'d>,
    folders: &InputFolders<'d>,
) -> Vec<AppliedFolder<'d>> {
    let Some(path) = source.str_at(&["path"]) else { return Vec::new() };
    if !path.contains("{{") {
        return source_folders(source, folders);
    }
    let applied = |folder: &'d str| {
        let (source, is_deep) = (repository(source), recurses(source));
        folders.with_charts(AppliedFolder { folder, path, source, is_deep })
    };
    if let Some(paths) = texts_of_elements(root, path) {
        let found = paths.iter().filter_map(|path| folders.known.find(path));
        return found.flat_map(applied).collect();
    }
    let patterns: Vec<&str> = if path.starts_with("{{") && path.ends_with("}}") {
        let all = generators(root).into_iter();
        let all = all.flat_map(|generator| items_of(generator.at_path(&["git", "directories"])));
        let all = all.filter(|one| one.get("exclude").and_then(Node::as_bool) != Some(true));
        all.filter_map(|one| one.str_at(&["path"])).collect()
    } else {
        vec![path]
    };
    let is_meant = |folder: &&&str| patterns.iter().any(|pattern| matches(pattern, folder));
    folders.known.all().iter().filter(is_meant).flat_map(|folder| applied(folder)).collect()
}

/// The generators of an `ApplicationSet`, with the ones that `matrix` and `merge` combine.
///
/// Source: Generators-Matrix.md and Generators-Merge.md in docs/operator-manual/applicationset of argoproj/argo-cd.
pub fn generators(set: Node<'_>) -> Vec<Node<'_>> {
    let mut found: Vec<Node<'_>> = items_of(set.at_path(&["spec", "generators"])).collect();
    let mut next = 0;
    while let Some(generator) = found.get(next).copied() {
        let combined = ["matrix", "merge"].into_iter();
        found.extend(combined.flat_map(|kind| items_of(generator.at_path(&[kind, "generators"]))));
        next += 1;
    }
    found
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
