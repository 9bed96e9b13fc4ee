//! The program around a session: files, settings and rules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use answers::report::Report;
use lsp_types::{Range, Uri};
use manifest::source::{Source, Span};

use crate::documents::{OpenDocument, OpenDocuments};
use crate::lines::Lines;

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
    pub(crate) fn range(&self, start: usize, end: usize) -> Range {
        let lines = self.lines.get_or_init(|| Lines::of(self.source.text(), self.has_bom));
        Range { start: lines.position(start), end: lines.position(end) }
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
