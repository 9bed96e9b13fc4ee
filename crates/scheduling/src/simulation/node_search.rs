//! Search for an existing node that takes a pod, continued for the next equal pod.

use fixedbitset::FixedBitSet;
use ids::Id as _;

use super::world::NodeSlot;

/// The nodes that may still take pods of a variant, by their positions. A node that refuses equal pods until the end of the round is
/// compared once.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSearch {
    /// The positions of nodes that may take a pod, in their order.
    open: Vec<usize>,
    /// The first position that was not looked at.
    next: usize,
    /// Whether the nodes have other labels than at the start of the round.
    pub(super) has_new_labels: bool,
}

impl NodeSearch {
    /// A search that starts anew, after nodes got other labels.
    pub(super) fn anew() -> Self {
        Self { has_new_labels: true, ..Self::default() }
    }

    /// The position of a node by its rank among the nodes that may take a pod.
    pub(super) fn find(
        &mut self,
        rank: usize,
        slots: &[NodeSlot],
        fitting: Option<&FixedBitSet>,
    ) -> Option<usize> {
        if let Some(position) = self.open.get(rank) {
            return Some(*position);
        }
        let is_open = |slot: &NodeSlot| fitting.is_none_or(|fitting| fitting.contains(slot.position()));
        let position = self.next + slots.get(self.next..)?.iter().position(is_open)?;
        self.next = position + 1;
        self.open.push(position);
        Some(position)
    }

    /// Leaves out the node of a rank from now on.
    pub(super) fn leave_out(&mut self, rank: usize) {
        self.open.remove(rank);
    }
}
