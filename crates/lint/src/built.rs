//! Objects as the kustomizations of an input build them.
//!
//! An object that a kustomization changes is checked as each overlay builds it; its own document and the patches are not
//! checked for themselves. An object that no build changes is checked where it is.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Builds, Outcome, Patches};
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
        let is_deleted = |(overlay, position): &(usize, usize)| {
            let object =
                self.builds.overlays.get(*overlay).and_then(|overlay| overlay.objects.get(*position));
            object.is_some_and(|object| matches!(object.outcome, Outcome::Deleted))
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
            let built = self.builds.overlays.get(*overlay).and_then(|overlay| overlay.objects.get(*position));
            let Some(built) = built else { continue };
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

    /// Whether an object belongs to the cluster of an overlay: it is no part of another variant of the overlay.
    fn belongs(&self, checked: &CheckedObject<'_>, overlay: usize) -> bool {
        let is_other = |other: usize| self.variants.get(other) != self.variants.get(overlay);
        if let Some(own) = checked.overlay {
            return own == overlay || is_other(own);
        }
        let origin = (checked.file, checked.document, checked.object.root().order());
        let Some(found) = self.versions.get(&origin) else { return true };
        found.iter().any(|(own, _)| *own == overlay) || found.iter().all(|(own, _)| is_other(*own))
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
        let merged: BTreeSet<usize> = overlays.iter().map(of).collect();
        let Some(first) = merged.first().copied() else { continue };
        if merged.len() > 1 {
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
