//! The scheduling loop.
//!
//! Source: `Solve`, `trySchedule` and `add` in pkg/controllers/provisioning/scheduling/scheduler.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{Id, IdVec};

use super::behaviour::SchedulerBehaviour;
use super::catalog::TypeSet;
use super::claim::{Addition, Attempt, Claim, Rejection, STEPS_OF_ROOM, STEPS_OF_TEMPLATE};
use super::explain::Explainer;
use super::go_sort::sort_slice;
use super::node_search::NodeSearch;
use super::pods::ShapeId;
use super::pool::Pool;
use super::queue::Queue;
use super::reason::PoolReason;
use super::result::PodId;
use super::result::Unplaced;
use super::settings::SimulationSettings;
use super::shape::PodShape;
use super::variant::{GroupsOfOthers, Variant, VariantId, relax};
use super::work::Work;
use super::world::World;
use crate::template::{check_labels, check_taints};

/// Largest number of preferences of a pod that are relaxed one after the other.
const MAX_STEPS: usize = 256;

/// Number of steps that are kept for a shape whose pods have all failed.
const MAX_KEPT_STEPS: usize = 8;

/// Number of steps of work for the next step of a relaxation.
const STEPS_OF_RELAXATION: usize = 60;

/// Number of steps to compare a pod with an existing node.
const STEPS_OF_NODE: usize = 2;

/// Number of new nodes that are sorted in a step.
const SORTED_PER_STEP: usize = 16;

/// Number of NodePools whose reasons Karpenter's message repeats.
const MAX_NAMED: usize = 10;

/// Success of a pod: it has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedInRound;

/// Failure of a pod.
#[derive(Clone, Debug)]
pub(crate) struct Failure<'d> {
    /// The cause.
    pub(crate) cause: FailureCause<'d>,
    /// Whether relaxing preferences does not help.
    ends_relaxation: bool,
    /// Whether Karpenter reports the failure.
    pub(crate) is_reported: bool,
    /// The number of placed pods at that time. A failure does not change before the next success.
    placed: usize,
}

/// Cause of a failure.
#[derive(Clone, Debug)]
pub(crate) enum FailureCause<'d> {
    /// These reasons.
    Known(Rc<Unplaced<'d>>),
    /// The NodePools rejected the pod at its last step. The reasons are computed when they are asked for.
    Pools(Rc<Variant<'d>>),
    /// The work was over before the pod was tried.
    Untried,
}

/// The state of a simulation.
pub(crate) struct Solver<'d> {
    /// The cluster.
    pub(crate) world: World<'d>,
    /// The new nodes.
    pub(crate) claims: Vec<Claim<'d>>,
    /// The pods without a place.
    pub(crate) failures: BTreeMap<PodId, Failure<'d>>,
    /// The settings.
    pub(crate) settings: &'d SimulationSettings,
    /// A name for each new node.
    pub(crate) hosts: &'d [String],
    /// The number of new nodes, including the ones that are given up again.
    pub(crate) opened: usize,
    /// The variants of each shape, as far as they were needed.
    ladders: IdVec<ShapeId, Ladder<'d>>,
    /// The number of variants.
    variants: usize,
    /// The number of placed pods.
    placed: usize,
    last_failures: BTreeMap<FailureKey, Failure<'d>>,
    /// Whether an existing node has a further label because of a pod, such as the absence of a label, so that pods may be compatible
    /// with the node that were not.
    has_new_labels: bool,
    /// The steps of the simulation.
    pub(crate) work: Rc<Work>,
}

/// The variants of a shape.
#[derive(Default)]
struct Ladder<'d> {
    variants: Vec<Rc<Variant<'d>>>,
    neighbours: Rc<GroupsOfOthers<'d>>,
    /// The number of pods without a place.
    waiting: usize,
}

/// Pods that fail alike: one shape, and pods of disrupted nodes apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FailureKey {
    shape: ShapeId,
    avoids_waiting: bool,
}

impl<'d> Solver<'d> {
    /// A simulation that has not started. `hosts` has a name for each new node.
    pub(crate) fn new(
        world: World<'d>,
        settings: &'d SimulationSettings,
        hosts: &'d [String],
        work: &Rc<Work>,
    ) -> Self {
        let mut ladders: IdVec<ShapeId, Ladder<'d>> =
            world.shapes.iter().map(|_| Ladder::default()).collect();
        for pod in &world.pods {
            if let Some(ladder) = ladders.get_mut(pod.shape) {
                ladder.waiting += 1;
            }
        }
        Self {
            world,
            claims: Vec::new(),
            failures: BTreeMap::new(),
            settings,
            hosts,
            opened: 0,
            ladders,
            variants: 0,
            placed: 0,
            last_failures: BTreeMap::new(),
            has_new_labels: false,
            work: Rc::clone(work),
        }
    }

    /// The state that nodes share while a pod is tried.
    pub(crate) fn attempt<'a>(&'a self, explains: bool, work: &'a Work) -> Attempt<'a, 'd> {
        Attempt {
            topology: &self.world.topology,
            reservations: &self.world.reservations,
            settings: self.settings,
            work,
            explains,
        }
    }

    /// The number of pods that have a place.
    pub(crate) fn placed(&self) -> usize {
        let on_claims: usize = self.claims.iter().map(|claim| claim.pods.len()).sum();
        self.world.nodes.iter().map(|node| node.pods.len()).sum::<usize>() + on_claims
    }

    /// Places all pods.
    pub(crate) fn solve(&mut self) {
        if self.world.used_pools == 0 {
            return self.fail_all();
        }
        self.solve_on_nodes();
    }

    /// Places the pods also if no NodePool takes pods: then on existing nodes, as kube-scheduler does without Karpenter.
    pub(crate) fn solve_on_nodes(&mut self) {
        let mut queue = Queue::new(&self.world);
        if SchedulerBehaviour::RELAXES_AT_ONCE.holds_in(self.settings.release) {
            self.solve_with_relaxation(&mut queue);
        } else {
            self.solve_step_by_step(&mut queue);
        }
        if self.work.is_over() {
            self.leave_out(queue);
        }
        for claim in &mut self.claims {
            claim.finish();
        }
        self.check_min_values();
    }

    /// Without a NodePool existing nodes are not tried either.
    fn fail_all(&mut self) {
        let release = self.settings.release;
        let message = if SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(release) {
            "no dynamic nodepools found"
        } else {
            "no nodepools found"
        };
        let failure = self.without_pools(message, true);
        self.failures = self.world.pods.ids().map(|pod| (pod, failure.clone())).collect();
    }

    /// The pods that the work did not suffice for: they were not tried, or not since the last success.
    fn leave_out(&mut self, queue: Queue) {
        let placed = self.placed;
        for pod in queue.rest() {
            let is_tried = |failure: &Failure<'d>| failure.placed == placed;
            if !self.failures.get(&pod).is_some_and(is_tried) {
                self.failures.insert(pod, self.failure(FailureCause::Untried));
            }
        }
    }

    /// A failure at this time.
    fn failure(&self, cause: FailureCause<'d>) -> Failure<'d> {
        Failure { cause, ends_relaxation: false, is_reported: true, placed: self.placed }
    }

    /// Failure of a pod because no NodePool takes pods.
    fn without_pools(&self, message: &str, is_reported: bool) -> Failure<'d> {
        let reasons = self.world.unusable.clone();
        let unplaced = Unplaced { message: message.to_owned(), reasons, ..Unplaced::default() };
        Failure { is_reported, ..self.failure(FailureCause::Known(Rc::new(unplaced))) }
    }

    /// Since 1.4 a pod is relaxed completely before the next pod is tried.
    fn solve_with_relaxation(&mut self, queue: &mut Queue) {
        while !self.work.is_over() {
            let Some(pod) = queue.pop() else { return };
            match self.try_with_relaxation(pod) {
                Ok(PlacedInRound) => {
                    self.failures.remove(&pod);
                }
                Err(failure) => {
                    self.failures.insert(pod, failure);
                    queue.push(pod, false);
                }
            }
        }
    }

    fn try_with_relaxation(&mut self, id: PodId) -> Result<PlacedInRound, Failure<'d>> {
        let Some(pod) = self.world.pods.get(id) else { return Err(self.failure(FailureCause::Untried)) };
        let (shape, has_volumes) = (pod.shape, !pod.volumes.is_empty());
        let key = FailureKey { shape, avoids_waiting: pod.avoids_waiting };
        let last = self.last_failures.get(&key).filter(|last| last.placed == self.placed && !has_volumes);
        if let Some(last) = last {
            return Err(last.clone());
        }
        let mut level = 0;
        let mut last = self.failure(FailureCause::Untried);
        while let Some(variant) = self.variant(shape, level) {
            if self.work.is_over() {
                return Err(self.failure(FailureCause::Untried));
            }
            match self.add(id, &variant) {
                Ok(placed) => {
                    self.keep(shape, true);
                    return Ok(placed);
                }
                Err(failure) => last = failure,
            }
            if last.ends_relaxation {
                break;
            }
            level += 1;
        }
        self.keep(shape, false);
        self.last_failures.insert(key, last.clone());
        Err(last)
    }

    /// Drops the variants of a shape that are many and will hardly be asked for again.
    fn keep(&mut self, shape: ShapeId, is_placed: bool) {
        let Some(ladder) = self.ladders.get_mut(shape) else { return };
        ladder.waiting = ladder.waiting.saturating_sub(usize::from(is_placed));
        if ladder.waiting == 0 || (!is_placed && ladder.variants.len() > MAX_KEPT_STEPS) {
            ladder.variants = Vec::new();
        }
    }

    /// Until 1.3 a pod that failed loses one preference and goes to the end of the queue.
    fn solve_step_by_step(&mut self, queue: &mut Queue) {
        let mut levels: BTreeMap<PodId, usize> = BTreeMap::new();
        while !self.work.is_over() {
            let Some(pod) = queue.pop() else { return };
            let Some(shape) = self.world.pods.get(pod).map(|pod| pod.shape) else { continue };
            let level = levels.get(&pod).copied().unwrap_or_default();
            let Some(variant) = self.variant(shape, level) else { continue };
            match self.add(pod, &variant) {
                Ok(PlacedInRound) => {
                    self.failures.remove(&pod);
                }
                Err(failure) => {
                    let is_relaxed = !failure.ends_relaxation && self.variant(shape, level + 1).is_some();
                    if is_relaxed {
                        levels.insert(pod, level + 1);
                        self.failures.insert(pod, self.failure(FailureCause::Untried));
                    } else {
                        self.failures.insert(pod, failure);
                    }
                    queue.push(pod, is_relaxed);
                }
            }
        }
    }

    /// A shape after some steps of relaxation.
    fn variant(&mut self, shape: ShapeId, level: usize) -> Option<Rc<Variant<'d>>> {
        let ladder = self.ladders.get(shape)?;
        if let Some(variant) = ladder.variants.get(level) {
            return Some(Rc::clone(variant));
        }
        if ladder.variants.len() >= MAX_STEPS {
            return None;
        }
        self.work.count(STEPS_OF_RELAXATION);
        let (relaxed, groups, before) = match ladder.variants.last() {
            None => {
                let shape = self.world.shapes.get(shape)?;
                (PodShape::clone(shape), self.world.topology.join(shape), None)
            }
            Some(last) => {
                let (relaxed, step) = relax(&last.shape, self.world.has_soft_taint)?;
                let groups = self.world.topology.rejoin(last, &relaxed, step);
                (relaxed, groups, Some((Rc::clone(last), step)))
            }
        };
        let ignores = self.settings.ignores_preferences
            && SchedulerBehaviour::RELAXES_AT_ONCE.holds_in(self.settings.release);
        let id = VariantId::from_position(self.variants);
        self.variants += 1;
        let ladder = self.ladders.get_mut(shape)?;
        let mut variant = Variant::new(id, relaxed, groups, &ladder.neighbours, ignores);
        if let Some((before, step)) = before {
            variant.keep_possible(&before, step);
        }
        let variant = Rc::new(variant);
        ladder.variants.push(Rc::clone(&variant));
        Some(variant)
    }

    /// Places a pod on an existing node, on a new node with other pods, or on a further new node.
    fn add(&mut self, pod: PodId, variant: &Rc<Variant<'d>>) -> Result<PlacedInRound, Failure<'d>> {
        let refuses = SchedulerBehaviour::REFUSES_RESOURCE_CLAIMS.holds_in(self.settings.release);
        if variant.shape.has_resource_claims && refuses {
            let text =
                "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
            let unplaced = Unplaced { message: text.to_owned(), ..Unplaced::default() };
            let failure = self.failure(FailureCause::Known(Rc::new(unplaced)));
            return Err(Failure { ends_relaxation: true, ..failure });
        }
        if self.add_to_existing(pod, variant) || self.add_to_claim(pod, variant) {
            self.placed += 1;
            return Ok(PlacedInRound);
        }
        if self.world.pools.is_empty() {
            let is_reported = SchedulerBehaviour::ALL_POOLS_DROPPED_ERROR.holds_in(self.settings.release);
            let message = "nodepool requirements filtered out all available instance types";
            return Err(self.without_pools(message, is_reported));
        }
        self.add_to_new(pod, variant)?;
        self.placed += 1;
        Ok(PlacedInRound)
    }

    fn add_to_existing(&mut self, id: PodId, variant: &Variant<'d>) -> bool {
        let Some(pod) = self.world.pods.get(id) else { return false };
        let volumes = pod.volumes.as_slice();
        let mut search = variant.search.borrow_mut();
        if self.has_new_labels && !search.has_new_labels {
            *search = NodeSearch::anew();
        }
        let fitting = self.world.fitting.as_ref().and_then(|fitting| fitting.get(pod.shape));
        let fitting = fitting.filter(|_| !self.has_new_labels).map(Rc::as_ref);
        let mut rank = 0;
        while let Some(at) = search.find(rank, &self.world.slots, fitting) {
            let Some(node) = self.world.nodes.get_mut(at) else { break };
            self.work.count(STEPS_OF_NODE);
            let has_labels = node.labels.compatible_strictly(&variant.requirements).is_ok();
            if node.refuses_all(variant) || !(has_labels || self.has_new_labels) {
                search.leave_out(rank);
                continue;
            }
            rank += 1;
            if !has_labels || (node.is_waiting && pod.avoids_waiting) {
                continue;
            }
            if let Some(labels) = node.try_add(variant, volumes, &self.world.topology) {
                let node = Rc::make_mut(node);
                let keys = node.labels.len();
                node.add(id, variant, volumes, labels);
                self.has_new_labels |= node.labels.len() > keys;
                self.world.topology.record(variant, &node.taints, &node.labels);
                return true;
            }
        }
        false
    }

    fn add_to_claim(&mut self, pod: PodId, variant: &Variant<'d>) -> bool {
        sort_slice(&mut self.claims, |one, other| one.pods.len() < other.pods.len());
        self.work.count(self.claims.len() / SORTED_PER_STEP);
        let attempt = Attempt {
            topology: &self.world.topology,
            reservations: &self.world.reservations,
            settings: self.settings,
            work: &self.work,
            explains: false,
        };
        let found = self.claims.iter_mut().find_map(|claim| {
            let addition = claim.try_more(variant, attempt)?;
            Some((claim, addition))
        });
        let Some((claim, addition)) = found else { return false };
        claim.add(pod, variant, addition, &mut self.world.topology, &mut self.world.reservations);
        true
    }

    fn add_to_new(&mut self, pod: PodId, variant: &Rc<Variant<'d>>) -> Result<PlacedInRound, Failure<'d>> {
        let mut ends_relaxation = false;
        for at in 0..self.world.pools.len() {
            let Some(pool) = self.world.pools.get(at) else { break };
            match self.open(pool, variant, false, &self.work) {
                Ok((claim, addition)) => {
                    self.launch(claim, pod, variant, addition);
                    return Ok(PlacedInRound);
                }
                Err(rejection) => ends_relaxation = matches!(rejection, Rejection::Reservation(_)),
            }
            if ends_relaxation {
                break;
            }
        }
        Err(Failure { ends_relaxation, ..self.failure(FailureCause::Pools(Rc::clone(variant))) })
    }

    /// The first NodePools that reject a pod, at most a number of them, each with the rejection in words.
    pub(crate) fn rejections(&self, variant: &Variant<'d>, most: usize, work: &Work) -> Unplaced<'d> {
        let explainer = Explainer { names: &self.world.names, release: self.settings.release };
        let mut unplaced = Unplaced::default();
        let mut left_out = self.world.pools.len().saturating_sub(most);
        for pool in self.world.pools.iter().take(most) {
            let Err(rejection) = self.open(pool, variant, true, work) else { continue };
            unplaced.reasons.push(explainer.explain(pool, variant, &rejection));
            if matches!(rejection, Rejection::Reservation(_)) {
                left_out = 0;
                break;
            }
        }
        unplaced.left_out = left_out;
        unplaced.message = message(&unplaced.reasons, left_out);
        unplaced
    }

    /// Opens a node of a NodePool for a pod.
    fn open(
        &self,
        pool: &Rc<Pool<'d>>,
        variant: &Variant<'d>,
        explains: bool,
        work: &Work,
    ) -> Result<(Claim<'d>, Addition<'d>), Rejection<'d>> {
        work.count(STEPS_OF_TEMPLATE);
        if pool.has_no_node_left() {
            return Err(Rejection::NodeLimit);
        }
        let types = pool.within_limits();
        if types.is_empty() {
            return Err(Rejection::Limits);
        }
        if !explains {
            check_quickly(pool, &types, variant, work)?;
        }
        let Some(host) = self.hosts.get(self.opened) else { return Err(Rejection::Full) };
        let best_effort = self.settings.min_values_best_effort
            && SchedulerBehaviour::MIN_VALUES_POLICY.holds_in(self.settings.release);
        let claim = Claim::open(pool, TypeSet::clone(&types), host);
        let addition = claim.try_add(variant, self.attempt(explains, work), best_effort)?;
        Ok((claim, addition))
    }

    /// Adds a new node with its first pod.
    fn launch(&mut self, mut claim: Claim<'d>, pod: PodId, variant: &Variant<'d>, addition: Addition<'d>) {
        claim.add(pod, variant, addition, &mut self.world.topology, &mut self.world.reservations);
        claim.pool.subtract_largest(&claim.types);
        self.claims.push(claim);
        self.opened += 1;
    }

    /// The launch takes the cheapest instance types. The pods of a node fail if `minValues` do not hold for these.
    fn check_min_values(&mut self) {
        let release = self.settings.release;
        let most = if SchedulerBehaviour::SIX_HUNDRED_TYPES.holds_in(release) { 600 } else { 60 };
        let best_effort =
            self.settings.min_values_best_effort && SchedulerBehaviour::MIN_VALUES_POLICY.holds_in(release);
        let mut failed = Vec::new();
        self.claims.retain(|claim| {
            let missing = claim.missing_after_truncation(most);
            if missing.is_empty() || best_effort {
                return true;
            }
            let keys: Vec<&str> = missing.iter().map(|(key, _)| *key).collect();
            let message = format!(
                "pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, \
                 minValues requirement is not met for label(s) (label(s)=[{}])",
                keys.join(" ")
            );
            let reasons = vec![claim.few_values(&message, &missing)];
            let unplaced = Rc::new(Unplaced { message, reasons, ..Unplaced::default() });
            failed.extend(claim.pods.iter().map(|pod| (*pod, Rc::clone(&unplaced))));
            false
        });
        for (pod, unplaced) in failed {
            self.failures.insert(pod, self.failure(FailureCause::Known(unplaced)));
        }
    }
}

/// Checks what takes little time. A pod that fails has no place in the NodePool, for this or for another reason.
fn check_quickly<'d>(
    pool: &Pool<'d>,
    types: &TypeSet,
    variant: &Variant<'d>,
    work: &Work,
) -> Result<(), Rejection<'d>> {
    check_taints(&pool.taints, &variant.shape.demand.tolerations).map_err(Rejection::Obstacle)?;
    check_labels(&pool.requirements, &variant.requirements).map_err(Rejection::Obstacle)?;
    let mut possible = TypeSet::clone(&variant.possible(&pool.catalog, work));
    possible.intersect_with(types);
    if possible.is_empty() {
        return Err(Rejection::Full);
    }
    work.count(STEPS_OF_ROOM);
    if pool.has_room(&variant.shape.requests, &possible) { Ok(()) } else { Err(Rejection::Full) }
}

/// Karpenter's message: the reasons of all NodePools, of which the first are named.
fn message(reasons: &[PoolReason<'_>], left_out: usize) -> String {
    let named: Vec<&str> = reasons.iter().take(MAX_NAMED).map(|reason| reason.message.as_str()).collect();
    let others = left_out + reasons.len().saturating_sub(MAX_NAMED);
    let others = if others == 0 { String::new() } else { format!("; and {others} further NodePools") };
    format!("{}{others}", named.join("; "))
}
