//! Arena of nodes behind every [`Tree`].

use std::sync::Arc;

use crate::source::{Source, Span};

/// A JSON or YAML document as an arena of nodes; the root is the first node.
#[derive(Debug)]
pub struct Tree {
    pub(super) source: Arc<Source>,
    /// Strings that differ from their spelling in the source, for example because of escapes.
    pub(super) unescaped: String,
    pub(super) nodes: Vec<NodeData>,
    pub(super) duplicates: Vec<(u32, u32)>,
    pub(super) comments: Vec<Span>,
}

/// One node of the arena. Links are indices into [`Tree::nodes`], or [`NO_NODE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeData {
    pub(super) value: StoredValue,
    pub(super) parent: u32,
    pub(super) first_child: u32,
    pub(super) last_child: u32,
    pub(super) next_sibling: u32,
    /// Position among the siblings, from 0.
    pub(super) index: u32,
    pub(super) key: Text,
    pub(super) key_span: (u32, u32),
    pub(super) span: (u32, u32),
    pub(super) style: Style,
    /// A later sibling has the same key.
    pub(super) overridden: bool,
    /// A merge key copied the member into its mapping.
    pub(super) merged: bool,
}

/// Link that leads nowhere.
pub(super) const NO_NODE: u32 = u32::MAX;

/// Value of a node without its children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StoredValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Text),
    Sequence,
    Mapping,
}

/// Location of a string: a slice of the source, or of [`Tree::unescaped`].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Text {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) unescaped: bool,
}

/// Spelling of a value in its text.
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
    /// An alias, or a value that an alias or a merge key copied: its text is at the anchor.
    Alias,
}

impl Tree {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            unescaped: String::new(),
            nodes: Vec::new(),
            duplicates: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// The text that was parsed.
    pub fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn shared_source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Spans of the comments, each from its `#` to the end of its line, in the order of the text.
    pub fn comments(&self) -> &[Span] {
        &self.comments
    }

    /// Keys that occur twice in one mapping, as pairs of node numbers in order: the earlier value and the value that
    /// replaces it.
    pub fn duplicate_ids(&self) -> &[(u32, u32)] {
        &self.duplicates
    }

    pub(super) fn data(&self, id: u32) -> &NodeData {
        static NOTHING: NodeData = NodeData {
            value: StoredValue::Null,
            parent: NO_NODE,
            first_child: NO_NODE,
            last_child: NO_NODE,
            next_sibling: NO_NODE,
            index: 0,
            key: Text { start: 0, len: 0, unescaped: false },
            key_span: (0, 0),
            span: (0, 0),
            style: Style::Plain,
            overridden: false,
            merged: false,
        };
        self.nodes.get(id as usize).unwrap_or(&NOTHING)
    }

    pub(super) fn text(&self, text: Text) -> &str {
        let all = if text.unescaped { &self.unescaped } else { self.source.text() };
        all.get(text.start as usize..(text.start + text.len) as usize).unwrap_or_default()
    }
}
