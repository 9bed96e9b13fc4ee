//! `karpwarden why`: explains a pod or a node of the cluster, which it reads through kubectl.

mod human;
mod pending;
mod subject;

use std::io::{self, Write};

use answers::why::{ExplainedPod, WhyAnswer};
use answers::{SCHEMA, VERSION};
use clap::{Args, Parser as _};
use serde_json::Value;
use values::spelling::did_you_mean_name;

use super::arguments::{Arguments, CliCommand};
use super::collect::{ClusterFlags, LiveCluster};
use super::disruption::{self, DisruptionOptions, ExplainedSubject, StorySubject};
use super::error::CommandError;
use super::form::{Color, ListFormat};
use super::options::SettingsOptions;
use super::output::{self, Stream};
use super::safe_writer::Escaping;
use super::status::Status;
pub(crate) use subject::WhySubject;

const WHY_STATUS: &str = "\
Exit status:
  0  the pod has a node, or Karpenter would give it one; the node is explained
  1  the pod fits nowhere, or Karpenter ignores it
  2  invalid command line, or there is no such pod or node
  3  nothing could be read: kubectl is missing or does not reach the cluster
  4  some input could not be read or parsed
  5  the system refused a resource (takes precedence over all)";

/// Explain a pod or a node of the cluster that kubectl reads.
///
/// Of a pending pod, `why` says where Karpenter would place it, or the reason of every NodePool that does not take it. Of a node, and of a pod
/// that has one, it says what keeps Karpenter from disrupting the node, whether the node is drifted, and what a drain waits for. `why` only
/// reads, never Secrets, and redacts what it reads as `collect` does. It writes no file.
#[derive(Args, Debug)]
#[command(after_help = WHY_STATUS)]
pub(crate) struct WhyArguments {
    /// Pod or node, in one word or two, such as `pod/web-0` or `pod web-0`; nodeclaim/NAME and the id of an instance are nodes too.
    #[arg(value_name = "pod/NAME|node/NAME")]
    subject: String,

    /// Name of the pod or node, if the first word has none.
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    cluster: ClusterFlags,

    /// Namespace of the pod [default: the namespace of the context].
    #[arg(long, short, value_name = "NAME", help_heading = "Cluster")]
    namespace: Option<String>,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the version of the controller in the cluster, or else the newest known release].
    #[arg(long, value_name = "RELEASE")]
    karpenter_version: Option<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: ListFormat,
}

pub(crate) fn run(why: &WhyArguments, color: Color) -> Result<Status, CommandError> {
    let subject = WhySubject::parse(&why.subject, why.name.as_deref())?;
    let live = LiveCluster::read(&why.cluster, &color)?;
    let name = match subject {
        WhySubject::Node(name) => return disrupted(&live, why, &StorySubject::Node(name), color),
        WhySubject::Pod(name) => name,
    };
    let namespace = why.namespace.clone().map_or_else(|| live.namespace(), Ok)?;
    let found = find_pod(&live, &namespace, &name)?;
    if found.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty()) {
        return disrupted(&live, why, &StorySubject::Pod(format!("{namespace}/{name}")), color);
    }
    let pod = ExplainedPod {
        namespace,
        name,
        scheduler: other_scheduler(&found).unwrap_or_default().to_owned(),
        protection: String::new(),
        placement: None,
    };
    let answer = pending::answer(live.input(), settings(why), pod, &found, color)?;
    match why.format {
        ListFormat::Json => write_json(&answer, color)?,
        ListFormat::Human => human::print(&answer, color)?,
    }
    Ok(pending::status(&answer))
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
    subject: &StorySubject,
    color: Color,
) -> Result<Status, CommandError> {
    let defaults = Arguments::try_parse_from(["karpwarden", "disruption", "-"]);
    let Ok(Arguments { command: Some(CliCommand::Disruption(flags)), .. }) = defaults else {
        return Err(io::Error::other("the flags of `disruption` have no defaults").into());
    };
    let options = DisruptionOptions {
        input: live.input(),
        settings: settings(why),
        subject: Some(subject.clone()),
        ..DisruptionOptions::try_from(*flags)?
    };
    if why.format == ListFormat::Human {
        return disruption::run_with(&options, color);
    }
    let Some(explained) = disruption::explained(&options, &color)? else {
        return Err(io::Error::other("the node has no story").into());
    };
    let status = explained.status;
    write_json(&of_node(explained, subject), color)?;
    Ok(status)
}

/// The explanation of a node, or of a pod that has a node.
fn of_node(explained: ExplainedSubject, subject: &StorySubject) -> WhyAnswer {
    let ExplainedSubject { node, state, protection, karpenter_version, assumptions, .. } = explained;
    let pod = match subject {
        StorySubject::Node(_) => None,
        StorySubject::Pod(full) => full.split_once('/').map(|(namespace, name)| ExplainedPod {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            scheduler: String::new(),
            protection: protection.unwrap_or_default(),
            placement: None,
        }),
    };
    WhyAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version,
        verdict: format!("node/{}: {state}", node.name),
        pod,
        node: Some(node),
        assumptions,
    }
}

fn write_json(answer: &WhyAnswer, color: Color) -> Result<(), CommandError> {
    let (mut out, _) = output::open(None, Stream::Stdout, Escaping::Json, color)?;
    let json = answers::sorted(answer).map_err(io::Error::from)?;
    let written = serde_json::to_writer_pretty(&mut out, &json).map_err(io::Error::from);
    output::unless_closed(written.and_then(|()| writeln!(out)))?;
    Ok(output::unless_closed(out.finish())?)
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

/// The scheduler of a pod, if it is not kube-scheduler.
fn other_scheduler(pod: &Value) -> Option<&str> {
    let name = pod.pointer("/spec/schedulerName")?.as_str()?;
    (!matches!(name, "" | "default-scheduler")).then_some(name)
}
