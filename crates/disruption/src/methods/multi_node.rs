//! Multi-node consolidation: the most nodes that can be deleted together or replaced by one.
//!
//! Source: pkg/controllers/disruption/multinodeconsolidation.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::Release;
use scheduling::simulation::NewNode;

use super::{Pass, Proposal};
use crate::balanced::{Scores, scores};
use crate::candidate::Candidate;
use crate::command::Decision;
use crate::draft::Draft;
use crate::engine::Engine;

/// Largest index of a candidate that the search looks at.
const MAX_CANDIDATES: usize = 100;

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Searches for the number of candidates, in their order, that can go together.
    pub(super) fn multi_node(
        &self,
        mut candidates: Vec<Candidate<'e, 's, 'o>>,
        pass: &mut Pass<'o>,
    ) -> Option<Proposal<'e, 's, 'o>> {
        let release = self.settings.release();
        self.sort(&mut candidates);
        // An empty node does not use up the budget.
        candidates.retain(|candidate| {
            !pass.is_exhausted(candidate) && !candidate.is_empty(release) && pass.take(candidate)
        });
        if candidates.len() < 2 {
            return None;
        }
        let (mut least, mut most) = (1, (candidates.len() - 1).min(MAX_CANDIDATES));
        let mut found = None;
        while least <= most {
            let middle = least.midpoint(most);
            let chosen: Vec<&Candidate<'e, 's, 'o>> = candidates.iter().take(middle + 1).collect();
            // An error stops the method.
            let draft = self.consolidate(&chosen, &mut pass.recorder).ok()?;
            match draft.and_then(|draft| accept(draft, pass, release)) {
                Some(proposal) => {
                    found = Some(proposal);
                    least = middle + 1;
                }
                None => most = middle - 1,
            }
        }
        found
    }
}

/// Returns the command if its replacement differs from the nodes that go, and if it saves enough.
fn accept<'e, 's, 'o>(
    mut draft: Draft<'e, 's, 'o>,
    pass: &Pass<'o>,
    release: Release,
) -> Option<Proposal<'e, 's, 'o>> {
    if draft.decision() == Decision::Replace {
        let prices = prices(&draft.candidates);
        let node = draft.nodes.first_mut()?;
        let limit = same_type_limit(node, &prices);
        node.keep_cheaper(limit).ok()?;
        (node.type_count() > 0).then_some(())?;
    }
    let scores: Scores<'o> = scores(&draft, &pass.totals, release);
    scores.values().all(|score| score.is_enough()).then_some(Proposal { draft, scores })
}

/// The lowest price of the candidates by instance type. A type without a known price counts as free.
fn prices<'o>(candidates: &[Candidate<'_, '_, 'o>]) -> BTreeMap<&'o str, f64> {
    let mut known: BTreeMap<&str, f64> = BTreeMap::new();
    for candidate in candidates {
        if let Some(price) = candidate.price_by_labels {
            let lowest = known.entry(candidate.instance_type()).or_insert(price);
            *lowest = lowest.min(price);
        }
    }
    for candidate in candidates {
        known.entry(candidate.instance_type()).or_default();
    }
    known
}

/// The price below which a replacement differs from the nodes that go (`filterOutSameInstanceType`).
fn same_type_limit(node: &NewNode<'_>, prices: &BTreeMap<&str, f64>) -> f64 {
    let types: BTreeSet<&str> = node.type_names().collect();
    let shared = prices.iter().filter(|(name, _)| types.contains(*name));
    shared.map(|(_, price)| *price).fold(f64::MAX, f64::min)
}
