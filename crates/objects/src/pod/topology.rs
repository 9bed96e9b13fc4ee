//! Constraints on how pods spread over nodes and zones.

use manifest::tree::Node;

/// View of an item of `topologySpreadConstraints`.
#[derive(Clone, Copy, Debug)]
pub struct TopologySpreadConstraint<'d>(Node<'d>);

impl<'d> TopologySpreadConstraint<'d> {
    pub(super) fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// `labelSelector`.
    pub fn label_selector(self) -> Option<Node<'d>> {
        self.0.get("labelSelector")
    }

    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `topologyKey`.
    pub fn topology_key(self) -> Option<Node<'d>> {
        self.0.get("topologyKey")
    }

    /// `whenUnsatisfiable`, where it is a string.
    pub fn when_unsatisfiable(self) -> Option<&'d str> {
        self.0.get("whenUnsatisfiable")?.as_str()
    }

    /// `nodeAffinityPolicy`, where it is a string.
    pub fn node_affinity_policy(self) -> Option<&'d str> {
        self.0.get("nodeAffinityPolicy")?.as_str()
    }
}

/// View of a term of `podAffinity` or `podAntiAffinity`.
#[derive(Clone, Copy, Debug)]
pub struct PodAffinityTerm<'d>(Node<'d>);

impl<'d> PodAffinityTerm<'d> {
    pub(super) fn new(term: Node<'d>) -> Self {
        Self(term)
    }

    /// The term.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `topologyKey`.
    pub fn topology_key(self) -> Option<Node<'d>> {
        self.0.get("topologyKey")
    }

    /// `labelSelector`.
    pub fn label_selector(self) -> Option<Node<'d>> {
        self.0.get("labelSelector")
    }
}
