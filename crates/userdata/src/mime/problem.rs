//! Problems of a MIME archive.

use manifest::source::Span;

/// Problem of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MimeProblem {
    /// Kind of problem.
    pub kind: MimeProblemKind,
    /// Span of the problem.
    pub span: Span,
}

/// Kinds of [`MimeProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MimeProblemKind {
    /// Blank line at the start of the text, which ends the headers before the first header.
    LeadingBlankLine,
    /// Indented first header.
    IndentedFirstHeader,
    /// Indented header, which continues the previous line instead.
    IndentedHeader,
    /// Line of spaces in place of the empty line after the headers. The line continues the previous line.
    LineOfSpaces,
    /// Delimiter or script directly after the headers, without a blank line.
    NoBlankLineAfterHeaders,
    /// Header line without a colon or with an invalid name.
    MalformedHeader,
    /// Line of the body that is parsed as a header, because the blank line before the body is missing.
    BodyReadAsHeader,
    /// Archive without `Content-Type`.
    NoContentType,
    /// Invalid `Content-Type`, such as `boundary=//` without quotes.
    MalformedContentType,
    /// `Content-Type` other than `multipart/…`.
    NotMultipart,
    /// `Content-Type` without a boundary.
    NoBoundary,
    /// Boundary that no delimiter uses. All parts are silently ignored.
    BoundaryNeverUsed,
    /// Boundary in the split form of RFC 2231, which is not parsed here. The parts are unknown.
    BoundaryNotRead,
    /// Text before the first delimiter, which is ignored.
    TextBeforeFirstPart,
    /// Misspelt delimiter, such as `--B-`.
    MisspeltDelimiter,
    /// Text that ends inside a part: `unexpected EOF`.
    NotClosed,
    /// Last delimiter without the closing `--`, which Karpenter accepts.
    BareFinalDelimiter,
    /// Text that ends in the headers of a part, which is silently ignored.
    PartWithoutBody,
    /// Delimiter line with text after the delimiter, or with another line ending than the first delimiter.
    UnexpectedLine,
    /// Delimiter after the closing delimiter. Its part is silently ignored.
    PartAfterClosing,
    /// Part without `Content-Type`.
    PartWithoutContentType,
    /// Part with an invalid `Content-Type`, for which nodeadm rejects the whole archive.
    MalformedPartType,
    /// Part of a type that no program on the node handles.
    UnknownPartType,
    /// Shell script that does not start with `#!`. The node cannot execute it.
    ShellPartWithoutShebang,
}

impl MimeProblemKind {
    /// Whether Karpenter rejects the archive and launches no node.
    pub const fn is_rejected(self) -> bool {
        matches!(
            self,
            Self::LeadingBlankLine
                | Self::IndentedFirstHeader
                | Self::NoBlankLineAfterHeaders
                | Self::MalformedHeader
                | Self::NoContentType
                | Self::MalformedContentType
                | Self::NotMultipart
                | Self::NoBoundary
                | Self::NotClosed
                | Self::UnexpectedLine
        )
    }
}
