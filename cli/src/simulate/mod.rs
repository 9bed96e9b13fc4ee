//! `karpwarden simulate`: shows where Karpenter would place the pods of the input, and why not.

mod dot;
mod flags;
mod human;

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use cluster::Cluster;
use cluster::built_objects::BuiltObjects;
use engine::check::check_within;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::simulate::{Choices, Options, PriceFile, Shown, json, skipped, summary};
use manifest::{Document, File};
use rule::settings::Settings;
use scheduling::simulation::Simulation;

use super::arguments::{Check, ChoiceFlags, Color, FailOn, FixFlags, Format, OutputFlags, TargetFlags};
use super::check::STACK;
use super::config;
use super::input::{self, Patterns, Wanted};
use super::output::{self, Stream};
use super::status::Status;
use super::terminal;

pub(crate) use flags::{Simulate, SimulationFlags, SimulationFormat, part};

pub(crate) fn run(simulate: Simulate, color: Color) -> io::Result<Status> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?.install(|| read_and_simulate(simulate, color))
}

fn read_and_simulate(mut simulate: Simulate, color: Color) -> io::Result<Status> {
    let flags = std::mem::take(&mut simulate.simulation);
    let format = simulate.format;
    let Inputs { check, settings, cluster } = match read(simulate, "simulate", color) {
        Ok(inputs) => inputs,
        Err(status) => return Ok(status),
    };
    let files = &cluster.files;
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let options = choices(flags);
    let options = options.and_then(|choices| Options::new(&choices, &settings, files, &objects));
    let options = match options {
        Ok(options) => options.with_overlays(&built.left_out()),
        Err(message) => {
            terminal::error(color, &message);
            return Ok(Status::Usage);
        }
    };
    let simulation = Simulation::new(options.settings, &objects);
    if simulation.is_truncated() {
        let most = Simulation::MOST_PODS;
        terminal::error(color, &format!("more than {most} pods; simulate fewer replicas with `--replicas`"));
        return Ok(Status::Usage);
    }
    let outcome = simulation.run(&objects);
    let clusters = std::slice::from_ref(&cluster);
    let report = check_within(&REGISTRY, clusters, &settings, check.bounds.max_findings);
    let shown = Shown {
        outcome: &outcome,
        simulation: &simulation,
        assumptions: &options.assumptions,
        skipped: skipped(files),
        findings: &report.findings,
    };
    let (mut out, has_color) = output::open(&check.output, Stream::Stdout, color)?;
    output::unless_closed(match format {
        SimulationFormat::Human => human::write(&mut out, &shown, has_color),
        SimulationFormat::Json => json::write(&mut out, &shown),
        SimulationFormat::Dot => dot::write(&mut out, &shown),
    })?;
    output::unless_closed(out.flush())?;
    let unreadable = report_unreadable(files, color);
    Ok(match summary::of(&outcome).unplaced {
        _ if unreadable => Status::Unreadable,
        0 => Status::Clean,
        _ => Status::Findings,
    })
}

/// The manifests that the flags name.
pub(super) struct Inputs {
    pub(super) check: Check,
    pub(super) settings: Settings,
    pub(super) cluster: Cluster,
}

/// Reads the config file and the manifests. An error is the exit status, whose message has been printed.
pub(super) fn read(simulate: Simulate, verb: &str, color: Color) -> Result<Inputs, Status> {
    let check = as_check(simulate);
    let config = config::read(&check, color).ok_or(Status::Usage)?;
    let excluded =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color);
    let excluded = excluded.ok_or(Status::Usage)?;
    let clusters = input::by_cluster(&check, config.path.as_deref(), &excluded, Wanted::Manifests);
    if input::count(&clusters) == 0 {
        let message = format!("nothing to {verb}: name files or folders, or `-` for standard input");
        terminal::error(color, &message);
        return Err(Status::NoInput);
    }
    let limits = check.bounds.limits();
    let inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
    let config = config.for_files(&inputs.clone(), color).ok_or(Status::Usage)?;
    let files = inputs.map(|input| input.read(&limits).file).collect();
    Ok(Inputs { check, settings: config.settings, cluster: Cluster { name: String::new(), files } })
}

/// Prints the documents that could not be parsed. Returns whether there are any.
pub(super) fn report_unreadable(files: &[File], color: Color) -> bool {
    let mut found = false;
    for file in files {
        for document in &file.documents {
            if let Document::Unreadable { message, .. } = document {
                let name = file.source.name();
                terminal::error(color, &render::human::printable(&format!("`{name}`: {message}")));
                found = true;
            }
        }
    }
    found
}

/// The flags with the content of the file of prices.
pub(super) fn choices(flags: SimulationFlags) -> Result<Choices, String> {
    let read = |path: PathBuf| {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        Ok::<_, String>(PriceFile { name, text })
    };
    Ok(Choices {
        replicas: flags.replicas,
        empty: flags.empty,
        region: flags.region,
        zones: flags.zones,
        prices: flags.prices.map(read).transpose()?,
        spot_discount: flags.spot_discount,
        feature_gates: flags.feature_gates,
        preference_policy: flags.preference_policy,
        min_values_policy: flags.min_values_policy,
        vm_memory_overhead_percent: flags.vm_memory_overhead_percent,
        reserved_enis: flags.reserved_enis,
        reservation_capacity: flags.reservation_capacity,
    })
}

/// The flags of `simulate` as flags of `check`, which reads the same config file and the same inputs.
fn as_check(simulate: Simulate) -> Check {
    let mut input = simulate.input;
    input.paths.extend(simulate.pod);
    Check {
        input,
        target: TargetFlags {
            karpenter_version: simulate.karpenter_version,
            kubernetes_version: None,
            cluster_name: None,
            complete: false,
            strict_release: simulate.strict_release,
        },
        choice: ChoiceFlags {
            config: simulate.config,
            select: Vec::new(),
            ignore: Vec::new(),
            exclude: simulate.exclude,
            force_exclude: false,
            baseline: None,
            write_baseline: None,
        },
        output: OutputFlags {
            format: Format::Human,
            output: simulate.output,
            stdin_filename: None,
            fail_on: FailOn::Error,
            strict: false,
            quiet: false,
        },
        fixing: FixFlags::default(),
        statistics: false,
        bounds: simulate.bounds,
    }
}
