//! Places for the pods of nodes that go.
//!
//! Source: `SimulateScheduling` in pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::{BTreeMap, BTreeSet};

use ids::IdVec;
use scheduling::simulation::{NewNode, Placement, PodId, RoundInput, RoundPod, SimulatedPod};

use crate::candidate::Candidate;
use crate::cluster::{ClusterPod, StateNode};
use crate::engine::Engine;
use crate::event::Recorder;

/// Largest number of pods that a message names.
const MAX_NAMED: usize = 5;

/// Purpose of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Drift.
    Drift,
    /// Consolidation: nodes whose `consolidateAfter` is not over take no pods of the candidates.
    Consolidation,
}

/// An error of Karpenter that stops a method without an event: no NodePool takes pods, or the price of a candidate is
/// unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault;

/// Result of a simulation.
pub(crate) struct Simulated<'s> {
    /// The pods with their places.
    pub(crate) pods: IdVec<PodId, SimulatedPod<'s>>,
    /// The new nodes.
    pub(crate) nodes: Vec<NewNode<'s>>,
    /// Karpenter's message if a pod that has a node would not be placed.
    pub(crate) failure: Option<String>,
    /// Whether a pod of a candidate would be placed on a node that has not started completely, which is one of the failures.
    pub(crate) meets_starting: bool,
}

/// Origin of a pod of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Pending,
    /// The node of the pod went.
    Homeless,
    Candidate,
    Going,
}

impl Origin {
    /// Whether the pod has no node.
    fn waits(self) -> bool {
        matches!(self, Self::Pending | Self::Homeless)
    }
}

/// Notes that it is unknown where the pods of candidates would go.
fn undecided<'s>(candidates: &[&Candidate<'_, 's, '_>], recorder: &mut Recorder) -> Option<Simulated<'s>> {
    recorder.undecided.extend(candidates.iter().map(|candidate| candidate.name().to_owned()));
    None
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    /// Simulates that candidates go; `None` if one of them is going already, or if the simulation, or all simulations together, take too
    /// much work, which the recorder notes.
    pub(crate) fn simulate(
        &self,
        candidates: &[&Candidate<'e, 's, 'o>],
        purpose: Purpose,
        recorder: &mut Recorder,
    ) -> Result<Option<Simulated<'s>>, Fault> {
        if candidates.iter().any(|candidate| candidate.node.is_going()) {
            return Ok(None);
        }
        // Pods without a node do not need Karpenter for a place on an existing node.
        if !candidates.is_empty() && !self.rounds.has_used_pools() {
            return Err(Fault);
        }
        if !candidates.is_empty() && self.rounds.is_over() {
            return Ok(undecided(candidates, recorder));
        }
        let going = &self.special.going;
        let mut batch: Vec<(ClusterPod<'o>, Origin)> =
            self.state.pending.iter().map(|pod| (*pod, Origin::Pending)).collect();
        batch.extend(self.state.homeless.iter().map(|pod| (*pod, Origin::Homeless)));
        for candidate in candidates {
            batch.extend(self.movable(candidate.node).map(|pod| (pod, Origin::Candidate)));
        }
        for node in going {
            batch.extend(self.movable(node).map(|pod| (pod, Origin::Going)));
        }
        // The UIDs decide about pods that are otherwise equal. Without UIDs the order of the batch does.
        batch.sort_by_cached_key(|(pod, origin)| (pod.uid(), !origin.waits(), pod.id()));
        let absent = going.iter().map(|node| node.name()).chain(candidates.iter().map(|one| one.name()));
        let absent: BTreeSet<&str> = absent.collect();
        let input = RoundInput {
            pods: batch.iter().map(|(pod, origin)| round_pod(*pod, *origin)).collect(),
            waiting: self.waiting(purpose),
            absent: absent.into_iter().collect(),
            explains: self.explains,
            on_nodes: candidates.is_empty(),
        };
        let round = self.rounds.round(&input);
        // A pod that was not tried may need a node more, or may take the place of a pod that has one.
        if !candidates.is_empty() && has_untried(&round.pods) {
            return Ok(undecided(candidates, recorder));
        }
        let failure = self.failure(&round.pods, &batch);
        let placed = round.pods.iter().zip(&batch);
        let meets_starting = |(pod, (_, origin)): (&SimulatedPod<'s>, &(_, Origin))| {
            *origin == Origin::Candidate && self.starting(&pod.placement).is_some()
        };
        let meets_starting = placed.into_iter().any(meets_starting);
        Ok(Some(Simulated {
            pods: round.pods,
            nodes: round.nodes.into_iter().collect(),
            failure,
            meets_starting,
        }))
    }

    /// The pods of a node that need a place elsewhere and can leave.
    fn movable(&self, node: &'e StateNode<'o>) -> impl Iterator<Item = ClusterPod<'o>> {
        let (now, release) = (self.settings.now, self.settings.release());
        let budgets = &self.state.pod_budgets;
        node.pods.iter().copied().filter(move |pod| budgets.is_movable(*pod, now, release))
    }

    /// The nodes that take no pods of candidates, because their own `consolidateAfter` is not over.
    fn waiting(&self, purpose: Purpose) -> BTreeSet<&'s str> {
        match purpose {
            Purpose::Drift => BTreeSet::new(),
            Purpose::Consolidation => self.special.waiting.iter().copied().collect(),
        }
    }

    /// The error about a pod on a node that has not started completely.
    fn starting(&self, placement: &Placement<'s>) -> Option<String> {
        match placement {
            Placement::Existing(node) => self.state.node(node.name()).and_then(uninitialized),
            Placement::Added(name) => (!self.state.is_initialized(name))
                .then(|| format!("would schedule against uninitialized nodeclaim/{name}")),
            _ => None,
        }
    }

    /// The message about pods without a place (`NonPendingPodSchedulingErrors`). Pods that wait anyway do not count.
    fn failure(
        &self,
        pods: &IdVec<PodId, SimulatedPod<'s>>,
        batch: &[(ClusterPod<'o>, Origin)],
    ) -> Option<String> {
        let mut failures = Vec::new();
        for (placed, (pod, origin)) in pods.iter().zip(batch) {
            let error = match &placed.placement {
                _ if origin.waits() => None,
                Placement::Unplaced(unplaced) => Some(unplaced.message.clone()),
                placement if *origin == Origin::Candidate => self.starting(placement),
                _ => None,
            };
            failures.extend(error.map(|error| format!("{} => {error} ", pod.full_name())));
        }
        let more = failures.len().saturating_sub(MAX_NAMED);
        let others = if failures.len() < MAX_NAMED { String::new() } else { format!(" and {more} other(s)") };
        let named: String = failures.iter().take(MAX_NAMED).map(String::as_str).collect();
        (!failures.is_empty()).then(|| format!("not all pods would schedule, {named}{others}"))
    }
}

fn round_pod<'s, 'o: 's>(pod: ClusterPod<'o>, origin: Origin) -> RoundPod<'s> {
    RoundPod {
        object: pod.object(),
        is_moved: origin != Origin::Pending,
        avoids_waiting: origin == Origin::Candidate && !pod.is_pending(),
    }
}

/// The error about a pod that would go to a node that has not started completely.
fn uninitialized(node: &StateNode<'_>) -> Option<String> {
    if node.is_initialized() {
        return None;
    }
    let claim = node.claim.map(|claim| format!("nodeclaim/{}", claim.object().name()));
    let own = node.node.map(|node| format!("node/{}", node.name()));
    let names: Vec<String> = claim.into_iter().chain(own).collect();
    Some(format!("would schedule against uninitialized {}", names.join(", ")))
}

/// Whether a simulation ended before it tried every pod, because it takes too much work.
pub(crate) fn has_untried(pods: &IdVec<PodId, SimulatedPod<'_>>) -> bool {
    pods.iter().any(|pod| matches!(pod.placement, Placement::Untried))
}

/// The pods on existing nodes, by node.
pub(crate) fn pods_on_nodes(pods: &IdVec<PodId, SimulatedPod<'_>>) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in pods {
        if let Some(node) = existing(&pod.placement) {
            all.entry(node.to_owned()).or_default().push(full_name(pod));
        }
    }
    all
}

/// The name of the existing node on which a pod is.
pub(crate) fn existing<'d>(placement: &Placement<'d>) -> Option<&'d str> {
    match placement {
        Placement::Existing(node) => Some(node.name()),
        Placement::Added(name) => Some(name),
        _ => None,
    }
}

/// `namespace/name` of a pod.
pub(crate) fn full_name(pod: &SimulatedPod<'_>) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}
