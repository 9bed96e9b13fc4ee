//! Tokens of a YAML text.

use crate::source::Span;
use crate::tree::Style;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    DocumentStart,
    DocumentEnd,
    Directive,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    Entry,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    Comma,
    Key,
    Value,
    Alias,
    Anchor,
    Tag,
    Scalar,
}

#[derive(Clone, Copy)]
pub(super) struct YamlToken {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// Column of the start.
    pub(super) col: usize,
    pub(super) style: Style,
    pub(super) tag: Tag,
    pub(super) text: ScalarText,
}

/// Location of the value of a scalar: a slice of the text, or of [`Scanner::composed`](super::scanner::Scanner) if the
/// value differs from its spelling.
#[derive(Clone, Copy)]
pub(super) struct ScalarText {
    pub(super) span: Span,
    pub(super) composed: bool,
}

/// Type that a tag gives to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// No tag.
    None,
    /// `!!str`.
    String,
    /// Another scalar type of the core schema, such as `!!int`.
    Core,
    /// `!!merge`, which some tools write before `<<`.
    Merge,
    /// Any other tag.
    Other,
    /// A tag whose handle no `%TAG` directive declares; on a directive token: an invalid or repeated directive.
    Undeclared,
}
