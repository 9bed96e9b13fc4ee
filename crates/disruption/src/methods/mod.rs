//! The methods of disruption.
//!
//! Source: pkg/controllers/disruption/controller.go of kubernetes-sigs/karpenter at v1.14.1, and at v1.4.1 for the order.

mod consolidation;
mod drift;
mod emptiness;
mod fit;
mod multi_node;
mod single_node;
mod static_drift;

use karpenter::release::Release;

pub use fit::Unfit;
pub use single_node::Alone;
pub(crate) use static_drift::StaticObstacle;

use crate::allowance::DisruptionReason;
use crate::balanced::Scores;
use crate::behaviour::Behaviour;
use crate::candidate::{Candidate, DisruptionClass};
use crate::draft::Draft;
use crate::engine::{Engine, Totals};
use crate::event::Recorder;
use crate::quota::Quota;

/// Method of disruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum Method {
    /// Deletes empty nodes.
    Emptiness,
    /// Replaces drifted nodes of static NodePools one by one.
    StaticDrift,
    /// Replaces a drifted node.
    Drift,
    /// Deletes several nodes, or replaces them by one.
    MultiNodeConsolidation,
    /// Deletes a node, or replaces it by a cheaper one.
    SingleNodeConsolidation,
}

impl Method {
    /// The methods of a release in the order in which they are tried. The first one with a command acts.
    pub fn of_release(release: Release) -> Vec<Self> {
        let consolidation = [Self::MultiNodeConsolidation, Self::SingleNodeConsolidation];
        let first = if Behaviour::STATIC_POOLS.holds_in(release) {
            vec![Self::Emptiness, Self::StaticDrift, Self::Drift]
        } else if Behaviour::EMPTINESS_FIRST.holds_in(release) {
            vec![Self::Emptiness, Self::Drift]
        } else {
            vec![Self::Drift, Self::Emptiness]
        };
        first.into_iter().chain(consolidation).collect()
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emptiness => "Emptiness",
            Self::StaticDrift => "StaticDrift",
            Self::Drift => "Drift",
            Self::MultiNodeConsolidation => "MultiNodeConsolidation",
            Self::SingleNodeConsolidation => "SingleNodeConsolidation",
        }
    }

    /// The reason that budgets limit.
    pub const fn reason(self) -> DisruptionReason {
        match self {
            Self::Emptiness => DisruptionReason::Empty,
            Self::StaticDrift | Self::Drift => DisruptionReason::Drifted,
            Self::MultiNodeConsolidation | Self::SingleNodeConsolidation => DisruptionReason::Underutilized,
        }
    }

    /// The respect of the method for pods.
    pub const fn class(self) -> DisruptionClass {
        match self {
            Self::StaticDrift | Self::Drift => DisruptionClass::Eventual,
            _ => DisruptionClass::Graceful,
        }
    }
}

/// The state of a method while it computes.
pub(crate) struct Pass<'o> {
    /// The nodes that the budgets leave.
    pub(crate) quota: Quota<'o>,
    /// The totals of the NodePools.
    pub(crate) totals: Totals<'o>,
    /// The events.
    pub(crate) recorder: Recorder,
    /// The number of candidates that were not looked at.
    pub(crate) unevaluated: usize,
    /// Whether a candidate of drift was skipped because a pod would go to a node that has not started completely.
    pub(crate) meets_starting: bool,
}

impl<'o> Pass<'o> {
    /// A method that starts to compute.
    pub(crate) fn new(quota: Quota<'o>, totals: Totals<'o>) -> Self {
        Self { quota, totals, recorder: Recorder::default(), unevaluated: 0, meets_starting: false }
    }

    /// Whether the budget of a candidate's NodePool allows nothing more.
    fn is_exhausted(&self, candidate: &Candidate<'_, '_, '_>) -> bool {
        self.quota.get(candidate.pool_name()).copied().unwrap_or_default() == 0
    }

    /// Takes a candidate from the budget of its NodePool; `false` if nothing is left.
    fn take(&mut self, candidate: &Candidate<'_, '_, '_>) -> bool {
        match self.quota.get_mut(candidate.pool_name()).filter(|left| **left != 0) {
            Some(left) => {
                *left -= 1;
                true
            }
            None => false,
        }
    }
}

/// A command before its validation.
pub(crate) struct Proposal<'e, 's, 'o> {
    /// The command.
    pub(crate) draft: Draft<'e, 's, 'o>,
    /// The scores, of several nodes only.
    pub(crate) scores: Scores<'o>,
}

impl<'e, 's, 'o> From<Draft<'e, 's, 'o>> for Proposal<'e, 's, 'o> {
    fn from(draft: Draft<'e, 's, 'o>) -> Self {
        Self { draft, scores: Scores::new() }
    }
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// The candidates of a method, and the totals of the NodePools of all candidates of its class.
    pub(crate) fn candidates(
        &self,
        method: Method,
        recorder: &mut Recorder,
    ) -> (Vec<Candidate<'e, 's, 'o>>, Totals<'o>) {
        let release = self.settings.release();
        let nodes = self.state.nodes.iter();
        let all: Vec<Candidate<'e, 's, 'o>> =
            nodes.filter_map(|node| self.candidate(node, method.class(), recorder).ok()).collect();
        let totals = self.totals(&all);
        let fitting = all.into_iter().filter(|candidate| match fit::check(method, candidate, release) {
            Ok(()) => true,
            Err(unfit) => {
                if let Some(message) = unfit.message(release) {
                    recorder.unconsolidatable(candidate.node, message);
                }
                false
            }
        });
        (fitting.collect(), totals)
    }

    /// Checks whether a method considers a candidate.
    pub(crate) fn check(&self, method: Method, candidate: &Candidate<'e, 's, 'o>) -> Result<(), Unfit<'o>> {
        fit::check(method, candidate, self.settings.release())
    }

    /// The commands of a method, before their validation.
    pub(crate) fn propose(
        &self,
        method: Method,
        candidates: Vec<Candidate<'e, 's, 'o>>,
        pass: &mut Pass<'o>,
    ) -> Vec<Proposal<'e, 's, 'o>> {
        match method {
            Method::Emptiness => self.emptiness(candidates, pass).into_iter().map(Proposal::from).collect(),
            Method::StaticDrift => {
                self.static_drift(&candidates, pass).into_iter().map(Proposal::from).collect()
            }
            Method::Drift => self.drift(candidates, pass).into_iter().map(Proposal::from).collect(),
            Method::MultiNodeConsolidation => self.multi_node(candidates, pass).into_iter().collect(),
            Method::SingleNodeConsolidation => {
                self.single_node(candidates, pass).into_iter().map(Proposal::from).collect()
            }
        }
    }

    /// Sorts candidates in the order of consolidation. Karpenter's order of equal ones is the order of a Go map, which is random;
    /// here it is the order of the input. A map of few nodes mostly keeps the order in which the nodes joined.
    fn sort(&self, candidates: &mut [Candidate<'e, 's, 'o>]) {
        candidates.sort_by_key(|candidate| candidate.node.position);
        if Behaviour::SAVINGS_RATIO.holds_in(self.settings.release()) {
            candidates.sort_by(|one, other| other.savings_ratio().total_cmp(&one.savings_ratio()));
        } else {
            candidates.sort_by(|one, other| one.disruption_cost.total_cmp(&other.disruption_cost));
        }
    }
}
