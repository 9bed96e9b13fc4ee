//! Changes of a tree, and their edits of the text.

use super::compose::{self, Composed};
use super::lines::{absent_value, block_header, last_line_end, line_start, with_newlines_of};
use super::spelling::{escaped, spell};
use super::text_edit::TextEdit;
use super::{add, append, remove};
use crate::source::{Source, Span};
use crate::tree::{Comment, Node, Style};

/// A change to one node of a tree.
#[derive(Clone, Debug)]
pub enum Change<'d> {
    /// Replaces a scalar value by a string.
    Set(Node<'d>, String),
    /// Replaces the key of a value.
    Rename(Node<'d>, String),
    /// Replaces a range of bytes of a string.
    Replace(Node<'d>, Span, String),
    /// Removes a member with its key, or an item of a list.
    Remove(Node<'d>),
    /// Adds a member to an object, after the last one: its key and its value, a string.
    Add(Node<'d>, String, String),
    /// Copies items of a list to the end of another list: the object and the key of that other list. If there is no such
    /// list, the edit creates it, before the list of the items.
    Append(Node<'d>, &'static str, Vec<Node<'d>>),
    /// Replaces the value of a member of an object.
    Write(Node<'d>, Composed<'d>),
    /// Adds a member to an object, after another member: its key and its value.
    AddAfter(Node<'d>, String, Composed<'d>),
}

/// Sorts changes by the node that changes. Changes of one node keep their order.
pub(super) fn sort_by_node(changes: &mut [&Change<'_>]) {
    changes.sort_by_key(|change| change.node().id());
}

impl<'d> Change<'d> {
    /// The node that changes.
    pub fn node(&self) -> Node<'d> {
        match self {
            Self::Set(node, _) | Self::Rename(node, _) | Self::Replace(node, ..) | Self::Remove(node) => {
                *node
            }
            Self::Add(node, ..)
            | Self::Append(node, ..)
            | Self::Write(node, _)
            | Self::AddAfter(node, ..) => *node,
        }
    }

    /// Converts the change to an edit of the text. `None` if the text has no bytes that the edit could change, for
    /// example in a value behind an alias, or in a document within a quoted string.
    pub fn edit(&self) -> Option<TextEdit> {
        let node = self.node();
        let source = node.source();
        let is_written = match self {
            Self::Replace(_, range, text) if node.is_derived() => node.has_verbatim(*range, text),
            // The value stays as it is, or goes.
            Self::Rename(..) if node.tree().is_evaluated() => {
                source.slice(node.key_span()).trim_matches(['"', '\'']) == node.key()
            }
            Self::Remove(_) | Self::AddAfter(..) if node.tree().is_evaluated() => true,
            _ => node.is_verbatim(),
        };
        if (node.style() == Style::Alias && !matches!(self, Self::Set(..))) || !is_written {
            return None;
        }
        let written = match self {
            Self::Set(..) | Self::Replace(..) | Self::Write(..) => {
                let is_block = matches!(node.style(), Style::Literal | Style::Folded);
                let header = Some(node).filter(|_| is_block).and_then(|node| block_header(node, source));
                Some(header.unwrap_or(node.span().start))
            }
            Self::Rename(..) => Some(node.key_span().start),
            Self::Remove(..) | Self::Add(..) | Self::Append(..) | Self::AddAfter(..) => None,
        };
        if written.is_some_and(|start| is_tagged(node, start)) {
            return None;
        }
        let is_in_parent = matches!(self, Self::Remove(_) | Self::Write(..) | Self::AddAfter(..));
        let collection = if is_in_parent { node.parent() } else { Some(node) };
        let is_pair =
            |node: &Node<'_>| node.style() == Style::Flow && !node.spelling().starts_with(['{', '[']);
        if collection.as_ref().is_some_and(is_pair) {
            // The object of a pair in a list, such as `[a: b]`, has no braces.
            return None;
        }
        let TextEdit { span, text } = self.edit_of(node, source)?;
        Some(TextEdit { span, text: with_newlines_of(text, source, span.start) })
    }

    fn edit_of(&self, node: Node<'d>, source: &Source) -> Option<TextEdit> {
        match self {
            Self::Set(_, value) if node.span().start == node.span().end => {
                let at = absent_value(node, source);
                let before = source.text().get(..at)?;
                let text = format!(" {}", spell(value, Style::Plain));
                // A key without a `:` may itself end with a dash.
                let is_marked = at > node.key_span().end && before.ends_with([':', '-']);
                is_marked.then(|| TextEdit { span: Span::new(at, at), text })
            }
            Self::Set(_, value) if matches!(node.style(), Style::Literal | Style::Folded) => {
                let span = Span::new(block_header(node, source)?, last_line_end(source, node.span().end));
                Some(TextEdit { span, text: spell(value, Style::Plain) })
            }
            Self::Set(_, value) => Some(TextEdit { span: node.span(), text: spell(value, node.style()) }),
            Self::Rename(_, key) => {
                let span = node.key_span();
                let style = match source.slice(span).as_bytes().first() {
                    Some(b'"') => Style::DoubleQuoted,
                    Some(b'\'') => Style::SingleQuoted,
                    _ => Style::Plain,
                };
                Some(TextEdit { span, text: spell(key, style) })
            }
            Self::Replace(_, range, text) if matches!(node.style(), Style::Literal | Style::Folded) => {
                Some(replace_in_block(node, *range, text))
            }
            Self::Replace(_, range, text) => {
                let text = match node.style() {
                    Style::SingleQuoted => text.replace('\'', "''"),
                    Style::DoubleQuoted => escaped(text),
                    _ => text.clone(),
                };
                Some(TextEdit { span: node.span_within(*range), text })
            }
            Self::Remove(_) => remove::edit(node, source),
            Self::Add(_, key, value) => add::edit(node, source, key, value),
            Self::Append(_, key, items) => append::edit(node, source, key, items),
            Self::Write(_, value) => compose::write(node, source, value),
            Self::AddAfter(_, key, value) => compose::add_after(node, source, key, value),
        }
    }
}

/// Whether a value or a key of a node that starts at a byte has a tag such as `!!binary`, before or after an anchor. The tag decides how
/// its text is read, so another text may not be valid.
fn is_tagged(node: Node<'_>, start: usize) -> bool {
    let mut before = node.source().before(start);
    // A tag and an anchor, in any order. The value of a tag may be on the next line.
    for _ in 0..2 {
        // A space separates both from the value. Without one the search ends here, because a document may be one long line.
        let trimmed = before.trim_ascii_end();
        if trimmed.len() == before.len() {
            return false;
        }
        let word = trimmed.rsplit(|char: char| char.is_ascii_whitespace()).next().unwrap_or_default();
        before = trimmed.strip_suffix(word).unwrap_or_default();
        if !word.starts_with(['&', '!']) || is_in_comment(node, before.len()) {
            return false;
        }
        if word.starts_with('!') {
            return true;
        }
    }
    false
}

/// Whether a byte of the text of a node is in a comment.
fn is_in_comment(node: Node<'_>, at: usize) -> bool {
    let tree = node.tree();
    let is_here = |comment: &Comment| {
        comment.source == node.source_id() && comment.span.start <= at && at < comment.span.end
    };
    if tree.is_assembled() {
        return tree.comments().iter().any(is_here);
    }
    let after = tree.comments().partition_point(|comment| comment.span.start <= at);
    after.checked_sub(1).and_then(|last| tree.comments().get(last)).is_some_and(is_here)
}

/// Replaces a part of a block scalar. New lines get the indentation of the block scalar, and a line that moves up keeps
/// its indentation.
fn replace_in_block(node: Node<'_>, range: Span, text: &str) -> TextEdit {
    let source = node.source();
    let span = node.span_within(range);
    let start = node.span().start;
    let indent = start - line_start(source, start);
    let written = source.slice(span);
    let mut text = text.replace('\n', &format!("\n{}", " ".repeat(indent)));
    if written.contains('\n') {
        let column = span.start - line_start(source, span.start);
        let line = text.rsplit_once('\n').map_or(column + text.len(), |(_, last)| last.len());
        text.push_str(&" ".repeat(indent.saturating_sub(line)));
    }
    TextEdit { span, text }
}

#[cfg(test)]
mod tests {
    use crate::edit::{Change, apply};
    use crate::limits::Limits;
    use crate::{Document, File};

    #[test]
    fn sets_values_of_every_style() {
        for (before, after) in [
            ("k: a # why\n", "k: v # why\n"),
            ("k: 'a'\n", "k: 'v'\n"),
            ("k:\nd: e\n", "k: v\nd: e\n"),
            ("x:\n  k: &a |- # why\n    a\n    b\n  d: e\n", "x:\n  k: &a v\n  d: e\n"),
            ("k:\n- >\n  a\n- b\n", "k:\n- v\n- b\n"),
            ("k:\n-\n- b\n", "k:\n- v\n- b\n"),
            ("k:\n- # why\n- b\n", "k:\n- v # why\n- b\n"),
        ] {
            let file = File::read("-", before, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{before}") };
            let node = tree.root().get("k").or(tree.root().at_path(&["x", "k"])).unwrap();
            let node = node.items().next().unwrap_or(node);
            assert_eq!(apply(before, &[Change::Set(node, "v".to_owned()).edit().unwrap()]), after);
        }
    }

    #[test]
    fn leaves_tagged_values_and_keys_alone() {
        for text in [
            "k: !!binary aGVsbG8=\n",
            "k: !!int \"3\"\n",
            "k: &a !!str b\n",
            "k: !!str &a b\n",
            "{x: y, k: !!str b}\n",
            "{x: '#', k: !!str b}\n",
            "k: !!str |-\n  b\n",
            "k: !!str\n  b\n",
            "k: !!str\n  &a b\n",
            "k:\n- !!str b\n",
        ] {
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            let node = tree.root().get("k").unwrap();
            let node = node.items().next().unwrap_or(node);
            assert!(Change::Set(node, "v".to_owned()).edit().is_none(), "{text}");
        }
        for text in ["# do not edit !important\nk: b\n", "k: # no !tag\n  b\n", "a: !!null\nk: b\n"] {
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            assert!(Change::Set(tree.root().get("k").unwrap(), "v".to_owned()).edit().is_some(), "{text}");
        }
        let file = File::read("-", "!!str k: b\n", &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        let node = tree.root().get("k").unwrap();
        assert!(Change::Rename(node, "v".to_owned()).edit().is_none());
        assert!(Change::Set(node, "v".to_owned()).edit().is_some());
    }
}
