//! Comparison of a result with a recorded one.

use std::collections::BTreeMap;

use ids::Id;
use karpwarden_scheduling::simulation::{Placement, SimulatedClaim, SimulatedPod, SimulationResult};
use serde_json::{Value as Json, json};
use values::quantity::Quantity;

use crate::message;

/// Place of a pod for the comparison.
pub(crate) fn placement(outcome: &SimulationResult<'_>, pod: &SimulatedPod<'_>) -> Json {
    match &pod.placement {
        Placement::New(claim) => {
            json!({"placed": "new", "claim": claim.position(), "pool": outcome.claims.get(*claim).unwrap().pool.name()})
        }
        Placement::Existing(node) => json!({"placed": "existing", "node": node.name()}),
        Placement::Added(name) => json!({"placed": "existing", "node": name}),
        Placement::Unplaced(unplaced) => {
            let kinds: Vec<&str> = unplaced.reasons.iter().map(|reason| reason.kind.name()).collect();
            json!({"placed": "no", "error": unplaced.message, "kinds": kinds})
        }
        Placement::Ignored(message) => json!({"placed": "ignored", "error": message}),
        Placement::Untried => json!({"placed": "untried"}),
        Placement::Unreported => json!({"placed": "no", "error": message::UNREPORTED, "kinds": []}),
    }
}

/// A new node as text.
pub(crate) fn describe(outcome: &SimulationResult<'_>, claim: &SimulatedClaim<'_>) -> String {
    fields(outcome, claim).to_string()
}

fn name(pod: &SimulatedPod<'_>) -> String {
    if pod.namespace == "default" { pod.name.clone() } else { format!("{}/{}", pod.namespace, pod.name) }
}

fn fields(outcome: &SimulationResult<'_>, claim: &SimulatedClaim<'_>) -> Json {
    let mut pods: Vec<String> = claim.pods.iter().map(|pod| name(outcome.pods.get(*pod).unwrap())).collect();
    pods.sort();
    let cheapest: Vec<&str> = claim.cheapest.iter().take(5).map(|(name, _)| *name).collect();
    let requests: BTreeMap<&str, String> =
        claim.requests.iter().map(|(name, amount)| (*name, amount.to_string())).collect();
    let requirements: BTreeMap<&str, &String> =
        claim.requirements.iter().map(|(key, requirement)| (*key, requirement)).collect();
    json!({
        "pool": claim.pool.name(), "pods": pods, "npods": pods.len(), "types": claim.instance_types,
        "offered": claim.offered, "cheapest": cheapest, "price": claim.cheapest.first().map(|(_, price)| price),
        "zones": claim.zones, "zoneCount": claim.zones.len(), "capacityTypes": claim.capacity_types,
        "requests": requests, "reservations": claim.reservations,
        "requirements": requirements,
    })
}

/// The differences of a result from the recorded one.
pub(crate) fn differences(expect: &Json, outcome: &SimulationResult<'_>) -> Vec<String> {
    let mut all = pods(expect, outcome);
    let claims: Vec<Json> = outcome.claims.iter().map(|claim| fields(outcome, claim)).collect();
    let expected = expect["claims"].as_array().cloned().unwrap_or_default();
    if expect["exact"] == true && expected.len() != claims.len() {
        all.push(format!("{} new nodes instead of {}", claims.len(), expected.len()));
    }
    // Karpenter chooses among zones with equal counts at random, and a few runs may choose the same one.
    let zones_vary = !expect["podsPerZoneSorted"].is_null();
    for (number, expected) in expected.iter().enumerate() {
        let same = |claim: &&Json| claim["pods"] == expected["pods"];
        match claims.iter().find(same).or_else(|| claims.get(number)) {
            Some(claim) => all.extend(claim_differences(number, expected, claim, zones_vary)),
            None => all.push(format!("no new node {number}")),
        }
    }
    all.extend(totals(expect, &claims));
    all.truncate(12);
    all
}

fn pods(expect: &Json, outcome: &SimulationResult<'_>) -> Vec<String> {
    let placed: BTreeMap<String, Json> =
        outcome.pods.iter().map(|pod| (name(pod), placement(outcome, pod))).collect();
    let mut all = Vec::new();
    for (name, expected) in expect["pods"].as_object().unwrap() {
        let Some(placed) = placed.get(name) else {
            all.push(format!("{name}: unknown pod"));
            continue;
        };
        if expected["placed"] == "varies" {
            continue;
        }
        let differs = |key: &str| !expected[key].is_null() && expected[key] != placed[key];
        if differs("placed") || differs("node") || differs("pool") || differs("claim") {
            all.push(format!("{name}: {placed} instead of {expected}"));
        } else if let Some(error) = expected["error"].as_str().filter(|_| expected["placed"] == "no") {
            let kinds: Vec<&str> =
                placed["kinds"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
            if !message::agree(error, placed["error"].as_str().unwrap(), &kinds) {
                all.push(format!("{name}: reasons {kinds:?} {}\n     for {error}", placed["error"]));
            }
        }
    }
    all
}

fn claim_differences(number: usize, expected: &Json, claim: &Json, zones_vary: bool) -> Vec<String> {
    let keys = [
        "pool",
        "pods",
        "types",
        "offered",
        "cheapest",
        "zones",
        "zoneCount",
        "capacityTypes",
        "reservations",
    ];
    let mut all = Vec::new();
    for key in keys.into_iter().filter(|key| !(zones_vary && *key == "zones")) {
        if !expected[key].is_null() && expected[key] != claim[key] {
            all.push(format!("node {number}: {key} {} instead of {}", claim[key], expected[key]));
        }
    }
    let price = claim["price"].as_f64().unwrap_or_default();
    if expected["price"].as_f64().is_some_and(|expected| (price - expected).abs() > 1e-9) {
        all.push(format!("node {number}: price {price} instead of {}", expected["price"]));
    }
    // Of two bounds on a label, the lower one was recorded.
    for (key, text) in expected["requirements"].as_object().into_iter().flatten() {
        let (text, found) = (text.as_str().unwrap(), claim["requirements"][key].as_str().unwrap_or_default());
        let has_bound = text.starts_with("Gt") && found.starts_with(&format!("{text} "));
        if found != text && !has_bound && !(zones_vary && key == "topology.kubernetes.io/zone") {
            all.push(format!("node {number}: {key} {found} instead of {text}"));
        }
    }
    let amounts = |json: &Json| -> BTreeMap<String, Quantity> {
        let members = json.as_object().into_iter().flatten();
        members.map(|(name, text)| (name.clone(), Quantity::parse(text.as_str().unwrap()).unwrap())).collect()
    };
    if !expected["requests"].is_null() && amounts(&expected["requests"]) != amounts(&claim["requests"]) {
        all.push(format!(
            "node {number}: requests {} instead of {}",
            claim["requests"], expected["requests"]
        ));
    }
    all
}

/// Totals where the nodes themselves varied.
fn totals(expect: &Json, claims: &[Json]) -> Vec<String> {
    let mut all = Vec::new();
    if expect["claimCount"].as_u64().is_some_and(|count| usize::try_from(count).unwrap() != claims.len()) {
        all.push(format!("{} new nodes instead of {}", claims.len(), expect["claimCount"]));
    }
    if let Some(fields) = expect["claimMultiset"]["fields"].as_array() {
        let row = |claim: &Json| {
            Json::Array(fields.iter().map(|field| claim[field.as_str().unwrap()].clone()).collect())
        };
        let mut rows: Vec<String> = claims.iter().map(|claim| row(claim).to_string()).collect();
        let values = expect["claimMultiset"]["values"].as_array().unwrap();
        let mut expected: Vec<String> = values.iter().map(ToString::to_string).collect();
        rows.sort();
        expected.sort();
        if rows != expected {
            all.push(format!("nodes {rows:?}\n     instead of {expected:?}"));
        }
    }
    if let Some(expected) = expect["podsPerZoneSorted"].as_array() {
        let mut zones: BTreeMap<String, u64> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| claim["zoneCount"] == 1) {
            *zones.entry(claim["zones"][0].to_string()).or_default() += claim["npods"].as_u64().unwrap();
        }
        let mut counts: Vec<u64> = zones.into_values().collect();
        counts.sort_unstable();
        if json!(counts) != json!(expected) {
            all.push(format!("pods in zones {counts:?} instead of {expected:?}"));
        }
    }
    all
}
