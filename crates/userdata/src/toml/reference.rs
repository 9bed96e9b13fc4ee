//! What the tests hold the reader against: tokens, syntax and scalars by `toml_parser`, the tree in a map of its own, dates
//! by an expression.

use super::{Document, Entry, Value};
use crate::{Placed, Span};
use regex::Regex;
use std::collections::BTreeMap;
use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ParseError, Source};

/// An entry as text, in the order of the document: how deep, the key and its place, the value and its place.
pub(super) type Row = String;

fn row(depth: usize, key: &Placed, value: &str, span: Span) -> Row {
    format!("{depth} {:?}@{:?} {value}@{span:?}", key.value, key.span)
}

/// The entries of a document of ours.
pub(super) fn rows(document: &Document) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut entries: Vec<(usize, Entry<'_>)> = document.root().map(|root| (0, root)).into_iter().collect();
    while let Some((depth, entry)) = entries.pop() {
        let value = match entry.value() {
            Value::String(word) => format!("String({:?})", word.value),
            value => format!("{value:?}"),
        };
        rows.push(row(depth, entry.key(), &value, entry.span()));
        let mut children: Vec<_> = entry.children().map(|child| (depth + 1, child)).collect();
        children.reverse();
        entries.extend(children);
    }
    rows
}

/// The entries of a text, or where it goes wrong first.
pub(super) fn read(text: &str) -> Result<Vec<Row>, usize> {
    let source = Source::new(text);
    let tokens: Vec<_> = source.lex().collect();
    let mut events: Vec<Event> = Vec::new();
    let mut errors: Vec<ParseError> = Vec::new();
    let mut guard = RecursionGuard::new(&mut events, 64);
    let mut checked = ValidateWhitespace::new(&mut guard, source);
    parse_document(&tokens, &mut checked, &mut errors);
    let mut builder = Builder { source, nodes: Vec::new(), index: BTreeMap::new(), errors: Vec::new() };
    builder.nodes.push(Node {
        key: Placed::default(),
        span: Span::whole(text),
        value: "Table".to_owned(),
        origin: Origin::Header,
        held: Vec::new(),
    });
    for error in errors {
        builder.syntax(&error, text.len());
    }
    // What does not parse is not interpreted.
    if builder.errors.is_empty() {
        builder.document(&events);
    }
    match builder.errors.iter().min() {
        Some(error) => Err(*error),
        None => Ok(builder.rows(0, 0)),
    }
}

struct Node {
    key: Placed,
    span: Span,
    value: String,
    origin: Origin,
    held: Vec<usize>,
}

/// What made a table or an array.
#[derive(Clone, Copy)]
enum Origin {
    Value,
    Implicit,
    Header,
    Dotted,
    TableArray,
}

struct Builder<'t> {
    source: Source<'t>,
    nodes: Vec<Node>,
    index: BTreeMap<(usize, String), usize>,
    /// Where they are.
    errors: Vec<usize>,
}

impl Builder<'_> {
    fn rows(&self, id: usize, depth: usize) -> Vec<Row> {
        let node = &self.nodes[id];
        let mut rows = vec![row(depth, &node.key, &node.value, node.span)];
        rows.extend(node.held.iter().flat_map(|held| self.rows(*held, depth + 1)));
        rows
    }

    fn syntax(&mut self, error: &ParseError, fallback: usize) {
        let span = error.unexpected().or_else(|| error.context());
        self.errors.push(span.map_or(fallback, |span| span.start()));
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
                    self.syntax(&error, span.start);
                }
                path.push(Placed { value, span });
            }
        }
        path
    }

    fn add(&mut self, parent: usize, key: Placed, span: Span, value: &str, origin: Origin) -> usize {
        let id = self.nodes.len();
        if let Some(holder) = self.nodes.get_mut(parent) {
            holder.held.push(id);
            if holder.value == "Table" {
                self.index.insert((parent, key.value.clone()), id);
            }
        }
        self.nodes.push(Node { key, span, value: value.to_owned(), origin, held: Vec::new() });
        id
    }

    fn find(&self, table: usize, key: &Placed) -> Option<(usize, &Node)> {
        let id = *self.index.get(&(table, key.value.clone()))?;
        Some((id, &self.nodes[id]))
    }

    fn duplicate(&mut self, key: &Placed) -> Option<usize> {
        self.errors.push(key.span.start);
        None
    }

    /// Opens the table of a header; `None` where it may not be opened.
    fn header(&mut self, mut path: Vec<Placed>, is_array: bool, span: Span) -> Option<usize> {
        let last = path.pop()?;
        let mut table = 0;
        for key in path {
            table = match self.find(table, &key) {
                None => self.add(table, key, span, "Table", Origin::Implicit),
                Some((id, node)) => match node.origin {
                    Origin::Value => return self.duplicate(&key),
                    Origin::TableArray => *node.held.last()?,
                    _ => id,
                },
            };
        }
        match self.find(table, &last).map(|(id, node)| (id, node.origin)) {
            None if is_array => {
                let array = self.add(table, last.clone(), span, "Array", Origin::TableArray);
                Some(self.add(array, last, span, "Table", Origin::Header))
            }
            None => Some(self.add(table, last, span, "Table", Origin::Header)),
            Some((id, Origin::TableArray)) if is_array => {
                Some(self.add(id, last, span, "Table", Origin::Header))
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
                    Some(self.add(table, key, span, "Table", Origin::Dotted))
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
                self.add(parent, key, span, &value, Origin::Value);
            }
            EventKind::ArrayOpen => {
                let id = self.add(parent, key, span, "Array", Origin::Value);
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
                let id = self.add(parent, key, span, "Table", Origin::Value);
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

    fn scalar(&mut self, event: &Event, span: Span) -> String {
        let mut decoded = String::new();
        let mut errors: Vec<ParseError> = Vec::new();
        let kind = self.source.get(event).unwrap().decode_scalar(&mut decoded, &mut errors);
        for error in errors {
            self.syntax(&error, span.start);
        }
        match kind {
            ScalarKind::String => format!("String({decoded:?})"),
            ScalarKind::Boolean(value) => format!("Boolean({value})"),
            ScalarKind::Float => "Float".to_owned(),
            ScalarKind::DateTime => {
                if !is_moment(&decoded) {
                    self.errors.push(span.start);
                }
                "DateTime".to_owned()
            }
            ScalarKind::Integer(radix) => {
                let value = i64::from_str_radix(&decoded, radix.value());
                if value.is_err() {
                    self.errors.push(span.start);
                }
                format!("Integer({})", value.unwrap_or_default())
            }
        }
    }
}

/// Whether it is a date, a time or both that a calendar and a clock can show.
fn is_moment(text: &str) -> bool {
    let minute = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
    let time = format!(r"{minute}(?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?");
    let date = "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
    let moment = format!("^(?:{date}(?:[Tt ]{time}(?:[Zz]|[+-]{minute})?)?|{time})$");
    let Some(found) = Regex::new(&moment).unwrap().captures(text) else { return false };
    let number = |index| Some(found.get(index)?.as_str().parse::<u32>().unwrap());
    let (Some(year), Some(month), Some(day)) = (number(1), number(2), number(3)) else { return true };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => day <= if leap { 29 } else { 28 },
        4 | 6 | 9 | 11 => day <= 30,
        _ => true,
    }
}
