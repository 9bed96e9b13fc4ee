//! Candidates: nodes that may be disrupted, with what decides in which order.
//!
//! Source: `NewCandidate` in pkg/controllers/disruption/types.go of kubernetes-sigs/karpenter at v1.14.1.

use karpenter::labels;
use karpenter::release::Release;
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use scheduling::simulation::KnownPool;

use crate::behaviour::Behaviour;
use crate::blocker::NodeBlocker;
use crate::cluster::{ClusterPod, INSTANCE_TYPE, Protection, StateNode, ZONE};
use crate::engine::Engine;
use crate::event::Recorder;

/// The labels that release 1.0 asks for (`ValidateNodeDisruptable` in pkg/controllers/state/statenode.go at v1.0.9).
const REQUIRED_LABELS: [&str; 4] = [labels::CAPACITY_TYPE, ZONE, INSTANCE_TYPE, labels::NODEPOOL];

/// Respect of a method for pods that must not be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisruptionClass {
    /// Every such pod blocks.
    Graceful,
    /// A NodeClaim that limits its termination is disrupted all the same.
    Eventual,
}

/// Node that may be disrupted.
#[derive(Clone)]
pub(crate) struct Candidate<'e, 's, 'o> {
    /// The node.
    pub(crate) node: &'e StateNode<'o>,
    /// The NodePool with its instance types.
    pub(crate) pool: KnownPool<'e, 's>,
    /// The NodePool.
    pub(crate) view: NodePool<'o>,
    /// The pods that need a place elsewhere.
    pub(crate) reschedulable: Vec<ClusterPod<'o>>,
    /// The cost of all evictions, which shrinks as the node gets older.
    pub(crate) disruption_cost: f64,
    /// The price in USD per hour, where it is known.
    pub(crate) price: Option<f64>,
    /// The price of the cheapest offering that all labels of the node agree with.
    pub(crate) price_by_labels: Option<f64>,
    /// One, and the cost of the evictions that cost anything.
    pub(crate) reschedule_cost: f64,
}

impl<'o> Candidate<'_, '_, 'o> {
    /// The name of the node.
    pub(crate) fn name(&self) -> &'o str {
        self.node.name()
    }

    /// The name of the NodePool.
    pub(crate) fn pool_name(&self) -> &'o str {
        self.view.object().name()
    }

    /// The price, or zero where it is unknown.
    pub(crate) fn price_or_zero(&self) -> f64 {
        self.price.unwrap_or_default()
    }

    /// Price per cost of the disruption. Nodes with a higher ratio come first.
    pub(crate) fn savings_ratio(&self) -> f64 {
        self.price_or_zero() / self.reschedule_cost
    }

    /// Whether the node counts as empty.
    pub(crate) fn is_empty(&self, release: Release) -> bool {
        if Behaviour::SAVINGS_RATIO.holds_in(release) {
            self.reschedule_cost <= 1.0
        } else {
            self.reschedulable.is_empty()
        }
    }

    /// Whether the NodePool has a fixed number of nodes.
    pub(crate) fn is_static(&self, release: Release) -> bool {
        let replicas = self.view.replicas().filter(|replicas| !replicas.is_null());
        replicas.is_some() && Behaviour::STATIC_POOLS.holds_in(release)
    }

    /// The capacity type.
    pub(crate) fn capacity_type(&self) -> Option<&'o str> {
        self.node.label(labels::CAPACITY_TYPE)
    }

    /// The instance type; empty without the label.
    pub(crate) fn instance_type(&self) -> &'o str {
        self.node.label(INSTANCE_TYPE).unwrap_or_default()
    }
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Makes a node a candidate of a class, or returns the reason against it. The recorder gets the events.
    pub(crate) fn candidate(
        &self,
        node: &'e StateNode<'o>,
        class: DisruptionClass,
        recorder: &mut Recorder,
    ) -> Result<Candidate<'e, 's, 'o>, Box<NodeBlocker<'o>>> {
        let release = self.settings.release();
        let blocker =
            self.blocker_of_node(node).or_else(|| self.blocker_of_pods(node, class, recorder)).map(Box::new);
        if let Some(blocker) = blocker {
            if let Some(message) = blocker.event(release) {
                recorder.blocked(node, message, release);
            }
            return Err(blocker);
        }
        let pools = self.rounds.pool(node.pool()).zip(self.state.pools.get(node.pool()));
        let Some((pool, view)) = pools else { return Err(Box::new(NodeBlocker::InProgress)) };
        let reschedulable: Vec<_> = node.pods.iter().copied().filter(|pod| pod.is_reschedulable()).collect();
        let evictions: f64 = node.pods.iter().map(|pod| pod.eviction_cost()).sum();
        let price_by_labels = price_by_labels(node, pool);
        let by_labels = !Behaviour::SAVINGS_RATIO.holds_in(release);
        let positive = reschedulable.iter().map(|pod| pod.eviction_cost().max(0.0));
        Ok(Candidate {
            node,
            pool,
            view: *view,
            disruption_cost: evictions * node.lifetime_left(self.settings.now),
            price: if by_labels { price_by_labels } else { price(node, pool) },
            price_by_labels,
            reschedule_cost: positive.fold(1.0, |sum, cost| sum + cost),
            reschedulable,
        })
    }

    /// The first reason that has nothing to do with pods.
    fn blocker_of_node(&self, node: &StateNode<'o>) -> Option<NodeBlocker<'o>> {
        let release = self.settings.release();
        let in_queue = node.is_in_queue.then_some(NodeBlocker::InProgress);
        let queue_first = Behaviour::QUEUE_FIRST.holds_in(release);
        let first = in_queue.clone().filter(|_| queue_first);
        first.or_else(|| blocker_of_state(node, release)).or(in_queue).or_else(|| self.blocker_of_pool(node))
    }

    fn blocker_of_pool(&self, node: &StateNode<'o>) -> Option<NodeBlocker<'o>> {
        let object = node.node?;
        let Some(pool) = self.rounds.pool(node.pool()).filter(|pool| pool.has_types()) else {
            return Some(NodeBlocker::NoPool(object, node.pool()));
        };
        let name = node.label(INSTANCE_TYPE).unwrap_or_default();
        let is_unknown = !Behaviour::OWN_CHECKS.holds_in(self.settings.release()) && !pool.has_type(name);
        is_unknown.then_some(NodeBlocker::NoInstanceType(object, name))
    }

    /// The first reason that has to do with pods: every annotation comes before every budget.
    fn blocker_of_pods(
        &self,
        node: &StateNode<'o>,
        class: DisruptionClass,
        recorder: &mut Recorder,
    ) -> Option<NodeBlocker<'o>> {
        let (now, release) = (self.settings.now, self.settings.release());
        let grace = node.claim_spec().and_then(NodeClaimSpec::termination_grace_period);
        let forgives = class == DisruptionClass::Eventual && grace.is_some_and(|grace| !grace.is_null());
        let protected = node.pods.iter().filter(|pod| pod.is_active()).find_map(|pod| {
            let protection = pod.protection(now, release);
            recorder.protection(*pod, &protection);
            let end = if let Protection::Until(end) = protection { Some(end) } else { None };
            protection.is_active().then_some(NodeBlocker::PodDoNotDisrupt(*pod, end))
        });
        let blocker = protected.or_else(|| {
            node.pods.iter().find_map(|pod| {
                let blocking = self.state.pod_budgets.blocking(*pod, now, release);
                match blocking.as_slice() {
                    [] => None,
                    [one] => Some(NodeBlocker::PodBudget(*pod, *one)),
                    _ => Some(NodeBlocker::SeveralPodBudgets(*pod, blocking)),
                }
            })
        });
        blocker.filter(|_| !forgives)
    }
}

/// The first reason in the state of the node itself.
fn blocker_of_state<'o>(node: &StateNode<'o>, release: Release) -> Option<NodeBlocker<'o>> {
    let Some(claim) = node.claim else { return node.node.map(NodeBlocker::Unmanaged) };
    let Some(object) = node.node else { return Some(NodeBlocker::NoNode(claim.object())) };
    if !node.is_initialized() {
        return Some(NodeBlocker::NotInitialized(object));
    }
    if node.is_going() {
        return Some(NodeBlocker::Deleting(claim.object()));
    }
    if let Some(end) = node.nominated_until {
        return Some(NodeBlocker::Nominated(end));
    }
    if let Some(value) = node.protection() {
        return Some(NodeBlocker::DoNotDisrupt(value));
    }
    let needs_one = Behaviour::OWN_CHECKS.holds_in(release);
    let required: &[&str] = if needs_one { &[labels::NODEPOOL] } else { &REQUIRED_LABELS };
    let missing = required.iter().find(|key| node.label(key).is_none());
    missing.map(|key| NodeBlocker::NoLabel(object, key))
}

/// The price of the offering in the node's zone and of its capacity type (`resolveNodePrice`).
pub(crate) fn price(node: &StateNode<'_>, pool: KnownPool<'_, '_>) -> Option<f64> {
    let label = |key: &str| node.label(key);
    pool.price(label(INSTANCE_TYPE)?, label(ZONE)?, label(labels::CAPACITY_TYPE)?)
}

/// The price of the cheapest offering that the labels of the node agree with (`Offerings.Compatible`), by which every release
/// compares types, and releases before 1.14 the candidates (`getCandidatePrices` in consolidation.go at v1.13.0).
fn price_by_labels<'s, 'o: 's>(node: &StateNode<'o>, pool: KnownPool<'_, 's>) -> Option<f64> {
    pool.price_by_labels(node.label(INSTANCE_TYPE)?, node.labels())
}

/// The price of candidates with these prices. Until 1.13 the whole sum counts as zero if one price is unknown
/// (`getCandidatePrices`).
pub(crate) fn source_cost(prices: impl Iterator<Item = Option<f64>>, release: Release) -> f64 {
    if Behaviour::SAVINGS_RATIO.holds_in(release) {
        prices.map(Option::unwrap_or_default).sum()
    } else {
        prices.sum::<Option<f64>>().unwrap_or_default()
    }
}
