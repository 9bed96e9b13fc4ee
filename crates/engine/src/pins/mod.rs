//! The Karpenter version of each file, from the versions that the input pins.
//!
//! A file has the version that it pins itself, or else the version on which all pins agree in the nearest folder that has
//! any, including the folders below it. If these pins disagree, the file has no version. A release in the settings takes
//! precedence over every pin.
//!
//! Texts beside the manifests, such as scripts ([`FileKind::TextOnly`]) and Markdown, count only where no folder above the file has a pin in the input. If
//! only a folder beside has one, and a text in a nearer folder has another version, the file has no version.

mod agreement;
mod placed;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::{PinnedRelease, PinnedVersion, Release};
use manifest::{Document, File, FileKind, is_markdown};
use objects::type_meta::TypeMeta;
use objects::version_pin::{TextPin, pins, pins_beside};

use agreement::{Agreement, FoundPin, PinsOfParts};
use answers::report::ReportedPin;
use cluster::files::files_of;
use cluster::folders::folders_of;
use cluster::ids::{ClusterId, DocumentId, FileId};
use cluster::input::Input;
use rule::settings::{Settings, Target};

pub use placed::{PlacedPin, pins_of_files, placed_pins};

/// The Karpenter versions of the files of all clusters.
#[derive(Debug)]
pub(crate) struct Pins<'c> {
    settings: &'c Settings,
    /// The version of each file that has one; empty if the settings name a release.
    files: BTreeMap<FileId, FileVersion<'c>>,
    /// The documents that pin a version.
    documents: BTreeSet<DocumentId>,
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

/// Pins that concern a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePins {
    /// The version that the file is checked for.
    pub(crate) version: CheckedVersion,
    /// Whether the document pins a version that the check uses.
    pub(crate) is_pin: bool,
}

/// The version of a file, and the file or folder whose pins gave it.
#[derive(Clone, Copy, Debug)]
struct FileVersion<'c> {
    scope: &'c str,
    pins: Agreement,
}

impl FileVersion<'_> {
    /// The version that manifests pin, unless a text in a nearer folder has another one, and the pin is in a folder beside: which of the two
    /// the file has is not known.
    fn or_contradiction(self, near: Self, is_elsewhere: impl Fn(FoundPin) -> bool) -> Self {
        match (self.pins, near.pins) {
            (Agreement::On(far), Agreement::On(text))
                if near.scope.len() > self.scope.len()
                    && far.version.common(text.version).is_none()
                    && is_elsewhere(far) =>
            {
                Self { scope: near.scope, pins: Agreement::Not(text, far) }
            }
            _ => self,
        }
    }
}

impl<'c> Pins<'c> {
    /// Collects the pins. If the settings name a release, a range or an upgrade path, pins are not read.
    pub(crate) fn of(input: Input<'c>, settings: &'c Settings) -> Self {
        let mut pins = Self {
            settings,
            files: BTreeMap::new(),
            documents: BTreeSet::new(),
            by_release: BTreeMap::new(),
        };
        if !reads_pins(settings) {
            return pins;
        }
        for (cluster, of_cluster) in input.clusters() {
            pins.read(cluster, &of_cluster.files);
        }
        let agreed = pins.files.values().filter_map(|version| version.pins.agreed());
        let releases: BTreeSet<Release> = agreed.map(|found| release_of(found.version)).collect();
        let of_release = |release| (release, with_release(settings.clone(), release));
        pins.by_release = releases.into_iter().map(of_release).collect();
        pins
    }

    /// Reads the pins of a cluster.
    fn read(&mut self, cluster: ClusterId, files: &'c [File]) {
        let mut by_folder: BTreeMap<&str, PinsOfParts> = BTreeMap::new();
        let mut beside = by_folder.clone();
        let mut by_file = Vec::new();
        for (id, file) in files_of(cluster, files) {
            let own = pins_of_file(id, file, &mut self.documents);
            let is_input = !file.kind.is_text();
            if !own.is_empty() {
                let is_beside = !is_input || is_markdown(file.source.name());
                let known = if is_beside { &mut beside } else { &mut by_folder };
                for folder in folders_of(file.source.name()) {
                    known.entry(folder).or_default().add(own);
                }
            }
            if is_input {
                by_file.push((id, file.source.name(), own));
            }
        }
        if by_folder.is_empty() && beside.is_empty() {
            return;
        }
        if beside.values().any(|pins| pins.agreement().is_some_and(Agreement::is_before_v1)) {
            leave_out_outdated(&mut beside, files);
        }
        for (id, name, own) in by_file {
            if self.settings.overrides_release_of(name) {
                continue;
            }
            let version = version_of(name, own, &by_folder);
            let in_texts = version_of(name, PinsOfParts::default(), &beside);
            let is_elsewhere = |found: FoundPin| {
                let pinning = files_of(cluster, files).find(|(other, _)| *other == found.file);
                let folder = pinning.and_then(|(_, file)| folders_of(file.source.name()).next());
                folder.is_some_and(|folder| !folders_of(name).any(|around| around == folder))
            };
            let version = match (version, in_texts) {
                (Some(far), Some(near)) => Some(far.or_contradiction(near, is_elsewhere)),
                (version, in_texts) => version.or(in_texts),
            };
            self.files.extend(version.map(|version| (id, version)));
        }
    }

    /// The settings for a file: the overrides of the settings, and the release of the pinned version.
    pub(crate) fn settings_of(&self, file: FileId, name: &str) -> Cow<'_, Settings> {
        let settings = self.settings.of_file(name);
        let Some(found) = self.pinned(file) else { return settings };
        let release = release_of(found.version);
        match settings {
            Cow::Borrowed(_) => self.by_release.get(&release).map_or(settings, Cow::Borrowed),
            Cow::Owned(settings) => Cow::Owned(with_release(settings, release)),
        }
    }

    /// The version of a file.
    pub(crate) fn version_of(&self, file: FileId, name: &str) -> CheckedVersion {
        let pinned = self.pinned(file).map(|found| found.version);
        let target = match pinned {
            Some(version) => Target::only(release_of(version)),
            None => self.settings.release_of_file(name),
        };
        let is_before = |version: &PinnedVersion| version.release() == PinnedRelease::BeforeV1;
        CheckedVersion { target, before_v1: pinned.filter(is_before) }
    }

    /// Returns the pins that concern a document.
    pub(crate) fn of_document(&self, document: DocumentId, name: &str) -> FilePins {
        let version = self.version_of(document.file, name);
        FilePins { version, is_pin: self.documents.contains(&document) }
    }

    fn pinned(&self, file: FileId) -> Option<FoundPin> {
        self.files.get(&file)?.pins.agreed()
    }

    /// The pins for the report: each version once per group of folders, and each contradiction that affects a checked file.
    pub(crate) fn report(&self, input: Input<'_>, is_checked: impl Fn(FileId) -> bool) -> Vec<ReportedPin> {
        let mut reported = Vec::new();
        for (cluster, of_cluster) in input.clusters() {
            let scopes = self.scopes(cluster, &is_checked);
            let is_repeated = |scope: &str, pins: &Agreement| {
                folders_of(scope)
                    .any(|above| scopes.get(above).is_some_and(|other| other.version() == pins.version()))
            };
            for (scope, pins) in &scopes {
                if !is_repeated(scope, pins) {
                    let pin = reported_pin(input, &of_cluster.name, scope, *pins, self.settings.karpenter);
                    reported.push(pin);
                }
            }
        }
        reported
    }

    /// The files and folders of a cluster whose pins decide about a file, with their pins. A contradiction counts only if the file
    /// is checked.
    fn scopes(
        &self,
        cluster: ClusterId,
        is_checked: impl Fn(FileId) -> bool,
    ) -> BTreeMap<&'c str, Agreement> {
        let own = self.files.range(cluster.file_ids());
        let decided = own.filter_map(|(file, version)| {
            (version.pins.agreed().is_some() || is_checked(*file)).then_some((version.scope, version.pins))
        });
        decided.collect()
    }
}

/// Whether the versions that the input pins decide about the release: the settings name no release, range or upgrade path.
pub fn reads_pins(settings: &Settings) -> bool {
    let target = settings.karpenter;
    !(settings.is_karpenter_version_set || target.is_range() || target.upgrade_path().is_some())
}

/// Drops pins below 1.0 from the folders that hold objects of v1, which 1.0 introduced: the texts are older than the manifests.
fn leave_out_outdated(beside: &mut BTreeMap<&str, PinsOfParts>, files: &[File]) {
    let has_v1 = |file: &&File| {
        file.documents.iter().any(|document| match document {
            Document::Read(tree) => {
                let api_version = TypeMeta::of(tree.root()).api_version.text();
                matches!(api_version, Some("karpenter.sh/v1" | "karpenter.k8s.aws/v1"))
            }
            _ => false,
        })
    };
    let names = files.iter().filter(has_v1).map(|file| file.source.name());
    let folders: BTreeSet<&str> = names.flat_map(folders_of).collect();
    beside.retain(|folder, pins| {
        let is_before_v1 = pins.agreement().is_some_and(Agreement::is_before_v1);
        !(is_before_v1 && folders.contains(folder))
    });
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
fn pins_of_file(id: FileId, file: &File, documents: &mut BTreeSet<DocumentId>) -> PinsOfParts {
    let mut result = PinsOfParts::default();
    for pin in text_pins(file) {
        let line = file.source.position(pin.at).line;
        result.add_pin(pin.part, FoundPin { version: pin.version, file: id, line });
    }
    for (index, document) in file.documents.iter().enumerate() {
        let Document::Read(tree) = document else { continue };
        for pin in pins(tree, file.source.name()) {
            let line = file.source.position(pin.node.span().start).line;
            result.add_pin(pin.part, FoundPin { version: pin.version, file: id, line });
            documents.insert(id.document(index));
        }
    }
    result
}

/// The pins in the text of a file.
fn text_pins(file: &File) -> Vec<TextPin> {
    let text = file.source.text();
    match file.kind {
        FileKind::ChartText => Vec::new(),
        _ => pins_beside(text, file.source.name()),
    }
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

fn reported_pin(
    input: Input<'_>,
    cluster: &str,
    scope: &str,
    pins: Agreement,
    default: Target,
) -> ReportedPin {
    let name = |found: FoundPin| input.file(found.file).map_or("", |file| file.source.name());
    let at = |found: FoundPin| format!("{}:{}", name(found), found.line);
    let (first, version, checked_as, note) = match pins {
        Agreement::On(found) => {
            let checked_as = release_of(found.version).to_string();
            (found, found.version.to_string(), checked_as, note(found.version))
        }
        Agreement::Not(one, other) => {
            let (one_at, other_at) = (at(one), at(other));
            let note = format!(
                "{} in {one_at}, but {} in {other_at}: manifests without a pin in their own folder are checked as {default}",
                one.version, other.version
            );
            (one, String::new(), default.to_string(), note)
        }
    };
    ReportedPin {
        cluster: cluster.to_owned(),
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
