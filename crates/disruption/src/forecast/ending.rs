//! Pods that end by themselves after the forecast, and the drifted nodes for which that makes room.

use std::collections::BTreeSet;

use scheduling::simulation::namespace_of;
use values::duration::NillableDuration;

use super::changes::NOT_SOLD;
use super::roll::{Drifting, Roll};
use crate::cluster::{ClusterPod, StateNode, consolidate_after};
use crate::drain::ends_by_itself;

impl<'s, 'd: 's> Roll<'s, 'd> {
    /// Finds the nodes whose pods find a place when the pods that are not restarted have ended, and when the nodes that are empty then
    /// are gone, which give back what they take of the limits of their NodePools. Changes the cluster of the forecast, which is over.
    pub(super) fn let_pods_end(&mut self) {
        let is_full =
            |node: &Drifting<'d>| node.has_failed && node.blocker.is_none() && node.failure != NOT_SOLD;
        let failed = self.drifting.iter().filter(|(_, node)| is_full(node));
        let failed: BTreeSet<&'d str> = failed.map(|(name, _)| *name).collect();
        if failed.is_empty() || self.is_over() {
            return;
        }
        let ended = self.cluster.end(ends_by_itself).into_iter();
        let mut ending: Vec<String> =
            ended.map(|pod| format!("{}/{}", namespace_of(pod), pod.name())).collect();
        let ends = |pod: &mut ClusterPod<'d>| ends_by_itself(pod.object());
        let waiting = self.state.pending.extract_if(.., ends).chain(self.state.homeless.extract_if(.., ends));
        ending.extend(waiting.map(ClusterPod::full_name));
        if ending.is_empty() {
            return;
        }
        ending.sort_unstable();
        for node in &mut self.state.nodes {
            node.pods.retain(|pod| !ends_by_itself(pod.object()));
        }
        let left = self.note_room(failed, &ending);
        let emptied = self.state.nodes.iter().filter(|node| self.is_emptied(node));
        let emptied: Vec<&'d str> =
            emptied.map(StateNode::name).filter(|name| !left.contains(name)).collect();
        if !left.is_empty() && !emptied.is_empty() {
            for name in emptied {
                self.cluster.remove(name);
            }
            self.note_room(left, &ending);
        }
    }

    /// Notes which of some nodes can go now. Returns the others.
    fn note_room(&mut self, names: BTreeSet<&'d str>, ending: &[String]) -> BTreeSet<&'d str> {
        let mut left = names.clone();
        for (name, failure) in self.failures(names.into_iter().collect()) {
            if let Some(drifting) = self.drifting.get_mut(name).filter(|_| failure.is_none()) {
                ending.clone_into(&mut drifting.ending);
                left.remove(name);
            }
        }
        left
    }

    /// Whether a node without pods goes as empty.
    fn is_emptied(&self, node: &StateNode<'d>) -> bool {
        let consolidates = |pool: &&str| {
            let pool = self.state.pools.get(*pool).copied();
            pool.is_some_and(|pool| consolidate_after(pool) != NillableDuration::Never)
        };
        node.claim.is_some()
            && !node.pods.iter().copied().any(ClusterPod::is_reschedulable)
            && consolidates(&node.pool())
    }
}
