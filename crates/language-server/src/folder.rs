//! The objects of a folder.

use manifest::Document;
use objects::object::Object;

use crate::workspace::FolderView;

/// The objects of a folder.
pub(crate) fn objects(folder: &dyn FolderView) -> Vec<Object<'_>> {
    let documents = folder.files().iter().filter(|file| file.is_input()).flat_map(|file| &file.documents);
    let trees = documents.filter_map(|document| match document {
        Document::Read(tree) => Some(tree),
        _ => None,
    });
    trees.flat_map(Object::all).collect()
}
