//! Whether any NodePool can make a node for a pod, and if none can, why.

use std::fmt::Write as _;
use std::rc::Rc;

use super::pod::{Expression, Origin, Pod, expressions_of};
use super::pools::{Class, Pools, text};
use karpenter::labels;
use crate::requirements::{Mismatch, Requirement, Requirements};
use crate::taints::{Taint, Toleration};
use manifest::json::quote;
use manifest::tree::{Node, Value};
use objects::object::Object;

/// How many pools are named at most.
const NAMED: usize = 3;

/// How many comparisons a pod is worth. Beyond, the pod is given the benefit of the doubt, so that many pods and many
/// pools do not cost their product.
const COMPARISONS: usize = 250;

/// What came of holding a pod against all pools.
#[derive(Debug)]
pub enum Verdict<'d> {
    /// Some pool can make a node for it, or it cannot be told.
    Fits,
    /// None can.
    Stuck(Box<Stuck<'d>>),
}

/// Why no pool can make a node for a pod.
#[derive(Debug)]
pub struct Stuck<'d> {
    /// A pool that the pod selects and whose taint it does not tolerate; every pool it selects has such a taint.
    pub untolerated: Option<(Object<'d>, Taint<'d>, Node<'d>)>,
    /// For the first pools, the first reason of each.
    pub reasons: Vec<(Object<'d>, Reason<'d>)>,
    /// How many pools there are besides.
    pub others: usize,
}

/// Why a pool can make no node for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<'d> {
    /// The pod does not tolerate a taint.
    Taint(Taint<'d>, Node<'d>),
    /// The pod needs a label that the pool does not set.
    Undefined(&'d str),
    /// The pod needs another value than the pool has.
    Apart(&'d str),
}

/// What a pod asks: one of the alternatives, on a node whose taints it tolerates.
struct Asked<'d> {
    alternatives: Vec<Requirements<'d>>,
    tolerations: Vec<Toleration<'d>>,
}

/// Holds a pod against the pools; pods that ask the same share the answer.
pub fn verdict<'d>(pod: Pod<'d>, pools: &Pools<'d>) -> Rc<Verdict<'d>> {
    let signature = signature(pod);
    if let Some(known) = pools.verdicts.borrow().get(&signature) {
        return Rc::clone(known);
    }
    let found = Rc::new(judge(&Asked::read(pod), pools));
    pools.verdicts.borrow_mut().insert(signature, Rc::clone(&found));
    found
}

/// What a pod asks as a text, whatever its formatting.
fn signature(pod: Pod<'_>) -> String {
    let mut text = String::new();
    for path in [&["nodeSelector"][..], &["affinity", "nodeAffinity"], &["tolerations"]] {
        if let Some(node) = pod.spec().at_path(path) {
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

impl<'d> Asked<'d> {
    fn read(pod: Pod<'d>) -> Self {
        let mut common = Requirements::default();
        for expression in pod.expressions().filter(|expression| expression.origin == Origin::NodeSelector) {
            add(&mut common, expression);
        }
        let terms = pod.required_terms().map(|term| {
            let mut all = common.clone();
            for expression in expressions_of(term, Origin::Required { term: 0 }) {
                add(&mut all, expression);
            }
            all
        });
        let mut alternatives: Vec<_> = terms.collect();
        if alternatives.is_empty() {
            alternatives.push(common);
        }
        let tolerations = pod.spec().items_at(&["tolerations"]);
        Self { alternatives, tolerations: tolerations.map(toleration).collect() }
    }

    fn untolerated(&self, class: &Class<'d>) -> Option<(Taint<'d>, Node<'d>)> {
        let tolerated =
            |taint: &Taint<'d>| self.tolerations.iter().any(|toleration| toleration.tolerates(taint));
        class.taints.iter().find(|(taint, _)| !tolerated(taint)).copied()
    }
}

fn add<'d>(all: &mut Requirements<'d>, expression: Expression<'d>) {
    if let Some(requirement) = Requirement::new(expression.operator, expression.values().map(text)) {
        all.add(expression.key, requirement);
    }
}

/// A toleration as it is written.
pub fn toleration(node: Node<'_>) -> Toleration<'_> {
    let field = |key| node.get(key).map(text).unwrap_or_default();
    Toleration {
        key: field("key"),
        operator: field("operator"),
        value: field("value"),
        effect: field("effect"),
    }
}

/// The labels and the name of the class against what is asked.
fn compatible<'d>(class: &Class<'d>, asked: &Requirements<'d>) -> Result<(), Mismatch<'d>> {
    if class.called(asked.get(labels::NODEPOOL)).is_none() {
        return Err(Mismatch::Apart(labels::NODEPOOL));
    }
    class.requirements.compatible(asked)
}

/// Whether what is asked picks the class out: by its name, or by a label of its own.
fn selects(asked: &Requirements<'_>, class: &Class<'_>) -> bool {
    asked.iter().any(|(key, requirement)| {
        let own = labels::well_known(key).is_empty() && class.requirements.get(key).is_some();
        !requirement.is_negative() && (own || key == labels::NODEPOOL)
    })
}

fn judge<'d>(asked: &Asked<'d>, pools: &Pools<'d>) -> Verdict<'d> {
    let mut left = COMPARISONS;
    let mut untolerated = None;
    for alternative in &asked.alternatives {
        for class in pools.candidates(alternative, left + 1) {
            let Some(rest) = left.checked_sub(1) else { return Verdict::Fits };
            left = rest;
            if compatible(class, alternative).is_err() {
                continue;
            }
            let Some((taint, node)) = asked.untolerated(class) else { return Verdict::Fits };
            let pool = class.called(alternative.get(labels::NODEPOOL));
            if let Some(pool) = pool.filter(|_| untolerated.is_none() && selects(alternative, class)) {
                untolerated = Some((pool, taint, node));
            }
        }
    }
    let reasons = reasons(asked, pools);
    let others = pools.len().saturating_sub(reasons.len());
    Verdict::Stuck(Box::new(Stuck { untolerated, reasons, others }))
}

/// The first reason of each of the first pools, by the alternative that comes first.
fn reasons<'d>(asked: &Asked<'d>, pools: &Pools<'d>) -> Vec<(Object<'d>, Reason<'d>)> {
    let Some(alternative) = asked.alternatives.first() else { return Vec::new() };
    let mut reasons: Vec<(Object<'d>, Reason<'d>)> = Vec::new();
    // The pools that the pod selects come first: they are most likely meant.
    let candidates = pools.candidates(alternative, NAMED);
    for classes in [candidates, pools.classes().iter().take(NAMED).collect()] {
        for class in classes.into_iter().take(NAMED) {
            let called = class.called(alternative.get(labels::NODEPOOL));
            let Some(pool) = called.or_else(|| class.pools.first().copied()) else {
                continue;
            };
            let reason = match compatible(class, alternative) {
                Err(Mismatch::Undefined(key)) => Reason::Undefined(key),
                Err(Mismatch::Apart(key)) => Reason::Apart(key),
                Ok(()) => match asked.untolerated(class) {
                    Some((taint, node)) => Reason::Taint(taint, node),
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
