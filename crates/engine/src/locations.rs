//! Where the parts of an input are: the document of an object, of a place, and of the text of a node.

use std::collections::BTreeMap;

use answers::report::Report;
use cluster::ids::{DocumentId, FileId};
use cluster::input::Input;
use cluster::input_object::InputObject;
use manifest::Document;
use manifest::source::Source;
use manifest::tree::{Node, NodeId, Tree};
use objects::location::Place;
use objects::object::Object;

use crate::objects::{ObjectId, Objects};
use crate::report::DocumentLocation;

/// Locations of objects and texts among the inputs.
pub(crate) struct Locations<'c, 'd> {
    input: Input<'d>,
    objects: &'c Objects<'d>,
    /// The objects by tree, and by the order of their roots in the tree.
    by_root: BTreeMap<(Address, NodeId), ObjectId>,
    /// The files of the clusters with builds by their text: a node of a built object can come from another file.
    by_source: BTreeMap<Address, FileId>,
}

/// Address of a tree or text.
type Address = usize;

impl<'c, 'd> Locations<'c, 'd> {
    pub(crate) fn new(input: Input<'d>, objects: &'c Objects<'d>) -> Self {
        let key = |(id, one): (ObjectId, &InputObject<'d>)| {
            let root = one.object.root();
            ((address(root.tree()), root.id()), id)
        };
        let is_built = |file: &FileId| input.built(file.cluster).is_some_and(|built| !built.is_empty());
        let files = input.files().filter(|(file, _)| is_built(file));
        Self {
            input,
            objects,
            by_root: objects.iter().map(key).collect(),
            by_source: files.map(|(id, file)| (address(&*file.source), id)).collect(),
        }
    }

    /// The document of an object.
    pub(crate) fn of(&self, object: &InputObject<'d>) -> DocumentLocation<'d> {
        self.location(object.document)
    }

    fn location(&self, document: DocumentId) -> DocumentLocation<'d> {
        DocumentLocation {
            cluster: self.input.cluster(document.file.cluster).map_or("", |cluster| cluster.name.as_str()),
            file: self.input.file(document.file).map_or("", |file| file.source.name()),
            document: document.index,
        }
    }

    /// The document that holds the text of a place; `None` if it is the document of the object.
    pub(crate) fn of_text(&self, place: &Place<'d>) -> Option<DocumentLocation<'d>> {
        if !place.node().tree().is_assembled() {
            return None;
        }
        Some(self.location(self.document_at(place.source(), place.span().start)?))
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

    /// The location and the object of a place.
    pub(crate) fn find(&self, place: &Place<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)> {
        let node = place.node();
        let key = (address(node.tree()), node.id());
        let ((tree, _), id) = self.by_root.range(..=key).next_back()?;
        let one = self.objects.get(*id).filter(|_| *tree == key.0)?;
        let location = self.of_text(place).unwrap_or_else(|| self.of(one));
        Some((location, one.object))
    }

    /// Sorts the findings of built objects into the order of the documents and positions.
    pub(crate) fn sort(&self, report: &mut Report) {
        if self.by_source.is_empty() {
            return;
        }
        let mut order = BTreeMap::new();
        for (id, file) in self.input.files() {
            let cluster = self.input.cluster(id.cluster).map_or("", |cluster| cluster.name.as_str());
            order.entry((cluster, file.source.name())).or_insert(id);
        }
        report.findings.sort_by_key(|finding| {
            let file = order.get(&(finding.cluster.as_str(), finding.file.as_str())).copied();
            (file, finding.document, finding.position.offset)
        });
    }
}

fn address<T>(value: &T) -> Address {
    core::ptr::from_ref(value).addr()
}
