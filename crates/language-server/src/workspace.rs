//! The program around a session: files, settings and rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use answers::report::Report;
use karpenter::release::Release;
use lsp_types::{Range, Uri};
use manifest::File;
use manifest::source::{Source, Span};
use objects::object::Object;
use rule::registry::Registry;
use rule::settings::{Settings, Target};
use scheduling::simulation::SimulationSettings;
use values::timestamp::Timestamp;

use crate::documents::{OpenDocument, OpenDocuments};
use crate::lines::{Lines, PositionUnit};

/// The files around the open documents.
pub trait Workspace {
    /// Checks the open documents, each together with the files of its folder. A folder in which nothing has changed gives the same
    /// result again.
    fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>>;

    /// Reads files again at the next check, because they have changed on disk, or were created or deleted.
    fn reload(&mut self, paths: &[PathBuf]);

    /// Adds folders of the editor, and removes others.
    fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]);

    /// Glob patterns of the files that the checks read.
    fn watched(&self) -> Vec<String>;

    /// The documentation of a rule as Markdown.
    fn page(&self, rule: &str) -> Option<String>;

    /// The rules that settings and suppressions may name.
    fn registry(&self) -> &'static Registry;

    /// The folder of an open document as of the last check; `None` before the first one.
    fn folder_of(&self, document: &OpenDocument) -> Option<&dyn FolderView>;

    /// The folders as of the last check.
    fn folders(&self) -> Vec<&dyn FolderView>;

    /// The folder that the next check reads for the first time, if there is one.
    fn unread(&self, open: &OpenDocuments) -> Option<String>;

    /// The time.
    fn now(&self) -> Timestamp;
}

/// The files of a folder, which belong to one cluster.
pub trait FolderView {
    /// The files, including files that a check only looks up.
    fn files(&self) -> &[File];

    /// Whether a file mentions Karpenter. The server says nothing in another folder.
    fn is_about_karpenter(&self) -> bool;

    /// The file of an open document.
    fn file_of(&self, document: &OpenDocument) -> Option<&File>;

    /// The address of a file; `None` for a file that an editor cannot open.
    fn uri_of(&self, file: &File) -> Option<Uri>;

    /// The folders that look like separate clusters, such as `dev` and `prod`, as of the last check. Their names are starts of names of files.
    fn environments(&self) -> Vec<&str>;

    /// The release of Karpenter in the cluster, for a file. Of a range it is the last one.
    fn release_for(&self, file: Option<&File>) -> Release;

    /// The settings for simulations of the cluster.
    fn simulation_settings(&self, objects: &[Object<'_>]) -> SimulationSettings;
}

/// The result of checking a folder.
#[derive(Debug)]
pub struct Checked {
    /// The report.
    pub report: Report,
    /// The files that the report names, by name.
    pub files: BTreeMap<String, CheckedFile>,
    /// Errors in the config file. With any, nothing is checked.
    pub config_problems: Vec<ConfigProblem>,
}

impl Checked {
    /// The folders that look like separate clusters.
    pub fn environments(&self) -> Vec<&str> {
        self.report.environments.iter().flat_map(|group| &group.folders).map(String::as_str).collect()
    }
}

/// The names of the files that a report names.
pub fn files_named_in(report: &Report) -> BTreeSet<&str> {
    let findings = report.findings.iter().flat_map(|finding| {
        let related = finding.related.iter().map(|place| place.file.as_str());
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.file.as_str());
        related.chain(edits).chain([finding.file.as_str()])
    });
    findings.chain(report.unreadable.iter().map(|one| one.file.as_str())).collect()
}

/// The release of Karpenter for a file: from the settings, or else from the nearest pin in the input. Of a range it is the last one.
pub fn release_of_file(settings: &Settings, report: Option<&Report>, name: &str) -> Release {
    if settings.is_karpenter_version_set || settings.overrides_release_of(name) {
        return settings.release_of_file(name).ends().1;
    }
    let pins = report.map(|report| report.pins.as_slice()).unwrap_or_default();
    let is_around = |folder: &str| {
        name.strip_prefix(folder)
            .is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
    };
    let around = pins.iter().filter(|pin| is_around(pin.folder.trim_end_matches('/')));
    let nearest = around.max_by_key(|pin| pin.folder.len());
    let pinned = nearest.and_then(|pin| Target::parse(&pin.checked_as).ok());
    pinned.unwrap_or(settings.karpenter).ends().1
}

/// A file of a report.
#[derive(Debug)]
pub struct CheckedFile {
    pub(crate) uri: Uri,
    pub(crate) source: Arc<Source>,
    has_bom: bool,
    lines: OnceLock<Lines>,
}

impl CheckedFile {
    /// A file with its address, and the text that was checked. `open` is the document if the editor has opened the file.
    pub fn new(uri: Uri, source: Arc<Source>, open: Option<&OpenDocument>) -> Self {
        let has_bom = open.is_some_and(|document| document.text.starts_with('\u{feff}'));
        Self { uri, source, has_bom, lines: OnceLock::new() }
    }

    /// The range between two offsets of a report, which do not count a byte order mark.
    pub(crate) fn range(&self, start: usize, end: usize, unit: PositionUnit) -> Range {
        self.range_of(Span::new(self.source.byte_at(start), self.source.byte_at(end)), unit)
    }

    /// The range of a span.
    pub(crate) fn range_of(&self, span: Span, unit: PositionUnit) -> Range {
        let lines = self.lines.get_or_init(|| Lines::of(self.source.text(), self.has_bom));
        let [start, end] = [span.start, span.end].map(|byte| lines.position(&self.source, byte, unit));
        Range { start, end }
    }
}

/// An error in a config file.
#[derive(Debug)]
pub struct ConfigProblem {
    /// The config file.
    pub file: CheckedFile,
    /// The place of the error.
    pub span: Span,
    /// The message.
    pub message: String,
}
