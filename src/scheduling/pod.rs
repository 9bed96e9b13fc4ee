//! What a pod, or the pods of a template, ask of a node.

use crate::finding::Place;
use crate::fix::Change;
use crate::karpenter::labels;
use crate::karpenter::operator::Operator;
use crate::manifest::tree::Node;
use crate::object::{Object, Operation};

/// A pod or a pod template within its object.
#[derive(Clone, Copy, Debug)]
pub struct Pod<'d> {
    object: Object<'d>,
    spec: Node<'d>,
}

/// A mention of a label key.
#[derive(Clone, Copy, Debug)]
pub struct Expression<'d> {
    /// Where it stands.
    pub origin: Origin,
    /// The key as written.
    pub key: &'d str,
    /// How the values are compared; a node selector is `In` with one value.
    pub operator: Operator,
    /// The member of the node selector, or the item of `matchExpressions`.
    pub node: Node<'d>,
}

/// Where a label key is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `nodeSelector`.
    NodeSelector,
    /// A required term of the node affinity: one of them has to hold.
    Required {
        /// Its position among the terms. Karpenter starts with the first.
        term: usize,
    },
    /// A preferred term of the node affinity.
    Preferred {
        /// No other weighs more. Karpenter takes the heaviest as required until that fails.
        heaviest: bool,
    },
}

const REQUIRED: &[&str] =
    &["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
const PREFERRED: &[&str] = &["affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"];

impl<'d> Pod<'d> {
    /// The pod or template of an object, where it has one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        Some(Self { object, spec: object.pod()?.get("spec")? })
    }

    /// The object that holds the pod.
    pub fn object(self) -> Object<'d> {
        self.object
    }

    /// The pod's specification.
    pub fn spec(self) -> Node<'d> {
        self.spec
    }

    /// Whether a DaemonSet makes the pods, so that no node is made for them.
    pub fn is_daemon(self) -> bool {
        self.object.kind() == "DaemonSet" || self.is_owned_by(&["DaemonSet", "Node"])
    }

    fn is_owned_by(self, kinds: &[&str]) -> bool {
        let owners = self.object.at(&["metadata", "ownerReferences"]);
        let mut kinds_of_owners =
            owners.into_iter().flat_map(Node::items).filter_map(|owner| owner.str_at(&["kind"]));
        self.object.kind() == "Pod" && kinds_of_owners.any(|kind| kinds.contains(&kind))
    }

    /// Whether Karpenter would look for a node when a pod waits: not for daemons, pods that have a node or another
    /// scheduler, and those that say in so many words that they stay off its nodes.
    pub fn may_ask_for_a_node(self) -> bool {
        let scheduler = self.spec.str_at(&["schedulerName"]).unwrap_or_default();
        let has_node = self.spec.str_at(&["nodeName"]).is_some_and(|name| !name.is_empty());
        let default = scheduler.is_empty() || scheduler == "default-scheduler";
        default && !has_node && !self.is_daemon() && !self.stays_off()
    }

    /// Whether the pod carries the supported sign that it stays off Karpenter's nodes: `karpenter.sh/nodepool` with
    /// `DoesNotExist`, where the provisioner looks for it (`validateKarpenterManagedLabelCanExist`).
    fn stays_off(self) -> bool {
        self.expressions().any(|expression| {
            let counts = matches!(
                expression.origin,
                Origin::Required { term: 0 } | Origin::Preferred { heaviest: true }
            );
            counts && expression.key == labels::NODEPOOL && expression.operator == Operator::DoesNotExist
        })
    }

    /// The required terms of the node affinity.
    pub fn required_terms(self) -> impl Iterator<Item = Node<'d>> + Clone {
        self.spec.at_path(REQUIRED).into_iter().flat_map(Node::items)
    }

    /// The preferred terms of the node affinity, each with whether it is (one of) the heaviest.
    pub fn preferred_terms(self) -> impl Iterator<Item = (Node<'d>, bool)> + Clone {
        let terms = self.spec.at_path(PREFERRED).into_iter().flat_map(Node::items);
        let weight = |term: Node<'d>| term.get("weight").and_then(Node::as_int).unwrap_or_default();
        let most = terms.clone().map(weight).max().unwrap_or_default();
        terms.filter_map(move |term| Some((term.get("preference")?, weight(term) == most)))
    }

    /// Every mention of a label key: the node selector, the required and the preferred terms, in this order.
    pub fn expressions(self) -> impl Iterator<Item = Expression<'d>> + Clone {
        let selector = self.spec.get("nodeSelector").into_iter().flat_map(Node::members);
        let selector = selector.map(|(key, node)| Expression {
            origin: Origin::NodeSelector,
            key,
            operator: Operator::In,
            node,
        });
        let required = self.required_terms().enumerate();
        let required = required.flat_map(|(term, node)| expressions_of(node, Origin::Required { term }));
        let preferred = self.preferred_terms();
        let preferred =
            preferred.flat_map(|(node, heaviest)| expressions_of(node, Origin::Preferred { heaviest }));
        selector.chain(required).chain(preferred)
    }
}

/// The expressions of a term that have a key and a known operator.
pub fn expressions_of(term: Node<'_>, origin: Origin) -> impl Iterator<Item = Expression<'_>> + Clone {
    let expressions = term.get("matchExpressions").into_iter().flat_map(Node::items);
    expressions.filter_map(move |node| {
        let operator = Operator::parse(node.str_at(&["operator"])?)?;
        Some(Expression { origin, key: node.str_at(&["key"])?, operator, node })
    })
}

impl<'d> Expression<'d> {
    /// The key, under the path of its map or its own.
    pub fn place(self) -> Place<'d> {
        match (self.origin, self.node.get("key")) {
            (Origin::NodeSelector, _) => Place::key_of_map(self.node),
            (_, Some(key)) => Place::value(key),
            (_, None) => Place::value(self.node),
        }
    }

    /// Another key in its place; `None` where the map has that key already, or the object lives and takes no change.
    pub fn rename(self, object: Object<'d>, key: &str) -> Option<Change<'d>> {
        if object.operation() == Operation::Update {
            return None;
        }
        if self.origin == Origin::NodeSelector {
            let is_free = self.node.parent().is_some_and(|map| map.get(key).is_none());
            return is_free.then(|| Change::Rename(self.node, key.to_owned()));
        }
        Some(Change::Set(self.node.get("key")?, key.to_owned()))
    }

    /// The values it is compared with, as far as they are scalars.
    pub fn values(self) -> impl Iterator<Item = Node<'d>> + Clone {
        let is_selector = self.origin == Origin::NodeSelector;
        let own = is_selector.then_some(self.node);
        let listed = self.node.get("values").filter(|_| !is_selector);
        own.into_iter().chain(listed.into_iter().flat_map(Node::items))
    }
}
