//! The Karpenter version of each file, from the versions that the input pins.
//!
//! A file has the version that it pins itself, or else the version on which all pins agree in the nearest folder that has
//! any, including the folders below it. If these pins disagree, the file has no version. A release in the settings takes
//! precedence over every pin.

mod agreement;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::{PinnedRelease, PinnedVersion, Release};
use manifest::{Document, File};
use objects::version_pin::pins;

use agreement::{Agreement, FoundPin, PinsOfParts};
use answers::report::ReportedPin;
use cluster::Cluster;
use cluster::folders::folders_of;
use rule::settings::{Settings, Target};

/// The Karpenter versions of the files of all clusters.
#[derive(Debug)]
pub(crate) struct Pins<'c> {
    settings: &'c Settings,
    clusters: Vec<ClusterPins<'c>>,
    /// Settings for the releases that the input pins.
    by_release: BTreeMap<Release, Settings>,
}

/// The version that a file is checked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedVersion {
    /// The releases to check against.
    pub(crate) target: Target,
    /// The pinned version, if it is below 1.0.
    pub(crate) before_v1: Option<PinnedVersion>,
}

/// The pins of one cluster.
#[derive(Debug, Default)]
struct ClusterPins<'c> {
    /// The version of each file; empty if the settings name a release.
    files: Vec<Option<FileVersion<'c>>>,
    /// The documents that pin a version, by file and document.
    documents: BTreeSet<(usize, usize)>,
}

/// The version of a file, and the file or folder whose pins gave it.
#[derive(Clone, Copy, Debug)]
struct FileVersion<'c> {
    scope: &'c str,
    pins: Agreement,
}

impl<'c> Pins<'c> {
    /// Collects the pins. If the settings name a release, a range or an upgrade path, pins are not read.
    pub(crate) fn of(clusters: &'c [Cluster], settings: &'c Settings) -> Self {
        let target = settings.karpenter;
        let is_chosen =
            settings.is_karpenter_version_set || target.is_range() || target.upgrade_path().is_some();
        let read = |cluster: &'c Cluster| {
            if is_chosen { ClusterPins::default() } else { ClusterPins::of(&cluster.files, settings) }
        };
        let clusters: Vec<_> = clusters.iter().map(read).collect();
        let versions = clusters.iter().flat_map(|cluster| &cluster.files).flatten();
        let releases: BTreeSet<Release> = versions
            .filter_map(|version| version.pins.agreed())
            .map(|found| release_of(found.version))
            .collect();
        let of_release = |release| (release, with_release(settings.clone(), release));
        Self { settings, clusters, by_release: releases.into_iter().map(of_release).collect() }
    }

    /// The settings for a file: the overrides of the settings, and the release of the pinned version.
    pub(crate) fn settings_of(&self, cluster: usize, file: usize, name: &str) -> Cow<'_, Settings> {
        let settings = self.settings.of_file(name);
        let Some(found) = self.pinned(cluster, file) else { return settings };
        let release = release_of(found.version);
        match settings {
            Cow::Borrowed(_) => self.by_release.get(&release).map_or(settings, Cow::Borrowed),
            Cow::Owned(settings) => Cow::Owned(with_release(settings, release)),
        }
    }

    /// The version of a file.
    pub(crate) fn version_of(&self, cluster: usize, file: usize, name: &str) -> CheckedVersion {
        let pinned = self.pinned(cluster, file).map(|found| found.version);
        let target = match pinned {
            Some(version) => Target::only(release_of(version)),
            None => self.settings.release_of_file(name),
        };
        let is_before = |version: &PinnedVersion| version.release() == PinnedRelease::BeforeV1;
        CheckedVersion { target, before_v1: pinned.filter(is_before) }
    }

    /// Whether a document pins a version that the check uses.
    pub(crate) fn is_pin(&self, cluster: usize, file: usize, document: usize) -> bool {
        self.clusters.get(cluster).is_some_and(|cluster| cluster.documents.contains(&(file, document)))
    }

    fn pinned(&self, cluster: usize, file: usize) -> Option<FoundPin> {
        self.clusters.get(cluster)?.files.get(file)?.as_ref()?.pins.agreed()
    }

    /// The pins for the report: each version once per group of folders, and each contradiction that affects a checked file.
    /// `is_checked` is asked for the indices of a cluster and a file.
    pub(crate) fn report(
        &self,
        clusters: &[Cluster],
        is_checked: impl Fn(usize, usize) -> bool,
    ) -> Vec<ReportedPin> {
        let mut reported = Vec::new();
        for (index, (cluster, pins)) in clusters.iter().zip(&self.clusters).enumerate() {
            let scopes = pins.scopes(|file| is_checked(index, file));
            let is_repeated = |scope: &str, pins: &Agreement| {
                folders_of(scope)
                    .any(|above| scopes.get(above).is_some_and(|other| other.version() == pins.version()))
            };
            for (scope, pins) in &scopes {
                if !is_repeated(scope, pins) {
                    reported.push(reported_pin(cluster, scope, *pins, self.settings.karpenter));
                }
            }
        }
        reported
    }
}

impl<'c> ClusterPins<'c> {
    fn of(files: &'c [File], settings: &Settings) -> Self {
        let mut documents = BTreeSet::new();
        let mut by_folder: BTreeMap<&str, PinsOfParts> = BTreeMap::new();
        let mut by_file = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let own = pins_of_file(index, file, &mut documents);
            if !own.is_empty() {
                for folder in folders_of(file.source.name()) {
                    by_folder.entry(folder).or_default().add(own);
                }
            }
            by_file.push(own);
        }
        if documents.is_empty() {
            return Self::default();
        }
        let version = |(file, own): (&'c File, PinsOfParts)| {
            let name = file.source.name();
            if settings.overrides_release_of(name) { None } else { version_of(name, own, &by_folder) }
        };
        Self { files: files.iter().zip(by_file).map(version).collect(), documents }
    }

    /// The files and folders whose pins decide about a file, with their pins. A contradiction counts only if the file is
    /// checked.
    fn scopes(&self, is_checked: impl Fn(usize) -> bool) -> BTreeMap<&'c str, Agreement> {
        let decided = self.files.iter().enumerate().filter_map(|(index, version)| {
            let version = version.as_ref()?;
            (version.pins.agreed().is_some() || is_checked(index)).then_some((version.scope, version.pins))
        });
        decided.collect()
    }
}

/// The version of a file: its own pins, or the pins of the nearest folder that has any.
fn version_of<'c>(
    file: &'c str,
    own: PinsOfParts,
    by_folder: &BTreeMap<&'c str, PinsOfParts>,
) -> Option<FileVersion<'c>> {
    let of_folder = folders_of(file).find_map(|scope| {
        let pins = by_folder.get(scope)?.agreement()?;
        Some(FileVersion { scope, pins })
    });
    let Some(own) = own.agreement() else { return of_folder };
    let is_equal = |version: &FileVersion<'c>| version.pins.version() == own.version();
    of_folder.filter(is_equal).or(Some(FileVersion { scope: file, pins: own }))
}

/// The pins of a file.
fn pins_of_file(index: usize, file: &File, documents: &mut BTreeSet<(usize, usize)>) -> PinsOfParts {
    let mut result = PinsOfParts::default();
    for (number, document) in file.documents.iter().enumerate() {
        let Document::Read(tree) = document else { continue };
        for pin in pins(tree, file.source.name()) {
            let line = file.source.position(pin.node.span().start).line;
            result.add_pin(pin.part, FoundPin { version: pin.version, file: index, line });
            documents.insert((index, number));
        }
    }
    result
}

fn with_release(settings: Settings, release: Release) -> Settings {
    Settings { karpenter: Target::only(release), ..settings }
}

/// The release that a pinned version is checked as. Objects of v1 beside a version below 1.0 are on their way to a later
/// release, which is not known, and the newest one has the most fields.
fn release_of(version: PinnedVersion) -> Release {
    match version.release() {
        PinnedRelease::Known(release) | PinnedRelease::NewerPatch(release) => release,
        PinnedRelease::BeforeV1 | PinnedRelease::Newer => Release::NEWEST,
    }
}

fn reported_pin(cluster: &Cluster, scope: &str, pins: Agreement, default: Target) -> ReportedPin {
    let name = |found: FoundPin| cluster.files.get(found.file).map_or("", |file| file.source.name());
    let at = |found: FoundPin| format!("{}:{}", name(found), found.line);
    let first = pins.first();
    let (version, checked_as, note) = match pins {
        Agreement::On(found) => {
            (found.version.to_string(), release_of(found.version).to_string(), note(found.version))
        }
        Agreement::Not(one, other) => {
            let (one_at, other_at) = (at(one), at(other));
            let note = format!(
                "{} in {one_at}, but {} in {other_at}: manifests without a pin in their own folder are checked as {default}",
                one.version, other.version
            );
            (String::new(), default.to_string(), note)
        }
    };
    ReportedPin {
        cluster: cluster.name.clone(),
        folder: scope.to_owned(),
        version,
        checked_as,
        file: name(first).to_owned(),
        line: first.line,
        note,
    }
}

/// Note for a version that the facts do not have.
fn note(version: PinnedVersion) -> String {
    match version.release() {
        PinnedRelease::Known(_) => String::new(),
        PinnedRelease::BeforeV1 => "releases before 1.0 are not covered: the controller and the values of its chart are not checked, and objects of v1 are checked as the newest known release".to_owned(),
        PinnedRelease::NewerPatch(release) => {
            format!("checked as {}, its newest known patch", release.name_of_patch())
        }
        PinnedRelease::Newer => format!("checked as {}, the newest known release", Release::NEWEST),
    }
}
