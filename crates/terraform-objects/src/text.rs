//! Documents in strings: YAML and JSON, of which each node has the place of its bytes.

use core::fmt::Write as _;

use manifest::limits::Limits;
use manifest::source::Span;
use manifest::tree::{Assembly, Node, NodeId, NodePlace, Style, Tree, Value};
use manifest::work::WorkBudget;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use terraform::{EvaluatedText, TextPlace, Texts};

use crate::parts::{is_verbatim, parts};

/// Placeholder of a value that depends on a directive. The name of its condition would be taken for the name of the value.
pub(crate) const UNKNOWN: &str = "${unknown}";

/// A document with the place at which it starts.
pub(crate) struct PlacedDocument {
    pub(crate) at: TextPlace,
    pub(crate) document: Document,
}

/// The documents of a string. `used` is the expression that uses the string.
pub(crate) fn documents(
    text: &EvaluatedText,
    used: TextPlace,
    texts: &Texts,
    limits: &Limits,
) -> Vec<PlacedDocument> {
    let budget = WorkBudget::of_file(text.as_str().len(), limits);
    let file = File::read_yaml("-", text.as_str(), READ_OPTIONS, &budget);
    let placer = Placer { text, texts, used };
    file.documents.into_iter().map(|document| placer.placed(document, limits)).collect()
}

/// A document that is the same in several strings, but for some values.
pub(crate) struct AgreedDocument {
    pub(crate) placed: PlacedDocument,
    /// The fields whose lists, objects or presence are not the same, each in backquotes.
    pub(crate) hidden: Vec<String>,
}

/// The document that all of some strings have, at the places of the largest one: with a placeholder for each value that is not the same in all
/// of them, or that some of them do not have. `None` if they do not have one object of the same kind each.
pub(crate) fn agreed(
    alternatives: &[EvaluatedText],
    used: TextPlace,
    texts: &Texts,
    limits: &Limits,
) -> Option<AgreedDocument> {
    let read = |text: &EvaluatedText| {
        let budget = WorkBudget::of_file(text.as_str().len(), limits);
        let documents = File::read_yaml("-", text.as_str(), READ_OPTIONS, &budget).documents;
        match <[Document; 1]>::try_from(documents) {
            Ok([Document::Read(tree)]) => Some(tree),
            _ => None,
        }
    };
    let trees: Vec<Tree> = alternatives.iter().map(read).collect::<Option<_>>()?;
    // The first one of the largest documents.
    let sizes = trees.iter().enumerate().rev().map(|(index, tree)| (size(tree.root()), index));
    let (_, largest) = sizes.max_by_key(|(size, _)| *size)?;
    let first = trees.get(largest)?;
    let root = first.root();
    let others = trees.iter().enumerate().filter(|(index, _)| *index != largest);
    let others: Vec<Node<'_>> = others.map(|(_, tree)| tree.root()).collect();
    let has_same = |key: &str| {
        let value = root.str_at(&[key]);
        value.is_some() && others.iter().all(|other| other.str_at(&[key]) == value)
    };
    let has_all = |other: &Node<'_>| root.children().all(|child| other.get(child.key()).is_some());
    if !root.is_mapping()
        || !has_same("apiVersion")
        || !has_same("kind")
        || !is_agreed(root, &others)
        || !others.iter().all(has_all)
    {
        return None;
    }
    let placer = Placer { text: alternatives.get(largest)?, texts, used };
    let tree = placer.tree(first, &others, limits.nodes)?;
    let document = PlacedDocument { at: placer.place(root.span()), document: Document::Read(tree) };
    let mut hidden = Vec::new();
    add_hidden(root, &others, &mut String::new(), &mut hidden);
    Some(AgreedDocument { placed: document, hidden })
}

/// Number of values.
fn size(node: Node<'_>) -> usize {
    1 + node.children().map(size).sum::<usize>()
}

/// Whether other nodes have the same value as a node, but for the values in it. Others may lack members of an object: the object with all of its
/// members is one that a text has, so that no rule sees two fields that no text has together.
fn is_agreed(node: Node<'_>, others: &[Node<'_>]) -> bool {
    others.iter().all(|other| {
        node.value() == other.value()
            && match node.value() {
                Value::Mapping => other.children().all(|child| node.get(child.key()).is_some()),
                Value::Sequence => node.len() == other.len(),
                _ => node.spelling() == other.spelling(),
            }
    })
}

/// The nodes of other objects and lists in the place of a child. Fewer than the others, if some of them do not have it.
fn counterparts<'o>(child: Node<'_>, index: usize, others: &[Node<'o>]) -> Vec<Node<'o>> {
    let is_member = child.parent().is_some_and(Node::is_mapping);
    let in_other =
        |other: &Node<'o>| if is_member { other.get(child.key()) } else { other.children().nth(index) };
    others.iter().filter_map(in_other).collect()
}

/// Adds the paths of what is hidden below a node, except single values.
fn add_hidden(node: Node<'_>, others: &[Node<'_>], path: &mut String, hidden: &mut Vec<String>) {
    let length = path.len();
    for (index, child) in node.children().enumerate() {
        if node.is_mapping() {
            path.push_str(if length == 0 { "" } else { "." });
            path.push_str(child.key());
        } else {
            let _ = write!(path, "[{index}]");
        }
        let found = counterparts(child, index, others);
        let is_collection = |node: &Node<'_>| matches!(node.value(), Value::Mapping | Value::Sequence);
        if found.len() < others.len()
            || !is_agreed(child, &found) && (is_collection(&child) || found.iter().any(is_collection))
        {
            hidden.push(format!("`{path}`"));
        } else if is_agreed(child, &found) {
            add_hidden(child, &found, path, hidden);
        }
        path.truncate(length);
    }
}

/// Finds the places of the bytes of a string.
struct Placer<'t> {
    text: &'t EvaluatedText,
    texts: &'t Texts,
    used: TextPlace,
}

impl Placer<'_> {
    fn placed(&self, document: Document, limits: &Limits) -> PlacedDocument {
        let whole = |span: Span| self.place(span).span();
        match document {
            Document::Read(tree) => {
                let at = self.place(tree.root().span());
                let moved = self.tree(&tree, &[], limits.nodes);
                let reason = "larger than the bounds allow, not checked".to_owned();
                let document =
                    moved.map_or(Document::Unevaluated { span: at.span(), reason }, Document::Read);
                PlacedDocument { at, document }
            }
            Document::Unreadable { at, error } => {
                let place = self.place(Span::new(at, at));
                PlacedDocument { at: place, document: Document::Unreadable { at: place.span().start, error } }
            }
            Document::Template(span) => {
                PlacedDocument { at: self.place(span), document: Document::Template(whole(span)) }
            }
            Document::Script(span) => {
                PlacedDocument { at: self.place(span), document: Document::Script(whole(span)) }
            }
            Document::Deleted(span) => {
                PlacedDocument { at: self.place(span), document: Document::Deleted(whole(span)) }
            }
            Document::Unevaluated { span, reason } => {
                let at = self.place(span);
                PlacedDocument { at, document: Document::Unevaluated { span: at.span(), reason } }
            }
        }
    }

    /// The place of some bytes.
    fn place(&self, span: Span) -> TextPlace {
        self.text.place_of(span.start, span.end).unwrap_or(self.used)
    }

    /// The tree with the places of its nodes, and with placeholders for the values that are not the same under other roots.
    fn tree(&self, tree: &Tree, others: &[Node<'_>], limit: usize) -> Option<Tree> {
        let main = self.texts.get(self.place(tree.root().span()).text)?;
        let mut assembly = Assembly::of_text(main, &READ_OPTIONS, limit);
        self.copy(tree.root(), Some(others), None, &mut assembly)?;
        for comment in tree.comments() {
            let place = self.place(comment.span);
            if is_verbatim(self.text, comment.span, self.texts)
                && let Some(source) = self.texts.get(place.text)
            {
                assembly.add_comment(source, place.span());
            }
        }
        Some(assembly.finish())
    }

    /// Copies a node with everything in it. `others` are the nodes in its place; none if it is not known whether there is a node.
    fn copy(
        &self,
        node: Node<'_>,
        others: Option<&[Node<'_>]>,
        parent: Option<NodeId>,
        assembly: &mut Assembly,
    ) -> Option<()> {
        let place = self.place(node.span());
        let key = Some(node.key_span()).filter(|span| !span.is_empty()).map(|span| self.place(span));
        let key = key.filter(|key| key.text == place.text).map(TextPlace::span).unwrap_or_default();
        let is_member = node.parent().is_some_and(Node::is_mapping);
        let name = is_member.then(|| node.key());
        let source = self.texts.get(place.text)?;
        let Some(others) = others.filter(|others| is_agreed(node, others)) else {
            let value = place.span();
            let at = NodePlace { source, key, value, style: Style::Plain, derived: Some(UNKNOWN) };
            assembly.place(parent, name, Value::String(UNKNOWN), &at)?;
            return Some(());
        };
        let is_scalar = !matches!(node.value(), Value::Mapping | Value::Sequence);
        let spelling = if is_scalar { node.spelling() } else { "" };
        let is_derived = is_scalar && (node.is_derived() || !is_verbatim(self.text, node.span(), self.texts));
        let at = NodePlace {
            source,
            key,
            value: place.span(),
            style: node.style(),
            derived: is_derived.then_some(spelling),
        };
        let id = assembly.place(parent, name, node.value(), &at)?;
        if let Some(string) = node.as_str().filter(|_| is_derived) {
            self.set_parts(id, node, string, place, assembly);
        }
        for (index, child) in node.children().enumerate() {
            let found = counterparts(child, index, others);
            let found = Some(found.as_slice()).filter(|found| found.len() == others.len());
            self.copy(child, found, Some(id), assembly)?;
        }
        assembly.complete(id);
        Some(())
    }

    /// Records the parts of a string, if its bytes follow each other in the text.
    fn set_parts(&self, id: NodeId, node: Node<'_>, string: &str, place: TextPlace, assembly: &mut Assembly) {
        let mut found = Vec::new();
        let mut at = 0;
        // The lines of a block scalar have an indentation that is no part of the string.
        for line in string.split_inclusive('\n') {
            let words = line.trim_end_matches('\n');
            let span = node.span_within(Span::new(at, at + words.len()));
            let is_same = span.text(self.text.as_str()) == words;
            let line_parts = parts(self.text, span, place, self.texts);
            found.extend(line_parts.into_iter().map(|part| {
                let start = if is_same { at + part.start } else { at };
                manifest::tree::StringPart { start, is_verbatim: part.is_verbatim && is_same, ..part }
            }));
            at += line.len();
        }
        found.dedup_by_key(|part| part.start);
        assembly.set_parts(id, found);
    }
}
