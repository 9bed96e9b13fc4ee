//! Nodes of the input that go, and their pods, which look for a place with the pods that wait.
//!
//! Source: `Schedule` in pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.1: nodes that are deleted are no
//! capacity, and their pods join the batch.

use std::collections::BTreeSet;

use ids::Id;
use manifest::tree::Node;
use objects::object::Object;
use values::timestamp::Timestamp;

use super::node_claims::NodeClaims;
use super::settings::SimulationSettings;
use super::workloads::InputPod;
use super::world::Absence;
use crate::state::{ClusterPod, PodBudgets, StateObjectId, is_deleted, is_terminating};

/// A time before every other. No object says when the simulation takes place, so that a duration of `karpenter.sh/do-not-disrupt` still
/// protects a pod.
const BEFORE: Timestamp = Timestamp::from_seconds(0);

/// The names of the nodes that go. A Node that is being deleted goes too: its NodeClaim is deleted next.
///
/// Source: `finalize` in pkg/controllers/node/termination/controller.go of kubernetes-sigs/karpenter at v1.14.1.
pub(super) fn leaving_nodes<'d>(objects: &[Object<'d>]) -> BTreeSet<&'d str> {
    let claims = NodeClaims::of(objects);
    let nodes = objects.iter().copied().filter(|object| object.kind() == "Node");
    let goes =
        |node: &Object<'d>| is_terminating(*node) || is_deleted(Some(*node), claims.of_node(node.name()));
    let alone = claims.without_node().filter(|claim| is_terminating(*claim));
    nodes.filter(goes).chain(alone).map(Object::name).collect()
}

/// The pods of nodes that go, as pods that look for a place, with the names of their nodes.
pub(super) fn leaving_pods<'d>(
    objects: &[Object<'d>],
    running: &[InputPod<'d>],
    settings: &SimulationSettings,
) -> Vec<InputPod<'d>> {
    let leaving =
        if settings.whole_state || settings.without_nodes { BTreeSet::new() } else { leaving_nodes(objects) };
    if leaving.is_empty() {
        return Vec::new();
    }
    let budgets = PodBudgets::of(objects);
    let leaves = |pod: &InputPod<'d>| {
        let node = pod.pod.spec().node_name().and_then(Node::as_str)?;
        let node = leaving.get(node).copied()?;
        let pod = ClusterPod::of(pod.pod.object(), StateObjectId::from_position(0))?;
        budgets.is_movable(pod, BEFORE, settings.release).then_some(node)
    };
    let moving = |pod: &InputPod<'d>| Some(InputPod { leaves: Some(leaves(pod)?), ..pod.clone() });
    running.iter().filter_map(moving).collect()
}

/// The nodes that go with the pods that leave them.
pub(super) fn absence<'d>(
    objects: &[Object<'d>],
    pending: &[InputPod<'d>],
    settings: &SimulationSettings,
) -> Absence<'d> {
    // If the caller knows the whole state, it also says which nodes go.
    if settings.whole_state || settings.without_nodes {
        return Absence::default();
    }
    let leaving = pending.iter().filter(|pod| pod.leaves.is_some());
    let pods = leaving.map(|pod| (pod.namespace, pod.pod.object().name())).collect();
    Absence { nodes: leaving_nodes(objects), pods, waiting: BTreeSet::new() }
}
