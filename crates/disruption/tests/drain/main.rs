//! Terminations compared with the recorded passes of Karpenter: the topic `drain` of `tests/clusters/cases.jsonl.gz`.
//!
//! `options.drain` names the node, the number of passes, the seconds between them, and the number of calls after which the
//! instance is gone. `expect.steps` has the requests, events and conditions of each pass, and what is left after it. The API
//! server of the recorded runs removed an evicted or deleted pod at once.
//!
//! `CASE=id` limits the test to one case.

#![cfg(test)]

use std::env;
use std::io::Read as _;

use karpenter::release::Release;
use karpwarden_disruption::cluster::ClusterState;
use karpwarden_disruption::drain::{DrainEvent, DrainStep, Provider, Termination};
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;
use serde_json::{Map, Value as Json, json};
use values::duration::Duration;
use values::timestamp::Timestamp;

fn cases() -> Vec<Json> {
    let packed: &[u8] = include_bytes!("../clusters/cases.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    all.filter(|case| case["topic"] == "drain").collect()
}

#[test]
fn terminations_take_the_steps_of_karpenter() {
    let chosen = env::var("CASE").ok();
    let cases = cases();
    let mut differing = Vec::new();
    for case in cases.iter().filter(|case| chosen.as_ref().is_none_or(|id| case["id"] == *id)) {
        let expected: Vec<Json> = case["expect"]["steps"].as_array().unwrap().iter().map(normal).collect();
        let steps = replay(case);
        assert!(!expected.is_empty() && expected.len() <= steps.len(), "{}", case["id"]);
        for (expected, step) in expected.iter().zip(&steps) {
            if expected != step {
                differing.push(format!("{}\n  expected {expected}\n  replayed {step}", case["id"]));
            }
        }
    }
    assert!(!cases.is_empty());
    assert!(differing.is_empty(), "{} steps differ\n{}", differing.len(), differing.join("\n"));
}

/// A recorded pass with every field, and the events in order.
fn normal(step: &Json) -> Json {
    let mut step = step.clone();
    for (field, default) in [
        ("evictions", json!([])),
        ("deletes", json!([])),
        ("events", json!([])),
        ("providerDeleteCalls", json!(0)),
    ] {
        if step.get(field).is_none() {
            step[field] = default;
        }
    }
    for field in ["evictions", "deletes", "events"] {
        step[field].as_array_mut().unwrap().sort_by_key(ToString::to_string);
    }
    step
}

fn replay(case: &Json) -> Vec<Json> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": case["manifests"]});
    let file = File::read("case.json", list.to_string(), &Limits::DEFAULT);
    let trees = file.trees();
    let objects: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
    let release = Release::parse(case["release"].as_str().unwrap()).unwrap();
    let now = Timestamp::parse(case["now"].as_str().unwrap()).unwrap();
    let cluster = ClusterState::of(&objects, &DisruptionSettings::new(release, now));
    let drain = &case["options"]["drain"];
    let provider = Provider {
        is_instance_gone: drain["instanceGone"].as_bool().unwrap(),
        delete_calls: u32::try_from(drain["deleteCalls"].as_u64().unwrap()).unwrap(),
    };
    let node = cluster.node(drain["node"].as_str().unwrap()).unwrap();
    let mut termination = Termination::new(&cluster, &objects, node, release, provider).unwrap();
    let mut steps = Vec::new();
    let mut calls = 0;
    for index in 0..drain["steps"].as_i64().unwrap() {
        let after = index * drain["stepSeconds"].as_i64().unwrap();
        let step = termination.step(now.plus(Duration::from_nanoseconds(after * 1_000_000_000)));
        calls += step.provider_delete_calls;
        steps.push(normal(&describe(after, &termination, &step)));
        if step.is_node_gone {
            break;
        }
    }
    assert!(calls <= provider.delete_calls + 1);
    steps
}

/// A pass in the form of the recorded ones, which leave out empty fields.
fn describe(at: i64, termination: &Termination<'_, '_>, step: &DrainStep) -> Json {
    let mut fields = Map::new();
    let mut set = |key: &str, value: Json| fields.insert(key.to_owned(), value);
    set("at", at.into());
    if let Some(after) = step.requeue_after {
        set("requeueAfter", format!("{}s", after.seconds()).into());
    }
    if let Some(error) = &step.error {
        set("error", error.as_str().into());
    }
    set("evictions", step.evictions.iter().map(|(pod, status)| format!("{pod} {status}")).collect());
    set("deletes", step.deletes.iter().map(|(pod, grace)| format!("{pod} grace={grace}")).collect());
    set("events", step.events.iter().map(event).collect());
    set("providerDeleteCalls", step.provider_delete_calls.into());
    set("podsLeft", termination.pods_left().collect());
    if termination.has_claim() {
        let mut conditions: Map<String, Json> =
            termination.conditions().map(|(kind, text)| (kind.to_owned(), text.into())).collect();
        conditions.insert("nodeClaimDeleting".to_owned(), "true".into());
        set("conditions", conditions.into());
    }
    if step.is_node_gone {
        set("nodeGone", true.into());
    } else {
        set("taints", termination.taints().collect());
        set("excludeBalancers", "karpenter".into());
    }
    fields.into()
}

fn event(event: &DrainEvent) -> Json {
    let mut json = json!({"on": event.on, "reason": event.reason, "message": event.message});
    if event.is_warning {
        json["type"] = "Warning".into();
    }
    json
}
