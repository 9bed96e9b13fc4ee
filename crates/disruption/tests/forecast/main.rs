//! Forecasts replayed: each command is the command that the disruption engine computes for the cluster at that instant, read anew from
//! its objects.
//!
//! The clusters are the recorded ones of `../clusters`. `CASE=id` replays one of them.

#![cfg(test)]

mod answers;
#[allow(dead_code, reason = "the judgements of the cases are compared elsewhere")]
#[path = "../clusters/case.rs"]
mod case;
mod world;

use std::collections::BTreeMap;
use std::env;

use case::Case;
use karpenter::release::Release;
use karpwarden_disruption::command::Command;
use karpwarden_disruption::forecast::{Forecast, ForecastSettings, RolloutChange, forecast};
use karpwarden_disruption::judgement::judge;
use karpwarden_disruption::methods::Method;
use manifest::{Document, File};
use objects::object::Object;
use serde_json::Value as Json;
use values::timestamp::Timestamp;
use world::World;

/// The nodes that drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drifts {
    /// The nodes with the condition.
    Recorded,
    /// Every node with a NodeClaim.
    All,
}

pub(crate) fn objects(file: &File) -> Vec<Object<'_>> {
    let trees = file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some(tree),
        _ => None,
    });
    trees.flat_map(Object::all).collect()
}

/// A summary of a command, to compare.
fn summary(method: Method, command: &Command) -> String {
    let mut names = command.candidates.clone();
    names.sort();
    format!("{}: {} {}", method.name(), command.decision.name(), names.join(" "))
}

/// The drift commands that the engine computes for a cluster, from the first method that has one.
fn drift_commands(world: &World, now: Timestamp) -> Vec<String> {
    let (file, settings) = (world.file(now), world.settings(now));
    let objects = objects(&file);
    let judgement = judge(&objects, &settings, None);
    let drift =
        judgement.methods.iter().filter(|one| matches!(one.method, Method::StaticDrift | Method::Drift));
    let acting = drift.into_iter().find(|one| !one.commands.is_empty());
    acting
        .into_iter()
        .flat_map(|one| one.commands.iter().map(|command| summary(one.method, command)))
        .collect()
}

/// The differences of a forecast from what the engine computes at each of its instants.
fn replay(forecast: &Forecast<'_>, mut world: World) -> Vec<String> {
    let mut all = Vec::new();
    // What is left of the commands of a pass.
    let mut left: Vec<String> = Vec::new();
    let mut is_after_command = false;
    for (position, change) in forecast.changes.iter().enumerate() {
        if let RolloutChange::Command(step) = &change.change {
            let step = &forecast.steps[*step];
            let found = summary(step.method, &step.command);
            if left.is_empty() {
                left = drift_commands(&world, change.at);
            }
            match left.iter().position(|one| *one == found) {
                Some(at) => drop(left.remove(at)),
                None => all.push(format!("{}: {found} instead of {left:?}", change.at)),
            }
            if step.method == Method::Drift {
                left.clear();
            }
            all.extend(world.exceeds_budgets(change.at, &step.command.candidates));
            is_after_command = true;
        }
        world.apply(change.at, &change.change, forecast);
        let next = forecast.changes.get(position + 1);
        let ends = next.is_none_or(|next| next.at > change.at);
        if ends && is_after_command && !forecast.is_cut && !forecast.is_rough {
            let more = drift_commands(&world, change.at);
            if !more.is_empty() {
                all.push(format!("{}: nothing instead of {more:?}", change.at));
            }
            is_after_command = false;
        }
    }
    all
}

/// Forecasts a case, and replays the forecast.
fn differences(case: &Case, release: Release, drifts: Drifts, steps: &mut usize) -> Vec<String> {
    let settings = case.options(release);
    let world = World::new(case.manifests(), settings.clone(), drifts == Drifts::All);
    let file = world.file(settings.now);
    let objects = objects(&file);
    let drifted: BTreeMap<&str, Timestamp> =
        world.drifted.iter().map(|(name, since)| (name.as_str(), *since)).collect();
    let result = forecast(&objects, &settings, &drifted, &ForecastSettings::default());
    *steps += result.steps.len();
    let mut all = Vec::new();
    let started = result.nodes.iter().filter(|node| node.start.is_some()).count();
    let never = result.nodes.iter().filter(|node| node.start.is_none()).count();
    if started + never != result.nodes.len() || result.nodes.len() > drifted.len() {
        all.push(format!("{started} starts and {never} others of {} nodes", drifted.len()));
    }
    if drifts == Drifts::Recorded && is_certain(&case.expect) {
        all.extend(first_step(&case.expect, &result, settings.now));
    }
    all.extend(replay(&result, world));
    all
}

/// Whether the recorded controllers gave the same commands in each run.
fn is_certain(expect: &Json) -> bool {
    ["StaticDrift", "Drift"].iter().all(|method| expect["methods"][method]["commandsVary"] != true)
}

/// The difference of the first commands from the recorded ones.
fn first_step(expect: &Json, result: &Forecast<'_>, now: Timestamp) -> Option<String> {
    let recorded = ["StaticDrift", "Drift"].into_iter().find_map(|method| {
        let commands = expect["methods"][method]["commands"].as_array().filter(|all| !all.is_empty())?;
        Some((method, commands))
    });
    let Some((method, commands)) = recorded else {
        let first = result.steps.iter().find(|step| step.at == now)?;
        return Some(format!("{} where nothing was recorded", summary(first.method, &first.command)));
    };
    let wanted = commands.iter().map(|command| {
        let names = command["candidates"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        format!("{method}: {} {}", command["decision"].as_str().unwrap(), names.join(" "))
    });
    let mut wanted: Vec<String> = wanted.collect();
    let first = result.steps.iter().take(wanted.len());
    let mut found: Vec<String> = first.map(|step| summary(step.method, &step.command)).collect();
    wanted.sort();
    found.sort();
    (wanted != found).then(|| format!("first {found:?} instead of {wanted:?}"))
}

/// Replays the cases, each in one of its releases. Cases of older releases that differ are cases of their own.
fn check(drifts: Drifts) {
    let chosen = env::var("CASE").ok();
    let mut differing = Vec::new();
    let (mut forecasts, mut steps) = (0, 0);
    for case in case::all().iter().filter(|case| chosen.as_ref().is_none_or(|id| case.id == *id)) {
        let Some(release) = case.releases.first() else { continue };
        let found = differences(case, *release, drifts, &mut steps);
        forecasts += 1;
        if !found.is_empty() {
            differing.push(format!("{} at {release}:\n  {}", case.id, found.join("\n  ")));
        }
    }
    println!("{drifts:?}: {forecasts} forecasts with {steps} commands");
    assert!(chosen.is_some() || steps > 90, "{steps} commands");
    assert!(differing.is_empty(), "{} forecasts differ\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn replays_the_nodes_that_were_recorded_as_drifted() {
    check(Drifts::Recorded);
}

#[test]
fn replays_clusters_in_which_every_node_drifts() {
    check(Drifts::All);
}
