//! Header lines and the `Content-Type` value.

use super::{Problem, ProblemKind};
use crate::word::Word;
use manifest::source::Span;

use crate::Placed;
use core::ops::Range;

/// A header line with its continuations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name as it is written.
    pub name: Placed,
    /// The value, continuation lines joined by a blank.
    pub value: Word,
}

impl Header {
    /// Whether it has this name, whatever the case.
    pub fn is(&self, name: &str) -> bool {
        self.name.value.eq_ignore_ascii_case(name)
    }
}

/// The first header of this name, as Go's `Header.Get` gives it.
pub(super) fn find<'h>(headers: &'h [Header], name: &str) -> Option<&'h Header> {
    headers.iter().find(|header| header.is(name))
}

/// How a block of headers ends.
pub(super) enum HeaderEnd {
    /// With a blank line; the body starts here.
    Body(usize),
    /// With the text.
    Text,
    /// Not at all: Go refuses it.
    Refused,
}

/// A line without its end, and where the next one starts.
pub(super) fn line(text: &str, at: usize) -> (Span, usize) {
    let rest = Span::new(at, text.len()).text(text);
    match rest.find('\n') {
        Some(length) => {
            let content = rest.get(..length).unwrap_or("");
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

/// Reads header lines as Go's net/mail does, or, with `strict`, as net/textproto does for a part
/// (golang/go src/net/mail/message.go `readHeader`, src/net/textproto/reader.go `readMIMEHeader`).
pub(super) fn headers(
    text: &str,
    start: usize,
    strict: bool,
    problems: &mut Vec<Problem>,
) -> (Vec<Header>, HeaderEnd) {
    let mut headers = Vec::new();
    let mut at = start;
    let blank_at = |at: usize| matches!(text.as_bytes().get(at), Some(b' ' | b'\t'));
    if blank_at(at) {
        problems.push(Problem { kind: ProblemKind::IndentedFirstHeader, span: line(text, at).0 });
        return (headers, HeaderEnd::Refused);
    }
    while at < text.len() {
        let (span, next) = line(text, at);
        if span.is_empty() {
            return (headers, HeaderEnd::Body(next));
        }
        at = next;
        let mut pieces = vec![trimmed(text, span)];
        while blank_at(at) {
            let (span, next) = line(text, at);
            let content = trimmed(text, span);
            if looks_like_header(content.text(text)) {
                problems.push(Problem { kind: ProblemKind::IndentedHeader, span: content });
            }
            if content.is_empty() {
                problems.push(Problem { kind: ProblemKind::BlankLineWithBlanks, span });
            }
            pieces.push(content);
            at = next;
        }
        if let Some(header) = header(text, &pieces, strict) {
            headers.push(header);
        } else {
            let first = pieces.first().copied().unwrap_or_default();
            let kind = if first.text(text).starts_with("--") || first.text(text).starts_with('#') {
                ProblemKind::NoBlankLineAfterHeaders
            } else {
                ProblemKind::MalformedHeader
            };
            problems.push(Problem { kind, span: first });
            return (headers, HeaderEnd::Refused);
        }
    }
    (headers, HeaderEnd::Text)
}

fn header(text: &str, pieces: &[Span], strict: bool) -> Option<Header> {
    let first = pieces.first()?.text(text);
    let mut line = Word::default();
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
    let mut copy = Word::starting(line.place(&(at..line.value.len())));
    for character in value.chars() {
        let end = at + character.len_utf8();
        copy.push(Span::new(at, end).text(&line.value), line.place(&(at..end)), false);
        at = end;
    }
    Some(Header { name, value: copy })
}

/// `Content-Type: …`, `MIME-Version: …`: a header that its author did not mean to continue the one before.
fn looks_like_header(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    ["content-type", "mime-version", "content-transfer-encoding", "content-disposition"]
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header))
}

/// What a `Content-Type` value says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaType {
    /// In lower case: `multipart/mixed`.
    pub name: String,
    /// The `boundary` parameter.
    pub boundary: Option<Placed>,
    /// Whether the boundary is written in the split form of RFC 2231 (`boundary*0=…`), which is not read
    /// here.
    pub encoded_boundary: bool,
}

/// Reads a `Content-Type` value as Go's `mime.ParseMediaType` does (golang/go src/mime/mediatype.go); what it
/// refuses is an error with its place.
pub(super) fn media_type(word: &Word) -> Result<MediaType, Span> {
    let value = word.value.as_str();
    let mut at = value.find(';').unwrap_or(value.len());
    let name = value.get(..at).unwrap_or("").trim().to_ascii_lowercase();
    let whole = match name.split_once('/') {
        Some((major, minor)) => is_token(major) && is_token(minor),
        None => is_token(&name),
    };
    if !whole {
        return Err(word.place(&(0..at)));
    }
    let mut media_type = MediaType { name, ..MediaType::default() };
    loop {
        let mut reader = Parameters { value, at };
        if reader.is_at_end() {
            return Ok(media_type);
        }
        let Some(parameter) = reader.next() else { return Err(word.place(&(at..value.len()))) };
        if parameter.name == "boundary" {
            let placed = Placed { value: parameter.value, span: word.place(&parameter.range) };
            // A parameter may be repeated with the same value, not with another.
            if media_type.boundary.as_ref().is_some_and(|first| first.value != placed.value) {
                return Err(placed.span);
            }
            media_type.boundary.get_or_insert(placed);
        }
        media_type.encoded_boundary |= parameter.name.starts_with("boundary*");
        at = reader.at;
    }
}

struct Parameter {
    name: String,
    value: String,
    range: Range<usize>,
}

/// What stands behind the type in a `Content-Type` value.
struct Parameters<'v> {
    value: &'v str,
    at: usize,
}

impl Parameters<'_> {
    fn rest(&self) -> &str {
        self.value.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        self.at = self.value.len() - self.rest().trim_start().len();
    }

    /// Whether nothing follows but blanks and a last `;`.
    fn is_at_end(&self) -> bool {
        matches!(self.rest().trim(), "" | ";")
    }

    /// A character with the blanks around it.
    fn sign(&mut self, sign: char) -> Option<()> {
        self.blanks();
        self.rest().starts_with(sign).then(|| self.at += 1)?;
        self.blanks();
        Some(())
    }

    /// The word that starts here.
    fn token(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at += token_length(self.rest());
        (self.at > start).then_some(start..self.at)
    }

    /// `; name=value`; `None` where Go refuses it.
    fn next(&mut self) -> Option<Parameter> {
        self.sign(';')?;
        let name = self.value.get(self.token()?)?.to_ascii_lowercase();
        self.sign('=')?;
        if self.rest().starts_with('"') {
            let start = self.at + 1;
            let (content, length) = quoted(self.value.get(start..)?)?;
            self.at = start + length + 1;
            return Some(Parameter { name, value: content, range: start..start + length });
        }
        let range = self.token()?;
        Some(Parameter { name, value: self.value.get(range.clone())?.to_owned(), range })
    }
}

/// A quoted string up to its closing quote, and how many bytes it takes.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((content, at)),
            '\\' => match characters.next_if(|(_, next)| "()<>@,;:\\\"/[]?=".contains(*next)) {
                Some((_, escaped)) => content.push(escaped),
                None => content.push('\\'),
            },
            '\r' | '\n' => return None,
            _ => content.push(character),
        }
    }
    None
}

fn token_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(byte)).count()
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && token_length(text) == text.len()
}
