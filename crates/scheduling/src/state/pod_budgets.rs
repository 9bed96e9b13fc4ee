//! PodDisruptionBudgets as the controllers look at them.
//!
//! Source: pkg/utils/pdb/pdb.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use karpenter::release::Release;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use values::timestamp::Timestamp;

use super::behaviour::StateBehaviour;
use super::pod::ClusterPod;
use crate::simulation::{LabelSelector, labels_of, namespace_of};

/// PodDisruptionBudget.
#[derive(Clone, Debug)]
struct PodBudget<'d> {
    object: Object<'d>,
    selector: LabelSelector<'d>,
    allows_nothing_now: bool,
    allows_nothing_ever: bool,
    lets_unhealthy_go: bool,
}

/// Question to a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// Whether it allows an eviction now, by its status.
    Now,
    /// Whether it can ever allow an eviction, by its specification.
    Ever,
}

/// The PodDisruptionBudgets of a cluster, by namespace.
#[derive(Clone, Debug, Default)]
pub struct PodBudgets<'d>(BTreeMap<&'d str, Vec<PodBudget<'d>>>);

/// Budgets that prevent an eviction: one, or several on the same pod.
pub type BlockingBudgets<'d> = Vec<Object<'d>>;

impl<'d> PodBudgets<'d> {
    /// The budgets among objects.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut all: BTreeMap<&str, Vec<PodBudget<'_>>> = BTreeMap::new();
        for budget in objects.iter().filter_map(|object| PodDisruptionBudget::of(*object)) {
            if let Some(read) = read(budget) {
                all.entry(namespace_of(budget.object())).or_default().push(read);
            }
        }
        for budgets in all.values_mut() {
            budgets.sort_by_key(|budget| budget.object.name());
        }
        Self(all)
    }

    /// The budgets that prevent the eviction of a pod now. Empty if nothing prevents it.
    pub fn blocking(&self, pod: ClusterPod<'d>, now: Timestamp, release: Release) -> BlockingBudgets<'d> {
        self.ask(pod, now, release, Question::Now)
    }

    /// Whether a pod has to move when its node goes, and can (`IsCurrentlyReschedulable`).
    pub fn is_movable(&self, pod: ClusterPod<'d>, now: Timestamp, release: Release) -> bool {
        if !pod.is_reschedulable() {
            return false;
        }
        !StateBehaviour::SIMULATES_MOVABLE.holds_in(release)
            || pod.is_disruptable(now, release) && self.ask(pod, now, release, Question::Ever).is_empty()
    }

    /// The budgets that select a pod, by name.
    pub fn matching(&self, pod: &ClusterPod<'d>) -> Vec<Object<'d>> {
        let Some(budgets) = self.0.get(pod.namespace()) else { return Vec::new() };
        let labels = labels_of(pod.object().metadata().label_map());
        budgets.iter().filter(|budget| budget.selector.matches(&labels)).map(|budget| budget.object).collect()
    }

    fn ask(
        &self,
        pod: ClusterPod<'d>,
        now: Timestamp,
        release: Release,
        question: Question,
    ) -> BlockingBudgets<'d> {
        let Some(budgets) = self.0.get(pod.namespace()) else { return Vec::new() };
        if !pod.is_evictable(now, release) {
            return Vec::new();
        }
        let labels = labels_of(pod.object().metadata().label_map());
        let matching: Vec<&PodBudget<'d>> =
            budgets.iter().filter(|budget| budget.selector.matches(&labels)).collect();
        if matching.len() > 1 && StateBehaviour::SEVERAL_BUDGETS_BLOCK.holds_in(release) {
            return matching.iter().map(|budget| budget.object).collect();
        }
        for budget in matching {
            if budget.lets_unhealthy_go && pod.is_unhealthy() {
                return Vec::new();
            }
            if budget.blocks(question) {
                return vec![budget.object];
            }
        }
        Vec::new()
    }
}

impl PodBudget<'_> {
    fn blocks(&self, question: Question) -> bool {
        match question {
            Question::Now => self.allows_nothing_now,
            Question::Ever => self.allows_nothing_ever,
        }
    }
}

/// Reads a budget; `None` without a selector, which matches no pod.
fn read(budget: PodDisruptionBudget<'_>) -> Option<PodBudget<'_>> {
    let selector = LabelSelector::parse(budget.selector())?;
    let is = |node: Option<Node<'_>>, text: &str| node.and_then(Node::as_str) == Some(text);
    let none_unavailable =
        budget.max_unavailable().and_then(Node::as_int) == Some(0) || is(budget.max_unavailable(), "0%");
    Some(PodBudget {
        object: budget.object(),
        selector,
        allows_nothing_now: budget.disruptions_allowed().and_then(Node::as_int).unwrap_or_default() == 0,
        allows_nothing_ever: none_unavailable || is(budget.min_available(), "100%"),
        lets_unhealthy_go: is(budget.unhealthy_pod_eviction_policy(), "AlwaysAllow"),
    })
}
