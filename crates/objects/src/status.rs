//! Conditions in the status of an object.

use manifest::tree::Node;

/// Item of `status.conditions` whose `type` and `status` are strings.
#[derive(Clone, Copy, Debug)]
pub struct StatusCondition<'d> {
    /// The item.
    pub node: Node<'d>,
    /// `type`, such as `Ready`.
    pub kind: &'d str,
    /// `True`, `False` or `Unknown`.
    pub status: &'d str,
    /// `reason`; empty where it is absent.
    pub reason: &'d str,
}

impl<'d> StatusCondition<'d> {
    /// Parses an item of the list.
    pub fn parse(node: Node<'d>) -> Option<Self> {
        Some(Self {
            node,
            kind: node.get("type")?.as_str()?,
            status: node.get("status")?.as_str()?,
            reason: node.get("reason").and_then(Node::as_str).unwrap_or_default(),
        })
    }

    /// The node of `status`.
    pub fn status_node(self) -> Node<'d> {
        self.node.get("status").unwrap_or(self.node)
    }

    /// `observedGeneration`.
    pub fn observed_generation(self) -> Option<Node<'d>> {
        self.node.get("observedGeneration")
    }
}
