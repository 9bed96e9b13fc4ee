//! `respond`: reads requests, one JSON object a line, and prints policy-server's AdmissionResponse to each.
//!
//! A request has the fields of the playground's Admission tab: `operation`, `object`, `oldObject`, `others`, `settings`, `mode`,
//! `mutating`, `connected`. The response is `null` if the policy does not match the request.

use std::{
    env, fs,
    io::{self, BufRead as _, Write as _},
};

use anyhow::{Context as _, Result};
use karpwarden_admit::{FakeCluster, Policy, PolicyModule, Request, metadata, server::Mode};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    operation: String,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    old_object: Value,
    others: Vec<Value>,
    settings: Value,
    mode: String,
    mutating: bool,
    connected: bool,
}

fn main() -> Result<()> {
    let path = env::args_os().nth(1).context("usage: respond MODULE.wasm < REQUESTS")?;
    let bytes = fs::read(path)?;
    let described = metadata::embedded(&bytes).unwrap_or_default();
    let module = PolicyModule::load(&bytes)?;
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = respond(serde_json::from_str(&line?)?, &module, &described)?;
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

fn respond(review: Review, module: &PolicyModule, described: &Value) -> Result<Value> {
    let request = match review.operation.as_str() {
        "CREATE" => Request::create(review.object),
        "UPDATE" => Request::update(review.old_object, review.object),
        _ => Request::delete(review.old_object),
    };
    let request = request.to_json()?;
    if !metadata::matches(described, &request) {
        return Ok(Value::Null);
    }
    let mode = if review.mode == "monitor" { Mode::Monitor } else { Mode::Protect };
    let policy = Policy::new(module.clone()).settings(review.settings).mode(mode).mutating(review.mutating);
    let granted = if review.connected { metadata::context_aware_resources(described) } else { Vec::new() };
    let cluster = FakeCluster::holding(review.others).granting(granted);
    Ok(serde_json::to_value(policy.review(&request, &cluster))?)
}
