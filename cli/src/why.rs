//! `karpwarden why`: explains a pod or a node of the cluster, which it reads through kubectl.

use std::io::{self, Write};

use answers::simulation::{Placed, PlacedPod, SimulationAnswer};
use clap::{Args, Parser as _};
use engine::check::MAX_FINDINGS;
use karpwarden::simulate::Choices;
use render::human::printable;
use serde_json::Value;
use values::spelling::did_you_mean_name;

use super::arguments::{Arguments, CliCommand};
use super::collect::{ClusterFlags, LiveCluster};
use super::disruption::{self, DisruptionOptions, StorySubject};
use super::error::CommandError;
use super::form::Color;
use super::options::SettingsOptions;
use super::output;
use super::plugin;
use super::simulate::{self, SimulateOptions, SimulationFormat};
use super::status::Status;
use super::terminal;

const WHY_STATUS: &str = "\
Exit status:
  0  the pod has a node, or Karpenter would give it one; the node is explained
  1  the pod fits nowhere, or Karpenter ignores it
  2  invalid command line, or there is no such pod or node
  3  nothing could be read: kubectl is missing or does not reach the cluster
  4  some input could not be read or parsed
  5  the system refused a resource (takes precedence over all)";

/// Number of instance types to name.
const MAX_TYPES: usize = 3;

/// Explain a pod or a node of the cluster that kubectl reads.
///
/// Of a pending pod, `why` says where Karpenter would place it, or the reason of every NodePool that does not take it. Of a node, and of a pod
/// that has one, it says what keeps Karpenter from disrupting the node, whether the node is drifted, and what a drain waits for. `why` only
/// reads, never Secrets, and redacts what it reads as `collect` does. It writes no file.
#[derive(Args, Debug)]
#[command(after_help = WHY_STATUS)]
pub(crate) struct WhyArguments {
    /// Pod or node; nodeclaim/NAME and the id of an instance are nodes too.
    #[arg(value_name = "pod/NAME|node/NAME")]
    subject: String,

    #[command(flatten)]
    cluster: ClusterFlags,

    /// Namespace of the pod [default: the namespace of the context].
    #[arg(long, short, value_name = "NAME", help_heading = "Cluster")]
    namespace: Option<String>,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the version of the controller in the cluster, or else the newest known release].
    #[arg(long, value_name = "RELEASE")]
    karpenter_version: Option<String>,
}

pub(crate) fn run(why: &WhyArguments, color: Color) -> Result<Status, CommandError> {
    let (kind, name) = why.subject.split_once('/').unwrap_or_default();
    let is_pod = match kind.to_lowercase().as_str() {
        "pod" | "pods" | "po" => true,
        "node" | "nodes" | "no" | "nodeclaim" | "nodeclaims" => false,
        _ => return Err(CommandError::Usage("name a pod or a node: `pod/NAME` or `node/NAME`".to_owned())),
    };
    if name.is_empty() {
        return Err(CommandError::Usage(format!("name the {kind}: `{kind}/NAME`")));
    }
    let live = LiveCluster::read(&why.cluster, &color)?;
    if !is_pod {
        return disrupted(&live, why, StorySubject::Node(name.to_owned()), color);
    }
    let namespace = why.namespace.clone().map_or_else(|| live.namespace(), Ok)?;
    let full = format!("{namespace}/{name}");
    let found = find_pod(&live, &namespace, name)?;
    if found.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty()) {
        return disrupted(&live, why, StorySubject::Pod(full), color);
    }
    let options = SimulateOptions {
        input: live.input(),
        settings: settings(why),
        choices: Choices::default(),
        prices: None,
        format: SimulationFormat::Human,
        file: None,
        max_findings: MAX_FINDINGS,
    };
    let answer = simulate::answer(&options, &color)?;
    let pod = answer.pods.iter().find(|pod| pod.namespace == namespace && pod.name == name);
    let mut out = terminal::stdout(color);
    let written = match pod {
        Some(pod) => write(&mut out, &full, pod, &answer, other_scheduler(&found)),
        None => writeln!(out, "pod/{} needs no node: {}", printable(&full), ending(&found)),
    };
    output::unless_closed(written.and_then(|()| out.flush()))?;
    Ok(match pod.map(|pod| pod.placed) {
        Some(Placed::No | Placed::Ignored) => Status::Findings,
        Some(Placed::Untried) => Status::Unreadable,
        _ => Status::Clean,
    })
}

fn settings(why: &WhyArguments) -> SettingsOptions {
    let mut settings = SettingsOptions::default();
    settings.set_karpenter_version(why.karpenter_version.as_deref());
    settings
}

/// Tells the story of a node, as `karpwarden disruption` does.
fn disrupted(
    live: &LiveCluster,
    why: &WhyArguments,
    subject: StorySubject,
    color: Color,
) -> Result<Status, CommandError> {
    let defaults = Arguments::try_parse_from(["karpwarden", "disruption", "-"]);
    let Ok(Arguments { command: Some(CliCommand::Disruption(flags)), .. }) = defaults else {
        return Err(io::Error::other("the flags of `disruption` have no defaults").into());
    };
    let options = DisruptionOptions {
        input: live.input(),
        settings: settings(why),
        subject: Some(subject),
        ..DisruptionOptions::try_from(*flags)?
    };
    disruption::run_with(&options, color)
}

fn find_pod(live: &LiveCluster, namespace: &str, name: &str) -> Result<Value, CommandError> {
    let text =
        |pod: &Value, path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut others = Vec::new();
    for pod in live.pods() {
        let found = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
        if found.0 == namespace && found.1 == name {
            return Ok(pod);
        }
        others.push(found);
    }
    let elsewhere = others.iter().find(|(_, other)| other == name);
    let hint = if let Some((namespace, _)) = elsewhere {
        format!("; one of that name is in the namespace `{namespace}`: add `-n {namespace}`")
    } else {
        let near = others.iter().filter(|(other, _)| other == namespace).map(|(_, name)| name.as_str());
        did_you_mean_name(name, near)
    };
    Err(CommandError::Usage(format!("there is no pod `{name}` in the namespace `{namespace}`{hint}")))
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

/// The scheduler of a pod, if it is not kube-scheduler.
fn other_scheduler(pod: &Value) -> Option<&str> {
    let name = pod.pointer("/spec/schedulerName")?.as_str()?;
    (!matches!(name, "" | "default-scheduler")).then_some(name)
}

/// Writes where a pending pod would go, or why it goes nowhere.
fn write(
    out: &mut dyn Write,
    name: &str,
    pod: &PlacedPod,
    answer: &SimulationAnswer,
    other_scheduler: Option<&str>,
) -> io::Result<()> {
    let name = printable(name);
    match pod.placed {
        Placed::New => {
            let node = pod.node_claim.and_then(|index| answer.node_claims.get(index));
            let Some(node) = node else { return writeln!(out, "pod/{name} would get a new node") };
            writeln!(out, "pod/{name} would get a new node of NodePool {}", printable(&node.node_pool))?;
            let types = node.cheapest.iter().take(MAX_TYPES).map(|one| one.name.as_str());
            let types: Vec<&str> = types.collect();
            let more = node.instance_types.saturating_sub(types.len());
            let others = if more == 0 { String::new() } else { format!(" and {more} more") };
            writeln!(out, "  types     {}{others}", types.join(", "))?;
            writeln!(out, "  zones     {}", node.zones.join(", "))?;
            writeln!(out, "  capacity  {}", node.capacity_types.join(", "))?;
            writeln!(
                out,
                "  if it waits all the same, `{0} collect` and `{0} diagnose` show why the node does not come",
                plugin::program()
            )?;
        }
        Placed::Existing => {
            writeln!(
                out,
                "pod/{name} fits the node {}, and {} can bind it there",
                printable(&pod.node),
                printable(other_scheduler.unwrap_or("kube-scheduler"))
            )?;
        }
        Placed::Ignored => {
            writeln!(out, "Karpenter ignores pod/{name}")?;
            if let Some(field) = &pod.ignored {
                writeln!(
                    out,
                    "  {}: {}\n  to fix: {}",
                    field.path,
                    printable(&field.message),
                    printable(&field.remedy)
                )?;
            } else {
                writeln!(out, "  {}", printable(&pod.message))?;
            }
        }
        Placed::Untried => {
            writeln!(out, "it is not known where pod/{name} fits: {}", printable(&pod.message))?;
        }
        Placed::No => {
            writeln!(out, "pod/{name} fits nowhere: {}", printable(&pod.message))?;
            let same = pod.same_reasons_as.and_then(|index| answer.pods.get(index));
            for reason in &same.unwrap_or(pod).reasons {
                writeln!(out, "  NodePool {}: {}", printable(&reason.node_pool), printable(&reason.message))?;
                for (label, text) in [("nearest", &reason.nearest), ("to fit", &reason.remedy)] {
                    if !text.is_empty() {
                        writeln!(out, "    {label}: {}", printable(text))?;
                    }
                }
            }
        }
    }
    // `FailedToSchedule` in pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.1.
    if let Some(scheduler) = other_scheduler {
        writeln!(
            out,
            "the scheduler `{}` places this pod; Karpenter launches a node once its condition PodScheduled has the reason Unschedulable",
            printable(scheduler)
        )?;
    }
    for assumption in &answer.assumptions {
        writeln!(out, "assumed: {}", printable(without_flag(assumption)))?;
    }
    Ok(())
}

/// An assumption without the flag of `simulate` that replaces it, unless `why` has this flag too.
fn without_flag(assumption: &str) -> &str {
    match assumption.rsplit_once(" (`--") {
        Some((text, flag)) if !flag.starts_with("karpenter-version") => text,
        _ => assumption,
    }
}
