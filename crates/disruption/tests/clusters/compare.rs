//! Comparison of a judgement with what the controllers did.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::{Release, Releases};
use karpwarden_disruption::command::{Command, Replacement};
use karpwarden_disruption::event::Event;
use karpwarden_disruption::judgement::{JudgedMethod, Judgement};
use serde_json::{Value as Json, json};
use values::quantity::Quantity;

/// The differences of a judgement from what was recorded. `only` names the method that was run alone.
pub(crate) fn differences(
    expect: &Json,
    judgement: &Judgement<'_>,
    release: Release,
    only: Option<&str>,
) -> Vec<String> {
    let mut all = nodes(expect, judgement, release);
    if Releases::since(14).contains(release) {
        all.extend(totals(expect, judgement));
    }
    let methods = expect["methods"].as_object().unwrap();
    for (name, expected) in methods {
        match judgement.methods.iter().find(|judged| judged.method.name() == name) {
            Some(judged) => {
                all.extend(
                    method(expected, judged, release).into_iter().map(|text| format!("{name}: {text}")),
                );
            }
            // A case that is the same in an older release has the methods and events of the newer one.
            None if name == "StaticDrift" && !Releases::since(8).contains(release) => {}
            None => all.push(format!("{name}: unknown method")),
        }
    }
    let missing = judgement.methods.iter().filter(|judged| !methods.contains_key(judged.method.name()));
    all.extend(missing.filter(|_| only.is_none()).map(|judged| format!("also {:?}", judged.method)));
    let acts = match only {
        None => judgement.acts,
        Some(only) => {
            let run = judgement.methods.iter().find(|judged| judged.method.name() == only);
            run.filter(|judged| !judged.commands.is_empty()).map(|judged| judged.method)
        }
    };
    let acts = acts.map_or("none", |method| method.name());
    if expect["acts"] != acts {
        all.push(format!("acts {acts} instead of {}", expect["acts"]));
    }
    all
}

fn near(one: f64, other: &Json) -> bool {
    // Zero is left out of what was recorded.
    let other = other.as_f64().unwrap_or_default();
    (one - other).abs() <= 1e-6 * other.abs().max(1.0)
}

fn nodes(expect: &Json, judgement: &Judgement<'_>, release: Release) -> Vec<String> {
    let mut all = Vec::new();
    let expected = expect["nodes"].as_object().unwrap();
    let eventual = expect["notCandidateEventual"].as_object();
    for judged in &judgement.nodes {
        // Karpenter names a node that has not joined by its NodeClaim.
        let claim = judged.node.claim.filter(|_| !judged.node.is_registered());
        let name = claim.map_or(judged.node.name(), |claim| claim.object().name());
        let message = judged.blocker.as_ref().map(|blocker| blocker.message(release));
        if expect["notCandidate"][name].as_str() != message.as_deref() {
            all.push(format!("{name}: {message:?} instead of {}", expect["notCandidate"][name]));
        }
        let later = judged.eventual_blocker.as_ref().map(|blocker| blocker.message(release));
        if eventual.is_some_and(|all| all.get(name).and_then(Json::as_str) != later.as_deref()) {
            all.push(format!("{name}: eventual {later:?}"));
        }
        match (judged.costs, expected.get(name)) {
            (Some(costs), Some(expected)) => {
                let mut numbers = vec![("disruptionCost", costs.disruption)];
                if Releases::since(14).contains(release) {
                    numbers.push(("price", costs.price.unwrap_or_default()));
                    numbers.push(("rescheduleCost", costs.rescheduling));
                    numbers.push(("savingsRatio", costs.savings_ratio));
                    if expected["empty"] != costs.is_empty {
                        all.push(format!(
                            "{name}: empty {} instead of {}",
                            costs.is_empty, expected["empty"]
                        ));
                    }
                }
                for (key, number) in numbers {
                    if !near(number, &expected[key]) {
                        all.push(format!("{name}: {key} {number} instead of {}", expected[key]));
                    }
                }
            }
            (None, None) => {}
            (costs, expected) => all.push(format!("{name}: candidate {costs:?} instead of {expected:?}")),
        }
    }
    let known: BTreeSet<&str> = judgement.nodes.iter().map(|judged| judged.node.name()).collect();
    all.extend(
        expected.keys().filter(|name| !known.contains(name.as_str())).map(|name| format!("no {name}")),
    );
    all
}

fn totals(expect: &Json, judgement: &Judgement<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (name, expected) in expect["poolTotals"].as_object().into_iter().flatten() {
        let pool = judgement.pools.iter().find(|pool| pool.name == *name);
        let totals = pool.and_then(|pool| pool.totals).unwrap_or_default();
        if !near(totals.cost, &expected["cost"]) || !near(totals.disruption, &expected["disruption"]) {
            all.push(format!("{name}: totals {totals:?} instead of {expected}"));
        }
    }
    all
}

fn method(expected: &Json, judged: &JudgedMethod, release: Release) -> Vec<String> {
    let mut all = Vec::new();
    let mut check = |key: &str, found: Json| {
        if !expected[key].is_null() && expected[key] != found {
            all.push(format!("{key} {found} instead of {}", expected[key]));
        }
    };
    check("candidates", json!(judged.candidates));
    if expected["budget"].is_object() {
        check("budget", json!(judged.budget));
    }
    for (key, found) in [
        ("budgetEvents", &judged.budget_events),
        ("events", &judged.events),
        ("computeEvents", &judged.compute_events),
    ] {
        let partial = expected[format!("{key}Partial")] == true;
        let wanted = expected[key].as_array().into_iter().flatten();
        let wanted: Vec<&Json> = wanted.filter(|event| is_published(event, release)).collect();
        all.extend(events(key, &wanted, found, partial));
    }
    if expected["commandsVary"] == true {
        all.extend(varying(expected, judged));
    } else {
        all.extend(commands(&expected["commands"], &judged.commands));
    }
    all
}

/// A message without the pods that it names: of more than five, Karpenter names any.
fn without_order(message: &str) -> String {
    match message.split_once(" => ") {
        Some((_, rest)) if rest.contains("  and ") => {
            let others = rest.rsplit("  and ").next().unwrap();
            format!("Not all pods would schedule, and {others}")
        }
        _ => message.to_owned(),
    }
}

/// Whether a release publishes an event at all.
fn is_published(event: &Json, release: Release) -> bool {
    match event["reason"].as_str().unwrap() {
        "ConsolidationCandidate" => Releases::since(9).contains(release),
        "DoNotDisruptUntil" | "DoNotDisruptGracePeriodElapsed" | "InvalidDoNotDisruptAnnotation" => {
            Releases::since(12).contains(release)
        }
        _ => true,
    }
}

/// Events as a set. Of partial ones, only the events that every run had are recorded.
fn events(key: &str, expected: &[&Json], found: &[Event], partial: bool) -> Vec<String> {
    let text = |event: &Json| {
        let prefix = || event["messagePrefix"].as_str().map(|_| "Not all pods would schedule, and");
        let message = event["message"].as_str().or_else(prefix).unwrap();
        let message = without_order(message);
        format!("{} {} {message}", event["on"].as_str().unwrap(), event["reason"].as_str().unwrap())
    };
    let expected: BTreeSet<String> = expected.iter().map(|event| text(event)).collect();
    let found: BTreeSet<String> = found
        .iter()
        .map(|event| format!("{} {} {}", event.on, event.reason, without_order(&event.message)))
        .collect();
    let is_found =
        |text: &&String| found.iter().any(|found| found == *text || found.starts_with(text.as_str()));
    let missing = expected.iter().filter(|text| !is_found(text)).map(|text| format!("{key}: no {text}"));
    let is_wanted =
        |text: &&String| partial || expected.iter().any(|wanted| text.starts_with(wanted.as_str()));
    let more = found.iter().filter(|text| !is_wanted(text)).map(|text| format!("{key}: also {text}"));
    missing.chain(more).collect()
}

fn commands(expected: &Json, found: &[Command]) -> Vec<String> {
    let expected = expected.as_array().cloned().unwrap_or_default();
    if expected.len() != found.len() {
        let texts: Vec<String> = found.iter().map(summary).map(|summary| summary.to_string()).collect();
        return vec![format!("{} commands {texts:?} instead of {}", found.len(), json!(expected))];
    }
    let mut all = Vec::new();
    for (expected, found) in expected.iter().zip(found) {
        let mut names = found.candidates.clone();
        names.sort();
        let mut wanted: Vec<&str> =
            expected["candidates"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        wanted.sort_unstable();
        if expected["decision"] != found.decision.name() || wanted != names {
            all.push(format!("command {} instead of {expected}", summary(found)));
            continue;
        }
        let places = json!(found.pods_to_existing);
        if sorted(&expected["podsToExisting"]) != sorted(&places) {
            all.push(format!("pods {places} instead of {}", expected["podsToExisting"]));
        }
        if !expected["savings"].is_null() && !near(found.savings, &expected["savings"]) {
            all.push(format!("savings {} instead of {}", found.savings, expected["savings"]));
        }
        all.extend(replacements(&expected["replacements"], &found.replacements));
    }
    all
}

fn sorted(map: &Json) -> BTreeMap<String, BTreeSet<String>> {
    let members = map.as_object().into_iter().flatten();
    let names = |list: &Json| list.as_array().into_iter().flatten().map(ToString::to_string).collect();
    members.map(|(node, pods)| (node.clone(), names(pods))).collect()
}

fn summary(command: &Command) -> Json {
    let types: Vec<usize> = command.replacements.iter().map(|node| node.instance_types).collect();
    json!({"decision": command.decision.name(), "candidates": command.candidates, "types": types})
}

fn replacements(expected: &Json, found: &[Replacement]) -> Vec<String> {
    let expected = expected.as_array().unwrap();
    if expected.len() != found.len() {
        return vec![format!("{} replacements instead of {}", found.len(), expected.len())];
    }
    let mut all = Vec::new();
    for (number, wanted) in expected.iter().enumerate() {
        let pods = |node: &Replacement| {
            let mut pods = node.pods.clone();
            pods.sort();
            json!(pods)
        };
        let same = |node: &&Replacement| pods(node) == wanted["pods"];
        let Some(node) = found.iter().find(same).or_else(|| found.get(number)) else { continue };
        let cheapest: Vec<&str> = node.cheapest.iter().take(5).map(|(name, _)| *name).collect();
        let pods = if node.pods.is_empty() { Json::Null } else { pods(node) };
        for (key, value) in [
            ("pool", json!(node.pool)),
            ("pods", pods),
            ("types", json!(node.instance_types)),
            ("offered", json!(node.offered)),
            ("cheapest", json!(cheapest)),
            ("zones", json!(node.zones)),
            ("capacityTypes", json!(node.capacity_types)),
        ] {
            if !wanted[key].is_null() && wanted[key] != value {
                all.push(format!("{key} {value} instead of {}", wanted[key]));
            }
        }
        let price = node.cheapest.first().map(|(_, price)| *price).unwrap_or_default();
        if !wanted["price"].is_null() && !near(price, &wanted["price"]) {
            all.push(format!("price {price} instead of {}", wanted["price"]));
        }
        all.extend(requests(&wanted["requests"], node));
        all.extend(requirements(&wanted["requirements"], node));
    }
    all
}

fn requests(expected: &Json, node: &Replacement) -> Vec<String> {
    let parse = |text: &str| Quantity::parse(text).unwrap();
    let wanted: BTreeMap<&str, Quantity> = expected
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, text)| (name.as_str(), parse(text.as_str().unwrap())))
        .collect();
    let found: BTreeMap<&str, Quantity> =
        node.requests.iter().map(|(name, text)| (name.as_str(), parse(text))).collect();
    if wanted == found { Vec::new() } else { vec![format!("requests {found:?} instead of {wanted:?}")] }
}

fn requirements(expected: &Json, node: &Replacement) -> Vec<String> {
    let wanted: BTreeMap<&str, String> =
        expected.as_object().into_iter().flatten().map(|(key, list)| (key.as_str(), written(list))).collect();
    let found: BTreeMap<&str, String> =
        node.requirements.iter().map(|(key, text)| (key.as_str(), text.clone())).collect();
    if wanted == found { Vec::new() } else { vec![format!("requirements {found:?} instead of {wanted:?}")] }
}

/// A list of recorded requirements on a label as one text.
fn written(list: &Json) -> String {
    let mut parts = Vec::new();
    for one in list.as_array().unwrap() {
        let values: Vec<&str> =
            one["values"].as_array().into_iter().flatten().map(|value| value.as_str().unwrap()).collect();
        parts.push(format!("{} {}", one["op"].as_str().unwrap(), values.join(",")).trim().to_owned());
        if let Some(least) = one["minValues"].as_i64() {
            parts.push(format!("minValues {least}"));
        }
    }
    parts.join(" ")
}

/// Commands that differ between runs: one of the observed ones, or at least their number and their kind.
fn varying(expected: &Json, judged: &JudgedMethod) -> Vec<String> {
    let count = judged.commands.len();
    let contains = |key: &str, value: &Json| {
        expected[key].as_array().is_none_or(|all| all.iter().any(|known| known == value))
    };
    let mut all = Vec::new();
    if !contains("commandCount", &json!(count)) {
        all.push(format!("{count} commands instead of {}", expected["commandCount"]));
    }
    // One entry for each run or, in older releases, for each command.
    let observed: Vec<&Json> = expected["observed"].as_array().into_iter().flatten().collect();
    let seen: Vec<&Json> = observed
        .iter()
        .flat_map(|run| run.as_array().map_or_else(|| vec![*run], |commands| commands.iter().collect()))
        .collect();
    for command in &judged.commands {
        let decision = json!(command.decision.name());
        if !contains("decisions", &decision) {
            all.push(format!("decision {decision} instead of {}", expected["decisions"]));
        }
        if !contains("candidateCounts", &json!(command.candidates.len())) {
            all.push(format!("{} candidates", command.candidates.len()));
        }
        let alike = |seen: &&Json| {
            let count = seen["candidates"].as_array().map_or(0, Vec::len);
            seen["decision"] == decision && count == command.candidates.len()
        };
        if !seen.iter().any(alike) {
            all.push(format!("{} instead of one of {seen:?}", summary(command)));
        }
    }
    all
}
