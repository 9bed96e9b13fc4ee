//! Locations in an input: the document of an object, of a place, and of the text of a node.

use std::collections::{BTreeMap, BTreeSet};

use answers::report::{RelatedLocation, TextRange};
use cluster::ids::{ClusterId, DocumentId, FileId};
use cluster::input::Input;
use cluster::input_object::InputObject;
use manifest::Document;
use manifest::source::Source;
use manifest::tree::{Node, NodeId, Tree};
use objects::location::Place;
use objects::object::Object;

use crate::objects::{ObjectId, Objects};
use crate::verify::evaluated::siblings;

/// The location of a document among the inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentLocation<'d> {
    /// The name of the cluster; empty if the check has only one cluster.
    pub(crate) cluster: &'d str,
    /// The file's name.
    pub(crate) file: &'d str,
    /// The position of the document in its file.
    pub(crate) document: usize,
}

impl DocumentLocation<'_> {
    /// A related location in the document.
    pub(crate) fn related(
        &self,
        path: String,
        range: TextRange,
        message: impl Into<String>,
    ) -> RelatedLocation {
        RelatedLocation {
            file: self.file.to_owned(),
            document: self.document,
            path,
            line: range.line,
            column: range.column,
            offset: range.offset,
            end_offset: range.end_offset,
            message: message.into(),
        }
    }
}

/// Locations of objects and texts among the inputs.
pub(crate) struct Locations<'d> {
    input: Input<'d>,
    /// The objects by tree, and by the order of their roots in the tree.
    by_root: BTreeMap<RootKey, (ObjectId, InputObject<'d>)>,
    /// The files of the clusters with assembled objects by their text: a node of such an object can come from another file.
    by_source: BTreeMap<Address, FileId>,
}

/// Address of a tree or text.
type Address = usize;

/// Node of a tree, such as the root of an object.
pub(crate) type RootKey = (Address, NodeId);

/// The key of a node.
pub(crate) fn key_of(node: Node<'_>) -> RootKey {
    (address(node.tree()), node.id())
}

impl<'d> Locations<'d> {
    pub(crate) fn new(input: Input<'d>, objects: &Objects<'d>) -> Self {
        let assembled: BTreeSet<ClusterId> =
            input.clusters().map(|(id, _)| id).filter(|id| input.has_assembled(*id)).collect();
        let files = input.files().filter(|(file, _)| assembled.contains(&file.cluster));
        Self {
            input,
            by_root: objects.iter().map(|(id, one)| (key_of(one.object.root()), (id, *one))).collect(),
            by_source: files.map(|(id, file)| (address(&*file.source), id)).collect(),
        }
    }

    /// Whether a cluster has assembled objects.
    pub(crate) fn has_assembled(&self, cluster: ClusterId) -> bool {
        self.by_source.values().any(|file| file.cluster == cluster)
    }

    /// The location of a document.
    pub(crate) fn locate(&self, document: DocumentId) -> DocumentLocation<'d> {
        DocumentLocation {
            cluster: self.input.cluster(document.file.cluster).map_or("", |cluster| cluster.name.as_str()),
            file: self.input.file(document.file).map_or("", |file| file.source.name()),
            document: document.index,
        }
    }

    /// The document that holds the text of a place; `None` if it is the document of the object.
    pub(crate) fn of_text(&self, place: &Place<'d>) -> Option<DocumentId> {
        if !place.node().tree().is_assembled() {
            return None;
        }
        self.document_at(place.source(), place.span().start)
    }

    /// The file that has a text.
    pub(crate) fn file_with(&self, source: &Source) -> Option<FileId> {
        self.by_source.get(&address(source)).copied()
    }

    /// The objects of the documents that a configuration makes of the same text as a document.
    pub(crate) fn objects_made_of_text_of(&self, document: DocumentId) -> BTreeSet<ObjectId> {
        let documents = siblings(document, self.input);
        let trees = documents.filter_map(|id| match self.input.document(id)? {
            Document::Read(tree) => Some(address(tree)),
            _ => None,
        });
        let of_tree = |tree: Address| {
            self.by_root.range((tree, NodeId::ROOT)..).take_while(move |((other, _), _)| *other == tree)
        };
        trees.flat_map(of_tree).map(|(_, (id, _))| *id).collect()
    }

    /// The document that holds a byte of a text.
    fn document_at(&self, source: &Source, byte: usize) -> Option<DocumentId> {
        let file = *self.by_source.get(&address(source))?;
        let documents = &self.input.file(file)?.documents;
        let after = documents.partition_point(|document| document.start() <= byte);
        Some(file.document(after.saturating_sub(1)))
    }

    /// The document that has the text of a node, and its tree.
    pub(crate) fn document_of_text(&self, node: Node<'d>) -> Option<(DocumentId, &'d Tree)> {
        let document = self.document_at(node.source(), node.span().start)?;
        match self.input.document(document)? {
            Document::Read(tree) => Some((document, tree)),
            _ => None,
        }
    }

    /// The document of the object that has a node.
    pub(crate) fn document_with(&self, node: Node<'d>) -> Option<DocumentId> {
        self.object_with(node).map(|(_, one)| one.document)
    }

    /// The object that has a node.
    pub(crate) fn id_with(&self, node: Node<'d>) -> Option<ObjectId> {
        self.object_with(node).map(|(id, _)| *id)
    }

    fn object_with(&self, node: Node<'d>) -> Option<&(ObjectId, InputObject<'d>)> {
        let key = key_of(node);
        let ((tree, _), one) = self.by_root.range(..=key).next_back()?;
        (*tree == key.0).then_some(one)
    }

    /// The location and the object of a place.
    pub(crate) fn find(&self, place: &Place<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)> {
        let (_, one) = self.object_with(place.node())?;
        let document = self.of_text(place).unwrap_or(one.document);
        Some((self.locate(document), one.object))
    }
}

fn address<T>(value: &T) -> Address {
    core::ptr::from_ref(value).addr()
}
