//! The reasons for which pods have no place, with the smallest sets of unmet demands.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::pods::ShapeId;
use super::pool::Pool;
use super::proposals::proposals;
use super::reason::{Disagreement, PoolReason, ReasonKind};
use super::result::{PodId, Unplaced};
use super::solver::{FailureCause, Solver};
use super::unmet::UnmetDemands;
use super::unmet_types::TypesLeft;
use super::variant::Variant;
use super::work::Work;

/// Largest number of pairs of a pod's shape and a NodePool whose reason is computed. All shapes have an equal share, at least one.
const MAX_REASONS: usize = 5_000;

/// Largest number of these pairs whose demands are looked for. Each costs many times as much as a try of the pod.
const MAX_REFINED: usize = 2_000;

/// Largest number of NodePools whose instance types are kept.
const MAX_KEPT: usize = 32;

/// Number of steps to find the room of an instance type.
const STEPS_OF_ROOM: usize = 2;

/// Explanation of the pods without a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasonDetail {
    /// None.
    None,
    /// Karpenter's messages.
    Messages,
    /// Karpenter's messages, the smallest sets of unmet demands, and the changes to try.
    Demands,
}

/// Explains why pods have no place. The solver has finished: since its last success, each pod without a place was tried, so that its
/// reasons hold in this state. Pods of one shape share their reasons.
pub(super) fn explain(solver: &mut Solver<'_>, explanation: ReasonDetail, work: &Work) {
    if explanation == ReasonDetail::None {
        return;
    }
    let mut shapes: BTreeMap<(ShapeId, Option<String>), Vec<PodId>> = BTreeMap::new();
    for (id, failure) in &solver.failures {
        let Some(shape) = solver.world.pods.get(*id).map(|pod| pod.shape) else { continue };
        match &failure.cause {
            FailureCause::Untried => {}
            FailureCause::Pools(_) => shapes.entry((shape, None)).or_default().push(*id),
            FailureCause::Known(unplaced) => {
                shapes.entry((shape, Some(unplaced.message.clone()))).or_default().push(*id);
            }
        }
    }
    let share = |most: usize| (most / shapes.len().max(1)).max(1);
    let (told, refined) = (share(MAX_REASONS), share(MAX_REFINED));
    let mut pools = Pools::of(solver);
    for ((shape, _), ids) in &shapes {
        let Some(failure) = ids.first().and_then(|id| solver.failures.get(id)) else { continue };
        let (mut unplaced, pod) = match &failure.cause {
            FailureCause::Untried => continue,
            FailureCause::Known(unplaced) => (Unplaced::clone(unplaced), None),
            FailureCause::Pools(variant) => {
                (solver.rejections(variant, told, work), Some(Rc::clone(variant)))
            }
        };
        if explanation == ReasonDetail::Demands && !work.is_over() {
            refine(solver, &mut pools, pod.as_deref(), &mut unplaced, refined, work);
            unplaced.shape = solver.world.shapes.get(*shape).cloned();
        }
        let unplaced = Rc::new(unplaced);
        for id in ids {
            if let Some(failure) = solver.failures.get_mut(id) {
                failure.cause = FailureCause::Known(Rc::clone(&unplaced));
            }
        }
    }
}

/// NodePool with its instance types, which are collected when a reason first asks for them.
type AskedPool<'d> = (Rc<Pool<'d>>, Option<Rc<TypesLeft<'d>>>);

/// The NodePools by their position in the order in which they are tried, which is the order of the reasons.
struct Pools<'d> {
    all: Vec<AskedPool<'d>>,
    positions: BTreeMap<&'d str, usize>,
    /// The positions of the NodePools whose instance types are kept.
    kept: Vec<usize>,
}

impl<'d> Pools<'d> {
    fn of(solver: &Solver<'d>) -> Self {
        let all: Vec<AskedPool<'d>> = solver.world.pools.iter().map(|pool| (Rc::clone(pool), None)).collect();
        let positions = all.iter().enumerate().map(|(at, (pool, _))| (pool.object.name(), at));
        let positions = positions.rev().collect();
        Self { all, positions, kept: Vec::new() }
    }

    fn find(&mut self, reason: &PoolReason<'d>, work: &Work) -> Option<(Rc<Pool<'d>>, Rc<TypesLeft<'d>>)> {
        let first = *self.positions.get(reason.pool.name())?;
        let following = self.all.get(first..)?;
        let at = first + following.iter().position(|(pool, _)| pool.object == reason.pool)?;
        if !self.kept.contains(&at) {
            if self.kept.len() == MAX_KEPT {
                let oldest = self.kept.remove(0);
                self.all.get_mut(oldest)?.1 = None;
            }
            self.kept.push(at);
        }
        let (pool, left) = self.all.get_mut(at)?;
        let left = left.get_or_insert_with(|| {
            work.count(pool.types.capacity() * STEPS_OF_ROOM);
            Rc::new(TypesLeft::of(pool))
        });
        Some((Rc::clone(pool), Rc::clone(left)))
    }
}

/// Adds the unmet demands and the changes to try to the first reasons of a pod.
fn refine<'d>(
    solver: &Solver<'d>,
    pools: &mut Pools<'d>,
    pod: Option<&Variant<'d>>,
    unplaced: &mut Unplaced<'d>,
    most: usize,
    work: &Work,
) {
    let Some(host) = solver.hosts.get(solver.opened).or_else(|| solver.hosts.last()) else { return };
    let attempt = solver.attempt(false, work);
    let question = UnmetDemands { attempt, names: &solver.world.names, host };
    for reason in unplaced.reasons.iter_mut().take(most) {
        if work.is_over() {
            break;
        }
        let Some((pool, left)) = pools.find(reason, work) else { continue };
        let mut others = Vec::new();
        if let Some(pod) = pod {
            let unmet = question.of(&pool, &left, pod);
            (reason.unmet, others) = (unmet.demands, unmet.others);
        }
        if reason.is_open {
            reason.kind = kind(&reason.unmet);
        }
        reason.proposals = proposals(&pool, pod, &reason.unmet);
        // Other instance types are proposed once.
        for proposal in others.iter().flat_map(|demands| proposals(&pool, None, demands)) {
            if !reason.proposals.contains(&proposal) {
                reason.proposals.push(proposal);
            }
        }
    }
}

/// The kind of a reason that Karpenter's message leaves open.
fn kind(unmet: &[Disagreement<'_>]) -> ReasonKind {
    match unmet.first() {
        Some(Disagreement::Resource(_)) => ReasonKind::Resources,
        // Karpenter's message is about the requirements that a topology, a volume or a limit leaves.
        _ => ReasonKind::Requirements,
    }
}
