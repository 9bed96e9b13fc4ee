//! Replacement of a range of a text.

use crate::source::Span;

/// A range of bytes of a text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// Applies edits to a text. If two different edits overlap, only the first is applied.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut ordered: Vec<&TextEdit> = edits.iter().collect();
    ordered.sort_by_key(|edit| edit.span);
    ordered.dedup();
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in ordered {
        let Some(kept) = text.get(at..edit.span.start) else { continue };
        result.push_str(kept);
        result.push_str(&edit.text);
        at = edit.span.end.max(at);
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
