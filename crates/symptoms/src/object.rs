//! Objects of the API → entries for events and conditions.

use std::borrow::Cow;

use super::conditions::{condition_entry, emit_event, is_new};
use super::entry::{At, Condition, Entry, Fields, LogLevel, Origin, Subject, Time};
use manifest::tree::Node;
use objects::object::Object;

/// Kinds whose conditions become entries.
const WITH_CONDITIONS: [&str; 5] = ["NodeClaim", "NodePool", "EC2NodeClass", "Pod", "Node"];

/// Emits an event, or the conditions of another object.
pub(super) fn read(object: Object<'_>, file: usize, emit: &mut dyn FnMut(&Entry<'_>)) {
    if object.kind() == "Event" && matches!(object.group(), "" | "events.k8s.io") {
        emit_event(&event(object, file), emit);
    } else if WITH_CONDITIONS.contains(&object.kind()) {
        conditions(object, file, emit);
    }
}

/// Location of the start of a node.
pub(super) fn at(node: Node<'_>, file: usize) -> At {
    At { file, line: node.source().position(node.span().start).line }
}

/// An event of `v1`, or of `events.k8s.io/v1`, which renames the fields and keeps the old ones as `deprecated…`.
fn event(object: Object<'_>, file: usize) -> Entry<'_> {
    let text = |paths: &[&[&str]]| {
        paths.iter().find_map(|path| object.str_at(path).filter(|text| !text.is_empty())).unwrap_or_default()
    };
    let about = |field: &str| text(&[&["involvedObject", field], &["regarding", field]]);
    let subject = Subject {
        kind: about("kind").into(),
        namespace: about("namespace").into(),
        name: about("name").into(),
    };
    let last: [&[&str]; 6] = [
        &["series", "lastObservedTime"],
        &["lastTimestamp"],
        &["deprecatedLastTimestamp"],
        &["eventTime"],
        &["firstTimestamp"],
        &["metadata", "creationTimestamp"],
    ];
    let time = |paths: &[&[&str]]| paths.iter().find_map(|path| object.str_at(path).and_then(Time::parse));
    let counts: [&[&str]; 3] = [&["series", "count"], &["count"], &["deprecatedCount"]];
    let count = counts.iter().find_map(|path| object.at(path).and_then(Node::as_int)).unwrap_or(1);
    let (kind, reason) = (text(&[&["type"]]), text(&[&["reason"]]));
    let message = text(&[&["message"], &["note"]]);
    let kind = if kind.is_empty() { "Normal" } else { kind };
    Entry {
        origin: Origin::Event,
        at: at(object.root(), file),
        text: format!("{kind} {reason} {}/{}: {message}", subject.kind, subject.name).into(),
        time: time(&last),
        first: time(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"], &["eventTime"]]),
        level: if kind == "Warning" { LogLevel::Warn } else { LogLevel::Info },
        controller: text(&[
            &["source", "component"],
            &["reportingComponent"],
            &["reportingController"],
            &["deprecatedSource", "component"],
        ])
        .into(),
        pod: "".into(),
        message: message.into(),
        error: "".into(),
        reason: reason.into(),
        condition: Condition::default(),
        object: subject,
        fields: Fields::default(),
        count: u64::try_from(count).unwrap_or(1).max(1),
    }
}

fn conditions(object: Object<'_>, file: usize, emit: &mut dyn FnMut(&Entry<'_>)) {
    let Some(conditions) = object.at(&["status", "conditions"]) else { return };
    for node in conditions.items() {
        let text = |key: &str| node.str_at(&[key]).unwrap_or_default();
        let subject = Subject {
            kind: Cow::Borrowed(object.kind()),
            namespace: Cow::Borrowed(object.namespace()),
            name: Cow::Borrowed(object.name()),
        };
        let condition = Condition { kind: text("type").into(), status: text("status").into() };
        if condition.kind.is_empty() {
            continue;
        }
        let since = Time::parse(text("lastTransitionTime"));
        if is_new(&subject.kind, &condition.kind, since, Time::parse(text("lastHeartbeatTime"))) {
            continue;
        }
        let entry = condition_entry(subject, condition, text("reason"), text("message"), at(node, file));
        emit(&Entry { time: since, ..entry });
    }
}
