//! The policy `Balanced`: a move must save enough for the disruption that it causes.
//!
//! Source: pkg/controllers/disruption/balanced.go and pkg/state/cost/cost.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use karpenter::labels;
use karpenter::release::Release;

use crate::candidate::Candidate;
use crate::cluster::{INSTANCE_TYPE, StateNode, ZONE, consolidation_policy};
use crate::draft::Draft;
use crate::engine::{Engine, PoolTotals, Totals};

/// Part of the savings of a NodePool that a move must have at least, for each part of its disruption: 1/k with k = 2.
const THRESHOLD: f64 = 0.5;

/// Score of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Savings as a part of the cost of the NodePool.
    pub savings: f64,
    /// Disruption as a part of the disruption of the NodePool.
    pub disruption: f64,
}

impl Score {
    /// The score of a move in a NodePool (`ScoreMove`).
    fn new(savings: f64, disruption: f64, totals: PoolTotals) -> Self {
        if totals.cost <= 0.0 || totals.disruption <= 0.0 {
            return Self::default();
        }
        Self { savings: savings / totals.cost, disruption: disruption / totals.disruption }
    }

    /// Savings for each part of the disruption.
    pub fn value(self) -> f64 {
        if self.savings <= 0.0 {
            0.0
        } else if self.disruption == 0.0 {
            f64::INFINITY
        } else {
            self.savings / self.disruption
        }
    }

    /// Whether the move saves enough.
    pub fn is_enough(self) -> bool {
        self.value() >= THRESHOLD
    }

    /// The message of the event.
    pub(crate) fn text(self) -> String {
        format!(
            "score {:.2} >= threshold {THRESHOLD:.2} (k: 2, savings {:.1}%, disruption {:.1}%)",
            self.value(),
            self.savings * 100.0,
            self.disruption * 100.0
        )
    }
}

/// The scores of a command, by NodePool. Only NodePools with the policy have one.
pub(crate) type Scores<'o> = BTreeMap<&'o str, Score>;

impl<'o> Candidate<'_, '_, 'o> {
    fn is_balanced(&self) -> bool {
        consolidation_policy(self.view) == "Balanced"
    }

    /// Whether a command could be approved at all: deleting the node without a replacement saves most (`CanPassThreshold`).
    pub(crate) fn can_be_approved(&self, totals: &Totals<'o>) -> bool {
        if !self.is_balanced() {
            return true;
        }
        let of_pool = totals.get(self.pool_name()).filter(|totals| totals.cost > 0.0);
        of_pool.is_none_or(|of_pool| {
            Score::new(self.price_or_zero(), self.reschedule_cost, *of_pool).is_enough()
        })
    }
}

/// The scores of a command (`EvaluateBalancedMove`).
pub(crate) fn scores<'o>(draft: &Draft<'_, '_, 'o>, totals: &Totals<'o>, release: Release) -> Scores<'o> {
    let mut by_pool: BTreeMap<&str, Vec<&Candidate<'_, '_, 'o>>> = BTreeMap::new();
    for candidate in &draft.candidates {
        by_pool.entry(candidate.pool_name()).or_default().push(candidate);
    }
    let (savings, cost) = (draft.estimated_savings(release), draft.source_cost(release));
    let several = by_pool.len() > 1;
    let balanced = by_pool.iter().filter(|(_, candidates)| candidates.iter().any(|one| one.is_balanced()));
    let scored = balanced.map(|(pool, candidates)| {
        let own: f64 = candidates.iter().map(|candidate| candidate.price_or_zero()).sum();
        let disruption = candidates.iter().map(|candidate| candidate.reschedule_cost).sum();
        let share = if cost > 0.0 && several { savings * (own / cost) } else { savings };
        (*pool, Score::new(share, disruption, totals.get(pool).copied().unwrap_or_default()))
    });
    scored.collect()
}

impl<'o> Engine<'_, '_, 'o> {
    /// The totals of the NodePools of candidates (`computeNodePoolTotals`).
    pub(crate) fn totals(&self, candidates: &[Candidate<'_, '_, 'o>]) -> Totals<'o> {
        let mut all = Totals::new();
        let known: BTreeMap<&str, f64> =
            candidates.iter().map(|candidate| (candidate.name(), candidate.reschedule_cost)).collect();
        for candidate in candidates {
            all.entry(candidate.pool_name()).or_default().cost += candidate.price_or_zero();
        }
        let mut claims: BTreeMap<&str, f64> = BTreeMap::new();
        for node in &self.state.nodes {
            if let Some(totals) = all.get_mut(node.pool()) {
                let own = known.get(node.name()).copied();
                totals.disruption += own.unwrap_or_else(|| disruption_of_other(node));
                *claims.entry(node.pool()).or_default() += self.claim_price(node);
            }
        }
        for (pool, cost) in claims {
            if let Some(totals) = all.get_mut(pool).filter(|_| cost > 0.0) {
                totals.cost = cost;
            }
        }
        all
    }

    /// The price of a NodeClaim, by its own labels.
    fn claim_price(&self, node: &StateNode<'o>) -> f64 {
        let Some(claim) = node.claim else { return 0.0 };
        let label = |key: &str| claim.object().metadata().label(key)?.as_str();
        let is_of_pool = label(labels::NODEPOOL) == Some(node.pool());
        let price = || {
            let pool = self.rounds.pool(node.pool())?;
            pool.price(label(INSTANCE_TYPE)?, label(ZONE)?, label(labels::CAPACITY_TYPE)?)
        };
        price().filter(|_| is_of_pool).unwrap_or_default()
    }
}

/// The disruption of a node that is no candidate: the evictions of all pods that are no daemons and have not ended.
fn disruption_of_other(node: &StateNode<'_>) -> f64 {
    let pods = node.pods.iter().filter(|pod| !pod.is_daemon() && !pod.is_terminal());
    pods.map(|pod| pod.eviction_cost().max(0.0)).fold(1.0, |sum, cost| sum + cost)
}
