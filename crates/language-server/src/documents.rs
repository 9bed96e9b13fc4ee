//! The documents that are open in the editor.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use lsp_types::{TextDocumentContentChangeEvent, Uri, VersionedTextDocumentIdentifier};

use crate::lines::{LinedText, PositionUnit, replace};
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

impl OpenDocument {
    /// The text with its lines.
    pub(crate) fn lined(&self, unit: PositionUnit) -> LinedText {
        LinedText::of(&self.text, unit)
    }

    /// The name of the file; the address of a document that is not a file.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.as_ref().map_or(Cow::Borrowed(self.uri.as_str()), |path| path.to_string_lossy())
    }
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

    /// Applies changes of a document, one after the other, and gives its text a new revision. Returns whether the document is open.
    pub(crate) fn change(
        &mut self,
        identifier: &VersionedTextDocumentIdentifier,
        changes: Vec<TextDocumentContentChangeEvent>,
        unit: PositionUnit,
        revision: u64,
    ) -> bool {
        let Some(document) = self.0.get_mut(identifier.uri.as_str()) else { return false };
        document.version = identifier.version;
        document.revision = revision;
        for change in changes {
            match change.range {
                Some(range) => replace(&mut document.text, range, &change.text, unit),
                None => document.text = change.text,
            }
        }
        true
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        self.0.remove(uri.as_str()).is_some()
    }
}
