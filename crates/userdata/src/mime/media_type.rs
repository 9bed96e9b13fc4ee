//! Value of `Content-Type`.

use core::ops::Range;

use manifest::source::{Span, certain};

use crate::word::{SourceWord, SpannedText};

/// Parsed value of `Content-Type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MediaType {
    /// Media type in lower case: `multipart/mixed`.
    pub(super) name: String,
    /// Parameter `boundary`.
    pub(super) boundary: Option<SpannedText>,
    /// Whether the boundary has the split form of RFC 2231 (`boundary*0=…`), which is not parsed.
    pub(super) encoded_boundary: bool,
}

/// Parses a value of `Content-Type` as Go's `mime.ParseMediaType` does (golang/go src/mime/mediatype.go). The error is
/// the span of the part that Go rejects.
pub(super) fn media_type(word: &SourceWord) -> Result<MediaType, Span> {
    let value = word.value.as_str();
    let mut at = value.find(';').unwrap_or(value.len());
    let name = certain(value.get(..at)).trim().to_ascii_lowercase();
    let whole = match name.split_once('/') {
        Some((major, minor)) => is_token(major) && is_token(minor),
        None => is_token(&name),
    };
    if !whole {
        return Err(word.span_of(&(0..at)));
    }
    let mut media_type = MediaType { name, ..MediaType::default() };
    loop {
        let mut parameters = Parameters { value, at };
        if parameters.is_at_end() {
            return Ok(media_type);
        }
        let Some(parameter) = parameters.next() else { return Err(word.span_of(&(at..value.len()))) };
        if parameter.name == "boundary" {
            let boundary = SpannedText { value: parameter.value, span: word.span_of(&parameter.range) };
            // Go accepts a repeated parameter only with the same value.
            if media_type.boundary.as_ref().is_some_and(|first| first.value != boundary.value) {
                return Err(boundary.span);
            }
            media_type.boundary.get_or_insert(boundary);
        }
        media_type.encoded_boundary |= parameter.name.starts_with("boundary*");
        at = parameters.at;
    }
}

/// Parameter of a media type, with the range of its value.
struct Parameter {
    name: String,
    value: String,
    range: Range<usize>,
}

/// Position in the parameters of a `Content-Type` value.
struct Parameters<'v> {
    value: &'v str,
    at: usize,
}

impl Parameters<'_> {
    fn rest(&self) -> &str {
        certain(self.value.get(self.at..))
    }

    fn blanks(&mut self) {
        self.at = self.value.len() - self.rest().trim_start().len();
    }

    /// Whether only whitespace and a last `;` follow.
    fn is_at_end(&self) -> bool {
        matches!(self.rest().trim(), "" | ";")
    }

    /// Skips a character and the whitespace around it.
    fn sign(&mut self, sign: char) -> Option<()> {
        self.blanks();
        self.rest().starts_with(sign).then(|| self.at += 1)?;
        self.blanks();
        Some(())
    }

    /// Range of the token that starts here.
    fn token(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at += token_length(self.rest());
        (self.at > start).then_some(start..self.at)
    }

    /// Parses `; name=value`; `None` if Go rejects it.
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

/// Content of a quoted string and its length in bytes, without the quotes.
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
