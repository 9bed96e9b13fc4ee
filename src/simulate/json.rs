//! The result of a simulation as JSON.

use std::io::{self, Write};

use objects::object::Object;
use scheduling::simulation::{Placement, PoolReason, SimulatedClaim, SimulatedPod};
use serde_json::{Map, Value, json};

use super::{Shown, summary};

/// The number of instance types to name.
const NAMED_TYPES: usize = 5;

/// Writes the result.
pub fn write(out: &mut dyn Write, shown: &Shown<'_, '_>) -> io::Result<()> {
    let outcome = shown.outcome;
    let totals = summary::of(outcome);
    let report = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "karpenterVersion": shown.simulation.settings().release.to_string(),
        "summary": {
            "pods": totals.pods,
            "new": totals.new,
            "existing": totals.existing,
            "unplaced": totals.unplaced,
            "ignored": totals.ignored,
            "nodeClaims": totals.claims,
            "pricePerHour": rounded(totals.price),
        },
        "pods": outcome.pods.iter().map(pod).collect::<Vec<_>>(),
        "nodeClaims": outcome.claims.iter().map(|one| claim(shown, one)).collect::<Vec<_>>(),
        "assumptions": shown.assumptions,
        "findings": [],
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

/// Without the noise of sums of binary fractions.
fn rounded(price: f64) -> f64 {
    (price * 1e6).round() / 1e6
}

fn pod(pod: &SimulatedPod<'_>) -> Value {
    let mut fields = json!({
        "namespace": pod.namespace, "name": pod.name, "placed": "no", "nodeClaim": null, "node": "", "message": "",
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

fn reason(pod: &SimulatedPod<'_>, reason: &PoolReason<'_>) -> Value {
    let path = |place: Option<objects::location::Place<'_>>, object: Object<'_>| {
        place.map(|place| place.path(object.root())).unwrap_or_default()
    };
    json!({
        "nodePool": reason.pool.name(),
        "reason": reason.kind.name(),
        "message": reason.message,
        "podPath": path(reason.place_in_pod(pod.pod), pod.pod.object()),
        "poolPath": path(reason.place_in_pool(), reason.pool),
    })
}

fn claim(shown: &Shown<'_, '_>, claim: &SimulatedClaim<'_>) -> Value {
    let pods = claim.pods.iter().filter_map(|index| shown.outcome.pods.get(*index));
    let names: Vec<String> = pods.map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
    let cheapest = claim.cheapest.iter().take(NAMED_TYPES);
    let cheapest: Vec<Value> =
        cheapest.map(|(name, price)| json!({"name": name, "price": rounded(*price)})).collect();
    let text = |pairs: Vec<(&str, String)>| -> Map<String, Value> {
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
    };
    json!({
        "nodePool": claim.pool.name(),
        "pods": names,
        "instanceTypes": claim.instance_types,
        "cheapest": cheapest,
        "zones": claim.zones,
        "capacityTypes": claim.capacity_types,
        "requests": text(claim.requests.iter().map(|(name, amount)| (*name, amount.to_string())).collect()),
        "requirements": text(claim.requirements.clone()),
    })
}
