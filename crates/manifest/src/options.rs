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
}

/// Whether a string holds a document.
pub type HoldsDocument = fn(Node<'_>) -> bool;

impl ReadOptions {
    /// The default bounds, and no documents within strings.
    pub const DEFAULT: Self = Self { limits: Limits::DEFAULT, holds_document: |_| false };
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
