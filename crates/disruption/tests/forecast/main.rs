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

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use case::Case;
use karpenter::release::Release;
use karpwarden_disruption::cluster::{ClusterState, StateNode};
use karpwarden_disruption::command::Command;
use karpwarden_disruption::forecast::{Forecast, ForecastSettings, RolloutChange, forecast};
use karpwarden_disruption::judgement::judge;
use karpwarden_disruption::methods::Method;
use manifest::File;
use objects::object::Object;
use serde_json::Value as Json;
use values::duration::Duration;
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
    let trees = file.trees();
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
    let (file, settings) = (world.file(), world.settings(now));
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

/// The passes of the disruption controller in a replay.
struct Passes {
    /// The last pass in which no method acted.
    last: Timestamp,
    /// The pass that is to come because of a change.
    due: Option<Timestamp>,
    /// Whether a pass has started a command, and goes on.
    is_acting: bool,
}

impl Passes {
    /// Expects the pass after a change: the controller polls every 10 seconds.
    fn expect(&mut self, change: Timestamp) {
        let poll = 10_000_000_000;
        let polls = (change.since(self.last).nanoseconds() + poll - 1).div_euclid(poll).max(1);
        self.due.get_or_insert(self.last.plus(Duration::from_nanoseconds(polls * poll)));
    }

    /// Ends a pass: no method acts any more. Returns the commands that the engine computes all the same.
    fn end(&mut self, world: &World, at: Timestamp) -> Option<String> {
        (self.last, self.due, self.is_acting) = (at, None, false);
        let more = drift_commands(world, at);
        (!more.is_empty()).then(|| format!("{at}: nothing instead of {more:?}"))
    }
}

/// The differences of a forecast from what the engine computes at the start and at each pass after a change.
fn replay(forecast: &Forecast<'_>, mut world: World, start: Timestamp) -> Vec<String> {
    let mut all = Vec::new();
    let is_exact = !forecast.is_cut && !forecast.is_rough;
    // The rest of the commands of a pass.
    let mut left: Vec<String> = Vec::new();
    let mut passes = Passes { last: start, due: Some(start), is_acting: false };
    for (position, change) in forecast.changes.iter().enumerate() {
        let is_command = matches!(change.change, RolloutChange::Command(_));
        if let Some(due) = passes.due.filter(|due| is_exact && *due < change.at) {
            all.extend(passes.end(&world, due));
        }
        let ends_pass = matches!(change.change, RolloutChange::Gone(_) | RolloutChange::Started(_));
        if passes.is_acting && ends_pass && is_exact {
            all.extend(passes.end(&world, change.at));
        }
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
            passes.is_acting = true;
        }
        world.apply(change.at, &change.change, forecast);
        if !is_command && !passes.is_acting {
            passes.expect(change.at);
        }
        let next = forecast.changes.get(position + 1);
        if passes.is_acting && is_exact && next.is_none_or(|next| next.at > change.at) {
            all.extend(passes.end(&world, change.at));
        }
    }
    let horizon = start.plus(ForecastSettings::default().horizon);
    if let Some(due) = passes.due.filter(|due| is_exact && *due <= horizon) {
        all.extend(passes.end(&world, due));
    }
    all
}

/// Forecasts a case, and replays the forecast.
fn differences(case: &Case, release: Release, drifts: Drifts, steps: &mut usize) -> Vec<String> {
    let settings = case.options(release);
    let world = World::new(case.manifests(), settings.clone(), drifts == Drifts::All);
    let file = world.file();
    let objects = objects(&file);
    let drifted: BTreeMap<&str, Timestamp> =
        world.drifted.iter().map(|(name, since)| (name.as_str(), *since)).collect();
    let result = forecast(&objects, &settings, &drifted, &ForecastSettings::default());
    *steps += result.steps.len();
    let mut all = Vec::new();
    let found: BTreeSet<&str> = result.nodes.iter().map(|node| node.name).collect();
    let state = ClusterState::of(&objects, &settings);
    let existing = state.nodes.iter().map(StateNode::name);
    let wanted: BTreeSet<&str> = existing.filter(|name| drifted.contains_key(name)).collect();
    if found != wanted {
        all.push(format!("forecast of {found:?} instead of {wanted:?}"));
    }
    if drifts == Drifts::Recorded && is_certain(&case.expect) {
        all.extend(first_step(&case.expect, &result, settings.now));
    }
    all.extend(replay(&result, world, settings.now));
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
