//! The document model that every door reads its input into and every rule reads from: a tree of values, each of which
//! knows its parent, its field path and, where there is a text, its place in it.

use std::collections::BTreeMap;

use std::sync::Arc;

use super::source::{Source, Span};

/// A JSON or YAML document as an arena of nodes; the root is the first.
#[derive(Debug)]
pub struct Tree {
    source: Arc<Source>,
    /// Text that differs from its spelling in the source, such as a string with escapes.
    unescaped: String,
    nodes: Vec<Data>,
    duplicates: Vec<(u32, u32)>,
    comments: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Data {
    value: Stored,
    parent: u32,
    first: u32,
    last: u32,
    next: u32,
    /// The position among its siblings.
    index: u32,
    key: Text,
    key_span: (u32, u32),
    span: (u32, u32),
    style: Style,
    /// A later sibling has the same key.
    overridden: bool,
}

/// No node.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Text),
    Sequence,
    Mapping,
}

/// Where a string is kept: in the source, or among the unescaped ones.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Text {
    start: u32,
    len: u32,
    unescaped: bool,
}

/// How a value is spelled in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Without quotes.
    #[default]
    Plain,
    /// In single quotes.
    SingleQuoted,
    /// In double quotes.
    DoubleQuoted,
    /// A block scalar that keeps line breaks: `|`.
    Literal,
    /// A block scalar that folds line breaks: `>`.
    Folded,
    /// A collection in `{}` or `[]`.
    Flow,
    /// A collection by indentation.
    Block,
    /// An alias, or what an alias or a merge key brought here: its text stands at the anchor.
    Alias,
}

/// What a value is, as JSON knows values. Whole numbers and others are kept apart, as the API server does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'d> {
    /// `null`, or nothing at all after a key.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number without fraction or exponent that fits 64 bits with a sign.
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

/// A node of a [`Tree`]. Copies are cheap; two are equal when they are the same node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    tree: &'d Tree,
    id: u32,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.tree, other.tree) && self.id == other.id
    }
}

impl Eq for Node<'_> {}

impl Tree {
    pub(super) fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            unescaped: String::new(),
            nodes: Vec::new(),
            duplicates: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// The text that was read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: 0 }
    }

    pub(super) fn shared_source(&self) -> &Arc<Source> {
        &self.source
    }

    fn data(&self, id: u32) -> &Data {
        static NOTHING: Data = Data {
            value: Stored::Null,
            parent: NONE,
            first: NONE,
            last: NONE,
            next: NONE,
            index: 0,
            key: Text { start: 0, len: 0, unescaped: false },
            key_span: (0, 0),
            span: (0, 0),
            style: Style::Plain,
            overridden: false,
        };
        self.nodes.get(id as usize).unwrap_or(&NOTHING)
    }

    fn text(&self, text: Text) -> &str {
        let all = if text.unescaped { &self.unescaped } else { self.source.text() };
        all.get(text.start as usize..(text.start + text.len) as usize).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Keeps a string: as a slice of the source where it stands there letter by letter, else as a copy.
    pub(super) fn keep(&mut self, text: &str, at: Span) -> Text {
        if self.source.slice(Span::new(at.start, at.start + text.len())) == text {
            return Text { start: small(at.start), len: small(text.len()), unescaped: false };
        }
        let start = small(self.unescaped.len());
        self.unescaped.push_str(text);
        Text { start, len: small(text.len()), unescaped: true }
    }

    /// Keeps the place of a comment that speaks to this tool; others are passed over.
    pub(super) fn comment(&mut self, span: Span) {
        let text = self.source.slice(span).strip_prefix('#').unwrap_or_default();
        if text.trim_start().starts_with("karpwarden:") {
            self.comments.push(span);
        }
    }

    /// The comments that start with `karpwarden:`, from their `#` on.
    pub fn comments(&self) -> &[Span] {
        &self.comments
    }

    /// Adds a node as the last child of `parent`, under a key where the parent is a mapping.
    pub(super) fn add(&mut self, parent: Option<u32>, key: Option<(Text, Span)>, new: New) -> u32 {
        let id = small(self.nodes.len());
        let parent = parent.unwrap_or(NONE);
        let index = match self.nodes.get(parent as usize) {
            None => 0,
            Some(above) if above.first == NONE => 0,
            Some(above) => self.data(above.last).index + 1,
        };
        let (key, key_span) = key.unwrap_or_default();
        let value = match new.value {
            NewValue::Null => Stored::Null,
            NewValue::Bool(value) => Stored::Bool(value),
            NewValue::Int(value) => Stored::Int(value),
            NewValue::Float(value) => Stored::Float(value),
            NewValue::String(text) => Stored::String(text),
            NewValue::Sequence => Stored::Sequence,
            NewValue::Mapping => Stored::Mapping,
        };
        self.nodes.push(Data {
            value,
            parent,
            first: NONE,
            last: NONE,
            next: NONE,
            index,
            key,
            key_span: (small(key_span.start), small(key_span.end)),
            span: (small(new.span.start), small(new.span.end)),
            style: new.style,
            overridden: false,
        });
        if let Some(above) = self.nodes.get_mut(parent as usize) {
            let before = core::mem::replace(&mut above.last, id);
            if above.first == NONE {
                above.first = id;
            }
            if let Some(sibling) = self.nodes.get_mut(before as usize) {
                sibling.next = id;
            }
        }
        id
    }

    /// Sets where a node ends in the text.
    pub(super) fn close(&mut self, id: u32, end: usize) {
        if let Some(data) = self.nodes.get_mut(id as usize) {
            data.span.1 = small(end).max(data.span.0);
        }
    }

    /// The end of the last child of a node, or of the node itself.
    pub(super) fn end_of(&self, id: u32) -> usize {
        let data = self.data(id);
        let end = if data.last == NONE { data.span.1 } else { self.data(data.last).span.1 };
        end as usize
    }

    /// Copies the subtree of `from` below `parent`, as an alias does; `None` where the tree would grow beyond `limit`.
    pub(super) fn copy(
        &mut self,
        from: u32,
        parent: Option<u32>,
        key: Option<(Text, Span)>,
        span: Option<Span>,
        limit: usize,
    ) -> Option<u32> {
        if self.nodes.len() >= limit {
            return None;
        }
        let data = *self.data(from);
        let value = match data.value {
            Stored::Null => NewValue::Null,
            Stored::Bool(value) => NewValue::Bool(value),
            Stored::Int(value) => NewValue::Int(value),
            Stored::Float(value) => NewValue::Float(value),
            Stored::String(text) => NewValue::String(text),
            Stored::Sequence => NewValue::Sequence,
            Stored::Mapping => NewValue::Mapping,
        };
        let span = span.unwrap_or(Span::new(data.span.0 as usize, data.span.1 as usize));
        let copy = self.add(parent, key, New { value, span, style: Style::Alias });
        if let Some(new) = self.nodes.get_mut(copy as usize) {
            new.overridden = data.overridden;
        }
        let mut child = data.first;
        while child != NONE {
            let next = *self.data(child);
            let key_span = Span::new(next.key_span.0 as usize, next.key_span.1 as usize);
            let key = matches!(data.value, Stored::Mapping).then_some((next.key, key_span));
            self.copy(child, Some(copy), key, None, limit)?;
            child = next.next;
        }
        Some(copy)
    }

    /// Copies the members of the mapping `from` into the mapping `into`, as a merge key does.
    pub(super) fn merge(&mut self, from: u32, into: u32, limit: usize) -> Option<()> {
        let mut child = self.data(from).first;
        while child != NONE {
            let next = *self.data(child);
            let key_span = Span::new(next.key_span.0 as usize, next.key_span.1 as usize);
            self.copy(child, Some(into), Some((next.key, key_span)), None, limit)?;
            child = next.next;
        }
        Some(())
    }

    /// Ends a mapping: of the members with one key, all but the last are marked as overridden. Two of the same key are
    /// duplicates, unless a merge key brought one of them.
    pub(super) fn settle(&mut self, id: u32) {
        /// Up to here, comparing all keys is quicker than keeping them sorted.
        const FEW: u32 = 12;
        let data = *self.data(id);
        let few = data.last == NONE || self.data(data.last).index < FEW;
        let mut repeated = Vec::new();
        let mut last_of = BTreeMap::<&str, u32>::new();
        let mut child = data.first;
        while child != NONE {
            let next = self.data(child);
            let key = self.text(next.key);
            let earlier = if few {
                let mut before = data.first;
                let mut found = None;
                while before != child {
                    let candidate = self.data(before);
                    if self.text(candidate.key) == key {
                        found = Some(before);
                    }
                    before = candidate.next;
                }
                found
            } else {
                let earlier = last_of.get(key).copied();
                last_of.insert(key, child);
                earlier
            };
            repeated.extend(earlier.map(|earlier| (earlier, child)));
            child = next.next;
        }
        for (earlier, later) in repeated {
            if let Some(data) = self.nodes.get_mut(earlier as usize) {
                data.overridden = true;
            }
            let merged = |id| self.data(id).style == Style::Alias && self.data(id).key_span.0 < data.span.0;
            if !merged(earlier) && !merged(later) {
                self.duplicates.push((earlier, later));
            }
        }
    }

    /// Keys that stand twice in one object, as numbers of nodes in order: the first place and the one that counts.
    pub fn duplicate_ids(&self) -> &[(u32, u32)] {
        &self.duplicates
    }

    /// The node of a number.
    pub fn node(&self, id: u32) -> Node<'_> {
        Node { tree: self, id }
    }

    /// Ends the tree: what was collected on the way is put in order.
    pub(super) fn finish(&mut self) {
        self.duplicates.sort_by_key(|item| *item);
    }

    pub(super) fn is_mapping(&self, id: u32) -> bool {
        self.data(id).value == Stored::Mapping
    }

    pub(super) fn is_sequence(&self, id: u32) -> bool {
        self.data(id).value == Stored::Sequence
    }

    pub(super) fn string_of(&self, id: u32) -> Option<&str> {
        if let Stored::String(text) = self.data(id).value { Some(self.text(text)) } else { None }
    }

    /// Whether a string stands where an Application of Argo CD holds the values of a chart: `source.helm.values`, or the
    /// same in one of the `sources`.
    pub(super) fn holds_values(&self, id: u32) -> bool {
        let node = Node { tree: self, id };
        if node.key() != "values" {
            return false;
        }
        let above = node.parent().and_then(|helm| Some((helm.key(), helm.parent()?)));
        let Some(("helm", source)) = above else { return false };
        let listed = || source.parent().is_some_and(|list| list.key() == "sources");
        node.as_str().is_some() && (source.key() == "source" || listed())
    }

    /// Drops the nodes from a number on, all of which are below one node, and the comments in its text.
    pub(super) fn forget(&mut self, above: u32, from: usize) {
        self.nodes.truncate(from);
        self.duplicates.retain(|(_, again)| (*again as usize) < from);
        if let Some(data) = self.nodes.get_mut(above as usize) {
            (data.first, data.last) = (NONE, NONE);
            let start = data.span.0 as usize;
            self.comments.retain(|comment| comment.start < start);
        }
    }

    pub(super) fn children_of(&self, id: u32) -> Vec<u32> {
        Node { tree: self, id }.children().map(|child| child.id).collect()
    }
}

/// A node about to be added.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub(super) value: NewValue,
    pub(super) span: Span,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum NewValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Text),
    Sequence,
    Mapping,
}

/// Offsets are kept in 32 bits: files are bounded far below 4 GiB.
fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(NONE)
}

impl<'d> Node<'d> {
    fn data(self) -> &'d Data {
        self.tree.data(self.id)
    }

    fn at(self, id: u32) -> Option<Self> {
        (id != NONE).then_some(Self { tree: self.tree, id })
    }

    /// The tree this node belongs to.
    pub fn tree(self) -> &'d Tree {
        self.tree
    }

    /// What the value is.
    #[inline(never)]
    pub fn value(self) -> Value<'d> {
        match self.data().value {
            Stored::Null => Value::Null,
            Stored::Bool(value) => Value::Bool(value),
            Stored::Int(value) => Value::Int(value),
            Stored::Float(value) => Value::Float(value),
            Stored::String(text) => Value::String(self.tree.text(text)),
            Stored::Sequence => Value::Sequence,
            Stored::Mapping => Value::Mapping,
        }
    }

    /// How the value is spelled.
    pub fn style(self) -> Style {
        self.data().style
    }

    /// The string, where the value is one.
    #[inline(never)]
    pub fn as_str(self) -> Option<&'d str> {
        if let Value::String(text) = self.value() { Some(text) } else { None }
    }

    /// The truth value, where the value is one.
    pub fn as_bool(self) -> Option<bool> {
        if let Value::Bool(value) = self.value() { Some(value) } else { None }
    }

    /// The whole number, where the value is one.
    pub fn as_int(self) -> Option<i64> {
        if let Value::Int(value) = self.value() { Some(value) } else { None }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.value() == Value::Null
    }

    /// Whether the value is an object.
    pub fn is_mapping(self) -> bool {
        self.data().value == Stored::Mapping
    }

    /// Whether the value is a list.
    pub fn is_sequence(self) -> bool {
        self.data().value == Stored::Sequence
    }

    /// The items of a list or the values of an object in the order of the text, duplicate keys included.
    pub fn children(self) -> Children<'d> {
        Children { next: self.at(self.data().first) }
    }

    /// The items of a list; nothing for any other value.
    pub fn items(self) -> Children<'d> {
        items_of(Some(self))
    }

    /// The members of an object that count: where a key is given twice, the last; nothing for any other value.
    pub fn members(self) -> Members<'d> {
        members_of(Some(self))
    }

    /// Whether the same key stands again later in the object, and wins.
    pub fn is_overridden(self) -> bool {
        self.data().overridden
    }

    /// How many items or members the value has.
    pub fn len(self) -> usize {
        let last = self.data().last;
        if last == NONE { 0 } else { self.tree.data(last).index as usize + 1 }
    }

    /// Whether the value has no items or members.
    pub fn is_empty(self) -> bool {
        self.data().first == NONE
    }

    /// The value that a string holds, where the string is a document of its own and was read as one.
    pub fn embedded(self) -> Option<Self> {
        self.at(self.data().first).filter(|_| self.as_str().is_some())
    }

    /// Whether the value stands in the text as it is read, and not within a string that spells it otherwise.
    pub fn is_verbatim(self) -> bool {
        let above = core::iter::successors(self.parent(), |node| node.parent());
        above.filter(|node| node.as_str().is_some()).all(|string| string.style() == Style::Literal)
    }

    /// The member under a key; where it is given twice the last one, as the Kubernetes tools take it.
    #[inline(never)]
    pub fn get(self, key: &str) -> Option<Self> {
        let data = self.data();
        let mut child = if data.value == Stored::Mapping { data.first } else { NONE };
        while child != NONE {
            let member = self.tree.data(child);
            // Most keys differ in length, which costs less to see than their text.
            if member.key.len as usize == key.len() && !member.overridden && self.tree.text(member.key) == key
            {
                return self.at(child);
            }
            child = member.next;
        }
        None
    }

    /// The value below a path of keys.
    #[inline(never)]
    pub fn at_path(self, keys: &[&str]) -> Option<Self> {
        let mut node = self;
        for key in keys {
            node = node.get(key)?;
        }
        Some(node)
    }

    /// The string below a path of keys.
    #[inline(never)]
    pub fn str_at(self, keys: &[&str]) -> Option<&'d str> {
        self.at_path(keys)?.as_str()
    }

    /// The items of the list below a path of keys; none where there is no list.
    pub fn items_at(self, keys: &[&str]) -> Children<'d> {
        items_of(self.at_path(keys))
    }

    /// The members of the object below a path of keys; none where there is no object.
    pub fn members_at(self, keys: &[&str]) -> Members<'d> {
        members_of(self.at_path(keys))
    }

    /// The object or list that holds this value.
    pub fn parent(self) -> Option<Self> {
        self.at(self.data().parent)
    }

    /// The key this value stands under; empty for an item or the root.
    #[inline(never)]
    pub fn key(self) -> &'d str {
        self.tree.text(self.data().key)
    }

    /// The position of an item in its list.
    pub fn index(self) -> usize {
        self.data().index as usize
    }

    /// Where the value stands. An absent value has an empty span.
    pub fn span(self) -> Span {
        let (start, end) = self.data().span;
        Span::new(start as usize, end as usize)
    }

    /// Where the key of the value stands; empty for an item or the root.
    pub fn key_span(self) -> Span {
        let (start, end) = self.data().key_span;
        Span::new(start as usize, end as usize)
    }

    /// The value as it is written in the text, or in the text of its anchor.
    pub fn spelling(self) -> &'d str {
        self.tree.source.slice(self.span())
    }

    /// A number that orders the nodes of a tree as they were read.
    pub fn order(self) -> usize {
        self.id as usize
    }
}

/// The items of a list that may not be there.
// Called from every rule, as what follows: one copy of it keeps the policy module small.
#[inline(never)]
pub fn items_of(list: Option<Node<'_>>) -> Children<'_> {
    Children { next: list.filter(|list| list.is_sequence()).and_then(|list| list.at(list.data().first)) }
}

/// The members of an object that may not be there, as [`Node::members`] gives them.
#[inline(never)]
pub fn members_of(object: Option<Node<'_>>) -> Members<'_> {
    let first = object.filter(|object| object.is_mapping()).and_then(|object| object.at(object.data().first));
    Members { all: Children { next: first } }
}

/// What [`Node::children`] and [`Node::items`] go through.
#[derive(Clone, Debug)]
pub struct Children<'d> {
    next: Option<Node<'d>>,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    #[inline(never)]
    fn next(&mut self) -> Option<Node<'d>> {
        let node = self.next?;
        self.next = node.at(node.data().next);
        Some(node)
    }
}

/// What [`Node::members`] goes through.
#[derive(Clone, Debug)]
pub struct Members<'d> {
    all: Children<'d>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Node<'d>);

    #[inline(never)]
    fn next(&mut self) -> Option<(&'d str, Node<'d>)> {
        loop {
            let node = self.all.next()?;
            if !node.is_overridden() {
                return Some((node.key(), node));
            }
        }
    }
}
