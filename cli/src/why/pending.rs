//! A pod without a node: where Karpenter would place it, or why nowhere.

use answers::simulation::{Placed, PlacedPod, SimulationAnswer};
use answers::why::{ExplainedPod, PodPlacement, WhyAnswer};
use answers::{SCHEMA, VERSION};
use engine::check::MAX_FINDINGS;
use karpwarden::simulate::Choices;
use serde_json::Value;

use crate::error::CommandError;
use crate::form::Color;
use crate::options::{InputOptions, SettingsOptions};
use crate::simulate::{self, SimulateOptions, SimulationFormat};
use crate::status::Status;

/// Simulates the pods of the cluster, and keeps what is about one of them. `object` is this pod.
pub(super) fn answer(
    input: InputOptions,
    settings: SettingsOptions,
    pod: ExplainedPod,
    object: &Value,
    color: Color,
) -> Result<WhyAnswer, CommandError> {
    let options = SimulateOptions {
        input,
        settings,
        choices: Choices::default(),
        prices: None,
        format: SimulationFormat::Human,
        file: None,
        max_findings: MAX_FINDINGS,
    };
    let simulated = simulate::answer(&options, &color)?;
    let placed = simulated.pods.iter().find(|one| one.namespace == pod.namespace && one.name == pod.name);
    let placement = placed.map(|placed| placement(placed, &simulated));
    let verdict = verdict(&pod, placement.as_ref(), object);
    Ok(WhyAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version: simulated.karpenter_version,
        verdict,
        pod: Some(ExplainedPod { placement, ..pod }),
        node: None,
        // Nothing is assumed about a pod that needs no node.
        assumptions: if placed.is_some() {
            simulated.assumptions.iter().map(|text| without_flag(text).to_owned()).collect()
        } else {
            Vec::new()
        },
    })
}

pub(super) fn status(answer: &WhyAnswer) -> Status {
    let placement = answer.pod.as_ref().and_then(|pod| pod.placement.as_ref());
    match placement.map(|placement| placement.placed) {
        Some(Placed::No | Placed::Ignored) => Status::Findings,
        Some(Placed::Untried) => Status::Unreadable,
        _ => Status::Clean,
    }
}

/// The place of a pod, with what the answer of a simulation keeps apart: the new node, and reasons that pods share.
fn placement(pod: &PlacedPod, answer: &SimulationAnswer) -> PodPlacement {
    let with_reasons = pod.same_reasons_as.and_then(|index| answer.pods.get(index)).unwrap_or(pod);
    PodPlacement {
        placed: pod.placed,
        node: pod.node.clone(),
        new_node: pod.node_claim.and_then(|index| answer.node_claims.get(index)).cloned(),
        message: pod.message.clone(),
        reasons: with_reasons.reasons.clone(),
        reasons_left_out: with_reasons.reasons_left_out,
        ignored: pod.ignored.clone(),
    }
}

fn verdict(pod: &ExplainedPod, placement: Option<&PodPlacement>, object: &Value) -> String {
    let name = format!("pod/{}/{}", pod.namespace, pod.name);
    let Some(placement) = placement else { return format!("{name} needs no node: {}", ending(object)) };
    match placement.placed {
        Placed::New => match &placement.new_node {
            Some(node) => format!("{name} would get a new node of NodePool {}", node.node_pool),
            None => format!("{name} would get a new node"),
        },
        Placed::Existing => {
            let scheduler = if pod.scheduler.is_empty() { "kube-scheduler" } else { &pod.scheduler };
            format!("{name} fits the node {}, and {scheduler} can bind it there", placement.node)
        }
        Placed::Ignored => format!("Karpenter ignores {name}"),
        Placed::Untried => format!("it is not known where {name} fits: {}", placement.message),
        Placed::No => format!("{name} fits nowhere: {}", placement.message),
    }
}

/// Why the simulation has no answer about a pod without a node.
fn ending(pod: &Value) -> String {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
    match phase {
        _ if pod.pointer("/metadata/deletionTimestamp").is_some() => "it is being deleted".to_owned(),
        "Succeeded" | "Failed" => format!("it has ended, and its phase is `{phase}`"),
        _ => "Karpenter does not look at it".to_owned(),
    }
}

/// An assumption without the flag of `simulate` that replaces it, unless `why` has this flag too.
fn without_flag(assumption: &str) -> &str {
    match assumption.rsplit_once(" (`--") {
        Some((text, flag)) if !flag.starts_with("karpenter-version") => text,
        _ => assumption,
    }
}
