//! Rounds of the provisioner until nothing changes. Before each round, kube-scheduler binds the pods that fit existing nodes.
//!
//! A round is pessimistic: of the limits of a NodePool it subtracts the largest instance type that a new node can have
//! (`subtractMax` in pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.14.1). The next round
//! starts when the nodes have joined with their cheapest instance type, and their pods run.

use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{Id, IdVec};

use super::behaviour::SchedulerBehaviour;
use super::binding;
use super::claim::Claim;
use super::launch::Launch;
use super::pods::{PendingPod, PendingPods, RunningPod, ShapeId};
use super::refine::{self, ReasonDetail};
use super::report::{self, Placements};
use super::resources::ResourceNames;
use super::result::{ClaimId, Placement, PodId, SimulatedClaim, SimulatedPod, SimulationResult};
use super::settings::SimulationSettings;
use super::shape::PodShape;
use super::solver::Solver;
use super::work::{PART_OF_REASONS, Work};
use super::workloads::InputPod;
use super::world::Base;

/// Largest number of rounds. Each round costs about as much as the first.
const MAX_ROUNDS: usize = 100;

/// State between the rounds.
pub(super) struct Rounds<'d> {
    base: Base<'d>,
    settings: &'d SimulationSettings,
    hosts: &'d [String],
    /// The pods that have no place, with their number in the input.
    waiting: Vec<(PodId, PendingPod<'d>)>,
    /// The shapes of all pods.
    shapes: IdVec<ShapeId, Rc<PodShape<'d>>>,
    /// The pods, as the last round left them.
    pods: BTreeMap<PodId, SimulatedPod<'d>>,
    /// The new nodes, in the order of their rounds.
    claims: Vec<SimulatedClaim<'d>>,
    /// The position of each new node among the existing nodes, if it joined.
    positions: Vec<Option<usize>>,
    /// The number of host names that new nodes had.
    next_host: usize,
    round: usize,
    work: Rc<Work>,
    work_of_reasons: Rc<Work>,
}

impl<'d> Rounds<'d> {
    /// The start: all pods wait.
    pub(super) fn new(
        base: Base<'d>,
        settings: &'d SimulationSettings,
        hosts: &'d [String],
        PendingPods { pods, shapes }: PendingPods<'d>,
        work: Work,
    ) -> Self {
        let steps = work.left() / PART_OF_REASONS;
        Self {
            base,
            settings,
            hosts,
            waiting: pods.ids().zip(pods).collect(),
            shapes,
            pods: BTreeMap::new(),
            claims: Vec::new(),
            positions: Vec::new(),
            next_host: 0,
            round: 0,
            work: Rc::new(work),
            work_of_reasons: Rc::new(Work::of_steps(steps)),
        }
    }

    /// Simulates the rounds. The last round explains the pods without a place.
    pub(super) fn run(mut self, explanation: ReasonDetail) -> SimulationResult<'d> {
        let most = self.settings.rounds.unwrap_or(MAX_ROUNDS).clamp(1, MAX_ROUNDS);
        while self.round < most {
            self.round += 1;
            let bound = if self.settings.binds { self.bind() } else { 0 };
            if self.work.is_over() {
                self.leave_out();
                break;
            }
            let placed = self.provision(bound, most, explanation);
            if self.waiting.is_empty() || bound + placed == 0 || self.work.is_over() {
                break;
            }
        }
        self.result()
    }

    /// Leaves out the pods that have no place: the work is over before they are tried.
    fn leave_out(&mut self) {
        for (id, pod) in std::mem::take(&mut self.waiting) {
            let InputPod { pod, namespace, name, leaves, .. } = pod.input;
            let placement = Placement::Untried;
            let pod =
                SimulatedPod { namespace, name, pod, leaves, placement, ignored_field: None, round: None };
            self.pods.insert(id, pod);
        }
    }

    /// Lets kube-scheduler bind the waiting pods that fit nodes of the cluster. Returns their number.
    fn bind(&mut self) -> usize {
        let has_node = self.base.nodes.iter().any(|one| one.node.origin.has_joined());
        if self.waiting.is_empty() || !has_node {
            return 0;
        }
        let pending = self.pending();
        let bound = binding::bind(&self.base, &pending, &self.work);
        let running = seats(&pending.pods, &pending.shapes);
        let waiting = std::mem::take(&mut self.waiting);
        for (((id, pod), seat), local) in waiting.into_iter().zip(running).zip(pending.pods.ids()) {
            let Some((at, one)) = bound.get(&local).and_then(|at| Some((*at, self.base.nodes.get(*at)?)))
            else {
                self.waiting.push((id, pod));
                continue;
            };
            let placement = report::place_on(one.node.origin);
            if let Placement::New(claim) = placement {
                self.add_to_claim(claim, id, Some(&seat));
            }
            let InputPod { pod, namespace, name, leaves, .. } = pod.input;
            let round = Some(self.round);
            self.pods.insert(
                id,
                SimulatedPod { namespace, name, pod, leaves, placement, ignored_field: None, round },
            );
            self.base.settle(at, seat);
        }
        bound.len()
    }

    /// The pods that have no place.
    fn pending(&self) -> PendingPods<'d> {
        let pods = self.waiting.iter().map(|(_, pod)| pod.clone()).collect();
        PendingPods { pods, shapes: self.shapes.clone() }
    }

    /// Simulates a round of the provisioner after a number of pods were bound. Returns the number of placed pods.
    fn provision(&mut self, bound: usize, most: usize, explanation: ReasonDetail) -> usize {
        let world = self.base.round(self.pending(), &self.base.absence, None, &self.work);
        // Each new node has a name that no other one had.
        let hosts = self.hosts.get(self.next_host..).filter(|left| left.len() >= self.waiting.len());
        let hosts = hosts.unwrap_or(self.hosts);
        let mut solver = Solver::new(world, self.settings, hosts, &self.work);
        solver.solve();
        if self.round == most || bound + solver.placed() == 0 || self.work.is_over() {
            refine::explain(&mut solver, explanation, &self.work_of_reasons);
        }
        self.next_host += solver.opened;
        let goes_on = self.settings.rounds != Some(1) && !solver.failures.is_empty();
        let needs_seats = goes_on || self.round > 1;
        let running = needs_seats.then(|| seats(&solver.world.pods, &solver.world.shapes));
        let mut running = running.unwrap_or_default().into_iter();
        let nodes = solver.world.nodes.iter().enumerate();
        let on_nodes: BTreeMap<PodId, usize> =
            nodes.flat_map(|(at, node)| node.pods.iter().map(move |pod| (*pod, at))).collect();
        let names = Rc::clone(&solver.world.names);
        let earlier = self.claims.len();
        let Placements { pods, claims } = report::placements(solver, earlier);
        self.open(&claims, &names, goes_on);
        let waiting = std::mem::take(&mut self.waiting);
        let mut placed = 0;
        for ((id, waited), (local, mut pod)) in waiting.into_iter().zip(pods.ids().zip(pods)) {
            let seat = running.next();
            let at = match &pod.placement {
                Placement::New(claim) => {
                    self.add_to_claim(*claim, id, seat.as_ref());
                    self.positions.get(claim.position()).copied().flatten()
                }
                Placement::Existing(_) | Placement::Added(_) => on_nodes.get(&local).copied(),
                Placement::Ignored(_) => None,
                Placement::Unplaced(_) | Placement::Unreported | Placement::Untried => {
                    self.waiting.push((id, waited));
                    None
                }
            };
            if matches!(pod.placement, Placement::New(_) | Placement::Existing(_)) {
                pod.round = Some(self.round);
                placed += 1;
            }
            if let (Some(at), Some(seat)) = (at, seat) {
                self.base.settle(at, seat);
            }
            self.pods.insert(id, pod);
        }
        placed
    }

    /// Describes the new nodes of a round. If another round follows, they join the cluster.
    fn open(&mut self, claims: &IdVec<ClaimId, Claim<'d>>, names: &Rc<ResourceNames<'d>>, goes_on: bool) {
        let inclusive = SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(self.settings.release);
        for claim in claims {
            let number = ClaimId::from_position(self.claims.len());
            let described = report::describe_with(claim, &claim.types, names, inclusive);
            self.claims.push(SimulatedClaim { pods: Vec::new(), round: self.round, ..described });
            let launch = if goes_on { Launch::of(claim) } else { None };
            let position = launch.map(|launch| self.base.join(&launch, claim.host, number));
            self.positions.push(position);
        }
    }

    /// Adds a pod to a new node. The requests of a node include the pods of the round that opened it.
    fn add_to_claim(&mut self, claim: ClaimId, pod: PodId, seat: Option<&RunningPod<'d>>) {
        let Some(claim) = self.claims.get_mut(claim.position()) else { return };
        claim.pods.push(pod);
        if let Some(seat) = seat.filter(|_| claim.round < self.round) {
            for (id, amount) in seat.shape.requests.iter() {
                let name = self.base.resource_name(id);
                match claim.requests.iter_mut().find(|(present, _)| *present == name) {
                    Some((_, sum)) => *sum = sum.plus(amount),
                    None => claim.requests.push((name, amount)),
                }
            }
        }
    }

    /// The result, with the new nodes in the order of their first pod.
    fn result(mut self) -> SimulationResult<'d> {
        let rounds = self.pods.values().filter_map(|pod| pod.round).max().unwrap_or_default();
        let mut order: Vec<usize> = (0..self.claims.len()).collect();
        for claim in &mut self.claims {
            claim.pods.sort_unstable();
        }
        order.sort_by_key(|at| self.claims.get(*at).and_then(|claim| claim.pods.first().copied()));
        let mut numbers: BTreeMap<usize, ClaimId> = BTreeMap::new();
        for (number, at) in order.iter().enumerate() {
            numbers.insert(*at, ClaimId::from_position(number));
        }
        let mut claims: Vec<(Option<&ClaimId>, SimulatedClaim<'d>)> =
            self.claims.into_iter().enumerate().map(|(at, claim)| (numbers.get(&at), claim)).collect();
        claims.sort_by_key(|(number, _)| number.copied());
        let pods = self.pods.into_values().map(|mut pod| {
            if let Placement::New(claim) = &mut pod.placement {
                *claim = numbers.get(&claim.position()).copied().unwrap_or(*claim);
            }
            pod
        });
        SimulationResult {
            pods: pods.collect(),
            claims: claims.into_iter().map(|(_, claim)| claim).collect(),
            workloads: Vec::new(),
            rounds,
            leaving_nodes: self.base.absence.nodes.into_iter().collect(),
            steps: self.work.done(),
            steps_of_reasons: self.work_of_reasons.done(),
        }
    }
}

/// The pods of a round as they run afterwards, in their order.
fn seats<'d>(
    pods: &IdVec<PodId, PendingPod<'d>>,
    shapes: &IdVec<ShapeId, Rc<PodShape<'d>>>,
) -> Vec<RunningPod<'d>> {
    let seat = |pod: &PendingPod<'d>| RunningPod {
        object: pod.input.pod.object(),
        node: "",
        is_daemon: false,
        shape: shapes.get(pod.shape).cloned().unwrap_or_default(),
        volumes: pod.volumes.clone(),
    };
    pods.iter().map(seat).collect()
}
