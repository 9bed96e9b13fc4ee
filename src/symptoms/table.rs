//! Tables and descriptions that kubectl prints → what they say.
//!
//! `kubectl get events` and `kubectl events` print `LAST SEEN  TYPE  REASON  OBJECT  MESSAGE`, with other columns between
//! them where `-A` or `-o wide` asks for them; `kubectl describe` ends with `Type  Reason  Age  From  Message` below
//! `Events:`. Source: kubernetes/kubernetes pkg/printers/internalversion/printers.go and
//! staging/src/k8s.io/kubectl/pkg/describe/describe.go at v1.33.0.

use std::borrow::Cow;

use super::entry::{At, Condition, Entry, Fields, Level, Origin, Subject, Time};

/// What is known of the lines above: the columns of a table, the object that is described.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Where columns start, with their names; empty where no header was seen.
    columns: Vec<(usize, &'static str)>,
    described: Option<Described>,
}

/// The object of `kubectl describe`.
#[derive(Debug, Default)]
struct Described {
    name: String,
    namespace: String,
    kind: String,
    /// The heading in which the lines stand, such as `Events:`.
    section: Section,
    /// The fields of a condition until its `Type:`, which comes last.
    condition: [String; 3],
    /// Since when it is as it is.
    since: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Events,
    Conditions,
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

/// The names of columns. `LAST SEEN` and `FIRST SEEN` are two words.
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

impl Table {
    /// Reads a line and hands on what it says.
    pub(super) fn line(&mut self, text: &str, at: At, say: &mut dyn FnMut(&Entry<'_>)) -> Row {
        let text = text.trim_end();
        if let Some(columns) = header(text) {
            self.columns = columns;
            return Row::Part;
        }
        if self.describe(text, at, say) {
            return Row::Part;
        }
        let cells = cells(text, &self.columns).or_else(|| words(text));
        let Some(cells) = cells else {
            let is_rule = text.trim_start().starts_with("----");
            return if is_rule && self.described.is_some() { Row::Part } else { Row::Other };
        };
        let object = match cells.object.split_once('/') {
            Some((kind, name)) => {
                Subject { kind: kind_of(kind), namespace: cells.namespace.into(), name: name.into() }
            }
            None => self.subject(),
        };
        let entry = Entry {
            origin: Origin::Event,
            at,
            text: text.trim_start().into(),
            time: None,
            level: if cells.kind == "Warning" { Level::Warn } else { Level::Info },
            controller: cells.from.into(),
            pod: "".into(),
            message: cells.message.into(),
            error: "".into(),
            reason: cells.reason.into(),
            condition: Condition::default(),
            object,
            fields: Fields::default(),
            count: cells.count,
        };
        hand_on(&entry, say);
        Row::Entry
    }

    /// What came above has nothing to do with what comes now.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    fn subject(&self) -> Subject<'_> {
        self.described.as_ref().map_or_else(Subject::default, |described| Subject {
            kind: described.kind.as_str().into(),
            namespace: described.namespace.as_str().into(),
            name: described.name.as_str().into(),
        })
    }

    /// A line of `kubectl describe` outside its events.
    fn describe(&mut self, text: &str, at: At, say: &mut dyn FnMut(&Entry<'_>)) -> bool {
        let (key, value) = text.split_once(':').unwrap_or_default();
        let value = value.trim();
        let aligned = text.len() > key.len() + 1
            && text.get(key.len() + 1..).is_some_and(|rest| rest.starts_with("  "));
        if key == "Name" && aligned {
            self.columns.clear();
            self.described = Some(Described { name: value.to_owned(), ..Described::default() });
            return true;
        }
        let Some(described) = &mut self.described else { return false };
        let is_top = key.starts_with(|first: char| first.is_ascii_uppercase());
        match key.trim_start() {
            "Namespace" if is_top => value.clone_into(&mut described.namespace),
            "Kind" if is_top => value.clone_into(&mut described.kind),
            // Descriptions of built-in kinds do not name the kind.
            "Node" if is_top && described.kind.is_empty() => "Pod".clone_into(&mut described.kind),
            "Roles" if is_top => "Node".clone_into(&mut described.kind),
            "Events" if is_top => {
                described.section = Section::Events;
                return true;
            }
            "Conditions" => {
                described.section = Section::Conditions;
                return true;
            }
            _ if is_top && !key.contains(' ') => described.section = Section::Other,
            _ => {}
        }
        match described.section {
            Section::Events => text.trim().is_empty(),
            Section::Other => is_top || text.starts_with(' ') || text.is_empty(),
            Section::Conditions => {
                let [reason, message, status] = &mut described.condition;
                match key.trim() {
                    "Reason" => value.clone_into(reason),
                    "Message" => value.clone_into(message),
                    "Status" => value.clone_into(status),
                    "Last Transition Time" => described.since = Time::parse(value),
                    // The keys of a custom resource are sorted.
                    "Type" => {
                        let [reason, message, status] = std::mem::take(&mut described.condition);
                        let time = described.since.take();
                        let subject = self.subject();
                        let condition = Condition { kind: value.into(), status: status.as_str().into() };
                        let entry = condition_entry(subject, condition, &reason, &message, at);
                        say(&Entry { time, ..entry });
                    }
                    _ => {}
                }
                is_top || text.starts_with(' ') || text.is_empty()
            }
        }
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
    say(&Entry { text: event.text.clone(), time: event.time, count: event.count, ..entry });
}

/// The cells of an event.
#[derive(Debug, Default)]
struct Cells<'a> {
    namespace: &'a str,
    kind: &'a str,
    reason: &'a str,
    object: &'a str,
    from: &'a str,
    message: &'a str,
    count: u64,
}

/// Where the columns of a header start.
fn header(text: &str) -> Option<Vec<(usize, &'static str)>> {
    let is_header = (text.contains("REASON") && text.contains("MESSAGE") && text.contains("TYPE"))
        || (text.starts_with(' ')
            && text.trim_start().starts_with("Type")
            && text.contains("Reason")
            && text.contains("Message"));
    if !is_header {
        return None;
    }
    let mut columns = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let name = COLUMNS.iter().filter(|name| rest.starts_with(**name)).max_by_key(|name| name.len())?;
        columns.push((at + space, *name));
        at += space + name.len();
    }
    Some(columns)
}

/// The cells of a row that stands in the columns of its header.
fn cells<'a>(text: &'a str, columns: &[(usize, &'static str)]) -> Option<Cells<'a>> {
    if columns.len() < 4 {
        return None;
    }
    let mut cells = Cells { count: 1, ..Cells::default() };
    let mut kind = "";
    let mut name = "";
    for (index, (start, column)) in columns.iter().enumerate() {
        let end = columns.get(index + 1).map_or(text.len(), |(next, _)| *next);
        let end = if *column == "MESSAGE" && index + 1 == columns.len() { text.len() } else { end };
        let is_last = index + 1 == columns.len();
        // The columns of a row stand below those of the header, with a space between them.
        if *start > 0 && text.as_bytes().get(start - 1).is_some_and(|byte| *byte != b' ') {
            return None;
        }
        let cell = text.get(*start..if is_last { text.len() } else { end.min(text.len()) })?.trim();
        match *column {
            "NAMESPACE" => cells.namespace = cell,
            "TYPE" | "Type" => cells.kind = cell,
            "REASON" | "Reason" => cells.reason = cell,
            "OBJECT" => cells.object = cell,
            "KIND" => kind = cell,
            "NAME" => name = cell,
            "SOURCE" | "From" => cells.from = cell.split(',').next().unwrap_or_default(),
            "MESSAGE" | "Message" => cells.message = cell,
            "COUNT" => cells.count = cell.parse().unwrap_or(cells.count),
            "LAST SEEN" | "Age" => cells.count = repeated(cell).unwrap_or(cells.count),
            _ => {}
        }
    }
    if cells.object.is_empty() && !kind.is_empty() && !name.is_empty() {
        // kubectl before 1.17 had the two in columns of their own.
        return None;
    }
    matches!(cells.kind, "Normal" | "Warning").then_some(cells).filter(|cells| !cells.reason.contains(' '))
}

/// The cells of a row by its words, where there is no header, or not over these columns: `5m32s  Warning  FailedScheduling
/// pod/a  message`, or `Warning  FailedScheduling  5m32s (x3 over 1h)  karpenter  message`.
fn words(text: &str) -> Option<Cells<'_>> {
    let mut rest = text.trim_start();
    let mut count = 1;
    let mut before = Vec::new();
    let kind = loop {
        let (word, after) = next_word(rest)?;
        rest = after;
        if matches!(word, "Normal" | "Warning") {
            break word;
        }
        count = word.strip_prefix("(x").and_then(|times| times.parse().ok()).unwrap_or(count);
        before.push(word);
        if before.len() > 6 {
            return None;
        }
    };
    let has_age = before.iter().any(|word| is_age(word));
    let (reason, after) = next_word(rest)?;
    if !reason.starts_with(|first: char| first.is_ascii_uppercase())
        || !reason.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return None;
    }
    let namespace = before.first().filter(|word| !is_age(word)).copied().unwrap_or_default();
    if has_age {
        let (object, message) = next_word(after)?;
        let message = message.trim_start();
        return object.contains('/').then_some(Cells {
            namespace,
            kind,
            reason,
            object,
            from: "",
            message,
            count,
        });
    }
    if !before.is_empty() {
        return None;
    }
    // The order of `describe`.
    let (age, mut after) = next_word(after).filter(|(word, _)| is_age(word))?;
    let _ = age;
    let mut from = "";
    while let Some((word, rest)) = next_word(after) {
        after = rest;
        if let Some(times) = word.strip_prefix("(x") {
            count = times.trim_end_matches(')').parse().unwrap_or(count);
        } else if !(word == "over" || is_age(word.trim_end_matches(')'))) {
            from = word.trim_end_matches(',');
            break;
        }
    }
    Some(Cells { namespace: "", kind, reason, object: "", from, message: after.trim_start(), count })
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}

/// `5m32s`, `3d`, `<unknown>`.
fn is_age(word: &str) -> bool {
    word == "<unknown>"
        || (word.starts_with(|first: char| first.is_ascii_digit())
            && word.ends_with(|last: char| "smhdy".contains(last))
            && word.bytes().all(|byte| byte.is_ascii_digit() || b"smhdy".contains(&byte)))
}

/// The count in `3m (x12 over 1h)`.
fn repeated(age: &str) -> Option<u64> {
    let (_, rest) = age.split_once("(x")?;
    rest.split([' ', ')']).next()?.parse().ok()
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
