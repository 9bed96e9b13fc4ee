//! Exports of CloudWatch, Loki, Grafana and Datadog.

use serde_json::json;

use super::{ENTRIES, LINE, read_pieces};
use crate::reader::LineCounts;

/// A plain line, which gets its time from the export.
const PLAIN: &str = "E0423 18:04:57.123456       1 a.go:1] cannot list";

/// The entries of an export with both lines, without the numbers of the lines.
fn entries(export: &str) -> Vec<String> {
    let (whole, counts) = read_pieces("export", &[export.as_bytes()]);
    assert_eq!((counts.lines, counts.truncated), (export.lines().count() as u64, 0), "{export}");
    let pieces: Vec<&[u8]> = export.as_bytes().chunks(7).collect();
    assert_eq!(read_pieces("export", &pieces).0, whole);
    let utf16: Vec<u8> = format!("\u{feff}{export}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_pieces("export", &utf16.chunks(600).collect::<Vec<_>>()).0, whole);
    whole.lines().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
}

fn expected() -> [String; 2] {
    let first = ENTRIES.trim_end().split_once(": ").unwrap().1.to_owned();
    [first, "Log Error at 2026-04-23T18:04:57Z: cannot list".to_owned()]
}

#[test]
fn reads_json_exports() {
    const MILLIS: u64 = 1_776_967_497_000;
    let events = json!({
        "events": [
            {"eventId": "1", "ingestionTime": MILLIS, "logStreamName": "karpenter", "message": LINE, "timestamp": MILLIS},
            {"logStreamName": "karpenter", "timestamp": MILLIS, "message": format!("{PLAIN}\n")},
        ],
        "searchedLogStreams": [],
    });
    let field = |name: &str, value: &str| json!({"field": name, "value": value});
    let rows = json!([
        [field("@timestamp", "2026-04-23 18:04:57.000"), field("@message", LINE), field("@ptr", "x")],
        [field("@timestamp", "2026-04-23 18:04:57.000"), field("@message", PLAIN)],
    ]);
    let results = json!({"queryLanguage": "CWLI", "results": rows, "status": "Complete", "statistics": {"bytesScanned": 1.0}});
    let console = json!([
        {"@timestamp": "2026-04-23 18:04:57.000", "@message": LINE},
        {"@timestamp": "2026-04-23 18:04:57.000", "@message": PLAIN},
    ]);
    let parsed: serde_json::Value = serde_json::from_str(LINE).unwrap();
    let nested = json!([
        {"@timestamp": "2026-04-23 18:04:57.000", "@message": parsed},
        {"@timestamp": "2026-04-23 18:04:57.000", "@message": PLAIN},
    ]);
    let nanos = format!("{MILLIS}000000");
    let streams = json!({"status": "success", "data": {"resultType": "streams", "result": [
        {"stream": {"app": "karpenter"}, "values": [[nanos, LINE]]},
        {"stream": {"app": "karpenter", "pod": "b"}, "values": [[nanos, PLAIN, {"trace": "1"}]]},
    ], "stats": {"summary": {}}}});
    let explore = json!([
        {"line": LINE, "timestamp": nanos, "date": "2026-04-23T18:04:57.000Z", "fields": {"app": "karpenter"}},
        {"line": PLAIN, "timestamp": nanos, "date": "2026-04-23T18:04:57.000Z", "fields": {}},
    ]);
    for export in [events, rows, results, console, nested, streams, explore] {
        for text in [export.to_string(), format!("{export:#}\n"), format!(" \n{export}")] {
            assert_eq!(entries(&text), expected(), "{text}");
        }
    }
}

/// A line as Datadog keeps it: the message and the time apart from the other members.
fn taken_apart() -> serde_json::Value {
    let mut rest: serde_json::Value = serde_json::from_str(LINE).unwrap();
    let members = rest.as_object_mut().unwrap();
    members.remove("time");
    let message = members.remove("message").unwrap();
    json!({
        "timestamp": "2026-04-23T18:04:55.550Z", "status": "error", "service": "karpenter", "host": "i-1",
        "tags": ["env:prod"], "message": message, "attributes": rest,
    })
}

#[test]
fn reads_exports_of_datadog() {
    let plain = json!({
        "timestamp": "2026-04-23T18:04:57.000Z", "status": "error", "message": PLAIN, "attributes": {},
    });
    let second = json!([
        {"id": "AgAAAYq", "type": "log", "attributes": taken_apart()},
        {"id": "AgAAAYr", "type": "log", "attributes": plain},
    ]);
    let first = json!([{"id": "AgAAAYq", "content": taken_apart()}, {"id": "AgAAAYr", "content": plain}]);
    for export in [
        json!({"data": second, "links": {"next": ""}, "meta": {"elapsed": 1}}),
        json!({"logs": first, "nextLogId": null, "status": "done"}),
        second.clone(),
    ] {
        for text in [export.to_string(), format!("{export:#}\n")] {
            assert_eq!(entries(&text)[0], expected()[0], "{text}");
        }
    }
    // An archive has one line for each record.
    let mut archived = taken_apart();
    archived["date"] = archived["timestamp"].take();
    archived.as_object_mut().unwrap().remove("timestamp");
    archived["_id"] = "AgAAAYq".into();
    let (text, _) = read_pieces("-", &[format!("{archived}\n").as_bytes()]);
    assert_eq!(text, ENTRIES);
}

#[test]
fn reads_csv_exports_of_datadog() {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let whole =
        format!("Date,Host,Service,Message\n2026-04-23T18:04:55.550Z,i-1,karpenter,{}\n", quoted(LINE));
    assert_eq!(entries(&whole), expected()[..1]);
    let parts = "\"Date\",\"Host\",\"Service\",\"Status\",\"@controller\",\"@error\",\"Content\"\n\"2026-04-23T18:04:55.550Z\",\"i-1\",\"karpenter\",\"error\",\"provisioner\",\"did not tolerate a=b\",\"could not schedule pod\"\n";
    assert_eq!(
        entries(parts),
        ["Log Error by provisioner at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate a=b"]
    );
}

#[test]
fn reads_csv_exports() {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let (line, plain) = (quoted(LINE), quoted(PLAIN));
    for export in [
        format!(
            "@timestamp,@message,@logStream\n2026-04-23 18:04:57.000,{line},a\n2026-04-23 18:04:57.000,{plain},a\n"
        ),
        format!("timestamp,message\r\n1776967497000,{line}\r\n1776967497000,\"{PLAIN}\n\"\r\n"),
        format!(
            "\"Date\",\"Time\",\"Line\",\"tsNs\",\"id\"\n2026-04-23T18:04:57.000Z,1776967497000,{line},1,a\n2026-04-23T18:04:57.000Z,1776967497000,{plain},1,b"
        ),
        format!("@message,@timestamp\n{line},2026-04-23 18:04:57.000\n{plain},2026-04-23 18:04:57.000"),
    ] {
        assert_eq!(entries(&export), expected(), "{export}");
    }
}

#[test]
fn records_have_their_line_in_the_export() {
    let export = format!(
        "timestamp,message\n1776967497000,\"a\nb\"\n1776967497000,\"{}\"\n",
        LINE.replace('"', "\"\"")
    );
    assert!(read_pieces("x.csv", &[export.as_bytes()]).0.contains("\n4: Log Error by provisioner"));
    let export = format!(
        r#"{{
"events": [
{{"message": "a"}},
{{"timestamp": 1,
"message": {}}}]}}"#,
        json!(LINE)
    );
    assert!(read_pieces("x.json", &[export.as_bytes()]).0.contains("4: Log Error by provisioner"));
}

#[test]
fn a_record_that_is_too_long_is_counted() {
    let long = "x".repeat(1 << 20);
    let json = json!([{"timestamp": 1, "message": long}, {"timestamp": 1, "message": LINE}]).to_string();
    let csv = format!("timestamp,message\n1,{long}\n1,\"{}\"\n", LINE.replace('"', "\"\""));
    for (name, export) in [("x.json", json), ("x.csv", csv)] {
        let (text, counts) = read_pieces(name, &[export.as_bytes()]);
        let lines = counts.lines;
        assert_eq!(counts, LineCounts { lines, entries: 1, too_long: 1, ..LineCounts::default() }, "{name}");
        assert!(text.contains("by provisioner"));
    }
}

#[test]
fn a_record_that_is_cut_off_is_counted() {
    let records = [json!({"timestamp": 1, "message": LINE}), json!({"timestamp": 1, "message": LINE})];
    let whole = json!(records).to_string();
    let second = whole.rfind("{\"message").unwrap();
    for (end, entries, truncated) in [
        (whole.len(), 2, 0),
        (whole.len() - 1, 2, 0),
        (whole.len() - 2, 1, 1),
        (second + 1, 1, 1),
        (second, 1, 0),
    ] {
        let (_, counts) = read_pieces("x.json", &[whole.get(..end).unwrap().as_bytes()]);
        assert_eq!((counts.entries, counts.truncated), (entries, truncated), "{end}");
    }
    let long = format!("[{{\"timestamp\":1,\"message\":\"{}", "x".repeat(1 << 20));
    let (_, counts) = read_pieces("x.json", &[long.as_bytes()]);
    assert_eq!((counts.too_long, counts.truncated), (1, 0));
}

#[test]
fn reads_csv_exports_with_a_long_first_row() {
    let row = |columns: &[&str]| format!("{}\n", columns.join(","));
    for length in [1, 18, 19, 20, 40, 200] {
        let further: Vec<String> = (0..length).map(|at| format!("column_{at:04}")).collect();
        let names: Vec<&str> =
            ["@timestamp", "@message"].into_iter().chain(further.iter().map(String::as_str)).collect();
        let line = format!("\"{}\"", LINE.replace('"', "\"\""));
        let plain = format!("\"{PLAIN}\"");
        let cells = |message: &str| {
            let mut cells = vec!["2026-04-23 18:04:57.000", message];
            cells.resize(names.len(), "x");
            row(&cells)
        };
        assert_eq!(
            entries(&format!("{}{}{}", row(&names), cells(&line), cells(&plain))),
            expected(),
            "{length}"
        );
    }
}

#[test]
fn other_json_and_text_is_no_export() {
    let sentence = format!("time, message, {}", "and a: sentence, ".repeat(40));
    assert!(super::super::export::Export::detect(sentence.as_bytes()).is_none());
    for text in [
        r#"[{"op":"add","path":"/spec"}]"#,
        r#"{"status":{"phase":"Running"},"data":{}}"#,
        r#"{"apiVersion":"v1","kind":"List","items":[]}"#,
        r#"{"events":"none"}"#,
        "kind,message,count of it\nNode,a,1\n",
        "timestamp: 1, message: a\n",
        "message\nalone\n",
    ] {
        assert!(super::super::export::Export::detect(text.as_bytes()).is_none(), "{text}");
    }
}
