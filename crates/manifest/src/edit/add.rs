//! The edit that adds a member to an object.

use super::lines::{last_line_end, line_start, written_end};
use super::spelling::spell;
use super::text_edit::TextEdit;
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// Adds a member after the last one, with the same indentation. `None` if `<<` merges every member from elsewhere.
pub(super) fn edit(node: Node<'_>, source: &Source, key: &str, value: &str) -> Option<TextEdit> {
    let last = node.children().filter(|member| !member.is_merged()).last()?;
    let end = written_end(last, source);
    let (key, value) = (spell(key, Style::Plain), spell(value, Style::Plain));
    if node.style() == Style::Flow {
        let json = source.slice(last.key_span()).starts_with('"');
        let text = if json {
            format!(", \"{key}\": \"{}\"", value.trim_matches('"'))
        } else {
            format!(", {key}: {value}")
        };
        return Some(TextEdit { span: Span::new(end, end), text });
    }
    let column = last.key_span().start - line_start(source, last.key_span().start);
    let end = last_line_end(source, end);
    let at = end + source.after(end).lines().next().map_or(0, str::len);
    Some(TextEdit { span: Span::new(at, at), text: format!("\n{}{key}: {value}", " ".repeat(column)) })
}

#[cfg(test)]
mod tests {
    use crate::edit::{Change, apply};
    use crate::limits::Limits;
    use crate::{Document, File};

    #[test]
    fn adds_member_after_last_line_with_its_line_ending() {
        for (before, after) in [
            ("a:\r\n  b: c # why\r\nd: e\r\n", "a:\r\n  b: c # why\r\n  k: v\r\nd: e\r\n"),
            ("a:\n  b: c", "a:\n  b: c\n  k: v"),
            ("a: {b: c}", "a: {b: c, k: v}"),
            ("a: {b: }", "a: {b:, k: v }"),
            ("a:\n  b: |\n    c\nd: e\n", "a:\n  b: |\n    c\n  k: v\nd: e\n"),
            (
                "x:\n  a:\n    b: |\r\n      c\r\n  d: e\n",
                "x:\n  a:\n    b: |\r\n      c\r\n    k: v\r\n  d: e\n",
            ),
            ("a:\n  b:\n    c: |\n      d\n\ne: f\n", "a:\n  b:\n    c: |\n      d\n\n  k: v\ne: f\n"),
            ("a:\n  b: |\n    é", "a:\n  b: |\n    é\n  k: v"),
            ("a:\n  b: c\n  <<: {d: e}\n", "a:\n  b: c\n  k: v\n  <<: {d: e}\n"),
        ] {
            let file = File::read("-", before, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{before}") };
            let change = Change::Add(
                tree.root().get("a").or(tree.root().at_path(&["x", "a"])).unwrap(),
                "k".to_owned(),
                "v".to_owned(),
            );
            assert_eq!(apply(before, &[change.edit().unwrap()]), after);
        }
    }

    #[test]
    fn adds_no_member_beside_merged_members_alone() {
        let file = File::read("-", "<<: {d: e}", &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        assert!(Change::Add(tree.root(), "k".to_owned(), "v".to_owned()).edit().is_none());
    }
}
