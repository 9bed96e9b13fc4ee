//! Stories of `karpwarden diagnose --node`, `--pod` and `--nodepool`: text, and timelines as a table or CSV.

use std::io::{self, Write};

use answers::story::{Lifeline, StepKind, Story, StoryCause, StoryKind, StoryStep};
use karpwarden::simulate::words::counted;
use symptoms::StoryTarget;
use values::abbreviation::UnresolvedName;

use super::form::TimelineForm;
use super::options::StoryOptions;

impl StoryOptions {
    /// Writes the stories in the form that the user asks for.
    pub(crate) fn write(&self, out: &mut dyn Write, stories: &[Story]) -> io::Result<()> {
        match self.timeline {
            Some(TimelineForm::Csv) => csv(out, stories),
            Some(TimelineForm::Table) => table(out, stories),
            None => stories.iter().try_for_each(|story| text(out, story)),
        }
    }

    /// The message if no input mentions the object.
    pub(crate) fn absence(&self, reason: &UnresolvedName) -> String {
        let hint = reason.hint();
        match &self.target {
            StoryTarget::Node(name) => {
                format!("`--node`: no input mentions the node, NodeClaim or instance `{name}`{hint}")
            }
            StoryTarget::Pod(name) => format!("`--pod`: no input mentions the pod `{name}`{hint}"),
            StoryTarget::NodePool(name) => {
                format!("`--nodepool`: no input mentions the NodePool `{name}`{hint}")
            }
            StoryTarget::Cluster => String::new(),
        }
    }
}

/// Writes a story as text: one line for each step, with the explanation below it.
fn text(out: &mut dyn Write, story: &Story) -> io::Result<()> {
    let cluster = if story.cluster.is_empty() { String::new() } else { format!(" in {}", story.cluster) };
    writeln!(out, "{} {}{cluster}{}", story.kind.name(), story.name, summary(story))?;
    let is_single = story.lifelines.len() <= 1;
    let steps = if story.kind == StoryKind::NodePool { grouped(&story.steps) } else { story.steps.clone() };
    let mut day = String::new();
    for step in &steps {
        let time = step.time.as_deref().unwrap_or(&step.age);
        let date = time.get(..10).filter(|_| time.contains('T')).unwrap_or_default();
        if !date.is_empty() && date != day {
            writeln!(out, "{date}")?;
            date.clone_into(&mut day);
        }
        let line = format!("  {:>9}  {:<14} {}", clock(time), event(step), details(step, is_single));
        writeln!(out, "{}", line.trim_end())?;
        if !step.meaning.is_empty() {
            writeln!(out, "  {:>9}  {:<14} {}", "", "", step.meaning)?;
        }
    }
    if story.forgotten > 0 {
        writeln!(out, "  {} further steps were left out", story.forgotten)?;
    }
    if story.steps.is_empty() && story.causes.is_empty() {
        writeln!(out, "  no log, event or status in the input tells what happened to it")?;
    }
    story.causes.iter().try_for_each(|cause| write_cause(out, cause))?;
    writeln!(out)
}

/// Writes a diagnosis about the object below its story.
fn write_cause(out: &mut dyn Write, cause: &StoryCause) -> io::Result<()> {
    let StoryCause { rule, message, help, .. } = cause;
    let (severity, confidence) = (cause.severity.name(), cause.confidence.name());
    writeln!(out, "  {severity}[{rule}]: {message} ({confidence})")?;
    writeln!(out, "    help: {help}")
}

/// Number of NodeClaims that a group of steps names.
const MAX_NAMED: usize = 3;

/// The steps of a NodePool, with equal steps of several NodeClaims as one.
fn grouped(steps: &[StoryStep]) -> Vec<StoryStep> {
    let mut groups: Vec<(StoryStep, Vec<&str>)> = Vec::new();
    for step in steps {
        let is_same = |(first, _): &&mut (StoryStep, Vec<&str>)| {
            first.event == step.event && first.reason == step.reason && first.message == step.message
        };
        match groups.iter_mut().find(is_same) {
            Some((first, claims)) => {
                first.count += step.count;
                let last = step.last.clone().or_else(|| step.time.clone());
                first.last = last.max(first.last.take());
                claims.push(&step.node_claim);
            }
            None => groups.push((step.clone(), vec![&step.node_claim])),
        }
    }
    let joined = groups.into_iter().map(|(mut step, mut claims)| {
        claims.retain(|claim| !claim.is_empty());
        claims.sort_unstable();
        claims.dedup();
        if claims.len() > 1 {
            let more = claims.len().saturating_sub(MAX_NAMED);
            let first: Vec<&str> = claims.iter().take(MAX_NAMED).copied().collect();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            step.node_claim = format!("{}{more}", first.join(", "));
            (step.pod, step.node) = (String::new(), String::new());
        }
        step
    });
    joined.collect()
}

/// The NodeClaim and the NodePool of a node or a pod, and the state at the end.
fn summary(story: &Story) -> String {
    let Some(last) = story.lifelines.last() else { return String::new() };
    if story.kind == StoryKind::NodePool {
        return format!(", {}", counted(story.lifelines.len(), "NodeClaim"));
    }
    let state = if last.terminated.is_some() {
        "terminated"
    } else if last.draining.is_some() {
        "draining"
    } else if last.disrupted.is_some() {
        "being disrupted"
    } else if last.initialized.is_some() {
        "in use"
    } else {
        "starting"
    };
    let instance = if last.instance.is_empty() { String::new() } else { format!(", {}", last.instance) };
    format!(", NodeClaim {} of NodePool {}{instance}, {state}", last.node_claim, last.node_pool)
}

fn clock(time: &str) -> &str {
    if time.contains('T') { time.get(11..19).unwrap_or(time) } else { time }
}

/// The kind of step in words.
fn event(step: &StoryStep) -> &'static str {
    match step.event {
        StepKind::Created => "created",
        StepKind::Launched => "launched",
        StepKind::LaunchFailed => "not launched",
        StepKind::Registered => "registered",
        StepKind::Initialized => "initialized",
        StepKind::Found => "pod found",
        StepKind::NotScheduled => "no node",
        StepKind::Nominated => "nominated",
        StepKind::Bound => "pod bound",
        StepKind::Blocked if step.reason.starts_with("zonal-shift") => "zone",
        StepKind::Blocked
            if matches!(step.reason.as_str(), "pods-remain" | "eviction-refused" | "termination-failed") =>
        {
            "waiting"
        }
        StepKind::Blocked => "left alone",
        StepKind::Considered => "considered",
        StepKind::Drifted => "drifted",
        StepKind::Disrupted => "disrupted",
        StepKind::Replacing => "replacing",
        StepKind::Deleting => "deleting",
        StepKind::Draining => "draining",
        StepKind::DrainLimited => "drain limited",
        StepKind::Evicted => "pod evicted",
        StepKind::Drained => "drained",
        StepKind::VolumesDetached => "volumes gone",
        StepKind::Terminated => "terminated",
        StepKind::NodeDeleted => "node deleted",
        StepKind::Condition => "condition",
        StepKind::Event => "event",
        StepKind::Error => "error",
    }
}

fn details(step: &StoryStep, is_single: bool) -> String {
    let claim = if is_single { "" } else { step.node_claim.as_str() };
    let reason = if step.event == StepKind::Blocked { "" } else { step.reason.as_str() };
    let mut parts: Vec<String> = Vec::new();
    if step.count > 1 {
        let until = step.last.as_deref().map(|last| format!(" until {}", clock(last))).unwrap_or_default();
        parts.push(format!("x{}{until}", step.count));
    }
    let node = if step.event == StepKind::Registered { step.node.as_str() } else { "" };
    let shown = [claim, reason, step.message.as_str(), step.pod.as_str(), node];
    parts.extend(shown.into_iter().filter(|part| !part.is_empty()).map(str::to_owned));
    parts.join("  ")
}

/// Columns of a timeline.
const COLUMNS: [&str; 13] = [
    "nodeClaim",
    "node",
    "nodePool",
    "instance",
    "created",
    "launched",
    "registered",
    "initialized",
    "disrupted",
    "reason",
    "draining",
    "drained",
    "terminated",
];

fn time(time: Option<&String>) -> &str {
    time.map_or("", String::as_str)
}

fn cells(row: &Lifeline) -> [&str; 13] {
    [
        &row.node_claim,
        &row.node,
        &row.node_pool,
        &row.instance,
        time(row.created.as_ref()),
        time(row.launched.as_ref()),
        time(row.registered.as_ref()),
        time(row.initialized.as_ref()),
        time(row.disrupted.as_ref()),
        &row.reason,
        time(row.draining.as_ref()),
        time(row.drained.as_ref()),
        time(row.terminated.as_ref()),
    ]
}

fn csv(out: &mut dyn Write, stories: &[Story]) -> io::Result<()> {
    writeln!(out, "cluster,{},pods", COLUMNS.join(","))?;
    for story in stories {
        for row in &story.lifelines {
            let pods = row.pods.join(" ");
            let all = std::iter::once(story.cluster.as_str()).chain(cells(row)).chain([pods.as_str()]);
            writeln!(out, "{}", all.map(quoted).collect::<Vec<_>>().join(","))?;
        }
    }
    Ok(())
}

/// A value of CSV, in quotes where RFC 4180 needs them.
fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

/// Writes the columns that have a value, with the time of day if all times are of one day.
fn table(out: &mut dyn Write, stories: &[Story]) -> io::Result<()> {
    let rows: Vec<&Lifeline> = stories.iter().flat_map(|story| &story.lifelines).collect();
    let all: Vec<[&str; 13]> = rows.iter().map(|row| cells(row)).collect();
    let is_time = |cell: &str| cell.len() == 20 && cell.ends_with('Z');
    let mut days = all.iter().flatten().filter(|cell| is_time(cell)).filter_map(|cell| cell.get(..10));
    let day = days.next();
    let is_one_day = days.all(|other| Some(other) == day);
    let short = |cell: &str| -> String {
        match cell {
            cell if !is_time(cell) => cell.to_owned(),
            cell if is_one_day => clock(cell).to_owned(),
            cell => cell.replace('T', " ").trim_end_matches('Z').to_owned(),
        }
    };
    let mut lines: Vec<Vec<String>> =
        vec![COLUMNS.map(str::to_owned).into_iter().chain(["pods".to_owned()]).collect()];
    for (row, cells) in rows.iter().zip(&all) {
        lines.push(cells.iter().map(|cell| short(cell)).chain([row.pods.len().to_string()]).collect());
    }
    let column = |at: usize| lines.iter().filter_map(move |line| line.get(at));
    let widths: Vec<usize> = (0..=COLUMNS.len())
        .map(|at| {
            let is_empty = column(at).skip(1).all(String::is_empty);
            if is_empty { 0 } else { column(at).map(|cell| cell.chars().count()).max().unwrap_or_default() }
        })
        .collect();
    if let Some(day) = day.filter(|_| is_one_day) {
        writeln!(out, "{day}")?;
    }
    for line in &lines {
        let cells = line.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let padded: Vec<String> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", padded.join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_values_of_csv() {
        for (value, expected) in [("a b", "a b"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("", "")] {
            assert_eq!(quoted(value), expected);
        }
    }
}
