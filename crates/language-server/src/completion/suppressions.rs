//! Rules in comments that accept findings.

use manifest::source::Span;
use rule::suppression::{AcceptedList, COMMENT_START};

use super::suggestion::{Suggestion, SuggestionKind};
use super::{Question, settings};

/// The suggestions in a comment, and the bytes that they replace.
pub(super) fn at(question: Question<'_>, comment: Span) -> (Span, Vec<Suggestion>) {
    let before = Span::new(comment.start, question.byte).text(question.text.text());
    if let Some(AcceptedList { start, end: None }) = AcceptedList::of(before) {
        let name = before.get(start..).and_then(|list| list.rsplit(',').next()).unwrap_or_default();
        let rest = Span::new(question.byte, comment.end).text(question.text.text());
        let end = question.byte + rest.find([',', ']']).unwrap_or(0);
        let start = question.byte - name.trim_start().len();
        return (Span::new(start, end), settings::rules(question.registry));
    }
    let typed = before.strip_prefix('#').unwrap_or(before).trim_start();
    let replaced = Span::new(question.byte - typed.len(), question.byte);
    if !COMMENT_START.starts_with(typed) {
        return (replaced, Vec::new());
    }
    let whole = Suggestion::new(SuggestionKind::Verbatim, COMMENT_START)
        .detail("accept a finding on this line or the next");
    (replaced, vec![whole])
}
