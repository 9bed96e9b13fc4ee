//! From the state of the solver to the result.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::{Id, IdVec};
use karpenter::labels;

use super::catalog::{Catalog, TypeId, TypeSet};
use super::claim::Claim;
use super::node::NodeOrigin;
use super::offerings::RESERVATION_LABELS;
use super::resources::{ResourceNames, Resources};
use super::result::{ClaimId, Placement, PodId, SimulatedClaim, SimulatedPod};
use super::solver::{Failure, FailureCause, Solver};
use crate::requirements::Requirement;
use values::quantity::Quantity;

/// The labels that Karpenter sets on every node.
pub(super) const OF_EVERY_NODE: [&str; 4] =
    [labels::NODEPOOL, labels::NODE_CLASS, "karpenter.sh/registered", "karpenter.sh/initialized"];

/// The pods with their places, and the new nodes.
pub(crate) struct Placements<'d> {
    /// The pods, in the order of the input.
    pub(crate) pods: IdVec<PodId, SimulatedPod<'d>>,
    /// The new nodes, in the order of their first pod.
    pub(crate) claims: IdVec<ClaimId, Claim<'d>>,
}

/// The pods with their places, and the new nodes in the order of their first pod. The numbers of new nodes start after the new nodes of
/// earlier rounds.
pub(crate) fn placements(solver: Solver<'_>, earlier: usize) -> Placements<'_> {
    let Solver { world, mut claims, failures, .. } = solver;
    for claim in &mut claims {
        claim.pods.sort_unstable();
    }
    claims.sort_by_key(|claim| claim.pods.first().copied());
    let claims: IdVec<ClaimId, Claim<'_>> = claims.into_iter().collect();
    let mut places: BTreeMap<PodId, Placement<'_>> = BTreeMap::new();
    for (number, claim) in claims.iter().enumerate() {
        let id = ClaimId::from_position(earlier + number);
        places.extend(claim.pods.iter().map(|pod| (*pod, Placement::New(id))));
    }
    for node in &world.nodes {
        places.extend(node.pods.iter().map(|pod| (*pod, place_on(node.origin))));
    }
    let mut placement = |id: PodId, ignored: Option<String>| {
        if let Some(message) = ignored {
            return Placement::Ignored(message);
        }
        places.remove(&id).unwrap_or_else(|| match failures.get(&id) {
            Some(failure) => unplaced(failure),
            None => Placement::Unreported,
        })
    };
    let ids = world.pods.ids();
    let pods = ids.zip(world.pods).map(|(id, pod)| {
        let (message, ignored_field) = pod.ignored.map(|ignored| (ignored.message, ignored.field)).unzip();
        SimulatedPod {
            namespace: pod.input.namespace,
            name: pod.input.name,
            pod: pod.input.pod,
            leaves: pod.input.leaves,
            placement: placement(id, message),
            ignored_field: ignored_field.flatten(),
            round: None,
        }
    });
    Placements { pods: pods.collect(), claims }
}

/// The place of a pod that failed. The reasons of NodePools are left out if they were not asked for.
fn unplaced<'d>(failure: &Failure<'d>) -> Placement<'d> {
    match &failure.cause {
        FailureCause::Untried => Placement::Untried,
        _ if !failure.is_reported => Placement::Unreported,
        FailureCause::Known(unplaced) => Placement::Unplaced(Rc::clone(unplaced)),
        FailureCause::Pools(_) => Placement::Unplaced(Rc::default()),
    }
}

/// The place of a pod on an existing node.
pub(crate) fn place_on(origin: NodeOrigin<'_>) -> Placement<'_> {
    match origin {
        NodeOrigin::Object(object) => Placement::Existing(object),
        NodeOrigin::Launched(claim) => Placement::New(claim),
        NodeOrigin::Added(name) => Placement::Added(name),
    }
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
    let first_id = cheapest.first().map(|(id, _)| *id);
    let first = first_id.and_then(|id| catalog.resources.get(id));
    let price_in = |capacity_type| first_id.and_then(|id| price_in(claim, id, capacity_type));
    SimulatedClaim {
        pool: claim.pool.object,
        pods: claim.pods.clone(),
        instance_types: types.count(),
        offered: launchable.count(),
        cheapest: cheapest.iter().filter_map(with_name).collect(),
        on_demand_price: price_in("on-demand"),
        spot_price: price_in("spot"),
        zones: zones.into_iter().collect(),
        capacity_types: capacity_types.into_iter().collect(),
        requests: list(&claim.requests, names),
        allocatable: first.map(|resources| list(&resources.allocatable, names)).unwrap_or_default(),
        requirements: written(claim.requirements.iter(), inclusive),
        reservations: claim.reserved.iter().copied().collect(),
        round: 1,
    }
}

/// The price of an instance type of a new node in a capacity type, whether or not the node may have the capacity type.
fn price_in(claim: &Claim<'_>, id: TypeId, capacity_type: &'static str) -> Option<f64> {
    let mut requirements = claim.requirements.clone();
    for key in [labels::CAPACITY_TYPE].into_iter().chain(RESERVATION_LABELS) {
        requirements.remove(key);
    }
    requirements.add(labels::CAPACITY_TYPE, Requirement::is(capacity_type));
    let price = Catalog::price(claim.pool.catalog.compatible_offerings(&requirements), id);
    (price < f64::MAX).then_some(price)
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
