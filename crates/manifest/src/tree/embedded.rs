//! Documents within strings.
//!
//! An Application of Argo CD holds the values of a Helm chart as a YAML document in a string. The parsers read that
//! document below the node of the string, so that its values have spans too. The ConfigMap `aws-auth` of EKS holds its role
//! mappings in the same way.

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
    /// Whether a string is at `source.helm.values`, or at the same path of an item of `sources`, or at `data.mapRoles`.
    pub(crate) fn holds_document(&self, id: NodeId) -> bool {
        let node = self.node(id);
        if node.key() == "mapRoles" {
            return node.as_str().is_some() && node.parent().is_some_and(|data| data.key() == "data");
        }
        if node.key() != "values" {
            return false;
        }
        let above = node.parent().and_then(|helm| Some((helm.key(), helm.parent()?)));
        let Some(("helm", source)) = above else { return false };
        let listed = || source.parent().is_some_and(|list| list.key() == "sources");
        node.as_str().is_some() && (source.key() == "source" || listed())
    }
}
