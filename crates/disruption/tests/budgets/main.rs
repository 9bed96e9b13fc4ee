//! Budgets compared with the recorded results of Karpenter; see `README.md`.
//!
//! `CASE=id` limits the test to one case.

#![cfg(test)]

use std::env;
use std::io::Read as _;

use karpenter::release::Release;
use karpwarden_disruption::allowance::{BudgetState, DisruptionReason, PoolBudgets};
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::node_pool::NodePool;
use objects::object::Object;
use serde_json::{Value as Json, json};
use values::timestamp::Timestamp;

fn cases() -> Vec<Json> {
    let packed: &[u8] = include_bytes!("cases.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn budgets_allow_what_karpenter_allows() {
    let chosen = env::var("CASE").ok();
    let cases = cases();
    let mut differing = Vec::new();
    for case in cases.iter().filter(|case| chosen.as_ref().is_none_or(|id| case["id"] == *id)) {
        let release = case["release"].as_str().into_iter();
        for release in release.chain(case["sameIn"].as_array().into_iter().flatten().filter_map(Json::as_str))
        {
            let (expected, result) = (expected(case, release), evaluate(case, release));
            if expected != result {
                differing
                    .push(format!("{} at {release}\n  expected {expected}\n  computed {result}", case["id"]));
            }
        }
    }
    assert!(cases.len() > 3000);
    assert!(differing.is_empty(), "{} differ\n{}", differing.len(), differing.join("\n"));
}

/// The recorded result. 1.4 words errors differently.
fn expected(case: &Json, release: &str) -> Json {
    if let Some(error) = case.get("decodeError") {
        return json!({"decodeError": error});
    }
    let has_error = case.get("error").is_some();
    let error =
        if release == "1.4" { json!(has_error) } else { case.get("error").cloned().unwrap_or(json!("")) };
    json!({"allowed": case["allowed"], "must": case["must"], "active": case["active"], "error": error})
}

fn evaluate(case: &Json, release: &str) -> Json {
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {"disruption": {"budgets": case["budgets"]}},
    });
    let file = File::read("case.json", pool.to_string(), &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{pool}") };
    let pool = NodePool::of(Object::all(tree)[0]).unwrap();
    let budgets = match PoolBudgets::as_written(pool, Release::parse(release).unwrap()) {
        Ok(budgets) => budgets,
        Err(error) => return json!({"decodeError": error.to_string()}),
    };
    let now = Timestamp::parse(case["time"].as_str().unwrap()).unwrap();
    let nodes = usize::try_from(case["nodes"].as_u64().unwrap()).unwrap();
    let allowance = budgets.allowance(now, nodes, reason(case["reason"].as_str().unwrap()));
    let active: Vec<Json> = budgets.states(now).into_iter().map(state).collect();
    let error = if release == "1.4" { json!(!allowance.error.is_empty()) } else { json!(allowance.error) };
    json!({"allowed": allowance.computed, "must": allowance.allowed, "active": active, "error": error})
}

fn state(state: BudgetState) -> Json {
    match state {
        BudgetState::Active => json!(true),
        BudgetState::Inactive => json!(false),
        BudgetState::Broken => json!("error"),
    }
}

fn reason(name: &str) -> DisruptionReason {
    DisruptionReason::ALL.into_iter().find(|reason| reason.name() == name).unwrap()
}
