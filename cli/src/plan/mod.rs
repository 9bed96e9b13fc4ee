//! `karpwarden plan`: shows what a change does to the nodes, before it is applied.

mod assumed;
mod beside;
mod charts;
mod committed;
mod flags;
mod folder_links;
mod git;
mod human;
mod input;
mod links;
mod paths;
mod terraform;

use std::collections::BTreeSet;
use std::io::{self, Write};

use answers::plan::PlanAnswer;
use answers::report::Report;
use cluster::Cluster;
use drift::Effect;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::plan::{
    ApplyNamespace, FINDINGS, Plan, PlanError, PlanOptions, PlanPair, TerraformObject, plan,
};
use karpwarden::rules::documentation;
use karpwarden::simulate::{Assumption, Choices, release_of};
use manifest::{Document, File, ReadError};
use render::sarif::{self, RuleDescription};
use render::{github, planned};
use rule::finding::{CaughtBy, Family, Severity};
use rule::settings::Settings;

use super::collect::LiveCluster;
use super::error::CommandError;
use super::form::Color;
use super::hash::ca_bundle;
use super::messages::Messages;
use super::one_cluster;
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::simulate::choices;
use super::stack::on_one_core;
use super::status::Status;
use super::terminal;
use input::{LoadedPair, LoadedPlan};

pub(crate) use flags::{PlanArguments, PlanFailOn, PlanFormat, PlanOrigin, PlanRun, release};

pub(crate) fn run(arguments: PlanArguments, color: Color) -> Result<Status, CommandError> {
    let live = (!arguments.filename.is_empty()).then(|| arguments.live.clone());
    let mut run = PlanRun::try_from(arguments)?;
    if let Some(flags) = live {
        let cluster = LiveCluster::read_to_compare(&flags, &color)?;
        run.origin = PlanOrigin::Snapshot(cluster.paths());
        run.input.texts = cluster.texts();
        if run.namespace.is_none() {
            run.namespace = Some(ApplyNamespace { name: cluster.namespace()?, is_named: false });
        }
    }
    on_one_core(|| read_and_plan(&run, color))?
}

/// Reads both sides and plans. Prints nothing.
pub(crate) fn answer(run: &PlanRun, messages: &dyn Messages) -> Result<PlanAnswer, CommandError> {
    on_one_core(|| {
        let LoadedPlan { settings, pairs, commit } = input::read(run, messages)?;
        report_unreadable(&pairs, commit.as_deref(), messages);
        if pairs.iter().flat_map(LoadedPair::files).any(has_not_opened) {
            return Err(CommandError::Printed);
        }
        let all: Vec<PlanPair<'_>> = pairs.iter().map(LoadedPair::pair).collect();
        Ok(planned(run, &settings, &all, by_terraform(&pairs))?.answer)
    })?
}

fn read_and_plan(run: &PlanRun, color: Color) -> Result<Status, CommandError> {
    let LoadedPlan { settings, pairs, commit } = input::read(run, &color)?;
    if let Some(commit) = &commit {
        terminal::note(color, &format!("compared with commit {commit}"));
    }
    // A plan without the objects of a whole input would be wrong.
    if pairs.iter().flat_map(LoadedPair::files).any(has_not_opened) {
        report_unreadable(&pairs, commit.as_deref(), &color);
        return Ok(Status::Unreadable);
    }
    let all: Vec<PlanPair<'_>> = pairs.iter().map(LoadedPair::pair).collect();
    let progress = Progress::new(0, Unit::Planning, false);
    let plan = planned(run, &settings, &all, by_terraform(&pairs))?;
    let answer = &plan.answer;
    drop(progress);
    let (mut out, has_color) =
        output::open(run.file.as_deref(), Stream::Stdout, run.format.escaping(), color)?;
    output::unless_closed(write(&mut out, run, &settings, answer, has_color))?;
    output::unless_closed(out.finish())?;
    Ok(if report_unreadable(&pairs, commit.as_deref(), &color) {
        Status::Unreadable
    } else if run.fail_on.iter().any(|what| fails(&plan, run, *what)) {
        Status::Findings
    } else {
        Status::Clean
    })
}

fn has_not_opened(file: &File) -> bool {
    let is_not_opened =
        |document: &Document| matches!(document, Document::Unreadable { error: ReadError::NotOpened(_), .. });
    file.documents.iter().any(is_not_opened)
}

/// Reports the documents that could not be read, each file once: of a file that has errors on both sides, the errors of the new side. Returns
/// whether there are any.
fn report_unreadable(pairs: &[LoadedPair], commit: Option<&str>, messages: &dyn Messages) -> bool {
    let news = pairs.iter().flat_map(LoadedPair::new_files).map(|file| (file, None));
    let olds = pairs.iter().flat_map(LoadedPair::old_files).map(|file| (file, commit));
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for (file, commit) in news.chain(olds) {
        let name = file.source.name();
        if !named.contains(name) && one_cluster::report_unreadable_at(file, commit, messages) {
            named.insert(name);
        }
    }
    !named.is_empty()
}

/// The objects that Terraform deletes and creates again, or forgets.
fn by_terraform(pairs: &[LoadedPair]) -> BTreeSet<TerraformObject> {
    pairs.iter().flat_map(|pair| pair.by_terraform.iter().cloned()).collect()
}

fn planned(
    run: &PlanRun,
    settings: &Settings,
    pairs: &[PlanPair<'_>],
    by_terraform: BTreeSet<TerraformObject>,
) -> Result<Plan, CommandError> {
    if run.to.is_some() && run.from.is_none() {
        let is_unknown = |pair: &PlanPair<'_>| {
            matches!(release_of(settings, &pair.old.cluster.files), (_, Some(Assumption::Release(_))))
        };
        if pairs.iter().any(is_unknown) {
            let text = "`--from`: the manifests pin no version, so name the release that runs now";
            return Err(CommandError::Usage(text.to_owned()));
        }
    }
    let choices: Choices = choices::with_prices(run.choices.clone(), run.prices.as_deref())?;
    let ca_bundle = run.ca_bundle.as_deref().map_or_else(|| Ok(String::new()), ca_bundle)?;
    let options = PlanOptions {
        at: run.at,
        clock: run.clock.on_wall(),
        from: run.from,
        to: run.to,
        ca_bundle,
        is_snapshot: matches!(run.origin, PlanOrigin::Snapshot(_)),
        is_complete: run.complete,
        namespace: run.namespace.clone(),
        by_terraform,
        forecast: run.forecast.clone(),
        choices,
        settings: settings.clone(),
    };
    let mut plan = plan(pairs, &options).map_err(|error| match error {
        PlanError::Choice(error) => choices::refused(&error, run.prices.as_deref()),
        error @ (PlanError::SameName { .. } | PlanError::OtherNamespace { .. }) => {
            CommandError::Usage(error.to_string())
        }
    })?;
    plan.answer.assumptions = plan.assumptions.iter().map(assumed::text).collect();
    Ok(plan)
}

fn write(
    out: &mut dyn Write,
    run: &PlanRun,
    settings: &Settings,
    answer: &PlanAnswer,
    has_color: bool,
) -> io::Result<()> {
    match run.format {
        PlanFormat::Human => human::write(out, answer, &run.clock, has_color),
        PlanFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &answers::sorted(answer)?)?;
            writeln!(out)
        }
        PlanFormat::Markdown => out.write_all(planned::markdown(answer).as_bytes()),
        PlanFormat::Github => out.write_all(github::github(&report(answer, settings)).as_bytes()),
        PlanFormat::Sarif => {
            let own = FINDINGS.iter().filter(|(name, _)| !REGISTRY.rules().any(|rule| rule.name == *name));
            let described = own.map(|(name, summary)| RuleDescription {
                name,
                family: Family::Disruption,
                severity: Severity::Warning,
                caught_by: CaughtBy::Nobody,
                summary,
                documentation: format!(
                    "{summary}: `karpwarden plan` says for each changed field what Karpenter does."
                ),
                has_page: false,
            });
            let none: [Cluster; 0] = [];
            let log = sarif::sarif_with(
                &REGISTRY,
                &report(answer, settings),
                &none,
                documentation,
                described.collect(),
            );
            writeln!(out, "{log}")
        }
    }
}

/// The findings as a report.
fn report(answer: &PlanAnswer, settings: &Settings) -> Report {
    Report { findings: answer.findings.clone(), ..Report::new(settings) }
}

/// Whether a plan has what `--fail-on` names.
fn fails(plan: &Plan, run: &PlanRun, what: PlanFailOn) -> bool {
    let answer = &plan.answer;
    // Of a snapshot, the nodes decide, and not the NodePools, which may have none.
    let is_snapshot = matches!(run.origin, PlanOrigin::Snapshot(_));
    let mut pools = answer.node_pools.iter().filter(|_| !is_snapshot);
    match what {
        PlanFailOn::Replaces => answer.effect >= Effect::Unknown,
        PlanFailOn::Blocked => {
            let waits =
                |rollout: &answers::plan::PlannedRollout| rollout.start.0.as_ref() != Some(&answer.at);
            pools.any(|pool| !pool.blocked.is_empty()) || answer.rollouts.iter().any(waits)
        }
        PlanFailOn::Pending => answer.pods.pending.len() > answer.pods.pending_before.len(),
        PlanFailOn::Never => {
            pools.any(|pool| pool.never)
                || answer.nodes.iter().any(|node| node.never)
                || !plan.keeping.is_empty()
        }
        PlanFailOn::None => false,
    }
}
