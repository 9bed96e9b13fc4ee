//! Properties of every text, for the fuzz targets and for the replay of their seeds: no panic, spans within the text and
//! on character boundaries, and the span of a value within the span of its parent.

use karpwarden_manifest::edit::{Change, Composed, apply, rewrite};
use karpwarden_manifest::limits::Limits;
use karpwarden_manifest::source::Span;
use karpwarden_manifest::tree::{DuplicateKey, Node, Style, Tree};
use karpwarden_manifest::{Document, File, ReadOptions};

/// Bounds that keep one input fast, and strings that hold documents.
const OPTIONS: ReadOptions = ReadOptions {
    limits: Limits { file_bytes: 1 << 16, documents: 1000, depth: 50, nodes: 5000 },
    holds_document: |string| string.key() == "values",
    ..ReadOptions::DEFAULT
};

/// The maximum number of nodes per document to edit.
const EDITED_NODES: usize = 40;

/// Checks a text as YAML, as Markdown and in a code block of Markdown.
pub(crate) fn assert_yaml(text: &str) {
    assert_file(&File::read("-", text, OPTIONS));
    assert_file(&File::read("a.md", text, OPTIONS));
    assert_file(&File::read("a.md", format!("```yaml\n{text}\n```\n"), OPTIONS));
}

/// Checks a text as a JSON file and as JSON lines.
pub(crate) fn assert_json(text: &str) {
    assert_file(&File::read("a.json", text, OPTIONS));
    assert_file(&File::read("a.jsonl", text, OPTIONS));
}

/// Checks all changes of all values in a text.
pub(crate) fn assert_edits(text: &str) {
    for name in ["a.yaml", "a.json"] {
        let file = File::read(name, text, OPTIONS);
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for node in nodes(tree).into_iter().take(EDITED_NODES) {
                for change in changes(node) {
                    assert_change(&file, tree.root(), &change);
                }
            }
        }
    }
}

fn assert_file(file: &File) {
    let text = file.source.text();
    let mut end = 0;
    for document in &file.documents {
        let start = document.start();
        assert!(
            start >= end,
            "a document starts at {start}, before the end {end} of the one before it: {text:?}"
        );
        match document {
            Document::Unreadable { at, .. } => assert!(*at <= text.len(), "{at}: {text:?}"),
            Document::Template(span)
            | Document::Script(span)
            | Document::Deleted(span)
            | Document::Unevaluated { span, .. }
            | Document::Absent { span, .. } => {
                assert_span(text, *span);
            }
            Document::Read(tree) => {
                assert_tree(text, tree);
                end = tree.root().span().end;
            }
        }
        let position = file.source.position(start);
        assert_eq!(file.source.byte_at(position.offset), text.floor_char_boundary(start), "{text:?}");
    }
}

fn assert_span(text: &str, span: Span) {
    assert!(text.get(span.start..span.end).is_some(), "{span:?} is not a span of {text:?}");
}

fn assert_within(text: &str, inner: Span, outer: Span) {
    assert!(
        outer.start <= inner.start && inner.end <= outer.end,
        "{inner:?} is not within {outer:?}: {text:?}"
    );
}

fn assert_tree(text: &str, tree: &Tree) {
    for node in nodes(tree) {
        assert_span(text, node.span());
        assert_span(text, node.key_span());
        // A copied value has the span of the alias, or a span at the anchor.
        if let Some(parent) = node.parent().filter(|parent| parent.style() != Style::Alias)
            && node.style() != Style::Alias
        {
            assert_within(text, node.span(), parent.span());
            if parent.is_mapping() {
                assert_within(text, node.key_span(), parent.span());
            }
        }
        if let Some(value) = node.as_str().filter(|_| node.style() != Style::Alias) {
            for range in [Span::new(0, value.len()), Span::new(value.len() / 2, value.len()), Span::new(1, 2)]
            {
                let span = node.span_within(range);
                assert_span(text, span);
            }
        }
    }
    for DuplicateKey { earlier, later } in tree.duplicate_keys() {
        let (earlier, later) = (tree.node(*earlier), tree.node(*later));
        assert!(earlier.key() == later.key() && earlier.is_overridden(), "{text:?}");
    }
    for pair in tree.comments().windows(2) {
        assert!(matches!(pair, [one, two] if one.span.end <= two.span.start), "{pair:?}: {text:?}");
    }
    for comment in tree.comments() {
        assert_span(text, comment.span);
        assert!(tree.source().slice(comment.span).starts_with('#'), "{comment:?}: {text:?}");
    }
}

/// A value and all values below it.
fn nodes(tree: &Tree) -> Vec<Node<'_>> {
    let mut nodes = vec![tree.root()];
    let mut next = 0;
    while let Some(node) = nodes.get(next).copied() {
        nodes.extend(node.children());
        nodes.extend(node.embedded().filter(|_| node.is_empty()));
        next += 1;
    }
    nodes
}

fn changes(node: Node<'_>) -> Vec<Change<'_>> {
    let mut changes = vec![Change::Remove(node)];
    if node.is_mapping() {
        changes.push(Change::Add(node, "added".to_owned(), "a: \"b\" # c".to_owned()));
        let lists = node.members().filter(|(_, member)| member.is_sequence());
        changes.extend(lists.map(|(_, list)| Change::Append(node, "added", list.items().collect())));
    } else if !node.is_sequence() {
        changes.push(Change::Set(node, "é: on".to_owned()));
    }
    if node.parent().is_some_and(Node::is_mapping) {
        changes.push(Change::Rename(node, "0644".to_owned()));
        let nested = Composed::Object(vec![("copy".to_owned(), Composed::Copy(node))]);
        let list = Composed::List(vec![Composed::Number(1), nested.clone()]);
        changes.push(Change::Write(node, Composed::Object(vec![("list".to_owned(), list)])));
        changes.push(Change::AddAfter(node, "added".to_owned(), nested));
    }
    if let Some(value) = node.as_str().filter(|value| !value.trim().is_empty()) {
        let end = value.trim_end().len();
        let word = value.trim_end().rfind([' ', '\t', '\n']).map_or(0, |at| at + 1);
        changes.push(Change::Replace(node, Span::new(word, end), "x-y".to_owned()));
    }
    changes
}

fn assert_change(file: &File, root: Node<'_>, change: &Change<'_>) {
    let text = file.source.text();
    let object = rewrite(root, vec![change]);
    let Some(edit) = change.edit() else { return };
    assert_span(text, edit.span);
    let edited = apply(text, core::slice::from_ref(&edit));
    let edited_file = File::read("-", edited.as_str(), OPTIONS);
    assert_file(&edited_file);
    // Edits do not support lines that end with a lone carriage return, nor keys after `?`. Lines of tabs may join a block
    // scalar, an edit at an anchor changes its aliases too, an edit of one duplicate makes the other count, a replaced word
    // may make other words of its string a comment or a key, and `rewrite` does not reach into strings.
    let mut above = core::iter::successors(change.node().parent(), |node| node.parent());
    let simple = !matches!(change, Change::Replace(..))
        && !above.any(|node| node.as_str().is_some())
        && !text.replace("\r\n", "\n").contains(['&', '*', '%', '!', '\r', '\t', '?'])
        && !text.ends_with(' ')
        && root.tree().duplicate_keys().is_empty();
    if simple && let ([_], [document]) = (file.documents.as_slice(), edited_file.documents.as_slice()) {
        assert!(
            matches!(document, Document::Read(_)),
            "{change:?} of {text:?} gives {edited:?}: {document:?}"
        );
        let Document::Read(tree) = document else { return };
        let object = File::read("a.json", object, OPTIONS);
        // The object has numbers as YAML spells them, which JSON may read as other numbers or not at all.
        let unchanged = File::read("a.json", rewrite(root, Vec::new()), OPTIONS);
        if !matches!(unchanged.documents.as_slice(), [Document::Read(tree)] if tree.root().to_json() == root.to_json())
        {
            return;
        }
        let [Document::Read(rewritten)] = object.documents.as_slice() else { return };
        let same = tree.root().to_json() == rewritten.root().to_json();
        assert!(same, "{text:?} becomes {edited:?}, not {:?}", object.source.text());
    }
}
