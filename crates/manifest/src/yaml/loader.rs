//! Events → trees: aliases as copies, merge keys, the last of duplicate keys, and the types of scalars, as in the
//! Kubernetes tools.

use std::sync::Arc;

use super::error::{YamlError, YamlProblem};
use super::events::{EventParser, YamlEvent};
use super::mask::MaskedText;
use super::token::Tag;
use crate::file::{indented_sections, sections};
use crate::limits::{Exceeded, Limits, MAX_VALUES_PER_BYTE};
use crate::options::ReadOptions;
use crate::scalar::{self, Scalar};
use crate::source::{Source, Span};
use crate::tree::{AddedNode, Node, NodeId, NodeValue, StringLocation, Style, Tree, Value};
use crate::work::WorkBudget;

/// Parses the documents within a span of the source up to the first error. They share the budget, and the work for each byte of
/// the span.
pub(crate) fn read(
    source: &Arc<Source>,
    span: Span,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Result<Tree, YamlError>> {
    read_text(source, span, source.slice(span), options, budget)
}

/// Parses the documents within a span as [`read`] does, with words instead of expressions such as `${x}`. `None` if there are no
/// expressions. If a document is not valid YAML with words either, returns its error and the text with words.
pub(crate) fn read_with_words(
    source: &Arc<Source>,
    span: Span,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Option<Result<Vec<Tree>, (YamlError, String)>> {
    let mask = MaskedText::of(source.slice(span))?;
    let documents = read_text(source, span, &mask.text, options, budget);
    let documents: Result<Vec<Tree>, YamlError> = documents.into_iter().collect();
    Some(match documents {
        Ok(mut trees) => {
            for tree in &mut trees {
                tree.replace_unescaped(0, |text| mask.restored(text));
            }
            Ok(trees)
        }
        Err(error) => Err((error, mask.text)),
    })
}

/// Parses a text that is in the place of a span, and as long.
fn read_text(
    source: &Arc<Source>,
    span: Span,
    text: &str,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Result<Tree, YamlError>> {
    let mut documents = Vec::new();
    let mut parser = event_parser(text, &options.limits);
    let mut own = most_work(span.len());
    // Most texts have one document.
    let mut room = span.len();
    loop {
        let mut tree = Tree::new(Arc::clone(source), options.holds_document);
        tree.make_room_for(core::mem::take(&mut room));
        let bound = Bound::least(own, &options.limits, budget);
        let mut loader = Loader::into(tree, span, &options.limits, bound);
        let parsed = loader.document(&mut parser);
        own = own.saturating_sub(loader.tree.work());
        budget.spend(loader.tree.work());
        match parsed {
            Ok(true) => {}
            Ok(false) => return documents,
            Err(error) => {
                documents.push(Err(error));
                return documents;
            }
        }
        loader.tree.finish();
        loader.tree.set_excerpt(span, false);
        documents.push(Ok(loader.tree));
    }
}

/// Parses the document that a JSON string holds, below the node of the string. A string that is not a document keeps no
/// children.
pub(crate) fn embed(tree: &mut Tree, id: NodeId, span: Span, limits: &Limits) {
    let Some(text) = tree.string_of(id).map(str::to_owned) else { return };
    let empty = tree.sibling(tree.shared_source());
    let bound = Bound::within(tree, &text, limits.nodes);
    let mut loader = Loader::into(core::mem::replace(tree, empty), Span::whole(&text), limits, bound);
    loader.embed(id, &text, span, Style::DoubleQuoted);
    *tree = loader.tree;
}

/// Parses the documents that a string holds, with their spans in the text of the string. The values of a string that does
/// not hold its document letter by letter have the span of the whole string.
pub(crate) fn read_string(node: Node<'_>, limits: &Limits) -> Vec<Result<Tree, YamlError>> {
    let source = node.tree().shared_source_at(node.source_id());
    let span = node.span();
    if node.style() == Style::Literal && node.is_verbatim() {
        let options = node.tree().options_within(limits);
        let budget = WorkBudget::of_file(span.len(), limits);
        return sections_of_block(source, span)
            .flat_map(|span| read(source, span, &options, &budget))
            .collect();
    }
    let Some(text) = node.as_str() else { return Vec::new() };
    let mut documents = Vec::new();
    let budget = WorkBudget::of_file(text.len(), limits);
    for section in sections(text) {
        let mut parser = event_parser(section.text(text), limits);
        let whole = Span::new(0, section.end - section.start);
        let bound = Bound::least(most_work(section.len()), limits, &budget);
        let mut loader = Loader::into(node.tree().sibling(source), whole, limits, bound);
        loader.container = Some(OpenContainer { id: None, whole: Some(span) });
        let parsed = loader.document(&mut parser);
        budget.spend(loader.tree.work());
        match parsed {
            Ok(true) => {
                loader.tree.finish();
                documents.push(Ok(loader.tree));
            }
            Ok(false) => {}
            Err(error) => documents.push(Err(YamlError { at: span.start, ..error })),
        }
    }
    documents
}

/// The documents of a literal block scalar, separated by its `---` lines. The lines keep their indentation.
fn sections_of_block(source: &Source, span: Span) -> impl Iterator<Item = Span> {
    let lines = source.lines_of_block(span);
    let sections = indented_sections(source.slice(lines), span.start - lines.start);
    sections.into_iter().map(move |section| section.shifted(lines.start))
}

/// Work that a document may take, and the bound that it exceeds otherwise.
#[derive(Clone, Copy)]
struct Bound {
    work: usize,
    exceeded: Exceeded,
}

/// The most work that aliases may make of a text.
pub(crate) fn most_work(bytes: usize) -> usize {
    bytes.saturating_mul(MAX_VALUES_PER_BYTE)
}

impl Bound {
    /// The bound on a text of which aliases may make `own` units.
    fn of_text(own: usize, limits: &Limits) -> Self {
        if own < limits.nodes {
            Self { work: own, exceeded: Exceeded::Expansion }
        } else {
            Self { work: limits.nodes, exceeded: Exceeded::Nodes(limits.nodes) }
        }
    }

    /// The bound on a document of a string in a tree whose work has the bound `most`. Documents that were dropped count too, so that
    /// many of them take no more work than one.
    fn within(tree: &Tree, text: &str, most: usize) -> Self {
        let own = most_work(text.len()).min(most.saturating_sub(tree.work()));
        Self { work: tree.size().saturating_add(own), exceeded: Exceeded::Expansion }
    }

    /// The bound on a text that shares a budget.
    fn least(own: usize, limits: &Limits, budget: &WorkBudget) -> Self {
        let bound = Self::of_text(own, limits);
        if budget.left() < bound.work {
            Self { work: budget.left(), exceeded: Exceeded::Work(budget.limit()) }
        } else {
            bound
        }
    }
}

/// Allows one more level of brackets than the limit, so that the loader reports the value that is too deep.
fn event_parser<'t>(text: &'t str, limits: &Limits) -> EventParser<'t> {
    EventParser::new(text, limits.depth + 1).refusing_tabs()
}

/// A string that holds the document being parsed.
#[derive(Clone, Copy)]
struct OpenContainer {
    /// The node of the string; `None` if the document is not below it.
    id: Option<NodeId>,
    /// The span of a string that does not hold the document letter by letter: every value gets this span.
    whole: Option<Span>,
}

struct Loader {
    tree: Tree,
    /// Offset in the source of the text being parsed.
    base: usize,
    limits: Limits,
    bound: Bound,
    open: Vec<Open>,
    /// The node of each anchor. The event parser numbers anchors from 1.
    anchors: Vec<Option<NodeId>>,
    container: Option<OpenContainer>,
}

/// A collection before its end.
struct Open {
    id: NodeId,
    anchor: usize,
    flow: bool,
    /// In a mapping: the key of the next value.
    key: Option<Key>,
    /// The mapping to merge the collection into, if the collection is the value of a merge key.
    merge_into: Option<NodeId>,
}

enum Key {
    Named(StringLocation, Span),
    Merge,
}

/// Destination of a node.
enum Destination {
    /// Below a parent, or at the root.
    Below(Option<NodeId>, Option<(StringLocation, Span)>),
    /// Into a mapping, as the value of `<<`.
    Merged(NodeId),
}

impl Loader {
    /// A loader of the text within a span.
    fn into(tree: Tree, text: Span, limits: &Limits, bound: Bound) -> Self {
        let (open, anchors) = (Vec::new(), Vec::new());
        Self { tree, base: text.start, limits: *limits, bound, open, anchors, container: None }
    }

    /// Parses a document. Returns `false` at the end of the text.
    fn document(&mut self, parser: &mut EventParser<'_>) -> Result<bool, YamlError> {
        loop {
            let (event, local) = match parser.next() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(false),
                Err(fault) => {
                    let fault = parser.at_unclosed_bracket(fault);
                    let too_deep = YamlProblem::Exceeded(Exceeded::Depth(self.limits.depth));
                    let problem = fault.why.map_or(too_deep, YamlProblem::Syntax);
                    return Err(YamlError { at: self.base + fault.at, problem });
                }
            };
            let verbatim = self.container.is_none_or(|container| container.whole.is_none());
            while let Some(comment) = parser.take_comment_before(local.start) {
                if verbatim {
                    self.tree.add_comment(self.span(comment));
                }
            }
            let span = self.span(local);
            match event {
                YamlEvent::Scalar { text, style, tag, anchor } => {
                    self.scalar(parser.text(text), style, tag, anchor, span)?;
                }
                YamlEvent::Start { is_mapping, in_brackets, anchor } => {
                    // A collection in block style starts with an empty span.
                    let whole = self.container.and_then(|container| container.whole);
                    self.start(is_mapping, in_brackets, anchor, whole.unwrap_or(span))?;
                }
                YamlEvent::End => self.end(span)?,
                YamlEvent::Alias(anchor) => self.alias(anchor, span)?,
                YamlEvent::DocumentEnd => return Ok(true),
            }
        }
    }

    /// The span in the source of a span in the text being parsed.
    fn span(&self, local: Span) -> Span {
        match self.container.and_then(|container| container.whole) {
            Some(whole) if local.start == local.end => Span::new(whole.start, whole.start),
            Some(whole) => whole,
            None => Span::new(self.base + local.start, self.base + local.end),
        }
    }

    /// Parses the document that a string holds, below the node of the string.
    fn embed(&mut self, id: NodeId, text: &str, span: Span, style: Style) {
        // A block scalar without content has the span of its header.
        if text.trim().is_empty() {
            return;
        }
        let verbatim = style == Style::Literal;
        // The span of a block scalar starts after the indentation of the first line; the document starts before it.
        let before = self.tree.source().before(span.start);
        let base = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let source = Arc::clone(self.tree.shared_source());
        let text = if verbatim { source.slice(Span::new(base, span.end)) } else { text };
        let mark = self.tree.mark();
        let container = OpenContainer { id: Some(id), whole: (!verbatim).then_some(span) };
        let outer = (
            core::mem::take(&mut self.open),
            core::mem::take(&mut self.anchors),
            core::mem::replace(&mut self.base, base),
            self.container.replace(container),
        );
        let bound = self.bound;
        self.bound = Bound::within(&self.tree, text, bound.work);
        let mut parsed = self.document(&mut event_parser(text, &self.limits));
        // A program that replaces the expressions of a template, such as Argo CD in an ApplicationSet, reads the string before it is YAML.
        if parsed.is_err()
            && let Some(mask) = MaskedText::of_template(text)
        {
            self.tree.truncate(id, mark);
            self.open.clear();
            self.anchors.clear();
            self.bound = Bound::within(&self.tree, text, bound.work);
            let strings = self.tree.unescaped_end();
            parsed = self.document(&mut event_parser(&mask.text, &self.limits));
            self.tree.replace_unescaped(strings, |text| mask.restored(text));
        }
        self.bound = bound;
        if !matches!(parsed, Ok(true)) {
            self.tree.truncate(id, mark);
        }
        (self.open, self.anchors, self.base, self.container) = outer;
    }

    fn fail<T>(span: Span, problem: YamlProblem) -> Result<T, YamlError> {
        Err(YamlError { at: span.start, problem })
    }

    /// Whether the next node is a key of the innermost mapping.
    fn key_is_due(&self) -> bool {
        self.open.last().is_some_and(|open| self.tree.is_mapping(open.id) && open.key.is_none())
    }

    /// The destination of the next value.
    fn slot(&mut self) -> Destination {
        let Some(open) = self.open.last_mut() else {
            return Destination::Below(self.container.and_then(|container| container.id), None);
        };
        match open.key.take() {
            Some(Key::Merge) => Destination::Merged(open.id),
            Some(Key::Named(text, span)) => Destination::Below(Some(open.id), Some((text, span))),
            None => Destination::Below(Some(open.id), None),
        }
    }

    /// Checks that the bound has room for one more node.
    fn room(&self, span: Span) -> Result<(), YamlError> {
        self.within_bound(self.tree.size() < self.bound.work, span)
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
            Tag::Merge => text == "<<",
            Tag::String | Tag::Other | Tag::Undeclared => false,
        };
        if self.key_is_due() {
            let key = if plain && text == "<<" {
                Key::Merge
            } else {
                let name = if plain { scalar::as_key(text) } else { Some(text.into()) };
                let Some(name) = name else { return Self::fail(span, YamlProblem::KeyIsNull) };
                Key::Named(self.tree.keep(&name, span), span)
            };
            if let Some(open) = self.open.last_mut() {
                open.key = Some(key);
            }
            if anchor != 0 {
                // An alias may copy the key: it becomes a node without a parent.
                self.room(span)?;
                // A number that JSON does not have is valid as a key only, so no alias can be its value.
                if let Ok(value) = self.scalar_value(text, plain, style, span) {
                    let id = self.tree.add(None, None, AddedNode { value, span, style });
                    self.remember(anchor, id);
                }
            }
            return Ok(());
        }
        self.room(span)?;
        let value = self.scalar_value(text, plain, style, span)?;
        match self.slot() {
            Destination::Merged(_) => Self::fail(span, YamlProblem::MergeNeedsMapping),
            Destination::Below(parent, key) => {
                let id = self.tree.add(parent, key, AddedNode { value, span, style });
                if self.container.is_some_and(|container| container.whole.is_some()) {
                    self.tree.derive(id, text);
                }
                self.remember(anchor, id);
                if style != Style::Plain && self.container.is_none() && self.tree.holds_document(id) {
                    self.embed(id, text, span, style);
                }
                Ok(())
            }
        }
    }

    fn scalar_value(
        &mut self,
        text: &str,
        plain: bool,
        style: Style,
        span: Span,
    ) -> Result<NodeValue, YamlError> {
        Ok(match if plain { scalar::resolve(text) } else { Scalar::String } {
            Scalar::Null => NodeValue::Null,
            Scalar::Bool(value) => NodeValue::Bool(value),
            Scalar::Int(value) => NodeValue::Int(value),
            Scalar::Float(value) if value.is_finite() => NodeValue::Float(value),
            Scalar::Float(_) => return Self::fail(span, YamlProblem::NotFinite),
            Scalar::String => NodeValue::String(self.keep(text, style, span)),
        })
    }

    fn keep(&mut self, text: &str, style: Style, span: Span) -> StringLocation {
        let quote = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
        self.tree.keep(text, Span::new(span.start + quote, span.end))
    }

    fn remember(&mut self, anchor: usize, id: NodeId) {
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
        let value = if is_mapping { NodeValue::Mapping } else { NodeValue::Sequence };
        let new = AddedNode { value, span, style: if flow { Style::Flow } else { Style::Block } };
        let (id, merge_into) = match self.slot() {
            Destination::Below(parent, key) => (self.tree.add(parent, key, new), None),
            // The value of a merge key becomes a tree without a parent and is then copied into its mapping.
            Destination::Merged(mapping) => (self.tree.add(None, None, new), Some(mapping)),
        };
        self.open.push(Open { id, anchor, flow, key: None, merge_into });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = if open.flow { span.end } else { self.tree.end_of(open.id) };
        self.tree.close(open.id, end);
        if self.tree.is_mapping(open.id) {
            self.tree.complete_mapping(open.id);
        }
        self.remember(open.anchor, open.id);
        match open.merge_into {
            Some(mapping) => {
                self.merge(open.id, mapping, span)?;
                self.tree.close(mapping, end);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        let Some(&Some(from)) = self.anchors.get(anchor) else {
            return Self::fail(span, YamlProblem::AliasOfItself);
        };
        if self.key_is_due() {
            let name = match self.tree.node(from).value() {
                Value::Mapping | Value::Sequence => return Self::fail(span, YamlProblem::KeyIsCollection),
                Value::Null => None,
                Value::Bool(value) => scalar::canonical(Scalar::Bool(value), ""),
                Value::Int(value) => scalar::canonical(Scalar::Int(value), ""),
                Value::Float(value) => scalar::canonical(Scalar::Float(value), ""),
                Value::String(text) => Some(text.to_owned().into()),
            };
            let Some(name) = name else { return Self::fail(span, YamlProblem::KeyIsNull) };
            let key = Key::Named(self.tree.repeat_key(&name, span), span);
            if let Some(open) = self.open.last_mut() {
                open.key = Some(key);
            }
            return self.room(span);
        }
        match self.slot() {
            Destination::Merged(mapping) => {
                self.merge(from, mapping, span)?;
                self.tree.close(mapping, span.end);
                Ok(())
            }
            Destination::Below(parent, key) => {
                let copied = self.tree.copy(from, parent, key, Some(span), self.bound.work);
                self.within_bound(copied.is_some(), span)
            }
        }
    }

    /// Reports the bound on the work unless a value was within it.
    fn within_bound(&self, within: bool, span: Span) -> Result<(), YamlError> {
        if within {
            return Ok(());
        }
        Self::fail(span, YamlProblem::Exceeded(self.bound.exceeded))
    }

    /// Merges a mapping, or a list of mappings, into another mapping. Of a list the earlier mappings take precedence, so
    /// they are merged last.
    fn merge(&mut self, from: NodeId, into: NodeId, span: Span) -> Result<(), YamlError> {
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
            let merged = self.tree.merge(source, into, self.bound.work);
            self.within_bound(merged.is_some(), span)?;
        }
        Ok(())
    }
}
