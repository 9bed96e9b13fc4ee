//! Single-node consolidation: the first node that can be deleted or replaced.
//!
//! Source: pkg/controllers/disruption/singlenodeconsolidation.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use super::Pass;
use crate::balanced::{Score, scores};
use crate::behaviour::Behaviour;
use crate::candidate::Candidate;
use crate::command::Command;
use crate::draft::Draft;
use crate::engine::{Engine, Totals};
use crate::event::{Recorder, subject};
use crate::simulate::Fault;

/// Result of consolidation of a single node.
#[derive(Clone, Debug)]
pub enum Alone {
    /// It deletes or replaces the node.
    Possible(Command),
    /// The policy `Balanced` rejects the command.
    TooLittle(Command, Score),
    /// It does nothing, with Karpenter's message where there is one.
    Impossible(Option<String>),
    /// The simulation took too much work.
    Undecided,
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Deletes or replaces the first node for which that is possible. The NodePools take turns since 1.4.
    pub(super) fn single_node(
        &self,
        mut candidates: Vec<Candidate<'e, 's, 'o>>,
        pass: &mut Pass<'o>,
    ) -> Option<Draft<'e, 's, 'o>> {
        self.sort(&mut candidates);
        let take_turns = Behaviour::POOLS_TAKE_TURNS.holds_in(self.settings.release());
        let candidates = if take_turns { interleave(candidates) } else { candidates };
        let most = self.settings.max_single_nodes;
        let found = candidates.iter().take(most).find_map(|candidate| self.single(candidate, pass));
        if found.is_none() {
            pass.unevaluated = candidates.len().saturating_sub(most);
        }
        found
    }

    /// Consolidates a node alone, whatever budgets allow.
    pub(crate) fn alone(&self, candidate: &Candidate<'e, 's, 'o>, totals: &Totals<'o>) -> Alone {
        let mut recorder = Recorder::default();
        let draft = match self.consolidate(&[candidate], &mut recorder) {
            Ok(Some(draft)) => draft,
            Ok(None) if !recorder.undecided.is_empty() => return Alone::Undecided,
            Ok(None) => return Alone::Impossible(recorder.events.pop().map(|event| event.message)),
            Err(Fault) => return Alone::Impossible(None),
        };
        let score = scores(&draft, totals, self.settings.release()).into_values().next();
        match score.filter(|score| !score.is_enough()) {
            Some(score) => Alone::TooLittle(draft.finish(), score),
            None => Alone::Possible(draft.finish()),
        }
    }

    fn single(&self, candidate: &Candidate<'e, 's, 'o>, pass: &mut Pass<'o>) -> Option<Draft<'e, 's, 'o>> {
        let is_skipped = pass.is_exhausted(candidate)
            || candidate.is_empty(self.settings.release())
            || !candidate.can_be_approved(&pass.totals);
        if is_skipped {
            return None;
        }
        let draft = self.consolidate(&[candidate], &mut pass.recorder).ok()??;
        let scores = scores(&draft, &pass.totals, self.settings.release());
        for score in scores.values().filter(|score| score.is_enough()) {
            pass.recorder.approved(subject(candidate.node), score.text());
        }
        scores.values().all(|score| score.is_enough()).then_some(draft)
    }
}

/// The candidates such that NodePools take turns. Karpenter's order of NodePools is random; here it is by name.
fn interleave<'e, 's, 'o>(candidates: Vec<Candidate<'e, 's, 'o>>) -> Vec<Candidate<'e, 's, 'o>> {
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbered: Vec<(usize, Candidate<'e, 's, 'o>)> = Vec::new();
    for candidate in candidates {
        let turn = turns.entry(candidate.pool_name()).or_default();
        numbered.push((*turn, candidate));
        *turn += 1;
    }
    numbered.sort_by(|(turn, one), (other_turn, other)| {
        turn.cmp(other_turn).then_with(|| one.pool_name().cmp(other.pool_name()))
    });
    numbered.into_iter().map(|(_, candidate)| candidate).collect()
}
