//! Requirements of NodePools, NodeClaims and NodeOverlays, as far as they can be parsed.

use karpenter::labels;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;

/// One requirement. Fields with a type that the API does not accept are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requirement<'d> {
    /// Item of the list.
    pub(super) node: Node<'d>,
    /// Label key, as written.
    pub(super) key: &'d str,
    /// Operator such as `In` or `Exists`, as written.
    pub(super) operator: &'d str,
    /// List of values: see [`Requirement::values`].
    list: Option<Node<'d>>,
    /// Minimum number of different values.
    pub(super) min_values: Option<i64>,
}

impl<'d> Requirement<'d> {
    /// Returns the values that are strings.
    pub(super) fn values(self) -> Vec<(&'d str, Node<'d>)> {
        let mut values = Vec::new();
        for item in items_of(self.list) {
            if let Some(text) = item.as_str() {
                values.push((text, item));
            }
        }
        values
    }

    /// Label key after Karpenter has replaced deprecated label names.
    pub(super) fn label(self) -> &'d str {
        labels::normalised(self.key)
    }
}

/// Returns the requirements of an object.
pub(super) fn of(object: Object<'_>) -> impl Iterator<Item = Requirement<'_>> + Clone {
    let list = if object.is(Kind::NODE_POOL) {
        object.at(&["spec", "template", "spec", "requirements"])
    } else {
        object.at(&["spec", "requirements"])
    };
    // A vector, because a lazy iterator chain would be compiled again in every rule that uses it.
    let mut requirements = Vec::new();
    for item in items_of(list) {
        if let Some(requirement) = read(item) {
            requirements.push(requirement);
        }
    }
    requirements.into_iter()
}

fn read(node: Node<'_>) -> Option<Requirement<'_>> {
    Some(Requirement {
        node,
        key: node.str_at(&["key"])?,
        operator: node.str_at(&["operator"])?,
        list: node.get("values").filter(|values| values.is_sequence()),
        min_values: node.get("minValues").and_then(Node::as_int),
    })
}

/// Returns the labels that a NodePool sets on its nodes.
pub(super) fn template_labels(object: Object<'_>) -> impl Iterator<Item = (&str, Node<'_>)> + Clone {
    object.members_at(&["spec", "template", "metadata", "labels"])
}
