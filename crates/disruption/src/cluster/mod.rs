//! The state of a cluster as the disruption controllers see it.
//!
//! Source: pkg/controllers/state/cluster.go of kubernetes-sigs/karpenter at v1.14.1.

mod evolution;
mod node;

use std::collections::BTreeMap;

use ids::Id;
use karpenter::kind::Kind;
use karpenter::labels;
use manifest::tree::Node;
use objects::node_claim::NodeClaim;
use objects::node_pool::{Disruption, NodePool};
use objects::object::Object;
use values::duration::{Duration, NillableDuration};

pub(crate) use evolution::AddedState;
pub use node::{ClaimCondition, StateNode};
pub(crate) use node::{INSTANCE_TYPE, ZONE};
pub(crate) use scheduling::state::DISRUPTED;
use scheduling::state::StateObjectId;
pub use scheduling::state::{ClusterPod, PodBudgets, Protection};

use crate::settings::DisruptionSettings;

/// The state of a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterState<'d> {
    /// The nodes, by name.
    pub nodes: Vec<StateNode<'d>>,
    /// The number of NodeClaims that have not been launched, by NodePool.
    pub unlaunched: BTreeMap<&'d str, i64>,
    /// The pods that wait for a node.
    pub pending: Vec<ClusterPod<'d>>,
    /// The pods whose node went after the cluster was read, and which wait for a node.
    pub(crate) homeless: Vec<ClusterPod<'d>>,
    /// The nodes that were added after the cluster was read, by name.
    pub(crate) added: BTreeMap<String, AddedState<'d>>,
    /// The NodePools, by name.
    pub pools: BTreeMap<&'d str, NodePool<'d>>,
    /// The PodDisruptionBudgets.
    pub pod_budgets: PodBudgets<'d>,
}

impl<'d> ClusterState<'d> {
    /// The state that objects describe, with what only the controller knows.
    pub fn of(objects: &[Object<'d>], settings: &DisruptionSettings) -> Self {
        let mut state = Self { pod_budgets: PodBudgets::of(objects), ..Self::default() };
        let pools = objects.iter().filter_map(|object| NodePool::of(*object));
        state.pools = pools.map(|pool| (pool.object().name(), pool)).collect();
        state.nodes = nodes(objects, settings);
        for claim in objects.iter().filter(|object| object.is(Kind::NODE_CLAIM) && !is_launched(**object)) {
            let pool = claim.metadata().label(labels::NODEPOOL).and_then(Node::as_str);
            *state.unlaunched.entry(pool.unwrap_or_default()).or_default() += 1;
        }
        let mut by_name: BTreeMap<&str, &mut StateNode<'d>> =
            state.nodes.iter_mut().map(|node| (node.name(), node)).collect();
        for (position, object) in objects.iter().enumerate() {
            let Some(pod) = ClusterPod::of(*object, StateObjectId::from_position(position)) else { continue };
            match by_name.get_mut(pod.node_name()) {
                Some(node) => node.pods.push(pod),
                None if pod.is_provisionable() => state.pending.push(pod),
                None => {}
            }
        }
        for node in &mut state.nodes {
            node.pods.sort_by_key(|pod| (pod.namespace(), pod.name()));
        }
        state
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&StateNode<'d>> {
        let index = self.nodes.binary_search_by_key(&name, |node| node.name()).ok()?;
        self.nodes.get(index)
    }
}

/// Whether a NodeClaim has an instance.
fn is_launched(claim: Object<'_>) -> bool {
    claim.str_at(&["status", "providerID"]).is_some_and(|id| !id.is_empty())
}

/// The nodes, by name. The provider's ID connects a Node with its NodeClaim.
fn nodes<'d>(objects: &[Object<'d>], settings: &DisruptionSettings) -> Vec<StateNode<'d>> {
    let placed = || objects.iter().copied().enumerate();
    let is_node = |object: Object<'_>| object.kind() == "Node" && object.group().is_empty();
    let nodes: Vec<(usize, Object<'d>)> =
        placed().filter(|(_, object)| is_node(*object) && is_known(*object)).collect();
    let provider = |node: &Object<'d>| node.str_at(&["spec", "providerID"]).filter(|id| !id.is_empty());
    let by_provider: BTreeMap<&str, &str> =
        nodes.iter().filter_map(|(_, node)| Some((provider(node)?, node.name()))).collect();
    let mut claims: BTreeMap<&str, NodeClaim<'d>> = BTreeMap::new();
    let mut alone = Vec::new();
    let launched = placed().filter(|(_, object)| object.is(Kind::NODE_CLAIM) && is_launched(*object));
    for (position, claim) in launched.filter_map(|(position, claim)| Some((position, NodeClaim::of(claim)?)))
    {
        let id = claim.object().str_at(&["status", "providerID"]).unwrap_or_default();
        match by_provider.get(id) {
            Some(name) => {
                claims.insert(*name, claim);
            }
            None => alone.push((position, claim)),
        }
    }
    let with_node =
        nodes.iter().map(|(position, node)| (*position, Some(*node), claims.get(node.name()).copied()));
    let all = with_node.chain(alone.into_iter().map(|(position, claim)| (position, None, Some(claim))));
    let mut all: Vec<StateNode<'d>> =
        all.map(|(position, node, claim)| state_node(position, node, claim, settings)).collect();
    all.sort_by_key(StateNode::name);
    all
}

/// Whether the controller takes note of a Node (`UpdateNode`): it waits until a node of Karpenter has its ID and its instance type.
fn is_known(node: Object<'_>) -> bool {
    let label = |key: &str| node.metadata().label(key).and_then(Node::as_str).unwrap_or_default();
    let has_id = node.str_at(&["spec", "providerID"]).is_some_and(|id| !id.is_empty());
    let is_described = !label(INSTANCE_TYPE).is_empty() || !label("karpenter.sh/initialized").is_empty();
    label(labels::NODEPOOL).is_empty() || (has_id && is_described)
}

fn state_node<'d>(
    position: usize,
    node: Option<Object<'d>>,
    claim: Option<NodeClaim<'d>>,
    settings: &DisruptionSettings,
) -> StateNode<'d> {
    let mut state = StateNode::new(node, claim, position);
    if let Some(drifted) = state.condition("Drifted").filter(|condition| condition.is_true) {
        (state.is_drifted, state.drifted_since) = (true, drifted.since);
    }
    let name = state.name();
    state.is_marked = settings.marked_for_deletion.contains(name);
    state.is_in_queue = settings.in_queue.contains(name);
    state.nominated_until = settings.nominated_until(name);
    state.has_buffer_pods = settings.buffer_pods.get(name).is_some_and(|count| *count > 0);
    state
}

/// `consolidateAfter` of a NodePool; without the field, the default that the API server writes.
pub(crate) fn consolidate_after(pool: NodePool<'_>) -> NillableDuration {
    let written = pool.disruption().and_then(Disruption::consolidate_after).and_then(Node::as_str);
    written
        .and_then(|text| NillableDuration::parse(text).ok())
        .unwrap_or(NillableDuration::After(Duration::ZERO))
}

/// `consolidationPolicy` of a NodePool; without the field, the default that the API server writes.
pub(crate) fn consolidation_policy(pool: NodePool<'_>) -> &str {
    let written = pool.disruption().and_then(Disruption::consolidation_policy).and_then(Node::as_str);
    written.unwrap_or("WhenEmptyOrUnderutilized")
}
