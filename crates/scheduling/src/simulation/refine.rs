//! The smallest set of unmet demands for each pod without a place.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::claim::Attempt;
use super::pods::ShapeId;
use super::pool::Pool;
use super::proposals::proposals;
use super::reason::{Disagreement, PoolReason, ReasonKind};
use super::result::{PodId, Unplaced};
use super::solver::Solver;
use super::unmet::UnmetDemands;
use super::unmet_types::TypesLeft;
use super::variant::Variant;

/// Largest number of pairs of a pod's shape and a NodePool whose demands are looked for. Each costs about as much as a try of the pod.
const MAX_REASONS: usize = 2_000;

/// Finds the smallest sets of unmet demands, and the changes to try. The solver has finished: since its last success, each pod without a
/// place was tried, so that its reasons hold in this state.
pub(super) fn refine(solver: &mut Solver<'_>) {
    let failed: Vec<PodId> = solver.failures.keys().copied().collect();
    let mut by_shape: BTreeMap<ShapeId, Refined<'_>> = BTreeMap::new();
    let mut reasons_left = MAX_REASONS;
    let mut pools = Pools::of(solver);
    for id in failed {
        let Some(shape) = solver.world.pods.get(id).map(|pod| pod.shape) else { continue };
        let Some(failure) = solver.failures.get(&id) else { continue };
        let original = Rc::clone(&failure.unplaced);
        let known = by_shape.get(&shape).filter(|known| known.original.message == original.message);
        let result = if let Some(known) = known {
            Rc::clone(&known.result)
        } else {
            let count = original.reasons.len();
            if count == 0 || count > reasons_left {
                continue;
            }
            reasons_left -= count;
            let result = Rc::new(refined(solver, &mut pools, shape, failure.variant.as_deref(), &original));
            by_shape.insert(shape, Refined { original, result: Rc::clone(&result) });
            result
        };
        if let Some(failure) = solver.failures.get_mut(&id) {
            failure.unplaced = result;
        }
    }
}

/// The reasons of a shape before and after they are refined.
struct Refined<'d> {
    original: Rc<Unplaced<'d>>,
    result: Rc<Unplaced<'d>>,
}

/// NodePools with their instance types, which are collected when a reason first asks for them.
struct Pools<'d>(Vec<(Rc<Pool<'d>>, Option<Rc<TypesLeft<'d>>>)>);

impl<'d> Pools<'d> {
    fn of(solver: &Solver<'d>) -> Self {
        Self(solver.world.pools.iter().map(|pool| (Rc::clone(pool), None)).collect())
    }

    fn find(&mut self, reason: &PoolReason<'d>) -> Option<(Rc<Pool<'d>>, Rc<TypesLeft<'d>>)> {
        let (pool, left) = self.0.iter_mut().find(|(pool, _)| pool.object == reason.pool)?;
        let left = left.get_or_insert_with(|| Rc::new(TypesLeft::of(pool)));
        Some((Rc::clone(pool), Rc::clone(left)))
    }
}

/// The reasons of a pod with their unmet demands and with the changes to try.
fn refined<'d>(
    solver: &Solver<'d>,
    pools: &mut Pools<'d>,
    shape: ShapeId,
    pod: Option<&Variant<'d>>,
    original: &Unplaced<'d>,
) -> Unplaced<'d> {
    let mut all = original.clone();
    all.shape = solver.world.shapes.get(shape).cloned().map(Rc::new);
    let Some(host) = solver.hosts.get(solver.opened).or_else(|| solver.hosts.last()) else {
        return all;
    };
    let attempt = Attempt {
        topology: &solver.world.topology,
        reservations: &solver.world.reservations,
        settings: solver.settings,
    };
    let question = UnmetDemands { attempt, names: &solver.world.names, host };
    for reason in &mut all.reasons {
        let Some((pool, left)) = pools.find(reason) else { continue };
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
    all
}

/// The kind of a reason that Karpenter's message leaves open.
fn kind(unmet: &[Disagreement<'_>]) -> ReasonKind {
    match unmet.first() {
        Some(Disagreement::Resource(_)) => ReasonKind::Resources,
        // Karpenter's message is about the requirements that a topology, a volume or a limit leaves.
        _ => ReasonKind::Requirements,
    }
}
