//! Objects as the kustomizations of an input build them.
//!
//! An object that a kustomization changes is checked as each overlay builds it; its own document and the patches are not
//! checked for themselves. An object that no build changes is checked where it is.

use std::collections::{BTreeMap, BTreeSet};

use ids::{Id as _, ids};
use kustomize::{BuildOutcome, Builds, BuiltObject, Overlay, Patches};
use manifest::limits::Limits;
use manifest::tree::{Node, NodeId};
use manifest::{Document, File, FileKind, FileNumber, is_markdown};
use objects::object::Object;
use objects::type_meta::TypeMeta;
use objects::wrapper::Wrapper;

use crate::bases;
use crate::files::Cluster;
use crate::ids::{ClusterId, DocumentId, FileId, OverlayId};
use crate::input_object::InputObject;
use crate::inventory::Inventory;
use crate::substitution::{self, RepeatedNames};

/// Maximum number of objects in the inventories of the overlays together. Above it, overlays share the inventory of the
/// cluster, so that the cost stays linear.
const MAX_INVENTORIED: usize = 200_000;

/// Names of overlays that a reason lists.
const MAX_NAMED_OVERLAYS: usize = 3;

/// An object of a document, before any build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectOrigin {
    document: DocumentId,
    root: NodeId,
}

ids! {
    /// Object among the objects that an overlay builds.
    BuiltObjectId;
}

/// An object that an overlay builds.
#[derive(Clone, Copy, Debug)]
struct Version {
    overlay: OverlayId,
    object: BuiltObjectId,
}

/// Options that the builds of both sides of a comparison share, so that the overlays of both have the same names.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'o> {
    /// The folders that are applied although other kustomizations use their objects.
    pub folders: &'o BTreeSet<String>,
    /// The names that Kustomizations of Flux share.
    pub repeated: &'o RepeatedNames,
    /// The start of the names of files that does not count.
    pub start: &'o str,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        const NO_FOLDERS: &BTreeSet<String> = &BTreeSet::new();
        const NO_NAMES: &RepeatedNames = &RepeatedNames::new();
        Self { folders: NO_FOLDERS, repeated: NO_NAMES, start: "" }
    }
}

/// The builds of the kustomizations of one cluster.
#[derive(Debug)]
pub struct BuiltCluster {
    cluster: ClusterId,
    builds: Builds,
    /// Files that are patches of any kustomization, resolved or not.
    patches: Patches,
    /// Versions of each object in the overlays.
    versions: BTreeMap<ObjectOrigin, Vec<Version>>,
    /// For each overlay, the first overlay with which it shares objects, directly or through others. Such overlays are variants of
    /// each other, so they belong to different clusters.
    variants: Vec<OverlayId>,
    /// Overlays that have variants.
    has_variants: BTreeSet<OverlayId>,
}

impl BuiltCluster {
    /// Builds the kustomizations among the files of a cluster, with the values of the variables that Flux and Argo CD replace.
    pub fn of(cluster: ClusterId, files: &[File]) -> Self {
        let repeated = substitution::repeated_names(files);
        Self::with_bases(cluster, files, &BuildOptions { repeated: &repeated, ..BuildOptions::default() })
    }

    /// Builds the kustomizations, with overlays for some folders that are applied although other kustomizations use their objects.
    pub(crate) fn with_bases(cluster: ClusterId, files: &[File], options: &BuildOptions<'_>) -> Self {
        let BuildOptions { folders, repeated, start } = *options;
        let mut builds = Builds::with_roots(files, &Limits::DEFAULT, folders);
        for folder in folders {
            bases::add_folder(&mut builds, files, folder);
        }
        substitution::add(&mut builds, (files, start), repeated, &Limits::DEFAULT);
        Self::new(cluster, files, builds)
    }

    /// Builds the kustomizations of each cluster.
    pub fn of_all(clusters: &[Cluster]) -> Vec<Self> {
        ClusterId::enumerate(clusters).map(|(id, cluster)| Self::of(id, &cluster.files)).collect()
    }

    /// Returns clusters in which no file is a kustomization.
    pub fn all_without_kustomization(clusters: &[Cluster]) -> Option<Vec<Self>> {
        let all = ClusterId::enumerate(clusters);
        all.map(|(id, cluster)| Self::without_kustomization(id, &cluster.files)).collect()
    }

    /// Returns a cluster in which no file is a kustomization.
    fn without_kustomization(cluster: ClusterId, files: &[File]) -> Option<Self> {
        (!kustomize::has_kustomization(files)).then(|| Self {
            cluster,
            builds: Builds::default(),
            patches: Patches::default(),
            versions: BTreeMap::new(),
            variants: Vec::new(),
            has_variants: BTreeSet::new(),
        })
    }

    fn new(cluster: ClusterId, files: &[File], builds: Builds) -> Self {
        let mut versions = BTreeMap::<ObjectOrigin, Vec<Version>>::new();
        for (overlay, build) in builds.overlays.iter().enumerate() {
            for (position, object) in build.objects.iter().enumerate() {
                let kustomize::Origin { document, root } = object.origin;
                let document = FileId { cluster, index: document.file.get() }.document(document.position);
                let version =
                    Version { overlay: OverlayId(overlay), object: BuiltObjectId::from_position(position) };
                versions.entry(ObjectOrigin { document, root }).or_default().push(version);
            }
        }
        let (variants, has_variants) = variants(builds.overlays.len(), &versions);
        Self { cluster, patches: Patches::of(files), builds, versions, variants, has_variants }
    }

    /// The name of an overlay.
    pub fn overlay_name(&self, overlay: OverlayId) -> Option<&str> {
        self.builds.overlays.get(overlay.0).map(|overlay| overlay.name.as_str())
    }

    /// The names of all overlays.
    pub(crate) fn overlay_names(&self) -> impl Iterator<Item = &str> {
        self.builds.overlays.iter().map(|overlay| overlay.name.as_str())
    }

    /// Whether there are no builds.
    pub fn is_empty(&self) -> bool {
        self.builds.overlays.is_empty()
    }

    /// Whether a document is a kustomization whose build was given up, because it would be too large.
    pub fn is_unfinished(&self, document: DocumentId) -> bool {
        debug_assert_eq!(document.file.cluster, self.cluster, "a document of another cluster");
        self.builds.unfinished.contains(&FileNumber::new(document.file.index()))
    }

    /// The reason why a document is not checked itself, if a kustomization uses it as a patch or removes its objects.
    pub fn skip_reason(&self, file: &File, document: DocumentId) -> Option<String> {
        debug_assert_eq!(document.file.cluster, self.cluster, "a document of another cluster");
        let number = FileNumber::new(document.file.index());
        match self.builds.patches.get(&number) {
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
        if let Some(Document::Read(tree)) = file.documents.get(document.index) {
            if self.builds.kustomizations.contains(&number) && tree.root().get("kind").is_none() {
                return Some("kustomization: its objects are checked as it builds them".to_owned());
            }
            let is_built = self.versions_in(document).next().is_some();
            let is_named = !is_built && kustomize::is_named_patch(file.source.name(), tree.root());
            if is_named || kustomize::looks_like_patch(tree.root()) {
                return Some("patch, not checked: check the object that it changes".to_owned());
            }
            if is_markdown(file.source.name()) && is_excerpt(tree.root()) {
                return Some("part of an object in a code block, not checked".to_owned());
            }
        }
        let all: Vec<Version> = self.versions_in(document).copied().collect();
        let is_deleted = |version: &Version| {
            self.built(*version).is_some_and(|object| matches!(object.outcome, BuildOutcome::Deleted))
        };
        let overlays: BTreeSet<OverlayId> = all.iter().map(|version| version.overlay).collect();
        let names = overlays.into_iter().filter_map(|overlay| self.overlay_name(overlay));
        let names: Vec<String> = names.map(str::to_owned).collect();
        (!all.is_empty() && all.iter().all(is_deleted))
            .then(|| format!("removed by a patch in {}, not checked", listed(&names)))
    }

    /// Versions of the objects of a document in the overlays.
    fn versions_in(&self, document: DocumentId) -> impl Iterator<Item = &Version> {
        let first = ObjectOrigin { document, root: NodeId::ROOT };
        let of_document =
            self.versions.range(first..).take_while(move |(origin, _)| origin.document == document);
        of_document.flat_map(|(_, versions)| versions)
    }

    /// The versions of an object to check: the object itself if no build changes it.
    pub fn versions<'d>(&'d self, object: Object<'d>, document: DocumentId) -> Vec<InputObject<'d>> {
        let Some((unchanged, changed)) = self.built_versions(object, document) else {
            return vec![InputObject::unbuilt(object, document)];
        };
        let mut versions: Vec<InputObject<'d>> = shared(&unchanged).into_iter().chain(changed).collect();
        // A version that is known for certain makes the others superfluous.
        if versions.iter().any(|version| version.unresolved.is_none()) {
            versions.retain(|version| version.unresolved.is_none());
        }
        number(versions)
    }

    /// The versions of an object in the clusters for which the overlays are, also the ones that are not known for certain.
    pub(crate) fn versions_of_clusters<'d>(
        &'d self,
        object: Object<'d>,
        document: DocumentId,
    ) -> Vec<InputObject<'d>> {
        let Some((unchanged, changed)) = self.built_versions(object, document) else {
            return vec![InputObject::unbuilt(object, document)];
        };
        let is_certain = |version: &InputObject<'d>| version.unresolved.is_none();
        let is_mixed = unchanged.iter().any(is_certain) && !unchanged.iter().all(is_certain);
        let unchanged = if is_mixed { unchanged } else { shared(&unchanged).into_iter().collect() };
        number(unchanged.into_iter().chain(changed).collect())
    }

    /// The versions of the object that a build knows: the object itself, or the one around it, such as a `ResourceSet`. Also whether it is one around
    /// the object.
    fn versions_around(&self, object: Object<'_>, document: DocumentId) -> Option<(&[Version], bool)> {
        let around = core::iter::successors(Some(object.root()), |node| node.parent());
        // The object of a review is not one that kustomize builds.
        let mut around = around.filter(|node| *node == object.root() || Wrapper::of(*node).is_some());
        around.find_map(|node| {
            let found = self.versions.get(&ObjectOrigin { document, root: node.id() })?;
            Some((found.as_slice(), node != object.root()))
        })
    }

    /// The versions of an object that overlays leave as it is, and the ones that they change. `None` if no overlay has the object. A changed
    /// version has the objects within it, which therefore have no changed versions.
    pub(crate) fn built_versions<'d>(
        &'d self,
        object: Object<'d>,
        document: DocumentId,
    ) -> Option<(Vec<InputObject<'d>>, Vec<InputObject<'d>>)> {
        let own = InputObject::unbuilt(object, document);
        let (found, is_within) = self.versions_around(object, document)?;
        let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
        for version in found {
            let Some(built) = self.built(*version) else { continue };
            let (overlay, unresolved) = (Some(version.overlay), built.unresolved.as_deref());
            match &built.outcome {
                BuildOutcome::Deleted => {}
                BuildOutcome::Unchanged => unchanged.push(InputObject { overlay, unresolved, ..own }),
                BuildOutcome::Changed(_) if is_within => {}
                BuildOutcome::Changed(tree) => {
                    let objects = Object::all(tree).into_iter();
                    changed.extend(objects.map(|object| InputObject { object, overlay, unresolved, ..own }));
                }
            }
        }
        Some((unchanged, changed))
    }

    /// The overlays, each with its name, that are variants of an earlier overlay.
    pub fn further_variants(&self) -> impl Iterator<Item = (OverlayId, &str)> {
        let all = self.builds.overlays.iter().zip(&self.variants).enumerate();
        let is_further = |(index, (_, first)): &(usize, (&Overlay, &OverlayId))| first.0 != *index;
        all.filter(is_further).map(|(index, (build, _))| (OverlayId(index), build.name.as_str()))
    }

    /// The names of the overlays that have an object, as it is or changed.
    pub(crate) fn overlays_of(&self, object: &InputObject<'_>) -> BTreeSet<&str> {
        let found = self.versions_around(object.object, object.document);
        let is_there = |version: &&Version| {
            self.built(**version).is_some_and(|object| !matches!(object.outcome, BuildOutcome::Deleted))
        };
        let there = found.into_iter().flat_map(|(versions, _)| versions).filter(is_there);
        there.filter_map(|version| self.overlay_name(version.overlay)).collect()
    }

    /// The names of the overlays that have this version of an object.
    pub(crate) fn overlays_of_version(&self, object: &InputObject<'_>) -> BTreeSet<&str> {
        let (own, _) = self.overlays_and_groups_of(object);
        if own.is_empty() {
            return self.overlays_of(object);
        }
        own.into_iter().filter_map(|overlay| self.overlay_name(overlay)).collect()
    }

    /// The names of the overlays that are variants of each other, by group.
    pub(crate) fn groups_of_variants(&self) -> Vec<BTreeSet<&str>> {
        let mut groups: BTreeMap<OverlayId, BTreeSet<&str>> = BTreeMap::new();
        for overlay in &self.has_variants {
            if let Some((first, name)) = self.variants.get(overlay.0).zip(self.overlay_name(*overlay)) {
                groups.entry(*first).or_default().insert(name);
            }
        }
        groups.into_values().collect()
    }

    /// Adds overlays that are variants of each other, although they may share no objects.
    pub(crate) fn add_variants(&mut self, is_variant: impl Fn(&str) -> bool) {
        let names = self.builds.overlays.iter().enumerate();
        let found = names.filter(|(_, overlay)| is_variant(&overlay.name));
        let found: BTreeSet<OverlayId> = found.map(|(index, _)| OverlayId(index)).collect();
        join(&mut self.variants, &found);
        self.has_variants.extend(found);
    }

    /// Whether an object belongs to the cluster of an overlay: the overlay has this version of the object, or no variant of the
    /// overlay has any version.
    pub(crate) fn belongs(&self, object: &InputObject<'_>, overlay: OverlayId) -> bool {
        let variants = |overlay: OverlayId| self.variants.get(overlay.0);
        let is_other = |other: OverlayId| variants(other) != variants(overlay);
        if let Some(own) = object.overlay {
            return own == overlay || is_other(own);
        }
        let Some((found, _)) = self.versions_around(object.object, object.document) else {
            return true;
        };
        let is_unchanged = |version: &Version| {
            self.built(*version).is_some_and(|object| matches!(object.outcome, BuildOutcome::Unchanged))
        };
        let is_in_overlay = found.iter().any(|version| version.overlay == overlay && is_unchanged(version));
        is_in_overlay || found.iter().all(|version| is_other(version.overlay))
    }

    fn built(&self, version: Version) -> Option<&BuiltObject> {
        let object = self.builds.overlays.get(version.overlay.0)?.objects.get(version.object.position());
        debug_assert!(object.is_some(), "{version:?} is of another build");
        object
    }

    /// Whether overlays are variants of each other.
    pub(crate) fn has_variants(&self) -> bool {
        !self.has_variants.is_empty()
    }

    /// The objects of the cluster of each overlay that has variants, as [`Self::belongs`] says. `None` if they are more than `limit` together.
    pub(crate) fn objects_of_variants<'d>(
        &self,
        objects: &[InputObject<'d>],
        limit: usize,
    ) -> Option<BTreeMap<OverlayId, Vec<InputObject<'d>>>> {
        let mut groups = BTreeMap::<OverlayId, Vec<OverlayId>>::new();
        for overlay in &self.has_variants {
            groups.entry(*self.variants.get(overlay.0)?).or_default().push(*overlay);
        }
        let mut found: BTreeMap<OverlayId, Vec<InputObject<'d>>> =
            self.has_variants.iter().map(|overlay| (*overlay, Vec::new())).collect();
        let mut left = limit;
        for object in objects {
            let (own, concerned) = self.overlays_and_groups_of(object);
            let others = groups.iter().filter(|(group, _)| !concerned.contains(group));
            let own = own.intersection(&self.has_variants);
            for overlay in others.flat_map(|(_, overlays)| overlays).chain(own) {
                left = left.checked_sub(1)?;
                found.entry(*overlay).or_default().push(*object);
            }
        }
        Some(found)
    }

    /// The overlays that have this version of an object, and the first ones of the variants that have any version.
    fn overlays_and_groups_of(&self, object: &InputObject<'_>) -> (BTreeSet<OverlayId>, BTreeSet<OverlayId>) {
        let group = |overlay: OverlayId| self.variants.get(overlay.0).copied();
        if let Some(own) = object.overlay {
            return (BTreeSet::from([own]), group(own).into_iter().collect());
        }
        let found = self.versions_around(object.object, object.document);
        let all = || found.into_iter().flat_map(|(versions, _)| versions);
        let is_unchanged = |version: &&Version| {
            self.built(**version).is_some_and(|object| matches!(object.outcome, BuildOutcome::Unchanged))
        };
        let own = all().filter(is_unchanged).map(|version| version.overlay).collect();
        (own, all().filter_map(|version| group(version.overlay)).collect())
    }

    /// The inventories of the overlays that have variants, from the objects of the cluster.
    pub fn inventories<'d>(
        &self,
        name: &str,
        objects: &[InputObject<'d>],
        complete: bool,
    ) -> BTreeMap<OverlayId, Inventory<'d>> {
        if self.has_variants.len().saturating_mul(objects.len()) > MAX_INVENTORIED {
            return BTreeMap::new();
        }
        let inventory = |overlay: &OverlayId| {
            let own = objects.iter().filter(|object| self.belongs(object, *overlay));
            let objects = own.map(|object| object.object).collect();
            (*overlay, Inventory::new(name, objects, complete))
        };
        self.has_variants.iter().map(inventory).collect()
    }
}

/// One version for several equal ones. It is known for certain if one of them is.
fn shared<'d>(equal: &[InputObject<'d>]) -> Option<InputObject<'d>> {
    let (first, others) = equal.split_first()?;
    if others.is_empty() {
        return Some(*first);
    }
    let unresolved = equal.iter().all(|version| version.unresolved.is_some());
    Some(InputObject { overlay: None, unresolved: first.unresolved.filter(|_| unresolved), ..*first })
}

/// Marks all versions of an object but the first one as repeated.
fn number(mut versions: Vec<InputObject<'_>>) -> Vec<InputObject<'_>> {
    for version in versions.iter_mut().skip(1) {
        version.is_repeated = true;
    }
    versions
}

/// For each overlay, the first overlay with which it shares objects, directly or through others; and the overlays that share objects
/// with another one.
fn variants(
    count: usize,
    versions: &BTreeMap<ObjectOrigin, Vec<Version>>,
) -> (Vec<OverlayId>, BTreeSet<OverlayId>) {
    let mut firsts: Vec<OverlayId> = (0..count).map(OverlayId).collect();
    let mut has_variants = BTreeSet::new();
    let of_object = |found: &Vec<Version>| found.iter().map(|version| version.overlay).collect();
    let shared: BTreeSet<BTreeSet<OverlayId>> = versions.values().map(of_object).collect();
    for overlays in shared.iter().filter(|overlays| overlays.len() > 1) {
        has_variants.extend(overlays.iter().copied());
        join(&mut firsts, overlays);
    }
    (firsts, has_variants)
}

/// Gives overlays, and the overlays that are already variants of them, the same first overlay.
fn join(firsts: &mut [OverlayId], overlays: &BTreeSet<OverlayId>) {
    let first = |overlay: &OverlayId| firsts.get(overlay.0).copied();
    let mut merged: BTreeSet<OverlayId> = overlays.iter().filter_map(first).collect();
    let Some(first) = merged.pop_first() else { return };
    if !merged.is_empty() {
        firsts.iter_mut().filter(|other| merged.contains(other)).for_each(|other| *other = first);
    }
}

/// Whether a document in a code block shows only a part of an object: a field is absent that a whole object needs.
fn is_excerpt(root: Node<'_>) -> bool {
    let is_nameless = ["name", "generateName"].iter().all(|name| root.at_path(&["metadata", name]).is_none());
    let is_object = root.get("apiVersion").is_some() && root.get("items").is_none();
    is_object && (is_nameless || kustomize::is_part(root) || TypeMeta::of(root).may_be_patch())
}

/// Up to three names in back-ticks.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMED_OVERLAYS).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_NAMED_OVERLAYS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    #[test]
    fn lists_at_most_three_overlays() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(listed(&names[..3]), "`a`, `b`, `c`");
        assert_eq!(listed(&names), "`a`, `b`, `c` and 1 more");
    }

    #[test]
    fn overlays_of_a_large_input_have_no_inventories_of_their_own() {
        let file = File::read("a.yaml", "apiVersion: v1\nkind: ConfigMap\n", READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{file:?}") };
        let built = BuiltCluster {
            cluster: ClusterId::FIRST,
            builds: Builds::default(),
            patches: Patches::default(),
            versions: BTreeMap::new(),
            variants: vec![OverlayId(0), OverlayId(0)],
            has_variants: BTreeSet::from([OverlayId(0), OverlayId(1)]),
        };
        let document = FileId { cluster: ClusterId::FIRST, index: 0 }.document(0);
        let object = InputObject::unbuilt(Object::all(tree)[0], document);
        let inventories = |objects: usize| built.inventories("", &vec![object; objects], false).len();
        assert_eq!((inventories(MAX_INVENTORIED / 2), inventories(MAX_INVENTORIED / 2 + 1)), (2, 0));
    }
}
