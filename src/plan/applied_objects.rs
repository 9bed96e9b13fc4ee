//! The NodePools and EC2NodeClasses that the objects of Flux and Argo CD in the input apply.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::{Applier, Appliers, folder_of_overlay};
use cluster::built_objects::BuiltObjects;
use cluster::charts::ChartsBelow;
use cluster::folders::{folders_of, name, parent};
use manifest::File;
use objects::object::Object;

use super::PlanSide;
use super::dropped::relative;
use super::flux_sources::FluxSources;
use super::scope::{is_planned, with_start, without_start};
use super::unread;

/// The objects that can change nodes on one side, and what applies them.
#[derive(Debug)]
pub(super) struct AppliedObjects<'p> {
    pub(super) appliers: Appliers<'p>,
    /// Indexes of the objects of Flux and Argo CD by name. Several clusters may have an object of one name.
    by_name: BTreeMap<ApplierName<'p>, Vec<usize>>,
    /// The names of all overlays.
    overlays: BTreeSet<&'p str>,
    /// The folder of the side.
    folder: &'p str,
    files: &'p [File],
    /// The charts of the input.
    charts: ChartsBelow<'p>,
    folders: NamedFolders<'p>,
    /// The repositories and charts of Flux.
    pub(super) sources: FluxSources<'p>,
    /// The files with documents that could not be read and may hold such objects, such as templates of a chart.
    unread: Vec<&'p File>,
    /// Indexes of these files in a folder and below it.
    unread_below: BTreeMap<&'p str, Vec<usize>>,
    /// The objects, each with the overlays that build it.
    objects: Vec<(Object<'p>, BTreeSet<&'p str>)>,
    /// Indexes of the objects in a folder and below it.
    below: BTreeMap<&'p str, Vec<usize>>,
    /// Indexes of the objects of Flux and Argo CD that apply a folder.
    appliers_of: BTreeMap<&'p str, BTreeSet<usize>>,
}

impl<'p> AppliedObjects<'p> {
    /// `dropped` are the files that no kustomization uses any more.
    pub(super) fn of(side: PlanSide<'p>, built: &'p BuiltObjects, dropped: &BTreeSet<String>) -> Self {
        let files = &side.cluster.files;
        let in_overlays = built.versions_of_overlays(files).into_iter();
        let mut objects: Vec<_> = in_overlays.filter(|(object, _)| is_planned(*object)).collect();
        let known: BTreeSet<&str> = objects.iter().map(|(object, _)| object.root().source().name()).collect();
        let others = files.iter().filter(|file| !known.contains(file.source.name()));
        objects.extend(others.flat_map(planned_in).map(|object| (object, BTreeSet::new())));
        let is_used = |file: &str| !dropped.contains(without_start(file, side.folder));
        let appliers = Appliers::built(side.folder, files, built).in_files(is_used);
        let mut by_name = BTreeMap::<_, Vec<usize>>::new();
        let mut appliers_of = BTreeMap::<_, BTreeSet<usize>>::new();
        for (index, applier) in appliers.all().iter().enumerate() {
            by_name.entry(name_of(applier)).or_default().push(index);
            for folder in applier.folders() {
                appliers_of.entry(folder).or_default().insert(index);
            }
        }
        let mut below = BTreeMap::<_, Vec<usize>>::new();
        for (index, (object, overlays)) in objects.iter().enumerate() {
            for folder in folders_around(object.root().source().name(), overlays) {
                below.entry(folder).or_default().push(index);
            }
        }
        let unread = unread::files(side);
        let mut unread_below = BTreeMap::<_, Vec<usize>>::new();
        for (index, file) in unread.iter().enumerate() {
            for folder in folders_of(file.source.name()) {
                unread_below.entry(folder).or_default().push(index);
            }
        }
        Self {
            appliers,
            by_name,
            overlays: built.overlays(),
            folder: side.folder,
            files,
            charts: ChartsBelow::of(files),
            folders: NamedFolders::of(files),
            sources: FluxSources::of(side),
            unread,
            unread_below,
            objects,
            below,
            appliers_of,
        }
    }

    /// The counterpart of an object of Flux or Argo CD of the other side: the one with its name in the same file, or the only one with its name,
    /// also of the ones with the same fields, if it is not the counterpart of another one, as of the same Kustomization of another cluster.
    pub(super) fn counterpart(
        &self,
        applier: &Applier<'_>,
        other: &AppliedObjects<'_>,
    ) -> Option<&Applier<'p>> {
        let named = self.in_overlay_of(applier, other);
        let file = other.file_of(applier);
        let overlay = other.overlay_of(applier);
        let others = other.by_name.get(&name_of(applier)).into_iter().flatten();
        let others = others.filter_map(|index| other.appliers.all().get(*index));
        let others = others.filter(|one| other.overlay_of(one) == overlay);
        let taken: BTreeSet<&str> = others.map(|one| other.file_of(one)).collect();
        let free = || named.iter().copied().filter(|one| !taken.contains(self.file_of(one)));
        let only = || free().next().filter(|_| named.len() == 1);
        let spec = |one: &Applier<'_>| one.root.get("spec").map(|spec| spec.to_json().to_string());
        let equal = || {
            let own = spec(applier);
            let mut found = free().filter(|one| spec(one) == own);
            found.next().filter(|_| found.next().is_none())
        };
        named.iter().copied().find(|one| self.file_of(one) == file).or_else(only).or_else(equal)
    }

    /// The objects of Flux and Argo CD with the name of one of the other side that the same overlay builds. If its overlay is now a part of
    /// others, or only one side has an overlay, the ones that any overlay builds.
    fn in_overlay_of(&self, applier: &Applier<'_>, other: &AppliedObjects<'_>) -> Vec<&Applier<'p>> {
        let indexes = self.by_name.get(&name_of(applier)).into_iter().flatten();
        let named: Vec<&Applier<'p>> = indexes.filter_map(|index| self.appliers.all().get(*index)).collect();
        let overlay = other.overlay_of(applier);
        let only = |is_meant: &dyn Fn(&str) -> bool| -> Vec<&Applier<'p>> {
            named.iter().copied().filter(|one| is_meant(self.overlay_of(one))).collect()
        };
        let same = only(&|own| own == overlay);
        if !same.is_empty() {
            return same;
        }
        let folder = folder_of_overlay(overlay);
        let is_there = self.overlays.iter().any(|own| self.plain(own) == overlay);
        let mut kustomized = self.appliers.kustomized().iter();
        if overlay.is_empty() || (!is_there && kustomized.any(|own| self.plain(own) == folder)) {
            return named;
        }
        // Variables of Flux are a part of the name of an overlay.
        only(&|own| own.is_empty() || folder_of_overlay(own) == folder)
    }

    /// The folders of all overlays, from the folder of the side.
    pub(super) fn folders_of_overlays(&self) -> BTreeSet<&'p str> {
        self.overlays.iter().map(|overlay| folder_of_overlay(self.plain(overlay))).collect()
    }

    /// The folder of the overlay that builds an object of Flux or Argo CD, from the folder of the side.
    pub(super) fn overlay_folder_of<'d>(&self, applier: &Applier<'d>) -> &'d str {
        folder_of_overlay(self.overlay_of(applier))
    }

    /// The name of the overlay that builds an object of Flux or Argo CD, from the folder of the side.
    fn overlay_of<'d>(&self, applier: &Applier<'d>) -> &'d str {
        without_start(applier.overlay, self.folder)
    }

    /// The name of the file of an object of Flux or Argo CD, from the folder of the side.
    pub(super) fn file_of<'d>(&self, applier: &Applier<'d>) -> &'d str {
        without_start(applier.root.source().name(), self.folder)
    }

    /// The objects that one object of Flux or Argo CD applies.
    pub(super) fn objects_of<'r>(
        &'r self,
        applier: &'r Applier<'p>,
    ) -> impl Iterator<Item = Object<'p>> + 'r {
        let below = applier.folders().filter_map(|folder| self.below.get(folder)).flatten();
        let near: BTreeSet<usize> = below.copied().collect();
        let near = near.into_iter().filter_map(|index| self.objects.get(index));
        let is_reached = |(object, overlays): &&(Object<'p>, BTreeSet<&'p str>)| {
            self.appliers.reaches(applier, object.root().source().name(), overlays)
        };
        near.filter(is_reached).map(|(object, _)| *object)
    }

    /// The files with objects that one object of Flux or Argo CD applies, also in documents that could not be read.
    pub(super) fn files_of(&self, applier: &Applier<'p>) -> BTreeSet<&'p str> {
        let unread = self.unread_of(applier).map(|file| file.source.name());
        self.objects_of(applier).map(|object| object.root().source().name()).chain(unread).collect()
    }

    /// The contents of these files: the objects, and the files of the charts with templates that could not be read.
    pub(super) fn contents_of(&self, applier: &Applier<'p>) -> BTreeSet<String> {
        let charts: BTreeSet<&str> =
            self.unread_of(applier).filter_map(|file| self.charts.around(file.source.name())).collect();
        let is_in =
            |file: &&File| self.charts.around(file.source.name()).is_some_and(|chart| charts.contains(chart));
        let of_charts = self.files.iter().filter(|_| !charts.is_empty()).filter(is_in);
        let unread = self.unread_of(applier).chain(of_charts).map(|file| file.source.text().to_owned());
        self.objects_of(applier).map(|object| object.root().to_json().to_string()).chain(unread).collect()
    }

    /// Whether the input has a chart at a path from the root of its repository, of which the input may be a part.
    pub(super) fn has_chart(&self, path: &str) -> bool {
        self.folders.named(path).any(|folder| self.charts.has(folder))
    }

    /// Whether the input has a folder at such a path.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folders.named(path).next().is_some()
    }

    /// Whether objects that can change nodes are in a folder at such a path, or below it, or in a chart on which a chart there depends.
    pub(super) fn has_objects_at(&self, path: &str) -> bool {
        let is_there =
            |folder: &str| self.below.contains_key(folder) || self.unread_below.contains_key(folder);
        let with_charts =
            |folder: &str| is_there(folder) || self.charts.dependencies(folder).into_iter().any(is_there);
        self.folders.named(path).any(with_charts)
    }

    /// The files with documents that could not be read and that an object of Flux or Argo CD applies.
    pub(super) fn unread_of(&self, applier: &Applier<'p>) -> impl Iterator<Item = &'p File> {
        let below = applier.folders().filter_map(|folder| self.unread_below.get(folder)).flatten();
        let near: BTreeSet<usize> = below.copied().collect();
        let none = BTreeSet::new();
        let is_reached = move |file: &&File| self.appliers.reaches(applier, file.source.name(), &none);
        near.into_iter().filter_map(|index| self.unread.get(index).copied()).filter(is_reached)
    }

    /// The overlays that build an object.
    pub(super) fn overlays_of(&self, object: Object<'_>) -> BTreeSet<&'p str> {
        let file = object.root().source().name();
        let folder = folders_of(file).next().unwrap_or_default();
        let beside =
            self.below.get(folder).into_iter().flatten().filter_map(|index| self.objects.get(*index));
        let named = beside.filter(|(one, _)| {
            one.name() == object.name() && one.kind() == object.kind() && one.root().source().name() == file
        });
        let named: Vec<_> = named.collect();
        let own: BTreeSet<&'p str> =
            named.iter().filter(|(one, _)| *one == object).flat_map(|(_, own)| own).copied().collect();
        if own.is_empty() { named.iter().flat_map(|(_, all)| all).copied().collect() } else { own }
    }

    /// The same overlays, without the start of the side and the names of what gives them variables.
    pub(super) fn plain_overlays_of(&self, object: Object<'_>) -> BTreeSet<&'p str> {
        let overlays = self.overlays_of(object).into_iter();
        overlays.map(|overlay| relative(folder_of_overlay(overlay), self.folder)).collect()
    }

    /// The name of the file of an object, without the start of the side.
    pub(super) fn file_of_object<'d>(&self, object: Object<'d>) -> &'d str {
        self.plain(object.root().source().name())
    }

    /// A name without the start of the side.
    pub(super) fn plain<'n>(&self, name: &'n str) -> &'n str {
        without_start(name, self.folder)
    }

    /// Whether the side has an object of the other side only in other files.
    pub(super) fn has_moved(&self, object: Object<'_>, other: &AppliedObjects<'_>) -> bool {
        let same = self.objects.iter().map(|(one, _)| *one);
        let same = same.filter(|one| one.kind() == object.kind() && one.name() == object.name());
        let mut files = same.map(|one| self.file_of_object(one)).peekable();
        files.peek().is_some() && files.all(|file| file != other.file_of_object(object))
    }

    /// Whether a file of the side is in the folder of a file, or below it.
    pub(super) fn has_files_beside(&self, file: &str) -> bool {
        let folder = with_start(parent(file).unwrap_or_default(), self.folder);
        let is_in = |own: &File| folders_of(own.source.name()).any(|around| around == folder);
        folder.is_empty() || self.files.iter().any(is_in)
    }

    /// The objects of Flux and Argo CD that apply a file, which some overlays build.
    pub(super) fn appliers_at(&self, file: &str, overlays: &BTreeSet<&'p str>) -> Vec<&Applier<'p>> {
        let around = folders_around(file, overlays).into_iter();
        let near: BTreeSet<usize> =
            around.filter_map(|folder| self.appliers_of.get(folder)).flatten().copied().collect();
        let near = near.into_iter().filter_map(|index| self.appliers.all().get(index));
        let all: Vec<_> = near.filter(|applier| self.appliers.reaches(applier, file, overlays)).collect();
        // Of an overlay with the variables of a Kustomization, no Kustomization of another cluster counts.
        let own: Vec<_> =
            all.iter().copied().filter(|applier| self.gives_variables(applier, overlays)).collect();
        if own.is_empty() { all } else { own }
    }

    /// Whether an overlay has the variables of a Kustomization: its name ends with the one of the Kustomization, with its folder or its file before it
    /// if the name repeats.
    fn gives_variables(&self, applier: &Applier<'_>, overlays: &BTreeSet<&str>) -> bool {
        let (kind, _, name) = name_of(applier);
        let file = self.file_of(applier);
        let folder = parent(file).unwrap_or_default();
        overlays.iter().any(|overlay| {
            let inner = overlay.split_once(" (").and_then(|(_, inner)| inner.strip_suffix(')'));
            let place =
                inner.and_then(|inner| inner.strip_suffix(name)).map(|place| place.trim_end_matches('/'));
            kind == "Kustomization" && place.is_some_and(|place| ["", folder, file].contains(&place))
        })
    }
}

/// The folders of the input by the last part of their names.
#[derive(Debug, Default)]
struct NamedFolders<'p>(BTreeMap<&'p str, BTreeSet<&'p str>>);

impl<'p> NamedFolders<'p> {
    fn of(files: &'p [File]) -> Self {
        let mut found = BTreeMap::<_, BTreeSet<_>>::new();
        for folder in files.iter().flat_map(|file| folders_of(file.source.name())) {
            found.entry(name(folder)).or_default().insert(folder);
        }
        Self(found)
    }

    /// The folders that a path from the root of a repository may mean: the input may be a part of the repository, or be around it.
    fn named<'r>(&'r self, path: &'r str) -> impl Iterator<Item = &'p str> + 'r {
        let path = path.trim_start_matches("./").trim_matches('/');
        let all = self.0.get(name(path)).into_iter().flatten().copied();
        all.filter(move |folder| {
            let start = folder.strip_suffix(path).filter(|_| !path.is_empty());
            start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
        })
    }
}

/// The folders around a file and around the overlays that build it, in which Flux or Argo CD may apply it.
fn folders_around<'n>(file: &'n str, overlays: &BTreeSet<&'n str>) -> BTreeSet<&'n str> {
    let built = overlays.iter().flat_map(|overlay| {
        let folder = folder_of_overlay(overlay);
        core::iter::once(folder).chain(folders_of(folder))
    });
    folders_of(file).chain(built).collect()
}

/// The objects of a file that can change nodes.
fn planned_in(file: &File) -> Vec<Object<'_>> {
    let trees = file.trees();
    trees.flat_map(Object::all).filter(|object| is_planned(*object)).collect()
}

/// Kind, namespace and name of an object of Flux or Argo CD.
type ApplierName<'d> = (&'d str, &'d str, &'d str);

pub(super) fn name_of<'d>(applier: &Applier<'d>) -> ApplierName<'d> {
    let text = |keys: &[&str]| applier.root.str_at(keys).unwrap_or_default();
    (text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"]))
}
