//! Tables and descriptions that kubectl prints → what they say.
//!
//! `kubectl get events` and `kubectl events` print `LAST SEEN  TYPE  REASON  OBJECT  MESSAGE`, with other columns between
//! them where `-A` or `-o wide` asks for them; `kubectl describe` ends with `Type  Reason  Age  From  Message` below
//! `Events:`. An age counts from when the table was printed. Source: kubernetes/kubernetes
//! pkg/printers/internalversion/printers.go and staging/src/k8s.io/kubectl/pkg/describe/describe.go at v1.33.0.

mod claims;
mod columns;
mod described;
mod events;

use std::borrow::Cow;

use super::entry::{At, Condition, Entry, Fields, Level, Origin, Subject, Time};
use columns::Columns;
use described::Described;

/// What is known of the lines above: the columns of a table, the object that is described.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The columns of a table of events; none where no header was seen.
    columns: Columns,
    /// The columns of a table of NodeClaims.
    claims: Option<Columns>,
    described: Option<Described>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// It says something.
    Entry,
    /// A header, or a part of a description.
    Part,
    /// Neither.
    Other,
}

impl Table {
    /// Reads a line and hands on what it says.
    pub(super) fn line(&mut self, text: &str, at: At, say: &mut dyn FnMut(&Entry<'_>)) -> Row {
        let text = text.trim_end();
        if let Some(columns) = events::header(text) {
            (self.columns, self.claims) = (columns, None);
            return Row::Part;
        }
        if let Some(columns) = claims::header(text) {
            (self.claims, self.described) = (Some(columns), None);
            return Row::Part;
        }
        if self.claims.as_ref().is_some_and(|columns| claims::row(text, columns, at, say)) {
            return Row::Entry;
        }
        if let Some(described) = Described::begins(text) {
            *self = Self { described: Some(described), ..Self::default() };
            return Row::Part;
        }
        if self.described.as_mut().is_some_and(|described| described.line(text, at, say)) {
            return Row::Part;
        }
        let cells = events::cells(text, &self.columns).or_else(|| events::words(text));
        let Some(cells) = cells else {
            let is_rule = text.trim_start().starts_with("----");
            return if is_rule && self.described.is_some() { Row::Part } else { Row::Other };
        };
        let object = match cells.object.split_once('/') {
            Some((kind, name)) => {
                Subject { kind: kind_of(kind), namespace: cells.namespace.into(), name: name.into() }
            }
            None => self.described.as_ref().map(Described::subject).unwrap_or_default(),
        };
        let entry = Entry {
            origin: Origin::Event,
            at,
            text: text.trim_start().into(),
            time: cells.seen.last,
            first: cells.seen.first,
            level: if cells.kind == "Warning" { Level::Warn } else { Level::Info },
            controller: cells.from.into(),
            pod: "".into(),
            message: cells.message.into(),
            error: "".into(),
            reason: cells.reason.into(),
            condition: Condition::default(),
            object,
            fields: Fields::default(),
            count: cells.seen.count.unwrap_or(1),
        };
        hand_on(&entry, say);
        Row::Entry
    }

    /// What came above has nothing to do with what comes now.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

/// An entry for a condition, quoted in one line.
pub(super) fn condition_entry<'e>(
    object: Subject<'e>,
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
        origin: Origin::Condition,
        at,
        text: text.into(),
        time: None,
        first: None,
        level: Level::Info,
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

/// Hands on an event, and the condition that it tells of, where it is about one:
/// `Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: X, Message: Y`
/// (awslabs/operatorpkg events/controller.go).
pub(super) fn hand_on(event: &Entry<'_>, say: &mut dyn FnMut(&Entry<'_>)) {
    say(event);
    let Some(rest) = event.message.strip_prefix("Status condition transitioned, Type: ") else { return };
    let Some((kind, rest)) = rest.split_once(", Status: ") else { return };
    let (statuses, rest) = rest.split_once(", Reason: ").unwrap_or((rest, ""));
    let (reason, message) = rest.split_once(", Message: ").unwrap_or((rest, ""));
    let status = statuses.rsplit(" -> ").next().unwrap_or_default();
    let condition = Condition { kind: kind.into(), status: status.trim_end_matches(',').into() };
    let entry = condition_entry(event.object.clone(), condition, reason, message, event.at);
    say(&Entry {
        text: event.text.clone(),
        time: event.time,
        first: event.first,
        count: event.count,
        ..entry
    });
}

/// The kind as objects spell it: the table has it in small letters.
fn kind_of(kind: &str) -> Cow<'_, str> {
    const KINDS: [&str; 16] = [
        "Pod",
        "Node",
        "NodeClaim",
        "NodePool",
        "EC2NodeClass",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StatefulSet",
        "Deployment",
        "ReplicaSet",
        "DaemonSet",
        "Job",
        "Service",
        "Lease",
        "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
    ];
    // The resource's name with its group stands for some: `nodeclaim.karpenter.sh/default-x`.
    let short = kind.split('.').next().unwrap_or(kind);
    KINDS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(short))
        .map_or(Cow::Borrowed(kind), |known| Cow::Borrowed(*known))
}
