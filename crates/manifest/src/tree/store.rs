//! Arena of nodes behind every [`Tree`].

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::Arc;

use always_assert::never;

use crate::file::Excerpt;
use crate::source::{Source, Span};

/// A JSON or YAML document as an arena of nodes; the root is the first node.
///
/// The nodes of a parsed document have one text. A document that an [`Assembly`](super::Assembly) builds can have parts of
/// several texts.
#[derive(Debug)]
pub struct Tree {
    pub(super) source: Arc<Source>,
    /// The further texts of an assembled document. Their numbers start at 1; `source` has the number 0.
    pub(super) further: Vec<Arc<Source>>,
    /// Strings that differ from their spelling in the source, for example because of escapes.
    pub(super) unescaped: String,
    pub(super) nodes: Vec<NodeData>,
    pub(super) duplicates: Vec<(u32, u32)>,
    pub(super) comments: Vec<Comment>,
    /// Spellings of the derived values that are not strings.
    pub(super) spellings: BTreeMap<u32, Text>,
    /// Whether an [`Assembly`](super::Assembly) built the document.
    pub(super) is_assembled: bool,
    /// A node with an anchor, and a node that copies its value: the value of an alias, or the object of a merge key.
    pub(super) copies: Vec<(u32, u32)>,
    /// The part of the text that was parsed as this document alone.
    pub(super) excerpt: Option<Excerpt>,
}

/// A comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The bytes of the comment.
    pub span: Span,
    /// The number of its text, as in [`Tree::numbered_source`].
    pub source: u16,
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
    /// The text at `span` is not the spelling of the value.
    pub(super) derived: bool,
    /// The number of the text that `span` and `key_span` point into.
    pub(super) source: u16,
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

impl Text {
    fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
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
            further: Vec::new(),
            unescaped: String::new(),
            nodes: Vec::new(),
            duplicates: Vec::new(),
            comments: Vec::new(),
            spellings: BTreeMap::new(),
            is_assembled: false,
            copies: Vec::new(),
            excerpt: None,
        }
    }

    /// The text that was parsed, or the main text of an assembled document. The spans of a node point into
    /// [`Node::source`](super::Node::source).
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The text with a number, as in [`Node::source_number`](super::Node::source_number).
    pub fn numbered_source(&self, number: u16) -> &Source {
        self.numbered_shared_source(number)
    }

    /// Whether the document is built of parts of other documents.
    pub fn is_assembled(&self) -> bool {
        self.is_assembled
    }

    /// The part of the text that the document was parsed from. It may hold further documents, after a `...` line. `None`
    /// for an assembled document, and for a document within a string.
    pub fn excerpt(&self) -> Option<Excerpt> {
        self.excerpt
    }

    /// Records the part of the text that the document was parsed from.
    pub(crate) fn set_excerpt(&mut self, span: Span, is_json: bool) {
        self.excerpt = Some(Excerpt { span, is_json });
    }

    pub(crate) fn shared_source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(crate) fn numbered_shared_source(&self, number: u16) -> &Arc<Source> {
        let further = usize::from(number).checked_sub(1).and_then(|index| self.further.get(index));
        further.unwrap_or(&self.source)
    }

    /// The comments in the order of the text; of an assembled document, text by text.
    pub fn comments(&self) -> &[Comment] {
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
            derived: false,
            source: 0,
        };
        let Some(data) = self.nodes.get(id as usize) else {
            never!("no node {}", id);
            return &NOTHING;
        };
        data
    }

    pub(super) fn text(&self, text: Text) -> &str {
        self.text_around(text).get(text.range()).unwrap_or_default()
    }

    /// The bytes of a string. Unlike [`Self::text`] this does not look for the start of a character.
    pub(super) fn bytes(&self, text: Text) -> &[u8] {
        self.text_around(text).as_bytes().get(text.range()).unwrap_or_default()
    }

    fn text_around(&self, text: Text) -> &str {
        if text.unescaped { &self.unescaped } else { self.source.text() }
    }
}
