//! Matching of a pod against the NodePools.

use std::fmt::Write as _;
use std::rc::Rc;

use karpenter::labels;
use manifest::json::quote;
use manifest::tree::{Node, Value};
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};

use crate::pool_index::{PoolGroup, PoolIndex};
use crate::requirements::{Mismatch, Requirement, Requirements};
use crate::scalar::text;
use crate::taints::{PoolTaint, Toleration};
use crate::verdict::{Rejection, Unschedulable, Verdict};

/// Maximum number of NodePools to name.
const NAMED: usize = 3;

/// Maximum number of comparisons for a pod. A pod that needs more counts as schedulable, because many pods and many
/// NodePools would otherwise take quadratic time.
const COMPARISONS: usize = 250;

/// Demands of a pod: a node that meets one of the alternatives, and whose taints the pod tolerates.
struct Demand<'d> {
    alternatives: Vec<Requirements<'d>>,
    tolerations: Vec<Toleration<'d>>,
}

/// Matches a pod against the NodePools. Pods with equal demands share the result.
pub fn verdict<'d>(pod: Pod<'d>, pools: &PoolIndex<'d>) -> Rc<Verdict<'d>> {
    let signature = signature(pod);
    if let Some(known) = pools.verdicts.borrow().get(&signature) {
        return Rc::clone(known);
    }
    let found = Rc::new(match_pools(&Demand::of(pod), pools));
    pools.verdicts.borrow_mut().insert(signature, Rc::clone(&found));
    found
}

/// Returns the demands of a pod as a text that does not depend on formatting.
fn signature(pod: Pod<'_>) -> String {
    let mut text = String::new();
    let spec = pod.spec();
    for field in [spec.node_selector_map(), spec.node_affinity(), spec.toleration_list()] {
        if let Some(node) = field {
            write(node, &mut text);
        }
        text.push('\u{1}');
    }
    text
}

fn write(node: Node<'_>, to: &mut String) {
    if node.is_mapping() {
        let mut members: Vec<_> = node.members().collect();
        members.sort_by_key(|(key, _)| *key);
        to.push('{');
        for (key, member) in members {
            quote(key, to);
            write(member, to);
        }
        to.push('}');
    } else if node.is_sequence() {
        to.push('[');
        for item in node.items() {
            write(item, to);
        }
        to.push(']');
    } else {
        let _ = match node.value() {
            Value::String(text) => return quote(text, to),
            Value::Bool(value) => write!(to, "{value},"),
            Value::Int(value) => write!(to, "{value},"),
            Value::Float(value) => write!(to, "{}f,", value.to_bits()),
            _ => write!(to, "null,"),
        };
    }
}

impl<'d> Demand<'d> {
    fn of(pod: Pod<'d>) -> Self {
        let mut common = Requirements::default();
        for expression in pod.spec().node_selector_expressions() {
            add(&mut common, expression);
        }
        let terms = pod.spec().required_terms().map(|term| {
            let mut all = common.clone();
            for expression in term.expressions(ExpressionOrigin::Required { term: 0 }) {
                add(&mut all, expression);
            }
            all
        });
        let mut alternatives: Vec<_> = terms.collect();
        if alternatives.is_empty() {
            alternatives.push(common);
        }
        let tolerations = pod.spec().tolerations();
        Self { alternatives, tolerations: tolerations.map(Toleration::from_item).collect() }
    }

    fn untolerated(&self, group: &PoolGroup<'d>) -> Option<(PoolTaint<'d>, Node<'d>)> {
        let tolerated =
            |taint: &PoolTaint<'d>| self.tolerations.iter().any(|toleration| toleration.tolerates(taint));
        group.taints.iter().find(|(taint, _)| !tolerated(taint)).copied()
    }
}

fn add<'d>(all: &mut Requirements<'d>, expression: LabelExpression<'d>) {
    if let Some(requirement) = Requirement::new(expression.operator, expression.values().map(text)) {
        all.add(expression.key, requirement);
    }
}

/// Matches the labels and the names of a group against a pod's requirements.
fn compatible<'d>(group: &PoolGroup<'d>, asked: &Requirements<'d>) -> Result<(), Mismatch<'d>> {
    if group.named(asked.get(labels::NODEPOOL)).is_none() {
        return Err(Mismatch::Conflict(labels::NODEPOOL));
    }
    group.requirements.compatible(asked)
}

/// Whether a pod's requirements select the group by its name or by a custom label.
fn selects(asked: &Requirements<'_>, group: &PoolGroup<'_>) -> bool {
    asked.iter().any(|(key, requirement)| {
        let custom = labels::well_known(key).is_empty() && group.requirements.get(key).is_some();
        !requirement.is_negative() && (custom || key == labels::NODEPOOL)
    })
}

fn match_pools<'d>(demand: &Demand<'d>, pools: &PoolIndex<'d>) -> Verdict<'d> {
    let mut left = COMPARISONS;
    let mut untolerated = None;
    for alternative in &demand.alternatives {
        for group in pools.candidates(alternative, left + 1) {
            let Some(rest) = left.checked_sub(1) else { return Verdict::Fits };
            left = rest;
            if compatible(group, alternative).is_err() {
                continue;
            }
            let Some((taint, node)) = demand.untolerated(group) else { return Verdict::Fits };
            let pool = group.named(alternative.get(labels::NODEPOOL));
            if let Some(pool) = pool.filter(|_| untolerated.is_none() && selects(alternative, group)) {
                untolerated = Some((pool, taint, node));
            }
        }
    }
    let reasons = reasons(demand, pools);
    let others = pools.len().saturating_sub(reasons.len());
    Verdict::Unschedulable(Box::new(Unschedulable { untolerated, reasons, others }))
}

/// Returns the first reason of each of the first NodePools, for the pod's first alternative.
fn reasons<'d>(demand: &Demand<'d>, pools: &PoolIndex<'d>) -> Vec<(Object<'d>, Rejection<'d>)> {
    let Some(alternative) = demand.alternatives.first() else { return Vec::new() };
    let mut reasons: Vec<(Object<'d>, Rejection<'d>)> = Vec::new();
    // The NodePools that the pod selects come first, because the author most likely means them.
    let candidates = pools.candidates(alternative, NAMED);
    for groups in [candidates, pools.groups().iter().take(NAMED).collect()] {
        for group in groups.into_iter().take(NAMED) {
            let named = group.named(alternative.get(labels::NODEPOOL));
            let Some(pool) = named.or_else(|| group.pools.first().copied()) else {
                continue;
            };
            let reason = match compatible(group, alternative) {
                Err(Mismatch::Undefined(key)) => Rejection::Undefined(key),
                Err(Mismatch::Conflict(key)) => Rejection::Conflict(key),
                Ok(()) => match demand.untolerated(group) {
                    Some((taint, node)) => Rejection::Taint(taint, node),
                    None => continue,
                },
            };
            if !reasons.iter().any(|(present, _)| *present == pool) {
                reasons.push((pool, reason));
            }
        }
    }
    reasons.truncate(NAMED);
    reasons
}
