//! One thing that was said: a line of a log, an event, a condition of a status.

use std::borrow::Cow;

use lint::settings::ObjectName;
use std::fmt;

/// What one line of a log, one event or one condition says.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// What kind of source says it.
    pub origin: Origin,
    /// Where it stands.
    pub at: At,
    /// The line itself, or the condition or event in one line: what is quoted as evidence.
    pub text: Cow<'a, str>,
    /// When it was said; for an event or condition that repeats, the last time.
    pub time: Option<Time>,
    /// When an event that repeats was said first.
    pub first: Option<Time>,
    /// The level of a line; `Warn` for an event of type Warning.
    pub level: Level,
    /// The controller that says it, such as `nodeclaim.lifecycle`; an event's reporter.
    pub controller: Cow<'a, str>,
    /// The pod that a prefix of the line names (`kubectl logs --prefix`, stern); empty where none does.
    pub pod: Cow<'a, str>,
    /// The message of a line, an event or a condition.
    pub message: Cow<'a, str>,
    /// The error of a line; empty where it has none.
    pub error: Cow<'a, str>,
    /// The reason of an event or a condition; empty for a line.
    pub reason: Cow<'a, str>,
    /// A condition's type and status; empty for what is none.
    pub condition: Condition<'a>,
    /// What it is about: an event's or a condition's object, a line's reconciled object.
    pub object: Subject<'a>,
    /// The fields of a line beyond those above.
    pub fields: Fields<'a>,
    /// How often it was said: an event's count, otherwise 1.
    pub count: u64,
}

/// What kind of source says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of the controller's log.
    Log,
    /// A line without structure, which may hold words that tell something all the same.
    Text,
    /// A Kubernetes event: an object or a row of a table.
    Event,
    /// A condition in an object's status.
    Condition,
}

/// The place of a line: which file of its cluster, and which line, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The position of the file among those of its cluster.
    pub file: usize,
    /// The line, from 1.
    pub line: usize,
}

/// The level of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `DEBUG`: written only where the log level says so.
    Debug,
    /// `INFO`, a Normal event, a condition.
    #[default]
    Info,
    /// `WARN`, a Warning event.
    Warn,
    /// `ERROR`.
    Error,
    /// `PANIC`, `FATAL`.
    Panic,
}

/// Milliseconds since 1970 in UTC. What a table tells by its age only comes after everything that is dated, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

/// A condition's type and status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition<'a> {
    /// Such as `Registered`.
    pub kind: Cow<'a, str>,
    /// `True`, `False` or `Unknown`.
    pub status: Cow<'a, str>,
}

/// The object that something is about; empty where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject<'a> {
    /// Such as `NodeClaim`.
    pub kind: Cow<'a, str>,
    /// Its namespace.
    pub namespace: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
}

impl Subject<'_> {
    /// The names by which exceptions of the settings find the object.
    pub fn names(&self) -> ObjectName<'_> {
        ObjectName { kind: &self.kind, namespace: &self.namespace, name: &self.name }
    }

    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Subject<'static> {
        Subject {
            kind: Cow::Owned(self.kind.into_owned()),
            namespace: Cow::Owned(self.namespace.into_owned()),
            name: Cow::Owned(self.name.into_owned()),
        }
    }
}

/// The fields of a line, in order. A value stays JSON until somebody asks for it.
#[derive(Clone, Debug, Default)]
pub struct Fields<'a>(pub Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl Fields<'_> {
    /// The JSON of a field.
    pub fn raw(&self, key: &str) -> Option<&str> {
        // A key of the same length mostly ends in another letter.
        let last = key.as_bytes().last();
        let is_key = |name: &str| name.len() == key.len() && name.as_bytes().last() == last && name == key;
        self.0.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value.as_ref())
    }

    /// A field that holds a string; a number or a truth value as it is written.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        let raw = self.raw(key)?;
        match raw.as_bytes().first()? {
            b'"' => string(raw),
            b'{' | b'[' | b'n' => None,
            _ => Some(Cow::Borrowed(raw)),
        }
    }

    /// The name of the object that a field holds: `"NodeClaim":{"name":"default-x"}`, or `"nodeclaim":"default-x"`.
    pub fn name(&self, key: &str) -> Option<Cow<'_, str>> {
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
        }
        let raw = self.raw(key)?;
        match raw.as_bytes().first()? {
            b'{' => match only_name(raw) {
                Some(name) => Some(Cow::Borrowed(name)),
                None => serde_json::from_str::<Named>(raw).ok().map(|named| named.name.into()),
            },
            b'"' => string(raw),
            _ => None,
        }
    }
}

/// The text of a JSON string, borrowed where it stands there letter by letter.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inner| is_plain(inner)) {
        Some(inner) => Some(Cow::Borrowed(inner)),
        None => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

/// The name that an object holds and nothing else: `{"name":"default-x"}`, which most do.
pub(super) fn only_name(raw: &str) -> Option<&str> {
    raw.strip_prefix("{\"name\":\"")?.strip_suffix("\"}").filter(|inner| is_plain(inner))
}

/// Whether a text stands in a JSON string as it is.
fn is_plain(text: &str) -> bool {
    // Counted, without a way out early, so that many bytes are looked at in one go.
    text.bytes().filter(|byte| *byte < b' ' || *byte == b'"' || *byte == b'\\').count() == 0
}

impl fmt::Display for Time {
    /// RFC 3339 with seconds, in UTC: `2026-03-31T18:04:55Z`; `150s ago` where only the age is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_age() {
            return write!(f, "{}s ago", (Self::printed().0 - self.0) / 1000);
        }
        let seconds = self.0.div_euclid(1000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // The civil date of a day count, by eras of 400 years that begin on the first of March.
        let shifted = days + 719_468;
        let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let date = of_year - (153 * month + 2) / 5 + 1;
        let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = year + era * 400 + carry;
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
    }
}
