//! Log lines → entries, whatever program wrapped the line.
//!
//! The controller writes JSON by zap (pkg/operator/logging/logging.go at v1.0.2 to v1.14.0): `level`, `time`, `logger`,
//! `caller` at DEBUG only, `message`, `commit`, the fields of the reconciliation, the fields of the message, then `error`.
//! Other encoders come from wrappers and from releases before 1.0.

mod object;
mod prefix;

use std::borrow::Cow;

use super::entry::{At, Condition, Entry, EntryObject, EntryOrigin, Fields, LogLevel, Time};
use manifest::source::certain;
pub(crate) use object::each_key;
use object::{Broken, JsonLine, object, unlogged, words};
use prefix::{Prefix, bare, before};

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A log line.
    Entry,
    /// A log line whose start or end is missing.
    Truncated,
    /// A continuation of the line before: part of a stack trace.
    GoesOn,
    /// Text without structure.
    Text,
    /// An empty line.
    Blank,
    /// A line with a day but no year. It waits for a line with a year.
    Undated,
    /// The first line of a Go panic or fatal error. It waits for its goroutine dump.
    Crash,
}

/// The year for lines without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Year {
    /// Not known yet.
    #[default]
    Open,
    /// From the time of a nearby line.
    Near(Time),
    /// Unknown, because the file has no line with a year.
    Unknown,
}

/// Depth of nested wrappers that are opened.
const DEEPEST: usize = 3;

/// Number of opening brackets in a line that are tried as the start of an object.
const MAX_TRIES: usize = 8;

/// Reads a line and emits its entry.
pub(super) fn read(line: &str, at: At, year: Year, emit: &mut dyn FnMut(&Entry<'_>)) -> LineKind {
    let mut reader = LineReader { line, at, year, frame: None, emit };
    reader.within(line, Prefix::default(), 0)
}

/// Emits the entry of a line for which [`read`] returns [`LineKind::Crash`]. `frame` is the function that panicked; empty if
/// the dump does not show it.
pub(super) fn read_crash(line: &str, at: At, frame: &str, emit: &mut dyn FnMut(&Entry<'_>)) {
    let mut reader = LineReader { line, at, year: Year::Unknown, frame: Some(frame), emit };
    reader.within(line, Prefix::default(), 0);
}

struct LineReader<'l, 's> {
    /// The whole line, to be quoted.
    line: &'l str,
    at: At,
    year: Year,
    /// The function that panicked, once the goroutine dump was read.
    frame: Option<&'l str>,
    emit: &'s mut dyn FnMut(&Entry<'_>),
}

impl<'l> LineReader<'l, '_> {
    fn within(&mut self, text: &str, prefix: Prefix<'_>, depth: usize) -> LineKind {
        let text = text.trim_end_matches(['\r', '\n']);
        if text.starts_with('{') {
            match object(text) {
                Ok(object) => {
                    if let Some(kind) = self.object(object, prefix, depth) {
                        return kind;
                    }
                }
                Err(Broken::Ends) => return LineKind::Truncated,
                Err(Broken::Other) => {}
            }
        }
        if text.contains('\u{1b}') {
            let plain = without_colour(text);
            return self.prefixed(&plain, prefix, depth);
        }
        self.prefixed(text, prefix, depth)
    }

    fn prefixed(&mut self, text: &str, prefix: Prefix<'_>, depth: usize) -> LineKind {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return LineKind::Blank;
        }
        if self.console(text, prefix) {
            return LineKind::Entry;
        }
        let mut ends_early = false;
        for (at, _) in text.match_indices('{').take(MAX_TRIES) {
            let (before, rest) = certain(text.split_at_checked(at));
            if !matches!(rest.as_bytes().get(1), Some(b'"' | b' ')) {
                continue;
            }
            match object(rest) {
                Ok(object) => {
                    if let Some(kind) = self.object(object, prefix.before(before), depth) {
                        return kind;
                    }
                }
                Err(broken) => ends_early |= broken == Broken::Ends,
            }
        }
        if ends_early {
            return LineKind::Truncated;
        }
        if let Some(kind) = self.klog(text, prefix) {
            return kind;
        }
        let bare = bare(text);
        if bare.trim().is_empty() {
            return LineKind::Blank;
        }
        if let Some(message) = bare.strip_prefix("panic: ").or_else(|| bare.strip_prefix("fatal error: ")) {
            let Some(frame) = self.frame else { return LineKind::Crash };
            let prefix = prefix.before(before(text, bare));
            let quoted =
                if frame.is_empty() { self.line.to_owned() } else { format!("{} … {frame}", self.line) };
            let entry = Entry {
                text: quoted.into(),
                message: message.into(),
                error: frame.into(),
                level: LogLevel::Panic,
                ..self.entry(prefix)
            };
            self.emit(&entry);
            return LineKind::Entry;
        }
        if is_stack(bare) {
            return LineKind::GoesOn;
        }
        // The rest of a line whose start was cut off.
        if text.ends_with('}') && text.contains("\":") {
            return LineKind::Truncated;
        }
        let prefix = prefix.before(before(text, bare));
        let entry = Entry { origin: EntryOrigin::Text, message: bare.into(), ..self.entry(prefix) };
        self.emit(&entry);
        LineKind::Text
    }

    fn emit(&mut self, entry: &Entry<'_>) {
        (self.emit)(entry);
    }

    /// Emits the entry of an object; `None` if it is no log line and wraps none.
    fn object(&mut self, object: JsonLine<'_>, prefix: Prefix<'_>, depth: usize) -> Option<LineKind> {
        let pod = if prefix.pod.is_empty() { object.pod() } else { Cow::Borrowed(prefix.pod) };
        let prefix = Prefix { pod: &pod, time: object.time().or(prefix.time) };
        let message = words(object.message);
        if let Some(raw) = object.attributes.filter(|raw| raw.starts_with('{') && object.level.is_none())
            && depth < DEEPEST
        {
            if object.message.is_none() {
                return Some(self.within(raw, prefix, depth + 1));
            }
            if !message.starts_with('{')
                && let Some(whole) = object.reassembled()
            {
                return self.object(whole, prefix, depth + 1);
            }
        }
        if (object.level.is_none() || message.starts_with('{'))
            && depth < DEEPEST
            && let Some(wrapped) = object.wrapped()
        {
            return Some(match self.within(&wrapped, prefix, depth + 1) {
                LineKind::Blank => LineKind::Text,
                kind => kind,
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
        self.emit(&Entry { fields: object.fields, ..entry });
        Some(LineKind::Entry)
    }

    /// The console encoder: `time<TAB>LEVEL<TAB>logger<TAB>[caller<TAB>]message<TAB>{json}`. A terminal turns tabs into spaces.
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
        // After spaces, any first word of a message would look like a logger.
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
        self.emit(&Entry { fields: object.fields, ..entry });
        true
    }

    /// klog: `I0423 18:04:55.123456       1 leaderelection.go:250] attempting to acquire leader lease`. It has no year: a nearby
    /// line gives it.
    fn klog(&mut self, text: &str, prefix: Prefix<'_>) -> Option<LineKind> {
        let mut at = 0;
        for word in text.split(' ').take(8) {
            let rest = certain(text.get(at..));
            at += word.len() + 1;
            let Some(level) = klog_level(word) else { continue };
            let Some((head, message)) = rest.split_once("] ") else { continue };
            if !head.contains(".go:") {
                continue;
            }
            let before = certain(text.get(..at - word.len() - 1));
            let prefix = prefix.before(before);
            let (date, clock) = (word.get(1..).unwrap_or_default(), head.split_ascii_whitespace().nth(1));
            let near = |other| Time::nearest(date, clock.unwrap_or_default(), other);
            let time = match self.year {
                _ if prefix.time.is_some() => prefix.time,
                Year::Open if near(Time(0)).is_some() => return Some(LineKind::Undated),
                Year::Near(other) => near(other),
                Year::Open | Year::Unknown => None,
            };
            // Structured: the message in quotes, then pairs.
            let quoted = message.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            let (message, pairs) = quoted.unwrap_or((message, ""));
            let error = pairs.split_once("err=\"").and_then(|(_, rest)| rest.split_once('"'));
            let error = error.map_or("", |(error, _)| error);
            let entry =
                Entry { level, message: message.into(), error: error.into(), time, ..self.entry(prefix) };
            self.emit(&entry);
            return Some(LineKind::Entry);
        }
        None
    }

    /// An entry without a message.
    fn entry<'e>(&self, prefix: Prefix<'e>) -> Entry<'e>
    where
        'l: 'e,
    {
        Entry {
            origin: EntryOrigin::Log,
            at: self.at,
            text: Cow::Borrowed(self.line),
            time: prefix.time,
            first: None,
            level: LogLevel::Info,
            controller: "".into(),
            pod: prefix.pod.into(),
            message: "".into(),
            error: "".into(),
            reason: "".into(),
            condition: Condition::default(),
            object: EntryObject::default(),
            fields: Fields::default(),
            count: 1,
        }
    }
}

fn level(name: &str) -> Option<LogLevel> {
    const NAMES: [(&str, LogLevel); 12] = [
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("warning", LogLevel::Warn),
        ("panic", LogLevel::Panic),
        ("dpanic", LogLevel::Panic),
        ("fatal", LogLevel::Panic),
        ("critical", LogLevel::Panic),
        ("trace", LogLevel::Debug),
        ("notice", LogLevel::Info),
        ("err", LogLevel::Error),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, level)| *level)
}

fn klog_level(word: &str) -> Option<LogLevel> {
    let (letter, date) = word.split_at_checked(1)?;
    if date.len() != 4 || !date.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match letter {
        "I" => Some(LogLevel::Info),
        "W" => Some(LogLevel::Warn),
        "E" => Some(LogLevel::Error),
        "F" => Some(LogLevel::Panic),
        _ => None,
    }
}

/// The text before the level, the level, and the text after it. A time comes before the level.
fn console_head(text: &str) -> Option<(&str, LogLevel, &str)> {
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
            let rest = certain(text.get(start + word.len()..));
            return Some((text.get(..start)?, level, rest));
        }
        before = Some(word);
    }
    None
}

/// Whether a line is part of a Go stack trace: `goroutine 1 [running]:`, a call, or the source line of one.
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

/// Removes the escape sequences for terminal colours.
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
