//! The bytes of a file, in pieces as they come → lines of logs, rows of tables and the documents between them.
//!
//! Lines are handed on and forgotten. Documents are kept until the file ends, and then read in a text in which what is no
//! document is blank: with as many lines and UTF-16 code units, so that every place in it is the place in the file.

mod bytes;
mod documents;
mod lines;
mod parts;
mod undated;

use super::entry::{At, Entry, Origin};
use super::log::{self, Told, Year};
use super::object;
use super::table::{Row, Table};
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::object::Object;
use bytes::Decoder;
use documents::Documents;
use lines::{brackets, is_described, is_key, is_log, is_object_start, is_separator, starts_json};
use parts::{Part, Parts};
use undated::Undated;

/// The bytes of a line beyond which it is no line of a log, and passed over. A container runtime cuts lines at 16 KiB.
const LONGEST: usize = 1 << 20;

/// How much of what was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Lines in all.
    pub lines: u64,
    /// What was said: lines of a log, events, conditions.
    pub entries: u64,
    /// Lines of a log whose start or end is missing.
    pub truncated: u64,
    /// Lines without structure.
    pub text: u64,
    /// Lines with bytes that no text has.
    pub binary: u64,
    /// Lines that are longer than any line of a log.
    pub too_long: u64,
    /// Lines that are not UTF-8. They are read all the same.
    pub not_utf8: u64,
    /// Lines of documents that lie beyond the bound on a file.
    pub beyond: u64,
    /// Documents.
    pub documents: u64,
}

impl Account {
    /// The sum of two.
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

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    name: String,
    /// The position of the file among those of its cluster.
    file: usize,
    limits: Limits,
    /// The name says that it is a manifest: what is nothing else is a document.
    is_manifest: bool,
    /// The name says that it is YAML, which may look like JSON.
    is_yaml: bool,
    decoder: Decoder,
    /// The start of a line whose end has not come yet.
    rest: Vec<u8>,
    /// The line that has begun is passed over, up to its end.
    passing: bool,
    parts: Parts,
    undated: Undated,
    state: State,
    table: Table,
    documents: Documents,
    account: Account,
}

/// What was read of a file beyond what was handed on.
#[derive(Debug)]
pub(super) struct Read {
    /// Its documents, where it has some.
    pub(super) file: Option<File>,
    pub(super) account: Account,
    /// It is no text.
    pub(super) is_binary: bool,
}

/// What the last line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A log, a table or nothing.
    Lines,
    /// A YAML document; whether its `apiVersion` was met.
    Yaml { has_version: bool },
    /// A JSON value with so many brackets open.
    Json { depth: usize },
}

impl Reader {
    pub(super) fn new(name: &str, file: usize, limits: Limits) -> Self {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
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
            rest: Vec::new(),
            passing: false,
            parts: Parts::default(),
            undated: Undated::default(),
            state: State::Lines,
            table: Table::default(),
            documents: Documents::new(limits.file_bytes),
            account: Account::default(),
        }
    }

    /// Takes the next bytes, and hands on what they say.
    pub(super) fn feed(&mut self, bytes: &[u8], say: &mut dyn FnMut(&Entry<'_>)) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(bytes, &mut |text| self.take(text, say));
        self.decoder = decoder;
    }

    /// Takes the next bytes of a text that is UTF-8, or should be.
    fn take(&mut self, mut bytes: &[u8], say: &mut dyn FnMut(&Entry<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, after) = bytes.split_at_checked(end + 1).unwrap_or_default();
            bytes = after;
            if self.passing {
                self.pass(line);
                self.passing = false;
            } else if self.rest.is_empty() {
                self.whole(line, say);
            } else {
                self.rest.extend_from_slice(line);
                let rest = std::mem::take(&mut self.rest);
                self.whole(&rest, say);
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
            self.too_long(&rest);
            self.passing = true;
        }
    }

    /// The file ends here. Gives its documents, where it has some.
    pub(super) fn finish(mut self, say: &mut dyn FnMut(&Entry<'_>)) -> Read {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.finish(&mut |text| self.take(text, say));
        let is_binary = decoder.is_binary();
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.whole(&rest, say);
        }
        for start in std::mem::take(&mut self.parts).finish() {
            self.tell(&start.text, start.at, say);
        }
        let waiting = self.undated.give_up();
        self.tell_all(waiting, say);
        self.end_document(true, say);
        let Self { name, file: index, limits, documents, mut account, .. } = self;
        account.beyond = documents.beyond();
        let (text, parts) = documents.finish();
        if parts.is_empty() {
            return Read { file: None, account, is_binary };
        }
        let file = File::from_excerpts(name, text, &parts, &limits);
        account.documents = file.documents.len() as u64;
        let mut entries = 0;
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for object in Object::all(tree) {
                object::read(object, index, &mut |entry| {
                    entries += 1;
                    say(entry);
                });
            }
        }
        account.entries += entries;
        Read { file: Some(file), account, is_binary }
    }

    /// How long a line may be that starts like this.
    fn longest(&self, start: &[u8]) -> usize {
        let in_document = self.state != State::Lines || is_object_start(start);
        if in_document { LONGEST.max(self.limits.file_bytes) } else { LONGEST }
    }

    /// The start of a line that is too long to be read.
    fn too_long(&mut self, line: &[u8]) {
        self.end_document(false, &mut |_| {});
        self.account.lines += 1;
        self.account.too_long += 1;
        self.pass(line);
    }

    /// A piece of a line that is not read.
    fn pass(&mut self, piece: &[u8]) {
        let continued = piece.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
        let pairs = piece.iter().filter(|byte| **byte >= 0xf0).count();
        let ends = usize::from(piece.ends_with(b"\n"));
        self.documents.blank(piece.len() - continued + pairs - ends, ends);
    }

    /// A line with its line feed; the last one of a file may have none.
    fn whole(&mut self, line: &[u8], say: &mut dyn FnMut(&Entry<'_>)) {
        if line.len() > self.longest(line) {
            self.too_long(line);
            return;
        }
        self.account.lines += 1;
        if let Ok(text) = std::str::from_utf8(line) {
            self.line(text, say);
            return;
        }
        self.account.not_utf8 += u64::from(!line.contains(&0));
        self.line(&String::from_utf8_lossy(line), say);
    }

    fn line(&mut self, text: &str, say: &mut dyn FnMut(&Entry<'_>)) {
        let bare = text.trim_end_matches(['\n', '\r']);
        match self.state {
            State::Lines => {}
            State::Json { .. } | State::Yaml { .. } if bare.contains('\0') => self.end_document(false, say),
            State::Json { depth } => {
                if is_log(bare) {
                    self.end_document(true, say);
                } else {
                    self.json(text, depth, say);
                    return;
                }
            }
            State::Yaml { has_version } => {
                if self.is_in_yaml(bare, has_version) {
                    let met = has_version || bare.starts_with("apiVersion:");
                    self.state = State::Yaml { has_version: met };
                    self.documents.push(text);
                    return;
                }
                self.end_document(true, say);
            }
        }
        // The usual case first: a line of the controller.
        if bare.starts_with('{') && !starts_json(bare) {
            self.object(text, bare, say);
        } else if bare.starts_with(|first: char| first.is_ascii_digit()) && self.part(bare, say) {
            self.blank(text);
        } else if bare.contains('\0') {
            self.account.binary += 1;
            self.blank(text);
        } else if starts_json(bare) {
            self.table.end();
            self.documents.begin();
            self.json(text, 0, say);
        } else if self.starts_yaml(bare) {
            self.table.end();
            self.documents.begin();
            self.documents.push(text);
            self.state = State::Yaml { has_version: bare.starts_with("apiVersion:") };
        } else {
            self.row_or_log(text, bare, say);
        }
    }

    /// A line that starts with an object which is none of the API, as far as its start tells.
    fn object(&mut self, text: &str, bare: &str, say: &mut dyn FnMut(&Entry<'_>)) {
        if !self.is_manifest {
            self.log(text, bare, say);
            return;
        }
        let told = log::read(bare, self.at(), Year::Unknown, &mut |entry| {
            if entry.origin == Origin::Log {
                say(entry);
            }
        });
        if told == Told::Entry {
            self.account.entries += 1;
            self.blank(text);
        } else {
            self.documents.begin();
            self.json(text, 0, say);
        }
    }

    /// The position of the line that was counted last.
    fn at(&self) -> At {
        At { file: self.file, line: usize::try_from(self.account.lines).unwrap_or(usize::MAX) }
    }

    fn row_or_log(&mut self, text: &str, bare: &str, say: &mut dyn FnMut(&Entry<'_>)) {
        let at = self.at();
        let mut entries = 0;
        let row = self.table.line(bare, at, &mut |entry| {
            entries += 1;
            say(entry);
        });
        self.account.entries += entries;
        match row {
            Row::Entry | Row::Part => self.blank(text),
            Row::Other => self.log(text, bare, say),
        }
    }

    /// Reads a line of a log.
    fn log(&mut self, text: &str, bare: &str, say: &mut dyn FnMut(&Entry<'_>)) {
        self.tell(bare, self.at(), say);
        self.blank(text);
    }

    /// Whether a line is a part of another one, which is read when its last part has come.
    fn part(&mut self, bare: &str, say: &mut dyn FnMut(&Entry<'_>)) -> bool {
        match self.parts.take(bare, self.at()) {
            Part::None => return false,
            Part::Kept => {}
            Part::Last(line) => self.tell(&line.text, line.at, say),
            Part::TooLong => self.account.too_long += 1,
        }
        true
    }

    fn tell(&mut self, line: &str, at: At, say: &mut dyn FnMut(&Entry<'_>)) {
        let mut time = None;
        let told = log::read(line, at, self.undated.year, &mut |entry| {
            time = time.or(entry.time);
            say(entry);
        });
        let waited = match (told, time) {
            (Told::Undated, _) => self.undated.wait(at, line),
            (_, Some(time)) => self.undated.tell(Year::Near(time)),
            _ => Vec::new(),
        };
        match told {
            Told::Entry => self.account.entries += 1,
            Told::Truncated => self.account.truncated += 1,
            Told::Text => self.account.text += 1,
            Told::GoesOn | Told::Blank | Told::Undated => {}
        }
        self.tell_all(waited, say);
    }

    /// Reads lines that have waited for their year.
    fn tell_all(&mut self, lines: Vec<(At, String)>, say: &mut dyn FnMut(&Entry<'_>)) {
        for (at, line) in lines {
            self.tell(&line, at, say);
        }
    }

    fn blank(&mut self, text: &str) {
        let ends = usize::from(text.ends_with('\n'));
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        self.documents.blank(units - ends, ends);
    }

    /// A line of a JSON value.
    fn json(&mut self, text: &str, depth: usize, say: &mut dyn FnMut(&Entry<'_>)) {
        match brackets(text, depth) {
            Ok(depth) => {
                self.documents.push(text);
                self.state = State::Json { depth };
            }
            Err(end) => {
                // What follows the value in its line belongs to nothing.
                let (value, after) = text.split_at_checked(end).unwrap_or((text, ""));
                self.documents.push(value);
                self.state = State::Json { depth: 0 };
                self.end_document(true, say);
                self.blank(after);
            }
        }
    }

    /// Ends the document that is open, if one is.
    fn end_document(&mut self, sound: bool, say: &mut dyn FnMut(&Entry<'_>)) {
        let state = std::mem::replace(&mut self.state, State::Lines);
        let is_json = matches!(state, State::Json { .. });
        if state == State::Lines {
            return;
        }
        let at = self.at();
        let text = self.documents.open();
        let is_object = text.contains("apiVersion") || text.contains("kind");
        if !is_object && is_json {
            // A line of a log that a person had printed over several lines.
            let mut told = Told::Truncated;
            if matches!(state, State::Json { depth: 0 }) {
                let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
                let lines = text.lines().count().saturating_sub(1);
                let at = At { line: at.line - lines.min(at.line), ..at };
                told = log::read(&line, at, Year::Unknown, &mut |entry| {
                    if entry.origin == Origin::Log {
                        say(entry);
                    }
                });
            }
            match told {
                Told::Entry => self.account.entries += 1,
                Told::Truncated if !self.is_manifest => self.account.truncated += 1,
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

    fn starts_yaml(&self, bare: &str) -> bool {
        const KEYS: [&str; 6] = ["apiVersion", "kind", "metadata", "items", "spec", "status"];
        const HEADS: [&str; 3] = ["settings:", "karpenter:", "controller:"];
        let key = bare.split(':').next().unwrap_or_default();
        let item = bare.strip_prefix("- ").unwrap_or(bare);
        (KEYS.contains(&key) && is_key(bare))
            || HEADS.contains(&bare)
            || item.starts_with("apiVersion: ")
            || is_separator(bare)
            || (self.is_manifest && !bare.trim().is_empty() && !is_log(bare) && !is_described(bare))
    }

    /// Whether a line belongs to the YAML document that is open.
    fn is_in_yaml(&self, bare: &str, has_version: bool) -> bool {
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
}

#[cfg(test)]
mod tests;
