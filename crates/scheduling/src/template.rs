//! The nodes that a NodePool launches, as its manifest describes them, and the reasons for which they cannot take a pod.
//!
//! The simulation, and matching without instance types, both decide with [`check_taints`] and [`check_labels`].
//!
//! Source: pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go and nodeclaim.go (`CanAdd`) of
//! kubernetes-sigs/karpenter at v1.14.1.

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::requirement::RequirementItem;

use crate::requirements::{Mismatch, Requirement, Requirements};
use crate::scalar::text;
use crate::taints::{PoolTaint, Toleration};

/// Labels and taints of the nodes that a NodePool launches.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTemplate<'d> {
    /// The requirements and labels that the user wrote.
    pub requirements: Requirements<'d>,
    /// The taints. Startup taints do not count.
    pub taints: Vec<PoolTaint<'d>>,
}

/// Reason for which the nodes of a NodePool cannot take a pod, whatever their instance type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle<'d> {
    /// The pod does not tolerate a taint.
    Taint(PoolTaint<'d>),
    /// The requirements of the pod do not agree with the labels of the nodes.
    Label(Mismatch<'d>),
}

/// Checks that a pod tolerates the taints of a node.
pub fn check_taints<'d>(
    taints: &[PoolTaint<'d>],
    tolerations: &[Toleration<'_>],
) -> Result<(), Obstacle<'d>> {
    let tolerates = |taint: &PoolTaint<'d>| tolerations.iter().any(|toleration| toleration.tolerates(taint));
    taints.iter().find(|taint| !tolerates(taint)).map_or(Ok(()), |taint| Err(Obstacle::Taint(*taint)))
}

/// Checks that a node can have the labels that a pod requires.
pub fn check_labels<'d>(node: &Requirements<'d>, asked: &Requirements<'d>) -> Result<(), Obstacle<'d>> {
    node.compatible(asked).map_err(Obstacle::Label)
}

/// The operator of a requirement. An operator that the release does not have restricts nothing, like a word that is no operator.
pub(crate) fn known_operator(item: RequirementItem<'_>, inclusive: bool) -> Option<Operator> {
    item.operator().filter(|operator| inclusive || !matches!(operator, Operator::Gte | Operator::Lte))
}

impl<'d> NodeTemplate<'d> {
    /// Reads a NodePool.
    pub fn of(pool: NodePool<'d>) -> Self {
        Self::read(pool, true)
    }

    /// Reads a NodePool. `inclusive` is whether the release has `Gte` and `Lte`.
    pub(crate) fn read(pool: NodePool<'d>, inclusive: bool) -> Self {
        let mut template = Self::default();
        for item in pool.requirements().items() {
            let Some(key) = item.key() else { continue };
            let operator = known_operator(item, inclusive);
            let least = item.min_values_node().and_then(Node::as_int);
            template.require(key, operator, item.values().map(text), least);
        }
        for (key, value) in pool.node_labels() {
            template.label(key, text(value));
        }
        template.taints.extend(pool.taints(TaintField::Taints).map(PoolTaint::from_item));
        template
    }

    /// Whether the nodes have a label that pods can select and nodes of another template lack: neither a well-known label nor one of
    /// the other template.
    pub fn has_label_beyond(&self, other: &Self) -> bool {
        let mut keys = self.requirements.iter().map(|(key, _)| key);
        keys.any(|key| labels::well_known(key).is_empty() && other.requirements.get(key).is_none())
    }

    /// Adds a requirement. A requirement that does not parse restricts nothing.
    pub fn require(
        &mut self,
        key: &'d str,
        operator: Option<Operator>,
        values: impl IntoIterator<Item = &'d str>,
        min_values: Option<i64>,
    ) {
        let parsed = operator.and_then(|operator| Requirement::new(operator, values));
        let requirement = parsed.unwrap_or_else(Requirement::exists);
        self.requirements.add(key, requirement.with_min_values(min_values));
    }

    /// Adds a label.
    pub fn label(&mut self, key: &'d str, value: &'d str) {
        self.requirements.add(key, Requirement::is(value));
    }
}
