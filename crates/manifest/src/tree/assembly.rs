//! Documents built of parts of other documents, such as the output of a build that merges files.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::id::{NodeId, SourceId};
use super::node::{Node, Value};
use super::placed::{NodePlace, StringPart};
use super::store::{Comment, NodeValue, Style, Tree};
use crate::options::ReadOptions;
use crate::source::{Source, Span};

/// Builder of a document from nodes of other documents. Each node keeps the place of its text.
pub struct Assembly {
    tree: Tree,
    /// The ids of the texts, by address.
    sources: BTreeMap<usize, SourceId>,
    /// The documents whose comments are part of the result, by address.
    documents: BTreeSet<usize>,
    limit: usize,
}

/// The value of a new node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewValue<'v> {
    /// A scalar value; a list or an object without its items or members.
    Of(Value<'v>),
    /// The scalar value of a node, with its spelling.
    Same,
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").field("nodes", &self.tree.size()).finish_non_exhaustive()
    }
}

impl Assembly {
    /// Starts a document whose main text is the text of a node. The document has at most `limit` nodes.
    pub fn new(main: Node<'_>, limit: usize) -> Self {
        let mut tree = main.tree().sibling(shared(main));
        tree.is_assembled = true;
        let sources = BTreeMap::from([(address(shared(main)), SourceId::MAIN)]);
        Self { tree, sources, documents: BTreeSet::new(), limit }
    }

    /// Copies a value with everything below it. Returns `None` if the document would be too large.
    pub fn copy(&mut self, parent: Option<NodeId>, key: Option<&str>, from: Node<'_>) -> Option<NodeId> {
        let id = self.add(parent, key, NewValue::Same, from, from.is_derived())?;
        if let Some(data) = self.tree.data_mut(id) {
            data.merged = from.data().merged && key.is_some();
        }
        for child in from.children() {
            let key = Some(child.key()).filter(|_| from.is_mapping());
            self.copy(Some(id), key, child)?;
        }
        self.complete(id);
        Some(id)
    }

    /// Adds a node as the last child of `parent`. Its text is the text of the node `at`; `is_derived` says that this text
    /// is not the spelling of the value. Returns the id of the node, or `None` if the document would be too large.
    pub fn add(
        &mut self,
        parent: Option<NodeId>,
        key: Option<&str>,
        value: NewValue<'_>,
        at: Node<'_>,
        is_derived: bool,
    ) -> Option<NodeId> {
        if self.tree.size() >= self.limit {
            return None;
        }
        let source = self.source_of(at)?;
        let (value, style) = match value {
            NewValue::Same => (self.stored(at.value()), at.style()),
            NewValue::Of(value) => (self.stored(value), style_of(value, at)),
        };
        let key_text = key.map(|key| self.tree.keep_copy(key)).unwrap_or_default();
        let key_span = if key.is_some() { at.key_span() } else { Span::default() };
        let id = self.tree.add_stored(parent, key_text, key_span.into(), value, at.span().into(), style);
        if let Some(data) = self.tree.data_mut(id) {
            data.source = source;
            data.derived = is_derived;
        }
        if is_derived {
            self.tree.derive(id, &spelling(value, at));
        }
        Some(id)
    }

    /// Starts a document that another program computes from its own texts, with its main text. The document has at most `limit` nodes.
    pub fn of_text(main: &Arc<Source>, options: &ReadOptions, limit: usize) -> Self {
        let mut tree = Tree::new(Arc::clone(main), options.holds_document);
        (tree.is_assembled, tree.is_evaluated) = (true, true);
        let sources = BTreeMap::from([(address(main), SourceId::MAIN)]);
        Self { tree, sources, documents: BTreeSet::new(), limit }
    }

    /// Adds a node as the last child of `parent`. Returns the id of the node, or `None` if the document would be too large.
    pub fn place(
        &mut self,
        parent: Option<NodeId>,
        key: Option<&str>,
        value: Value<'_>,
        place: &NodePlace<'_>,
    ) -> Option<NodeId> {
        if self.tree.size() >= self.limit {
            return None;
        }
        let source = self.text_of(place.source)?;
        let value = self.stored(value);
        let key = key.map(|key| self.tree.keep_copy(key)).unwrap_or_default();
        let id = self.tree.add_stored(parent, key, place.key.into(), value, place.value.into(), place.style);
        if let Some(data) = self.tree.data_mut(id) {
            data.source = source;
        }
        if let Some(spelling) = place.derived {
            self.tree.derive(id, spelling);
        }
        Some(id)
    }

    /// Records the parts of a derived string.
    pub fn set_parts(&mut self, id: NodeId, parts: Vec<StringPart>) {
        self.tree.derivations.get_or_insert_default().parts.insert(id, parts);
    }

    /// Records why some fields have placeholders instead of values, in a sentence.
    pub fn add_hidden(&mut self, reason: String) {
        self.tree.derivations.get_or_insert_default().hidden.push(reason);
    }

    /// Adds a comment. The comments of a text are added in its order.
    pub fn add_comment(&mut self, source: &Arc<Source>, span: Span) {
        if let Some(source) = self.text_of(source) {
            self.tree.comments.push(Comment { span, source });
        }
    }

    /// Completes an object after its last member.
    pub fn complete(&mut self, id: NodeId) {
        if self.tree.is_mapping(id) {
            self.tree.complete_mapping(id);
        }
    }

    /// Number of nodes so far.
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    /// Whether there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The document.
    pub fn finish(mut self) -> Tree {
        self.tree.finish();
        self.tree
    }

    /// The id of the text of a node. The comments of the node's document become part of this document.
    fn source_of(&mut self, node: Node<'_>) -> Option<SourceId> {
        let source = shared(node);
        let id = self.text_of(source)?;
        let document = core::ptr::from_ref(node.tree()).addr();
        if self.documents.insert(document) {
            let comments = node.tree().comments().iter().filter(|comment| comment.source == node.source_id());
            self.tree.comments.extend(comments.map(|comment| Comment { span: comment.span, source: id }));
        }
        Some(id)
    }

    /// The id of a text.
    fn text_of(&mut self, source: &Arc<Source>) -> Option<SourceId> {
        match self.sources.get(&address(source)) {
            Some(id) => Some(*id),
            None => self.add_source(source),
        }
    }

    fn add_source(&mut self, source: &Arc<Source>) -> Option<SourceId> {
        let id = SourceId::further(self.tree.further.len())?;
        self.tree.further.push(Arc::clone(source));
        self.sources.insert(address(source), id);
        Some(id)
    }

    fn stored(&mut self, value: Value<'_>) -> NodeValue {
        match value {
            Value::Null => NodeValue::Null,
            Value::Bool(value) => NodeValue::Bool(value),
            Value::Int(value) => NodeValue::Int(value),
            Value::Float(value) => NodeValue::Float(value),
            Value::String(text) => NodeValue::String(self.tree.keep_copy(text)),
            Value::Sequence => NodeValue::Sequence,
            Value::Mapping => NodeValue::Mapping,
        }
    }
}

/// The style of a value that replaces the value of `at`.
fn style_of(value: Value<'_>, at: Node<'_>) -> Style {
    match value {
        Value::Sequence | Value::Mapping if !matches!(at.style(), Style::Flow | Style::Block) => Style::Block,
        _ => at.style(),
    }
}

/// The spelling of a derived value that is not a string.
fn spelling(value: NodeValue, at: Node<'_>) -> String {
    match value {
        NodeValue::Null => "null".to_owned(),
        NodeValue::Bool(value) => value.to_string(),
        NodeValue::Int(value) => value.to_string(),
        NodeValue::Float(_) => at.spelling().to_owned(),
        NodeValue::String(_) | NodeValue::Sequence | NodeValue::Mapping => String::new(),
    }
}

fn shared(node: Node<'_>) -> &Arc<Source> {
    node.tree().shared_source_at(node.source_id())
}

fn address(source: &Arc<Source>) -> usize {
    Arc::as_ptr(source).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{Document, File};

    fn read(name: &str, text: &str) -> File {
        File::read(name, text, &Limits::DEFAULT)
    }

    fn root(file: &File) -> Node<'_> {
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        tree.root()
    }

    #[test]
    fn keeps_the_place_of_every_part() {
        let base = read("base.yaml", "# one\na: 1\nb: {c: 'x', c: \"y\"} # two\n");
        let patch = read("patch.yaml", "\n# three\nd: [5, six]\n");
        let mut assembly = Assembly::new(root(&base), 100);
        let top = assembly.add(None, None, NewValue::Of(Value::Mapping), root(&base), false);
        assembly.copy(top, Some("b"), root(&base).get("b").unwrap()).unwrap();
        assembly.copy(top, Some("e"), root(&patch).get("d").unwrap()).unwrap();
        let one = root(&base).get("a").unwrap();
        assembly.add(top, Some("f"), NewValue::Of(Value::Int(7)), one, true).unwrap();
        assembly.complete(top.unwrap());
        let tree = assembly.finish();
        let at = |keys: &[&str]| tree.root().at_path(keys).unwrap();
        let c = at(&["b", "c"]);
        assert_eq!((c.source().name(), c.spelling(), c.as_str()), ("base.yaml", "\"y\"", Some("y")));
        let item = at(&["e"]).items().next().unwrap();
        assert_eq!(
            (item.source().name(), item.spelling(), item.key_span()),
            ("patch.yaml", "5", Span::default())
        );
        let seven = at(&["f"]);
        assert_eq!((seven.source().slice(seven.span()), seven.spelling()), ("1", "7"));
        assert!(seven.is_derived() && !item.is_derived() && tree.is_assembled());
        assert_eq!(tree.duplicate_keys().len(), 1);
        let comments: Vec<_> = tree
            .comments()
            .iter()
            .map(|comment| tree.source_at(comment.source).slice(comment.span))
            .collect();
        assert_eq!(comments, ["# one", "# two", "# three"]);
    }

    #[test]
    fn refuses_more_nodes_than_the_limit() {
        let base = read("-", "a: [1, 2, 3]\n");
        for (limit, fits) in [(5, true), (4, false)] {
            let mut assembly = Assembly::new(root(&base), limit);
            assert_eq!(assembly.copy(None, None, root(&base)).is_some(), fits);
        }
    }
}
