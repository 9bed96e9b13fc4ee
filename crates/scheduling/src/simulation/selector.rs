//! Label selectors of pods, and the namespaces that they select.
//!
//! Source: `LabelSelectorAsSelector` of k8s.io/apimachinery pkg/apis/meta/v1, and labels.Requirement.Matches.

use std::collections::{BTreeMap, BTreeSet};

use manifest::tree::{Node, items_of, members_of};
use objects::object::Object;

use crate::scalar::{text, text_or_empty};

/// Labels of an object.
pub type Labels<'d> = BTreeMap<&'d str, &'d str>;

/// Returns a map of labels.
pub fn labels_of(map: Option<Node<'_>>) -> Labels<'_> {
    members_of(map).map(|(key, value)| (key, text(value))).collect()
}

/// Expression of a selector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expression<'d> {
    key: &'d str,
    operator: &'d str,
    values: BTreeSet<&'d str>,
}

impl Expression<'_> {
    fn matches(&self, labels: &Labels<'_>) -> bool {
        let value = labels.get(self.key);
        match self.operator {
            "In" => value.is_some_and(|value| self.values.contains(value)),
            "NotIn" => value.is_none_or(|value| !self.values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }
}

/// Selector of pods or namespaces. The empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelSelector<'d> {
    labels: Labels<'d>,
    expressions: BTreeSet<Expression<'d>>,
}

impl<'d> LabelSelector<'d> {
    /// Parses a selector; `None` if it is absent, which matches nothing.
    pub fn parse(node: Option<Node<'d>>) -> Option<Self> {
        let node = node.filter(|node| node.is_mapping())?;
        let expressions = items_of(node.get("matchExpressions")).map(|item| Expression {
            key: text_or_empty(item.get("key")),
            operator: text_or_empty(item.get("operator")),
            values: items_of(item.get("values")).map(text).collect(),
        });
        Some(Self { labels: labels_of(node.get("matchLabels")), expressions: expressions.collect() })
    }

    /// The selector that labels have these values.
    pub(crate) fn of_labels(labels: Labels<'d>) -> Self {
        Self { labels, expressions: BTreeSet::new() }
    }

    /// Whether the selector matches everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.expressions.is_empty()
    }

    /// Adds the conditions of another selector.
    pub(crate) fn extend(&mut self, other: Self) {
        for (key, value) in other.labels {
            self.add(key, value, true);
        }
        self.expressions.extend(other.expressions);
    }

    /// Adds that a label is, or is not, a value.
    pub(crate) fn add(&mut self, key: &'d str, value: &'d str, is: bool) {
        let operator = if is { "In" } else { "NotIn" };
        self.expressions.insert(Expression { key, operator, values: BTreeSet::from([value]) });
    }

    /// A label that every matching object has, with its value; `None` if several values, or none, are asked for.
    pub(crate) fn required_label(&self) -> Option<(&'d str, &'d str)> {
        let one_value = |expression: &Expression<'d>| {
            let is_one = expression.operator == "In" && expression.values.len() == 1;
            expression.values.first().filter(|_| is_one).map(|value| (expression.key, *value))
        };
        let own = self.labels.first_key_value().map(|(key, value)| (*key, *value));
        own.or_else(|| self.expressions.iter().find_map(one_value))
    }

    /// The conditions that an object without a certain label does not meet: the key of the label, and the values of which it has one;
    /// `None` for any value.
    pub fn required_labels(&self) -> impl Iterator<Item = (&'d str, Option<Vec<&'d str>>)> {
        let own = self.labels.iter().map(|(key, value)| (*key, Some(vec![*value])));
        let expressions = self.expressions.iter().filter_map(|expression| match expression.operator {
            "In" => Some((expression.key, Some(expression.values.iter().copied().collect()))),
            "Exists" => Some((expression.key, None)),
            _ => None,
        });
        own.chain(expressions)
    }

    /// Whether labels match.
    pub fn matches(&self, labels: &Labels<'_>) -> bool {
        self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.expressions.iter().all(|expression| expression.matches(labels))
    }
}

/// The label that the API server gives every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The namespaces of a cluster with their labels.
#[derive(Debug, Default)]
pub(crate) struct Namespaces<'d>(BTreeMap<&'d str, Labels<'d>>);

impl<'d> Namespaces<'d> {
    /// The namespaces among objects, and the namespaces that objects are in.
    pub(crate) fn of(objects: &[Object<'d>]) -> Self {
        let mut all: BTreeMap<&str, Labels<'_>> = BTreeMap::new();
        for object in objects {
            let is_namespace = object.kind() == "Namespace" && object.group().is_empty();
            let name = if is_namespace { object.name() } else { object.namespace() };
            if name.is_empty() {
                continue;
            }
            let labels = all.entry(name).or_default();
            labels.insert(NAME_LABEL, name);
            if is_namespace {
                labels.extend(labels_of(object.metadata().label_map()));
            }
        }
        Self(all)
    }

    /// The namespaces that a selector selects.
    pub(crate) fn selected(&self, selector: &LabelSelector<'_>) -> impl Iterator<Item = &'d str> {
        self.0.iter().filter(|(_, labels)| selector.matches(labels)).map(|(name, _)| *name)
    }
}

/// The namespace of an object; objects without one are applied to `default`.
pub fn namespace_of(object: Object<'_>) -> &str {
    if object.namespace().is_empty() { "default" } else { object.namespace() }
}
