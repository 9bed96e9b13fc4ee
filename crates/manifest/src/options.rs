//! Options of the readers.

use crate::limits::Limits;
use crate::tree::Node;

/// Options of the readers. [`Limits`] alone convert to options that read no documents within strings.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Bounds on the input.
    pub limits: Limits,
    /// Whether a string holds a document, such as the values of a chart. The readers call the function for every string of JSON, and
    /// for every string of YAML that is not plain, and parse the document below the node of the string: [`Node::embedded`]. The
    /// nodes above the string are known, the nodes after it are not yet.
    pub holds_document: HoldsDocument,
    /// Whether the root of a document in a text of another purpose, such as a code block of Markdown or a script in a string, is a
    /// manifest. Other documents of such texts are left out.
    pub is_manifest: IsManifest,
    /// Whether the here-documents of a file of Terraform with this name are left unread, because an evaluator reads the ones that it needs:
    /// [`File::here_documents_where`](crate::File::here_documents_where).
    pub leaves_here_documents: fn(&str) -> bool,
}

/// Whether a string holds a document.
pub type HoldsDocument = fn(Node<'_>) -> bool;

/// Whether the root of a document is a manifest.
pub type IsManifest = fn(Node<'_>) -> bool;

impl ReadOptions {
    /// The default bounds, no documents within strings, and every mapping is a manifest.
    pub const DEFAULT: Self = Self {
        limits: Limits::DEFAULT,
        holds_document: |_| false,
        is_manifest: |root| root.is_mapping(),
        leaves_here_documents: |_| false,
    };
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<&Limits> for ReadOptions {
    fn from(limits: &Limits) -> Self {
        Self { limits: *limits, ..Self::DEFAULT }
    }
}

impl From<&Self> for ReadOptions {
    fn from(options: &Self) -> Self {
        *options
    }
}
