//! From the state of the solver to the result.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::IdVec;
use karpenter::labels;

use super::behaviour::SchedulerBehaviour;
use super::catalog::{TypeId, TypeSet};
use super::claim::Claim;
use super::resources::{ResourceNames, Resources};
use super::result::{ClaimId, Placement, PodId, SimulatedClaim, SimulatedPod, SimulationResult, Unplaced};
use super::solver::Solver;
use crate::requirements::Requirement;
use values::quantity::Quantity;

/// The labels that Karpenter sets on every node.
pub(super) const OF_EVERY_NODE: [&str; 4] =
    [labels::NODEPOOL, labels::NODE_CLASS, "karpenter.sh/registered", "karpenter.sh/initialized"];

/// The result of a solved simulation.
pub(crate) fn outcome<'d>(solver: Solver<'d>) -> SimulationResult<'d> {
    let inclusive = SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(solver.settings.release);
    let names = Rc::clone(&solver.world.names);
    let Placements { pods, claims } = placements(solver);
    let describe = |claim: &Claim<'d>| describe_with(claim, &claim.types, &names, inclusive);
    SimulationResult { pods, claims: claims.iter().map(describe).collect() }
}

/// The pods with their places, and the new nodes.
pub(crate) struct Placements<'d> {
    /// The pods, in the order of the input.
    pub(crate) pods: IdVec<PodId, SimulatedPod<'d>>,
    /// The new nodes, in the order of their first pod.
    pub(crate) claims: IdVec<ClaimId, Claim<'d>>,
}

/// The pods with their places, and the new nodes in the order of their first pod.
pub(crate) fn placements(solver: Solver<'_>) -> Placements<'_> {
    let Solver { world, mut claims, failures, .. } = solver;
    for claim in &mut claims {
        claim.pods.sort_unstable();
    }
    claims.sort_by_key(|claim| claim.pods.first().copied());
    let claims: IdVec<ClaimId, Claim<'_>> = claims.into_iter().collect();
    let mut on_claims: BTreeMap<PodId, ClaimId> = BTreeMap::new();
    for (id, claim) in claims.enumerate() {
        on_claims.extend(claim.pods.iter().map(|pod| (*pod, id)));
    }
    let mut on_nodes = BTreeMap::new();
    for node in &world.nodes {
        on_nodes.extend(node.pods.iter().map(|pod| (*pod, node.object)));
    }
    let placement = |id: PodId, ignored: Option<String>| {
        if let Some(problem) = ignored {
            return Placement::Ignored(problem);
        }
        let new = on_claims.get(&id).map(|claim| Placement::New(*claim));
        let existing = on_nodes.get(&id).map(|node| Placement::Existing(*node));
        let placed = new.or(existing);
        placed.unwrap_or_else(|| match failures.get(&id) {
            Some(failure) if failure.is_reported => Placement::Unplaced(Unplaced::clone(&failure.unplaced)),
            _ => Placement::Unreported,
        })
    };
    let ids = world.pods.ids();
    let pods = ids.zip(world.pods).map(|(id, pod)| SimulatedPod {
        namespace: pod.input.namespace,
        name: pod.input.name,
        pod: pod.input.pod,
        placement: placement(id, pod.ignored),
    });
    Placements { pods: pods.collect(), claims }
}

/// A new node with some of its instance types as plain data.
pub(crate) fn describe_with<'d>(
    claim: &Claim<'d>,
    types: &TypeSet,
    names: &ResourceNames<'d>,
    inclusive: bool,
) -> SimulatedClaim<'d> {
    let catalog = &claim.pool.catalog;
    let mut launchable = TypeSet::empty(types.capacity());
    let (mut zones, mut capacity_types) = (BTreeSet::new(), BTreeSet::new());
    for offering in catalog.compatible_offerings(&claim.requirements) {
        if !offering.types.is_disjoint(types) {
            zones.insert(offering.zone);
            capacity_types.insert(offering.capacity_type);
            launchable.union_with(&offering.types);
        }
    }
    launchable.intersect_with(types);
    let cheapest = catalog.by_price(&launchable, &claim.requirements);
    let with_name = |(id, price): &(TypeId, f64)| Some((*catalog.names.get(*id)?, *price));
    let first = cheapest.first().and_then(|(id, _)| catalog.resources.get(*id));
    SimulatedClaim {
        pool: claim.pool.object,
        pods: claim.pods.clone(),
        instance_types: types.count(),
        offered: launchable.count(),
        cheapest: cheapest.iter().filter_map(with_name).collect(),
        zones: zones.into_iter().collect(),
        capacity_types: capacity_types.into_iter().collect(),
        requests: list(&claim.requests, names),
        allocatable: first.map(|resources| list(&resources.allocatable, names)).unwrap_or_default(),
        requirements: written(claim.requirements.iter(), inclusive),
        reservations: claim.reserved.iter().copied().collect(),
    }
}

/// Requirements as an author writes them, without the labels of every node.
pub(crate) fn written<'r, 'd: 'r>(
    all: impl Iterator<Item = (&'d str, &'r Requirement<'d>)>,
    inclusive: bool,
) -> Vec<(&'d str, String)> {
    let chosen = all.filter(|(key, _)| !OF_EVERY_NODE.contains(key));
    chosen.map(|(key, one)| (key, one.written(inclusive))).collect()
}

fn list<'d>(resources: &Resources, names: &ResourceNames<'d>) -> Vec<(&'d str, Quantity)> {
    resources.iter().map(|(id, amount)| (names.name(id), amount)).collect()
}
