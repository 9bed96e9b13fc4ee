//! Tables of `kubectl get events` and `kubectl events`, and the events of a description.

use super::columns::Columns;
use crate::entry::Time;

/// Names of the columns. `LAST SEEN` and `FIRST SEEN` are two words.
const COLUMNS: [&str; 17] = [
    "NAMESPACE",
    "LAST SEEN",
    "FIRST SEEN",
    "COUNT",
    "NAME",
    "KIND",
    "TYPE",
    "REASON",
    "OBJECT",
    "SUBOBJECT",
    "SOURCE",
    "MESSAGE",
    "Type",
    "Reason",
    "Age",
    "From",
    "Message",
];

/// The cells of an event.
#[derive(Debug, Default)]
pub(super) struct Cells<'a> {
    pub(super) namespace: &'a str,
    pub(super) kind: &'a str,
    pub(super) reason: &'a str,
    pub(super) object: &'a str,
    pub(super) from: &'a str,
    pub(super) message: &'a str,
    pub(super) seen: Occurrence,
}

/// Times and count of an event: `2m (x5 over 10m)` is the last time, the count and the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurrence {
    pub(super) last: Option<Time>,
    pub(super) first: Option<Time>,
    pub(super) count: Option<u64>,
}

impl Occurrence {
    /// Reads a word. Returns whether it belongs to the times.
    fn take(&mut self, word: &str) -> bool {
        let bare = word.trim_end_matches(')');
        if let Some(times) = bare.strip_prefix("(x") {
            self.count = times.parse().ok();
        } else if let Some(age) = Time::of_age(bare) {
            let slot = if self.last.is_none() { &mut self.last } else { &mut self.first };
            *slot = Some(age);
        } else {
            return matches!(bare, "over" | "<unknown>" | "<invalid>");
        }
        true
    }

    fn read(text: &str) -> Self {
        let mut seen = Self::default();
        for word in text.split_ascii_whitespace() {
            seen.take(word);
        }
        seen
    }
}

/// Reads a header.
pub(super) fn header(text: &str) -> Option<Columns> {
    let is_header = (text.contains("REASON") && text.contains("MESSAGE") && text.contains("TYPE"))
        || (text.starts_with(' ')
            && text.trim_start().starts_with("Type")
            && text.contains("Reason")
            && text.contains("Message"));
    if is_header { Columns::read(text, &COLUMNS) } else { None }
}

/// Reads a row below a header.
pub(super) fn cells<'a>(text: &'a str, columns: &Columns) -> Option<Cells<'a>> {
    // kubectl before 1.17 had a separate column for the kind of an object.
    if columns.len() < 4 || columns.has("KIND") {
        return None;
    }
    let mut cells = Cells::default();
    for (column, cell) in columns.cells(text)? {
        match column {
            "NAMESPACE" => cells.namespace = cell,
            "TYPE" | "Type" => cells.kind = cell,
            "REASON" | "Reason" => cells.reason = cell,
            "OBJECT" => cells.object = cell,
            "SOURCE" | "From" => cells.from = cell.split_once(',').map_or(cell, |(source, _)| source),
            "MESSAGE" | "Message" => cells.message = cell,
            "COUNT" => cells.seen.count = cell.parse().ok(),
            "FIRST SEEN" => cells.seen.first = Time::of_age(cell),
            "LAST SEEN" | "Age" => cells.seen = Occurrence::read(cell),
            _ => {}
        }
    }
    matches!(cells.kind, "Normal" | "Warning").then_some(cells).filter(|cells| !cells.reason.contains(' '))
}

/// Reads a row word by word, if there is no header or the row does not fit it: `5m32s  Warning  FailedScheduling
/// pod/a  message`, or `Warning  FailedScheduling  5m32s (x3 over 1h)  karpenter  message`.
pub(super) fn words(text: &str) -> Option<Cells<'_>> {
    let mut rest = text.trim_start();
    let mut cells = Cells::default();
    let mut before = 0;
    let mut is_row = false;
    loop {
        let (word, after) = next_word(rest)?;
        rest = after;
        if matches!(word, "Normal" | "Warning") {
            cells.kind = word;
            break;
        }
        if cells.seen.take(word) {
            is_row = true;
        } else if before == 0 {
            cells.namespace = word;
        }
        before += 1;
        if before > 6 {
            return None;
        }
    }
    let (reason, after) = next_word(rest)?;
    if !reason.starts_with(|first: char| first.is_ascii_uppercase())
        || !reason.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return None;
    }
    cells.reason = reason;
    let mut rest = after;
    if before > 0 {
        let (object, after) = next_word(rest).filter(|(object, _)| object.contains('/'))?;
        cells.object = object;
        cells.message = after.trim_start();
        return is_row.then_some(cells);
    }
    // The order of `describe`.
    let (age, after) = next_word(rest)?;
    if !cells.seen.take(age) {
        return None;
    }
    rest = after;
    while let Some((word, after)) = next_word(rest) {
        rest = after;
        if !cells.seen.take(word) {
            cells.from = word.trim_end_matches(',');
            break;
        }
    }
    cells.message = rest.trim_start();
    Some(cells)
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}
