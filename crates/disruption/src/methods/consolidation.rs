//! Consolidation of some nodes: delete them, or replace them by one cheaper node.
//!
//! Source: `computeConsolidation` and `computeSpotToSpotConsolidation` in pkg/controllers/disruption/consolidation.go of
//! kubernetes-sigs/karpenter at v1.14.1, v1.9.1, v1.8.2 and v1.4.1.

use karpenter::release::Release;
use scheduling::simulation::NewNode;

use crate::behaviour::Behaviour;
use crate::blocker::sentence;
use crate::candidate::{Candidate, source_cost};
use crate::draft::Draft;
use crate::engine::Engine;
use crate::event::Recorder;
use crate::simulate::{Fault, Purpose};

/// The number of cheaper instance types that a spot node needs to be replaced by another.
const SPOT_TYPES: usize = 15;

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// The command for some candidates, if there is one. Of a single candidate, the reason is published otherwise.
    pub(super) fn consolidate(
        &self,
        candidates: &[&Candidate<'e, 's, 'o>],
        recorder: &mut Recorder,
    ) -> Result<Option<Draft<'e, 's, 'o>>, Fault> {
        let simulated = self.simulate(candidates, Purpose::Consolidation, recorder)?;
        let Some(simulated) = simulated else { return Ok(None) };
        let mut explain = |message: String| {
            if let [candidate] = candidates {
                recorder.unconsolidatable(candidate.node, message);
            }
            Ok(None)
        };
        if let Some(failure) = &simulated.failure {
            return explain(sentence(failure, self.settings.release()));
        }
        let mut draft = Draft::of(candidates, simulated);
        let count = draft.nodes.len();
        let [node] = draft.nodes.as_mut_slice() else {
            return match count {
                0 => Ok(Some(draft)),
                _ => explain(format!("Can't remove without creating {count} candidates")),
            };
        };
        let price = self.source_price(candidates)?;
        if let Err(problem) = self.keep_cheaper(node, candidates, price) {
            return explain(problem.message(self.settings.release()));
        }
        draft.announce(self.settings.release(), recorder);
        Ok(Some(draft))
    }

    /// The price of the candidates.
    fn source_price(&self, candidates: &[&Candidate<'e, 's, 'o>]) -> Result<f64, Fault> {
        let release = self.settings.release();
        let unknown = candidates.iter().find(|candidate| candidate.price.is_none());
        let is_error = unknown.is_some_and(|candidate| {
            !Behaviour::UNKNOWN_PRICE_IS_FREE.holds_in(release)
                && candidate.capacity_type() != Some("reserved")
        });
        let prices = candidates.iter().map(|candidate| candidate.price);
        if is_error { Err(Fault) } else { Ok(source_cost(prices, release)) }
    }

    /// Keeps the instance types of the new node that are cheaper than the candidates.
    fn keep_cheaper(
        &self,
        node: &mut NewNode<'s>,
        candidates: &[&Candidate<'e, 's, 'o>],
        price: f64,
    ) -> Result<(), NoReplacement<'s>> {
        let all_spot = candidates.iter().all(|candidate| candidate.capacity_type() == Some("spot"));
        let is_spot_to_spot = all_spot && node.accepts("spot");
        if is_spot_to_spot {
            if !self.settings.spot_to_spot {
                return Err(NoReplacement::SpotToSpotDisabled);
            }
            node.require_spot();
            node.keep_offered();
        }
        node.keep_cheaper(price).map_err(NoReplacement::BelowMinValues)?;
        if node.type_count() == 0 {
            return Err(NoReplacement::NothingCheaper);
        }
        if is_spot_to_spot && candidates.len() == 1 {
            return keep_flexible(node);
        }
        // The compared price is the spot price, so on-demand capacity must not be launched instead.
        if node.accepts("spot") && node.accepts("on-demand") {
            node.require_spot();
        }
        Ok(())
    }
}

/// Reason for which no cheaper node replaces candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NoReplacement<'s> {
    /// A spot node would replace spot nodes, and the gate is off.
    SpotToSpotDisabled,
    /// A spot node would replace a spot node, with this number of instance types.
    TooFewSpotTypes(usize),
    /// No instance type is cheaper.
    NothingCheaper,
    /// The cheaper instance types do not meet the `minValues` of these labels.
    BelowMinValues(Vec<&'s str>),
}

impl NoReplacement<'_> {
    /// Karpenter's message.
    fn message(&self, release: Release) -> String {
        match self {
            Self::SpotToSpotDisabled => {
                "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node".to_owned()
            }
            Self::TooFewSpotTypes(count) => format!(
                "SpotToSpotConsolidation requires {SPOT_TYPES} cheaper instance type options than the current candidate to \
                 consolidate, got {count}"
            ),
            Self::NothingCheaper => "Can't replace with a cheaper node".to_owned(),
            Self::BelowMinValues(labels) => below_min_values(labels, release),
        }
    }
}

/// Keeps the cheapest types of a spot node, so that the launched one is not replaced again at once.
fn keep_flexible<'s>(node: &mut NewNode<'_>) -> Result<(), NoReplacement<'s>> {
    let count = node.type_count();
    if count < SPOT_TYPES {
        return Err(NoReplacement::TooFewSpotTypes(count));
    }
    let needed = if node.has_min_values() { node.needed_for_min_values() } else { 0 };
    node.keep_first(needed.max(SPOT_TYPES));
    Ok(())
}

/// The message if `minValues` do not hold for the cheaper types.
fn below_min_values(labels: &[&str], release: Release) -> String {
    if Behaviour::STRUCTURED_MESSAGES.holds_in(release) {
        let labels = labels.join(" ");
        return format!(
            "Filtering by price: minValues requirement is not met for label(s) (label(s)=[{labels}])"
        );
    }
    let label = labels.first().copied().unwrap_or_default();
    format!("Filtering by price: minValues requirement is not met for \"{label}\"")
}
