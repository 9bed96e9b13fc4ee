//! Fixes: edits of the user's own text, and the same edits of an object that has no text.

mod append;
mod rewrite;

pub use rewrite::rewrite;

use crate::json::quote;
use crate::scalar::{Scalar, resolve};
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// One change of a document.
#[derive(Clone, Debug)]
pub enum Change<'d> {
    /// Writes a string in the place of a value that is no collection.
    Set(Node<'d>, String),
    /// Writes another key for a value.
    Rename(Node<'d>, String),
    /// Replaces some bytes of a string's value.
    Replace(Node<'d>, Span, String),
    /// Removes a member with its key, or an item.
    Remove(Node<'d>),
    /// Adds a member with a string to an object, after its last one.
    Add(Node<'d>, String, String),
    /// Copies items of a list to the end of another, the member of an object under a key; where there is none it is
    /// made, before the list that the items stand in.
    Append(Node<'d>, &'static str, Vec<Node<'d>>),
}

/// A range of bytes of a source and what to write there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Span,
    /// What to write.
    pub text: String,
}

impl<'d> Change<'d> {
    /// The node that changes.
    pub fn node(&self) -> Node<'d> {
        match self {
            Self::Set(node, _) | Self::Rename(node, _) | Self::Replace(node, ..) | Self::Remove(node) => {
                *node
            }
            Self::Add(node, ..) | Self::Append(node, ..) => *node,
        }
    }

    /// The change as an edit of the text the node was read from; `None` where the text has no place for it, as in what
    /// an alias brought, or in a document within a string in quotes.
    pub fn edit(&self) -> Option<Edit> {
        let node = self.node();
        let source = node.tree().source();
        if (node.style() == Style::Alias && !matches!(self, Self::Set(..))) || !node.is_verbatim() {
            return None;
        }
        match self {
            Self::Set(_, value) => Some(Edit { span: node.span(), text: scalar(value, node.style()) }),
            Self::Rename(_, key) => {
                let span = node.key_span();
                let quoted = source.slice(span).starts_with(['"', '\'']);
                let style = match source.slice(span).as_bytes().first() {
                    Some(b'"') => Style::DoubleQuoted,
                    Some(b'\'') if quoted => Style::SingleQuoted,
                    _ => Style::Plain,
                };
                Some(Edit { span, text: scalar(key, style) })
            }
            Self::Replace(_, range, text) => {
                let text = match node.style() {
                    Style::SingleQuoted => text.replace('\'', "''"),
                    Style::DoubleQuoted => escaped(text),
                    _ => text.clone(),
                };
                Some(Edit { span: node.span_within(*range), text })
            }
            Self::Remove(_) => removal(node, source),
            Self::Add(_, key, value) => addition(node, source, key, value),
            Self::Append(_, key, items) => append::edit(node, source, key, items),
        }
    }
}

/// A string spelled in a style; in quotes where YAML would read it as something else.
fn scalar(value: &str, style: Style) -> String {
    match style {
        Style::DoubleQuoted => format!("\"{}\"", escaped(value)),
        Style::SingleQuoted => format!("'{}'", value.replace('\'', "''")),
        _ if is_plain(value) => value.to_owned(),
        _ => format!("\"{}\"", escaped(value)),
    }
}

/// Whether a string means itself without quotes, in block and flow style.
fn is_plain(value: &str) -> bool {
    let starts = value.starts_with(|char: char| char.is_ascii_alphanumeric() || char == '/' || char == '_');
    let letters = value.chars().all(|char| char.is_ascii_alphanumeric() || "-_./@=+:$".contains(char));
    starts && letters && !value.ends_with(':') && !value.contains(": ") && resolve(value) == Scalar::String
}

fn escaped(text: &str) -> String {
    let mut quoted = String::new();
    quote(text, &mut quoted);
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// The lines of a member or item in block style, or its text with a comma in flow style.
fn removal(node: Node<'_>, source: &Source) -> Option<Edit> {
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
            return Some(Edit {
                span: Span::new(start, comma + next.len() - next.trim_start().len()),
                text: String::new(),
            });
        }
        let trimmed = before.trim_end();
        let start = if trimmed.ends_with(',') { trimmed.len() - 1 } else { start };
        return Some(Edit { span: Span::new(start, end), text: String::new() });
    }
    if parent.len() == 1 {
        // Nothing would be left: an empty collection keeps the document's shape.
        let empty = if parent.is_mapping() { "{}" } else { "[]" };
        let dash = if parent.is_sequence() { source.text().get(..start)?.rfind('-')? } else { start };
        return Some(Edit { span: Span::new(dash, end), text: empty.to_owned() });
    }
    let line = source.text().get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let lead = source.slice(Span::new(line, start));
    let rest = source.text().get(end..)?;
    let tail = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let first_of_item = parent.is_mapping() && lead.trim_start().starts_with('-');
    if first_of_item {
        // The dash stays, and the next member moves up behind it.
        let next = parent.children().find(|child| child.index() == node.index() + 1)?;
        return Some(Edit { span: Span::new(start, next.key_span().start), text: String::new() });
    }
    Some(Edit { span: Span::new(line, end + tail), text: String::new() })
}

/// A new member after the last one, as far indented as that.
fn addition(node: Node<'_>, source: &Source, key: &str, value: &str) -> Option<Edit> {
    let last = node.children().last()?;
    let end = last.span().end.max(last.key_span().end);
    let (key, value) = (scalar(key, Style::Plain), scalar(value, Style::Plain));
    if node.style() == Style::Flow {
        let json = source.slice(last.key_span()).starts_with('"');
        let text = if json {
            format!(", \"{key}\": \"{}\"", value.trim_matches('"'))
        } else {
            format!(", {key}: {value}")
        };
        return Some(Edit { span: Span::new(end, end), text });
    }
    let line = source.text().get(..last.key_span().start)?.rfind('\n').map_or(0, |at| at + 1);
    let column = last.key_span().start - line;
    let rest = source.text().get(end..)?;
    let line = rest.split('\n').next().unwrap_or_default();
    // The new line ends as the one before it does.
    let (line, newline) = line.strip_suffix('\r').map_or((line, "\n"), |line| (line, "\r\n"));
    let at = end + line.len();
    let at = if matches!(last.style(), Style::Literal | Style::Folded) { end.saturating_sub(1) } else { at };
    Some(Edit { span: Span::new(at, at), text: format!("{newline}{}{key}: {value}", " ".repeat(column)) })
}

/// The text with the edits made, the later ones first; an edit that overlaps one before it is left out.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{Document, File};

    #[test]
    fn a_new_line_ends_as_the_one_before_it() {
        for (before, after) in [
            ("a:\r\n  b: c # why\r\nd: e\r\n", "a:\r\n  b: c # why\r\n  k: v\r\nd: e\r\n"),
            ("a:\n  b: c", "a:\n  b: c\n  k: v"),
            ("a: {b: c}", "a: {b: c, k: v}"),
        ] {
            let file = File::read("-", before, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{before}") };
            let change = Change::Add(tree.root().get("a").unwrap(), "k".to_owned(), "v".to_owned());
            assert_eq!(apply(before, &[change.edit().unwrap()]), after);
        }
    }
}
