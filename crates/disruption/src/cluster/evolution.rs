//! Changes of a cluster after it was read.

use super::{ClusterPod, ClusterState, StateNode};

/// Node that was added to a cluster. It is neither drifted nor disrupted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedState<'d> {
    /// The name of the NodePool.
    pub(crate) pool: &'d str,
    /// Whether the node has started completely.
    pub(crate) is_initialized: bool,
}

impl<'d> ClusterState<'d> {
    fn index(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by_key(&name, |node| node.name()).ok()
    }

    /// A node by name, to change it.
    pub(crate) fn node_mut(&mut self, name: &str) -> Option<&mut StateNode<'d>> {
        let index = self.index(name)?;
        self.nodes.get_mut(index)
    }

    /// Removes a node with its pods.
    pub(crate) fn remove(&mut self, name: &str) -> Option<StateNode<'d>> {
        self.index(name).map(|index| self.nodes.remove(index))
    }

    /// Whether a node exists, was read or added, and is not going.
    pub(crate) fn has_lasting(&self, name: &str) -> bool {
        self.added.contains_key(name) || self.node(name).is_some_and(|node| !node.is_going())
    }

    /// Whether a node has started completely.
    pub(crate) fn is_initialized(&self, name: &str) -> bool {
        let read = || self.node(name).is_some_and(StateNode::is_initialized);
        self.added.get(name).map_or_else(read, |added| added.is_initialized)
    }

    /// Lets a pod run on a node. The pods of added nodes are not kept, as these nodes are not disrupted.
    pub(crate) fn settle(&mut self, pod: ClusterPod<'d>, name: &str) {
        self.pending.retain(|waiting| waiting.id() != pod.id());
        self.homeless.retain(|waiting| waiting.id() != pod.id());
        let Some(node) = self.node_mut(name) else { return };
        let key = (pod.namespace(), pod.name());
        let at = node.pods.partition_point(|other| (other.namespace(), other.name()) < key);
        node.pods.insert(at, pod);
    }
}
