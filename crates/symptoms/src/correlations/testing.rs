//! Test helpers of the correlations: a short form of logs, and diagnoses as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::correlation::Correlation;
use crate::entry::{At, Condition, Entry, EntryObject, EntryOrigin, Fields, LogFileId, LogLevel, Time};
use crate::history::History;
use crate::recognise::Recogniser;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use objects::object::Object;

/// The time of hour 0.
const START: i64 = 1_774_972_800_000;

/// Reads lines such as `0:05 DEBUG provisioner: ignoring pod {'Pod': {'name': 'a'}}`: minutes and seconds, or hours, minutes and
/// seconds, a level unless it is `INFO`, the controller, the message, and fields with single quotes.
///
/// An event is `0:05 event Pod/a/b Nominated: message`, a condition `0:05 condition NodeClaim/a Registered=Unknown Reason:
/// message`; `-` is an unknown time, `5m30s` an age. Text between `---` lines is a manifest.
pub(super) fn history(text: &str) -> History {
    let mut history = History::default();
    let mut recogniser = Recogniser::default();
    let mut manifest: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut manifest, line.trim()) {
            (None, "---") => manifest = Some((index + 2, String::new())),
            (Some((start, text)), "---") => {
                let file = File::read("-", &*text, READ_OPTIONS);
                for document in &file.documents {
                    let Document::Read(tree) = document else { panic!("{text}") };
                    let at = At { file: LogFileId::default(), line: *start };
                    for object in Object::all(tree) {
                        history.object(object, at);
                    }
                }
                manifest = None;
            }
            (Some((_, text)), _) => writeln!(text, "{line}").unwrap(),
            (None, "") => {}
            (None, record) => history.observe(recogniser.recognise(&entry(index + 1, record))),
        }
    }
    history
}

fn entry(line: usize, text: &str) -> Entry<'_> {
    let (time, rest) = text.split_once(' ').unwrap();
    let mut entry = Entry {
        origin: EntryOrigin::Log,
        at: At { file: LogFileId::default(), line },
        text: Cow::Borrowed(text),
        time: (time != "-").then(|| Time::of_age(time).unwrap_or_else(|| at(time))),
        first: None,
        level: LogLevel::Info,
        controller: Cow::Borrowed(""),
        pod: Cow::Borrowed(""),
        message: Cow::Borrowed(""),
        error: Cow::Borrowed(""),
        reason: Cow::Borrowed(""),
        condition: Condition::default(),
        object: EntryObject::default(),
        fields: Fields::default(),
        count: 1,
    };
    if let Some(rest) = rest.strip_prefix("event ") {
        let (head, message) = rest.split_once(": ").unwrap();
        let (object, reason) = head.split_once(' ').unwrap();
        (entry.origin, entry.object, entry.reason) = (EntryOrigin::Event, subject(object), reason.into());
        entry.message = message.into();
        return entry;
    }
    if let Some(rest) = rest.strip_prefix("condition ") {
        let (head, message) = rest.split_once(": ").unwrap_or((rest, ""));
        let mut words = head.split(' ');
        entry.origin = EntryOrigin::Condition;
        entry.object = subject(words.next().unwrap());
        let (kind, status) = words.next().unwrap().split_once('=').unwrap();
        entry.condition = Condition { kind: kind.into(), status: status.into() };
        entry.reason = words.next().unwrap_or_default().into();
        entry.message = message.into();
        return entry;
    }
    let levels = [("DEBUG ", LogLevel::Debug), ("ERROR ", LogLevel::Error)];
    let level = levels.into_iter().find(|(name, _)| rest.starts_with(name));
    let rest = level.map_or(rest, |(name, _)| rest.strip_prefix(name).unwrap());
    entry.level = level.map_or(LogLevel::Info, |(_, level)| level);
    let (controller, rest) = rest.split_once(": ").unwrap();
    let (controller, pod) = controller.split_once('@').unwrap_or((controller, ""));
    let (message, fields) = rest.split_once(" {").map_or((rest, "}"), |(message, fields)| (message, fields));
    (entry.controller, entry.pod, entry.message) = (controller.into(), pod.into(), message.into());
    let fields = format!("{{{fields}").replace('\'', "\"").replace('´', "\\\"");
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&fields).unwrap();
    for (key, value) in fields {
        match &*key {
            "error" => entry.error = value.as_str().unwrap().to_owned().into(),
            "claim" => {
                let claim = serde_json::json!({"name": value});
                entry.fields.0.push(("NodeClaim".into(), raw(&claim)));
            }
            _ => entry.fields.0.push((key.into(), raw(&value))),
        }
    }
    entry
}

fn raw<'a>(value: &serde_json::Value) -> Cow<'a, str> {
    Cow::Owned(value.to_string())
}

/// `Kind/name` or `Kind/namespace/name`.
fn subject(text: &str) -> EntryObject<'_> {
    let (kind, name) = text.split_once('/').unwrap();
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    EntryObject { kind: kind.into(), namespace: namespace.into(), name: name.into() }
}

fn at(clock: &str) -> Time {
    let (clock, millis) = clock.split_once('.').unwrap_or((clock, "0"));
    let seconds = clock.split(':').fold(0, |sum, part| sum * 60 + part.parse::<i64>().unwrap());
    Time(START + seconds * 1000 + millis.parse::<i64>().unwrap())
}

/// Diagnoses of a correlation in one cluster: head, message, help, objects, details and the numbers of the quoted lines.
pub(super) fn found(correlation: &Correlation, text: &str) -> String {
    found_in(correlation, &[text])
}

/// Diagnoses of a correlation in several clusters.
pub(super) fn found_in(correlation: &Correlation, texts: &[&str]) -> String {
    let histories: Vec<_> = texts.iter().map(|text| history(text)).collect();
    let mut found = Vec::new();
    (correlation.find)(&histories, &mut found);
    let mut text = String::new();
    for one in found {
        let (severity, confidence) = (one.severity.name(), format!("{:?}", one.confidence).to_lowercase());
        writeln!(text, "{severity} {confidence} x{}: {}", one.count, one.message).unwrap();
        writeln!(text, "  help: {}", one.help).unwrap();
        let objects: Vec<_> =
            one.objects.iter().map(|object| format!("{}/{}", object.kind, object.name)).collect();
        writeln!(text, "  objects: {}", objects.join(", ")).unwrap();
        if !one.details.is_empty() {
            writeln!(text, "  details: {}", one.details.join(", ")).unwrap();
        }
        let lines: Vec<_> = one
            .evidence
            .iter()
            .map(|quote| match texts.len() {
                1 => quote.at.line.to_string(),
                _ => format!("{}:{}", quote.cluster.index(), quote.at.line),
            })
            .collect();
        writeln!(text, "  lines: {}", lines.join(", ")).unwrap();
    }
    text
}

/// `severity confidence` of each diagnosis of a correlation; empty without one.
pub(super) fn verdict(correlation: &Correlation, text: &str) -> String {
    let all = found(correlation, text);
    let heads = all.lines().filter(|line| !line.starts_with("  ")).filter_map(|line| line.split(" x").next());
    heads.collect::<Vec<_>>().join(", ")
}
