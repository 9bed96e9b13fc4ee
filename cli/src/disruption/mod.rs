//! `karpwarden disruption`: shows what Karpenter may disrupt, when, and the obstacles.

mod clock;
mod flags;
mod human;
mod story;
mod strip;
mod week;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use cluster::built_objects::BuiltObjects;
use disruption::cluster::ClusterPod;
use disruption::judgement::JudgedNode;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::disrupt::{ClusterDisruption, Question, answer, json};
use karpwarden::simulate::{Choices, DeducedSettings, skipped};
use objects::object::Object;
use values::timestamp::Timestamp;

use super::assumed;
use super::error::CommandError;
use super::form::Color;
use super::one_cluster::{self, OneCluster};
use super::options::{InputOptions, SettingsOptions};
use super::output::{self, Stream};
use super::simulate::choices;
use super::stack::on_one_core;
use super::status::Status;
use clock::Clock;
pub(crate) use flags::DisruptionArguments;
use flags::DisruptionFormat;

/// Options of `disruption`.
#[derive(Clone, Debug)]
struct DisruptionOptions {
    input: InputOptions,
    settings: SettingsOptions,
    choices: Choices,
    /// File with prices.
    prices: Option<PathBuf>,
    /// Time to judge at.
    at: Timestamp,
    clock: Clock,
    /// Numbers of nodes, by NodePool.
    node_counts: BTreeMap<String, usize>,
    nominated: BTreeSet<String>,
    marked_for_deletion: BTreeSet<String>,
    subject: Option<StorySubject>,
    format: DisruptionFormat,
    /// File to write to; `None` for standard output.
    file: Option<PathBuf>,
    /// Largest number of findings in the result.
    max_findings: usize,
}

/// Object whose story the user asks for.
#[derive(Clone, Debug)]
enum StorySubject {
    Node(String),
    /// A pod with its node, as `NAMESPACE/NAME`.
    Pod(String),
}

pub(crate) fn run(disruption: DisruptionArguments, color: Color) -> Result<Status, CommandError> {
    let options = DisruptionOptions::try_from(disruption)?;
    on_one_core(|| read_and_judge(&options, color))?
}

/// The answer, with the facts that the renderers add.
struct ShownDisruption<'s, 'd> {
    answer: &'s ClusterDisruption<'d>,
    assumptions: &'s [String],
    /// The number of documents that were not read.
    skipped: usize,
}

fn read_and_judge(options: &DisruptionOptions, color: Color) -> Result<Status, CommandError> {
    let read = one_cluster::read(&options.input, &options.settings, "judge", color)?;
    let OneCluster { settings, cluster } = &read;
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let choices = choices::with_prices(options.choices.clone(), options.prices.as_deref())?;
    let deduced = DeducedSettings::new(&choices, settings, files, &objects)
        .map_err(|error| choices::refused(&error, options.prices.as_deref()))?
        .with_overlays(&built.left_out());
    let answer = answer(&question(options, &objects), deduced.settings, &objects);
    let story = options.subject.as_ref().map(|subject| story_of(subject, &answer)).transpose()?;
    let clock = &options.clock;
    let assumptions = assumed::texts(&deduced.assumptions);
    let shown = ShownDisruption { answer: &answer, assumptions: &assumptions, skipped: skipped(files) };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, color)?;
    output::unless_closed(match (options.format, story) {
        (DisruptionFormat::Json, _) => {
            let clusters = std::slice::from_ref(cluster);
            let report = check_within(&REGISTRY, clusters, settings, options.max_findings);
            let json = answers::sorted(&json::answer(&answer, files, &report.findings));
            json.and_then(|json| serde_json::to_writer_pretty(&mut out, &json))
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
        }
        (DisruptionFormat::Human, None) => human::write(&mut out, &shown, clock, has_color),
        (DisruptionFormat::Human, Some((node, pod))) => {
            let pod = pod.map_or(Ok(()), |pod| story::write_pod(&mut out, &answer, &pod, clock));
            pod.and_then(|()| story::write(&mut out, &answer, node, clock, has_color))
        }
    })?;
    output::unless_closed(out.flush())?;
    let is_unreadable = one_cluster::report_unreadable(files, color);
    Ok(if is_unreadable { Status::Unreadable } else { Status::Clean })
}

fn question(options: &DisruptionOptions, objects: &[Object<'_>]) -> Question {
    Question {
        at: options.at,
        node_counts: options.node_counts.clone(),
        nominated: options.nominated.clone(),
        marked_for_deletion: options.marked_for_deletion.clone(),
        feature_gates: options.choices.feature_gates.clone(),
        alone: match &options.subject {
            Some(StorySubject::Node(name)) => Some(name.clone()),
            Some(StorySubject::Pod(name)) => node_of(name, objects),
            None => None,
        },
    }
}

/// The name of the node that runs a pod.
fn node_of(pod: &str, objects: &[Object<'_>]) -> Option<String> {
    let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
    let is_meant = |object: &&Object<'_>| {
        let own = object.namespace();
        object.kind() == "Pod"
            && object.name() == name
            && if own.is_empty() { "default" } else { own } == namespace
    };
    let node = objects.iter().find(is_meant)?.str_at(&["spec", "nodeName"])?;
    Some(node.to_owned())
}

/// A node, and the pod that names it.
type NodeAndPod<'a, 'd> = (&'a JudgedNode<'d>, Option<ClusterPod<'d>>);

/// The node of a subject.
fn story_of<'a, 'd>(
    subject: &StorySubject,
    answer: &'a ClusterDisruption<'d>,
) -> Result<NodeAndPod<'a, 'd>, CommandError> {
    match subject {
        StorySubject::Node(name) => {
            let unknown = || CommandError::Usage(format!("`--node`: the input has no node `{name}`"));
            Ok((answer.node(name).ok_or_else(unknown)?, None))
        }
        StorySubject::Pod(name) => {
            let nodes = answer.judgement.nodes.iter();
            let mut pods = nodes.flat_map(|node| node.node.pods.iter().map(move |pod| (node, *pod)));
            let is_meant = |pod: &ClusterPod<'_>| {
                pod.full_name() == *name || format!("default/{name}") == pod.full_name()
            };
            let found = pods.find(|(_, pod)| is_meant(pod));
            let (node, pod) = found.ok_or_else(|| {
                let text = format!("`--pod`: no node of the input runs a pod `{name}`; write NAMESPACE/NAME");
                CommandError::Usage(text)
            })?;
            Ok((node, Some(pod)))
        }
    }
}
