//! Nodes as the disruption controllers look at them: a Node, its NodeClaim, and its pods.
//!
//! Source: pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.1.

use karpenter::labels;
use manifest::source::certain;
use manifest::tree::{Node, items_of, members_of};
use objects::node_claim::{NodeClaim, NodeClaimSpec};
use objects::object::Object;
use values::duration::{Duration, NillableDuration};
use values::timestamp::Timestamp;

use karpenter::labels::DO_NOT_DISRUPT;
use scheduling::state::{ClusterPod, is_deleted};

/// The label of the zone.
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
/// The label of the instance type.
pub(crate) const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Node of a cluster.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the facts about a node are independent")]
pub struct StateNode<'d> {
    /// The name of the Node, else of the NodeClaim. Nodes are looked up by name.
    name: &'d str,
    /// The Node.
    pub node: Option<Object<'d>>,
    /// The NodeClaim.
    pub claim: Option<NodeClaim<'d>>,
    /// The position of the Node, or else of the NodeClaim, among the objects.
    pub(crate) position: usize,
    /// The pods on the node, by namespace and name.
    pub pods: Vec<ClusterPod<'d>>,
    /// Whether the controller has marked the node for deletion.
    pub is_marked: bool,
    /// Whether a command of the controller already disrupts the node.
    pub is_in_queue: bool,
    /// The end of the nomination for a pending pod.
    pub nominated_until: Option<Timestamp>,
    /// Whether the node keeps capacity free for a buffer.
    pub has_buffer_pods: bool,
    /// Whether the node is drifted.
    pub is_drifted: bool,
    /// The time at which the node was found to be drifted.
    pub drifted_since: Option<Timestamp>,
    /// Whether the node started completely after the cluster was read.
    pub(crate) has_started: bool,
}

/// Condition of a NodeClaim.
#[derive(Clone, Copy, Debug)]
pub struct ClaimCondition<'d> {
    /// The item of `status.conditions`.
    pub node: Node<'d>,
    /// Whether the status is True.
    pub is_true: bool,
    /// `reason`.
    pub reason: &'d str,
    /// `lastTransitionTime`.
    pub since: Option<Timestamp>,
}

impl<'d> StateNode<'d> {
    /// A Node, a NodeClaim or both, before anything else is known.
    pub(crate) fn new(node: Option<Object<'d>>, claim: Option<NodeClaim<'d>>, position: usize) -> Self {
        Self {
            name: certain(node.or(claim.map(NodeClaim::object)).map(Object::name)),
            node,
            claim,
            position,
            pods: Vec::new(),
            is_marked: false,
            is_in_queue: false,
            nominated_until: None,
            has_buffer_pods: false,
            is_drifted: false,
            drifted_since: None,
            has_started: false,
        }
    }

    /// The name of the Node, else of the NodeClaim.
    pub fn name(&self) -> &'d str {
        self.name
    }

    /// The Node, else the NodeClaim.
    pub fn object(&self) -> Option<Object<'d>> {
        self.node.or(self.claim.map(NodeClaim::object))
    }

    fn node_label(&self, key: &str) -> Option<&'d str> {
        self.node?.metadata().label(key)?.as_str()
    }

    /// Whether the node has joined the cluster. A node without a NodeClaim counts as joined.
    pub fn is_registered(&self) -> bool {
        self.claim.is_none() || self.node_label("karpenter.sh/registered") == Some("true")
    }

    /// Whether the node has started completely. A node without a NodeClaim counts as started.
    pub fn is_initialized(&self) -> bool {
        self.claim.is_none()
            || self.node_label("karpenter.sh/initialized") == Some("true")
            || self.has_started
    }

    /// The object whose labels and annotations count: the NodeClaim until the node has joined.
    fn described(&self) -> Option<Object<'d>> {
        let claim = self.claim.map(NodeClaim::object);
        let by_claim = claim.filter(|_| self.node.is_none() || !self.is_registered());
        by_claim.or(self.node)
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&'d str> {
        self.described()?.metadata().label(key)?.as_str()
    }

    /// The labels.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (&'d str, &'d str)> {
        let map = self.described().and_then(|object| object.metadata().label_map());
        members_of(map).filter_map(|(key, value)| Some((key, value.as_str()?)))
    }

    /// The name of the NodePool; empty without the label.
    pub fn pool(&self) -> &'d str {
        self.label(labels::NODEPOOL).unwrap_or_default()
    }

    /// The annotation that protects the node. Only `true` protects.
    pub fn protection(&self) -> Option<Node<'d>> {
        self.described()?.annotation(DO_NOT_DISRUPT).filter(|value| value.as_str() == Some("true"))
    }

    /// The specification of the NodeClaim.
    pub fn claim_spec(&self) -> Option<NodeClaimSpec<'d>> {
        self.claim?.spec()
    }

    /// A condition of the NodeClaim.
    pub fn condition(&self, kind: &str) -> Option<ClaimCondition<'d>> {
        let mut all = items_of(self.claim?.object().at(&["status", "conditions"]));
        let node = all.find(|condition| condition.str_at(&["type"]) == Some(kind))?;
        Some(ClaimCondition {
            node,
            is_true: node.str_at(&["status"]) == Some("True"),
            reason: node.str_at(&["reason"]).unwrap_or_default(),
            since: node.str_at(&["lastTransitionTime"]).and_then(Timestamp::parse),
        })
    }

    /// Whether a condition of the NodeClaim is True.
    pub fn has_condition(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|condition| condition.is_true)
    }

    /// Whether the controller has marked the node, or the node is going (`MarkedForDeletion`).
    pub fn is_going(&self) -> bool {
        self.is_marked || is_deleted(self.node, self.claim.map(NodeClaim::object))
    }

    /// Whether the condition Ready of the Node is True, or the node has started since it was read.
    pub fn is_ready(&self) -> bool {
        if self.has_started {
            return true;
        }
        let mut conditions = items_of(self.node.and_then(|node| node.at(&["status", "conditions"])));
        let ready = conditions.find(|condition| condition.str_at(&["type"]) == Some("Ready"));
        ready.is_some_and(|ready| ready.str_at(&["status"]) == Some("True"))
    }

    /// The end of the time after the last event of a pod in which the NodePool does not consolidate the node; `None` if there
    /// is no such time (`IsUnderConsolidateAfter` in pkg/utils/disruption/disruption.go).
    pub fn consolidatable_from(&self, consolidate_after: NillableDuration) -> Option<Timestamp> {
        let NillableDuration::After(duration) = consolidate_after else { return None };
        let initialized = self.condition("Initialized").filter(|condition| condition.is_true)?;
        let event = self.claim?.object().str_at(&["status", "lastPodEventTime"]).and_then(Timestamp::parse);
        (duration != Duration::ZERO).then_some(())?;
        Some(event.or(initialized.since)?.plus(duration))
    }

    /// Part of the lifetime that is left, from 0 to 1 (`LifetimeRemaining` in pkg/utils/disruption/disruption.go).
    pub fn lifetime_left(&self, now: Timestamp) -> f64 {
        let written = self.claim_spec().and_then(NodeClaimSpec::expire_after).and_then(Node::as_str);
        let Some(Ok(NillableDuration::After(whole))) = written.map(NillableDuration::parse) else {
            return 1.0;
        };
        let created = self.claim.and_then(|claim| claim.object().str_at(&["metadata", "creationTimestamp"]));
        let Some(created) = created.and_then(Timestamp::parse) else { return 1.0 };
        let (age, whole) = (seconds(now.since(created)), seconds(whole));
        ((whole - age) / whole).clamp(0.0, 1.0)
    }
}

/// A duration in seconds, with a fraction.
#[expect(clippy::cast_precision_loss, reason = "Go's Duration.Seconds is a float64 as well")]
fn seconds(duration: Duration) -> f64 {
    duration.nanoseconds() as f64 / 1e9
}
