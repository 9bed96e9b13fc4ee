//! Requirements on node labels: `requirements` of NodePools, NodeClaims and NodeOverlays, and `matchExpressions` of a node
//! affinity, which have the same fields.

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::{Children, Node, items_of};

/// View of a list of requirements, which may be absent.
#[derive(Clone, Copy, Debug)]
pub struct RequirementList<'d>(Option<Node<'d>>);

impl<'d> RequirementList<'d> {
    /// The list in a field.
    pub fn new(list: Option<Node<'d>>) -> Self {
        Self(list)
    }

    /// The field.
    pub fn node(self) -> Option<Node<'d>> {
        self.0
    }

    /// The items of the list.
    pub fn items(self) -> impl Iterator<Item = RequirementItem<'d>> + Clone {
        items_of(self.0).map(RequirementItem)
    }

    /// The items whose `key` and `operator` are strings.
    pub fn parsed(self) -> impl Iterator<Item = LabelRequirement<'d>> + Clone {
        self.items().filter_map(RequirementItem::parse)
    }
}

/// View of an item of the list. Its fields may have any type.
#[derive(Clone, Copy, Debug)]
pub struct RequirementItem<'d>(Node<'d>);

impl<'d> RequirementItem<'d> {
    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `key`.
    pub fn key_node(self) -> Option<Node<'d>> {
        self.0.get("key")
    }

    /// `key`, where it is a string.
    pub fn key(self) -> Option<&'d str> {
        self.key_node()?.as_str()
    }

    /// `operator`, where it is a string.
    pub fn operator_text(self) -> Option<&'d str> {
        self.0.get("operator")?.as_str()
    }

    /// `operator`, where Karpenter knows it.
    pub fn operator(self) -> Option<Operator> {
        self.operator_text().and_then(Operator::parse)
    }

    /// `values`.
    pub fn value_list(self) -> Option<Node<'d>> {
        self.0.get("values")
    }

    /// The items of `values`.
    pub fn values(self) -> Children<'d> {
        items_of(self.value_list())
    }

    /// `minValues`.
    pub fn min_values_node(self) -> Option<Node<'d>> {
        self.0.get("minValues")
    }

    /// Parses the item; `None` where `key` or `operator` is no string, which the API server refuses.
    pub fn parse(self) -> Option<LabelRequirement<'d>> {
        Some(LabelRequirement { item: self, key: self.key()?, operator: self.operator_text()? })
    }
}

/// Requirement whose key and operator are strings. Other fields with a type that the API does not accept are left out.
#[derive(Clone, Copy, Debug)]
pub struct LabelRequirement<'d> {
    /// Item of the list.
    pub item: RequirementItem<'d>,
    /// Label key, as written.
    pub key: &'d str,
    /// Operator such as `In` or `Exists`, as written.
    pub operator: &'d str,
}

impl<'d> LabelRequirement<'d> {
    /// The values that are strings.
    pub fn values(self) -> Vec<(&'d str, Node<'d>)> {
        self.item.values().filter_map(|item| Some((item.as_str()?, item))).collect()
    }

    /// `minValues` and its node, where it is a whole number.
    pub fn min_values(self) -> Option<(i64, Node<'d>)> {
        let node = self.item.min_values_node()?;
        Some((node.as_int()?, node))
    }

    /// Label key after Karpenter has replaced deprecated label names.
    pub fn label(self) -> &'d str {
        labels::normalised(self.key)
    }
}
