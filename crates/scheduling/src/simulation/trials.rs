//! Simulations of the changes that may place a pod. Only a change that does is a remedy.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Simulation;
use super::reason::{PoolReason, ReasonKind};
use super::remedy::{ProposedChange, Remedy};
use super::result::{Placement, SimulatedPod, SimulationResult, Unplaced};
use super::shape::PodShape;

/// Largest number of changes that are simulated in a run.
const MAX_TRIALS: usize = 32;

/// Number of changes that are simulated in a run with any number of pods.
const MIN_TRIALS: usize = 3;

/// Largest number of changes that are simulated for equal pods, so that the pods after them get their turn.
const MAX_TRIALS_OF_SHAPE: usize = 8;

/// Largest number of pods in these simulations together, beyond [`MIN_TRIALS`]. Each simulation costs about as much as the first.
const MAX_TRIED_PODS: usize = 4_000;

/// The remedies of each reason of a pod.
type Remedies<'d> = Vec<Vec<Vec<Remedy<'d>>>>;

/// Adds the remedies to the reasons of the pods without a place.
pub(super) fn add_remedies<'s>(simulation: &'s Simulation<'_>, result: &mut SimulationResult<'s>) {
    let size = result.pods.len().max(1);
    // Rounds without a bound of their number leave nothing to wait for.
    let ends_early = simulation.0.settings.rounds.is_some();
    let mut trials = (MAX_TRIED_PODS / size).clamp(MIN_TRIALS, MAX_TRIALS);
    let mut by_shape: BTreeMap<Rc<PodShape<'s>>, Remedies<'s>> = BTreeMap::new();
    let all: Vec<&SimulatedPod<'s>> = result.pods.iter().collect();
    for unplaced in all.iter().filter_map(|pod| unplaced(pod)) {
        let Some(shape) = unplaced.shape.as_ref().filter(|shape| !by_shape.contains_key(*shape)) else {
            continue;
        };
        let mut of_shape = MAX_TRIALS_OF_SHAPE.min(trials);
        let mut helps = |proposal: &Vec<Remedy<'s>>| {
            if of_shape == 0 {
                return false;
            }
            of_shape -= 1;
            trials -= 1;
            let change = ProposedChange { shape: Rc::clone(shape), remedies: proposal.clone() };
            let changed = simulation.place(Some(&change), false);
            let pairs = || all.iter().zip(&changed.pods);
            let loses = |(before, after): (&&SimulatedPod<'s>, &SimulatedPod<'s>)| {
                is_placed(before) && !is_placed(after)
            };
            let group: Vec<&SimulatedPod<'s>> =
                pairs().filter(|(before, _)| has_shape(before, shape)).map(|(_, after)| after).collect();
            !pairs().any(loses)
                && group.iter().any(|pod| is_placed(pod))
                && group.iter().all(|pod| is_placed(pod) || (ends_early && waits_for_a_round(pod)))
        };
        let mut of_reason = |reason: &PoolReason<'s>| -> Vec<Vec<Remedy<'s>>> {
            reason.proposals.iter().filter(|proposal| helps(proposal)).cloned().collect()
        };
        let remedies = unplaced.reasons.iter().map(&mut of_reason).collect();
        by_shape.insert(Rc::clone(shape), remedies);
    }
    for pod in &mut result.pods {
        let Placement::Unplaced(unplaced) = &mut pod.placement else { continue };
        let Some(remedies) = unplaced.shape.as_ref().and_then(|shape| by_shape.get(shape)) else { continue };
        for (reason, remedies) in unplaced.reasons.iter_mut().zip(remedies) {
            reason.remedies.clone_from(remedies);
        }
    }
}

fn unplaced<'r, 's>(pod: &'r SimulatedPod<'s>) -> Option<&'r Unplaced<'s>> {
    if let Placement::Unplaced(unplaced) = &pod.placement { Some(unplaced) } else { None }
}

fn is_placed(pod: &SimulatedPod<'_>) -> bool {
    matches!(pod.placement, Placement::New(_) | Placement::Existing(_))
}

/// Whether a NodePool may take the pod in a later round of the provisioner, when the nodes of this one have joined: a round counts limits,
/// capacity reservations and zones pessimistically.
fn waits_for_a_round(pod: &SimulatedPod<'_>) -> bool {
    let is_of_round = |reason: &PoolReason<'_>| {
        matches!(reason.kind, ReasonKind::Topology | ReasonKind::Limits | ReasonKind::Reservation)
    };
    unplaced(pod).is_some_and(|unplaced| unplaced.reasons.iter().any(is_of_round))
}

fn has_shape(pod: &SimulatedPod<'_>, shape: &Rc<PodShape<'_>>) -> bool {
    unplaced(pod).and_then(|unplaced| unplaced.shape.as_ref()).is_some_and(|own| own == shape)
}
