//! The objects of an input as the kustomizations among its files build them, for commands that look at one cluster.

use std::collections::{BTreeMap, BTreeSet};

use manifest::{Document, File};
use objects::object::Object;

use crate::bases;
use crate::built::{BuildOptions, BuiltCluster};
use crate::environments::Environments;
use crate::files::files_of;
use crate::ids::{ClusterId, DocumentId, OverlayId};
use crate::input_object::InputObject;
use crate::substitution::{self, RepeatedNames};

/// The builds of the kustomizations among files.
#[derive(Debug)]
pub struct BuiltObjects(BuiltCluster);

/// The objects that one of several clusters has, if the kustomizations of an input are for several clusters.
#[derive(Debug)]
pub struct ClusterVariant<'d> {
    /// The name of the overlay; empty if the input has one cluster.
    pub name: String,
    /// The objects, each with the document that has it.
    pub objects: Vec<InputObject<'d>>,
}

/// The objects of several clusters.
#[derive(Debug)]
pub struct ClusterVariants<'d> {
    /// The clusters.
    pub all: Vec<ClusterVariant<'d>>,
    /// Whether all objects are there.
    pub is_whole: bool,
}

/// An object as one overlay has it.
#[derive(Clone, Copy, Debug)]
pub struct OverlayObject<'d> {
    /// The object.
    pub object: Object<'d>,
    /// The name of the overlay; empty for an object of no overlay.
    pub overlay: &'d str,
    /// The reason why the object is not known for certain.
    pub unresolved: Option<&'d str>,
}

impl<'d> OverlayObject<'d> {
    /// An object of no overlay.
    pub const fn unbuilt(object: Object<'d>) -> Self {
        Self { object, overlay: "", unresolved: None }
    }
}

impl BuiltObjects {
    /// Builds the kustomizations among files.
    pub fn of(files: &[File]) -> Self {
        Self(BuiltCluster::of(ClusterId::FIRST, files))
    }

    /// The folders with objects of Karpenter that are applied themselves although a kustomization elsewhere uses their objects, each with
    /// whether this is certain. If not, the input does not say whether it is so.
    pub fn applied_bases(files: &[File]) -> BTreeMap<String, bool> {
        bases::applied_bases(files)
    }

    /// The names that several Kustomizations of Flux have, each in its own cluster.
    pub fn repeated_names(files: &[File]) -> RepeatedNames {
        substitution::repeated_names(files)
    }

    /// Builds the kustomizations among files, with an overlay for each of some folders that are applied although other kustomizations
    /// use their objects.
    pub fn with_bases(files: &[File], options: &BuildOptions<'_>) -> Self {
        Self(BuiltCluster::with_bases(ClusterId::FIRST, files, options))
    }

    /// The objects of one cluster: each as the first overlay of its variants builds it, or as its document has it. Patches and
    /// objects that only other variants have are left out.
    pub fn objects<'d>(&'d self, files: &'d [File]) -> Vec<Object<'d>> {
        self.first_variant(files).into_iter().map(|one| one.object).collect()
    }

    /// The objects of each cluster that the overlays of the input are for. An object that no overlay changes is in all of them. If these are more
    /// than `limit` together, only the objects that count are there; `None` if these are more, too.
    pub fn variants<'d>(
        &'d self,
        files: &'d [File],
        counts: impl Fn(Object<'d>) -> bool,
        limit: usize,
    ) -> Option<ClusterVariants<'d>> {
        if !self.0.has_variants() {
            return Some(ClusterVariants { all: vec![self.merged(files)], is_whole: true });
        }
        let mut objects = self.input_objects(files);
        let whole = self.0.objects_of_variants(&objects, limit);
        let is_whole = whole.is_some();
        let by_overlay = whole.or_else(|| {
            objects.retain(|object| counts(object.object));
            self.0.objects_of_variants(&objects, limit)
        })?;
        let variant = |(overlay, objects)| {
            let name = self.0.overlay_name(overlay).unwrap_or_default().to_owned();
            ClusterVariant { name, objects }
        };
        Some(ClusterVariants { all: by_overlay.into_iter().map(variant).collect(), is_whole })
    }

    /// One cluster with the objects of all overlays, each as the first of its variants builds it.
    pub fn merged<'d>(&'d self, files: &'d [File]) -> ClusterVariant<'d> {
        ClusterVariant { name: String::new(), objects: self.first_variant(files) }
    }

    /// The names of the overlays that are variants of each other, because they share objects, by group.
    pub fn groups_of_variants(&self) -> Vec<BTreeSet<&str>> {
        self.0.groups_of_variants()
    }

    /// Adds overlays that are variants of each other although they may share no objects, such as overlays that share some at another time.
    pub fn add_variants(&mut self, is_variant: impl Fn(&str) -> bool) {
        self.0.add_variants(is_variant);
    }

    /// The objects that overlays have, each with the names of these overlays.
    pub fn objects_of_overlays<'d>(&'d self, files: &'d [File]) -> Vec<(Object<'d>, BTreeSet<&'d str>)> {
        self.objects_with(files, |input| self.0.overlays_of(input))
    }

    /// The objects that overlays have, each with the names of the overlays that build it in this way.
    pub fn versions_of_overlays<'d>(&'d self, files: &'d [File]) -> Vec<(Object<'d>, BTreeSet<&'d str>)> {
        self.objects_with(files, |input| self.0.overlays_of_version(input))
    }

    fn objects_with<'d>(
        &'d self,
        files: &'d [File],
        overlays_of: impl Fn(&InputObject<'d>) -> BTreeSet<&'d str>,
    ) -> Vec<(Object<'d>, BTreeSet<&'d str>)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let all = self.input_objects(files);
        let with_overlays = all.iter().map(|input| (input.object, overlays_of(input)));
        let mut found: Vec<_> = with_overlays.filter(|(_, overlays)| !overlays.is_empty()).collect();
        // Overlays that leave an object as it is may build it for certain or not.
        found.dedup();
        found
    }

    /// The wanted objects in each overlay that has them. An `ApplicationSet` stands as its kustomization builds it, not as each of its elements
    /// does.
    pub fn objects_by_overlay<'d>(
        &'d self,
        files: &'d [File],
        is_wanted: impl Fn(Object<'d>) -> bool,
    ) -> Vec<OverlayObject<'d>> {
        let mut found = Vec::new();
        for (id, file) in files_of(ClusterId::FIRST, files).filter(|(_, file)| file.is_input()) {
            for (index, read) in file.documents.iter().enumerate() {
                let Document::Read(tree) = read else { continue };
                let objects = Object::all(tree);
                let document = id.document(index);
                if !objects.iter().any(|object| is_wanted(*object))
                    || self.0.skip_reason(file, document).is_some()
                {
                    continue;
                }
                for object in objects {
                    let own = self.versions_by_overlay(object, document);
                    let own = own.unwrap_or_else(|| vec![OverlayObject::unbuilt(object)]);
                    found.extend(own.into_iter().filter(|one| is_wanted(one.object)));
                }
            }
        }
        found
    }

    /// The versions of an object in its overlays; `None` for an object of no overlay.
    fn versions_by_overlay<'d>(
        &'d self,
        object: Object<'d>,
        document: DocumentId,
    ) -> Option<Vec<OverlayObject<'d>>> {
        let (unchanged, changed) = self.0.built_versions(object, document)?;
        let named = |InputObject { object, overlay, unresolved, .. }| {
            Some(OverlayObject { object, overlay: self.0.overlay_name(overlay?)?, unresolved })
        };
        let of_elements = format!("{} (", object.name());
        let is_set = object.kind() == "ApplicationSet";
        let versions = unchanged.into_iter().chain(changed).filter_map(named);
        let found: Vec<_> =
            versions.filter(|one| !(is_set && one.overlay.starts_with(&of_elements))).collect();
        (!is_set || !found.is_empty()).then_some(found)
    }

    /// The names of all overlays.
    pub fn overlays(&self) -> BTreeSet<&str> {
        self.0.overlay_names().collect()
    }

    /// The folders that look like separate clusters, such as `dev` and `prod`.
    pub fn environments(&self, files: &[File]) -> Vec<String> {
        let objects = self.input_objects(files);
        Environments::of(ClusterId::FIRST, files, &objects, false).groups().concat()
    }

    /// The same objects as [`BuiltObjects::objects`], each with its document.
    pub fn first_variant<'d>(&'d self, files: &'d [File]) -> Vec<InputObject<'d>> {
        let others: BTreeSet<OverlayId> = self.0.further_variants().map(|(overlay, _)| overlay).collect();
        let mut all = self.input_objects(files);
        all.retain(|version| version.overlay.is_none_or(|one| !others.contains(&one)));
        all
    }

    fn input_objects<'d>(&'d self, files: &'d [File]) -> Vec<InputObject<'d>> {
        let mut all = Vec::new();
        for (id, file) in files_of(ClusterId::FIRST, files) {
            for (index, read) in file.documents.iter().enumerate() {
                let Document::Read(tree) = read else { continue };
                let document = id.document(index);
                if self.0.skip_reason(file, document).is_some() {
                    continue;
                }
                for object in Object::all(tree) {
                    all.extend(self.0.versions_of_clusters(object, document));
                }
                all.extend(
                    Object::values(tree).into_iter().map(|object| InputObject::unbuilt(object, document)),
                );
            }
        }
        all
    }

    /// The overlays whose objects are left out, because an earlier overlay is a variant of them.
    pub fn left_out(&self) -> Vec<&str> {
        self.0.further_variants().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use objects::embedded::READ_OPTIONS;

    use super::*;

    const DEPLOYMENT: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 1}
";

    fn file(name: &str, text: &str) -> File {
        File::read(name, text, READ_OPTIONS)
    }

    fn overlay(name: &str, replicas: usize) -> [File; 2] {
        let kustomization = "resources: [../../base]\npatches: [{path: replicas.yaml}]\n";
        let patch = format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec: {{replicas: {replicas}}}
"
        );
        [
            file(&format!("overlays/{name}/kustomization.yaml"), kustomization),
            file(&format!("overlays/{name}/replicas.yaml"), &patch),
        ]
    }

    fn replicas(files: &[File]) -> (Vec<i64>, usize) {
        let built = BuiltObjects::of(files);
        let objects = built.objects(files);
        let workloads = objects.iter().filter(|object| object.kind() == "Deployment");
        let counts = workloads.filter_map(|object| object.at(&["spec", "replicas"])?.as_int()).collect();
        (counts, built.left_out().len())
    }

    #[test]
    fn leaves_objects_alone_without_kustomizations() {
        assert_eq!(replicas(&[file("web.yaml", DEPLOYMENT)]), (vec![1], 0));
    }

    #[test]
    fn applies_patches_once() {
        let mut files = vec![
            file("base/kustomization.yaml", "resources: [web.yaml]\n"),
            file("base/web.yaml", DEPLOYMENT),
        ];
        files.extend(overlay("prod", 5));
        assert_eq!(replicas(&files), (vec![5], 0));
    }

    /// Two overlays of one base.
    fn two_overlays() -> Vec<File> {
        let mut files = vec![
            file("base/kustomization.yaml", "resources: [web.yaml]\n"),
            file("base/web.yaml", DEPLOYMENT),
        ];
        files.extend(overlay("dev", 2));
        files.extend(overlay("prod", 5));
        files
    }

    #[test]
    fn takes_the_first_of_several_variants() {
        assert_eq!(replicas(&two_overlays()), (vec![2], 1));
    }

    #[test]
    fn leaves_out_the_objects_that_do_not_count_if_the_clusters_have_too_many() {
        let mut files = two_overlays();
        let further = ["a", "b", "c"].map(|name| {
            file(
                &format!("{name}.yaml"),
                &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"),
            )
        });
        files.extend(further);
        let built = BuiltObjects::of(&files);
        let counted = |limit: usize| {
            let found = built.variants(&files, |object| object.kind() == "Deployment", limit)?;
            let count = |variant: &ClusterVariant<'_>| {
                let kinds = variant.objects.iter().filter(|one| !one.object.kind().is_empty());
                (variant.name.clone(), kinds.count())
            };
            Some((found.all.iter().map(count).collect::<Vec<_>>(), found.is_whole))
        };
        let clusters =
            |count: usize| vec![("overlays/dev".to_owned(), count), ("overlays/prod".to_owned(), count)];
        assert_eq!(counted(1000), Some((clusters(4), true)));
        assert_eq!(counted(2), Some((clusters(1), false)));
        assert_eq!(counted(1), None);
    }
}
