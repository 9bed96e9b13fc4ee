//! Rules in comments that accept findings.

use manifest::source::Span;

use super::suggestion::{Suggestion, SuggestionKind};
use super::{Question, settings};

/// The start of a comment that accepts findings.
const START: &str = "karpwarden: ignore[";

/// The suggestions in a comment, and the bytes that they replace.
pub(super) fn at(question: Question<'_>, comment: Span) -> (Span, Vec<Suggestion>) {
    let before = Span::new(comment.start, question.byte).text(question.text.text());
    if let Some((_, list)) =
        before.split_once("ignore[").filter(|(start, list)| is_own(start) && !list.contains(']'))
    {
        let name = list.rsplit(',').next().unwrap_or_default().trim_start();
        let rest = Span::new(question.byte, comment.end).text(question.text.text());
        let end = question.byte + rest.find([',', ']']).unwrap_or(0);
        return (Span::new(question.byte - name.len(), end), settings::rules(question.registry));
    }
    let typed = before.trim_start_matches(['#', ' ', '\t']);
    let replaced = Span::new(question.byte - typed.len(), question.byte);
    if !START.starts_with(typed) {
        return (replaced, Vec::new());
    }
    let whole =
        Suggestion::new(SuggestionKind::Verbatim, START).detail("accept a finding on this line or the next");
    (replaced, vec![whole])
}

fn is_own(start: &str) -> bool {
    start.trim_start_matches(['#', ' ', '\t']).starts_with("karpwarden:")
}
