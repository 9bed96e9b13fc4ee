//! Files that a kustomization no longer uses, although they are still there.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::Appliers;
use cluster::built_objects::BuiltObjects;
use cluster::folders::parent;
use objects::object::Object;

use super::definitions;
use super::scope::{is_planned, without_start};
use super::{PlanPair, PlanSide};

/// The overlays of each file with objects that can change nodes.
type OverlaysOfFiles<'d> = BTreeMap<&'d str, BTreeSet<&'d str>>;

/// The names of files, without the part that tells the sides apart, that no kustomization uses any more, and nothing else in the input
/// applies: with a kustomization, `kubectl apply -k`, Flux and Argo CD apply only what it lists.
pub(super) fn files(pair: PlanPair<'_>, [old, new]: [&BuiltObjects; 2]) -> BTreeSet<String> {
    let (olds, news) = (overlays_of_files(pair.old, old), overlays_of_files(pair.new, new));
    if olds.is_empty() {
        return BTreeSet::new();
    }
    let (old_names, new_names) = (names(pair.old, old), names(pair.new, new));
    let new_files = &pair.new.cluster.files;
    let (before, after) = (Appliers::of(&pair.old.cluster.files), Appliers::of(new_files));
    let kustomized: BTreeSet<&str> =
        before.kustomized().iter().map(|folder| relative(folder, pair.old.folder)).collect();
    // A part of another kustomization that nothing includes any more looks like an overlay.
    let was_part = |overlay: &&str| kustomized.contains(overlay) && !old_names.contains(overlay);
    let is_dropped = |name: &str, own: &BTreeSet<&str>| {
        let none = BTreeSet::new();
        let now = news.get(name).unwrap_or(&none);
        // Of a kustomization that is gone, nothing says what has taken its place.
        own.is_subset(&new_names) && own.is_disjoint(now) && now.iter().all(was_part)
    };
    let is_applied = |file: &str, now: &BTreeSet<&str>| {
        after.all().iter().any(|applier| after.reaches(applier, file, now))
    };
    let raw = raw_overlays_of_files(pair.new, new);
    let none = BTreeSet::new();
    let there = new_files.iter().map(|file| file.source.name());
    there
        .filter(|file| {
            let name = without_start(file, pair.new.folder);
            olds.get(name).is_some_and(|own| is_dropped(name, own))
                && !is_applied(file, raw.get(file).unwrap_or(&none))
        })
        .map(|file| without_start(file, pair.new.folder).to_owned())
        .collect()
}

/// The names of files with objects in the folder of a kustomization, which neither it nor another one uses.
pub(super) fn unused_beside_kustomizations<'d>(
    side: PlanSide<'d>,
    built: &'d BuiltObjects,
) -> BTreeSet<&'d str> {
    let files = &side.cluster.files;
    let appliers = Appliers::of(files);
    if appliers.kustomized().is_empty() {
        return BTreeSet::new();
    }
    let used: BTreeSet<String> = files.iter().flat_map(cluster::references).collect();
    let built = raw_overlays_of_files(side, built);
    let is_unused = |name: &&str| {
        let is_beside = appliers.kustomized().contains(parent(name).unwrap_or_default());
        is_beside && !built.contains_key(name) && !used.contains(*name)
    };
    files.iter().filter(|file| file.is_input()).map(|file| file.source.name()).filter(is_unused).collect()
}

/// The overlays of each file, with names that are the same on both sides.
fn overlays_of_files<'d>(side: PlanSide<'d>, built: &'d BuiltObjects) -> OverlaysOfFiles<'d> {
    let all = raw_overlays_of_files(side, built).into_iter();
    all.map(|(file, overlays)| {
        let overlays = overlays.into_iter().map(|overlay| relative(overlay, side.folder)).collect();
        (without_start(file, side.folder), overlays)
    })
    .collect()
}

fn raw_overlays_of_files<'d>(side: PlanSide<'d>, built: &'d BuiltObjects) -> OverlaysOfFiles<'d> {
    let mut found: OverlaysOfFiles<'d> = BTreeMap::new();
    for (object, overlays) in built.objects_of_overlays(&side.cluster.files) {
        if is_planned(object) || definitions::is_definition(object) || is_applier(object) {
            found.entry(object.root().source().name()).or_default().extend(overlays);
        }
    }
    found
}

/// Whether an object of Flux or Argo CD applies others, which go with it.
fn is_applier(object: Object<'_>) -> bool {
    matches!(
        (object.group(), object.kind()),
        ("kustomize.toolkit.fluxcd.io", "Kustomization")
            | ("helm.toolkit.fluxcd.io", "HelmRelease")
            | ("argoproj.io", "Application" | "ApplicationSet")
    )
}

fn names<'d>(side: PlanSide<'d>, built: &'d BuiltObjects) -> BTreeSet<&'d str> {
    built.overlays().into_iter().map(|overlay| relative(overlay, side.folder)).collect()
}

/// The name of a folder without the part that tells the sides apart; empty for the outermost folder.
pub(super) fn relative<'n>(folder: &'n str, start: &str) -> &'n str {
    match without_start(folder, start) {
        "." => "",
        name => name,
    }
}
