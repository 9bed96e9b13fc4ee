//! The documents that are open in the editor.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lsp_types::Uri;

use crate::uri::path_of;

/// The open documents by address.
#[derive(Debug, Default)]
pub struct OpenDocuments(BTreeMap<String, OpenDocument>);

/// A document that is open in the editor.
#[derive(Debug)]
pub struct OpenDocument {
    /// The address.
    pub uri: Uri,
    /// The path; `None` for a document that is not a file.
    pub path: Option<PathBuf>,
    /// The number of the version, from the editor.
    pub version: i32,
    /// The text as the editor has it.
    pub text: String,
    /// The number of the text among all texts of the session.
    pub revision: u64,
}

impl OpenDocuments {
    /// The documents in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = &OpenDocument> {
        self.0.values()
    }

    /// The document with an address.
    pub(crate) fn get(&self, uri: &Uri) -> Option<&OpenDocument> {
        self.0.get(uri.as_str())
    }

    pub(crate) fn open(&mut self, uri: Uri, version: i32, text: String, revision: u64) {
        let path = path_of(&uri);
        self.0.insert(uri.as_str().to_owned(), OpenDocument { uri, path, version, text, revision });
    }

    /// Replaces the text of a document. Returns whether the document is open.
    pub(crate) fn change(&mut self, uri: &Uri, version: i32, text: String, revision: u64) -> bool {
        let Some(document) = self.0.get_mut(uri.as_str()) else { return false };
        document.version = version;
        document.text = text;
        document.revision = revision;
        true
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        self.0.remove(uri.as_str()).is_some()
    }
}
