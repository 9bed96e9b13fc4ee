//! `respond`: answers requests, one JSON object a line, with the AdmissionResponse that policy-server would give.
//!
//! A line holds what the playground's Admission tab asks: `operation`, `object`, `oldObject`, `others`, `settings`, `mode`,
//! `mutating`, `connected`. Its answer is a line too; `null` where no rule of the policy is about the request.

use std::{
    env, fs,
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
};

use karpwarden_admit::{Cluster, Module, Policy, Request, metadata, server::Mode};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
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

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn core::error::Error>> {
    let path = env::args_os().nth(1).ok_or("usage: respond MODULE.wasm < REQUESTS")?;
    let bytes = fs::read(path)?;
    let described = metadata::embedded(&bytes).unwrap_or_default();
    let module = Module::load(&bytes).map_err(|failure| failure.to_string())?;
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = respond(serde_json::from_str(&line?)?, &module, &described)?;
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

fn respond(asked: Asked, module: &Module, described: &Value) -> Result<Value, Box<dyn core::error::Error>> {
    let request = match asked.operation.as_str() {
        "CREATE" => Request::create(asked.object),
        "UPDATE" => Request::update(asked.old_object, asked.object),
        _ => Request::delete(asked.old_object),
    };
    let request = request.to_json()?;
    if !metadata::is_about(described, &request) {
        return Ok(Value::Null);
    }
    let mode = if asked.mode == "monitor" { Mode::Monitor } else { Mode::Protect };
    let policy = Policy::new(module.clone()).settings(asked.settings).mode(mode).mutating(asked.mutating);
    let granted = if asked.connected { metadata::context_aware_resources(described) } else { Vec::new() };
    let cluster = Cluster::holding(asked.others).granting(granted);
    Ok(serde_json::to_value(policy.review(&request, &cluster))?)
}
