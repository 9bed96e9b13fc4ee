//! Ids of the parts of an input. They come from walks over the input, so an id names a part that exists; a lookup by another id is loud
//! in tests.

use core::ops::RangeInclusive;

/// A cluster of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterId(pub(crate) usize);

impl ClusterId {
    /// The first cluster of every input.
    pub const FIRST: Self = Self(0);

    /// The position among the clusters.
    pub const fn index(self) -> usize {
        self.0
    }

    /// The items of a list that has one item for each cluster, with the ids of the clusters.
    pub fn enumerate<T>(list: &[T]) -> impl Iterator<Item = (Self, &T)> {
        list.iter().enumerate().map(|(index, item)| (Self(index), item))
    }

    /// The files of the cluster, of which there are `count`.
    pub fn files(self, count: usize) -> impl Iterator<Item = FileId> {
        (0..count).map(move |index| FileId { cluster: self, index })
    }

    /// The item of the cluster in a list that has one item for each cluster. A list without the item is of another input.
    pub fn item_of<T>(self, list: &[T]) -> Option<&T> {
        let item = list.get(self.0);
        debug_assert!(item.is_some(), "{self:?} is of another input");
        item
    }

    /// The ids that files of the cluster can have.
    pub const fn file_ids(self) -> RangeInclusive<FileId> {
        FileId { cluster: self, index: 0 }..=FileId { cluster: self, index: usize::MAX }
    }
}

/// A file of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    /// The cluster.
    pub cluster: ClusterId,
    /// The position among the files of the cluster.
    pub(crate) index: usize,
}

impl FileId {
    /// The position among the files of the cluster.
    pub const fn index(self) -> usize {
        self.index
    }

    /// The document at a position.
    pub const fn document(self, index: usize) -> DocumentId {
        DocumentId { file: self, index }
    }
}

/// A document of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentId {
    /// The file.
    pub file: FileId,
    /// The position in the file, which reports print.
    pub index: usize,
}

/// An overlay of a cluster: a kustomization that no other one includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverlayId(pub(crate) usize);
