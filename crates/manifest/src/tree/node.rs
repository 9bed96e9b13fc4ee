//! A value of a [`Tree`], as its readers see it.

use super::id::{NodeId, SourceId};
use super::store::{NodeData, NodeValue, Style, Tree};
use crate::source::{Source, Span, certain};

/// A node of a [`Tree`]. A copy costs nothing; two nodes are equal if they are the same node of the same tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    tree: &'d Tree,
    id: NodeId,
}

/// A value as in JSON. Integers are distinct from other numbers, as in the API server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'d> {
    /// `null`, or an absent value after a key.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction or exponent that fits a signed 64-bit integer.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string, unescaped.
    String(&'d str),
    /// A list.
    Sequence,
    /// An object.
    Mapping,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.tree, other.tree) && self.id == other.id
    }
}

impl Eq for Node<'_> {}

impl Tree {
    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        self.node(NodeId::ROOT)
    }

    /// The node with an id of this tree, such as one of [`Tree::duplicate_keys`].
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { tree: self, id }
    }
}

impl<'d> Node<'d> {
    pub(super) fn data(self) -> &'d NodeData {
        self.tree.data(self.id)
    }

    /// The node behind a link of the arena.
    pub(super) fn linked(self, id: NodeId) -> Option<Self> {
        (id != NodeId::NONE).then_some(Self { tree: self.tree, id })
    }

    /// The tree of this node.
    pub fn tree(self) -> &'d Tree {
        self.tree
    }

    /// The value.
    pub fn value(self) -> Value<'d> {
        match self.data().value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(value),
            NodeValue::Int(value) => Value::Int(value),
            NodeValue::Float(value) => Value::Float(value),
            NodeValue::String(text) => Value::String(self.tree.text(text)),
            NodeValue::Sequence => Value::Sequence,
            NodeValue::Mapping => Value::Mapping,
        }
    }

    /// The spelling of the value.
    pub fn style(self) -> Style {
        self.data().style
    }

    /// The value if it is a string.
    pub fn as_str(self) -> Option<&'d str> {
        if let NodeValue::String(text) = self.data().value { Some(self.tree.text(text)) } else { None }
    }

    /// The value if it is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        if let NodeValue::Bool(value) = self.data().value { Some(value) } else { None }
    }

    /// The value if it is an integer.
    pub fn as_int(self) -> Option<i64> {
        if let NodeValue::Int(value) = self.data().value { Some(value) } else { None }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.data().value == NodeValue::Null
    }

    /// Whether the value is an object.
    pub fn is_mapping(self) -> bool {
        self.data().value == NodeValue::Mapping
    }

    /// Whether the value is a list.
    pub fn is_sequence(self) -> bool {
        self.data().value == NodeValue::Sequence
    }

    /// Whether a later member of the object has the same key and overrides this one.
    pub fn is_overridden(self) -> bool {
        self.data().overridden
    }

    /// The number of items or members.
    pub fn len(self) -> usize {
        let last = self.data().last_child;
        if last == NodeId::NONE { 0 } else { self.tree.data(last).index as usize + 1 }
    }

    /// Whether the value has no items or members.
    pub fn is_empty(self) -> bool {
        self.data().first_child == NodeId::NONE
    }

    /// The member under a key. Of duplicates it is the last, as in the Kubernetes tools.
    pub fn get(self, key: &str) -> Option<Self> {
        if !self.is_mapping() {
            return None;
        }
        let mut id = self.data().first_child;
        // `NodeId::NONE` is no index.
        while let Some(member) = self.tree.nodes.get(id.index()) {
            // Most keys differ in length, which is cheaper to compare than their text.
            let may_be_equal = member.key.len as usize == key.len() && !member.overridden;
            if may_be_equal && self.tree.bytes(member.key) == key.as_bytes() {
                return Some(Self { tree: self.tree, id });
            }
            id = member.next_sibling;
        }
        None
    }

    /// The value at a path of keys.
    pub fn at_path(self, keys: &[&str]) -> Option<Self> {
        let mut node = self;
        for key in keys {
            node = node.get(key)?;
        }
        Some(node)
    }

    /// The string at a path of keys.
    pub fn str_at(self, keys: &[&str]) -> Option<&'d str> {
        self.at_path(keys)?.as_str()
    }

    /// The object or list that contains this value.
    pub fn parent(self) -> Option<Self> {
        self.linked(self.data().parent)
    }

    /// The key of this value; empty for an item and for the root.
    pub fn key(self) -> &'d str {
        self.tree.text(self.data().key)
    }

    /// The position among the items or members of the parent, from 0.
    pub fn index(self) -> usize {
        self.data().index as usize
    }

    /// The span of the value. An absent value has an empty span, and the value of an alias has the span of the alias.
    pub fn span(self) -> Span {
        self.data().span.into()
    }

    /// The span of the key, with its quotes; empty for an item and for the root.
    pub fn key_span(self) -> Span {
        self.data().key_span.into()
    }

    /// The text that the spans of this node point into.
    pub fn source(self) -> &'d Source {
        self.tree.source_at(self.data().source)
    }

    /// The id of the text that the spans of this node point into.
    pub fn source_id(self) -> SourceId {
        self.data().source
    }

    /// Whether the text at the span of this node is not its spelling, because the value was computed.
    pub fn is_derived(self) -> bool {
        self.data().derived
    }

    /// Whether `<<` merges this member into its object.
    pub fn is_merged(self) -> bool {
        self.data().merged
    }

    /// The value as the text spells it.
    pub fn spelling(self) -> &'d str {
        if !self.is_derived() {
            return self.source().slice(self.span());
        }
        let derivations = self.tree.derivations.as_ref();
        let stored = derivations.and_then(|known| known.spellings.get(&self.id));
        let stored = stored.map(|text| self.tree.text(*text));
        certain(stored.or(self.as_str()))
    }

    /// The id in its tree.
    pub fn id(self) -> NodeId {
        self.id
    }
}
