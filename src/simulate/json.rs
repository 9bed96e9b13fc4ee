//! The result of a simulation as a program reads it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use answers::simulation::{
    IgnoredPodField, Placed, PlacedPod, PlacementSummary, PoolObjection, ReportedNode, ReportedWorkload,
    SimulationAnswer,
};
use answers::{FieldPlace, PricedType, SCHEMA, VERSION, rounded, sorted};
use ids::Id;
use objects::location::Place;
use objects::object::Object;
use scheduling::simulation::{
    IgnoredField, Placement, PoolReason, ScaledWorkload, SimulatedClaim, SimulatedPod, Unplaced, requests_of,
};
use values::quantity::Quantity;

use super::summary::{HOURS_PER_MONTH, SimulationSummary};
use super::{Shown, ignored, remedy, words};

/// Resources that a node or a pod has.
type Amounts<'d> = [(&'d str, Quantity)];

/// Writes the result.
pub fn write(out: &mut dyn Write, shown: &Shown<'_, '_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &sorted(&answer(shown))?)?;
    writeln!(out)
}

/// The result.
pub fn answer(shown: &Shown<'_, '_>) -> SimulationAnswer {
    let outcome = shown.outcome;
    let totals = SimulationSummary::of(outcome);
    SimulationAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version: shown.simulation.settings().release.to_string(),
        verdict: words::verdict(totals, &outcome.workloads),
        summary: PlacementSummary {
            pods: totals.pods,
            new: totals.new,
            existing: totals.existing,
            unplaced: totals.unplaced,
            ignored: totals.ignored,
            untried: totals.untried,
            node_claims: totals.claims,
            rounds: outcome.rounds,
            price_per_hour: rounded(totals.price),
            price_per_month: rounded(totals.price * HOURS_PER_MONTH),
            on_demand_price_per_hour: rounded(totals.on_demand),
            on_demand_price_per_month: rounded(totals.on_demand * HOURS_PER_MONTH),
            spot_price_per_hour: rounded(totals.spot),
            spot_price_per_month: rounded(totals.spot * HOURS_PER_MONTH),
        },
        pods: pods(shown),
        node_claims: outcome.claims.iter().map(|one| claim(shown, one)).collect(),
        workloads: outcome.workloads.iter().map(workload).collect(),
        assumptions: shown.assumptions.to_vec(),
        findings: shown.findings.to_vec(),
    }
}

/// The pods. The pods of a workload follow each other, so their requests are computed once.
fn pods(shown: &Shown<'_, '_>) -> Vec<PlacedPod> {
    let release = shown.simulation.settings().release;
    let mut last = None;
    let mut all = Vec::new();
    let mut told: BTreeMap<ReasonsKey<'_>, usize> = BTreeMap::new();
    for one in &shown.outcome.pods {
        let spec = one.pod.spec().node();
        let requests = match last.take() {
            Some((of, requests)) if of == spec => requests,
            _ => requests_of(one.pod, release),
        };
        let first = reasons_key(one).map(|key| *told.entry(key).or_insert(all.len()));
        let first = first.filter(|first| *first < all.len());
        all.push(pod(shown, one, &requests, first));
        last = Some((spec, requests));
    }
    all
}

/// The reasons of a pod: the place of the pod's spec, to which the reasons point, and the place of the reasons in memory, which
/// equal pods share.
type ReasonsKey<'s> = (&'s str, usize, *const Unplaced<'s>);

fn reasons_key<'s>(pod: &'s SimulatedPod<'_>) -> Option<ReasonsKey<'s>> {
    let Placement::Unplaced(unplaced) = &pod.placement else { return None };
    let place = Place::value(pod.pod.spec().node());
    (!unplaced.reasons.is_empty()).then(|| (place.source().name(), place.span().start, Rc::as_ptr(unplaced)))
}

/// A pod. `first` is the pod before it that has the same reasons.
fn pod(
    shown: &Shown<'_, '_>,
    pod: &SimulatedPod<'_>,
    requests: &Amounts<'_>,
    first: Option<usize>,
) -> PlacedPod {
    let object = pod.pod.object();
    let nowhere = PlacedPod {
        namespace: pod.namespace.to_owned(),
        name: pod.name.clone(),
        workload: format!("{}/{}", object.kind(), object.name()),
        leaves_node: pod.leaves.unwrap_or_default().to_owned(),
        requests: texts(requests),
        usage: BTreeMap::new(),
        placed: Placed::No,
        node_claim: None,
        round: pod.round,
        node: String::new(),
        message: String::new(),
        reasons: Vec::new(),
        same_reasons_as: None,
        reasons_left_out: 0,
        ignored: pod.ignored_field.as_ref().map(|field| ignored_field(field, object)),
    };
    match &pod.placement {
        Placement::New(claim) => {
            let allocatable = shown.outcome.claims.get(*claim).map(|claim| claim.allocatable.as_slice());
            let usage = usage(requests, allocatable.unwrap_or_default());
            PlacedPod { placed: Placed::New, node_claim: Some(claim.position()), usage, ..nowhere }
        }
        Placement::Existing(node) => {
            PlacedPod { placed: Placed::Existing, node: node.name().to_owned(), ..nowhere }
        }
        Placement::Added(node) => PlacedPod { placed: Placed::Existing, node: (*node).to_owned(), ..nowhere },
        Placement::Unplaced(unplaced) => PlacedPod {
            message: unplaced.message.clone(),
            reasons: unplaced
                .reasons
                .iter()
                .filter(|_| first.is_none())
                .map(|one| objection(pod, one))
                .collect(),
            same_reasons_as: first,
            reasons_left_out: unplaced.left_out,
            ..nowhere
        },
        Placement::Ignored(message) => {
            PlacedPod { placed: Placed::Ignored, message: message.clone(), ..nowhere }
        }
        Placement::Unreported => nowhere,
        Placement::Untried => PlacedPod {
            placed: Placed::Untried,
            message: "not tried: the input takes more work than a simulation does".to_owned(),
            ..nowhere
        },
    }
}

fn ignored_field(field: &IgnoredField<'_>, object: Object<'_>) -> IgnoredPodField {
    IgnoredPodField {
        path: field.place.path(object.root()),
        place: FieldPlace::from(&field.place),
        message: ignored::problem(field),
        remedy: ignored::remedy(field),
    }
}

/// The parts of the allocatable CPU, memory and pods that are requested.
fn usage(requests: &Amounts<'_>, allocatable: &Amounts<'_>) -> BTreeMap<String, f64> {
    let find =
        |all: &Amounts<'_>, name: &str| all.iter().find(|(of, _)| *of == name).map(|(_, amount)| *amount);
    let parts = ["cpu", "memory", "pods"].into_iter().filter_map(|name| {
        let (asked, has) = (find(requests, name)?, find(allocatable, name)?);
        let millionths = asked.nano().saturating_mul(1_000_000).checked_div(has.nano()).unwrap_or_default();
        Some((name.to_owned(), f64::from(i32::try_from(millionths).ok()?) / 1e6))
    });
    parts.collect()
}

fn texts(amounts: &Amounts<'_>) -> BTreeMap<String, String> {
    amounts.iter().map(|(name, amount)| ((*name).to_owned(), amount.to_string())).collect()
}

fn objection(pod: &SimulatedPod<'_>, reason: &PoolReason<'_>) -> PoolObjection {
    let (in_pod, in_pool) = (reason.place_in_pod(pod.pod), reason.place_in_pool());
    let path = |place: Option<&Place<'_>>, object: Object<'_>| {
        place.map(|place| place.path(object.root())).unwrap_or_default()
    };
    PoolObjection {
        node_pool: reason.pool.name().to_owned(),
        reason: reason.kind,
        message: reason.message.clone(),
        nearest: remedy::unmet(reason),
        remedy: remedy::remedy(reason).unwrap_or_default(),
        pod_path: path(in_pod.as_ref(), pod.pod.object()),
        pod_place: in_pod.as_ref().map(FieldPlace::from),
        pool_path: path(in_pool.as_ref(), reason.pool),
        pool_place: in_pool.as_ref().map(FieldPlace::from),
    }
}

fn workload(scaled: &ScaledWorkload) -> ReportedWorkload {
    ReportedWorkload {
        kind: scaled.kind.clone(),
        namespace: scaled.namespace.clone(),
        name: scaled.name.clone(),
        kept: scaled.kept,
        added: scaled.added,
        removed: scaled.removed,
    }
}

fn claim(shown: &Shown<'_, '_>, claim: &SimulatedClaim<'_>) -> ReportedNode {
    let pods = claim.pods.iter().filter_map(|index| shown.outcome.pods.get(*index));
    let requirements = claim.requirements.iter().map(|(key, text)| ((*key).to_owned(), text.clone()));
    ReportedNode {
        node_pool: claim.pool.name().to_owned(),
        round: claim.round,
        pods: pods.map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect(),
        instance_types: claim.instance_types,
        cheapest: PricedType::cheapest(&claim.cheapest),
        zones: claim.zones.iter().map(ToString::to_string).collect(),
        capacity_types: claim.capacity_types.iter().map(ToString::to_string).collect(),
        requests: texts(&claim.requests),
        allocatable: texts(&claim.allocatable),
        usage: usage(&claim.requests, &claim.allocatable),
        requirements: requirements.collect(),
    }
}
