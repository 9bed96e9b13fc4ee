//! The edit that removes a member or an item.

use super::lines::{dash_before, last_line_end, line_start, written_end};
use super::text_edit::TextEdit;
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// Removes the lines of a member or item in block style, or its text with a comma in flow style.
pub(super) fn edit(node: Node<'_>, source: &Source) -> Option<TextEdit> {
    let parent = node.parent()?;
    let start = if node.key_span() == Span::default() { node.span().start } else { node.key_span().start };
    let end = written_end(node, source);
    if parent.style() == Style::Flow {
        let before = source.text().get(..start)?;
        let after = source.text().get(end..)?;
        let blank = after.len() - after.trim_start().len();
        if after.trim_start().starts_with(',') {
            let comma = end + blank + 1;
            let next = source.text().get(comma..)?;
            // A comment needs a space before it.
            let kept = next.trim_start();
            let end = if kept.starts_with('#') { comma } else { comma + next.len() - kept.len() };
            return Some(TextEdit { span: Span::new(start, end), text: String::new() });
        }
        let trimmed = before.trim_end();
        let start = if trimmed.ends_with(',') { trimmed.len() - 1 } else { start };
        return Some(TextEdit { span: Span::new(start, end), text: String::new() });
    }
    let end = last_line_end(source, end);
    if end < start {
        // The key is an empty block scalar after `?`, which counts from the line below it.
        return None;
    }
    if parent.len() == 1 {
        return only_child(parent, source, start, end);
    }
    let start = written_start(node, source)?;
    let line = line_start(source, start);
    let lead = source.slice(Span::new(line, start));
    if lead.contains('?') {
        return None;
    }
    if !lead.trim().is_empty() {
        // The `-` before the first member or item stays, and the next one moves up to it.
        let next = parent.children().find(|child| child.index() == node.index() + 1)?;
        return Some(TextEdit { span: Span::new(start, written_start(next, source)?), text: String::new() });
    }
    let rest = source.after(end);
    let tail = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let end = end_of_lines(node, source, end + tail, lead.len())?;
    Some(TextEdit { span: Span::new(line, end), text: String::new() })
}

/// The end of the lines to remove, of which the member or item takes those up to `end` and starts at `column`.
///
/// A blank line or an indented comment after them would continue a block scalar before them. So the blank lines are removed
/// too, and before such a comment there is no edit.
fn end_of_lines(node: Node<'_>, source: &Source, end: usize, column: usize) -> Option<usize> {
    // In parsing order, the last value of the member or item before comes next to this one.
    let value = node.id().previous().map(|id| node.tree().node(id));
    if !value.is_some_and(|value| matches!(value.style(), Style::Literal | Style::Folded)) {
        return Some(end);
    }
    let rest = source.after(end);
    let blank: usize =
        rest.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let next = rest.get(blank..)?;
    let text = next.trim_start_matches(' ');
    let is_deeper = next.len() - text.len() > column;
    (!(is_deeper && text.starts_with('#'))).then_some(end + blank)
}

/// The start of a member or an item in block style, with its `-`.
fn written_start(node: Node<'_>, source: &Source) -> Option<usize> {
    if node.parent()?.is_sequence() {
        dash_before(source, node.span().start)
    } else {
        Some(node.key_span().start)
    }
}

/// Replaces a collection by an empty one: without it the value of its key would be null.
fn only_child(parent: Node<'_>, source: &Source, start: usize, end: usize) -> Option<TextEdit> {
    if parent.is_mapping() {
        return Some(TextEdit { span: Span::new(start, end), text: "{}".to_owned() });
    }
    let dash = dash_before(source, start)?;
    let key = parent.key_span();
    let column = |byte| byte - line_start(source, byte);
    if parent.key().is_empty() || column(dash) != column(key.start) {
        return Some(TextEdit { span: Span::new(dash, end), text: "[]".to_owned() });
    }
    // In the column of its key, `[]` would not be the value of the key.
    let colon = source.text().get(key.end..dash)?.trim().strip_prefix(':')?;
    let at = source.before(dash).trim_end().len();
    colon.is_empty().then(|| TextEdit { span: Span::new(at, end), text: " []".to_owned() })
}

#[cfg(test)]
mod tests {
    use crate::edit::{Change, apply};
    use crate::limits::Limits;
    use crate::{Document, File};

    #[test]
    fn removes_lines_of_member_only() {
        for (before, after) in [
            ("a: b # why\nk: v\nd: e\n", "a: b # why\nd: e\n"),
            ("k: |\n  l\n\nd: e\n", "d: e\n"),
            ("a: |\n  b\nk: v\n   \n\nd: e\n", "a: |\n  b\nd: e\n"),
            ("a:\n- >+\n  b\nk: v\n\n# why\n", "a:\n- >+\n  b\n# why\n"),
            ("a: b\nk: v\n\nd: e\n", "a: b\n\nd: e\n"),
            ("x:\n  k:\n    l: |\n      m\n  d: e\n", "x:\n  d: e\n"),
            ("k:\nd: e\n", "d: e\n"),
            ("x:\n  k: |\n    l\nd: e\n", "x:\n  {}\nd: e\n"),
            ("k:\n- l\nd: e\n", "k: []\nd: e\n"),
            ("k:\n-\n  l\n- m\n", "k:\n- m\n"),
            ("k:\n- l: m\n  n: o\n- p\n", "k:\n- p\n"),
            ("k:\n  - l: m\nd: e\n", "k:\n  []\nd: e\n"),
            ("{k: , d: e}", "{d: e}"),
            ("{d: e, k: v}", "{d: e}"),
            ("{k: v, # why\n  d: e}", "{ # why\n  d: e}"),
        ] {
            let file = File::read("-", before, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{before}") };
            let node = tree.root().get("k").or(tree.root().at_path(&["x", "k"])).unwrap();
            let node = node.items().next().unwrap_or(node);
            assert_eq!(apply(before, &[Change::Remove(node).edit().unwrap()]), after);
        }
    }

    #[test]
    fn keeps_member_before_comment_that_would_join_block_scalar() {
        for (text, edits) in [
            ("a: |\nk: v\n  # why\n", false),
            ("a: |\n  b\nk: v\n\n  # why\n", false),
            ("a: |\n  b\nk: v\n# why\n", true),
            ("a: b\nk: v\n  # why\n", true),
        ] {
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            assert_eq!(Change::Remove(tree.root().get("k").unwrap()).edit().is_some(), edits, "{text}");
        }
    }
}
