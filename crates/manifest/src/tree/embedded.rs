//! Documents within strings.
//!
//! The caller knows which strings of its documents hold a document
//! ([`ReadOptions::holds_document`](crate::ReadOptions::holds_document)). The parsers read that document below the node of
//! the string, so that its values have spans too.

use super::id::NodeId;
use super::node::Node;
use super::store::{Style, Tree};

impl Node<'_> {
    /// The root of the document that this string holds, if the parser read the string as a document.
    pub fn embedded(self) -> Option<Self> {
        self.linked(self.data().first_child).filter(|_| self.as_str().is_some())
    }

    /// Whether the span of the value covers its own text, and not the whole string of an embedded document.
    ///
    /// A literal block scalar holds the embedded document letter by letter; quotes and folding do not.
    pub(crate) fn is_verbatim(self) -> bool {
        let above = core::iter::successors(self.parent(), |node| node.parent());
        !self.is_derived()
            && above.filter(|node| node.as_str().is_some()).all(|string| string.style() == Style::Literal)
    }
}

impl Tree {
    /// Whether a node is a string that holds a document, according to the options of the reader.
    pub(crate) fn holds_document(&self, id: NodeId) -> bool {
        self.is_string(id) && (self.holds_document)(self.node(id))
    }
}
