//! Ends of values and lines in a text.

use std::fmt::Write as _;

use crate::source::{Source, Span, certain};
use crate::tree::Node;

/// The end of a member or an item in its text, with the `:` of an absent value at its end.
pub(super) fn written_end(node: Node<'_>, source: &Source) -> usize {
    let end = node.span().end.max(node.key_span().end);
    let (before, rest) = certain(source.text().split_at_checked(end));
    // The span of an absent value is before its `:`, on the line of its key. After a block scalar, the span ends before the
    // next key, which may start with a `:`.
    let is_absent = rest.starts_with(':') && !before.trim_end_matches(' ').ends_with(['\n', '\r']);
    end + usize::from(is_absent)
}

/// The end of the last line of a value that ends at `end`.
///
/// The span of a block scalar reaches over its last line break into the indentation of the next line. Spaces before the
/// end of the text are not indentation, but part of the block scalar.
pub(super) fn last_line_end(source: &Source, end: usize) -> usize {
    let before = source.before(end);
    let line = if end == source.text().len() { before } else { before.trim_end_matches(' ') };
    line.strip_suffix("\r\n").or(line.strip_suffix('\n')).map_or(end, str::len)
}

/// The text with the line breaks of the line of a byte.
pub(super) fn with_newlines_of(text: String, source: &Source, byte: usize) -> String {
    if !text.contains('\n') {
        return text;
    }
    let (before, rest) = certain(source.text().split_at_checked(byte));
    let line = rest.split_once('\n').or(before.rsplit_once('\n')).map_or("", |(line, _)| line);
    if line.ends_with('\r') { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

/// Moves the lines after the first from one column to another. `None` if a line starts too far to the left.
///
/// The spaces of a blank line are moved too, because they may be text of a block scalar.
pub(super) fn move_lines(text: &str, from: usize, to: usize) -> Option<String> {
    let mut lines = text.lines();
    let mut moved = lines.next().unwrap_or_default().trim_end().to_owned();
    for line in lines {
        let bare = line.trim_start_matches(' ');
        let column = line.len() - bare.len() + to;
        let spaces = match bare {
            "" if line.is_empty() => 0,
            "" => column.saturating_sub(from),
            _ => column.checked_sub(from)?,
        };
        let _ = write!(moved, "\n{}{bare}", " ".repeat(spaces));
    }
    Some(moved)
}

/// The start of the line of a byte.
pub(super) fn line_start(source: &Source, byte: usize) -> usize {
    source.before(byte).rfind('\n').map_or(0, |at| at + 1)
}

/// The `-` of the item that starts at a byte. A `-` in a comment between the two is not the item's.
pub(super) fn dash_before(source: &Source, item: usize) -> Option<usize> {
    let before = source.before(item);
    before.rmatch_indices('-').map(|(at, _)| at).find(|at| {
        let lead = source.slice(Span::new(line_start(source, *at), *at));
        lead.chars().all(|char| matches!(char, ' ' | '-' | '?' | ':'))
    })
}

/// The `|` or `>` of a block scalar, whose span starts after it.
pub(super) fn block_header(node: Node<'_>, source: &Source) -> Option<usize> {
    let key = node.key_span().end;
    let is_item = node.parent()?.is_sequence();
    let mut at = if is_item { dash_before(source, node.span().start)? } else { key } + 1;
    loop {
        let rest = source.after(at);
        let word = rest.trim_start_matches([' ', ':']);
        at += rest.len() - word.len();
        match word.chars().next()? {
            '|' | '>' => return Some(at),
            // An anchor or a tag is before the header.
            '&' | '!' => at += word.find(char::is_whitespace)?,
            _ => return None,
        }
    }
}

/// The byte at which to write an absent value: after the `:` of its key, or after its `-` and before a comment.
pub(super) fn absent_value(node: Node<'_>, source: &Source) -> usize {
    let end = written_end(node, source);
    let is_item = node.parent().is_some_and(Node::is_sequence);
    let Some(dash) = dash_before(source, end).filter(|_| is_item) else { return end };
    let between = certain(source.text().get(dash + 1..end)).trim_start();
    if between.is_empty() || between.starts_with('#') { dash + 1 } else { end }
}
