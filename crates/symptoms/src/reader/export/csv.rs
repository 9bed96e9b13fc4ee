//! Exports as CSV: of CloudWatch Logs and Logs Insights, and of Explore of Grafana.
//!
//! The first row has names of columns, such as `@timestamp,@message,@logStream` of a query, `timestamp,message` of a log group, or
//! `"Date","Time","Line","tsNs","id"` of Grafana (public/app/features/inspector/utils/download.ts of grafana/grafana). A line of
//! the log is a quoted cell, with its quotes doubled (RFC 4180).
//!
//! The Log Explorer of Datadog exports `Date,Host,Service,Message`, and columns for attributes such as `@error`: Datadog takes
//! JSON lines apart, so that the message is only a part of the line. Source: docs.datadoghq.com/logs/explorer/export.

use csv_core::{ReadRecordResult, Reader};
use manifest::source::certain;

use super::{ENOUGH, ExportRecord, Lost, line};
use crate::reader::lines::MAX_LINE_BYTES;

/// Names of the column with the line.
const MESSAGES: [&str; 10] =
    ["@message", "message", "Message", "Line", "line", "log", "_raw", "body", "Content", "content"];

/// Names of the column with the time, the exact ones first.
const TIMES: [&str; 8] = ["@timestamp", "timestamp", "Date", "date", "tsNs", "Time", "time", "_time"];

/// Number of columns that are read.
const COLUMNS: usize = 256;

/// Reader of a CSV export. It keeps one row at a time.
pub(super) struct CsvExport {
    reader: Reader,
    row: Vec<u8>,
    /// Number of bytes and cells of the current row so far.
    written: usize,
    cells: usize,
    ends: Vec<usize>,
    /// Whether the current row is too long.
    is_lost: bool,
    /// The line where the current row starts.
    start: usize,
    /// The columns; absent before the first row.
    columns: Option<Columns>,
}

/// Positions of the columns that are read.
#[derive(Clone, Debug)]
struct Columns {
    message: usize,
    time: Option<usize>,
    /// Parts of the line, with their keys.
    parts: Vec<(String, usize)>,
}

impl Columns {
    fn of(names: &[&str]) -> Option<Self> {
        /// Columns of CloudWatch that are no parts of a line.
        const OTHERS: [&str; 6] = ["@timestamp", "@message", "@logStream", "@log", "@ptr", "@ingestionTime"];
        let parts = names.iter().enumerate().filter_map(|(at, name)| match *name {
            "Status" | "status" => Some(("level".to_owned(), at)),
            name if OTHERS.contains(&name) => None,
            name => Some((name.strip_prefix('@')?.to_owned(), at)),
        });
        Some(Self {
            message: position(names, &MESSAGES)?,
            time: position(names, &TIMES),
            parts: parts.collect(),
        })
    }
}

impl std::fmt::Debug for CsvExport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvExport")
            .field("start", &self.start)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl CsvExport {
    /// Recognises an export by its first row, or by the complete names at the start of a long one.
    pub(super) fn detect(start: &str) -> Option<Self> {
        let (head, _) = match start.split_once('\n') {
            None if start.len() >= ENOUGH => start.rsplit_once(',')?,
            found => found?,
        };
        let names: Vec<&str> = head.trim().split(',').map(|name| name.trim().trim_matches('"')).collect();
        let is_name = |name: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@_.- ".contains(&byte);
            !name.is_empty() && name.bytes().all(plain)
        };
        let (message, time) = (position(&names, &MESSAGES), position(&names, &TIMES));
        let is_export =
            names.iter().all(is_name) && message.is_some() && (time.is_some() || names == ["@message"]);
        is_export.then(|| Self {
            reader: Reader::new(),
            row: vec![0; 1 << 12],
            written: 0,
            cells: 0,
            ends: vec![0; COLUMNS],
            is_lost: false,
            start: 1,
            columns: None,
        })
    }

    /// Reads the next bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(ExportRecord)) {
        while !bytes.is_empty() {
            bytes = certain(bytes.get(self.step(bytes, take)..));
        }
    }

    /// Ends the file.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(ExportRecord)) {
        if self.written > 0 || self.cells > 0 {
            self.step(&[], take);
        }
    }

    /// Reads up to the end of a row, of the bytes or of the space. Returns the number of bytes that were read. No bytes end the
    /// file.
    fn step(&mut self, bytes: &[u8], take: &mut dyn FnMut(ExportRecord)) -> usize {
        let row = certain(self.row.get_mut(self.written..));
        let ends = certain(self.ends.get_mut(self.cells..));
        let (result, read, written, cells) = self.reader.read_record(bytes, row, ends);
        self.written += written;
        self.cells += cells;
        match result {
            ReadRecordResult::OutputFull if self.row.len() >= MAX_LINE_BYTES => {
                (self.is_lost, self.written) = (true, 0);
            }
            ReadRecordResult::OutputFull => self.row.resize(self.row.len() * 2, 0),
            ReadRecordResult::OutputEndsFull => (self.is_lost, self.cells) = (true, 0),
            ReadRecordResult::Record => self.end_row(take),
            ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
        }
        read
    }

    fn end_row(&mut self, take: &mut dyn FnMut(ExportRecord)) {
        let at = self.start;
        self.start = usize::try_from(self.reader.line()).unwrap_or(usize::MAX);
        let is_lost = std::mem::take(&mut self.is_lost);
        if is_lost {
            take(ExportRecord { line: at, text: Err(Lost::TooLong) });
        } else if let Some(columns) = &self.columns {
            let message = self.cell(columns.message);
            if !message.is_empty() {
                let time = columns.time.map(|time| self.cell(time)).unwrap_or_default();
                let parts: Vec<_> =
                    columns.parts.iter().map(|(key, at)| (key.as_str(), self.cell(*at))).collect();
                take(ExportRecord { line: at, text: Ok(joined(&time, &message, &parts)) });
            }
        } else {
            let names: Vec<String> = (0..self.cells).map(|cell| self.cell(cell).trim().to_owned()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.columns = Columns::of(&names);
        }
        (self.written, self.cells) = (0, 0);
    }

    fn cell(&self, at: usize) -> String {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        let end = self.ends.get(at).copied().filter(|_| at < self.cells).unwrap_or(start);
        String::from_utf8_lossy(certain(self.row.get(start..end))).into_owned()
    }
}

/// A log line with a time and a message, and with the parts of the line that have their own columns.
fn joined(time: &str, message: &str, parts: &[(&str, String)]) -> String {
    let has_parts = parts.iter().any(|(_, value)| !value.is_empty());
    // A message that is an object is the whole line.
    if !has_parts || message.starts_with('{') {
        return line(time, message);
    }
    let mut object = serde_json::Map::new();
    object.insert("timestamp".to_owned(), time.into());
    object.insert("message".to_owned(), message.into());
    for (key, value) in parts.iter().filter(|(_, value)| !value.is_empty()) {
        // `@NodeClaim.name` is the member of an object.
        let (key, value) = match key.split_once('.') {
            Some((key, "name")) => (key, serde_json::json!({"name": value})),
            _ => (*key, value.as_str().into()),
        };
        object.insert(key.to_owned(), value);
    }
    serde_json::Value::Object(object).to_string()
}

/// Position of the first of some names that is among the columns.
fn position(columns: &[&str], names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| columns.iter().position(|column| column == name))
}
