//! The table of `kubectl get nodeclaims`.

use super::columns::Columns;
use super::{At, Condition, Entry, Subject, Time, condition_entry};

/// The names of columns, those of `-o wide` and `-A` among them. Source: the print columns in pkg/apis/v1/nodeclaim.go of
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

/// The header of such a table.
pub(super) fn header(text: &str) -> Option<Columns> {
    Columns::read(text, &COLUMNS).filter(|columns| {
        ["NAME", "TYPE", "ZONE", "NODE", "READY", "AGE"].iter().all(|name| columns.has(name))
    })
}

/// Hands on what a row says: it is so when the table was printed. What stands in the other columns are fields.
pub(super) fn row(text: &str, columns: &Columns, at: At, say: &mut dyn FnMut(&Entry<'_>)) -> bool {
    let Some(cells) = columns.cells(text) else { return false };
    let cell = |name: &str| cells.iter().find(|(other, _)| *other == name).map_or("", |(_, cell)| *cell);
    let (name, ready) = (cell("NAME"), cell("READY"));
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    let is_row = Time::of_age(cell("AGE")).is_some() && matches!(ready, "" | "True" | "False" | "Unknown");
    if !is_row || name.is_empty() {
        return false;
    }
    let subject = Subject { kind: "NodeClaim".into(), namespace: "".into(), name: name.into() };
    let ready = if ready.is_empty() { "Unknown" } else { ready };
    let condition = Condition { kind: "Ready".into(), status: ready.into() };
    let mut entry = condition_entry(subject, condition, "", "", at);
    entry.text = text.trim().into();
    entry.time = Some(Time::printed());
    let told = cells.iter().filter(|(_, cell)| !cell.is_empty());
    entry.fields.0 = told
        .map(|(name, cell)| ((*name).into(), serde_json::Value::from(*cell).to_string().into()))
        .collect();
    say(&entry);
    true
}
