//! Files that CloudWatch, Loki, Grafana and Datadog export → log lines.
//!
//! An export is recognised by its first bytes and read as a stream. Each record becomes a line with the keys `timestamp` and
//! `line`, or stays as it is if it has such keys already.

mod csv;
mod json;

use csv::CsvExport;
use json::JsonExport;

/// Number of bytes that identify an export. The decoder passes on at least as many at once, or the whole file, so that the
/// pieces of the input do not matter: it waits for 512 bytes, which are 255 characters of UTF-16 and a mark.
const ENOUGH: usize = 250;

/// A file that is an export.
#[derive(Debug)]
pub(super) struct Export {
    format: Format,
    /// Number of line feeds, and whether a line follows the last one.
    feeds: usize,
    has_rest: bool,
}

#[derive(Debug)]
enum Format {
    Json(JsonExport),
    Csv(Box<CsvExport>),
}

/// Record of an export.
#[derive(Debug)]
pub(super) struct ExportRecord {
    /// The line where it starts, from 1.
    pub(super) line: usize,
    /// The record as a log line.
    pub(super) text: Result<String, Lost>,
}

/// Reason why a record is no log line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lost {
    TooLong,
    /// The file ends within the record.
    Truncated,
}

impl Export {
    /// Recognises an export by the start of its text.
    pub(super) fn detect(start: &[u8]) -> Option<Self> {
        let start = String::from_utf8_lossy(start.get(..ENOUGH).unwrap_or(start));
        let json = JsonExport::detect(&start).map(Format::Json);
        let format = json.or_else(|| CsvExport::detect(&start).map(|csv| Format::Csv(Box::new(csv))))?;
        Some(Self { format, feeds: 0, has_rest: false })
    }

    /// Reads the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(ExportRecord)) {
        self.feeds += memchr::memchr_iter(b'\n', bytes).count();
        self.has_rest = bytes.last().map_or(self.has_rest, |last| *last != b'\n');
        match &mut self.format {
            Format::Json(export) => export.feed(bytes, take),
            Format::Csv(export) => export.feed(bytes, take),
        }
    }

    /// Ends the file, and returns the number of its lines.
    pub(super) fn finish(mut self, take: &mut dyn FnMut(ExportRecord)) -> u64 {
        match &mut self.format {
            Format::Json(export) => export.finish(take),
            Format::Csv(export) => export.finish(take),
        }
        (self.feeds + usize::from(self.has_rest)) as u64
    }
}

/// A log line with a time and a message.
fn line(time: &str, message: &str) -> String {
    serde_json::json!({"line": message, "timestamp": time}).to_string()
}
