//! The scheduling loop.
//!
//! Source: `Solve`, `trySchedule` and `add` in pkg/controllers/provisioning/scheduling/scheduler.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{Id, IdVec};

use super::behaviour::SchedulerBehaviour;
use super::claim::{Attempt, Claim, Rejection};
use super::explain::Explainer;
use super::go_sort::sort_slice;
use super::pods::ShapeId;
use super::pool::Pool;
use super::queue::Queue;
use super::result::PodId;
use super::result::Unplaced;
use super::settings::SimulationSettings;
use super::variant::{Variant, VariantId, relax};
use super::world::World;

/// Largest number of preferences of a pod that are relaxed one after the other.
const MAX_STEPS: usize = 256;

/// Success of a pod: it has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedInRound;

/// Failure of a pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure<'d> {
    /// The reasons.
    pub(crate) unplaced: Rc<Unplaced<'d>>,
    /// Whether relaxing preferences does not help.
    ends_relaxation: bool,
    /// Whether Karpenter reports the failure.
    pub(crate) is_reported: bool,
    /// The pod at its last step, if NodePools rejected it.
    pub(crate) variant: Option<Rc<Variant<'d>>>,
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
    ladders: IdVec<ShapeId, Vec<Rc<Variant<'d>>>>,
    /// The number of variants.
    variants: usize,
    /// The number of placed pods. A failure does not change before the next success.
    placed: usize,
    last_failures: BTreeMap<FailureKey, LastFailure<'d>>,
}

/// Pods that fail alike: one shape, and pods of disrupted nodes apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FailureKey {
    shape: ShapeId,
    avoids_waiting: bool,
}

/// Failure of the last of the pods that fail alike.
struct LastFailure<'d> {
    /// The number of placed pods at that time.
    placed: usize,
    failure: Failure<'d>,
}

impl<'d> Solver<'d> {
    /// A simulation that has not started. `hosts` has a name for each new node.
    pub(crate) fn new(world: World<'d>, settings: &'d SimulationSettings, hosts: &'d [String]) -> Self {
        let ladders = world.shapes.iter().map(|_| Vec::new()).collect();
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
        let mut queue = Queue::new(&self.world);
        if SchedulerBehaviour::RELAXES_AT_ONCE.holds_in(self.settings.release) {
            self.solve_with_relaxation(&mut queue);
        } else {
            self.solve_step_by_step(&mut queue);
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
        for pod in self.world.pods.ids() {
            self.failures.insert(pod, self.without_pools(message, true));
        }
    }

    /// Failure of a pod because no NodePool takes pods.
    fn without_pools(&self, message: &str, is_reported: bool) -> Failure<'d> {
        let unplaced =
            Unplaced { message: message.to_owned(), reasons: self.world.unusable.clone(), shape: None };
        Failure { unplaced: Rc::new(unplaced), is_reported, ..Failure::default() }
    }

    /// Since 1.4 a pod is relaxed completely before the next pod is tried.
    fn solve_with_relaxation(&mut self, queue: &mut Queue) {
        while let Some(pod) = queue.pop() {
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
        let Some(pod) = self.world.pods.get(id) else { return Err(Failure::default()) };
        let (shape, has_volumes) = (pod.shape, !pod.volumes.is_empty());
        let key = FailureKey { shape, avoids_waiting: pod.avoids_waiting };
        let last = self.last_failures.get(&key).filter(|last| last.placed == self.placed && !has_volumes);
        if let Some(last) = last {
            return Err(last.failure.clone());
        }
        let mut level = 0;
        let mut last = Failure::default();
        while let Some(variant) = self.variant(shape, level) {
            match self.add(id, &variant) {
                Ok(placed) => return Ok(placed),
                Err(failure) => last = failure,
            }
            if last.ends_relaxation {
                break;
            }
            level += 1;
        }
        let failure = last.clone();
        self.last_failures.insert(key, LastFailure { placed: self.placed, failure });
        Err(last)
    }

    /// Until 1.3 a pod that failed loses one preference and goes to the end of the queue.
    fn solve_step_by_step(&mut self, queue: &mut Queue) {
        let mut levels: BTreeMap<PodId, usize> = BTreeMap::new();
        while let Some(pod) = queue.pop() {
            let Some(shape) = self.world.pods.get(pod).map(|pod| pod.shape) else { continue };
            let level = levels.get(&pod).copied().unwrap_or_default();
            let Some(variant) = self.variant(shape, level) else { continue };
            match self.add(pod, &variant) {
                Ok(PlacedInRound) => {
                    self.failures.remove(&pod);
                }
                Err(failure) => {
                    let ends_relaxation = failure.ends_relaxation;
                    self.failures.insert(pod, failure);
                    let is_relaxed = !ends_relaxation && self.variant(shape, level + 1).is_some();
                    if is_relaxed {
                        levels.insert(pod, level + 1);
                    }
                    queue.push(pod, is_relaxed);
                }
            }
        }
    }

    /// A shape after some steps of relaxation.
    fn variant(&mut self, shape: ShapeId, level: usize) -> Option<Rc<Variant<'d>>> {
        let ladder = self.ladders.get(shape)?;
        if let Some(variant) = ladder.get(level) {
            return Some(Rc::clone(variant));
        }
        if ladder.len() >= MAX_STEPS {
            return None;
        }
        let relaxed = match ladder.last() {
            None => self.world.shapes.get(shape)?.clone(),
            Some(last) => relax(&last.shape, self.world.has_soft_taint)?,
        };
        let groups = self.world.topology.join(&relaxed);
        let ignores = self.settings.ignores_preferences
            && SchedulerBehaviour::RELAXES_AT_ONCE.holds_in(self.settings.release);
        let variant =
            Rc::new(Variant::new(VariantId::from_position(self.variants), relaxed, groups, ignores));
        self.variants += 1;
        self.ladders.get_mut(shape)?.push(Rc::clone(&variant));
        Some(variant)
    }

    /// Places a pod on an existing node, on a new node with other pods, or on a further new node.
    fn add(&mut self, pod: PodId, variant: &Rc<Variant<'d>>) -> Result<PlacedInRound, Failure<'d>> {
        let refuses = SchedulerBehaviour::REFUSES_RESOURCE_CLAIMS.holds_in(self.settings.release);
        if variant.shape.has_resource_claims && refuses {
            let text =
                "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
            return Err(Failure { ends_relaxation: true, ..failure(text, true) });
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
        for node in &mut self.world.nodes {
            if node.is_waiting && pod.avoids_waiting {
                continue;
            }
            if let Some(requirements) = node.try_add(variant, volumes, &self.world.topology) {
                let node = Rc::make_mut(node);
                node.add(id, variant, volumes, requirements);
                self.world.topology.record(variant, &node.taints, &node.labels);
                return true;
            }
        }
        false
    }

    fn add_to_claim(&mut self, pod: PodId, variant: &Variant<'d>) -> bool {
        sort_slice(&mut self.claims, |one, other| one.pods.len() < other.pods.len());
        let attempt = Attempt {
            topology: &self.world.topology,
            reservations: &self.world.reservations,
            settings: self.settings,
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
        let mut rejections = Vec::new();
        let mut ends_relaxation = false;
        for pool in self.world.pools.clone() {
            match self.open(&pool, pod, variant) {
                Ok(placed) => return Ok(placed),
                Err(rejection) => {
                    ends_relaxation = matches!(rejection, Rejection::Reservation(_));
                    rejections.push((pool, rejection));
                    if ends_relaxation {
                        break;
                    }
                }
            }
        }
        let explainer = Explainer { names: &self.world.names, release: self.settings.release };
        let explain =
            |(pool, rejection): &(Rc<Pool<'d>>, Rejection<'d>)| explainer.explain(pool, variant, rejection);
        let reasons: Vec<_> = rejections.iter().map(explain).collect();
        let messages: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
        let message = messages.join("; ");
        let unplaced = Rc::new(Unplaced { message, reasons, shape: None });
        Err(Failure { unplaced, ends_relaxation, is_reported: true, variant: Some(Rc::clone(variant)) })
    }

    /// Opens a node of a NodePool for a pod.
    fn open(
        &mut self,
        pool: &Rc<Pool<'d>>,
        pod: PodId,
        variant: &Variant<'d>,
    ) -> Result<PlacedInRound, Rejection<'d>> {
        if pool.has_no_node_left() {
            return Err(Rejection::NodeLimit);
        }
        let types = pool.within_limits();
        if types.is_empty() {
            return Err(Rejection::Limits);
        }
        let Some(host) = self.hosts.get(self.opened) else { return Err(Rejection::Full) };
        let best_effort = self.settings.min_values_best_effort
            && SchedulerBehaviour::MIN_VALUES_POLICY.holds_in(self.settings.release);
        let mut claim = Claim::open(pool, types, host);
        let attempt = Attempt {
            topology: &self.world.topology,
            reservations: &self.world.reservations,
            settings: self.settings,
        };
        let addition = claim.try_add(variant, attempt, best_effort)?;
        claim.add(pod, variant, addition, &mut self.world.topology, &mut self.world.reservations);
        pool.subtract_largest(&claim.types);
        self.claims.push(claim);
        self.opened += 1;
        Ok(PlacedInRound)
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
            let unplaced = Unplaced { message, reasons, shape: None };
            let failure = Failure { unplaced: Rc::new(unplaced), is_reported: true, ..Failure::default() };
            failed.extend(claim.pods.iter().map(|pod| (*pod, failure.clone())));
            false
        });
        self.failures.extend(failed);
    }
}

fn failure<'d>(message: &str, is_reported: bool) -> Failure<'d> {
    let unplaced = Unplaced { message: message.to_owned(), ..Unplaced::default() };
    Failure { unplaced: Rc::new(unplaced), is_reported, ..Failure::default() }
}
