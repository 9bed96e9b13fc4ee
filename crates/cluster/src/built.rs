//! Objects as the kustomizations of an input build them.
//!
//! An object that a kustomization changes is checked as each overlay builds it; its own document and the patches are not
//! checked for themselves. An object that no build changes is checked where it is.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Builds, BuiltObject, Outcome, Patches};
use manifest::limits::Limits;
use manifest::{Document, File, FileKind};
use objects::object::Object;

use crate::inventory::Inventory;

/// Maximum number of objects in the inventories of the overlays together. Above it, overlays share the inventory of the
/// cluster, so that the cost stays linear.
const MAX_INVENTORIED: usize = 200_000;

/// Names of overlays that a reason lists.
const NAMED_OVERLAYS: usize = 3;

/// File, document and root of an object in the input.
type Origin = (usize, usize, usize);

/// The builds of the kustomizations of one cluster.
#[derive(Debug)]
pub struct BuiltCluster {
    builds: Builds,
    /// Files that are patches of any kustomization, resolved or not.
    patches: Patches,
    /// The overlay and the position in the overlay of each version of an object.
    versions: BTreeMap<Origin, Vec<(usize, usize)>>,
    /// For each overlay, a number that overlays with common objects share. Such overlays are variants of each other, so
    /// they belong to different clusters.
    variants: Vec<usize>,
    /// Overlays that have variants.
    has_variants: BTreeSet<usize>,
}

/// Indices of a cluster, of a file and of a document.
pub type Slot = (usize, usize, usize);

/// An object with the indices of its cluster, file and document.
#[derive(Clone, Copy, Debug)]
pub struct CheckedObject<'d> {
    /// The object.
    pub object: Object<'d>,
    /// Index of its cluster.
    pub cluster: usize,
    /// Index of its file in the cluster.
    pub file: usize,
    /// Index of its document in the file.
    pub document: usize,
    /// The overlay that builds the object, if a single one does.
    pub overlay: Option<usize>,
    /// The reason why the built object is not known for certain.
    pub unresolved: Option<&'d str>,
    /// Whether another version of the same object is checked too.
    pub is_repeated: bool,
}

impl CheckedObject<'_> {
    /// The indices of cluster, file and document.
    pub fn slot(&self) -> Slot {
        (self.cluster, self.file, self.document)
    }

    /// The object before the update that an AdmissionReview asks for.
    pub fn stored(&self) -> Option<Self> {
        Some(Self { object: self.object.stored()?, ..*self })
    }
}

/// A version of an object that is checked.
#[derive(Clone, Copy, Debug)]
pub struct Version<'d> {
    /// The object as the overlay builds it, or as its document has it.
    pub object: Object<'d>,
    /// The overlay that builds it, unless the document has it or several overlays leave it unchanged.
    pub overlay: Option<usize>,
    /// The reason why the built object is not known for certain.
    pub unresolved: Option<&'d str>,
    /// Whether another version of the same object is checked too.
    pub is_repeated: bool,
}

impl BuiltCluster {
    /// Builds the kustomizations among the files of a cluster.
    pub fn of(files: &[File]) -> Self {
        Self::new(files, Builds::of(files, &Limits::DEFAULT))
    }

    /// Returns a cluster in which no file is a kustomization.
    pub fn without_kustomization(files: &[File]) -> Option<Self> {
        (!kustomize::has_kustomization(files)).then(|| Self::new(files, Builds::default()))
    }

    fn new(files: &[File], builds: Builds) -> Self {
        let mut versions = BTreeMap::<Origin, Vec<(usize, usize)>>::new();
        for (overlay, build) in builds.overlays.iter().enumerate() {
            for (position, object) in build.objects.iter().enumerate() {
                let origin = (object.file, object.document, object.order);
                versions.entry(origin).or_default().push((overlay, position));
            }
        }
        let (variants, has_variants) = variants(builds.overlays.len(), &versions);
        Self { patches: Patches::of(files), builds, versions, variants, has_variants }
    }

    /// The name of an overlay.
    pub fn overlay_name(&self, overlay: usize) -> Option<&str> {
        self.builds.overlays.get(overlay).map(|overlay| overlay.name.as_str())
    }

    /// Whether there are no builds.
    pub fn is_empty(&self) -> bool {
        self.builds.overlays.is_empty()
    }

    /// The reason why a document is not checked itself, if a kustomization uses it as a patch or removes its objects.
    pub fn skip_reason(&self, file: &File, index: usize, document: usize) -> Option<String> {
        match self.builds.patches.get(&index) {
            Some(overlays) if !overlays.is_empty() => {
                return Some(format!("Kustomize patch: checked as part of {}", listed(overlays)));
            }
            Some(_) => {
                return Some(
                    "Kustomize patch, not checked: no build in the input applies it; check the output of `kustomize build`"
                        .to_owned(),
                );
            }
            None => {}
        }
        if file.kind == FileKind::Patch || self.patches.contains(file.source.name()) {
            return Some("Kustomize patch, not checked: check the output of `kustomize build`".to_owned());
        }
        if let Some(Document::Read(tree)) = file.documents.get(document) {
            if self.builds.kustomizations.contains(&index) && tree.root().get("kind").is_none() {
                return Some("kustomization: its objects are checked as it builds them".to_owned());
            }
            let is_built =
                self.versions.range((index, document, 0)..(index, document + 1, 0)).next().is_some();
            let is_named = !is_built && kustomize::is_named_patch(file.source.name(), tree.root());
            if is_named || kustomize::looks_like_patch(tree.root()) {
                return Some("patch, not checked: check the object that it changes".to_owned());
            }
        }
        let of_document = self.versions.range((index, document, 0)..(index, document + 1, 0));
        let all: Vec<(usize, usize)> =
            of_document.flat_map(|(_, versions)| versions.iter().copied()).collect();
        let is_deleted = |version: &(usize, usize)| {
            self.built(*version).is_some_and(|object| matches!(object.outcome, Outcome::Deleted))
        };
        let overlays: BTreeSet<usize> = all.iter().map(|(overlay, _)| *overlay).collect();
        let names = overlays.iter().filter_map(|overlay| self.builds.overlays.get(*overlay));
        let names: Vec<String> = names.map(|overlay| overlay.name.clone()).collect();
        (!all.is_empty() && all.iter().all(is_deleted))
            .then(|| format!("removed by a patch in {}, not checked", listed(&names)))
    }

    /// The versions of an object to check: the object itself if no build changes it.
    pub fn versions<'d>(&'d self, object: Object<'d>, file: usize, document: usize) -> Vec<Version<'d>> {
        let own = Version { object, overlay: None, unresolved: None, is_repeated: false };
        let Some(found) = self.versions.get(&(file, document, object.root().order())) else {
            return vec![own];
        };
        let mut unchanged: Option<Version<'d>> = None;
        let mut changed = Vec::new();
        for (overlay, position) in found {
            let Some(built) = self.built((*overlay, *position)) else { continue };
            let unresolved = built.unresolved.as_deref();
            match &built.outcome {
                Outcome::Deleted => {}
                Outcome::Unchanged => {
                    let first = Version { overlay: Some(*overlay), unresolved, ..own };
                    unchanged = Some(match unchanged {
                        None => first,
                        Some(other) => Version { unresolved: other.unresolved.and(unresolved), ..own },
                    });
                }
                Outcome::Changed(tree) => {
                    let objects = Object::all(tree).into_iter();
                    changed.extend(objects.map(|object| Version {
                        object,
                        overlay: Some(*overlay),
                        unresolved,
                        is_repeated: false,
                    }));
                }
            }
        }
        let mut versions: Vec<Version<'d>> = unchanged.into_iter().chain(changed).collect();
        // A version that is known for certain makes the others superfluous.
        if versions.iter().any(|version| version.unresolved.is_none()) {
            versions.retain(|version| version.unresolved.is_none());
        }
        for version in versions.iter_mut().skip(1) {
            version.is_repeated = true;
        }
        versions
    }

    /// The overlays, each with its name, that are variants of an earlier overlay.
    pub fn further_variants(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.builds.overlays.iter().enumerate();
        let is_further = |overlay: usize| self.variants.get(overlay).is_some_and(|first| *first != overlay);
        all.filter(move |(overlay, _)| is_further(*overlay))
            .map(|(overlay, build)| (overlay, build.name.as_str()))
    }

    /// Whether an object belongs to the cluster of an overlay: the overlay has this version of the object, or no variant of the
    /// overlay has any version.
    fn belongs(&self, checked: &CheckedObject<'_>, overlay: usize) -> bool {
        let is_other = |other: usize| self.variants.get(other) != self.variants.get(overlay);
        if let Some(own) = checked.overlay {
            return own == overlay || is_other(own);
        }
        let origin = (checked.file, checked.document, checked.object.root().order());
        let Some(found) = self.versions.get(&origin) else { return true };
        let is_unchanged = |version: &(usize, usize)| {
            self.built(*version).is_some_and(|object| matches!(object.outcome, Outcome::Unchanged))
        };
        let is_in_overlay = found.iter().any(|version| version.0 == overlay && is_unchanged(version));
        is_in_overlay || found.iter().all(|(own, _)| is_other(*own))
    }

    /// The object at a position in an overlay.
    fn built(&self, (overlay, position): (usize, usize)) -> Option<&BuiltObject> {
        self.builds.overlays.get(overlay)?.objects.get(position)
    }

    /// The inventories of the overlays that have variants, from the checked objects of the cluster.
    pub fn inventories<'d>(
        &self,
        name: &str,
        checked: &[CheckedObject<'d>],
        complete: bool,
    ) -> BTreeMap<usize, Inventory<'d>> {
        if self.has_variants.len().saturating_mul(checked.len()) > MAX_INVENTORIED {
            return BTreeMap::new();
        }
        let inventory = |overlay: &usize| {
            let own = checked.iter().filter(|checked| self.belongs(checked, *overlay));
            let objects = own.map(|checked| checked.object).collect();
            (*overlay, Inventory::new(name, objects, complete))
        };
        self.has_variants.iter().map(inventory).collect()
    }
}

/// Overlays that have an object in common get the same number. Also returns the overlays that have an object in common with
/// another one.
fn variants(count: usize, versions: &BTreeMap<Origin, Vec<(usize, usize)>>) -> (Vec<usize>, BTreeSet<usize>) {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut has_variants = BTreeSet::new();
    let shared: BTreeSet<Vec<usize>> = versions
        .values()
        .map(|found| found.iter().map(|(overlay, _)| *overlay).collect::<BTreeSet<_>>().into_iter().collect())
        .collect();
    for overlays in shared.iter().filter(|overlays| overlays.len() > 1) {
        has_variants.extend(overlays.iter().copied());
        let of = |overlay: &usize| numbers.get(*overlay).copied().unwrap_or_default();
        let mut merged: BTreeSet<usize> = overlays.iter().map(of).collect();
        let Some(first) = merged.pop_first() else { continue };
        if !merged.is_empty() {
            numbers.iter_mut().filter(|number| merged.contains(number)).for_each(|number| *number = first);
        }
    }
    (numbers, has_variants)
}

/// Up to three names in back-ticks.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED_OVERLAYS).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMED_OVERLAYS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_at_most_three_overlays() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(listed(&names[..3]), "`a`, `b`, `c`");
        assert_eq!(listed(&names), "`a`, `b`, `c` and 1 more");
    }

    #[test]
    fn overlays_of_a_large_input_have_no_inventories_of_their_own() {
        let file = File::read("a.yaml", "apiVersion: v1\nkind: ConfigMap\n", &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{file:?}") };
        let built = BuiltCluster {
            builds: Builds::default(),
            patches: Patches::default(),
            versions: BTreeMap::new(),
            variants: vec![0, 0],
            has_variants: BTreeSet::from([0, 1]),
        };
        let object = CheckedObject {
            object: Object::all(tree)[0],
            cluster: 0,
            file: 0,
            document: 0,
            overlay: None,
            unresolved: None,
            is_repeated: false,
        };
        let inventories = |objects: usize| built.inventories("", &vec![object; objects], false).len();
        assert_eq!((inventories(MAX_INVENTORIED / 2), inventories(MAX_INVENTORIED / 2 + 1)), (2, 0));
    }
}
