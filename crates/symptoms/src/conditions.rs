//! Entries for conditions, which objects, descriptions and events carry.

use super::entry::{At, Condition, Entry, EntryObject, EntryOrigin, Fields, LogLevel, Time};

/// Type of the entry for a container that was terminated. Kubernetes has no condition of this type.
pub(super) const TERMINATED: &str = "ContainerTerminated";

/// Entry for a condition, with a text of one line.
pub(super) fn condition_entry<'e>(
    object: EntryObject<'e>,
    condition: Condition<'e>,
    reason: &'e str,
    message: &'e str,
    at: At,
) -> Entry<'e> {
    let mut text = format!("{}/{}: {}={}", object.kind, object.name, condition.kind, condition.status);
    if !reason.is_empty() {
        text = format!("{text} ({reason})");
    }
    if !message.is_empty() {
        text = format!("{text}: {message}");
    }
    Entry {
        origin: EntryOrigin::Condition,
        at,
        text: text.into(),
        time: None,
        first: None,
        level: LogLevel::Info,
        controller: "".into(),
        pod: "".into(),
        message: message.into(),
        error: "".into(),
        reason: reason.into(),
        condition,
        object,
        fields: Fields::default(),
        count: 1,
    }
}

/// Emits an event, and the condition that it reports, if it reports one:
/// `Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: X, Message: Y`
/// (awslabs/operatorpkg events/controller.go).
pub(super) fn emit_event(event: &Entry<'_>, emit: &mut dyn FnMut(&Entry<'_>)) {
    emit(event);
    let Some(rest) = event.message.strip_prefix("Status condition transitioned, Type: ") else { return };
    let Some((kind, rest)) = rest.split_once(", Status: ") else { return };
    let (statuses, rest) = rest.split_once(", Reason: ").unwrap_or((rest, ""));
    let (reason, message) = rest.split_once(", Message: ").unwrap_or((rest, ""));
    let status = statuses.rsplit_once(" -> ").map_or(statuses, |(_, status)| status);
    let condition = Condition { kind: kind.into(), status: status.trim_end_matches(',').into() };
    let entry = condition_entry(event.object.clone(), condition, reason, message, event.at);
    emit(&Entry {
        text: event.text.clone(),
        time: event.time,
        first: event.first,
        controller: event.controller.clone(),
        count: event.count,
        ..entry
    });
}

/// Whether the condition `Ready` of a Node has just changed: a node that has joined starts its network first. Without changes
/// the kubelet reports every five minutes (`nodeStatusReportFrequency`).
pub(super) fn is_new(
    kind: &str,
    condition: &Condition,
    since: Option<Time>,
    heartbeat: Option<Time>,
) -> bool {
    const NEW: i64 = 4 * 60_000;
    let lasted = heartbeat.zip(since).and_then(|(heartbeat, since)| heartbeat.since(since));
    // The node controller writes `Unknown` if the kubelet reports nothing (pkg/controller/nodelifecycle/node_lifecycle_controller.go
    // of kubernetes/kubernetes), and the last heartbeat of a dead kubelet comes before other changes.
    let is_reported = kind == "Node" && condition.kind == "Ready" && condition.status != "Unknown";
    is_reported && lasted.is_some_and(|lasted| (0..NEW).contains(&lasted))
}
