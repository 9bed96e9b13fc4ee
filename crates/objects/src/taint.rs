//! Taints of a NodePool or NodeClaim, as they are written.

use manifest::tree::Node;

/// View of an item of `taints` or `startupTaints`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaintItem<'d>(Node<'d>);

impl<'d> TaintItem<'d> {
    /// The taint that an item of a list holds.
    pub fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `key`.
    pub fn key_node(self) -> Option<Node<'d>> {
        self.0.get("key")
    }

    /// `key`, where it is a string.
    pub fn key(self) -> Option<&'d str> {
        self.key_node()?.as_str()
    }

    /// `value`.
    pub fn value_node(self) -> Option<Node<'d>> {
        self.0.get("value")
    }

    /// `effect`.
    pub fn effect_node(self) -> Option<Node<'d>> {
        self.0.get("effect")
    }

    /// `effect`, where it is a string.
    pub fn effect(self) -> Option<&'d str> {
        self.effect_node()?.as_str()
    }
}
