//! Tables and descriptions that kubectl prints → entries.
//!
//! `kubectl get events` and `kubectl events` print `LAST SEEN  TYPE  REASON  OBJECT  MESSAGE`, with other columns between
//! them for `-A` or `-o wide`; `kubectl describe` ends with `Type  Reason  Age  From  Message` below
//! `Events:`. An age counts from the time at which the table was printed. Source: kubernetes/kubernetes
//! pkg/printers/internalversion/printers.go and staging/src/k8s.io/kubectl/pkg/describe/describe.go at v1.33.0.

mod columns;
mod described;
mod events;
mod objects;
mod pods;

use std::borrow::Cow;

use super::conditions::emit_event;
use super::entry::{At, Condition, Entry, EntryObject, EntryOrigin, Fields, LogLevel};
use columns::Columns;
use described::DescribedObject;
use objects::ObjectTable;

/// The context of the next line: the columns of a table, the object of a description.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The columns of a table of events; empty without a header.
    columns: Columns,
    /// The table of NodeClaims, NodePools, node classes or Nodes.
    objects: Option<ObjectTable>,
    described: Option<DescribedObject>,
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// It is an entry.
    Entry,
    /// A header, or a part of a description.
    Part,
    /// Neither.
    Other,
}

impl Table {
    /// Reads a line and emits its entries.
    pub(super) fn line(&mut self, text: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) -> RowKind {
        let text = text.trim_end();
        if let Some(columns) = events::header(text) {
            (self.columns, self.objects) = (columns, None);
            return RowKind::Part;
        }
        if let Some(table) = ObjectTable::begins(text) {
            (self.objects, self.described) = (Some(table), None);
            return RowKind::Part;
        }
        if self.objects.as_ref().is_some_and(|table| table.row(text, at, emit)) {
            return RowKind::Entry;
        }
        if let Some(described) = DescribedObject::begins(text) {
            *self = Self { described: Some(described), ..Self::default() };
            return RowKind::Part;
        }
        if self.described.as_mut().is_some_and(|described| described.line(text, at, emit)) {
            return RowKind::Part;
        }
        if pods::row(text, at, emit) {
            return RowKind::Entry;
        }
        let cells = events::cells(text, &self.columns).or_else(|| events::words(text));
        let Some(cells) = cells else {
            let is_rule = text.trim_start().starts_with("----");
            return if is_rule && self.described.is_some() { RowKind::Part } else { RowKind::Other };
        };
        let object = match cells.object.split_once('/') {
            Some((kind, name)) => {
                EntryObject { kind: kind_of(kind), namespace: cells.namespace.into(), name: name.into() }
            }
            None => self.described.as_ref().map(DescribedObject::subject).unwrap_or_default(),
        };
        let entry = Entry {
            origin: EntryOrigin::Event,
            at,
            text: text.trim_start().into(),
            time: cells.seen.last,
            first: cells.seen.first,
            level: if cells.kind == "Warning" { LogLevel::Warn } else { LogLevel::Info },
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
        emit_event(&entry, emit);
        RowKind::Entry
    }

    /// Forgets the context.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

/// The kind in the spelling of objects: tables have lower case.
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
    // Some kinds come as resource names with a group: `nodeclaim.karpenter.sh/default-x`.
    let short = kind.split('.').next().unwrap_or(kind);
    KINDS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(short))
        .map_or(Cow::Borrowed(kind), |known| Cow::Borrowed(*known))
}
