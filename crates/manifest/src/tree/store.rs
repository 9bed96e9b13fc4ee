//! Arena of nodes behind every [`Tree`].

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::Arc;

use always_assert::never;

use super::id::{NodeId, SourceId};
use super::placed::StringPart;
use crate::file::Excerpt;
use crate::limits::{BYTES_PER_VALUE, Limits};
use crate::options::{HoldsDocument, ReadOptions};
use crate::source::{Source, Span, certain};

/// A JSON or YAML document as an arena of nodes; the root is the first node.
///
/// The nodes of a parsed document have one text. A document that an [`Assembly`](super::Assembly) builds can have parts of
/// several texts.
#[derive(Debug)]
pub struct Tree {
    pub(super) source: Arc<Source>,
    /// The further texts of an assembled document.
    pub(super) further: Vec<Arc<Source>>,
    /// Strings that differ from their spelling in the source, for example because of escapes.
    pub(super) unescaped: String,
    pub(super) nodes: Vec<NodeData>,
    pub(super) duplicates: Vec<DuplicateKey>,
    pub(super) comments: Vec<Comment>,
    /// Facts about derived values. Most documents have no derived values.
    pub(super) derivations: Option<Box<Derivations>>,
    /// Whether an [`Assembly`](super::Assembly) built the document.
    pub(super) is_assembled: bool,
    /// Whether another program computes the document, such as Terraform.
    pub(super) is_evaluated: bool,
    /// The modules of Terraform that make the document.
    pub(super) modules: Vec<ModuleInstance>,
    /// A node with an anchor, and a node that copies its value: the value of an alias, or the object of a merge key.
    pub(super) copies: Vec<(NodeId, NodeId)>,
    /// Number of bytes of text that aliases and merge keys repeat.
    pub(super) repeated: usize,
    /// Units of work that were dropped with the documents of strings.
    pub(super) dropped: usize,
    /// The part of the text that was parsed as this document alone.
    pub(super) excerpt: Option<Excerpt>,
    /// The strings that hold documents, here and in what is parsed from this document again.
    pub(super) holds_document: HoldsDocument,
}

/// A module of Terraform as one root module has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleInstance {
    /// The name of the folder of the root module.
    pub root: String,
    /// The address of the call, such as `module.pools["a"]`; empty for the root module itself.
    pub address: String,
}

/// Facts about derived values.
#[derive(Debug, Default)]
pub(super) struct Derivations {
    /// Spellings of the values that are not strings.
    pub(super) spellings: BTreeMap<NodeId, StringLocation>,
    /// The parts of strings, of those strings of which they are known.
    pub(super) parts: BTreeMap<NodeId, Vec<StringPart>>,
    /// The reasons why some fields have placeholders instead of values.
    pub(super) hidden: Vec<String>,
}

/// A comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The bytes of the comment.
    pub span: Span,
    /// Its text.
    pub source: SourceId,
}

/// One node of the arena. Links can be [`NodeId::NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeData {
    pub(super) value: NodeValue,
    pub(super) parent: NodeId,
    pub(super) first_child: NodeId,
    pub(super) last_child: NodeId,
    pub(super) next_sibling: NodeId,
    /// Position among the siblings, from 0.
    pub(super) index: u32,
    pub(super) key: StringLocation,
    pub(super) key_span: StoredSpan,
    pub(super) span: StoredSpan,
    pub(super) style: Style,
    /// A later sibling has the same key.
    pub(super) overridden: bool,
    /// A merge key copied the member into its mapping.
    pub(super) merged: bool,
    /// The text at `span` is not the spelling of the value.
    pub(super) derived: bool,
    /// The text that `span` and `key_span` point into.
    pub(super) source: SourceId,
}

/// Converts an offset to the 32 bits of the arena: [`Limits::file_bytes`](crate::limits::Limits::file_bytes) is far
/// below 4 GiB.
pub(super) fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A span in 32-bit offsets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoredSpan {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl From<Span> for StoredSpan {
    fn from(span: Span) -> Self {
        Self { start: small(span.start), end: small(span.end) }
    }
}

impl From<StoredSpan> for Span {
    fn from(span: StoredSpan) -> Self {
        Self::new(span.start as usize, span.end as usize)
    }
}

/// A key that occurs twice in one mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DuplicateKey {
    /// The value of the earlier occurrence.
    pub earlier: NodeId,
    /// The value that replaces it.
    pub later: NodeId,
}

/// Value of a node without its children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NodeValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(StringLocation),
    Sequence,
    Mapping,
}

/// Location of a string: a slice of the source, or of [`Tree::unescaped`].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct StringLocation {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) unescaped: bool,
}

impl StringLocation {
    /// Number of bytes.
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

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
    pub(crate) fn new(source: Arc<Source>, holds_document: HoldsDocument) -> Self {
        Self {
            source,
            further: Vec::new(),
            unescaped: String::new(),
            nodes: Vec::new(),
            duplicates: Vec::new(),
            comments: Vec::new(),
            derivations: None,
            is_assembled: false,
            is_evaluated: false,
            modules: Vec::new(),
            copies: Vec::new(),
            repeated: 0,
            dropped: 0,
            excerpt: None,
            holds_document,
        }
    }

    /// A tree without nodes for another part of the same text, with the same options.
    pub(crate) fn sibling(&self, source: &Arc<Source>) -> Self {
        Self::new(Arc::clone(source), self.holds_document)
    }

    /// The options of the reader of this tree, with other bounds.
    pub(crate) fn options_within(&self, limits: &Limits) -> ReadOptions {
        ReadOptions { limits: *limits, holds_document: self.holds_document, ..ReadOptions::DEFAULT }
    }

    /// The text that was parsed, or the main text of an assembled document. The spans of a node point into
    /// [`Node::source`](super::Node::source).
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// A text of the document.
    pub fn source_at(&self, id: SourceId) -> &Source {
        self.shared_source_at(id)
    }

    /// Whether the document is built of parts of other documents.
    pub fn is_assembled(&self) -> bool {
        self.is_assembled
    }

    /// Whether another program computes the document from its text, such as Terraform, which replaces every `${…}` in it.
    pub fn is_evaluated(&self) -> bool {
        self.is_evaluated
    }

    /// The modules of Terraform that make the document, each with the same values. Several root modules may call one module.
    pub fn modules(&self) -> &[ModuleInstance] {
        &self.modules
    }

    /// Adds a module that makes the document.
    pub fn add_module(&mut self, module: ModuleInstance) {
        if !self.modules.contains(&module) {
            self.modules.push(module);
        }
    }

    /// The reasons why fields of an evaluated document have placeholders instead of what another program writes there.
    pub fn hidden(&self) -> &[String] {
        self.derivations.as_ref().map(|known| known.hidden.as_slice()).unwrap_or_default()
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

    pub(crate) fn shared_source_at(&self, id: SourceId) -> &Arc<Source> {
        let Some(index) = id.index_of_further() else { return &self.source };
        let Some(source) = self.further.get(index) else {
            never!("no text {:?}", id);
            return &self.source;
        };
        source
    }

    /// The values, and the text that aliases repeat, in the units of a [`WorkBudget`](crate::work::WorkBudget).
    pub(crate) fn size(&self) -> usize {
        self.nodes.len() + self.repeated / BYTES_PER_VALUE
    }

    /// The work that it took to read the document, in the units of a [`WorkBudget`](crate::work::WorkBudget).
    pub fn work(&self) -> usize {
        self.size() + self.dropped
    }

    /// The comments in the order of the text; of an assembled document, text by text.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// Keys that occur twice in one mapping, in order.
    pub fn duplicate_keys(&self) -> &[DuplicateKey] {
        &self.duplicates
    }

    pub(super) fn data(&self, id: NodeId) -> &NodeData {
        static NOTHING: NodeData = NodeData {
            value: NodeValue::Null,
            parent: NodeId::NONE,
            first_child: NodeId::NONE,
            last_child: NodeId::NONE,
            next_sibling: NodeId::NONE,
            index: 0,
            key: StringLocation { start: 0, len: 0, unescaped: false },
            key_span: StoredSpan { start: 0, end: 0 },
            span: StoredSpan { start: 0, end: 0 },
            style: Style::Plain,
            overridden: false,
            merged: false,
            derived: false,
            source: SourceId::MAIN,
        };
        let Some(data) = self.nodes.get(id.index()) else {
            never!("no node {:?}", id);
            return &NOTHING;
        };
        data
    }

    /// A node, to change it.
    pub(super) fn data_mut(&mut self, id: NodeId) -> Option<&mut NodeData> {
        let data = self.nodes.get_mut(id.index());
        never!(data.is_none(), "no node {:?}", id);
        data
    }

    pub(super) fn text(&self, text: StringLocation) -> &str {
        certain(self.text_around(text).get(text.range()))
    }

    /// The bytes of a string. Unlike [`Self::text`] this does not look for the start of a character.
    pub(super) fn bytes(&self, text: StringLocation) -> &[u8] {
        certain(self.text_around(text).as_bytes().get(text.range()))
    }

    fn text_around(&self, text: StringLocation) -> &str {
        if text.unescaped { &self.unescaped } else { self.source.text() }
    }
}
