//! What a pod, or the pods of a template, ask of a node.

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::object::Object;

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
        let mut kinds_of_owners = items_of(owners).filter_map(|owner| owner.str_at(&["kind"]));
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
        self.spec.items_at(REQUIRED)
    }

    /// The preferred terms of the node affinity, each with whether it is (one of) the heaviest.
    pub fn preferred_terms(self) -> impl Iterator<Item = (Node<'d>, bool)> + Clone {
        let terms = self.spec.items_at(PREFERRED);
        let weight = |term: Node<'d>| term.get("weight").and_then(Node::as_int).unwrap_or_default();
        let most = terms.clone().map(weight).max().unwrap_or_default();
        terms.filter_map(move |term| Some((term.get("preference")?, weight(term) == most)))
    }

    /// Every mention of a label key: the node selector, the required and the preferred terms, in this order.
    // A list, for a chain of iterators would be compiled anew in every rule that goes through it.
    pub fn expressions(self) -> impl Iterator<Item = Expression<'d>> + Clone {
        let mut all = Vec::new();
        for (key, node) in self.spec.members_at(&["nodeSelector"]) {
            all.push(Expression { origin: Origin::NodeSelector, key, operator: Operator::In, node });
        }
        for (term, node) in self.required_terms().enumerate() {
            add_expressions(node, Origin::Required { term }, &mut all);
        }
        for (node, heaviest) in self.preferred_terms() {
            add_expressions(node, Origin::Preferred { heaviest }, &mut all);
        }
        all.into_iter()
    }
}

/// The expressions of a term that have a key and a known operator.
pub fn expressions_of(term: Node<'_>, origin: Origin) -> impl Iterator<Item = Expression<'_>> + Clone {
    let mut all = Vec::new();
    add_expressions(term, origin, &mut all);
    all.into_iter()
}

fn add_expressions<'d>(term: Node<'d>, origin: Origin, to: &mut Vec<Expression<'d>>) {
    for node in term.items_at(&["matchExpressions"]) {
        let operator = node.str_at(&["operator"]).and_then(Operator::parse);
        if let (Some(operator), Some(key)) = (operator, node.str_at(&["key"])) {
            to.push(Expression { origin, key, operator, node });
        }
    }
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

    /// The values it is compared with, as far as they are scalars.
    pub fn values(self) -> impl Iterator<Item = Node<'d>> + Clone {
        let is_selector = self.origin == Origin::NodeSelector;
        let values = if is_selector { vec![self.node] } else { self.node.items_at(&["values"]).collect() };
        values.into_iter()
    }
}
