//! Places in an object: the field path that the API server prints, and the bytes of the text.

use core::fmt::Write as _;

use manifest::source::{Source, Span};
use manifest::tree::{Comment, Node, NodeId, SourceId};

use crate::iam_policy::PolicyLocation;

/// The place of a finding: the field path that the API server would print, and the place in the text.
#[derive(Clone, Debug)]
pub struct Place<'d> {
    node: Node<'d>,
    part: Part,
    path: PathOf<'d>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Value,
    Key,
    Within(Span),
    /// A comment, which belongs to no value.
    Comment(Comment),
}

#[derive(Clone, Debug)]
enum PathOf<'d> {
    Node,
    Parent,
    Holder(Node<'d>),
    Below(String),
    /// A path that the API server spells in its own way, such as `.spec.replicas` for the scale subresource.
    Verbatim(&'static str),
}

impl<'d> Place<'d> {
    /// A value.
    pub fn value(node: Node<'d>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Node }
    }

    /// The key of a value.
    pub fn key(node: Node<'d>) -> Self {
        Self { node, part: Part::Key, path: PathOf::Node }
    }

    /// Whether the place is a key, not a value.
    pub fn is_key(&self) -> bool {
        self.part == Part::Key
    }

    /// The key of a member of a map such as `labels`: the path names the map, as the API server does.
    pub fn key_of_map(node: Node<'d>) -> Self {
        Self { node, part: Part::Key, path: PathOf::Parent }
    }

    /// A value with the path of its parent, as the API server reports rules over several fields.
    pub fn value_under_parent(node: Node<'d>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Parent }
    }

    /// Some bytes of a string's value, such as a word of a script.
    pub fn within(node: Node<'d>, range: Span) -> Self {
        Self { node, part: Part::Within(range), path: PathOf::Node }
    }

    /// A part of an IAM policy.
    pub fn of_policy(at: PolicyLocation<'d>) -> Self {
        match at {
            PolicyLocation::Value(node) => Self::value(node),
            PolicyLocation::Key(node) => Self::key(node),
            PolicyLocation::Within(node, range) => Self::within(node, range),
        }
    }

    /// A comment, or a part of one. Its path is the path of `root`.
    pub fn comment(root: Node<'d>, comment: Comment) -> Self {
        Self { node: root, part: Part::Comment(comment), path: PathOf::Node }
    }

    /// A field that is not there, below a node: `field` may be a path such as `group` or `spec.group`.
    pub fn missing(node: Node<'d>, field: impl Into<String>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Below(field.into()) }
    }

    /// The same place under the API server's own spelling of the path.
    pub fn spelled(mut self, path: &'static str) -> Self {
        self.path = PathOf::Verbatim(path);
        self
    }

    /// The same place with the path of a node that contains it: the API server reports a rule over several fields of
    /// `spec.template.spec` at that path.
    pub fn under(mut self, holder: Node<'d>) -> Self {
        self.path = PathOf::Holder(holder);
        self
    }

    /// The node that the place belongs to.
    pub fn node(&self) -> Node<'d> {
        self.node
    }

    /// The node whose path is the path of the place, if that is not the node itself.
    pub fn holder(&self) -> Option<Node<'d>> {
        match &self.path {
            PathOf::Holder(holder) => Some(*holder),
            _ => None,
        }
    }

    /// The field path within the object whose root is given, in the API server's notation.
    pub fn path(&self, root: Node<'d>) -> String {
        match &self.path {
            PathOf::Node => path_of(self.node, root),
            PathOf::Parent => self.node.parent().map(|parent| path_of(parent, root)).unwrap_or_default(),
            PathOf::Holder(holder) => path_of(*holder, root),
            PathOf::Verbatim(path) => (*path).to_owned(),
            PathOf::Below(field) => {
                let mut path = path_of(self.node, root);
                if !path.is_empty() && !field.starts_with('[') {
                    path.push('.');
                }
                path.push_str(field);
                path
            }
        }
    }

    /// The bytes of the text to mark. The text is [`Self::source`].
    pub fn span(&self) -> Span {
        self.marked().1
    }

    /// The text with the bytes to mark.
    pub fn source(&self) -> &'d Source {
        self.node.tree().source_at(self.source_id())
    }

    /// The id of the text with the bytes to mark, as in [`Node::source_id`].
    pub fn source_id(&self) -> SourceId {
        self.marked().0
    }

    /// The bytes to mark, with the id of their text.
    fn marked(&self) -> (SourceId, Span) {
        let own = self.node.source_id();
        match self.part {
            Part::Within(range) => (own, self.node.span_within(range)),
            Part::Comment(comment) => (comment.source, comment.span),
            Part::Key => self.key_span(),
            Part::Value if self.node.is_mapping() || self.node.is_sequence() => self.key_span(),
            Part::Value => {
                let span = self.node.span();
                if span.start == span.end { self.key_span() } else { (own, span) }
            }
        }
    }

    /// The key of the node, or of the first member within it where it has none.
    fn key_span(&self) -> (SourceId, Span) {
        let located = |node: Node<'_>, span| (node.source_id(), span);
        let own = self.node.key_span();
        if own != Span::default() {
            return located(self.node, own);
        }
        let name = self.node.at_path(&["metadata", "name"]).map(|name| located(name, name.span()));
        let first = || {
            let first = self.node.children().next().filter(|first| first.key_span() != Span::default())?;
            Some(located(first, first.key_span()))
        };
        name.or_else(first).unwrap_or_else(|| located(self.node, self.node.span()))
    }

    /// A key that sorts the places of one document, with or without a text.
    pub fn order(&self) -> PlaceOrder {
        match self.part {
            Part::Key => PlaceOrder(self.node.id(), 0),
            Part::Value => PlaceOrder(self.node.id(), 1),
            Part::Within(range) | Part::Comment(Comment { span: range, .. }) => {
                PlaceOrder(self.node.id(), 2 + range.start)
            }
        }
    }
}

/// Order of a place among the places of one document: the node, and the part of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceOrder(NodeId, usize);

/// The path of a node within the object whose root is given: `spec.requirements[0].key`; empty for the root itself.
pub fn path_of<'d>(node: Node<'d>, root: Node<'d>) -> String {
    let mut nodes: Vec<Node<'d>> =
        core::iter::successors(Some(node), |node| node.parent()).take_while(|node| *node != root).collect();
    nodes.reverse();
    let mut path = String::new();
    for node in nodes {
        let holder = node.parent();
        if holder.is_some_and(|holder| holder.embedded() == Some(node)) {
            // The root of a document within a string has no key.
        } else if holder.is_some_and(Node::is_sequence) {
            let _ = write!(path, "[{}]", node.index());
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(node.key());
        }
    }
    path
}
