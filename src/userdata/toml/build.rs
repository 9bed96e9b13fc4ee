//! From the events of `toml_parser` to a tree, with the rules of what may be defined twice.

use super::datetime;
use super::{Document, Node, Origin, SyntaxError, Value};
use crate::userdata::word::Word;
use crate::userdata::{Placed, Span};
use std::collections::BTreeMap;
use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ParseError, Source};

/// The most arrays and inline tables inside one another.
const MAX_DEPTH: u32 = 64;

pub(super) fn read(text: &str) -> Result<Document, SyntaxError> {
    let source = Source::new(text);
    let tokens: Vec<_> = source.lex().collect();
    let mut events: Vec<Event> = Vec::new();
    let mut errors: Vec<ParseError> = Vec::new();
    let mut guard = RecursionGuard::new(&mut events, MAX_DEPTH);
    let mut checked = ValidateWhitespace::new(&mut guard, source);
    parse_document(&tokens, &mut checked, &mut errors);
    Builder::new(text, source).build(&events, errors)
}

struct Builder<'t> {
    text: &'t str,
    source: Source<'t>,
    nodes: Vec<Node>,
    /// Nodes by the number of their table and their key.
    index: BTreeMap<String, usize>,
    errors: Vec<SyntaxError>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, source: Source<'t>) -> Self {
        let root = Node {
            key: Placed { value: String::new(), span: Span::new(0, 0) },
            span: Span::whole(text),
            value: Value::Table(Vec::new()),
            origin: Origin::Header,
        };
        Self { text, source, nodes: vec![root], index: BTreeMap::new(), errors: Vec::new() }
    }

    fn build(mut self, events: &[Event], errors: Vec<ParseError>) -> Result<Document, SyntaxError> {
        for error in errors {
            self.syntax(&error, Span::new(self.text.len(), self.text.len()));
        }
        // What does not parse is not interpreted: one mistake would be told twice.
        if self.errors.is_empty() {
            self.document(events);
        }
        match self.errors.into_iter().min_by_key(|error| error.span.start) {
            Some(error) => Err(error),
            None => Ok(Document { nodes: self.nodes }),
        }
    }

    fn syntax(&mut self, error: &ParseError, fallback: Span) {
        let span = error.unexpected().or_else(|| error.context());
        let span = span.map_or(fallback, |span| Span::new(span.start(), span.end()));
        self.error(error.description().to_owned(), span);
    }

    fn error(&mut self, message: String, span: Span) {
        // The lexer counts bytes where it gives up, also inside a character.
        let start = self.text.floor_char_boundary(span.start);
        let span = Span::new(start, self.text.ceil_char_boundary(span.end.max(start)));
        self.errors.push(SyntaxError { message, span });
    }

    fn document(&mut self, events: &[Event]) {
        let mut events = events
            .iter()
            .filter(|event| {
                !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
            })
            .peekable();
        let mut table = 0;
        while let Some(event) = events.peek().copied() {
            match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    events.next();
                    let path = self.path(&mut events);
                    let close = events.next().map_or(event.span().end(), |close| close.span().end());
                    let span = Span::new(event.span().start(), close);
                    let is_array = event.kind() == EventKind::ArrayTableOpen;
                    table = self.header(path, is_array, span).unwrap_or(table);
                }
                EventKind::SimpleKey => self.key_value(table, &mut events),
                _ => {
                    events.next();
                }
            }
        }
    }

    fn path<'e>(
        &mut self,
        events: &mut core::iter::Peekable<impl Iterator<Item = &'e Event>>,
    ) -> Vec<Placed> {
        let mut path = Vec::new();
        while let Some(event) =
            events.next_if(|event| matches!(event.kind(), EventKind::SimpleKey | EventKind::KeySep))
        {
            if event.kind() == EventKind::SimpleKey {
                let span = Span::new(event.span().start(), event.span().end());
                let mut value = String::new();
                let mut errors: Vec<ParseError> = Vec::new();
                if let Some(raw) = self.source.get(event) {
                    raw.decode_key(&mut value, &mut errors);
                }
                for error in errors {
                    self.syntax(&error, span);
                }
                path.push(Placed { value, span });
            }
        }
        path
    }

    fn add(&mut self, parent: usize, key: Placed, span: Span, value: Value, origin: Origin) -> usize {
        let id = self.nodes.len();
        let in_table = match self.nodes.get_mut(parent).map(|node| &mut node.value) {
            Some(Value::Table(held)) => {
                held.push(id);
                true
            }
            Some(Value::Array(held)) => {
                held.push(id);
                false
            }
            _ => false,
        };
        if in_table {
            self.index.insert(format!("{parent} {}", key.value), id);
        }
        self.nodes.push(Node { key, span, value, origin });
        id
    }

    fn find(&self, table: usize, key: &Placed) -> Option<(usize, &Node)> {
        let id = *self.index.get(&format!("{table} {}", key.value))?;
        Some((id, self.nodes.get(id)?))
    }

    fn duplicate(&mut self, key: &Placed) -> Option<usize> {
        self.error(format!("`{}` is defined twice", key.value), key.span);
        None
    }

    /// Opens the table of a header; `None` where it may not be opened.
    fn header(&mut self, mut path: Vec<Placed>, is_array: bool, span: Span) -> Option<usize> {
        let last = path.pop()?;
        let mut table = 0;
        for key in path {
            table = match self.find(table, &key) {
                None => self.add(table, key, span, Value::Table(Vec::new()), Origin::Implicit),
                Some((id, node)) => match (&node.value, node.origin) {
                    (_, Origin::Value) => return self.duplicate(&key),
                    (Value::Array(held), _) => held.last().copied()?,
                    _ => id,
                },
            };
        }
        let empty = Value::Table(Vec::new());
        match self.find(table, &last).map(|(id, node)| (id, node.origin)) {
            None if is_array => {
                let array = self.add(table, last.clone(), span, Value::Array(Vec::new()), Origin::TableArray);
                Some(self.add(array, last, span, empty, Origin::Header))
            }
            None => Some(self.add(table, last, span, empty, Origin::Header)),
            Some((id, Origin::TableArray)) if is_array => {
                Some(self.add(id, last, span, empty, Origin::Header))
            }
            Some((id, Origin::Implicit)) if !is_array => {
                let node = self.nodes.get_mut(id)?;
                (node.key, node.span, node.origin) = (last, span, Origin::Header);
                Some(id)
            }
            Some(_) => self.duplicate(&last),
        }
    }

    fn key_value<'e>(
        &mut self,
        table: usize,
        events: &mut core::iter::Peekable<impl Iterator<Item = &'e Event>>,
    ) {
        let mut path = self.path(events);
        events.next_if(|event| event.kind() == EventKind::KeyValSep);
        let Some(last) = path.pop() else { return };
        let mut target = Some(table);
        for key in path {
            let Some(table) = target else { break };
            target = match self.find(table, &key).map(|(id, node)| (id, node.origin)) {
                None => {
                    let span = key.span;
                    Some(self.add(table, key, span, Value::Table(Vec::new()), Origin::Dotted))
                }
                Some((id, Origin::Dotted | Origin::Implicit)) => Some(id),
                Some(_) => self.duplicate(&key),
            };
        }
        if let Some(table) = target
            && self.find(table, &last).is_some()
        {
            target = self.duplicate(&last);
        }
        // A value without a place is read all the same, for what is wrong inside it.
        self.value(target, last, events);
    }

    fn value<'e>(
        &mut self,
        parent: Option<usize>,
        key: Placed,
        events: &mut core::iter::Peekable<impl Iterator<Item = &'e Event>>,
    ) {
        let Some(event) = events.next() else { return };
        let span = Span::new(event.span().start(), event.span().end());
        let parent = parent.unwrap_or(usize::MAX);
        match event.kind() {
            EventKind::Scalar => {
                let value = self.scalar(event, span);
                self.add(parent, key, span, value, Origin::Value);
            }
            EventKind::ArrayOpen => {
                let id = self.add(parent, key, span, Value::Array(Vec::new()), Origin::Value);
                while let Some(next) = events.peek() {
                    match next.kind() {
                        EventKind::ArrayClose => break,
                        EventKind::ValueSep => {
                            events.next();
                        }
                        _ => {
                            let nameless = Placed { value: String::new(), span: Span::new(0, 0) };
                            self.value(Some(id), nameless, events);
                        }
                    }
                }
                self.close(id, events.next());
            }
            EventKind::InlineTableOpen => {
                let id = self.add(parent, key, span, Value::Table(Vec::new()), Origin::Value);
                while let Some(next) = events.peek() {
                    match next.kind() {
                        EventKind::InlineTableClose => break,
                        EventKind::SimpleKey => self.key_value(id, events),
                        _ => {
                            events.next();
                        }
                    }
                }
                self.close(id, events.next());
            }
            _ => {}
        }
    }

    fn close(&mut self, id: usize, close: Option<&Event>) {
        if let (Some(node), Some(close)) = (self.nodes.get_mut(id), close) {
            node.span.end = close.span().end();
        }
    }

    fn scalar(&mut self, event: &Event, span: Span) -> Value {
        let mut decoded = String::new();
        let mut errors: Vec<ParseError> = Vec::new();
        let Some(raw) = self.source.get(event) else { return Value::Float };
        let kind = raw.decode_scalar(&mut decoded, &mut errors);
        for error in errors {
            self.syntax(&error, span);
        }
        match kind {
            ScalarKind::String => Value::String(string(span.text(self.text), &decoded, span)),
            ScalarKind::Boolean(value) => Value::Boolean(value),
            ScalarKind::Float => Value::Float,
            ScalarKind::DateTime => {
                if !datetime::is_valid(&decoded) {
                    self.error("no such date or time".to_owned(), span);
                }
                Value::DateTime
            }
            ScalarKind::Integer(radix) => {
                if let Ok(value) = i64::from_str_radix(&decoded, radix.value()) {
                    Value::Integer(value)
                } else {
                    self.error("the number does not fit 64 bits".to_owned(), span);
                    Value::Float
                }
            }
        }
    }
}

/// A string with the place of each character where no escape stands in between.
fn string(raw: &str, decoded: &str, span: Span) -> Word {
    let mut word = Word::starting(span);
    word.quoted = true;
    match raw.find(decoded) {
        Some(at) if !decoded.is_empty() => {
            let start = span.start + at;
            word.push(decoded, Span::new(start, start + decoded.len()), false);
        }
        _ => word.push(decoded, span, false),
    }
    word
}
