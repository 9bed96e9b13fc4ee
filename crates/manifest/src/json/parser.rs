//! The JSON parser: one pass without recursion.

use std::sync::Arc;

use super::error::{JsonError, JsonProblem};
use crate::limits::Exceeded;
use crate::options::ReadOptions;
use crate::source::{Source, Span, certain};
use crate::tree::{AddedNode, NodeId, NodeValue, StringLocation, Style, Tree};
use crate::yaml;

/// Parses the first value within a span of the source. Returns the tree and the byte after the value, or `None` if there
/// is only white space.
pub fn read(
    source: &Arc<Source>,
    within: Span,
    options: impl Into<ReadOptions>,
) -> Result<Option<(Tree, usize)>, JsonError> {
    read_with(source, within, &options.into())
}

fn read_with(
    source: &Arc<Source>,
    within: Span,
    options: &ReadOptions,
) -> Result<Option<(Tree, usize)>, JsonError> {
    let bytes = certain(source.text().as_bytes().get(..within.end));
    let mut parser = Parser { bytes, source, at: within.start };
    parser.space();
    if parser.peek().is_none() {
        return Ok(None);
    }
    let start = parser.at;
    let mut tree = parser.document(options)?;
    tree.set_excerpt(Span::new(start, parser.at), true);
    Ok(Some((tree, parser.at)))
}

/// Open collection.
#[derive(Clone, Copy)]
struct Open {
    id: NodeId,
    is_mapping: bool,
    /// The byte of its bracket.
    at: usize,
}

struct Parser<'t> {
    source: &'t Arc<Source>,
    bytes: &'t [u8],
    at: usize,
}

impl Parser<'_> {
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

    /// Parses one value. An error in a collection without an end is reported at its bracket.
    fn document(&mut self, options: &ReadOptions) -> Result<Tree, JsonError> {
        let mut open = Vec::new();
        self.value(&mut open, options).map_err(|error| {
            let may_lack_end = match error.problem {
                JsonProblem::Expected(what) => what.starts_with("`,`"),
                ref other => *other == JsonProblem::Ends,
            };
            open.last()
                .filter(|_| may_lack_end)
                .and_then(|innermost| self.unclosed(*innermost))
                .unwrap_or(error)
        })
    }

    /// The error for an open collection, if the text has no end for it.
    fn unclosed(&self, open: Open) -> Option<JsonError> {
        let (bracket, end) = if open.is_mapping { ('{', '}') } else { ('[', ']') };
        let rest = certain(self.bytes.get(open.at..));
        let has_end = self.at < self.bytes.len() && rest.contains(&(end as u8));
        let problem = JsonProblem::Unclosed(bracket, end);
        (!has_end).then_some(JsonError { at: open.at, problem })
    }

    /// Parses one value. The stack of open collections replaces recursion.
    fn value(&mut self, open: &mut Vec<Open>, options: &ReadOptions) -> Result<Tree, JsonError> {
        let limits = &options.limits;
        let mut tree = Tree::new(Arc::clone(self.source), options.holds_document);
        let mut key: Option<(StringLocation, Span)> = None;
        loop {
            self.space();
            if tree.size() >= limits.nodes {
                return self.exceeded(Exceeded::Nodes(limits.nodes));
            }
            let start = self.at;
            let collection = match self.peek() {
                Some(b'{') => Some(NodeValue::Mapping),
                Some(b'[') => Some(NodeValue::Sequence),
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
                NodeValue::String(_) => Style::DoubleQuoted,
                NodeValue::Mapping | NodeValue::Sequence => Style::Flow,
                _ => Style::Plain,
            };
            let new = AddedNode { value, span: Span::new(start, self.at), style };
            let id = tree.add(open.last().map(|open| open.id), key.take(), new);
            if tree.holds_document(id) {
                yaml::embed(&mut tree, id, new.span, limits);
            }
            if collection.is_some() {
                if open.len() >= limits.depth {
                    return self.exceeded(Exceeded::Depth(limits.depth));
                }
                open.push(Open { id, is_mapping: matches!(value, NodeValue::Mapping), at: start });
                self.space();
                let empty = matches!(self.peek(), Some(b'}' | b']'));
                if !empty {
                    key = self.key(&mut tree, open)?;
                    continue;
                }
            }
            loop {
                self.space();
                let Some(&Open { id, is_mapping: mapping, .. }) = open.last() else {
                    tree.finish();
                    return Ok(tree);
                };
                if self.eat(if mapping { b'}' } else { b']' }) {
                    tree.close(id, self.at);
                    if mapping {
                        tree.complete_mapping(id);
                    }
                    open.pop();
                    continue;
                }
                if !self.eat(b',') {
                    return self.expected(if mapping { "`,` or `}`" } else { "`,` or `]`" });
                }
                key = self.key(&mut tree, open)?;
                break;
            }
        }
    }

    /// Parses the key and colon of a member; nothing within a list.
    fn key(&mut self, tree: &mut Tree, open: &[Open]) -> Result<Option<(StringLocation, Span)>, JsonError> {
        if !open.last().is_some_and(|open| open.is_mapping) {
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

    fn scalar(&mut self, tree: &mut Tree) -> Result<NodeValue, JsonError> {
        match self.peek() {
            Some(b'"') => self.string(tree).map(NodeValue::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [
                    ("true", NodeValue::Bool(true)),
                    ("false", NodeValue::Bool(false)),
                    ("null", NodeValue::Null),
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

    fn number(&mut self) -> Result<NodeValue, JsonError> {
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
        Ok(int.map_or_else(|| NodeValue::Float(text.parse().unwrap_or(f64::INFINITY)), NodeValue::Int))
    }

    fn string(&mut self, tree: &mut Tree) -> Result<StringLocation, JsonError> {
        self.at += 1;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        let mut plain = start;
        loop {
            let rest = certain(self.bytes.get(self.at..));
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            self.at += length.unwrap_or(rest.len());
            match self.peek() {
                None => return Err(JsonError { at: self.at, problem: JsonProblem::EndsInString }),
                Some(b'"') => break,
                Some(b'\\') => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(self.source.slice(Span::new(plain, self.at)));
                    let char = self.escape()?;
                    unescaped.get_or_insert_default().push(char);
                    plain = self.at;
                }
                Some(_) => return self.expected("no control character within a string"),
            }
        }
        let end = self.at;
        self.at += 1;
        Ok(match unescaped {
            None => Tree::slice(Span::new(start, end)),
            Some(mut text) => {
                text.push_str(self.source.slice(Span::new(plain, end)));
                tree.keep(&text, Span::new(start, end))
            }
        })
    }

    /// Parses the character after a backslash. An unpaired surrogate becomes U+FFFD, as in Go.
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

    /// Parses the four digits after `u`.
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
