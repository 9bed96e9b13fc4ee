//! YAML text → trees. What the events mean follows the Kubernetes tools: merge keys, the last of equal keys, aliases as
//! copies, and the scalars of [`scalar`](super::scalar).
//!
//! The reader is our own, for two reasons: the policy module must be small, of which a library took a tenth, and every place
//! must be known to the byte. It goes the way of libyaml and go-yaml, without recursion and in linear time, and is held to
//! the events of granit-parser, which is held to the YAML test suite.

mod collections;
mod cursor;
mod events;
mod names;
#[cfg(test)]
mod reference;
mod scalars;
mod spacing;
mod tokens;

use std::sync::Arc;

use super::limits::{Exceeded, Limits};
use super::scalar::{self, Scalar};
use super::source::{Source, Span};
use super::tree::{New, NewValue, Style, Text, Tree};
use events::{Event, Reader};
use names::Tag;

/// Why a YAML document cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The byte at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub problem: YamlProblem,
}

/// What can be wrong with a YAML document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlProblem {
    /// What is wrong with the syntax, and what to write instead.
    Syntax(&'static str),
    /// `{{` where YAML would have a value: the text of a template.
    Template,
    /// A list or an object where a key belongs.
    KeyIsCollection,
    /// A key that is null, which JSON cannot say.
    KeyIsNull,
    /// A number that JSON cannot say.
    NotFinite,
    /// `<<` with something else than a mapping or a list of mappings.
    MergeNeedsMapping,
    /// A value that contains an alias of itself.
    AliasOfItself,
    /// A bound is exceeded.
    Exceeded(Exceeded),
}

impl core::fmt::Display for YamlProblem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Syntax(message) => write!(f, "not valid YAML: {message}"),
            Self::Template => f.write_str("template, not checked"),
            Self::KeyIsCollection => {
                f.write_str("not valid here: a key must be text, this one is a list or an object")
            }
            Self::KeyIsNull => f.write_str("not valid here: a key is missing before `:`"),
            Self::NotFinite => {
                f.write_str("not valid here: an infinite number cannot be sent to the API server")
            }
            Self::MergeNeedsMapping => {
                f.write_str("not valid here: `<<` takes a mapping or a list of mappings")
            }
            Self::AliasOfItself => f.write_str("not valid here: the value of this anchor contains itself"),
            Self::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

/// Reads the documents within a span of the source, one after another until the first that cannot be read.
pub fn read(source: &Arc<Source>, span: Span, limits: &Limits) -> Vec<Result<Tree, YamlError>> {
    let mut documents = Vec::new();
    let mut reader = reader(source.slice(span), limits);
    loop {
        let mut loader = Loader::into(Tree::new(Arc::clone(source)), span.start, limits);
        match loader.document(&mut reader) {
            Ok(true) => {}
            Ok(false) => return documents,
            Err(error) => {
                documents.push(Err(error));
                return documents;
            }
        }
        loader.tree.finish();
        documents.push(Ok(loader.tree));
    }
}

/// Reads the document that a string of another text holds, such as one of JSON, below the string's own node. A string
/// that is none stays what it is.
pub(super) fn embed(tree: &mut Tree, id: u32, span: Span, limits: &Limits) {
    let Some(text) = tree.string_of(id).map(str::to_owned) else { return };
    let empty = Tree::new(Arc::clone(tree.shared_source()));
    let mut loader = Loader::into(core::mem::replace(tree, empty), 0, limits);
    loader.embed(id, &text, span, Style::DoubleQuoted);
    *tree = loader.tree;
}

/// Brackets may be one level too deep for the reader to say so: the tree knows which values are.
fn reader<'t>(text: &'t str, limits: &Limits) -> Reader<'t> {
    Reader::new(text, limits.depth + 1)
}

/// A string that is a YAML document itself.
#[derive(Clone, Copy)]
struct Around {
    /// The node of the string.
    id: u32,
    /// Where its text stands, if not letter by letter: every value within is placed there.
    whole: Option<Span>,
}

struct Loader {
    tree: Tree,
    /// Where in the source the text that is read starts.
    base: usize,
    limits: Limits,
    open: Vec<Open>,
    /// What each anchor stands for; the reader numbers them from 1 on, one after another.
    anchors: Vec<Option<u32>>,
    around: Option<Around>,
}

/// A collection whose end is still to come.
struct Open {
    id: u32,
    anchor: usize,
    flow: bool,
    /// For a mapping: the key whose value is due.
    key: Option<Key>,
    /// For a collection that is the value of a merge key: the mapping it goes into.
    merge_into: Option<u32>,
}

enum Key {
    Named(Text, Span),
    Merge,
}

/// Where a node goes.
enum Slot {
    /// Below a parent, or as the root.
    Below(Option<u32>, Option<(Text, Span)>),
    /// Into a mapping, as what `<<` brings.
    Merged(u32),
}

impl Loader {
    fn into(tree: Tree, base: usize, limits: &Limits) -> Self {
        let (open, anchors) = (Vec::new(), Vec::new());
        Self { tree, base, limits: *limits, open, anchors, around: None }
    }

    /// Reads a document; `false` where there is none.
    fn document(&mut self, reader: &mut Reader<'_>) -> Result<bool, YamlError> {
        loop {
            let (event, place) = match reader.next() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(false),
                Err(fault) => {
                    let too_deep = YamlProblem::Exceeded(Exceeded::Depth(self.limits.depth));
                    let problem = fault.why.map_or(too_deep, YamlProblem::Syntax);
                    return Err(YamlError { at: self.base + fault.at, problem });
                }
            };
            let elsewhere = self.around.is_some_and(|around| around.whole.is_some());
            for comment in reader.comments_before(place.start).filter(|_| !elsewhere) {
                self.tree.comment(self.span(comment));
            }
            let span = self.span(place);
            match event {
                Event::Scalar { text, style, tag, anchor } => {
                    self.scalar(reader.text(text), style, tag, anchor, span)?;
                }
                Event::Start { is_mapping, in_brackets, anchor } => {
                    self.start(is_mapping, in_brackets, anchor, span)?;
                }
                Event::End => self.end(span)?,
                Event::Alias(anchor) => self.alias(anchor, span)?,
                Event::DocumentEnd => return Ok(true),
            }
        }
    }

    fn span(&self, place: Span) -> Span {
        match self.around.and_then(|around| around.whole) {
            // What has no text of its own has none here either.
            Some(whole) if place.start == place.end => Span::new(whole.start, whole.start),
            Some(whole) => whole,
            None => Span::new(self.base + place.start, self.base + place.end),
        }
    }

    /// Reads the document that a string holds, below the string's own node. A string that is none stays what it is.
    fn embed(&mut self, id: u32, text: &str, span: Span, style: Style) {
        let verbatim = style == Style::Literal;
        // A block scalar starts behind the indentation of its first line, which the lines below it have as well.
        let before = self.tree.source().text().get(..span.start).unwrap_or_default();
        let base = before.rfind('\n').map_or(0, |at| at + 1);
        let source = Arc::clone(self.tree.shared_source());
        let text = if verbatim { source.slice(Span::new(base, span.end)) } else { text };
        let length = self.tree.len();
        let around = Around { id, whole: (!verbatim).then_some(span) };
        let outer = (
            core::mem::take(&mut self.open),
            core::mem::take(&mut self.anchors),
            core::mem::replace(&mut self.base, base),
            self.around.replace(around),
        );
        let read = self.document(&mut reader(text, &self.limits));
        if !matches!(read, Ok(true)) {
            self.tree.forget(id, length);
        }
        (self.open, self.anchors, self.base, self.around) = outer;
    }

    fn fail<T>(span: Span, problem: YamlProblem) -> Result<T, YamlError> {
        Err(YamlError { at: span.start, problem })
    }

    /// Whether the next node is a key of the innermost mapping.
    fn key_is_due(&self) -> bool {
        self.open.last().is_some_and(|open| self.tree.is_mapping(open.id) && open.key.is_none())
    }

    /// The place of the next value.
    fn slot(&mut self) -> Slot {
        let Some(open) = self.open.last_mut() else {
            return Slot::Below(self.around.map(|around| around.id), None);
        };
        match open.key.take() {
            Some(Key::Merge) => Slot::Merged(open.id),
            Some(Key::Named(text, span)) => Slot::Below(Some(open.id), Some((text, span))),
            None => Slot::Below(Some(open.id), None),
        }
    }

    fn room(&self, span: Span) -> Result<(), YamlError> {
        if self.tree.len() < self.limits.nodes {
            return Ok(());
        }
        Self::fail(span, YamlProblem::Exceeded(Exceeded::Nodes(self.limits.nodes)))
    }

    fn scalar(
        &mut self,
        text: &str,
        style: Style,
        tag: Tag,
        anchor: usize,
        span: Span,
    ) -> Result<(), YamlError> {
        let plain = match tag {
            Tag::None => style == Style::Plain,
            Tag::Core => true,
            Tag::String | Tag::Other | Tag::Undeclared => false,
        };
        if self.key_is_due() {
            let key = if plain && text == "<<" {
                Key::Merge
            } else {
                let name = if plain { scalar::as_key(text) } else { Some(text.to_owned()) };
                let Some(name) = name else { return Self::fail(span, YamlProblem::KeyIsNull) };
                Key::Named(self.tree.keep(&name, span), span)
            };
            if let Some(open) = self.open.last_mut() {
                open.key = Some(key);
            }
            return Ok(());
        }
        self.room(span)?;
        let value = match if plain { scalar::resolve(text) } else { Scalar::String } {
            Scalar::Null => NewValue::Null,
            Scalar::Bool(value) => NewValue::Bool(value),
            Scalar::Int(value) => NewValue::Int(value),
            Scalar::Float(value) if value.is_finite() => NewValue::Float(value),
            Scalar::Float(_) => return Self::fail(span, YamlProblem::NotFinite),
            Scalar::String => NewValue::String(self.keep(text, style, span)),
        };
        match self.slot() {
            Slot::Merged(_) => Self::fail(span, YamlProblem::MergeNeedsMapping),
            Slot::Below(parent, key) => {
                let id = self.tree.add(parent, key, New { value, span, style });
                self.remember(anchor, id);
                if style != Style::Plain && self.around.is_none() && self.tree.holds_values(id) {
                    self.embed(id, text, span, style);
                }
                Ok(())
            }
        }
    }

    fn keep(&mut self, text: &str, style: Style, span: Span) -> Text {
        let quote = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
        self.tree.keep(text, Span::new(span.start + quote, span.end))
    }

    fn remember(&mut self, anchor: usize, id: u32) {
        if anchor != 0 {
            let known = self.anchors.len().max(anchor + 1);
            self.anchors.resize(known, None);
            if let Some(node) = self.anchors.get_mut(anchor) {
                *node = Some(id);
            }
        }
    }

    fn start(&mut self, is_mapping: bool, flow: bool, anchor: usize, span: Span) -> Result<(), YamlError> {
        if self.key_is_due() {
            let before = span.start.saturating_sub(1);
            let template = self.tree.source().slice(Span::new(before, span.start + 1)) == "{{";
            return Self::fail(
                span,
                if template { YamlProblem::Template } else { YamlProblem::KeyIsCollection },
            );
        }
        self.room(span)?;
        if self.open.len() >= self.limits.depth {
            return Self::fail(span, YamlProblem::Exceeded(Exceeded::Depth(self.limits.depth)));
        }
        let value = if is_mapping { NewValue::Mapping } else { NewValue::Sequence };
        let new = New { value, span, style: if flow { Style::Flow } else { Style::Block } };
        let (id, merge_into) = match self.slot() {
            Slot::Below(parent, key) => (self.tree.add(parent, key, new), None),
            // What is merged is read beside the tree and then copied into its mapping.
            Slot::Merged(mapping) => (self.tree.add(None, None, new), Some(mapping)),
        };
        self.open.push(Open { id, anchor, flow, key: None, merge_into });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = if open.flow { span.end } else { self.tree.end_of(open.id) };
        self.tree.close(open.id, end);
        if self.tree.is_mapping(open.id) {
            self.tree.settle(open.id);
        }
        self.remember(open.anchor, open.id);
        match open.merge_into {
            Some(mapping) => self.merge(open.id, mapping, span),
            None => Ok(()),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        let Some(&Some(from)) = self.anchors.get(anchor) else {
            return Self::fail(span, YamlProblem::AliasOfItself);
        };
        if self.key_is_due() {
            let Some(name) = self.tree.string_of(from).map(str::to_owned) else {
                return Self::fail(span, YamlProblem::KeyIsCollection);
            };
            let key = Key::Named(self.tree.keep(&name, span), span);
            if let Some(open) = self.open.last_mut() {
                open.key = Some(key);
            }
            return Ok(());
        }
        match self.slot() {
            Slot::Merged(mapping) => self.merge(from, mapping, span),
            Slot::Below(parent, key) => {
                let copied = self.tree.copy(from, parent, key, Some(span), self.limits.nodes);
                self.within(copied.is_some(), span)
            }
        }
    }

    fn within(&self, within: bool, span: Span) -> Result<(), YamlError> {
        if within {
            return Ok(());
        }
        Self::fail(span, YamlProblem::Exceeded(Exceeded::Nodes(self.limits.nodes)))
    }

    /// Brings the members of a mapping, or of a list of mappings, into another. In a list the earlier ones win, so they
    /// are brought last.
    fn merge(&mut self, from: u32, into: u32, span: Span) -> Result<(), YamlError> {
        let sources = if self.tree.is_mapping(from) {
            vec![from]
        } else {
            self.tree.children_of(from).into_iter().rev().collect()
        };
        let all_mappings = sources.iter().all(|id| self.tree.is_mapping(*id));
        if !all_mappings || (sources.is_empty() && !self.tree.is_sequence(from)) {
            return Self::fail(span, YamlProblem::MergeNeedsMapping);
        }
        for source in sources {
            let merged = self.tree.merge(source, into, self.limits.nodes);
            self.within(merged.is_some(), span)?;
        }
        Ok(())
    }
}
