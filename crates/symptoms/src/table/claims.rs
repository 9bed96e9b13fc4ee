//! The table of `kubectl get nodeclaims`.

use super::columns::Columns;
use crate::conditions::condition_entry;
use crate::entry::{At, Condition, Entry, EntryObject, Time};

/// Names of the columns, including `-o wide` and `-A`. Source: the print columns in pkg/apis/v1/nodeclaim.go of
/// kubernetes-sigs/karpenter at v1.0.0 to v1.14.0.
const COLUMNS: [&str; 13] = [
    "NAMESPACE",
    "NAME",
    "TYPE",
    "CAPACITY",
    "ZONE",
    "NODE",
    "READY",
    "AGE",
    "IMAGEID",
    "ID",
    "NODEPOOL",
    "NODECLASS",
    "DRIFTED",
];

/// Reads the header of such a table.
pub(super) fn header(text: &str) -> Option<Columns> {
    Columns::read(text, &COLUMNS).filter(|columns| {
        ["NAME", "TYPE", "ZONE", "NODE", "READY", "AGE"].iter().all(|name| columns.has(name))
    })
}

/// Emits the condition `Ready` of a row, at the time at which the table was printed. The other columns become fields.
pub(super) fn row(text: &str, columns: &Columns, at: At, emit: &mut dyn FnMut(&Entry<'_>)) -> bool {
    let Some(cells) = columns.cells(text) else { return false };
    let cell = |name: &str| cells.iter().find(|(other, _)| *other == name).map_or("", |(_, cell)| *cell);
    let (name, ready) = (cell("NAME"), cell("READY"));
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    let is_row = Time::of_age(cell("AGE")).is_some() && matches!(ready, "" | "True" | "False" | "Unknown");
    if !is_row || name.is_empty() {
        return false;
    }
    let subject = EntryObject { kind: "NodeClaim".into(), namespace: "".into(), name: name.into() };
    let ready = if ready.is_empty() { "Unknown" } else { ready };
    let condition = Condition { kind: "Ready".into(), status: ready.into() };
    let mut entry = condition_entry(subject, condition, "", "", at);
    entry.text = text.trim().into();
    entry.time = Some(Time::printed());
    let filled = cells.iter().filter(|(_, cell)| !cell.is_empty());
    entry.fields.0 = filled
        .map(|(name, cell)| ((*name).into(), serde_json::Value::from(*cell).to_string().into()))
        .collect();
    emit(&entry);
    true
}
