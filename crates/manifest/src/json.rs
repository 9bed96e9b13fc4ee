//! JSON text → tree, with the place of every value. Numbers mean what they mean to the API server: `1.0` is not `1`.

use core::fmt::Write as _;
use std::sync::Arc;

use super::limits::{Exceeded, Limits};
use super::source::{Source, Span};
use super::tree::{New, NewValue, Node, Style, Text, Tree, Value};
use super::yaml;

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The byte at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
}

/// What can be wrong with JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonProblem {
    /// Something else was due; the word says what.
    Expected(&'static str),
    /// The text ends within a value.
    Ends,
    /// A bound is exceeded.
    Exceeded(Exceeded),
}

impl core::fmt::Display for JsonProblem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "not valid JSON: expected {what}"),
            Self::Ends => f.write_str("not valid JSON: the text ends within a value"),
            Self::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

/// Reads the first value within a span of the source; gives the tree and the byte after the value, or `None` where there
/// is nothing but white space.
pub fn read(source: &Arc<Source>, within: Span, limits: &Limits) -> Result<Option<(Tree, usize)>, JsonError> {
    let bytes = source.text().as_bytes().get(..within.end).unwrap_or_default();
    let mut reader = Reader { bytes, source, at: within.start };
    reader.space();
    if reader.peek().is_none() {
        return Ok(None);
    }
    let tree = reader.document(limits)?;
    Ok(Some((tree, reader.at)))
}

/// Writes a string as JSON does, in quotes.
pub fn quote(text: &str, into: &mut String) {
    into.push('"');
    for char in text.chars() {
        match char {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\u{8}' => into.push_str("\\b"),
            '\u{c}' => into.push_str("\\f"),
            '\0'..' ' => {
                let _ = write!(into, "\\u{:04x}", u32::from(char));
            }
            _ => into.push(char),
        }
    }
    into.push('"');
}

impl Node<'_> {
    /// The value as `serde_json` has it: of equal keys the last one, and without positions.
    pub fn to_json(self) -> serde_json::Value {
        match self.value() {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Int(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::String(text) => text.into(),
            Value::Sequence => self.items().map(Node::to_json).collect(),
            Value::Mapping => {
                let members = self.members().map(|(key, node)| (key.to_owned(), node.to_json()));
                serde_json::Value::Object(members.collect())
            }
        }
    }
}

struct Reader<'t> {
    source: &'t Arc<Source>,
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected<T>(&self, what: &'static str) -> Result<T, JsonError> {
        let problem = if self.peek().is_none() { JsonProblem::Ends } else { JsonProblem::Expected(what) };
        Err(JsonError { at: self.at, problem })
    }

    fn exceeded<T>(&self, exceeded: Exceeded) -> Result<T, JsonError> {
        Err(JsonError { at: self.at, problem: JsonProblem::Exceeded(exceeded) })
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// One value and all below it, with the open collections on a stack of its own.
    fn document(&mut self, limits: &Limits) -> Result<Tree, JsonError> {
        let mut tree = Tree::new(Arc::clone(self.source));
        let mut open: Vec<(u32, bool)> = Vec::new();
        let mut key: Option<(Text, Span)> = None;
        loop {
            self.space();
            if tree.len() >= limits.nodes {
                return self.exceeded(Exceeded::Nodes(limits.nodes));
            }
            let start = self.at;
            let collection = match self.peek() {
                Some(b'{') => Some(NewValue::Mapping),
                Some(b'[') => Some(NewValue::Sequence),
                _ => None,
            };
            let value = match collection {
                Some(value) => {
                    self.at += 1;
                    value
                }
                None => self.scalar(&mut tree)?,
            };
            let style = match value {
                NewValue::String(_) => Style::DoubleQuoted,
                NewValue::Mapping | NewValue::Sequence => Style::Flow,
                _ => Style::Plain,
            };
            let new = New { value, span: Span::new(start, self.at), style };
            let id = tree.add(open.last().map(|(id, _)| *id), key.take(), new);
            if matches!(value, NewValue::String(_)) && tree.holds_values(id) {
                yaml::embed(&mut tree, id, new.span, limits);
            }
            if collection.is_some() {
                if open.len() >= limits.depth {
                    return self.exceeded(Exceeded::Depth(limits.depth));
                }
                open.push((id, matches!(value, NewValue::Mapping)));
                self.space();
                let empty = matches!(self.peek(), Some(b'}' | b']'));
                if !empty {
                    key = self.key(&mut tree, &open)?;
                    continue;
                }
            }
            loop {
                self.space();
                let Some(&(id, mapping)) = open.last() else {
                    tree.finish();
                    return Ok(tree);
                };
                if self.eat(if mapping { b'}' } else { b']' }) {
                    tree.close(id, self.at);
                    if mapping {
                        tree.settle(id);
                    }
                    open.pop();
                    continue;
                }
                if !self.eat(b',') {
                    return self.expected(if mapping { "`,` or `}`" } else { "`,` or `]`" });
                }
                key = self.key(&mut tree, &open)?;
                break;
            }
        }
    }

    /// The key and colon that precede a member; nothing within a list.
    fn key(&mut self, tree: &mut Tree, open: &[(u32, bool)]) -> Result<Option<(Text, Span)>, JsonError> {
        if !open.last().is_some_and(|(_, mapping)| *mapping) {
            return Ok(None);
        }
        self.space();
        if self.peek() != Some(b'"') {
            return self.expected("a key in double quotes");
        }
        let start = self.at;
        let text = self.string(tree)?;
        let span = Span::new(start, self.at);
        self.space();
        if !self.eat(b':') {
            return self.expected("`:` after a key");
        }
        Ok(Some((text, span)))
    }

    fn scalar(&mut self, tree: &mut Tree) -> Result<NewValue, JsonError> {
        match self.peek() {
            Some(b'"') => self.string(tree).map(NewValue::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [
                    ("true", NewValue::Bool(true)),
                    ("false", NewValue::Bool(false)),
                    ("null", NewValue::Null),
                ] {
                    let there =
                        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
                    if there {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.expected("a value")
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.expected("a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Result<NewValue, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.source.slice(Span::new(start, self.at));
        let int = if whole { text.parse().ok() } else { None };
        Ok(int.map_or_else(|| NewValue::Float(text.parse().unwrap_or(f64::INFINITY)), NewValue::Int))
    }

    fn string(&mut self, tree: &mut Tree) -> Result<Text, JsonError> {
        self.at += 1;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        let mut plain = start;
        loop {
            match self.peek() {
                None => return self.expected("`\"`"),
                Some(b'"') => break,
                Some(0..=0x1f) => return self.expected("no control character within a string"),
                Some(b'\\') => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(self.source.slice(Span::new(plain, self.at)));
                    let char = self.escape()?;
                    unescaped.get_or_insert_default().push(char);
                    plain = self.at;
                }
                Some(_) => self.at += 1,
            }
        }
        let end = self.at;
        self.at += 1;
        let rest = self.source.slice(Span::new(plain, end));
        Ok(match unescaped {
            None => tree.keep(rest, Span::new(start, end)),
            Some(mut text) => {
                text.push_str(rest);
                tree.keep(&text, Span::new(start, end))
            }
        })
    }

    /// A character after a backslash. Half a surrogate pair becomes U+FFFD, as in Go.
    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let char = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return self.expected("one of `\"\\/bfnrtu` after `\\`"),
        };
        self.at += 1;
        Ok(char)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex()?;
        if let Some(char) = char::from_u32(first) {
            return Ok(char);
        }
        let pair = self.at;
        if first < 0xdc00 && self.eat(b'\\') && self.peek() == Some(b'u') {
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = pair;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// The four digits after `u`.
    fn hex(&mut self) -> Result<u32, JsonError> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.expected("four hexadecimal digits after `\\u`");
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_one(text: &str) -> Result<Tree, JsonError> {
        let source = Arc::new(Source::new("-", text));
        let (tree, end) =
            read(&source, Span::new(0, source.text().len()), &Limits::DEFAULT)?.expect("a value");
        if text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t', '\n', '\r']).is_empty()) {
            Ok(tree)
        } else {
            Err(JsonError { at: end, problem: JsonProblem::Expected("the end") })
        }
    }

    #[test]
    fn every_value_knows_its_place() {
        let text = "{\"a\": [1, 2.0, \"x\\n\"],\n \"b\": {}}";
        let tree = read_one(text).unwrap();
        let a = tree.root().get("a").unwrap();
        assert_eq!(a.spelling(), "[1, 2.0, \"x\\n\"]");
        assert_eq!(tree.source().slice(a.key_span()), "\"a\"");
        let values: Vec<_> = a.items().map(|node| (node.value(), node.spelling())).collect();
        assert_eq!(
            values,
            [(Value::Int(1), "1"), (Value::Float(2.0), "2.0"), (Value::String("x\n"), "\"x\\n\"")]
        );
        assert_eq!(tree.root().span(), Span::new(0, text.len()));
    }

    #[test]
    fn of_two_equal_keys_the_last_counts_and_both_are_known() {
        let tree = read_one(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(tree.root().get("a").unwrap().as_int(), Some(3));
        assert_eq!(tree.root().members().count(), 2);
        let pairs: Vec<_> = tree
            .duplicate_ids()
            .iter()
            .map(|(one, two)| (tree.node(*one), tree.node(*two)))
            .map(|(one, two)| (one.spelling(), two.spelling()))
            .collect();
        assert_eq!(pairs, [("1", "3")]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, at, message) in [
            ("{\"a\" 1}", 5, "not valid JSON: expected `:` after a key"),
            ("{a: 1}", 1, "not valid JSON: expected a key in double quotes"),
            ("[1,]", 3, "not valid JSON: expected a value"),
            ("[1 2]", 3, "not valid JSON: expected `,` or `]`"),
            ("{\"a\": \"b", 8, "not valid JSON: the text ends within a value"),
            ("[", 1, "not valid JSON: the text ends within a value"),
            ("{\"a\":}", 5, "not valid JSON: expected a value"),
            ("01", 1, "not valid JSON: expected the end"),
            ("-", 1, "not valid JSON: the text ends within a value"),
        ] {
            let error = read_one(text).unwrap_err();
            assert_eq!((error.at, error.problem.to_string().as_str()), (at, message), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let text = "[".repeat(10_000);
        assert_eq!(read_one(&text).unwrap_err().problem, JsonProblem::Exceeded(Exceeded::Depth(128)));
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                proptest::collection::vec((any::<String>(), inner), 0..20)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_serde_json_writes(value in json()) {
            prop_assert_eq!(read_one(&value.to_string()).unwrap().root().to_json(), value.clone());
            prop_assert_eq!(read_one(&serde_json::to_string_pretty(&value).unwrap()).unwrap().root().to_json(), value);
        }

        #[test]
        fn quotes_as_serde_json_does(text in any::<String>(), control in "[\\x00-\\x7f]{0,9}") {
            for text in [text, control] {
                let mut quoted = String::new();
                quote(&text, &mut quoted);
                prop_assert_eq!(quoted, serde_json::Value::from(text).to_string());
            }
        }

        #[test]
        fn accepts_and_refuses_as_serde_json_does(text in "[\\[\\]{},:\" 0-9.eE+\\-tfnulrase\\\\]{0,12}") {
            if !text.trim().is_empty() {
                // serde_json refuses numbers beyond a double and half surrogates; Go takes the latter.
                if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                    prop_assert_eq!(read_one(&text).unwrap().root().to_json(), value);
                } else if let Ok(tree) = read_one(&text) {
                    prop_assert!(text.contains("\\u") || has_infinite(tree.root()), "{}", text);
                }
            }
        }

        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = read_one(&format!("\"{text}"));
            if !text.trim().is_empty() {
                let source = Arc::new(Source::new("-", text));
                let _ = read(&source, Span::new(0, source.text().len()), &Limits::DEFAULT);
            }
        }
    }

    fn has_infinite(node: Node<'_>) -> bool {
        matches!(node.value(), Value::Float(value) if !value.is_finite()) || node.children().any(has_infinite)
    }
}
