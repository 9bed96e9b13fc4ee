//! Entries: log lines, events and conditions in one shape.

pub use answers::report::LogLevel;
use std::borrow::Cow;

use ids::{Id, ids};
use rule::settings::ObjectName;

pub use super::time::Time;

/// A log line, an event or a condition.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The kind of source.
    pub origin: EntryOrigin,
    /// The location in the input.
    pub at: At,
    /// The line, or the condition or event in one line, to be quoted as evidence.
    pub text: Cow<'a, str>,
    /// The time; for a repeated event or condition the last one.
    pub time: Option<Time>,
    /// The first time of a repeated event.
    pub first: Option<Time>,
    /// The level of a line; `Warn` for an event of type Warning.
    pub level: LogLevel,
    /// The controller, such as `nodeclaim.lifecycle`, or the reporter of an event.
    pub controller: Cow<'a, str>,
    /// The pod in the prefix of the line (`kubectl logs --prefix`, stern); may be empty.
    pub pod: Cow<'a, str>,
    /// The message of a line, an event or a condition.
    pub message: Cow<'a, str>,
    /// The error of a line; may be empty.
    pub error: Cow<'a, str>,
    /// The reason of an event or a condition; empty for a line.
    pub reason: Cow<'a, str>,
    /// Type and status of a condition; empty for other entries.
    pub condition: Condition<'a>,
    /// The object of an event or a condition, or the reconciled object of a line.
    pub object: EntryObject<'a>,
    /// The other fields of a line.
    pub fields: Fields<'a>,
    /// The count of an event, otherwise 1.
    pub count: u64,
}

impl Entry<'_> {
    /// Whether it is an event of Karpenter's, or the condition in such an event, about an object of unknown kind and name. The
    /// events of a description have no column for the object, and people often paste only this table.
    pub fn is_of_unknown_object(&self) -> bool {
        let is_event = matches!(self.origin, EntryOrigin::Event | EntryOrigin::Condition);
        is_event
            && self.controller == "karpenter"
            && self.object.name.is_empty()
            && self.object.kind.is_empty()
    }
}

/// Kind of source of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOrigin {
    /// A line of the controller's log.
    Log,
    /// A line without structure. It may still contain a known text.
    Text,
    /// A Kubernetes event: an object or a row of a table.
    Event,
    /// A condition in an object's status.
    Condition,
}

ids! {
    /// File of a cluster that a reading reads.
    pub LogFileId;
}

impl Default for LogFileId {
    fn default() -> Self {
        Self::from_position(0)
    }
}

/// Location of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The file.
    pub file: LogFileId,
    /// The line, from 1.
    pub line: usize,
}

/// A condition's type and status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition<'a> {
    /// The type, such as `Registered`.
    pub kind: Cow<'a, str>,
    /// The status: `True`, `False` or `Unknown`.
    pub status: Cow<'a, str>,
}

/// The object of an entry; empty if it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryObject<'a> {
    /// The kind, such as `NodeClaim`.
    pub kind: Cow<'a, str>,
    /// Its namespace.
    pub namespace: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
}

impl EntryObject<'_> {
    /// The names by which exceptions of the settings find the object.
    pub fn names(&self) -> ObjectName<'_> {
        ObjectName { kind: &self.kind, namespace: &self.namespace, name: &self.name }
    }

    /// Returns an owned copy.
    pub fn into_owned(self) -> EntryObject<'static> {
        EntryObject {
            kind: Cow::Owned(self.kind.into_owned()),
            namespace: Cow::Owned(self.namespace.into_owned()),
            name: Cow::Owned(self.name.into_owned()),
        }
    }
}

/// The fields of a line, in order. Values are raw JSON.
#[derive(Clone, Debug, Default)]
pub struct Fields<'a>(pub Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl Fields<'_> {
    /// Returns the raw JSON of a field.
    pub fn raw(&self, key: &str) -> Option<&str> {
        // Keys of the same length mostly differ in the last letter.
        let last = key.as_bytes().last();
        let is_key = |name: &str| name.len() == key.len() && name.as_bytes().last() == last && name == key;
        self.0.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value.as_ref())
    }

    /// Returns the text of a field: a string, or a number or boolean as written.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        let raw = self.raw(key)?;
        match raw.as_bytes().first()? {
            b'"' => string(raw),
            b'{' | b'[' | b'n' => None,
            _ => Some(Cow::Borrowed(raw)),
        }
    }

    /// Returns the name of the object in a field: `"NodeClaim":{"name":"default-x"}`, or `"nodeclaim":"default-x"`.
    pub fn name(&self, key: &str) -> Option<Cow<'_, str>> {
        #[derive(serde::Deserialize)]
        struct Reference {
            name: String,
        }
        let raw = self.raw(key)?;
        match raw.as_bytes().first()? {
            b'{' => match only_name(raw) {
                Some(name) => Some(Cow::Borrowed(name)),
                None => serde_json::from_str::<Reference>(raw).ok().map(|object| object.name.into()),
            },
            b'"' => string(raw),
            _ => None,
        }
    }
}

/// Text of a JSON string, borrowed if it has no escapes.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inner| is_plain(inner)) {
        Some(inner) => Some(Cow::Borrowed(inner)),
        None => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

/// Name of an object without other members, `{"name":"default-x"}`: the most frequent form.
pub(super) fn only_name(raw: &str) -> Option<&str> {
    raw.strip_prefix("{\"name\":\"")?.strip_suffix("\"}").filter(|inner| is_plain(inner))
}

/// Whether a JSON string contains the text without escapes.
fn is_plain(text: &str) -> bool {
    // `count` instead of `any`: without an early exit the loop is vectorised.
    text.bytes().filter(|byte| *byte < b' ' || *byte == b'"' || *byte == b'\\').count() == 0
}
