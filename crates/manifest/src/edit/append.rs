//! The edit that copies items to the end of a list, and creates the list if it does not exist.

use std::fmt::Write as _;

use super::lines::{dash_before, last_line_end, line_start, move_lines, written_end};
use super::spelling::spell;
use super::text_edit::TextEdit;
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// Copies items of one list to the end of another list, the member `key` of `object`. If there is no such member, creates
/// it before the list of the items, which must be a member of the same object.
///
/// `None` if an alias copied the list or an item, if an item is a block scalar, whose span is without its header, or if an
/// item in block style cannot be written in braces.
pub(super) fn edit(object: Node<'_>, source: &Source, key: &str, items: &[Node<'_>]) -> Option<TextEdit> {
    if items.is_empty()
        || items.iter().any(|item| matches!(item.style(), Style::Alias | Style::Literal | Style::Folded))
    {
        return None;
    }
    let Some(list) = object.get(key) else { return create(object, source, key, items) };
    if !list.is_sequence() || list.style() == Style::Alias {
        return None;
    }
    match list.items().last() {
        None => Some(TextEdit { span: list.span(), text: format!("[{}]", all_in_flow(items, source)?) }),
        Some(tail) if list.style() == Style::Flow => {
            let end = written_end(tail, source);
            Some(TextEdit { span: Span::new(end, end), text: format!(", {}", all_in_flow(items, source)?) })
        }
        Some(tail) => {
            let dash = dash_column(list, source)?;
            let end = end_of_line(source, written_end(tail, source));
            Some(TextEdit { span: Span::new(end, end), text: all_in_block(items, source, dash)? })
        }
    }
}

/// Creates the list, before the list of the items.
fn create(object: Node<'_>, source: &Source, key: &str, items: &[Node<'_>]) -> Option<TextEdit> {
    let list = items.first()?.parent()?;
    if list.parent() != Some(object) || list.style() == Style::Alias {
        return None;
    }
    let start = list.key_span().start;
    let json = source.slice(list.key_span()).starts_with('"');
    let name = spell(key, if json { Style::DoubleQuoted } else { Style::Plain });
    let text = if object.style() == Style::Flow {
        format!("{name}: [{}], ", all_in_flow(items, source)?)
    } else {
        let pad = " ".repeat(column(source, start));
        if list.style() == Style::Flow {
            format!("{name}: [{}]\n{pad}", all_in_flow(items, source)?)
        } else {
            format!("{name}:{}\n{pad}", all_in_block(items, source, dash_column(list, source)?)?)
        }
    };
    Some(TextEdit { span: Span::new(start, start), text })
}

/// The column of a byte, from 0. It counts bytes, since only indentation is before the byte.
fn column(source: &Source, byte: usize) -> usize {
    byte - line_start(source, byte)
}

/// The end of the line on which a value that ends at `byte` ends.
fn end_of_line(source: &Source, byte: usize) -> usize {
    let end = last_line_end(source, byte);
    end + source.after(end).lines().next().map_or(0, str::len)
}

/// The column of the `-` of a list in block style.
fn dash_column(list: Node<'_>, source: &Source) -> Option<usize> {
    let start = list.children().next()?.span().start;
    Some(column(source, dash_before(source, start)?))
}

/// Writes the items in block style, each on a new line after a `-`.
fn all_in_block(items: &[Node<'_>], source: &Source, dash: usize) -> Option<String> {
    let mut text = String::new();
    for item in items {
        let _ = write!(text, "\n{}- {}", " ".repeat(dash), in_block(*item, source, dash + 2)?);
    }
    Some(text)
}

/// Copies the text of an item with its comments, and indents its lines to a column. `None` if a comment is between the `-` and
/// the item.
pub(super) fn in_block(item: Node<'_>, source: &Source, to: usize) -> Option<String> {
    if item.style() != Style::Block {
        return Some(source.slice(item.span()).to_owned());
    }
    let start = item.span().start;
    if source.slice(Span::new(dash_before(source, start)?, start)).contains('#') {
        return None;
    }
    let from = column(source, start);
    let whole =
        source.slice(Span::new(start, end_of_line(source, written_end(item.children().last()?, source))));
    move_lines(whole, from, to)
}

fn all_in_flow(items: &[Node<'_>], source: &Source) -> Option<String> {
    let items: Option<Vec<String>> = items.iter().map(|item| in_flow(*item, source)).collect();
    items.map(|items| items.join(", "))
}

/// Writes an item in braces.
fn in_flow(item: Node<'_>, source: &Source) -> Option<String> {
    if item.style() != Style::Block {
        return Some(source.slice(item.span()).to_owned());
    }
    let mut members = Vec::new();
    for (_, value) in item.members() {
        let spelling = source.slice(value.span());
        let simple = matches!(value.style(), Style::Plain | Style::SingleQuoted | Style::DoubleQuoted);
        if !simple || spelling.contains(['\n', ',', '[', ']', '{', '}']) {
            return None;
        }
        members.push(format!("{}: {spelling}", source.slice(value.key_span())));
    }
    Some(format!("{{{}}}", members.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::edit::{Change, apply, rewrite};
    use crate::limits::Limits;
    use crate::{Document, File};

    /// Moves the first item of `from` to the end of `to`, in the text and in JSON, and checks that both results agree.
    fn moved(text: &str) -> String {
        let read = |text: &str| File::read("-", text, &Limits::DEFAULT);
        let file = read(text);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let root = tree.root();
        let item = root.get("from").unwrap().items().next().unwrap();
        let changes = [Change::Append(root, "to", vec![item]), Change::Remove(item)];
        let edits: Vec<_> = changes.iter().map(|change| change.edit().unwrap()).collect();
        let edited = apply(text, &edits);
        let object = rewrite(root, changes.iter().collect());
        assert_eq!(as_json(&edited), as_json(&object), "{edited}");
        edited
    }

    /// The first document of a text as JSON.
    fn as_json(text: &str) -> serde_json::Value {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        tree.root().to_json()
    }

    #[test]
    fn keeps_comments_and_takes_indentation_of_list() {
        let text = "to:\n- k: a\nfrom:\n  - k: b # why\n    # more\n    v: c # last\n  - k: d\n";
        insta::assert_snapshot!(moved(text), @r"
        to:
        - k: a
        - k: b # why
          # more
          v: c # last
        from:
          - k: d
        ");
    }

    #[test]
    fn keeps_items_in_braces() {
        let text = "to: [{k: a}]\nfrom: [{k: b, v: c}, {k: d}]\n";
        insta::assert_snapshot!(moved(text), @"
        to: [{k: a}, {k: b, v: c}]
        from: [{k: d}]
        ");
        insta::assert_snapshot!(moved("to:\n  - k: a # first\nfrom: [{k: b}, {k: d}]\n"), @"
        to:
          - k: a # first
          - {k: b}
        from: [{k: d}]
        ");
    }

    #[test]
    fn writes_block_items_in_braces_for_list_in_brackets() {
        insta::assert_snapshot!(moved("to: [{k: a}]\nfrom:\n  - k: b\n    v: 'c'\n  - k: d\n"), @"
        to: [{k: a}, {k: b, v: 'c'}]
        from:
          - k: d
        ");
        insta::assert_snapshot!(moved("to: []\nfrom:\n  - k: b\n  - k: d\n"), @"
        to: [{k: b}]
        from:
          - k: d
        ");
    }

    #[test]
    fn creates_missing_list_before_list_of_items() {
        insta::assert_snapshot!(moved("a: 1\nfrom:\n  - k: b\n    v: c\n  - k: d\n"), @"
        a: 1
        to:
          - k: b
            v: c
        from:
          - k: d
        ");
        insta::assert_snapshot!(moved("from: [{k: b}, {k: d}]\n"), @"
        to: [{k: b}]
        from: [{k: d}]
        ");
        insta::assert_snapshot!(moved("{a: 1, from: [{k: b}, {k: d}]}\n"), @"{a: 1, to: [{k: b}], from: [{k: d}]}");
        insta::assert_snapshot!(moved(r#"{"a": 1, "from": [{"k": "b"}, {"k": "d"}]}"#), @r#"{"a": 1, "to": [{"k": "b"}], "from": [{"k": "d"}]}"#);
    }

    #[test]
    fn refuses_item_behind_alias() {
        let text = "base: &base {k: b}\nfrom:\n- *base\n- k: d\n";
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        let item = tree.root().get("from").unwrap().items().next().unwrap();
        assert_eq!(Change::Append(tree.root(), "to", vec![item]).edit(), None);
    }
}
