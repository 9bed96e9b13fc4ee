//! Node selectors and node affinity: the labels that a pod asks of its node.

use crate::location::Place;
use karpenter::operator::Operator;
use manifest::tree::{Node, items_of};

use crate::requirement::RequirementList;

/// View of a term of a node selector: in a pod's node affinity, or in the node affinity of a PersistentVolume.
#[derive(Clone, Copy, Debug)]
pub struct NodeSelectorTerm<'d>(Node<'d>);

impl<'d> NodeSelectorTerm<'d> {
    /// The term that an item of a list holds.
    pub fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// `matchExpressions`.
    pub fn match_expressions(self) -> RequirementList<'d> {
        RequirementList::new(self.0.get("matchExpressions"))
    }

    /// `matchFields`.
    pub fn match_fields(self) -> RequirementList<'d> {
        RequirementList::new(self.0.get("matchFields"))
    }

    /// The expressions that have a key and a known operator.
    pub fn expressions(self, origin: ExpressionOrigin) -> impl Iterator<Item = LabelExpression<'d>> + Clone {
        let mut all = Vec::new();
        for item in self.match_expressions().items() {
            if let (Some(operator), Some(key)) = (item.operator(), item.key()) {
                all.push(LabelExpression { origin, key, operator, node: item.node() });
            }
        }
        all.into_iter()
    }
}

/// Preferred term of a node affinity.
#[derive(Clone, Copy, Debug)]
pub struct PreferredTerm<'d> {
    /// `preference`.
    pub preference: NodeSelectorTerm<'d>,
    /// Whether no other term has a greater `weight`.
    pub is_heaviest: bool,
}

impl<'d> PreferredTerm<'d> {
    /// The items of a list that have a `preference`.
    pub(super) fn all(list: Option<Node<'d>>) -> impl Iterator<Item = Self> + Clone {
        let weight = |term: Node<'d>| term.get("weight").and_then(Node::as_int).unwrap_or_default();
        let most = items_of(list).map(weight).max().unwrap_or_default();
        items_of(list).filter_map(move |term| {
            let preference = NodeSelectorTerm::new(term.get("preference")?);
            Some(Self { preference, is_heaviest: weight(term) == most })
        })
    }
}

/// Mention of a label key in a pod.
#[derive(Clone, Copy, Debug)]
pub struct LabelExpression<'d> {
    /// The field that mentions the key.
    pub origin: ExpressionOrigin,
    /// The key as written.
    pub key: &'d str,
    /// The comparison with the values; a node selector is `In` with one value.
    pub operator: Operator,
    /// The member of the node selector, or the item of `matchExpressions`.
    pub node: Node<'d>,
}

/// Field that mentions a label key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionOrigin {
    /// `nodeSelector`.
    NodeSelector,
    /// A required term of the node affinity: one of them has to hold.
    Required {
        /// Position among the terms. Karpenter starts with the first.
        term: usize,
    },
    /// A preferred term of the node affinity.
    Preferred {
        /// Whether no other term weighs more. Karpenter treats the heaviest term as required until that fails.
        heaviest: bool,
    },
}

impl<'d> LabelExpression<'d> {
    /// The place of the key, under the path of its map or its own.
    pub fn place(self) -> Place<'d> {
        match (self.origin, self.key_node()) {
            (ExpressionOrigin::NodeSelector, _) => Place::key_of_map(self.node),
            (_, Some(key)) => Place::value(key),
            (_, None) => Place::value(self.node),
        }
    }

    pub(super) fn of_selector(key: &'d str, node: Node<'d>) -> Self {
        Self { origin: ExpressionOrigin::NodeSelector, key, operator: Operator::In, node }
    }

    /// The values to compare with, as far as they are scalars.
    pub fn values(self) -> impl Iterator<Item = Node<'d>> + Clone {
        let is_selector = self.origin == ExpressionOrigin::NodeSelector;
        let values = if is_selector { vec![self.node] } else { items_of(self.node.get("values")).collect() };
        values.into_iter()
    }

    /// The node of the key in an item of `matchExpressions`; `None` for a node selector.
    pub fn key_node(self) -> Option<Node<'d>> {
        self.node.get("key").filter(|_| self.origin != ExpressionOrigin::NodeSelector)
    }
}
