//! Header lines.

use manifest::source::{Span, certain};

use super::problem::{MimeProblem, MimeProblemKind};
use crate::word::SourceWord;
use crate::word::SpannedText;

/// Header line with its continuation lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name as written.
    pub name: SpannedText,
    /// Value, with continuation lines joined by a space.
    pub value: SourceWord,
}

impl Header {
    /// Whether the header has this name, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.value.eq_ignore_ascii_case(name)
    }
}

/// First header of this name, as in Go's `Header.Get`.
pub(super) fn find<'h>(headers: &'h [Header], name: &str) -> Option<&'h Header> {
    headers.iter().find(|header| header.is(name))
}

/// End of a block of headers.
pub(super) enum HeaderEnd {
    /// Blank line; the body starts at this offset.
    Body(usize),
    /// End of the text.
    Text,
    /// Invalid header, at which Go stops.
    Rejected,
}

/// Span of the line at an offset, without its line ending, and the offset of the next line.
pub(super) fn line(text: &str, at: usize) -> (Span, usize) {
    let rest = Span::new(at, text.len()).text(text);
    match rest.find('\n') {
        Some(length) => {
            let content = certain(rest.get(..length));
            let content = content.strip_suffix('\r').unwrap_or(content);
            (Span::new(at, at + content.len()), at + length + 1)
        }
        None => (Span::new(at, text.len()), text.len()),
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

fn trimmed(text: &str, span: Span) -> Span {
    let content = span.text(text);
    let start = span.start + (content.len() - content.trim_start_matches(BLANKS).len());
    Span::new(start, start + content.trim_matches(BLANKS).len())
}

/// Parses header lines as Go's net/mail does, or, if `strict`, as net/textproto does for a part (golang/go
/// src/net/mail/message.go `readHeader`, src/net/textproto/reader.go `readMIMEHeader`).
pub(super) fn headers(
    text: &str,
    start: usize,
    strict: bool,
    problems: &mut Vec<MimeProblem>,
) -> (Vec<Header>, HeaderEnd) {
    let mut headers = Vec::new();
    let mut at = start;
    if is_indented(text, at) {
        problems.push(MimeProblem { kind: MimeProblemKind::IndentedFirstHeader, span: line(text, at).0 });
        return (headers, HeaderEnd::Rejected);
    }
    while at < text.len() {
        let (span, next) = line(text, at);
        if span.is_empty() {
            return (headers, HeaderEnd::Body(next));
        }
        at = next;
        let mut pieces = vec![trimmed(text, span)];
        while is_indented(text, at) {
            let (span, next) = line(text, at);
            pieces.push(continuation(text, span, problems));
            at = next;
        }
        if let Some(header) = header(text, &pieces, strict) {
            headers.push(header);
        } else {
            let first = pieces.first().copied().unwrap_or_default();
            let kind = if first.text(text).starts_with("--") || first.text(text).starts_with('#') {
                MimeProblemKind::NoBlankLineAfterHeaders
            } else {
                MimeProblemKind::MalformedHeader
            };
            problems.push(MimeProblem { kind, span: first });
            return (headers, HeaderEnd::Rejected);
        }
    }
    (headers, HeaderEnd::Text)
}

fn is_indented(text: &str, at: usize) -> bool {
    matches!(text.as_bytes().get(at), Some(b' ' | b'\t'))
}

/// Trimmed span of a continuation line. Reports a line that is probably not meant to be one.
fn continuation(text: &str, span: Span, problems: &mut Vec<MimeProblem>) -> Span {
    let content = trimmed(text, span);
    if looks_like_header(content.text(text)) {
        problems.push(MimeProblem { kind: MimeProblemKind::IndentedHeader, span: content });
    }
    if content.is_empty() {
        problems.push(MimeProblem { kind: MimeProblemKind::LineOfSpaces, span });
    }
    content
}

/// Joins the lines of a header and splits them at the colon; `None` if Go rejects the header.
fn header(text: &str, pieces: &[Span], strict: bool) -> Option<Header> {
    let first = pieces.first()?.text(text);
    let mut line = SourceWord::default();
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            line.push(" ", Span::new(piece.start, piece.start), false);
        }
        line.push(piece.text(text), *piece, false);
        line.span = pieces.first()?.to(*piece);
    }
    let colon = if strict { first.find(':') } else { line.value.find(':') }?;
    let name = line.part(&(0..colon));
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~ ".contains(&byte);
    if strict && (name.value.is_empty() || !name.value.bytes().all(token)) {
        return None;
    }
    let value = line.value.get(colon + 1..)?;
    let value = value.trim_start_matches(BLANKS);
    let mut at = line.value.len() - value.len();
    let mut copy = SourceWord::starting(line.span_of(&(at..line.value.len())));
    for character in value.chars() {
        let end = at + character.len_utf8();
        copy.push(Span::new(at, end).text(&line.value), line.span_of(&(at..end)), false);
        at = end;
    }
    Some(Header { name, value: copy })
}

/// Whether an indented line is meant to be a header, such as `Content-Type: …`, and not a continuation.
fn looks_like_header(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    ["content-type", "mime-version", "content-transfer-encoding", "content-disposition"]
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header))
}
