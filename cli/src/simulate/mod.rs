//! `karpwarden simulate`: shows where Karpenter would place the pods of the input, and why not.

pub(crate) mod choices;
mod dot;
mod flags;
mod human;

use std::path::PathBuf;

use answers::simulation::SimulationAnswer;
use cluster::built_objects::BuiltObjects;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::simulate::summary::SimulationSummary;
use karpwarden::simulate::{Assumption, Choices, DeducedSettings, Shown, json, skipped, with_outcome};
use manifest::File;
use scheduling::simulation::{Simulation, TooManyPods};

use super::assumed;
use super::error::CommandError;
use super::form::Color;
use super::messages::Messages;
use super::one_cluster::{self, OneCluster};
use super::options::{InputOptions, SettingsOptions};
use super::output::{self, Stream};
use super::safe_writer::Escaping;
use super::stack::on_one_core;
use super::status::Status;

pub(crate) use flags::{SimulateArguments, SimulationFlags, SimulationFormat, part};

/// Options of `simulate`.
#[derive(Clone, Debug)]
pub(crate) struct SimulateOptions {
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) choices: Choices,
    /// File with prices.
    pub(crate) prices: Option<PathBuf>,
    pub(crate) format: SimulationFormat,
    /// File to write to; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
    /// Largest number of findings in the result.
    pub(crate) max_findings: usize,
}

pub(crate) fn run(simulate: SimulateArguments, color: Color) -> Result<Status, CommandError> {
    let options = SimulateOptions::try_from(simulate)?;
    on_one_core(|| read_and_simulate(&options, color))?
}

/// Reads the input and simulates it. Prints nothing.
pub(crate) fn answer(
    options: &SimulateOptions,
    messages: &dyn Messages,
) -> Result<SimulationAnswer, CommandError> {
    on_one_core(|| {
        simulated(options, messages, assumed::texts, |shown, files| {
            one_cluster::report_unreadable(files, messages);
            json::answer(shown)
        })
    })?
}

/// The same answer for readers who have no command line: its assumptions name no flag.
pub(crate) fn answer_in_words(
    options: &SimulateOptions,
    messages: &dyn Messages,
) -> Result<SimulationAnswer, CommandError> {
    let words = |assumptions: &[Assumption]| assumptions.iter().map(ToString::to_string).collect();
    on_one_core(|| simulated(options, messages, words, |shown, _| json::answer(shown)))?
}

fn read_and_simulate(options: &SimulateOptions, color: Color) -> Result<Status, CommandError> {
    simulated(options, &color, assumed::texts, |shown, files| print(options, shown, files, color))?
}

/// Reads the input, simulates it, and hands on the result with the files.
fn simulated<T>(
    options: &SimulateOptions,
    messages: &dyn Messages,
    texts: impl FnOnce(&[Assumption]) -> Vec<String>,
    show: impl FnOnce(&Shown<'_, '_>, &[File]) -> T,
) -> Result<T, CommandError> {
    output::refuse_same(options.file.as_deref(), "--output", options.prices.as_deref())?;
    let read =
        one_cluster::read(&options.input, &options.settings, options.file.as_deref(), "simulate", messages)?;
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
    let assumptions = texts(&with_outcome(deduced.assumptions, &outcome));
    let shown = Shown {
        outcome: &outcome,
        simulation: &simulation,
        assumptions: &assumptions,
        skipped: skipped(files),
        findings: &report.findings,
    };
    Ok(show(&shown, files))
}

fn print(
    options: &SimulateOptions,
    shown: &Shown<'_, '_>,
    files: &[File],
    color: Color,
) -> Result<Status, CommandError> {
    let escaping = match options.format {
        SimulationFormat::Json => Escaping::Json,
        SimulationFormat::Human => Escaping::Symbol,
        SimulationFormat::Dot => Escaping::Plain,
    };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, escaping, color)?;
    output::unless_closed(match options.format {
        SimulationFormat::Human => human::write(&mut out, shown, has_color),
        SimulationFormat::Json => json::write(&mut out, shown),
        SimulationFormat::Dot => dot::write(&mut out, shown),
    })?;
    output::unless_closed(out.finish())?;
    let unreadable = one_cluster::report_unreadable(files, &color);
    let totals = SimulationSummary::of(shown.outcome);
    Ok(match totals.unplaced + totals.ignored {
        _ if unreadable || totals.untried > 0 => Status::Unreadable,
        0 => Status::Clean,
        _ => Status::Findings,
    })
}
