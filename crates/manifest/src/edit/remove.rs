//! The edit that removes a member or an item.

use super::text_edit::TextEdit;
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// Removes the lines of a member or item in block style, or its text with a comma in flow style.
pub(super) fn edit(node: Node<'_>, source: &Source) -> Option<TextEdit> {
    let parent = node.parent()?;
    let start = if node.key_span() == Span::default() { node.span().start } else { node.key_span().start };
    let end = node.span().end;
    if parent.style() == Style::Flow {
        let before = source.text().get(..start)?;
        let after = source.text().get(end..)?;
        let blank = after.len() - after.trim_start().len();
        if after.trim_start().starts_with(',') {
            let comma = end + blank + 1;
            let next = source.text().get(comma..)?;
            return Some(TextEdit {
                span: Span::new(start, comma + next.len() - next.trim_start().len()),
                text: String::new(),
            });
        }
        let trimmed = before.trim_end();
        let start = if trimmed.ends_with(',') { trimmed.len() - 1 } else { start };
        return Some(TextEdit { span: Span::new(start, end), text: String::new() });
    }
    if parent.len() == 1 {
        // The collection stays, empty: without it the value of its key would be null.
        let empty = if parent.is_mapping() { "{}" } else { "[]" };
        let dash = if parent.is_sequence() { source.text().get(..start)?.rfind('-')? } else { start };
        return Some(TextEdit { span: Span::new(dash, end), text: empty.to_owned() });
    }
    let line = source.text().get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let lead = source.slice(Span::new(line, start));
    let rest = source.text().get(end..)?;
    let tail = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let first_of_item = parent.is_mapping() && lead.trim_start().starts_with('-');
    if first_of_item {
        // The dash stays, and the next member moves up to it.
        let next = parent.children().find(|child| child.index() == node.index() + 1)?;
        return Some(TextEdit { span: Span::new(start, next.key_span().start), text: String::new() });
    }
    Some(TextEdit { span: Span::new(line, end + tail), text: String::new() })
}
