//! Objects as the kustomizations of an input build them.
//!
//! An object that a kustomization changes is checked as each overlay builds it; its own document and the patches are not
//! checked for themselves. An object that no build changes is checked where it is.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Builds, BuiltObject, Outcome, Patches};
use manifest::limits::Limits;
use manifest::source::Source;
use manifest::{Document, File, FileKind};
use objects::location::Place;
use objects::object::Object;

use crate::check::Cluster;
use crate::classification::Severity;
use crate::collect::CheckedObject;
use crate::finding::Finding;
use crate::inventory::Inventory;
use crate::report::{DocumentLocation, Report};

/// Maximum number of objects in the inventories of the overlays together. Above it, overlays share the inventory of the
/// cluster, so that the cost stays linear.
const MAX_INVENTORIED: usize = 200_000;

/// Names of overlays that a reason lists.
const NAMED_OVERLAYS: usize = 3;

/// File, document and root of an object in the input.
type Origin = (usize, usize, usize);

/// The builds of the kustomizations of one cluster.
#[derive(Debug)]
pub(crate) struct BuiltCluster {
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

/// A version of an object that is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version<'d> {
    /// The object as the overlay builds it, or as its document has it.
    pub(crate) object: Object<'d>,
    /// The overlay that builds it, unless the document has it or several overlays leave it unchanged.
    pub(crate) overlay: Option<usize>,
    /// The reason why the built object is not known for certain.
    pub(crate) unresolved: Option<&'d str>,
    /// Whether another version of the same object is checked too.
    pub(crate) is_repeated: bool,
}

impl BuiltCluster {
    /// Builds the kustomizations among the files of a cluster.
    pub(crate) fn of(files: &[File]) -> Self {
        Self::new(files, Builds::of(files, &Limits::DEFAULT))
    }

    /// Returns a cluster in which no file is a kustomization.
    pub(crate) fn without_kustomization(files: &[File]) -> Option<Self> {
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

    /// Adds to a finding what is known about the build of its object. Returns whether the finding is the first one of its
    /// kind.
    pub(crate) fn accept(
        &self,
        finding: &mut Finding<'_>,
        checked: &CheckedObject<'_>,
        repetitions: &mut Repetitions,
    ) -> bool {
        if self.is_empty() {
            return true;
        }
        let is_first = repetitions.is_first(finding, checked);
        if let Some(reason) = checked.unresolved {
            weaken(finding, reason);
        }
        let overlay = checked.overlay.filter(|_| checked.object.root().tree().is_assembled());
        if let Some(overlay) = overlay.and_then(|overlay| self.builds.overlays.get(overlay)) {
            name_overlay(finding, &overlay.name);
        }
        is_first
    }

    /// Whether there are no builds.
    fn is_empty(&self) -> bool {
        self.builds.overlays.is_empty()
    }

    /// The reason why a document is not checked itself, if a kustomization uses it as a patch or removes its objects.
    pub(crate) fn skip_reason(&self, file: &File, index: usize, document: usize) -> Option<String> {
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
    pub(crate) fn versions<'d>(
        &'d self,
        object: Object<'d>,
        file: usize,
        document: usize,
    ) -> Vec<Version<'d>> {
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
    pub(crate) fn further_variants(&self) -> impl Iterator<Item = (usize, &str)> {
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
    pub(crate) fn inventories<'d>(
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

/// Makes an info of a finding of an object that is not known for certain.
fn weaken(finding: &mut Finding<'_>, reason: &str) {
    finding.severity = finding.severity.max(Severity::Info);
    let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
    finding.help = format!("{lead}the object that `kustomize build` yields is not known: {reason}");
}

/// Names the overlay in a finding whose text is outside the folder of the overlay.
fn name_overlay(finding: &mut Finding<'_>, overlay: &str) {
    let within = finding.place.source().name().strip_prefix(overlay);
    if within.is_none_or(|rest| !rest.starts_with('/')) && overlay != "." {
        let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
        finding.help = format!("{lead}found in the build of `{overlay}`");
    }
}

/// Findings that are reported once although several overlays have them.
#[derive(Debug, Default)]
pub(crate) struct Repetitions(BTreeSet<FindingKey>);

/// Key of equal findings: cluster, rule, text, bytes, path and message.
type FindingKey = (usize, &'static str, usize, (usize, usize), String, String);

impl Repetitions {
    /// Whether the finding is the first one of its rule with this message at its place.
    fn is_first(&mut self, finding: &Finding<'_>, checked: &CheckedObject<'_>) -> bool {
        let source = core::ptr::from_ref(finding.place.source()).addr();
        let span = finding.place.span();
        let path = finding.place.path(checked.object.root());
        let bytes = (span.start, span.end);
        self.0.insert((checked.cluster, finding.rule.name, source, bytes, path, finding.message.clone()))
    }
}

/// The files of the clusters by name, to locate the text of a node that comes from another file than its object.
#[derive(Debug)]
pub(crate) struct FileIndex<'d> {
    clusters: &'d [Cluster],
    /// The index of each file by the address of its text.
    by_source: BTreeMap<usize, (usize, usize)>,
}

impl<'d> FileIndex<'d> {
    /// Indexes the files of the clusters that have builds.
    pub(crate) fn of(clusters: &'d [Cluster], built: &[BuiltCluster]) -> Self {
        let mut by_source = BTreeMap::new();
        let with_builds = clusters.iter().zip(built).enumerate().filter(|(_, (_, built))| !built.is_empty());
        for (index, (cluster, _)) in with_builds {
            for (file_index, file) in cluster.files.iter().enumerate() {
                by_source.insert(core::ptr::from_ref(&*file.source).addr(), (index, file_index));
            }
        }
        Self { clusters, by_source }
    }

    /// The document that holds the text of a place; `None` if it is the document of the object.
    pub(crate) fn find(&self, place: &Place<'d>) -> Option<DocumentLocation<'d>> {
        if !place.node().tree().is_assembled() {
            return None;
        }
        let (cluster, file, document) = self.document_at(place.source(), place.span().start)?;
        let cluster = self.clusters.get(cluster)?;
        let file = cluster.files.get(file)?;
        Some(DocumentLocation { cluster: cluster.name.as_str(), file: file.source.name(), document })
    }

    /// The indices of the cluster, file and document that hold a byte of a text.
    pub(crate) fn document_at(&self, source: &Source, byte: usize) -> Option<(usize, usize, usize)> {
        let (cluster, file) = *self.by_source.get(&core::ptr::from_ref(source).addr())?;
        let documents = &self.clusters.get(cluster)?.files.get(file)?.documents;
        let after = documents.partition_point(|document| document.start() <= byte);
        Some((cluster, file, after.saturating_sub(1)))
    }

    /// Sorts the findings of built objects into the order of the documents and positions.
    pub(crate) fn sort(&self, report: &mut Report) {
        if self.by_source.is_empty() {
            return;
        }
        let mut order = BTreeMap::new();
        for (index, cluster) in self.clusters.iter().enumerate() {
            for (file_index, file) in cluster.files.iter().enumerate() {
                order.entry((cluster.name.as_str(), file.source.name())).or_insert((index, file_index));
            }
        }
        report.findings.sort_by_key(|finding| {
            let file = order.get(&(finding.cluster.as_str(), finding.file.as_str())).copied();
            (file, finding.document, finding.position.offset)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{class, report};

    /// Severity, file and document of each finding.
    fn findings(files: &[(&str, &str)]) -> Vec<(Severity, String, usize)> {
        let found = report(files).findings;
        found.into_iter().map(|finding| (finding.severity, finding.file, finding.document)).collect()
    }

    const BASE: &str = "resources: [classes.yaml]\n";
    const OVERLAY: &str = "resources: [../base]\n";

    /// An overlay of the base that sets fields of the `spec` of EC2NodeClasses: for each, its name, the field and the value.
    fn overlay(patches: &[(&str, &str, &str)]) -> String {
        let patch = |(name, field, value): &(&str, &str, &str)| {
            format!(
                "- target: {{name: {name}}}\n  patch: |-\n    - {{op: add, path: /spec/{field}, value: {value}}}\n"
            )
        };
        format!("{OVERLAY}patches:\n{}", patches.iter().map(patch).collect::<String>())
    }

    #[test]
    fn compares_an_object_with_the_objects_of_its_overlay_only() {
        let base = [class("a", "instanceProfile: free"), class("guard", "forbids: other")].join("---\n");
        let patched = overlay(&[("a", "instanceProfile", "other"), ("guard", "forbids", "free")]);
        let guarded = overlay(&[("guard", "forbids", "free")]);
        let found = |overlays: &[(&str, &str)]| {
            let base = [("base/classes.yaml", base.as_str()), ("base/kustomization.yaml", BASE)];
            let found = findings(&[&base, overlays].concat());
            found.into_iter().map(|(_, file, _)| file).collect::<Vec<_>>()
        };
        // One overlay leaves the profile as it is, and the other replaces it.
        assert!(found(&[("x/kustomization.yaml", OVERLAY), ("y/kustomization.yaml", &patched)]).is_empty());
        // Two overlays leave the profile as it is, and the third replaces it.
        assert_eq!(
            found(&[
                ("x/kustomization.yaml", &guarded),
                ("y/kustomization.yaml", &guarded),
                ("z/kustomization.yaml", &patched),
            ]),
            ["x/kustomization.yaml", "y/kustomization.yaml"]
        );
    }

    #[test]
    fn compares_objects_of_environments_with_kustomizations_within_their_folder() {
        let (guard, other) = (class("guard", "forbids: b"), class("b", "instanceProfile: b"));
        let found = |dev: &str, prod: &str| {
            findings(&[
                (&format!("{dev}/classes.yaml"), guard.as_str()),
                (&format!("{dev}/kustomization.yaml"), BASE),
                (&format!("{prod}/classes.yaml"), other.as_str()),
                (&format!("{prod}/kustomization.yaml"), BASE),
            ])
            .len()
        };
        assert_eq!((found("dev", "prod"), found("some", "more")), (0, 1));
    }

    #[test]
    fn weakens_findings_only_if_no_overlay_has_the_object_for_certain() {
        let base = class("a", "instanceProfile: 'arn:a/b'");
        let unknown = format!("{OVERLAY}transformers: [a.yaml]\n");
        let severity = |x: &str, y: &str| {
            let files = [
                ("base/classes.yaml", base.as_str()),
                ("base/kustomization.yaml", BASE),
                ("x/kustomization.yaml", x),
                ("y/kustomization.yaml", y),
            ];
            findings(&files).into_iter().map(|(severity, ..)| severity).collect::<Vec<_>>()
        };
        assert_eq!(severity(&unknown, &unknown), [Severity::Info]);
        assert_eq!(severity(OVERLAY, &unknown), [Severity::Error]);
    }

    #[test]
    fn checks_a_file_called_patch_if_a_kustomization_lists_it_as_a_resource() {
        let class = class("a", "instanceProfile: b");
        let skipped = |resources: &str| {
            let report = report(&[("kustomization.yaml", resources), ("patches/class.yaml", &class)]);
            report.skipped.into_iter().map(|skipped| skipped.file).collect::<Vec<_>>()
        };
        assert_eq!(skipped("resources: [patches/class.yaml]\n"), ["kustomization.yaml"]);
        assert_eq!(skipped("resources: []\n"), ["kustomization.yaml", "patches/class.yaml"]);
    }

    #[test]
    fn names_the_overlay_of_a_finding_in_a_text_outside_of_its_folder() {
        let found_in = |base: &str, overlay: &str| {
            let class = class("a", "instanceProfile: 'arn:a/b'");
            let kustomization = format!("resources: [\"{base}/classes.yaml\"]\ncommonLabels: {{a: b}}\n");
            let report = report(&[
                (&format!("{overlay}kustomization.yaml"), kustomization.as_str()),
                (&format!("{overlay}{base}/classes.yaml").replace("prod/../", ""), class.as_str()),
            ]);
            report.findings[0].help.clone()
        };
        assert_eq!(found_in("../base", "prod/"), "found in the build of `prod`");
        assert_eq!(found_in("../prod-base", "prod/"), "found in the build of `prod`");
        assert_eq!(found_in("base", "prod/"), "");
        assert_eq!(found_in("base", ""), "");
    }

    #[test]
    fn lists_at_most_three_overlays() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(listed(&names[..3]), "`a`, `b`, `c`");
        assert_eq!(listed(&names), "`a`, `b`, `c` and 1 more");
    }

    #[test]
    fn reports_findings_in_the_order_of_their_texts() {
        let (patched, bad) = (class("a", "x: 1"), class("c", "instanceProfile: 'arn:a/b'"));
        let others = [class("b", "x: 1"), bad].join("---\n");
        let overlay = overlay(&[("a", "instanceProfile", "arn:a/b")]) + "commonLabels: {a: b}\n";
        let files = [
            ("base/a.yaml", patched.as_str()),
            ("base/b.yaml", &others),
            ("base/kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
            ("prod/kustomization.yaml", &overlay),
        ];
        let places: Vec<_> =
            findings(&files).into_iter().map(|(_, file, document)| (file, document)).collect();
        let expected = [("base/b.yaml", 1), ("prod/kustomization.yaml", 0)];
        assert_eq!(places, expected.map(|(file, document)| (file.to_owned(), document)));
    }

    #[test]
    fn overlays_of_a_large_input_have_no_inventories_of_their_own() {
        let file = File::read("a.yaml", class("a", "x: 1"), &Limits::DEFAULT);
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
