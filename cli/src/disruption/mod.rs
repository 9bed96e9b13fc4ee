//! `karpwarden disruption`: shows what Karpenter may disrupt, when, and the obstacles.

mod clock;
mod flags;
mod human;
mod painter;
mod story;
mod strip;
mod week;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use cluster::built_objects::BuiltObjects;
use disruption::cluster::ClusterPod;
use disruption::judgement::JudgedNode;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::disrupt::{Answer, Question, answer, json};
use karpwarden::simulate::{Options, skipped};
use objects::object::Object;
use values::timestamp::Timestamp;

use super::arguments::Color;
use super::check::STACK;
use super::output::{self, Stream};
use super::simulate::{self, Inputs};
use super::status::Status;
use super::terminal;
use clock::Clock;
pub(crate) use flags::Disruption;
use flags::{DisruptionFormat, Judge};

pub(crate) fn run(disruption: Disruption, color: Color) -> io::Result<Status> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?.install(|| read_and_judge(disruption, color))
}

/// The answer, with the facts that the renderers add.
struct Shown<'s, 'd> {
    answer: &'s Answer<'d>,
    assumptions: &'s [String],
    /// The number of documents that were not read.
    skipped: usize,
}

fn read_and_judge(disruption: Disruption, color: Color) -> io::Result<Status> {
    let (judge, mut simulate) = disruption.split();
    let flags = std::mem::take(&mut simulate.simulation);
    let inputs = match simulate::read(simulate, "judge", color) {
        Ok(inputs) => inputs,
        Err(status) => return Ok(status),
    };
    let Inputs { check, settings, cluster } = &inputs;
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let options = simulate::choices(flags);
    let options = options.and_then(|choices| Options::new(&choices, settings, files, &objects));
    let options = options.map(|options| options.with_overlays(&built.left_out()));
    let asked =
        question(&judge, &objects).and_then(|question| Ok((question, Clock::of(&judge.timezone)?, options?)));
    let (question, clock, options) = match asked {
        Ok(asked) => asked,
        Err(message) => {
            terminal::error(color, &message);
            return Ok(Status::Usage);
        }
    };
    let answer = answer(&question, options.settings, &objects);
    let subject = match subject(&judge, &answer) {
        Ok(subject) => subject,
        Err(message) => {
            terminal::error(color, &message);
            return Ok(Status::Usage);
        }
    };
    let shown = Shown { answer: &answer, assumptions: &options.assumptions, skipped: skipped(files) };
    let (mut out, has_color) = output::open(&check.output, Stream::Stdout, color)?;
    output::unless_closed(match (judge.format, subject) {
        (DisruptionFormat::Json, _) => {
            let clusters = std::slice::from_ref(cluster);
            let report = check_within(&REGISTRY, clusters, settings, check.bounds.max_findings);
            let json = answers::sorted(&json::answer(&answer, files, &report.findings));
            json.and_then(|json| serde_json::to_writer_pretty(&mut out, &json))
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
        }
        (DisruptionFormat::Human, None) => human::write(&mut out, &shown, &clock, has_color),
        (DisruptionFormat::Human, Some((node, pod))) => {
            let pod = pod.map_or(Ok(()), |pod| story::write_pod(&mut out, &answer, &pod, &clock));
            pod.and_then(|()| story::write(&mut out, &answer, node, &clock, has_color))
        }
    })?;
    output::unless_closed(out.flush())?;
    let is_unreadable = simulate::report_unreadable(files, color);
    Ok(if is_unreadable { Status::Unreadable } else { Status::Clean })
}

fn question(judge: &Judge, objects: &[Object<'_>]) -> Result<Question, String> {
    let at = match &judge.at {
        None => clock::now(),
        Some(text) => Timestamp::parse(text)
            .ok_or_else(|| format!("`--at`: `{text}` is not a time; write it as `2026-03-11T10:30:00Z`"))?,
    };
    let mut node_counts = BTreeMap::new();
    for text in &judge.node_count {
        let (pool, count) =
            text.split_once('=').ok_or_else(|| format!("`--node-count`: `{text}` has no `=`"))?;
        let count = count.parse().map_err(|_| format!("`--node-count`: `{count}` is not a number"))?;
        node_counts.insert(pool.to_owned(), count);
    }
    let names = |list: &[String]| -> BTreeSet<String> { list.iter().cloned().collect() };
    Ok(Question {
        at,
        node_counts,
        nominated: names(&judge.nominated),
        marked_for_deletion: names(&judge.marked_for_deletion),
        feature_gates: judge.feature_gates.clone(),
        alone: judge.node.clone().or_else(|| node_of(judge.pod.as_deref()?, objects)),
    })
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

/// The node whose story is asked for, with the pod that names it.
type Subject<'a, 'd> = Option<(&'a JudgedNode<'d>, Option<ClusterPod<'d>>)>;

fn subject<'a, 'd>(judge: &Judge, answer: &'a Answer<'d>) -> Result<Subject<'a, 'd>, String> {
    if let Some(name) = &judge.node {
        let node = answer.node(name).ok_or_else(|| format!("`--node`: the input has no node `{name}`"))?;
        return Ok(Some((node, None)));
    }
    let Some(name) = &judge.pod else { return Ok(None) };
    let mut pods =
        answer.judgement.nodes.iter().flat_map(|node| node.node.pods.iter().map(move |pod| (node, *pod)));
    let (node, pod) = pods
        .find(|(_, pod)| pod.full_name() == *name || format!("default/{name}") == pod.full_name())
        .ok_or_else(|| format!("`--pod`: no node of the input runs a pod `{name}`; write NAMESPACE/NAME"))?;
    Ok(Some((node, Some(pod))))
}
