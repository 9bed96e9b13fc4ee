//! One line of a log → what it says, in whatever it was wrapped on its way here.
//!
//! The controller writes JSON by zap (pkg/operator/logging/logging.go at v1.0.2 to v1.14.0): `level`, `time`, `logger`,
//! `caller` at DEBUG only, `message`, `commit`, then what is said of the reconciliation and of the message, then `error`.
//! Other encoders come from wrappers and from releases before 1.0.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::entry::{At, Condition, Entry, Fields, Level, Origin, Subject, Time};

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A line of a log.
    Entry,
    /// A line of a log whose start or end is missing.
    Truncated,
    /// It goes on with what the line before says: a stack.
    GoesOn,
    /// Text without structure.
    Text,
    /// Nothing at all.
    Blank,
}

/// Wrappers within wrappers that are opened.
const DEEPEST: usize = 3;

/// Places in a line at which an object may start that are tried.
const TRIES: usize = 8;

/// Reads a line and hands on what it says.
pub(super) fn read(line: &str, at: At, say: &mut dyn FnMut(&Entry<'_>)) -> Told {
    let mut reader = Reader { line, at, say };
    reader.within(line, Prefix::default(), 0)
}

/// What stands before a line, or around it.
#[derive(Clone, Copy, Debug, Default)]
struct Prefix<'a> {
    pod: &'a str,
    time: Option<Time>,
}

struct Reader<'l, 's> {
    /// The whole line, which is what is quoted.
    line: &'l str,
    at: At,
    say: &'s mut dyn FnMut(&Entry<'_>),
}

impl<'l> Reader<'l, '_> {
    fn within(&mut self, text: &str, prefix: Prefix<'_>, depth: usize) -> Told {
        let text = text.trim_end_matches(['\r', '\n']);
        if text.starts_with('{') {
            match object(text) {
                Ok(object) => {
                    if let Some(told) = self.object(object, prefix, depth) {
                        return told;
                    }
                }
                Err(error) if error.is_eof() => return Told::Truncated,
                Err(_) => {}
            }
        }
        if text.contains('\u{1b}') {
            let plain = without_colour(text);
            return self.prefixed(&plain, prefix, depth);
        }
        self.prefixed(text, prefix, depth)
    }

    fn prefixed(&mut self, text: &str, prefix: Prefix<'_>, depth: usize) -> Told {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Told::Blank;
        }
        if self.console(text, prefix) {
            return Told::Entry;
        }
        let mut ends_early = false;
        for (at, _) in text.match_indices('{').take(TRIES) {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            if !matches!(rest.as_bytes().get(1), Some(b'"' | b' ')) {
                continue;
            }
            match object(rest) {
                Ok(object) => {
                    if let Some(told) = self.object(object, prefix.before(before), depth) {
                        return told;
                    }
                }
                Err(error) => ends_early |= error.is_eof(),
            }
        }
        if ends_early {
            return Told::Truncated;
        }
        if self.klog(text, prefix) {
            return Told::Entry;
        }
        let bare = bare(text);
        if let Some(message) = bare.strip_prefix("panic: ").or_else(|| bare.strip_prefix("fatal error: ")) {
            let prefix = prefix.before(before(text, bare));
            let entry = Entry { message: message.into(), level: Level::Panic, ..self.entry(prefix) };
            self.say(&entry);
            return Told::Entry;
        }
        if is_stack(bare) {
            return Told::GoesOn;
        }
        // What is left of a line whose start was cut off.
        if text.ends_with('}') && text.contains("\":") {
            return Told::Truncated;
        }
        let prefix = prefix.before(before(text, bare));
        let entry = Entry { origin: Origin::Text, message: bare.into(), ..self.entry(prefix) };
        self.say(&entry);
        Told::Text
    }

    fn say(&mut self, entry: &Entry<'_>) {
        (self.say)(entry);
    }

    /// Hands on what an object says; `None` where it is no line of a log, and wraps none.
    fn object(&mut self, object: Object<'_>, prefix: Prefix<'_>, depth: usize) -> Option<Told> {
        let pod = if prefix.pod.is_empty() { object.pod() } else { Cow::Borrowed(prefix.pod) };
        let prefix = Prefix { pod: &pod, time: object.time().or(prefix.time) };
        let message = words(object.message);
        if (object.level.is_none() || message.starts_with('{'))
            && depth < DEEPEST
            && let Some(wrapped) = object.wrapped()
        {
            return Some(match self.within(&wrapped, prefix, depth + 1) {
                Told::Blank => Told::Text,
                told => told,
            });
        }
        let has_words = object.message.is_some() || object.error.is_some();
        if !has_words || (object.level.is_none() && object.time.is_none() && object.logger.is_none()) {
            return None;
        }
        let entry = Entry {
            level: object.level.and_then(|raw| level(&words(Some(raw)))).unwrap_or_default(),
            controller: object.controller(),
            message,
            error: words(object.error),
            object: object.subject(),
            ..self.entry(prefix)
        };
        self.say(&Entry { fields: object.fields, ..entry });
        Some(Told::Entry)
    }

    /// The console encoder: `time<TAB>LEVEL<TAB>logger<TAB>[caller<TAB>]message<TAB>{json}`. A terminal makes spaces of tabs.
    fn console(&mut self, text: &str, prefix: Prefix<'_>) -> bool {
        let Some((before, level, mut rest)) = console_head(text) else { return false };
        let tabs = rest.starts_with('\t');
        rest = rest.trim_start();
        let mut next = |is: &dyn Fn(&str) -> bool| {
            let end = if tabs { rest.find('\t') } else { rest.find([' ', '\t']) };
            let (word, after) = rest.split_at_checked(end?)?;
            is(word).then(|| {
                rest = after.trim_start();
                word
            })
        };
        let is_name =
            |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        // Where a terminal made spaces of tabs, any first word of a message would look like a logger.
        let logger =
            next(&|word| is_name(word) && (tabs || word.starts_with("controller") || word == "webhook"));
        let _caller = next(&|word| word.contains(".go:"));
        let json = rest.find("\t{\"").or_else(|| rest.find(" {\""));
        let (message, json) = json.and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        let object = object(json.trim_start()).unwrap_or_default();
        let known = logger.map(unlogged).filter(|name| !name.is_empty());
        let entry = Entry {
            level,
            controller: known.map_or_else(|| object.controller(), Cow::Borrowed),
            message: message.trim_end().into(),
            error: words(object.error),
            object: object.subject(),
            ..self.entry(prefix.before(before))
        };
        self.say(&Entry { fields: object.fields, ..entry });
        true
    }

    /// klog: `I0423 18:04:55.123456       1 leaderelection.go:250] attempting to acquire leader lease`. It tells no year.
    fn klog(&mut self, text: &str, prefix: Prefix<'_>) -> bool {
        let mut at = 0;
        for word in text.split(' ').take(8) {
            let rest = text.get(at..).unwrap_or_default();
            at += word.len() + 1;
            let Some(level) = klog_level(word) else { continue };
            let Some((head, message)) = rest.split_once("] ") else { continue };
            if !head.contains(".go:") {
                continue;
            }
            let before = text.get(..at - word.len() - 1).unwrap_or_default();
            // Structured: the message in quotes, then pairs.
            let quoted = message.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            let (message, pairs) = quoted.unwrap_or((message, ""));
            let error = pairs.split_once("err=\"").and_then(|(_, rest)| rest.split_once('"'));
            let error = error.map_or("", |(error, _)| error);
            let entry = Entry {
                level,
                message: message.into(),
                error: error.into(),
                ..self.entry(prefix.before(before))
            };
            self.say(&entry);
            return true;
        }
        false
    }

    /// An entry that says nothing yet.
    fn entry<'e>(&self, prefix: Prefix<'e>) -> Entry<'e>
    where
        'l: 'e,
    {
        Entry {
            origin: Origin::Log,
            at: self.at,
            text: Cow::Borrowed(self.line),
            time: prefix.time,
            level: Level::Info,
            controller: "".into(),
            pod: prefix.pod.into(),
            message: "".into(),
            error: "".into(),
            reason: "".into(),
            condition: Condition::default(),
            object: Subject::default(),
            fields: Fields::default(),
            count: 1,
        }
    }
}

/// The fields of a JSON line, those that are asked for by name apart from the others.
#[derive(Debug, Default)]
struct Object<'a> {
    level: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
    logger: Option<&'a RawValue>,
    controller: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    namespace: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    /// What a collector of logs puts the line under.
    inside: Option<&'a RawValue>,
    /// What a collector says of the pod.
    kubernetes: Option<&'a RawValue>,
    /// The first of the kinds below that a field is named after, and the field.
    about: Option<(&'static str, &'a RawValue)>,
    fields: Fields<'a>,
}

/// The kinds after which fields are named, the one first that a line is about where it names several.
const KINDS: [&str; 5] = ["Pod", "NodeClaim", "Node", "NodePool", "EC2NodeClass"];

/// Reads the object that a text starts with.
fn object(text: &str) -> Result<Object<'_>, serde_json::Error> {
    Object::deserialize(&mut serde_json::Deserializer::from_str(text))
}

impl<'a> Object<'a> {
    fn time(&self) -> Option<Time> {
        let raw = self.time?;
        match raw.get().parse::<f64>() {
            Ok(number) => Time::since_1970(number),
            Err(_) => Time::parse(&words(Some(raw))),
        }
    }

    /// `controller`, or what older releases have in the logger's name: `controller.provisioner`.
    fn controller(&self) -> Cow<'a, str> {
        if self.controller.is_some() {
            return words(self.controller);
        }
        match words(self.logger) {
            Cow::Borrowed(logger) => Cow::Borrowed(unlogged(logger)),
            Cow::Owned(logger) => Cow::Owned(unlogged(&logger).to_owned()),
        }
    }

    /// The reconciled object; of a line that reconciles none the object that it names.
    fn subject(&self) -> Subject<'a> {
        let name = words(self.name);
        if self.kind.is_some() && !name.is_empty() {
            return Subject { kind: words(self.kind), namespace: words(self.namespace), name };
        }
        let Some((kind, raw)) = self.about else { return Subject::default() };
        let named = serde_json::from_str::<Named<'_>>(raw.get()).unwrap_or_default();
        if named.name.0.is_empty() {
            return Subject::default();
        }
        Subject { kind: kind.into(), namespace: named.namespace.0, name: named.name.0 }
    }

    /// The line that this one wraps, where it does.
    fn wrapped(&self) -> Option<Cow<'a, str>> {
        let raw = self.inside.or(self.message)?;
        if raw.get().starts_with('{') {
            return Some(Cow::Borrowed(raw.get()));
        }
        raw.get().starts_with('"').then(|| words(Some(raw)))
    }

    /// `"kubernetes":{"pod_name":"karpenter-x"}`, as Fluent Bit has it, or `{"pod":{"name":"karpenter-x"}}`, as Filebeat.
    fn pod(&self) -> Cow<'a, str> {
        #[derive(serde::Deserialize, Default)]
        struct Kubernetes<'k> {
            #[serde(borrow, default)]
            pod_name: Words<'k>,
            #[serde(borrow, default)]
            pod: Named<'k>,
        }
        let Some(raw) = self.kubernetes else { return Cow::default() };
        let known = serde_json::from_str::<Kubernetes<'_>>(raw.get()).unwrap_or_default();
        if known.pod_name.0.is_empty() { known.pod.name.0 } else { known.pod_name.0 }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object { fields: Fields(Vec::with_capacity(16)), ..Object::default() };
                while let Some(Words(key)) = map.next_key::<Words<'de>>()? {
                    let value: &'de RawValue = map.next_value()?;
                    object.take(key, value);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'a> Object<'a> {
    fn take(&mut self, key: Cow<'a, str>, value: &'a RawValue) {
        let place = match key.as_ref() {
            "level" | "severity" | "lvl" => &mut self.level,
            "time" | "ts" | "timestamp" | "@timestamp" => &mut self.time,
            "message" | "msg" => &mut self.message,
            "error" | "err" => &mut self.error,
            "controller" => &mut self.controller,
            "log" | "@message" | "line" | "log_processed" | "jsonPayload" | "textPayload" | "MESSAGE"
            | "_raw" => &mut self.inside,
            other => {
                match other {
                    "logger" => self.logger = Some(value),
                    "controllerKind" => self.kind = Some(value),
                    "namespace" => self.namespace = Some(value),
                    "name" => self.name = Some(value),
                    "kubernetes" => self.kubernetes = Some(value),
                    _ if other.starts_with(|first: char| first.is_ascii_uppercase()) => {
                        let rank = |kind: &str| KINDS.iter().position(|known| *known == kind);
                        let before = self.about.and_then(|(kind, _)| rank(kind)).unwrap_or(KINDS.len());
                        let kind = KINDS.iter().take(before).find(|kind| **kind == other);
                        self.about = kind.map(|kind| (*kind, value)).or(self.about);
                    }
                    _ => {}
                }
                self.fields.0.push((key, Cow::Borrowed(value)));
                return;
            }
        };
        *place = Some(value);
    }
}

/// A string that is borrowed where it stands there letter by letter; what is no string is empty.
#[derive(Debug, Default)]
struct Words<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Words<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'de>, E> {
                Ok(Words(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Words<'de>, E> {
                Ok(Words(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[derive(serde::Deserialize, Debug, Default)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Words<'a>,
    #[serde(borrow, default)]
    namespace: Words<'a>,
}

/// The text of a JSON string; of another value its JSON, of none and of null nothing.
fn words(raw: Option<&RawValue>) -> Cow<'_, str> {
    let Some(text) = raw.map(RawValue::get) else { return Cow::default() };
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(inner) => serde_json::from_str::<String>(text).map_or(Cow::Borrowed(inner), Cow::Owned),
        None if text == "null" => Cow::default(),
        None => Cow::Borrowed(text),
    }
}

/// The name of a logger without what all of them start with.
fn unlogged(logger: &str) -> &str {
    match logger.strip_prefix("controller") {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(logger),
        None => logger,
    }
}

fn level(name: &str) -> Option<Level> {
    const NAMES: [(&str, Level); 12] = [
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("error", Level::Error),
        ("warn", Level::Warn),
        ("warning", Level::Warn),
        ("panic", Level::Panic),
        ("dpanic", Level::Panic),
        ("fatal", Level::Panic),
        ("critical", Level::Panic),
        ("trace", Level::Debug),
        ("notice", Level::Info),
        ("err", Level::Error),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, level)| *level)
}

fn klog_level(word: &str) -> Option<Level> {
    let (letter, date) = word.split_at_checked(1)?;
    if date.len() != 4 || !date.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match letter {
        "I" => Some(Level::Info),
        "W" => Some(Level::Warn),
        "E" => Some(Level::Error),
        "F" => Some(Level::Panic),
        _ => None,
    }
}

/// What stands before the level, which follows a time, the level, and what stands after it.
fn console_head(text: &str) -> Option<(&str, Level, &str)> {
    let mut at = 0;
    let mut before: Option<&str> = None;
    for word in text.split([' ', '\t']).take(12) {
        let start = at;
        at += word.len() + 1;
        if word.is_empty() {
            continue;
        }
        // zap writes levels in capitals.
        let is_level = word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_level
            && before.is_some_and(|before| Time::parse(before).is_some())
            && let Some(level) = level(word)
        {
            let rest = text.get(start + word.len()..).unwrap_or_default();
            return Some((text.get(..start)?, level, rest));
        }
        before = Some(word);
    }
    None
}

/// Whether the program or a collector wrote it before each line, whatever the line says.
fn is_mark(word: &str) -> bool {
    matches!(word, "stdout" | "stderr" | "F" | "P") || Time::parse(word).is_some()
}

/// A line without the times, streams and `[pod/…]` before it.
fn bare(text: &str) -> &str {
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ') {
        if !(is_mark(word) || (word.starts_with("[pod/") && word.ends_with(']'))) {
            break;
        }
        rest = after;
    }
    rest
}

fn before<'t>(text: &'t str, bare: &str) -> &'t str {
    text.get(..text.len() - bare.len()).unwrap_or_default()
}

impl<'a> Prefix<'a> {
    /// The same with what a text before the line tells: `[pod/karpenter-x/controller]` of kubectl, `karpenter-x controller`
    /// of stern with the namespace before it where it is asked for all, a time, the stream of a container runtime.
    fn before(self, text: &'a str) -> Self {
        let mut found = self;
        let mut names: [&str; 3] = [""; 3];
        let mut count = 0;
        for word in text.split_ascii_whitespace().take(8) {
            if let Some(time) = Time::parse(word) {
                found.time = found.time.or(Some(time));
            } else if let Some(path) = word.strip_prefix("[pod/").and_then(|word| word.strip_suffix(']')) {
                found.pod = path.split('/').next().unwrap_or_default();
                return found;
            } else if !is_mark(word) {
                if let Some(name) = names.get_mut(count) {
                    *name = word;
                }
                count += 1;
            }
        }
        let pod = match (count, names) {
            (1 | 2, [pod, ..]) | (3, [_, pod, _]) => pod,
            _ => "",
        };
        let is_name = pod.contains('-')
            && pod
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
        if is_name && found.pod.is_empty() {
            found.pod = pod;
        }
        found
    }
}

/// A line of a Go stack: `goroutine 1 [running]:`, a call, the place of one.
fn is_stack(line: &str) -> bool {
    let is_call = || {
        let (name, rest) = line.split_once('(').unwrap_or_default();
        rest.ends_with(')') && name.contains('.') && !name.contains(' ')
    };
    line.starts_with("\t/")
        || line.starts_with("goroutine ")
        || line.starts_with("created by ")
        || line.starts_with("[signal ")
        || (line.starts_with('\t') && line.contains(".go:"))
        || is_call()
}

/// A text without the sequences by which terminals colour it.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            plain.push(char);
            continue;
        }
        // ECMA-48: `ESC [`, parameters, and a letter that ends it.
        if chars.next() == Some('[') {
            let _ = chars.find(|char| ('\u{40}'..='\u{7e}').contains(char));
        }
    }
    plain
}
