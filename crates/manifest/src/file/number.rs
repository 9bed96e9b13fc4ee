//! Numbers of files and documents.

use super::{Document, File};

/// Number of a file in a list of files, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNumber(usize);

/// Number of a document in a list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentNumber {
    /// The file.
    pub file: FileNumber,
    /// Position of the document in the file, from 0.
    pub position: usize,
}

impl FileNumber {
    /// The number of the file at an index, from 0.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The index, from 0.
    pub const fn get(self) -> usize {
        self.0
    }

    /// The file, if the list has so many.
    pub fn within(self, files: &[File]) -> Option<&File> {
        files.get(self.0)
    }

    /// The document at a position in the file.
    pub const fn document(self, position: usize) -> DocumentNumber {
        DocumentNumber { file: self, position }
    }

    /// The files of a list with their numbers.
    pub fn enumerate(files: &[File]) -> impl ExactSizeIterator<Item = (Self, &File)> {
        files.iter().enumerate().map(|(index, file)| (Self(index), file))
    }
}

impl DocumentNumber {
    /// The document, if the list has so many.
    pub fn within(self, files: &[File]) -> Option<&Document> {
        self.file.within(files)?.documents.get(self.position)
    }
}
