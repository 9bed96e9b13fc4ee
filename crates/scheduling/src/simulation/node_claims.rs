//! The NodeClaims of an input with their Nodes.

use std::collections::BTreeMap;

use objects::object::Object;

/// The NodeClaims of an input with their Nodes.
pub(super) struct NodeClaims<'d> {
    by_node: BTreeMap<&'d str, Object<'d>>,
    without_node: Vec<Object<'d>>,
}

impl<'d> NodeClaims<'d> {
    /// The NodeClaims among objects. Before a node registers, only the provider's ID connects it with its NodeClaim.
    pub(super) fn of(objects: &[Object<'d>]) -> Self {
        let of_kind =
            |kind: &'static str| objects.iter().copied().filter(move |object| object.kind() == kind);
        let named = |node: Object<'d>| Some((node.str_at(&["spec", "providerID"])?, node.name()));
        let by_provider: BTreeMap<&str, &str> = of_kind("Node").filter_map(named).collect();
        let node_of = |claim: &Object<'d>| {
            let own = claim.str_at(&["status", "nodeName"]).filter(|name| !name.is_empty());
            own.or_else(|| by_provider.get(claim.str_at(&["status", "providerID"])?).copied())
        };
        let mut all = Self { by_node: BTreeMap::new(), without_node: Vec::new() };
        for claim in of_kind("NodeClaim") {
            match node_of(&claim) {
                Some(node) => {
                    all.by_node.insert(node, claim);
                }
                None => all.without_node.push(claim),
            }
        }
        all
    }

    /// The NodeClaim of a Node.
    pub(super) fn of_node(&self, name: &str) -> Option<Object<'d>> {
        self.by_node.get(name).copied()
    }

    /// The NodeClaims whose Node does not exist yet.
    pub(super) fn without_node(&self) -> impl Iterator<Item = Object<'d>> {
        self.without_node.iter().copied()
    }
}
