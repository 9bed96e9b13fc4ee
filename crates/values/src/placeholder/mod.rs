//! Placeholders: text that a tool or a person replaces before an object is applied, so that it cannot be checked yet.
//!
//! Every rule asks this module, so that a text counts as a placeholder at every field and in every spelling, or at none.

mod marked;
mod reference;
mod requested;
#[cfg(test)]
mod tests;

use core::ops::Range;

use self::marked::{marked_length, marked_range};
pub use self::reference::is_bare_reference;
use self::requested::requested_range;

/// The first placeholder of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The bytes of the placeholder in the text.
    pub range: Range<usize>,
}

impl Placeholder {
    /// The first placeholder of a text: a mark of a template engine such as `${X}`, `{{ x }}` or `<x>`, or words that ask
    /// for a value, such as `REPLACE_ME`.
    pub fn find(text: &str) -> Option<Self> {
        marked_range(text, 0).or_else(|| requested_range(text)).map(|range| Self { range })
    }

    /// Whether a text is one placeholder and nothing else. Words that ask for a value have one line.
    pub fn is_whole(text: &str) -> bool {
        if let Some(length) = marked_length(text, 0) {
            return length == text.len();
        }
        let is_request = || requested_range(text).is_some_and(|range| range == (0..text.len()));
        !text.contains('\n') && is_request() && marked_range(text, 0).is_none()
    }
}

/// Whether a text has a placeholder.
pub fn has_placeholder(text: &str) -> bool {
    Placeholder::find(text).is_some()
}

/// Whether a text lists the alternatives of a reference manual, such as `720h|Never`, of which an author has to choose one. Each
/// alternative is valid, so that a value with a `|` by mistake is not a placeholder.
pub fn are_alternatives(text: &str, is_valid: impl Fn(&str) -> bool) -> bool {
    text.contains('|') && text.split('|').all(|one| is_valid(one.trim()))
}

/// Whether a word is in capitals, such as `NODE_NAME`. Where only lower case is valid, scripts replace such words.
pub fn is_in_capitals(word: &str) -> bool {
    word.len() > 2
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && !word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether a text has an input of a `ResourceSet` of Flux, such as `<< inputs.name >>` or `<< if inputs.name >>`.
///
/// Source: "Resources configuration" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator.
pub fn has_flux_input(text: &str) -> bool {
    text.split_once("<<").is_some_and(|(_, rest)| rest.contains("inputs"))
}

/// The parts of a text outside of the marks of a `ResourceSet` of Flux, and the ones between them.
pub fn split_at_flux_inputs(text: &str) -> (String, Vec<&str>) {
    let (mut plain, mut inner) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<<") {
        plain.push_str(before);
        let (own, next) = after.split_once(">>").unwrap_or((after, ""));
        inner.push(own);
        rest = next;
    }
    (plain + rest, inner)
}

/// Replaces every placeholder of a text, in order.
pub fn replaced(text: &str, replacement: &str) -> String {
    let without_marks = replaced_by(text, replacement, marked_range);
    let next_request = |text: &str, from: usize| {
        let range = requested_range(text.get(from..)?)?;
        Some(from + range.start..from + range.end)
    };
    replaced_by(&without_marks, replacement, next_request)
}

/// Replaces the ranges that a search finds from an offset on.
fn replaced_by(text: &str, replacement: &str, next: impl Fn(&str, usize) -> Option<Range<usize>>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(range) = next(text, from) {
        plain.push_str(part(text, from..range.start));
        plain.push_str(replacement);
        from = range.end;
    }
    plain + part(text, from..text.len())
}

/// The part of a text at a range that a search found.
fn part(text: &str, range: Range<usize>) -> &str {
    let part = text.get(range);
    debug_assert!(part.is_some(), "a range of another text");
    part.unwrap_or_default()
}

/// The text with the default of each placeholder, such as `720h` for `${EXPIRE_AFTER:=720h}`; `None` if the text has no
/// placeholder or a placeholder without a default.
///
/// Source: "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller. The POSIX
/// shell has the same forms.
pub fn with_defaults(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut from = 0;
    while let Some(range) = marked_range(text, from) {
        plain.push_str(text.get(from..range.start)?);
        plain.push_str(default_of(text.get(range.clone())?)?);
        from = range.end;
    }
    let rest = text.get(from..)?;
    let is_complete = from > 0 && requested_range(&plain).is_none() && requested_range(rest).is_none();
    is_complete.then(|| plain + rest)
}

/// The default in `${X:=default}`, `${X:-default}`, `${X=default}` or `${X-default}`.
fn default_of(placeholder: &str) -> Option<&str> {
    let inner = placeholder.strip_prefix("${")?.strip_suffix('}')?;
    let name = inner.bytes().take_while(|byte| is_name_byte(*byte)).count();
    let rest = inner.get(name..)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let default = rest.strip_prefix(['=', '-'])?;
    // A default with another placeholder ends at the wrong brace.
    (name > 0 && !default.contains(['$', '{'])).then_some(default)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
