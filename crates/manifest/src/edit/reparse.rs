//! A document parsed again after edits of its text.

use super::text_edit::{TextEdit, apply};
use crate::limits::Limits;
use crate::source::Span;
use crate::tree::Tree;
use crate::{Document, Excerpt, File};

/// Parses a document again with edits applied to its text. Reads only the part of the file that the document comes from, so
/// the cost is linear in the size of the document.
///
/// Returns `None` if the edits overlap or leave that part, or if the result is not exactly one document.
pub fn reparse(tree: &Tree, edits: &[TextEdit]) -> Option<Tree> {
    let Excerpt { span, is_json } = tree.excerpt()?;
    let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
    spans.sort();
    let is_within =
        spans.iter().all(|edit| span.start <= edit.start && edit.start <= edit.end && edit.end <= span.end);
    let is_apart =
        spans.windows(2).all(|pair| matches!(pair, [one, two] if one.end <= two.start && one != two));
    if !is_within || !is_apart {
        return None;
    }
    let moved = |edit: &TextEdit| TextEdit {
        span: Span::new(edit.span.start - span.start, edit.span.end - span.start),
        text: edit.text.clone(),
    };
    let text = apply(tree.source().slice(span), &edits.iter().map(moved).collect::<Vec<_>>());
    let whole = Excerpt { span: Span::whole(&text), is_json };
    // The document was within the bounds of the caller, and an edit adds few values.
    let limits =
        Limits { file_bytes: usize::MAX, documents: 1, nodes: 2 * tree.size() + 1000, ..Limits::DEFAULT };
    let file = File::from_excerpts(tree.source().name(), text, &[whole], tree.options_within(&limits));
    let mut documents = file.documents.into_iter();
    match (documents.next(), documents.next()) {
        (Some(Document::Read(tree)), None) => Some(tree),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Change;

    fn reparsed(text: &str, document: usize, edits: &[TextEdit]) -> Option<serde_json::Value> {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.get(document) else { panic!("{text}") };
        reparse(tree, edits).map(|tree| tree.root().to_json())
    }

    #[test]
    fn parses_the_edited_document_alone() {
        for (text, document) in [
            ("a: [\n---\n# c\nk: a\n---\nb: {{ .c }}\n", 1),
            ("k: a\r\n---\r\nb: c\r\n", 0),
            ("{\"b\": 1} {\"k\": \"a\"} {\"c\": 2}", 1),
        ] {
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.get(document) else { panic!("{text}") };
            let edit = Change::Set(tree.root().get("k").unwrap(), "v".to_owned()).edit().unwrap();
            assert_eq!(reparsed(text, document, &[edit]), Some(serde_json::json!({"k": "v"})), "{text}");
        }
    }

    #[test]
    fn refuses_edits_that_overlap_or_leave_the_document_or_break_it() {
        let edit = |start, end, text: &str| TextEdit { span: Span::new(start, end), text: text.to_owned() };
        let text = "k: a\n---\nb: c\n";
        assert_eq!(reparsed(text, 0, &[edit(3, 4, "v"), edit(3, 5, "w")]), None);
        assert_eq!(reparsed(text, 0, &[edit(3, 4, "v"), edit(3, 4, "v")]), None);
        assert_eq!(reparsed(text, 0, &[edit(12, 13, "v")]), None);
        assert_eq!(reparsed(text, 0, &[edit(3, 4, "[")]), None);
        assert_eq!(reparsed(text, 0, &[edit(3, 4, "v\n---\nc: d")]), None);
        assert_eq!(reparsed(text, 0, &[edit(3, 4, "v")]), Some(serde_json::json!({"k": "v"})));
    }
}
