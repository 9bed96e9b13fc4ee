//! Documents in strings: YAML and JSON, of which each node has the place of its bytes.

use manifest::limits::Limits;
use manifest::source::Span;
use manifest::tree::{Assembly, Node, NodeId, NodePlace, Style, Tree, Value};
use manifest::work::WorkBudget;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use terraform::{EvaluatedText, InsertedObject, TextPlace, Texts};

use crate::parts::{is_verbatim, parts};

/// Placeholder of a value that depends on a directive. The name of its condition would be taken for the name of the value. A comparison needs
/// another name for each value.
pub(crate) fn unknown(is_compared: bool, fingerprint: impl FnOnce() -> String) -> String {
    if is_compared { format!("${{unknown {}}}", fingerprint()) } else { "${unknown}".to_owned() }
}

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
    let unmarked = text.without_mark();
    let text = &*unmarked;
    let budget = WorkBudget::of_file(text.as_str().len(), limits);
    let file = File::read_yaml("-", text.as_str(), READ_OPTIONS, &budget);
    let placer = Placer { text, texts, used };
    file.documents.into_iter().map(|document| placer.placed(document, limits)).collect()
}

/// Finds the places of the bytes of a string.
pub(crate) struct Placer<'t> {
    pub(crate) text: &'t EvaluatedText,
    pub(crate) texts: &'t Texts,
    pub(crate) used: TextPlace,
}

impl Placer<'_> {
    fn placed(&self, document: Document, limits: &Limits) -> PlacedDocument {
        let whole = |span: Span| self.place(span).span();
        match document {
            Document::Read(tree) => {
                let at = self.place(tree.root().span());
                let moved = self.tree(&tree, limits.nodes);
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
            Document::Absent { span, reason } => {
                let at = self.place(span);
                PlacedDocument { at, document: Document::Absent { span: at.span(), reason } }
            }
        }
    }

    /// The place of some bytes.
    pub(crate) fn place(&self, span: Span) -> TextPlace {
        self.text.place_of(span.start, span.end).unwrap_or(self.used)
    }

    /// The tree with the places of its nodes.
    fn tree(&self, tree: &Tree, limit: usize) -> Option<Tree> {
        let main = self.texts.get(self.place(tree.root().span()).text)?;
        let mut assembly = Assembly::of_text(main, &READ_OPTIONS, limit);
        self.copy(tree.root(), None, &mut assembly)?;
        self.add_comments(tree, &mut assembly);
        Some(assembly.finish())
    }

    /// Adds the comments of a tree that a text has letter by letter.
    pub(crate) fn add_comments(&self, tree: &Tree, assembly: &mut Assembly) {
        for comment in tree.comments() {
            let place = self.place(comment.span);
            if is_verbatim(self.text, comment.span, self.texts)
                && let Some(source) = self.texts.get(place.text)
            {
                assembly.add_comment(source, place.span());
            }
        }
    }

    fn copy(&self, node: Node<'_>, parent: Option<NodeId>, assembly: &mut Assembly) -> Option<()> {
        let inserted = self.text.inserted().iter().find(|one| one.span == node.span());
        if let Some(inserted) = inserted.filter(|_| is_metadata(node) || is_annotations(node)) {
            return self.insert(node, inserted, parent, assembly);
        }
        let id = self.add(node, parent, assembly)?;
        node.children().try_for_each(|child| self.copy(child, Some(id), assembly))?;
        assembly.complete(id);
        Some(())
    }

    /// Adds the known strings of metadata or annotations that only Terraform knows as a whole. A suppression among them counts whatever the others are.
    fn insert(
        &self,
        node: Node<'_>,
        inserted: &InsertedObject,
        parent: Option<NodeId>,
        assembly: &mut Assembly,
    ) -> Option<()> {
        let place = self.place(node.span());
        let at = |place: TextPlace, style, derived| {
            Some(NodePlace {
                source: self.texts.get(place.text)?,
                key: Span::default(),
                value: place.span(),
                style,
                derived,
            })
        };
        let whole = NodePlace { key: self.key(node), ..at(place, Style::Flow, None)? };
        let id = assembly.place(parent, name(node), Value::Mapping, &whole)?;
        let known = inserted.known.as_map().iter();
        for (key, member) in known {
            if let Some(string) = member.value.as_str() {
                let derived = at(member.value.place, Style::Plain, Some(string))?;
                assembly.place(Some(id), Some(key), Value::String(string), &derived)?;
            }
        }
        let rest = node.as_str().unwrap_or_default();
        let derived = at(place, Style::Plain, Some(rest))?;
        assembly.place(Some(id), Some(rest), Value::String(rest), &derived)?;
        assembly.complete(id);
        Some(())
    }

    /// Adds a node without what is below it.
    pub(crate) fn add(
        &self,
        node: Node<'_>,
        parent: Option<NodeId>,
        assembly: &mut Assembly,
    ) -> Option<NodeId> {
        let (place, key) = (self.place(node.span()), self.key(node));
        let is_scalar = !matches!(node.value(), Value::Mapping | Value::Sequence);
        let spelling = if is_scalar { node.spelling() } else { "" };
        let is_derived = is_scalar && (node.is_derived() || !is_verbatim(self.text, node.span(), self.texts));
        let at = NodePlace {
            source: self.texts.get(place.text)?,
            key,
            value: place.span(),
            style: node.style(),
            derived: is_derived.then_some(spelling),
        };
        let id = assembly.place(parent, name(node), node.value(), &at)?;
        if let Some(string) = node.as_str().filter(|_| is_derived) {
            self.set_parts(id, node, string, place, assembly);
        }
        Some(id)
    }

    /// Adds a placeholder in the place of a node.
    pub(crate) fn hide(
        &self,
        node: Node<'_>,
        placeholder: &str,
        parent: Option<NodeId>,
        assembly: &mut Assembly,
    ) -> Option<()> {
        let place = self.place(node.span());
        let at = NodePlace {
            source: self.texts.get(place.text)?,
            key: self.key(node),
            value: place.span(),
            style: Style::Plain,
            derived: Some(placeholder),
        };
        assembly.place(parent, name(node), Value::String(placeholder), &at)?;
        Some(())
    }

    /// The place of the key of a node, if it is in the text of the node.
    fn key(&self, node: Node<'_>) -> Span {
        let key = Some(node.key_span()).filter(|span| !span.is_empty()).map(|span| self.place(span));
        let text = self.place(node.span()).text;
        key.filter(|key| key.text == text).map(TextPlace::span).unwrap_or_default()
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

/// Whether a node is the metadata of a document.
pub(crate) fn is_metadata(node: Node<'_>) -> bool {
    node.key() == "metadata" && node.parent().is_some_and(|root| root.parent().is_none())
}

/// Whether a node is the annotations of a document.
pub(crate) fn is_annotations(node: Node<'_>) -> bool {
    node.key() == "annotations" && node.parent().is_some_and(is_metadata)
}

/// The key of a member of an object.
fn name(node: Node<'_>) -> Option<&str> {
    node.parent().is_some_and(Node::is_mapping).then(|| node.key())
}
