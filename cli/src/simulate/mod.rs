//! `karpwarden simulate`: shows where Karpenter would place the pods of the input, and why not.

pub(crate) mod choices;
mod dot;
mod flags;
mod human;

use std::path::PathBuf;

use cluster::built_objects::BuiltObjects;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::simulate::summary::SimulationSummary;
use karpwarden::simulate::{Choices, DeducedSettings, Shown, json, skipped, with_outcome};
use scheduling::simulation::{Simulation, TooManyPods};

use super::assumed;
use super::error::CommandError;
use super::form::Color;
use super::one_cluster::{self, OneCluster};
use super::options::{InputOptions, SettingsOptions};
use super::output::{self, Stream};
use super::safe_writer::Escaping;
use super::stack::on_one_core;
use super::status::Status;

use flags::SimulationFormat;
pub(crate) use flags::{SimulateArguments, SimulationFlags, part};

/// Options of `simulate`.
#[derive(Clone, Debug)]
pub(crate) struct SimulateOptions {
    input: InputOptions,
    settings: SettingsOptions,
    choices: Choices,
    /// File with prices.
    prices: Option<PathBuf>,
    format: SimulationFormat,
    /// File to write to; `None` for standard output.
    file: Option<PathBuf>,
    /// Largest number of findings in the result.
    max_findings: usize,
}

pub(crate) fn run(simulate: SimulateArguments, color: Color) -> Result<Status, CommandError> {
    let options = SimulateOptions::try_from(simulate)?;
    on_one_core(|| read_and_simulate(&options, color))?
}

fn read_and_simulate(options: &SimulateOptions, color: Color) -> Result<Status, CommandError> {
    output::refuse_same(options.file.as_deref(), "--output", options.prices.as_deref())?;
    let read =
        one_cluster::read(&options.input, &options.settings, options.file.as_deref(), "simulate", color)?;
    let OneCluster { settings, cluster } = read;
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    choices::check_replicas(&options.choices, &objects)?;
    choices::check_reservations(&options.choices, &objects)?;
    let choices = choices::with_prices(options.choices.clone(), options.prices.as_deref())?;
    let deduced = DeducedSettings::new(&choices, &settings, files, &objects)
        .map_err(|error| choices::refused(&error, options.prices.as_deref()))?
        .with_overlays(&built.left_out())
        .with_rounds(&choices, &objects);
    let simulation = Simulation::new(deduced.settings, &objects).map_err(|TooManyPods| {
        let most = Simulation::MAX_PODS;
        CommandError::Usage(format!("more than {most} pods; simulate fewer replicas with `--replicas`"))
    })?;
    let outcome = simulation.run_with_remedies();
    let clusters = std::slice::from_ref(&cluster);
    let report = check_within(&REGISTRY, clusters, &settings, options.max_findings);
    let assumptions = assumed::texts(&with_outcome(deduced.assumptions, &outcome));
    let shown = Shown {
        outcome: &outcome,
        simulation: &simulation,
        assumptions: &assumptions,
        skipped: skipped(files),
        findings: &report.findings,
    };
    let escaping = match options.format {
        SimulationFormat::Json => Escaping::Json,
        SimulationFormat::Human => Escaping::Symbol,
        SimulationFormat::Dot => Escaping::Plain,
    };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, escaping, color)?;
    output::unless_closed(match options.format {
        SimulationFormat::Human => human::write(&mut out, &shown, has_color),
        SimulationFormat::Json => json::write(&mut out, &shown),
        SimulationFormat::Dot => dot::write(&mut out, &shown),
    })?;
    output::unless_closed(out.finish())?;
    let unreadable = one_cluster::report_unreadable(files, color);
    let totals = SimulationSummary::of(&outcome);
    Ok(match totals.unplaced + totals.ignored {
        _ if unreadable || totals.untried > 0 => Status::Unreadable,
        0 => Status::Clean,
        _ => Status::Findings,
    })
}
