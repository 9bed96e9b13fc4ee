//! The requirements of NodePools, NodeClaims and NodeOverlays, as far as they can be read.

use karpenter::labels;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;

/// One requirement. What has another type than the API asks for is left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requirement<'d> {
    /// The item of the list.
    pub(super) node: Node<'d>,
    /// The label, as it is written.
    pub(super) key: &'d str,
    /// `In`, `Exists` and so on, as it is written.
    pub(super) operator: &'d str,
    /// The values that are strings: see [`Requirement::values`].
    list: Option<Node<'d>>,
    /// How many different values there have to be.
    pub(super) min_values: Option<i64>,
}

impl<'d> Requirement<'d> {
    /// The values that are strings.
    pub(super) fn values(self) -> Vec<(&'d str, Node<'d>)> {
        let mut values = Vec::new();
        for item in items_of(self.list) {
            if let Some(text) = item.as_str() {
                values.push((text, item));
            }
        }
        values
    }

    /// The label it is about once Karpenter has replaced the old names of labels.
    pub(super) fn label(self) -> &'d str {
        labels::normalised(self.key)
    }
}

/// The requirements of an object.
pub(super) fn of(object: Object<'_>) -> impl Iterator<Item = Requirement<'_>> + Clone {
    let list = if object.is(Kind::NODE_POOL) {
        object.at(&["spec", "template", "spec", "requirements"])
    } else {
        object.at(&["spec", "requirements"])
    };
    // A list, for a chain of iterators would be compiled anew in every rule that goes through it.
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

/// The labels that a NodePool writes on its nodes.
pub(super) fn template_labels(object: Object<'_>) -> impl Iterator<Item = (&str, Node<'_>)> + Clone {
    object.members_at(&["spec", "template", "metadata", "labels"])
}
