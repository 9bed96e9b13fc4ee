//! Objects of the API → entries for events and conditions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::conditions::{TERMINATED, condition_entry, emit_event, is_new};
use super::controller::is_controller;
use super::entry::{At, Condition, Entry, EntryObject, EntryOrigin, Fields, LogFileId, LogLevel, Time};
use manifest::tree::Node;
use objects::object::Object;

/// Kinds whose conditions become entries.
const WITH_CONDITIONS: [&str; 5] = ["NodeClaim", "NodePool", "EC2NodeClass", "Pod", "Node"];

/// Emits an event, or the conditions of another object.
pub(super) fn read(object: Object<'_>, file: LogFileId, emit: &mut dyn FnMut(&Entry<'_>)) {
    if object.kind() == "Event" && matches!(object.group(), "" | "events.k8s.io") {
        emit_event(&event(object, file), emit);
    } else if WITH_CONDITIONS.contains(&object.kind()) {
        conditions(object, file, emit);
        if object.kind() == "Pod" {
            terminations(object, file, emit);
        }
    }
}

/// Location of the start of a node.
pub(super) fn at(node: Node<'_>, file: LogFileId) -> At {
    At { file, line: node.source().position(node.span().start).line }
}

/// An event of `v1`, or of `events.k8s.io/v1`, which renames the fields and keeps the old ones as `deprecated…`.
fn event(object: Object<'_>, file: LogFileId) -> Entry<'_> {
    let text = |paths: &[&[&str]]| {
        paths.iter().find_map(|path| object.str_at(path).filter(|text| !text.is_empty())).unwrap_or_default()
    };
    let about = |field: &str| text(&[&["involvedObject", field], &["regarding", field]]);
    let subject = EntryObject {
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
        origin: EntryOrigin::Event,
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

fn conditions(object: Object<'_>, file: LogFileId, emit: &mut dyn FnMut(&Entry<'_>)) {
    let Some(conditions) = object.at(&["status", "conditions"]) else { return };
    for node in conditions.items() {
        let text = |key: &str| node.str_at(&[key]).unwrap_or_default();
        let subject = EntryObject {
            kind: Cow::Borrowed(object.kind()),
            namespace: Cow::Borrowed(object.namespace()),
            name: Cow::Borrowed(object.name()),
        };
        let condition = Condition { kind: text("type").into(), status: text("status").into() };
        if condition.kind.is_empty() {
            continue;
        }
        let since = Time::parse(text("lastTransitionTime"));
        if is_new(&subject.kind, &condition, since, Time::parse(text("lastHeartbeatTime"))) {
            continue;
        }
        let entry = condition_entry(subject, condition, text("reason"), text("message"), at(node, file));
        emit(&Entry { time: since, ..entry });
    }
}

/// Emits why the controller of Karpenter was terminated, but not its sidecars: `status.containerStatuses[*].lastState.terminated`,
/// or `state` of a container that has not restarted. Source: `ContainerStateTerminated` in
/// staging/src/k8s.io/api/core/v1/types.go of kubernetes/kubernetes at v1.33.0.
fn terminations(object: Object<'_>, file: LogFileId, emit: &mut dyn FnMut(&Entry<'_>)) {
    let controllers = controllers(object);
    for container in object.at(&["status", "containerStatuses"]).into_iter().flat_map(Node::items) {
        let name = container.str_at(&["name"]).unwrap_or_default();
        let image = container.str_at(&["image"]).unwrap_or_default();
        if !controllers.contains(name) && !is_controller(name, image, is_in_chart(object)) {
            continue;
        }
        for state in ["lastState", "state"] {
            let Some(ended) = container.at_path(&[state, "terminated"]) else { continue };
            let reason = ended.str_at(&["reason"]).unwrap_or_default();
            let restarts = container.get("restartCount").and_then(Node::as_int).unwrap_or_default();
            let subject = EntryObject {
                kind: Cow::Borrowed(object.kind()),
                namespace: Cow::Borrowed(object.namespace()),
                name: Cow::Borrowed(object.name()),
            };
            let condition = Condition { kind: TERMINATED.into(), status: "".into() };
            let text = format!(
                "Pod/{}: container `{name}` terminated ({reason}), {restarts} restarts",
                object.name()
            );
            let entry = condition_entry(subject, condition, reason, "", at(ended, file));
            let time = ended.str_at(&["finishedAt"]).and_then(Time::parse);
            emit(&Entry { text: text.into(), time, ..entry });
        }
    }
}

/// Names of the containers in the specification of a pod that run the controller.
fn controllers(object: Object<'_>) -> BTreeSet<&str> {
    let containers = object.at(&["spec", "containers"]).into_iter().flat_map(Node::items);
    containers
        .filter(|container| is_controller("", container.str_at(&["image"]).unwrap_or_default(), false))
        .filter_map(|container| container.str_at(&["name"]))
        .collect()
}

/// Whether a pod has the label of the chart.
/// Source: charts/karpenter/templates/_helpers.tpl of aws/karpenter-provider-aws at v1.0.0 and v1.14.0.
fn is_in_chart(object: Object<'_>) -> bool {
    object.str_at(&["metadata", "labels", "app.kubernetes.io/name"]) == Some("karpenter")
}
