//! JSON lines → fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

use crate::entry::{EntryObject, Fields, Time, only_name};

/// Fields of a JSON line; the fields that are needed by name are separate.
#[derive(Debug, Default)]
pub(super) struct JsonLine<'a> {
    pub(super) level: Option<&'a str>,
    pub(super) time: Option<&'a str>,
    pub(super) logger: Option<&'a str>,
    controller: Option<&'a str>,
    pub(super) message: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    kind: Option<&'a str>,
    namespace: Option<&'a str>,
    name: Option<&'a str>,
    /// The field in which a log collector puts the line.
    inside: Option<&'a str>,
    /// The pod as a log collector describes it.
    kubernetes: Option<&'a str>,
    /// The members of the line that Datadog took apart.
    pub(super) attributes: Option<&'a str>,
    /// The first of the kinds below that a field is named after: its position and the field.
    about: Option<(usize, &'a str)>,
    pub(super) fields: Fields<'a>,
}

/// Kinds after which fields are named. If a line has several such fields, the first kind is its object.
const KINDS: [&str; 5] = ["Pod", "NodeClaim", "Node", "NodePool", "EC2NodeClass"];

/// Reason why a text is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The text ends too early.
    Ends,
    /// Another character is expected.
    Other,
}

/// Reads the object at the start of a text, and ignores the rest of the text.
///
/// Only the object's own members are separated. Their values stay raw JSON, and are scanned only to find their end. A general
/// parser takes three times as long.
pub(super) fn object(text: &str) -> Result<JsonLine<'_>, Broken> {
    let mut scanner = Scanner { text, at: 0 };
    let mut object = JsonLine { fields: Fields(Vec::with_capacity(16)), ..JsonLine::default() };
    scanner.expect(b'{')?;
    if scanner.next()? == b'}' {
        return Ok(object);
    }
    loop {
        if scanner.next()? != b'"' {
            return Err(Broken::Other);
        }
        let key = scanner.key()?;
        scanner.expect(b':')?;
        let value = scanner.value()?;
        object.take(key, value);
        match scanner.next()? {
            b',' => scanner.at += 1,
            b'}' => return Ok(object),
            _ => return Err(Broken::Other),
        }
    }
}

/// Calls a function with the name of each member of the object at the start of a text, until it returns false or the text ends.
/// Returns whether the text ends within the object.
pub(crate) fn each_key(text: &str, take: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut scanner = Scanner { text, at: 0 };
    each_key_of(&mut scanner, take) == Err(Broken::Ends)
}

fn each_key_of(scanner: &mut Scanner<'_>, take: &mut dyn FnMut(&str) -> bool) -> Result<(), Broken> {
    scanner.expect(b'{')?;
    while scanner.next()? == b'"' {
        let key = scanner.key()?;
        if !take(&key) {
            break;
        }
        scanner.expect(b':')?;
        scanner.value()?;
        match scanner.next()? {
            b',' => scanner.at += 1,
            _ => break,
        }
    }
    Ok(())
}

/// Position of the end of a string, or of its next escape. Most strings are short: comparing eight bytes at a time takes less
/// time than preparing `memchr`.
fn end_or_escape(bytes: &[u8]) -> Option<usize> {
    // Sets the highest bit of each matching byte. Bits after the first match may be wrong.
    let equal = |eight: u64, byte: u8| {
        let other = eight ^ (u64::from(byte) * 0x0101_0101_0101_0101);
        other.wrapping_sub(0x0101_0101_0101_0101) & !other & 0x8080_8080_8080_8080
    };
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, eight) in chunks.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = equal(eight, b'"') | equal(eight, b'\\');
        if found != 0 {
            return Some(index * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|at| chunks.len() * 8 + at)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn next(&mut self) -> Result<u8, Broken> {
        loop {
            match self.rest().first() {
                None => return Err(Broken::Ends),
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(byte) => return Ok(*byte),
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.next()? != byte {
            return Err(Broken::Other);
        }
        self.at += 1;
        Ok(())
    }

    fn since(&self, start: usize) -> Result<&'t str, Broken> {
        self.text.get(start..self.at).ok_or(Broken::Ends)
    }

    /// The name of a member. It rarely has an escape.
    fn key(&mut self) -> Result<Cow<'t, str>, Broken> {
        let start = self.at + 1;
        let found = end_or_escape(self.text.as_bytes().get(start..).unwrap_or_default());
        let end = start + found.ok_or(Broken::Ends)?;
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return self.text.get(start..end).map(Cow::Borrowed).ok_or(Broken::Ends);
        }
        self.string().map(|raw| words(Some(raw)))
    }

    /// A string with its quotes, from the opening quote on.
    #[inline]
    fn string(&mut self) -> Result<&'t str, Broken> {
        let start = self.at;
        self.at += 1;
        loop {
            let found = end_or_escape(self.rest()).ok_or(Broken::Ends)?;
            let is_end = self.rest().get(found) == Some(&b'"');
            self.at += found + if is_end { 1 } else { 2 };
            if is_end {
                return self.since(start);
            }
        }
    }

    fn value(&mut self) -> Result<&'t str, Broken> {
        match self.next()? {
            b'"' => self.string(),
            b'{' | b'[' => self.nested(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let start = self.at;
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                self.at += self.rest().iter().take_while(is_part).count();
                self.since(start)
            }
            _ => Err(Broken::Other),
        }
    }

    /// An object or a list.
    fn nested(&mut self) -> Result<&'t str, Broken> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.rest().first().ok_or(Broken::Ends)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return self.since(start);
            }
        }
    }
}

impl<'a> JsonLine<'a> {
    pub(super) fn time(&self) -> Option<Time> {
        let raw = self.time?;
        let number = if raw.starts_with('"') { None } else { raw.parse::<f64>().ok() };
        if let Some(number) = number {
            return Time::since_1970(number);
        }
        let text = words(Some(raw));
        // Loki writes nanoseconds as a string.
        Time::parse(&text).or_else(|| Time::since_1970(text.parse().ok()?))
    }

    /// `controller`, or in older releases the end of the logger's name: `controller.provisioner`.
    pub(super) fn controller(&self) -> Cow<'a, str> {
        if self.controller.is_some() {
            return words(self.controller);
        }
        match words(self.logger) {
            Cow::Borrowed(logger) => Cow::Borrowed(unlogged(logger)),
            Cow::Owned(logger) => Cow::Owned(unlogged(&logger).to_owned()),
        }
    }

    /// The reconciled object, or else the object that a field names.
    pub(super) fn subject(&self) -> EntryObject<'a> {
        let name = words(self.name);
        if self.kind.is_some() && !name.is_empty() {
            return EntryObject { kind: words(self.kind), namespace: words(self.namespace), name };
        }
        let Some((rank, raw)) = self.about else { return EntryObject::default() };
        let kind = KINDS.get(rank).copied().unwrap_or_default();
        if let Some(name) = only_name(raw).filter(|name| !name.is_empty()) {
            return EntryObject { kind: kind.into(), namespace: Cow::default(), name: name.into() };
        }
        let named = serde_json::from_str::<Reference<'_>>(raw).unwrap_or_default();
        if named.name.0.is_empty() {
            return EntryObject::default();
        }
        EntryObject { kind: kind.into(), namespace: named.namespace.0, name: named.name.0 }
    }

    /// The line that Datadog took apart: it keeps the message, and has the other members in `attributes`. `None` for another line.
    pub(super) fn reassembled(&self) -> Option<Self> {
        if self.level.is_some() {
            return None;
        }
        let inner = object(self.attributes?).ok()?;
        let is_line = inner.level.is_some() || inner.error.is_some() || inner.logger.is_some();
        if !is_line || inner.attributes.is_some() {
            return None;
        }
        let field = |name: &str| {
            let (_, value) = self.fields.0.iter().find(|(key, _)| key == name)?;
            if let Cow::Borrowed(text) = value { Some(*text) } else { None }
        };
        Some(Self {
            message: inner.message.or(self.message),
            level: inner.level.or_else(|| field("status")),
            time: inner.time.or(self.time).or_else(|| field("date")),
            ..inner
        })
    }

    /// The wrapped line, if this line wraps one.
    pub(super) fn wrapped(&self) -> Option<Cow<'a, str>> {
        let raw = self.inside.or(self.message)?;
        if raw.starts_with('{') {
            return Some(Cow::Borrowed(raw));
        }
        raw.starts_with('"').then(|| words(Some(raw)))
    }

    /// `"kubernetes":{"pod_name":"karpenter-x"}` of Fluent Bit, or `{"pod":{"name":"karpenter-x"}}` of Filebeat.
    pub(super) fn pod(&self) -> Cow<'a, str> {
        #[derive(serde::Deserialize, Default)]
        struct Kubernetes<'k> {
            #[serde(borrow, default)]
            pod_name: Words<'k>,
            #[serde(borrow, default)]
            pod: Reference<'k>,
        }
        let Some(raw) = self.kubernetes else { return Cow::default() };
        let known = serde_json::from_str::<Kubernetes<'_>>(raw).unwrap_or_default();
        if known.pod_name.0.is_empty() { known.pod.name.0 } else { known.pod_name.0 }
    }
}

impl<'a> JsonLine<'a> {
    fn take(&mut self, key: Cow<'a, str>, value: &'a str) {
        // Keys differ mostly in length.
        let place = match (key.len(), key.as_ref()) {
            (5, "level") | (8, "severity") | (3, "lvl") => &mut self.level,
            (4, "time") | (2, "ts") | (9, "timestamp") | (10, "@timestamp") => &mut self.time,
            (7, "message") | (3, "msg") => &mut self.message,
            (5, "error") | (3, "err") => &mut self.error,
            (10, "controller") => &mut self.controller,
            (3, "log")
            | (8, "@message")
            | (4, "line" | "_raw")
            | (13, "log_processed")
            | (11, "jsonPayload" | "textPayload")
            | (7, "MESSAGE") => &mut self.inside,
            (len, other) => {
                match (len, other) {
                    (6, "logger") => self.logger = Some(value),
                    (14, "controllerKind") => self.kind = Some(value),
                    (9, "namespace") => self.namespace = Some(value),
                    (4, "name") => self.name = Some(value),
                    (10, "kubernetes") => self.kubernetes = Some(value),
                    (10, "attributes") | (7, "content") => self.attributes = Some(value),
                    _ if other.starts_with(|first: char| first.is_ascii_uppercase()) => {
                        let is_before = |rank: &usize| self.about.is_none_or(|(first, _)| *rank < first);
                        let rank = KINDS.iter().position(|kind| *kind == other).filter(is_before);
                        self.about = rank.map(|rank| (rank, value)).or(self.about);
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

/// A string, borrowed if it has no escapes; empty for other values.
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
struct Reference<'a> {
    #[serde(borrow, default)]
    name: Words<'a>,
    #[serde(borrow, default)]
    namespace: Words<'a>,
}

/// Text of a JSON string, raw JSON of another value, empty for `null` and a missing value.
pub(super) fn words(raw: Option<&str>) -> Cow<'_, str> {
    let Some(text) = raw else { return Cow::default() };
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if memchr::memchr(b'\\', inner.as_bytes()).is_none() => Cow::Borrowed(inner),
        Some(inner) => serde_json::from_str::<String>(text).map_or(Cow::Borrowed(inner), Cow::Owned),
        None if text == "null" => Cow::default(),
        None => Cow::Borrowed(text),
    }
}

/// Name of a logger without the common prefix.
pub(super) fn unlogged(logger: &str) -> &str {
    match logger.strip_prefix("controller") {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(logger),
        None => logger,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i32>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "[a-z\\\\\"{}\\[\\]:,é😀\n ]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::hash_map("[a-z\"]{0,4}", inner, 0..4)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn members_are_those_that_a_general_parser_finds(
            members in proptest::collection::btree_map("X[a-z\"\\\\]{0,4}", value(), 0..6),
            pretty in any::<bool>(),
        ) {
            let text = if pretty { serde_json::to_string_pretty(&members) } else { serde_json::to_string(&members) }.unwrap();
            let expected: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap();
            let found = object(&text).unwrap();
            let found: BTreeMap<String, &str> =
                found.fields.0.iter().map(|(key, value)| (key.to_string(), value.as_ref())).collect();
            let expected: BTreeMap<String, &str> =
                expected.iter().map(|(key, value)| (key.clone(), value.get())).collect();
            prop_assert_eq!(found, expected);
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                prop_assert_eq!(object(text.get(..end).unwrap()).err(), Some(Broken::Ends));
            }
        }

        #[test]
        fn a_string_ends_where_a_search_byte_by_byte_finds_it(text in "[a-z!#\\[\\]^_é\u{a2}\u{dc}]{0,30}[\"\\\\]?[\"\\\\a-z]{0,9}") {
            let expected = text.bytes().position(|byte| byte == b'"' || byte == b'\\');
            prop_assert_eq!(end_or_escape(text.as_bytes()), expected);
        }

        #[test]
        fn no_text_makes_it_fall_over(text in "[{}\\[\\]\":, \\\\a0é-]{0,40}") {
            let _ = object(&text);
        }
    }
}
