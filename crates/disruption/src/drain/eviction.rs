//! The eviction API of the API server.
//!
//! Source: kubernetes/kubernetes pkg/registry/core/pod/storage/eviction.go.

use std::collections::BTreeMap;

use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use scheduling::simulation::namespace_of;

use super::pod::DrainPod;
use crate::cluster::PodBudgets;

/// Answer of the eviction API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvictionAnswer {
    Evicted,
    /// The PodDisruptionBudget allows no disruption.
    Refused,
    /// More than one PodDisruptionBudget selects the pod.
    SeveralBudgets,
}

impl EvictionAnswer {
    /// The HTTP status.
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::Evicted => 200,
            Self::Refused => 429,
            Self::SeveralBudgets => 500,
        }
    }
}

/// The number of disruptions that each budget still allows, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed<'d>(BTreeMap<(&'d str, &'d str), i64>);

impl<'d> Allowed<'d> {
    /// Evicts a pod, and counts it.
    pub(super) fn evict(&mut self, pod: &DrainPod<'d>, budgets: &PodBudgets<'d>) -> EvictionAnswer {
        let matching = budgets.matching(&pod.pod);
        let phase = pod.pod.object().str_at(&["status", "phase"]).unwrap_or_default();
        let is_ending = matches!(phase, "Succeeded" | "Failed" | "Pending") || pod.deleted_at.is_some();
        match matching.as_slice() {
            _ if is_ending => EvictionAnswer::Evicted,
            [] => EvictionAnswer::Evicted,
            [budget] => self.ask(pod, *budget),
            _ => EvictionAnswer::SeveralBudgets,
        }
    }

    fn ask(&mut self, pod: &DrainPod<'d>, budget: Object<'d>) -> EvictionAnswer {
        let left = self.0.entry((namespace_of(budget), budget.name())).or_insert_with(|| {
            let view = PodDisruptionBudget::of(budget);
            view.and_then(PodDisruptionBudget::disruptions_allowed).and_then(Node::as_int).unwrap_or_default()
        });
        if pod.pod.is_unhealthy() && ignores_unready_pods(budget) {
            EvictionAnswer::Evicted
        } else if *left > 0 {
            *left -= 1;
            EvictionAnswer::Evicted
        } else {
            EvictionAnswer::Refused
        }
    }
}

/// Whether a pod that is not ready can always go: the policy says so, or enough other pods are healthy.
pub(super) fn ignores_unready_pods(budget: Object<'_>) -> bool {
    let view = PodDisruptionBudget::of(budget);
    let policy = view.and_then(PodDisruptionBudget::unhealthy_pod_eviction_policy).and_then(Node::as_str);
    let number = |field: &str| budget.at(&["status", field]).and_then(Node::as_int).unwrap_or_default();
    let desired = number("desiredHealthy");
    policy == Some("AlwaysAllow") || (desired > 0 && number("currentHealthy") >= desired)
}
