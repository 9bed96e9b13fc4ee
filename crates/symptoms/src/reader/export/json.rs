//! Exports as one JSON value.
//!
//! | written by | shape |
//! |---|---|
//! | `aws logs filter-log-events` and `get-log-events` | `{"events": [{"timestamp": …, "message": …}]}` |
//! | `aws logs get-query-results` | `{"results": [[{"field": "@message", "value": …}]]}` |
//! | the console of CloudWatch Logs Insights | `[{"@timestamp": …, "@message": …}]` |
//! | the HTTP API of Loki | `{"status": "success", "data": {"resultType": "streams", "result": [{"values": [["time", "line"]]}]}}` |
//! | Explore of Grafana | `[{"line": …, "timestamp": …, "fields": {…}}]` |
//! | the log API of Datadog, version 2 | `{"data": [{"id": …, "attributes": {"timestamp": …, "message": …, "attributes": {…}}}]}` |
//! | the log API of Datadog, version 1 | `{"logs": [{"id": …, "content": {"timestamp": …, "message": …, "attributes": {…}}}]}` |
//!
//! Sources: the references of `FilterLogEvents` and `GetQueryResults` in docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference;
//! grafana.com/docs/loki/latest/reference/loki-http-api, `query_range`; `logRowsToReadableJson` in
//! public/app/features/logs/utils.ts of grafana/grafana; docs.datadoghq.com/api/latest/logs, "Search logs".

use serde_json::Value;

use super::{ExportRecord, Lost, line};
use crate::reader::lines::MAX_LINE_BYTES;

/// First keys of the objects in an exported list.
const KEYS: [&str; 23] = [
    "@timestamp",
    "@message",
    "@ptr",
    "@log",
    "@logStream",
    "@ingestionTime",
    "timestamp",
    "line",
    "date",
    "fields",
    "labels",
    "message",
    "log",
    "time",
    "ts",
    "level",
    "eventId",
    "logStreamName",
    "ingestionTime",
    "kubernetes",
    // Datadog.
    "id",
    "attributes",
    "content",
];

/// First keys of an answer of CloudWatch, Loki or Datadog, and a text that follows.
const ANSWERS: [(&str, &str, Shape); 10] = [
    ("events", "[", Shape::EVENTS),
    ("searchedLogStreams", "\"events\"", Shape::EVENTS),
    ("nextForwardToken", "\"events\"", Shape::EVENTS),
    ("nextToken", "\"events\"", Shape::EVENTS),
    ("results", "\"field\"", Shape::RESULTS),
    ("queryLanguage", "\"results\"", Shape::RESULTS),
    ("status", "\"result", Shape::STREAMS),
    ("data", "\"result", Shape::STREAMS),
    ("data", "\"attributes\"", Shape::EVENTS),
    ("logs", "\"content\"", Shape::EVENTS),
];

/// Place of the records: lists or objects below a number of open brackets.
#[derive(Clone, Copy, Debug)]
struct Shape {
    depth: usize,
    opens: u8,
}

impl Shape {
    const LIST: Self = Self { depth: 1, opens: b'{' };
    const LIST_OF_FIELDS: Self = Self { depth: 1, opens: b'[' };
    const EVENTS: Self = Self { depth: 2, opens: b'{' };
    const RESULTS: Self = Self { depth: 2, opens: b'[' };
    const STREAMS: Self = Self { depth: 5, opens: b'[' };
}

/// Reader of a JSON export. It keeps one record at a time.
#[derive(Debug)]
pub(super) struct JsonExport {
    shape: Shape,
    depth: usize,
    in_string: bool,
    escaped: bool,
    line: usize,
    /// The line where the current record starts.
    start: Option<usize>,
    record: Vec<u8>,
}

impl JsonExport {
    /// Recognises an export by the start of its text.
    pub(super) fn detect(start: &str) -> Option<Self> {
        let start = start.trim_start();
        let shape = match start.strip_prefix('[').map(str::trim_start) {
            Some(list) if list.starts_with('[') && list.contains("\"field\"") => Shape::LIST_OF_FIELDS,
            Some(list) => first_key(list).filter(|key| KEYS.contains(key)).map(|_| Shape::LIST)?,
            None => answer(start)?,
        };
        Some(Self {
            shape,
            depth: 0,
            in_string: false,
            escaped: false,
            line: 1,
            start: None,
            record: Vec::new(),
        })
    }

    /// Reads the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(ExportRecord)) {
        for byte in bytes {
            self.line += usize::from(*byte == b'\n');
            if self.in_string {
                self.in_string = self.escaped || *byte != b'"';
                self.escaped = *byte == b'\\' && !self.escaped;
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => {
                        if self.depth == self.shape.depth && *byte == self.shape.opens {
                            self.start = Some(self.line);
                        }
                        self.depth += 1;
                    }
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            let Some(line) = self.start else { continue };
            // One byte more than a record may have shows that it is too long.
            if self.record.len() <= MAX_LINE_BYTES {
                self.record.push(if *byte == b'\n' { b' ' } else { *byte });
            }
            if self.depth == self.shape.depth && !self.in_string {
                self.start = None;
                let text =
                    if self.is_too_long() { Some(Err(Lost::TooLong)) } else { text(&self.record).map(Ok) };
                self.record.clear();
                if let Some(text) = text {
                    take(ExportRecord { line, text });
                }
            }
        }
    }

    /// Ends the file, which may be cut off within a record.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(ExportRecord)) {
        if let Some(line) = self.start.take() {
            let lost = if self.is_too_long() { Lost::TooLong } else { Lost::Truncated };
            take(ExportRecord { line, text: Err(lost) });
        }
    }

    fn is_too_long(&self) -> bool {
        self.record.len() > MAX_LINE_BYTES
    }
}

/// The shape of an answer of CloudWatch, Loki or Datadog.
fn answer(start: &str) -> Option<Shape> {
    let key = first_key(start)?;
    let found = ANSWERS.iter().find(|(first, then, _)| *first == key && start.contains(then));
    found.map(|(_, _, shape)| *shape)
}

/// The first key of an object.
fn first_key(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('{')?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(key, _)| key)
}

/// The log line in a record; `None` if it has none.
fn text(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    if text.starts_with('{') {
        return Some(text.into_owned());
    }
    let items: Vec<Value> = serde_json::from_str(&text).ok()?;
    // Loki: the time, the line, and perhaps structured metadata.
    if let [Value::String(time), Value::String(message), ..] = items.as_slice() {
        return Some(line(time, message));
    }
    let field = |name: &str| {
        let is_it = |item: &&Value| item.get("field").and_then(Value::as_str) == Some(name);
        items.iter().find(is_it)?.get("value")?.as_str()
    };
    Some(line(field("@timestamp").unwrap_or_default(), field("@message")?))
}
