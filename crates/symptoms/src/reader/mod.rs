//! Bytes of a file, in pieces → log lines, rows of tables and the documents between them.
//!
//! Lines become entries and are dropped. Documents are kept until the file ends, and then parsed in a text in which everything
//! else is blank. It has the same lines and UTF-16 code units, so that each position in it is the position in the file.

mod bytes;
mod crash;
mod documents;
mod export;
mod lines;
mod parts;
mod undated;
mod yaml;

use super::entry::{At, Entry, EntryOrigin, LogFileId};
use super::log::{self, LineKind, Year};
use super::object;
use super::table::{RowKind, Table};
use bytes::Decoder;
use crash::Crash;
use documents::Documents;
use export::{Export, ExportRecord, Lost};
use lines::{
    MAX_LINE_BYTES, brackets, is_log, is_object_start, may_be_field, may_be_object, may_open_json,
    starts_json,
};
use manifest::limits::Limits;
use manifest::source::certain;
use manifest::{Document, File, ReadOptions};
use objects::embedded::READ_OPTIONS;
use objects::object::Object;
use parts::{IncompleteLines, PartKind};
use undated::Undated;
use yaml::PossibleYaml;

/// Numbers of lines and entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// All lines.
    pub lines: u64,
    /// Entries: log lines, events, conditions.
    pub entries: u64,
    /// Log lines whose start or end is missing.
    pub truncated: u64,
    /// Lines without structure.
    pub text: u64,
    /// Binary lines.
    pub binary: u64,
    /// Lines that are longer than [`MAX_LINE_BYTES`].
    pub too_long: u64,
    /// Lines that are not UTF-8. They are read nevertheless.
    pub not_utf8: u64,
    /// Lines of documents beyond the bound on a file.
    pub beyond: u64,
    /// Documents.
    pub documents: u64,
}

impl LineCounts {
    /// Returns the sum of two.
    pub fn and(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            entries: self.entries + other.entries,
            truncated: self.truncated + other.truncated,
            text: self.text + other.text,
            binary: self.binary + other.binary,
            too_long: self.too_long + other.too_long,
            not_utf8: self.not_utf8 + other.not_utf8,
            beyond: self.beyond + other.beyond,
            documents: self.documents + other.documents,
        }
    }
}

/// Reader of one file.
#[derive(Debug)]
pub(super) struct FileReader {
    name: String,
    file: LogFileId,
    limits: Limits,
    /// Whether the name ends in `.yaml`, `.yml` or `.json`: unrecognised lines then belong to a document.
    is_manifest: bool,
    /// Whether the name ends in `.yaml` or `.yml`. YAML may look like JSON.
    is_yaml: bool,
    decoder: Decoder,
    format: TextFormat,
    /// The start of an incomplete line.
    rest: Vec<u8>,
    /// Whether the rest of the current line is skipped.
    passing: bool,
    parts: IncompleteLines,
    undated: Undated,
    /// A panic whose goroutine dump is being read.
    crash: Option<Crash>,
    state: State,
    /// Lines that may be the start of a document.
    possible: PossibleYaml,
    table: Table,
    documents: Documents,
    counts: LineCounts,
}

/// A file after its last byte.
#[derive(Debug)]
pub(super) struct ReadFile {
    /// The documents, if the file has any.
    pub(super) file: Option<File>,
    pub(super) counts: LineCounts,
    /// Whether the file is binary.
    pub(super) is_binary: bool,
}

/// Format of a text, which its first bytes show.
#[derive(Debug)]
enum TextFormat {
    /// Nothing was read yet.
    Unknown,
    /// Lines of a log, tables and documents.
    Lines,
    Export(Export),
}

/// The context of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A log, a table or nothing.
    Lines,
    /// A YAML document, and whether its `apiVersion` was read.
    Yaml { has_version: bool },
    /// Lines that are a YAML document if an `apiVersion` or a `kind` follows, and otherwise text.
    PossibleYaml,
    /// A JSON value with this number of open brackets. Its first line may be a log line that was cut off, if it is not certain.
    Json { depth: usize, is_certain: bool },
}

impl FileReader {
    /// The file.
    pub(super) fn file(&self) -> LogFileId {
        self.file
    }

    pub(super) fn new(name: &str, file: LogFileId, limits: Limits) -> Self {
        let text_name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let extension = text_name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is = |known: &str| extension.eq_ignore_ascii_case(known);
        let is_yaml = is("yaml") || is("yml");
        let is_manifest = is_yaml || is("json");
        Self {
            name: name.to_owned(),
            file,
            limits,
            is_manifest,
            is_yaml,
            decoder: Decoder::default(),
            format: TextFormat::Unknown,
            rest: Vec::new(),
            passing: false,
            parts: IncompleteLines::default(),
            undated: Undated::default(),
            crash: None,
            state: State::Lines,
            possible: PossibleYaml::default(),
            table: Table::default(),
            documents: Documents::new(limits.file_bytes),
            counts: LineCounts::default(),
        }
    }

    /// Reads the next bytes, and emits their entries.
    pub(super) fn feed(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&Entry<'_>)) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(bytes, &mut |text| self.take(text, emit));
        self.decoder = decoder;
    }

    /// Reads the next bytes of a text that should be UTF-8.
    fn take(&mut self, mut bytes: &[u8], emit: &mut dyn FnMut(&Entry<'_>)) {
        if matches!(self.format, TextFormat::Unknown) {
            self.format = Export::detect(bytes).map_or(TextFormat::Lines, TextFormat::Export);
        }
        if matches!(self.format, TextFormat::Export(_)) {
            self.feed_export(bytes, emit);
            return;
        }
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, after) = certain(bytes.split_at_checked(end + 1));
            bytes = after;
            if self.passing {
                self.pass(line);
                self.passing = false;
            } else if self.rest.is_empty() {
                self.whole(line, emit);
            } else {
                self.rest.extend_from_slice(line);
                let rest = std::mem::take(&mut self.rest);
                self.whole(&rest, emit);
                self.rest = rest;
                self.rest.clear();
            }
        }
        if self.passing {
            self.pass(bytes);
            return;
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > self.longest(&self.rest) {
            let rest = std::mem::take(&mut self.rest);
            self.too_long(&rest, emit);
            self.passing = true;
        }
    }

    /// Ends the file, and returns its documents.
    pub(super) fn finish(mut self, emit: &mut dyn FnMut(&Entry<'_>)) -> ReadFile {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.finish(&mut |text| self.take(text, emit));
        let is_binary = decoder.is_binary();
        if let TextFormat::Export(export) = std::mem::replace(&mut self.format, TextFormat::Lines) {
            self.counts.lines = export.finish(&mut |record| self.record(record, emit));
        }
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.whole(&rest, emit);
        }
        self.end_possible(emit);
        for start in std::mem::take(&mut self.parts).finish() {
            self.read_line(&start.text, start.at, emit);
        }
        let waiting = self.undated.give_up();
        self.read_lines(waiting, emit);
        self.end_crash(emit);
        self.end_document(true, emit);
        let Self { name, file: index, limits, documents, mut counts, .. } = self;
        counts.beyond = documents.beyond();
        let (text, parts) = documents.finish();
        if parts.is_empty() {
            return ReadFile { file: None, counts, is_binary };
        }
        let file = File::from_excerpts(name, text, &parts, ReadOptions { limits, ..READ_OPTIONS });
        // Whoever diagnoses a cluster has Karpenter in it. A part that is no manifest after all may be about anything.
        let is_readable =
            !file.documents.iter().any(|document| matches!(document, Document::Unreadable { .. }));
        let file = File { is_relevant: is_readable.then_some(true), ..file };
        counts.documents = file.documents.len() as u64;
        let mut entries = 0;
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for object in Object::all(tree) {
                object::read(object, index, &mut |entry| {
                    entries += 1;
                    emit(entry);
                });
            }
        }
        counts.entries += entries;
        ReadFile { file: Some(file), counts, is_binary }
    }

    /// Reads the next bytes of an export.
    fn feed_export(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&Entry<'_>)) {
        let mut format = std::mem::replace(&mut self.format, TextFormat::Lines);
        if let TextFormat::Export(export) = &mut format {
            export.feed(bytes, &mut |record| self.record(record, emit));
        }
        self.format = format;
    }

    /// Reads a record of an export.
    fn record(&mut self, record: ExportRecord, emit: &mut dyn FnMut(&Entry<'_>)) {
        let at = At { file: self.file, line: record.line };
        match record.text {
            Ok(text) => self.read_line(&text, at, emit),
            Err(Lost::TooLong) => self.counts.too_long += 1,
            Err(Lost::Truncated) => self.counts.truncated += 1,
        }
    }

    /// Maximum length of a line with this start.
    fn longest(&self, start: &[u8]) -> usize {
        let in_document = !matches!(self.state, State::Lines | State::PossibleYaml) || may_be_object(start);
        if in_document { MAX_LINE_BYTES.max(self.limits.file_bytes) } else { MAX_LINE_BYTES }
    }

    /// Skips a line that is too long, from its start.
    fn too_long(&mut self, line: &[u8], emit: &mut dyn FnMut(&Entry<'_>)) {
        self.end_possible(emit);
        self.end_document(false, &mut |_| {});
        self.counts.lines += 1;
        self.counts.too_long += 1;
        self.pass(line);
    }

    /// Skips a piece of a line.
    fn pass(&mut self, piece: &[u8]) {
        let continued = piece.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
        let pairs = piece.iter().filter(|byte| **byte >= 0xf0).count();
        let ends = usize::from(piece.ends_with(b"\n"));
        self.documents.blank(piece.len() - continued + pairs - ends, ends);
    }

    /// Reads a line with its line feed, which the last line of a file may lack.
    fn whole(&mut self, line: &[u8], emit: &mut dyn FnMut(&Entry<'_>)) {
        let is_outside = matches!(self.state, State::Lines | State::PossibleYaml);
        let is_document = !is_outside || line.len() <= MAX_LINE_BYTES || is_object_start(line);
        if line.len() > self.longest(line) || !is_document {
            self.too_long(line, emit);
            return;
        }
        self.counts.lines += 1;
        if let Ok(text) = std::str::from_utf8(line) {
            self.line(text, emit);
            return;
        }
        self.counts.not_utf8 += u64::from(!line.contains(&0));
        self.line(&String::from_utf8_lossy(line), emit);
    }

    fn line(&mut self, text: &str, emit: &mut dyn FnMut(&Entry<'_>)) {
        let bare = text.trim_end_matches(['\n', '\r']);
        if self.state == State::PossibleYaml {
            if !bare.contains('\0') && self.is_in_yaml(bare, false) && self.possible.add(text) {
                if self.possible.is_document() {
                    self.begin_possible();
                }
                return;
            }
            self.end_possible(emit);
        }
        match self.state {
            State::Lines | State::PossibleYaml => {}
            State::Json { .. } | State::Yaml { .. } if bare.contains('\0') => self.end_document(false, emit),
            State::Json { depth, is_certain } => {
                // After a log line that was cut off, the next line is no member.
                let is_member = is_certain || bare.starts_with([' ', '\t', '"', '}']) || bare.is_empty();
                if is_log(bare) || !is_member {
                    self.end_document(true, emit);
                } else {
                    self.json(text, depth, emit);
                    return;
                }
            }
            State::Yaml { has_version } => {
                if self.is_in_yaml(bare, has_version) || self.splits_yaml(bare, has_version) {
                    let met = has_version || bare.starts_with("apiVersion:");
                    self.state = State::Yaml { has_version: met };
                    self.documents.push(text);
                    return;
                }
                self.end_document(true, emit);
            }
        }
        // The most frequent case first: a line of the controller.
        if bare.starts_with('{') && !starts_json(bare) {
            if !self.is_manifest && may_open_json(bare) {
                self.documents.begin();
                self.json(text, 0, emit);
                if let State::Json { is_certain, .. } = &mut self.state {
                    *is_certain = false;
                }
            } else {
                self.object(text, bare, emit);
            }
        } else if bare.starts_with(|first: char| first.is_ascii_digit()) && self.part(bare, emit) {
            self.blank(text);
        } else if bare.contains('\0') {
            self.counts.binary += 1;
            self.blank(text);
        } else if starts_json(bare) {
            self.table.end();
            self.documents.begin();
            self.json(text, 0, emit);
        } else if self.starts_yaml(bare) {
            self.table.end();
            self.documents.begin();
            self.documents.push(text);
            self.state = State::Yaml { has_version: bare.starts_with("apiVersion:") };
        } else if may_be_field(bare) && !is_log(bare) {
            self.possible = PossibleYaml::new(self.counts.lines, text);
            self.state = State::PossibleYaml;
        } else {
            self.row_or_log(text, bare, emit);
        }
    }

    /// Reads a line that starts with an object that does not look like an object of the API.
    fn object(&mut self, text: &str, bare: &str, emit: &mut dyn FnMut(&Entry<'_>)) {
        if !self.is_manifest {
            self.log(text, bare, emit);
            return;
        }
        let kind = log::read(bare, self.at(), Year::Unknown, &mut |entry| {
            if entry.origin == EntryOrigin::Log {
                emit(entry);
            }
        });
        if kind == LineKind::Entry {
            self.counts.entries += 1;
            self.blank(text);
        } else {
            self.documents.begin();
            self.json(text, 0, emit);
        }
    }

    /// Location of the last line.
    fn at(&self) -> At {
        At { file: self.file, line: usize::try_from(self.counts.lines).unwrap_or(usize::MAX) }
    }

    fn row_or_log(&mut self, text: &str, bare: &str, emit: &mut dyn FnMut(&Entry<'_>)) {
        let at = self.at();
        let mut entries = 0;
        let row = self.table.line(bare, at, &mut |entry| {
            entries += 1;
            emit(entry);
        });
        self.counts.entries += entries;
        match row {
            RowKind::Entry | RowKind::Part => self.blank(text),
            RowKind::Other => self.log(text, bare, emit),
        }
    }

    /// Reads a log line.
    fn log(&mut self, text: &str, bare: &str, emit: &mut dyn FnMut(&Entry<'_>)) {
        self.read_line(bare, self.at(), emit);
        self.blank(text);
    }

    /// Adds a line to a line in parts. Returns whether it was a part.
    fn part(&mut self, bare: &str, emit: &mut dyn FnMut(&Entry<'_>)) -> bool {
        match self.parts.take(bare, self.at()) {
            PartKind::None => return false,
            PartKind::Kept => {}
            PartKind::Last(line) => self.read_line(&line.text, line.at, emit),
            PartKind::TooLong => self.counts.too_long += 1,
        }
        true
    }

    fn read_line(&mut self, line: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) {
        let mut time = None;
        let kind = log::read(line, at, self.undated.year, &mut |entry| {
            time = time.or(entry.time);
            emit(entry);
        });
        let waited = match (kind, time) {
            (LineKind::Undated, _) => self.undated.wait(at, line),
            (_, Some(time)) => self.undated.resolve(Year::Near(time)),
            _ => Vec::new(),
        };
        match kind {
            LineKind::Entry => self.counts.entries += 1,
            LineKind::Truncated => self.counts.truncated += 1,
            LineKind::Text => self.counts.text += 1,
            LineKind::GoesOn | LineKind::Blank | LineKind::Undated | LineKind::Crash => {}
        }
        if kind == LineKind::Crash {
            self.end_crash(emit);
            self.crash = Some(Crash::new(at, line));
        } else if self.crash.as_mut().is_some_and(|crash| crash.is_complete(kind, line)) {
            self.end_crash(emit);
        }
        self.read_lines(waited, emit);
    }

    /// Emits the panic whose goroutine dump was read.
    fn end_crash(&mut self, emit: &mut dyn FnMut(&Entry<'_>)) {
        if let Some(crash) = self.crash.take() {
            self.counts.entries += 1;
            crash.emit(emit);
        }
    }

    /// Reads lines that waited for their year.
    fn read_lines(&mut self, lines: Vec<(At, String)>, emit: &mut dyn FnMut(&Entry<'_>)) {
        for (at, line) in lines {
            self.read_line(&line, at, emit);
        }
    }

    fn blank(&mut self, text: &str) {
        let ends = usize::from(text.ends_with('\n'));
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        self.documents.blank(units - ends, ends);
    }

    /// Reads a line of a JSON value.
    fn json(&mut self, text: &str, depth: usize, emit: &mut dyn FnMut(&Entry<'_>)) {
        match brackets(text, depth) {
            Ok(depth) => {
                self.documents.push(text);
                self.state = State::Json { depth, is_certain: true };
            }
            Err(end) => {
                // The text after the value is ignored.
                let (value, after) = text.split_at_checked(end).unwrap_or((text, ""));
                self.documents.push(value);
                self.state = State::Json { depth: 0, is_certain: true };
                self.end_document(true, emit);
                self.blank(after);
            }
        }
    }

    /// Ends the open document, if there is one.
    fn end_document(&mut self, sound: bool, emit: &mut dyn FnMut(&Entry<'_>)) {
        let state = std::mem::replace(&mut self.state, State::Lines);
        let is_json = matches!(state, State::Json { .. });
        if state == State::Lines {
            return;
        }
        let at = self.at();
        let text = self.documents.open();
        let is_object = ["apiVersion", "kind", "\"Statement\""].iter().any(|word| text.contains(word));
        if !is_object && is_json {
            // A log line that was pretty-printed.
            let mut kind = LineKind::Truncated;
            if matches!(state, State::Json { depth: 0, .. }) {
                let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
                let lines = text.lines().count().saturating_sub(1);
                let at = At { line: at.line - lines.min(at.line), ..at };
                kind = log::read(&line, at, Year::Unknown, &mut |entry| {
                    if entry.origin == EntryOrigin::Log {
                        emit(entry);
                    }
                });
            }
            match kind {
                LineKind::Entry => self.counts.entries += 1,
                LineKind::Truncated if !self.is_manifest => self.counts.truncated += 1,
                _ => {
                    self.documents.end(sound, !self.is_yaml);
                    return;
                }
            }
            self.documents.end(false, is_json);
            return;
        }
        let is_known =
            is_object || self.is_manifest || text.contains("settings:") || text.contains("Statement");
        self.documents.end(sound && is_known, is_json && !self.is_yaml);
    }
}

#[cfg(test)]
mod tests;
