//! The result of a simulation as JSON.

use std::io::{self, Write};

use objects::location::Place;
use objects::object::Object;
use scheduling::simulation::{Placement, PoolReason, SimulatedClaim, SimulatedPod, requests_of};
use serde_json::{Map, Value, json};
use values::quantity::Quantity;

use super::{Shown, summary, words};

/// The number of instance types to name.
const NAMED_TYPES: usize = 5;

/// Resources that a node or a pod has.
type Amounts<'d> = [(&'d str, Quantity)];

/// Writes the result.
pub fn write(out: &mut dyn Write, shown: &Shown<'_, '_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &report(shown))?;
    writeln!(out)
}

/// The result.
pub fn report(shown: &Shown<'_, '_>) -> Value {
    let outcome = shown.outcome;
    let totals = summary::of(outcome);
    json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "karpenterVersion": shown.simulation.settings().release.to_string(),
        "verdict": words::verdict(totals),
        "summary": {
            "pods": totals.pods,
            "new": totals.new,
            "existing": totals.existing,
            "unplaced": totals.unplaced,
            "ignored": totals.ignored,
            "nodeClaims": totals.claims,
            "pricePerHour": rounded(totals.price),
        },
        "pods": pods(shown),
        "nodeClaims": outcome.claims.iter().map(|one| claim(shown, one)).collect::<Vec<_>>(),
        "assumptions": shown.assumptions,
        "findings": shown.findings,
    })
}

/// Without the noise of sums of binary fractions.
fn rounded(price: f64) -> f64 {
    (price * 1e6).round() / 1e6
}

/// The pods. The pods of a workload follow each other, so their requests are computed once.
fn pods(shown: &Shown<'_, '_>) -> Vec<Value> {
    let release = shown.simulation.settings().release;
    let mut last = None;
    let mut all = Vec::new();
    for one in &shown.outcome.pods {
        let spec = one.pod.spec().node();
        let requests = match last.take() {
            Some((of, requests)) if of == spec => requests,
            _ => requests_of(one.pod, release),
        };
        all.push(pod(shown, one, &requests));
        last = Some((spec, requests));
    }
    all
}

fn pod(shown: &Shown<'_, '_>, pod: &SimulatedPod<'_>, requests: &Amounts<'_>) -> Value {
    let object = pod.pod.object();
    let mut fields = json!({
        "namespace": pod.namespace, "name": pod.name, "workload": format!("{}/{}", object.kind(), object.name()),
        "requests": texts(requests), "usage": {}, "placed": "no", "nodeClaim": null, "node": "", "message": "",
        "reasons": [],
    });
    let mut set = |key: &str, value: Value| {
        if let Some(fields) = fields.as_object_mut() {
            fields.insert(key.to_owned(), value);
        }
    };
    match &pod.placement {
        Placement::New(claim) => {
            set("placed", "new".into());
            set("nodeClaim", (*claim).into());
            let allocatable = shown.outcome.claims.get(*claim).map(|claim| claim.allocatable.as_slice());
            set("usage", usage(requests, allocatable.unwrap_or_default()));
        }
        Placement::Existing(node) => {
            set("placed", "existing".into());
            set("node", node.name().into());
        }
        Placement::Unplaced(unplaced) => {
            set("message", unplaced.message.as_str().into());
            set("reasons", unplaced.reasons.iter().map(|one| reason(pod, one)).collect());
        }
        Placement::Ignored(message) => {
            set("placed", "ignored".into());
            set("message", message.as_str().into());
        }
        Placement::Unreported => {}
    }
    fields
}

/// The parts of the allocatable CPU, memory and pods that are requested.
fn usage(requests: &Amounts<'_>, allocatable: &Amounts<'_>) -> Value {
    let find =
        |all: &Amounts<'_>, name: &str| all.iter().find(|(of, _)| *of == name).map(|(_, amount)| *amount);
    let mut parts = Map::new();
    for name in ["cpu", "memory", "pods"] {
        let (Some(asked), Some(has)) = (find(requests, name), find(allocatable, name)) else { continue };
        let millionths = asked.nano().saturating_mul(1_000_000).checked_div(has.nano()).unwrap_or_default();
        if let Ok(millionths) = i32::try_from(millionths) {
            parts.insert(name.to_owned(), (f64::from(millionths) / 1e6).into());
        }
    }
    Value::Object(parts)
}

fn texts(amounts: &Amounts<'_>) -> Map<String, Value> {
    amounts.iter().map(|(name, amount)| ((*name).to_owned(), amount.to_string().into())).collect()
}

fn reason(pod: &SimulatedPod<'_>, reason: &PoolReason<'_>) -> Value {
    let (in_pod, in_pool) = (reason.place_in_pod(pod.pod), reason.place_in_pool());
    let path = |place: Option<&Place<'_>>, object: Object<'_>| {
        place.map(|place| place.path(object.root())).unwrap_or_default()
    };
    json!({
        "nodePool": reason.pool.name(),
        "reason": reason.kind.name(),
        "message": reason.message,
        "nearest": reason.nearest.map(|miss| words::nearest(reason.pool.name(), miss)).unwrap_or_default(),
        "remedy": words::remedy(reason).unwrap_or_default(),
        "podPath": path(in_pod.as_ref(), pod.pod.object()),
        "podPlace": in_pod.as_ref().map(place),
        "poolPath": path(in_pool.as_ref(), reason.pool),
        "poolPlace": in_pool.as_ref().map(place),
    })
}

/// The place of a field in its file.
fn place(place: &Place<'_>) -> Value {
    let (source, span) = (place.source(), place.span());
    let (from, to) = (source.position(span.start), source.position(span.end));
    json!({
        "file": source.name(), "line": from.line, "column": from.column, "offset": from.offset, "endOffset": to.offset,
    })
}

fn claim(shown: &Shown<'_, '_>, claim: &SimulatedClaim<'_>) -> Value {
    let pods = claim.pods.iter().filter_map(|index| shown.outcome.pods.get(*index));
    let names: Vec<String> = pods.map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
    let cheapest = claim.cheapest.iter().take(NAMED_TYPES);
    let cheapest: Vec<Value> =
        cheapest.map(|(name, price)| json!({"name": name, "price": rounded(*price)})).collect();
    let requirements = claim.requirements.iter().map(|(key, text)| ((*key).to_owned(), text.as_str().into()));
    json!({
        "nodePool": claim.pool.name(),
        "pods": names,
        "instanceTypes": claim.instance_types,
        "cheapest": cheapest,
        "zones": claim.zones,
        "capacityTypes": claim.capacity_types,
        "requests": texts(&claim.requests),
        "allocatable": texts(&claim.allocatable),
        "usage": usage(&claim.requests, &claim.allocatable),
        "requirements": requirements.collect::<Map<_, _>>(),
    })
}
