//! YAML documents between log lines, whatever their first key is.

use super::lines::{MAX_LINE_BYTES, is_described, is_field, is_key, is_log, is_object_start, is_separator};
use super::{FileReader, State};
use crate::entry::Entry;

/// Lines that may be the start of a document: a key that no log line has to itself is not rare in text, and kubectl prints the
/// keys of an object in the order of the alphabet, so that `apiVersion` is seldom far away.
#[derive(Debug, Default)]
pub(super) struct PossibleYaml {
    /// The number of the first line.
    first: u64,
    lines: Vec<String>,
    bytes: usize,
    has_version: bool,
    has_kind: bool,
    /// The first line that starts a document by itself.
    head: Option<usize>,
}

/// Lines that turned out to be no document, or not from the first one on.
#[derive(Debug)]
pub(super) struct NoYaml {
    /// The number of the first line.
    pub(super) first: u64,
    /// Lines of text.
    pub(super) text: Vec<String>,
    /// Lines of a document after the text; may be empty.
    pub(super) document: Vec<String>,
    /// Whether the document has an `apiVersion`.
    pub(super) has_version: bool,
}

impl PossibleYaml {
    /// Creates the start of a document from its first line, with the number of the line.
    pub(super) fn new(first: u64, line: &str) -> Self {
        let mut possible = Self { first, ..Self::default() };
        possible.add(line);
        possible
    }

    /// Adds a line. Returns false if the lines before it are no document.
    pub(super) fn add(&mut self, line: &str) -> bool {
        let is_version = line.starts_with("apiVersion:");
        let is_outside = is_separator(line.trim_end()) || (self.has_version && is_version);
        if is_outside || self.bytes + line.len() > MAX_LINE_BYTES {
            return false;
        }
        self.has_version |= is_version;
        self.has_kind |= line.starts_with("kind:");
        if self.head.is_none() && is_head(line.trim_end()) {
            self.head = Some(self.lines.len());
        }
        self.bytes += line.len();
        self.lines.push(line.to_owned());
        true
    }

    /// Whether the lines are certainly a document.
    pub(super) fn is_document(&self) -> bool {
        self.has_version && self.has_kind
    }

    /// Returns the lines of the document.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// Returns the lines as text, up to the first line that starts a document by itself.
    pub(super) fn into_text(self) -> NoYaml {
        let Self { first, lines: mut text, head, has_version, .. } = self;
        let document = head.map(|at| text.split_off(at)).unwrap_or_default();
        NoYaml { first, text, document, has_version }
    }
}

impl FileReader {
    /// Whether a line certainly starts a document.
    pub(super) fn starts_yaml(&self, bare: &str) -> bool {
        is_head(bare)
            || is_separator(bare)
            || (self.is_manifest && !bare.trim().is_empty() && !is_log(bare) && !is_described(bare))
    }

    /// Whether a line belongs to the open YAML document.
    pub(super) fn is_in_yaml(&self, bare: &str, has_version: bool) -> bool {
        if bare.is_empty() || bare.starts_with([' ', '#', '-', '\t']) {
            return !(is_separator(bare) && !self.is_manifest && has_version);
        }
        if is_log(bare) || is_described(bare) || is_object_start(bare.as_bytes()) {
            return false;
        }
        if self.is_manifest {
            return true;
        }
        let again = has_version && bare.starts_with("apiVersion:");
        !again && (is_key(bare) || bare.starts_with(['.', '%', ']', '}', '"', '\'', '?', '&']))
    }

    /// Ends the open document before the keys that belong to the object of an `apiVersion`.
    pub(super) fn splits_yaml(&mut self, bare: &str, has_version: bool) -> bool {
        if self.is_manifest || !has_version || !bare.starts_with("apiVersion:") {
            return false;
        }
        let start = next_object(self.documents.open());
        if let Some(at) = start {
            self.documents.split(at);
        }
        start.is_some()
    }

    /// Begins the document of which the possible lines are the start.
    pub(super) fn begin_possible(&mut self) {
        self.table.end();
        let lines = std::mem::take(&mut self.possible).into_lines();
        self.begin_yaml(lines, true);
    }

    fn begin_yaml(&mut self, lines: Vec<String>, has_version: bool) {
        self.documents.begin();
        for line in lines {
            self.documents.push(&line);
        }
        self.state = State::Yaml { has_version };
    }

    /// Reads the possible lines as text, because no document follows.
    pub(super) fn end_possible(&mut self, emit: &mut dyn FnMut(&Entry<'_>)) {
        if self.state != State::PossibleYaml {
            return;
        }
        self.state = State::Lines;
        let NoYaml { first, text, document, has_version } = std::mem::take(&mut self.possible).into_text();
        let last = std::mem::replace(&mut self.counts.lines, first);
        for line in text {
            self.row_or_log(&line, line.trim_end_matches(['\n', '\r']), emit);
            self.counts.lines += 1;
        }
        self.counts.lines = last;
        if !document.is_empty() {
            self.table.end();
            self.begin_yaml(document, has_version);
        }
    }
}

/// Whether a line starts a document by itself: a field that every object may have, an object of a list, or the values of Karpenter's chart.
fn is_head(bare: &str) -> bool {
    const VALUES: [&str; 3] = ["settings:", "karpenter:", "controller:"];
    let item = bare.strip_prefix("- ").unwrap_or(bare);
    is_field(bare) || VALUES.contains(&bare) || item.starts_with("apiVersion: ")
}

/// Start of the next object in a document to which no `---` puts an end, if the next line has its `apiVersion`: kubectl prints the
/// keys in the order of the alphabet, so that the next object starts with the keys before `apiVersion`.
fn next_object(document: &str) -> Option<usize> {
    let (mut start, mut at, mut before) = (None, 0, "");
    for line in document.split_inclusive('\n') {
        let is_inner = line.starts_with([' ', '\t', '#', '-', '\r', '\n']);
        if let Some((key, _)) = line.split_once(':').filter(|_| !is_inner) {
            if key >= "apiVersion" {
                start = None;
            } else if key <= before {
                start = Some(at);
            }
            before = key;
        }
        at += line.len();
    }
    start
}
