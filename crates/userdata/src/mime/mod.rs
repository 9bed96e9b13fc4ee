//! MIME multi-part archives, read as Karpenter reads them: Go's `mail.ReadMessage`, `mime.ParseMediaType` and
//! `multipart.Reader`.
//!
//! Sources: aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/mime/mime.go (AL2023) and
//! eksbootstrap.go (AL2) at v1.14.1; golang/go src/net/mail/message.go, src/mime/mediatype.go,
//! src/mime/multipart/multipart.go. Both callers stop at any error for which `errors.Is(err, io.EOF)` holds,
//! and that is true of every text that ends between two parts: such an archive is not refused, its parts are
//! just fewer. nodeadm, on the node, compares with `io.EOF` itself and refuses some of them
//! (awslabs/amazon-eks-ami nodeadm/internal/configprovider/mime.go).

mod header;
mod parts;
#[cfg(test)]
mod tests;

pub use header::{Header, MediaType};

use manifest::source::Span;

use super::Placed;
use header::{HeaderEnd, find, headers, line, media_type};
use parts::Parts;

/// An archive and everything that is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// The headers of the whole.
    pub headers: Vec<Header>,
    /// The boundary, as the header gives it.
    pub boundary: Option<Placed>,
    /// The parts that a reader gets to see.
    pub parts: Vec<Part>,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// A part of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The line `--boundary` before it.
    pub delimiter: Span,
    /// Its headers.
    pub headers: Vec<Header>,
    /// What is between the blank line after the headers and the next delimiter.
    pub body: Span,
    media_type: String,
}

impl Part {
    /// Its first header of this name.
    pub fn header(&self, name: &str) -> Option<&Header> {
        find(&self.headers, name)
    }

    /// Its type in lower case, without parameters: `text/x-shellscript`. Empty where it has none.
    ///
    /// AL2023 keeps only this header of a part, so that a `Content-Transfer-Encoding` is lost and the encoded
    /// text arrives (bootstrap/mime/mime.go `NewArchive`); AL2 keeps all.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The header that says how its body is encoded, where that is not as it stands.
    pub fn encoding(&self) -> Option<&Header> {
        self.header("Content-Transfer-Encoding").filter(|encoding| {
            !["7bit", "8bit", "binary"].iter().any(|plain| encoding.value.value.eq_ignore_ascii_case(plain))
        })
    }
}

/// Something wrong with an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text starts with a blank line, which ends the headers before the first one.
    LeadingBlankLine,
    /// The first header is indented.
    IndentedFirstHeader,
    /// An indented header: it continues the line before and is no header of its own.
    IndentedHeader,
    /// A line of blanks where an empty one should end the headers; it continues the line before.
    BlankLineWithBlanks,
    /// A delimiter or a script right under the headers, without the blank line between.
    NoBlankLineAfterHeaders,
    /// A line among the headers that has no colon, or a name that no header can have.
    MalformedHeader,
    /// A line that was meant for the body and is read as a header of the part, because the blank line is
    /// missing.
    BodyReadAsHeader,
    /// The archive has no `Content-Type`.
    NoContentType,
    /// A `Content-Type` that cannot be read, such as `boundary=//` without quotes.
    MalformedContentType,
    /// The `Content-Type` is not `multipart/…`.
    NotMultipart,
    /// The `Content-Type` has no boundary.
    NoBoundary,
    /// No line is the boundary's delimiter: every part is dropped in silence.
    BoundaryNeverUsed,
    /// The boundary is written in a form that is not read here; the parts are unknown.
    BoundaryNotRead,
    /// Text before the first delimiter, which nobody reads.
    TextBeforeFirstPart,
    /// A line that resembles the delimiter without being it: `--B-`.
    MisspeltDelimiter,
    /// The text ends inside a part: `unexpected EOF`.
    NotClosed,
    /// The last delimiter lacks the closing `--`. Karpenter takes it.
    BareFinalDelimiter,
    /// The text ends inside the headers of a part, which is dropped in silence.
    PartWithoutBody,
    /// A delimiter line with something after it, or with another line ending than the first one has.
    UnexpectedLine,
    /// Delimiters after the closing one: those parts are dropped in silence.
    PartAfterClosing,
    /// A part without `Content-Type`.
    PartWithoutContentType,
    /// A part's `Content-Type` that cannot be read; nodeadm refuses the whole archive for it.
    MalformedPartType,
    /// A part of a type that nothing on the node handles.
    UnknownPartType,
    /// A shell script whose first bytes are not `#!`: the node cannot execute it.
    ShellPartWithoutShebang,
}

impl ProblemKind {
    /// Whether Karpenter fails to read the archive, so that no node is launched with it.
    pub const fn is_refused(self) -> bool {
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

impl Archive {
    /// Reads the text, which is taken for an archive whatever it looks like.
    pub fn read(text: &str) -> Self {
        let mut archive = Self::default();
        if let Some((boundary, body)) = archive.read_headers(text) {
            let mut parts =
                Parts { text, boundary: &boundary.value, crlf: true, used: false, archive: &mut archive };
            parts.read(body);
            if !parts.used {
                archive.problem(ProblemKind::BoundaryNeverUsed, boundary.span);
            }
            archive.boundary = Some(boundary);
        }
        archive.problems.sort_by_key(|problem| problem.span);
        archive
    }

    /// Whether Karpenter fails to read it.
    pub fn is_refused(&self) -> bool {
        self.problems.iter().any(|problem| problem.kind.is_refused())
    }

    fn problem(&mut self, kind: ProblemKind, span: Span) {
        self.problems.push(Problem { kind, span });
    }

    /// The boundary and where the body starts; `None` where Go does not get that far.
    fn read_headers(&mut self, text: &str) -> Option<(Placed, usize)> {
        let (headers, end) = headers(text, 0, false, &mut self.problems);
        let body = match end {
            HeaderEnd::Body(body) => body,
            HeaderEnd::Text => text.len(),
            HeaderEnd::Refused => return None,
        };
        let content_type = find(&headers, "Content-Type").map(|header| header.value.clone());
        let name = find(&headers, "Content-Type").map_or(Span::new(0, 0), |header| header.name.span);
        let none = headers.is_empty();
        self.headers = headers;
        let Some(content_type) = content_type else {
            let leading = text.len() - text.trim_start().len();
            if none && leading > 0 {
                self.problem(ProblemKind::LeadingBlankLine, Span::new(0, leading));
            } else {
                self.problem(ProblemKind::NoContentType, line(text, 0).0);
            }
            return None;
        };
        match media_type(&content_type) {
            Err(span) => self.problem(ProblemKind::MalformedContentType, span),
            Ok(read) if !read.name.starts_with("multipart/") => {
                self.problem(ProblemKind::NotMultipart, content_type.span);
            }
            Ok(read) if read.encoded_boundary => {
                self.problem(ProblemKind::BoundaryNotRead, content_type.span);
            }
            Ok(MediaType { boundary: Some(boundary), .. }) if !boundary.value.is_empty() => {
                return Some((boundary, body));
            }
            Ok(_) => self.problem(ProblemKind::NoBoundary, name.to(content_type.span)),
        }
        None
    }
}
