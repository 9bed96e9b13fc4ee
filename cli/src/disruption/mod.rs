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

use answers::disruption::DisruptionAnswer;
use answers::page::DisruptionOverview;
use answers::why::ExplainedNode;
use cluster::built_objects::BuiltObjects;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::disrupt::story as sentences;
use karpwarden::disrupt::{ClusterDisruption, Question, answer, json, overview};
use karpwarden::simulate::{Assumption, Choices, DeducedSettings, skipped};
use objects::object::Object;
use values::timestamp::Timestamp;

use super::assumed;
use super::error::CommandError;
use super::form::Color;
use super::messages::Messages;
use super::one_cluster::{self, OneCluster};
use super::options::{InputOptions, SettingsOptions};
use super::output::{self, Stream};
use super::safe_writer::Escaping;
use super::simulate::choices;
use super::stack::on_one_core;
use super::status::Status;
use clock::Clock;
pub(crate) use flags::{DisruptionArguments, DisruptionFormat, time};
use subject::{NodeAndPod, ResolvedSubject};

/// Options of `disruption`.
#[derive(Clone, Debug)]
pub(crate) struct DisruptionOptions {
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) choices: Choices,
    /// File with prices.
    pub(crate) prices: Option<PathBuf>,
    /// Time to judge at.
    pub(crate) at: Timestamp,
    pub(crate) clock: Clock,
    /// Numbers of nodes, by NodePool.
    pub(crate) node_counts: BTreeMap<String, usize>,
    pub(crate) nominated: BTreeSet<String>,
    pub(crate) marked_for_deletion: BTreeSet<String>,
    pub(crate) subject: Option<StorySubject>,
    pub(crate) format: DisruptionFormat,
    /// Whether to list every change of the budgets.
    pub(crate) all: bool,
    /// File to write to; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
    /// Largest number of findings in the result.
    pub(crate) max_findings: usize,
}

/// Object whose story the user asks for.
#[derive(Clone, Debug)]
pub(crate) enum StorySubject {
    Node(String),
    /// A pod with its node, as `NAMESPACE/NAME`.
    Pod(String),
}

pub(crate) fn run(disruption: DisruptionArguments, color: Color) -> Result<Status, CommandError> {
    run_with(&DisruptionOptions::try_from(disruption)?, color)
}

/// Reads the input of the options, judges it and prints the result.
pub(crate) fn run_with(options: &DisruptionOptions, color: Color) -> Result<Status, CommandError> {
    on_one_core(|| read_and_judge(options, color))?
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

/// The result of a run, with the input.
struct Judged<'s, 'd> {
    answer: &'s ClusterDisruption<'d>,
    story: Option<NodeAndPod<'s, 'd>>,
    assumptions: &'s [String],
    assumed: &'s [Assumption],
    read: &'d OneCluster,
}

impl Judged<'_, '_> {
    /// The result as a program reads it.
    fn json(&self, max_findings: usize) -> DisruptionAnswer {
        let OneCluster { settings, cluster } = self.read;
        let report = check_within(&REGISTRY, std::slice::from_ref(cluster), settings, max_findings);
        let mut whole = json::answer(self.answer, &cluster.files, &report.findings);
        if let Some((node, _)) = self.story {
            json::keep_node(&mut whole, node.node.name());
        }
        whole
    }
}

/// Reads the input and judges it. Prints nothing. Also returns the assumptions.
pub(crate) fn answer_and_assumptions(
    options: &DisruptionOptions,
    messages: &dyn Messages,
) -> Result<(DisruptionAnswer, Vec<String>), CommandError> {
    on_one_core(|| {
        judged(options, messages, |judged| {
            one_cluster::report_unreadable(&judged.read.cluster.files, messages);
            (judged.json(options.max_findings), judged.assumptions.to_vec())
        })
    })?
}

/// The node of the subject that the options name.
pub(crate) struct ExplainedSubject {
    pub(crate) node: ExplainedNode,
    /// The state of the node: the method that disrupts it now, or the reason that keeps it.
    pub(crate) state: String,
    /// Effect of the annotation of the pod, if the subject is a pod.
    pub(crate) protection: Option<String>,
    pub(crate) karpenter_version: String,
    pub(crate) assumptions: Vec<String>,
    pub(crate) status: Status,
}

/// Reads the input and explains the node of the subject. Prints nothing. `None` without a subject.
pub(crate) fn explained(
    options: &DisruptionOptions,
    messages: &dyn Messages,
) -> Result<Option<ExplainedSubject>, CommandError> {
    on_one_core(|| {
        judged(options, messages, |judged| {
            let Judged { answer, assumptions, read, .. } = judged;
            let (node, pod) = judged.story?;
            let is_unreadable = one_cluster::report_unreadable(&read.cluster.files, messages);
            let is_unknown = is_unreadable || answer.is_undecided();
            let clock = |time: Timestamp| time.to_string();
            Some(ExplainedSubject {
                node: json::explained(answer, node, &read.cluster.files),
                state: sentences::state(answer, node),
                protection: pod.map(|pod| sentences::protection(answer, &pod, &clock)),
                karpenter_version: answer.release.to_string(),
                assumptions: assumptions.to_vec(),
                status: if is_unknown { Status::Unreadable } else { Status::Clean },
            })
        })
    })?
}

/// Reads the input and judges it, for readers who have no command line. Prints nothing. `most` is the maximum number of nodes and of
/// NodePools.
pub(crate) fn overview(
    options: &DisruptionOptions,
    messages: &dyn Messages,
    most: usize,
) -> Result<DisruptionOverview, CommandError> {
    on_one_core(|| {
        judged(options, messages, |judged| {
            let assumptions = judged.assumed.iter().map(ToString::to_string).collect();
            overview::overview(judged.answer, assumptions, most)
        })
    })?
}

fn read_and_judge(options: &DisruptionOptions, color: Color) -> Result<Status, CommandError> {
    judged(options, &color, |judged| print(options, judged, color))?
}

/// Reads the input, judges it, and hands on the result.
fn judged<T>(
    options: &DisruptionOptions,
    messages: &dyn Messages,
    show: impl FnOnce(&Judged<'_, '_>) -> T,
) -> Result<T, CommandError> {
    output::refuse_same(options.file.as_deref(), "--output", options.prices.as_deref())?;
    let read =
        one_cluster::read(&options.input, &options.settings, options.file.as_deref(), "judge", messages)?;
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
    let assumptions = assumed::texts(&deduced.assumptions);
    Ok(show(&Judged {
        answer: &answer,
        story,
        assumptions: &assumptions,
        assumed: &deduced.assumptions,
        read: &read,
    }))
}

fn print(options: &DisruptionOptions, judged: &Judged<'_, '_>, color: Color) -> Result<Status, CommandError> {
    let Judged { answer, story, assumptions, read, .. } = judged;
    let (clock, files) = (&options.clock, &read.cluster.files);
    let shown = ShownDisruption { answer, assumptions, skipped: skipped(files), all: options.all };
    let escaping = match options.format {
        DisruptionFormat::Json => Escaping::Json,
        DisruptionFormat::Human => Escaping::Symbol,
        DisruptionFormat::Ics => Escaping::Plain,
    };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, escaping, color)?;
    output::unless_closed(match (options.format, story) {
        (DisruptionFormat::Ics, _) => calendar_file::write(&mut out, answer),
        (DisruptionFormat::Json, _) => {
            let json = answers::sorted(&judged.json(options.max_findings));
            json.and_then(|json| serde_json::to_writer_pretty(&mut out, &json))
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
        }
        (DisruptionFormat::Human, None) => human::write(&mut out, &shown, clock, has_color),
        (DisruptionFormat::Human, Some((node, pod))) => {
            let pod = pod.map_or(Ok(()), |pod| story::write_pod(&mut out, answer, &pod, clock));
            pod.and_then(|()| story::write(&mut out, answer, node, clock, has_color))
        }
    })?;
    output::unless_closed(out.finish())?;
    let is_unreadable = one_cluster::report_unreadable(files, &color);
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
