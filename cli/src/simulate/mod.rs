//! `karpwarden simulate`: shows where Karpenter would place the pods of the input, and why not.

mod dot;
mod flags;
mod human;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cluster::built_objects::BuiltObjects;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::simulate::{Choices, DeducedSettings, PriceFile, Shown, json, skipped, summary};
use scheduling::simulation::Simulation;

use super::arguments::Color;
use super::check::STACK;
use super::one_cluster::{self, OneCluster};
use super::options::{InputOptions, SettingsOptions};
use super::output::{self, Stream};
use super::status::Status;
use super::terminal;

use flags::SimulationFormat;
pub(crate) use flags::{Simulate, part};

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

pub(crate) fn run(options: &SimulateOptions, color: Color) -> io::Result<Status> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?.install(|| read_and_simulate(options, color))
}

fn read_and_simulate(options: &SimulateOptions, color: Color) -> io::Result<Status> {
    let read = one_cluster::read(&options.input, &options.settings, "simulate", color);
    let OneCluster { settings, cluster } = match read {
        Ok(read) => read,
        Err(status) => return Ok(status),
    };
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let choices = with_prices(options.choices.clone(), options.prices.as_deref());
    let simulated = choices.and_then(|choices| DeducedSettings::new(&choices, &settings, files, &objects));
    let simulated = match simulated {
        Ok(simulated) => simulated.with_overlays(&built.left_out()),
        Err(message) => {
            terminal::error(color, &message);
            return Ok(Status::Usage);
        }
    };
    let simulation = Simulation::new(simulated.settings, &objects);
    if simulation.is_truncated() {
        let most = Simulation::MAX_PODS;
        terminal::error(color, &format!("more than {most} pods; simulate fewer replicas with `--replicas`"));
        return Ok(Status::Usage);
    }
    let outcome = simulation.run(&objects);
    let clusters = std::slice::from_ref(&cluster);
    let report = check_within(&REGISTRY, clusters, &settings, options.max_findings);
    let shown = Shown {
        outcome: &outcome,
        simulation: &simulation,
        assumptions: &simulated.assumptions,
        skipped: skipped(files),
        findings: &report.findings,
    };
    let (mut out, has_color) = output::open(options.file.as_deref(), Stream::Stdout, color)?;
    output::unless_closed(match options.format {
        SimulationFormat::Human => human::write(&mut out, &shown, has_color),
        SimulationFormat::Json => json::write(&mut out, &shown),
        SimulationFormat::Dot => dot::write(&mut out, &shown),
    })?;
    output::unless_closed(out.flush())?;
    let unreadable = one_cluster::report_unreadable(files, color);
    Ok(match summary::of(&outcome).unplaced {
        _ if unreadable => Status::Unreadable,
        0 => Status::Clean,
        _ => Status::Findings,
    })
}

/// The choices with the content of the file of prices.
pub(super) fn with_prices(choices: Choices, path: Option<&Path>) -> Result<Choices, String> {
    let read = |path: &Path| {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        Ok::<_, String>(PriceFile { name, text })
    };
    Ok(Choices { prices: path.map(read).transpose()?, ..choices })
}
