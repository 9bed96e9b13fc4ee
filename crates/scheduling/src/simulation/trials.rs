//! Simulations of the changes that may place a pod. Only a change that does is a remedy.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Simulation;
use super::pods::PendingPods;
use super::reason::{PoolReason, ReasonKind};
use super::refine::ReasonDetail;
use super::remedy::{ProposedChange, Remedy};
use super::result::{Placement, SimulatedPod, SimulationResult, Unplaced};
use super::shape::PodShape;
use super::work::{PART_OF_REASONS, Work};
use super::world::Base;

/// Largest number of changes that are simulated in a run.
const MAX_TRIALS: usize = 32;

/// Largest number of changes that are simulated for equal pods, so that the pods after them get their turn.
const MAX_TRIALS_OF_SHAPE: usize = 8;

/// The remedies of each reason of a pod.
type Remedies<'d> = Vec<Vec<Vec<Remedy<'d>>>>;

/// Adds the remedies to the reasons of the pods without a place. Each simulation costs about as much as the first, so that the work
/// that is left for reasons bounds their number.
pub(super) fn add_remedies<'s>(
    simulation: &'s Simulation<'_>,
    base: &Base<'s>,
    pending: &PendingPods<'s>,
    result: &mut SimulationResult<'s>,
) {
    // Rounds without a bound of their number leave nothing to wait for.
    let ends_early = simulation.0.settings.rounds.is_some();
    let explanation = if ends_early { ReasonDetail::Messages } else { ReasonDetail::None };
    let work = Work::of_steps(simulation.work().left() / PART_OF_REASONS);
    let mut trials = MAX_TRIALS;
    let mut by_shape: BTreeMap<Rc<PodShape<'s>>, Remedies<'s>> = BTreeMap::new();
    let all: Vec<&SimulatedPod<'s>> = result.pods.iter().collect();
    for unplaced in all.iter().filter_map(|pod| unplaced(pod)) {
        if trials == 0 || work.is_over() {
            break;
        }
        let Some(shape) = unplaced.shape.as_ref().filter(|shape| !by_shape.contains_key(*shape)) else {
            continue;
        };
        let mut of_shape = MAX_TRIALS_OF_SHAPE.min(trials);
        let mut helps = |proposal: &Vec<Remedy<'s>>| {
            if of_shape == 0 || work.is_over() {
                return false;
            }
            of_shape -= 1;
            trials -= 1;
            let change = ProposedChange { shape: Rc::clone(shape), remedies: proposal.clone() };
            let pods = pending.changed(&change, &base.names);
            let cluster = base.changed(&change, &work);
            let left = Work::of_steps(work.left());
            let changed = simulation.place(cluster, pods, explanation, left);
            work.count(usize::try_from(changed.steps).unwrap_or(usize::MAX));
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
    result.steps_of_reasons += work.done();
    share(result, &by_shape);
}

/// Adds the remedies to the reasons. Pods that share their reasons still share them.
fn share<'s>(result: &mut SimulationResult<'s>, by_shape: &BTreeMap<Rc<PodShape<'s>>, Remedies<'s>>) {
    let mut last: Option<(Rc<Unplaced<'s>>, Rc<Unplaced<'s>>)> = None;
    for pod in &mut result.pods {
        let Placement::Unplaced(unplaced) = &mut pod.placement else { continue };
        if let Some((_, changed)) = last.as_ref().filter(|(before, _)| Rc::ptr_eq(before, unplaced)) {
            *unplaced = Rc::clone(changed);
            continue;
        }
        let Some(remedies) = unplaced.shape.as_ref().and_then(|shape| by_shape.get(shape)) else { continue };
        let before = Rc::clone(unplaced);
        for (reason, remedies) in Rc::make_mut(unplaced).reasons.iter_mut().zip(remedies) {
            reason.remedies.clone_from(remedies);
        }
        last = Some((before, Rc::clone(unplaced)));
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
