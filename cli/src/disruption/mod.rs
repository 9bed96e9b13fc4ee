//! `karpwarden disruption`: shows what Karpenter may disrupt, when, and the obstacles.

mod calendar_file;
pub(crate) mod clock;
mod flags;
mod human;
mod story;
mod strip;
mod subject;
mod week;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use cluster::built_objects::BuiltObjects;
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
use super::safe_writer::Escaping;
use super::simulate::choices;
use super::stack::on_one_core;
use super::status::Status;
use clock::Clock;
use flags::DisruptionFormat;
pub(crate) use flags::{DisruptionArguments, time};
use subject::ResolvedSubject;

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
    /// Whether to list every change of the budgets.
    all: bool,
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
    /// Whether to list every change of the budgets.
    all: bool,
}

fn read_and_judge(options: &DisruptionOptions, color: Color) -> Result<Status, CommandError> {
    output::refuse_same(options.file.as_deref(), "--output", options.prices.as_deref())?;
    let read = one_cluster::read(&options.input, &options.settings, options.file.as_deref(), "judge", color)?;
    let OneCluster { settings, cluster } = &read;
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let choices = choices::with_prices(options.choices.clone(), options.prices.as_deref())?;
    let deduced = DeducedSettings::new(&choices, settings, files, &objects)
        .map_err(|error| choices::refused(&error, options.prices.as_deref()))?
        .with_overlays(&built.left_out());
    check_names(options, &objects)?;
    let subject = options.subject.as_ref().map(|subject| subject::resolved(subject, &objects)).transpose()?;
    let answer = answer(&question(options, subject.as_ref()), deduced.settings, &objects);
    let story = subject.as_ref().and_then(|subject| subject::story_of(subject, &answer));
    let clock = &options.clock;
    let assumptions = assumed::texts(&deduced.assumptions);
    let shown = ShownDisruption {
        answer: &answer,
        assumptions: &assumptions,
        skipped: skipped(files),
        all: options.all,
    };
    let escaping = match options.format {
        DisruptionFormat::Json => Escaping::Json,
        DisruptionFormat::Human => Escaping::Symbol,
        DisruptionFormat::Ics => Escaping::Plain,
    };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, escaping, color)?;
    output::unless_closed(match (options.format, story) {
        (DisruptionFormat::Ics, _) => calendar_file::write(&mut out, &answer),
        (DisruptionFormat::Json, story) => {
            let clusters = std::slice::from_ref(cluster);
            let report = check_within(&REGISTRY, clusters, settings, options.max_findings);
            let mut whole = json::answer(&answer, files, &report.findings);
            if let Some((node, _)) = story {
                json::keep_node(&mut whole, node.node.name());
            }
            let json = answers::sorted(&whole);
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
    output::unless_closed(out.finish())?;
    let is_unreadable = one_cluster::report_unreadable(files, color);
    // The calendar needs no simulation.
    let is_undecided = answer.is_undecided() && options.format != DisruptionFormat::Ics;
    Ok(if is_unreadable || is_undecided { Status::Unreadable } else { Status::Clean })
}

/// Checks that the NodePools and nodes of the flags are in the input.
fn check_names(options: &DisruptionOptions, objects: &[Object<'_>]) -> Result<(), CommandError> {
    let (mut pools, mut nodes) = (BTreeSet::new(), BTreeSet::new());
    for object in objects {
        match (object.group(), object.kind()) {
            ("karpenter.sh", "NodePool") => {
                pools.insert(object.name());
            }
            ("", "Node") => {
                nodes.insert(object.name());
            }
            ("karpenter.sh", "NodeClaim") => {
                nodes.extend(
                    [Some(object.name()), object.str_at(&["status", "nodeName"])].into_iter().flatten(),
                );
            }
            _ => {}
        }
    }
    choices::check_names("--node-count", "the input has no NodePool", options.node_counts.keys(), &pools)?;
    let no_node = "the input has no node";
    choices::check_names("--nominated", no_node, &options.nominated, &nodes)?;
    choices::check_names("--marked-for-deletion", no_node, &options.marked_for_deletion, &nodes)
}

fn question(options: &DisruptionOptions, subject: Option<&ResolvedSubject>) -> Question {
    Question {
        at: options.at,
        node_counts: options.node_counts.clone(),
        nominated: options.nominated.clone(),
        marked_for_deletion: options.marked_for_deletion.clone(),
        feature_gates: options.choices.feature_gates.clone(),
        alone: subject.map(|subject| subject.node.clone()),
    }
}
