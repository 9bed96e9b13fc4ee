//! The objects of an input that rules check, by id.

use cluster::ids::{ClusterId, DocumentId};
use cluster::input_object::InputObject;
use manifest::source::certain;

/// An object of the input that rules check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId(usize);

/// The objects that rules check, in the order of the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects<'d>(Vec<InputObject<'d>>);

impl<'d> Objects<'d> {
    /// Adds objects of the last document.
    pub(crate) fn extend(&mut self, objects: impl IntoIterator<Item = InputObject<'d>>) {
        self.0.extend(objects);
    }

    /// The objects with their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ObjectId, &InputObject<'d>)> {
        self.0.iter().enumerate().map(|(index, object)| (ObjectId(index), object))
    }

    /// All objects.
    pub(crate) fn as_slice(&self) -> &[InputObject<'d>] {
        &self.0
    }

    /// The objects of a cluster.
    pub(crate) fn in_cluster(&self, cluster: ClusterId) -> &[InputObject<'d>] {
        let first = self.0.partition_point(|one| one.document.file.cluster < cluster);
        let end = self.0.partition_point(|one| one.document.file.cluster <= cluster);
        certain(self.0.get(first..end))
    }

    /// The objects of a document.
    pub(crate) fn in_document_mut(&mut self, document: DocumentId) -> &mut [InputObject<'d>] {
        let first = self.0.partition_point(|one| one.document < document);
        let end = self.0.partition_point(|one| one.document <= document);
        certain(self.0.get_mut(first..end))
    }

    /// An object.
    pub(crate) fn get(&self, id: ObjectId) -> Option<&InputObject<'d>> {
        let object = self.0.get(id.0);
        debug_assert!(object.is_some(), "{id:?} is of another input");
        object
    }

    /// An object, to replace it.
    pub(crate) fn get_mut(&mut self, id: ObjectId) -> Option<&mut InputObject<'d>> {
        let object = self.0.get_mut(id.0);
        debug_assert!(object.is_some(), "an object of another input");
        object
    }

    /// The same objects before the updates of reviews in the input.
    pub(crate) fn before_updates(&self) -> Self {
        Self(self.0.iter().map(|one| one.stored().unwrap_or(*one)).collect())
    }
}
