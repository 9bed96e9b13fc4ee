//! Documents in strings: YAML and JSON, of which each node has the place of its bytes.

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

/// The document that all of some strings have, at the places of the first one: with a placeholder for each value that is not the same in all
/// of them. `None` if they do not have one object of the same kind each.
pub(crate) fn agreed(
    alternatives: &[EvaluatedText],
    used: TextPlace,
    texts: &Texts,
    limits: &Limits,
) -> Option<PlacedDocument> {
    let read = |text: &EvaluatedText| {
        let budget = WorkBudget::of_file(text.as_str().len(), limits);
        let documents = File::read_yaml("-", text.as_str(), READ_OPTIONS, &budget).documents;
        match <[Document; 1]>::try_from(documents) {
            Ok([Document::Read(tree)]) => Some(tree),
            _ => None,
        }
    };
    let trees: Vec<Tree> = alternatives.iter().map(read).collect::<Option<_>>()?;
    let (first, others) = trees.split_first()?;
    let (root, others): (Node<'_>, Vec<Node<'_>>) = (first.root(), others.iter().map(Tree::root).collect());
    let has_same = |key: &str| {
        let value = root.str_at(&[key]);
        value.is_some() && others.iter().all(|other| other.str_at(&[key]) == value)
    };
    if !root.is_mapping() || !has_same("apiVersion") || !has_same("kind") || !is_agreed(root, &others) {
        return None;
    }
    let placer = Placer { text: alternatives.first()?, texts, used };
    let tree = placer.tree(first, &others, limits.nodes)?;
    Some(PlacedDocument { at: placer.place(root.span()), document: Document::Read(tree) })
}

/// Whether other nodes have the same value as a node, but for the values in it.
fn is_agreed(node: Node<'_>, others: &[Node<'_>]) -> bool {
    let is_collection = matches!(node.value(), Value::Mapping | Value::Sequence);
    let keys = |node: Node<'_>| node.children().map(|child| child.key().to_owned()).collect::<Vec<_>>();
    others.iter().all(|other| {
        node.value() == other.value()
            && if is_collection { keys(node) == keys(*other) } else { node.spelling() == other.spelling() }
    })
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
        self.copy(tree.root(), others, None, &mut assembly)?;
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

    fn copy(
        &self,
        node: Node<'_>,
        others: &[Node<'_>],
        parent: Option<NodeId>,
        assembly: &mut Assembly,
    ) -> Option<()> {
        let place = self.place(node.span());
        let key = Some(node.key_span()).filter(|span| !span.is_empty()).map(|span| self.place(span));
        let key = key.filter(|key| key.text == place.text).map(TextPlace::span).unwrap_or_default();
        let is_member = node.parent().is_some_and(Node::is_mapping);
        let name = is_member.then(|| node.key());
        let source = self.texts.get(place.text)?;
        if !is_agreed(node, others) {
            let value = place.span();
            let at = NodePlace { source, key, value, style: Style::Plain, derived: Some(UNKNOWN) };
            assembly.place(parent, name, Value::String(UNKNOWN), &at)?;
            return Some(());
        }
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
        let others: Vec<Vec<Node<'_>>> = others.iter().map(|other| other.children().collect()).collect();
        for (index, child) in node.children().enumerate() {
            let others: Vec<Node<'_>> = others.iter().filter_map(|other| other.get(index).copied()).collect();
            self.copy(child, &others, Some(id), assembly)?;
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
