//! `karpwarden diagnose`: reads logs, events, status and manifests as streams, and reports the causes of problems.

use std::collections::BTreeSet;
use std::io::{self, Read as _};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use report::human;
use symptoms::{Diagnosed, Reading};

use super::arguments::{Check, ChoiceFlags, Color, Diagnose, FixFlags, Format, LogFormat, OutputFlags};
use super::check::STACK;
use super::config::{self, Config};
use super::input::{self, ClusterInputs, Input, Patterns, Wanted};
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::status::Status;
use super::terminal;

/// Bytes to read at once.
const CHUNK: usize = 1 << 18;

pub(crate) fn run(diagnose: Diagnose, color: Color) -> io::Result<Status> {
    let check = as_check(diagnose);
    let Some(config) = config::read(&check, color) else { return Ok(Status::Usage) };
    let excluded =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color);
    let Some(excluded) = excluded else { return Ok(Status::Usage) };
    let clusters = input::by_cluster(&check, config.path.as_deref(), &excluded, Wanted::Texts);
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), color);
    let Some(config) = config else { return Ok(Status::Usage) };
    if input::count(&clusters) == 0 {
        let has_paths = !(check.input.paths.is_empty() && check.input.cluster.is_empty());
        let reason =
            if has_paths { "found no files" } else { "name files or folders, or `-` for standard input" };
        terminal::error(color, &format!("nothing to diagnose: {reason}"));
        if check.output.format != Format::Human {
            let reading = Reading::new(&REGISTRY, config.settings.clone(), check.bounds.limits());
            output::unless_closed(print(&reading.finish(), &check, color))?;
        }
        return Ok(Status::NoInput);
    }
    // The input may contain deeply nested manifests.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?.install(|| read_and_report(&check, color, &config, &clusters))
}

/// The flags of `diagnose` as flags of `check`, which reads the same config file and the same inputs.
fn as_check(diagnose: Diagnose) -> Check {
    Check {
        input: diagnose.input,
        target: diagnose.target,
        choice: ChoiceFlags {
            config: diagnose.config,
            select: diagnose.select,
            ignore: diagnose.ignore,
            exclude: diagnose.exclude,
            force_exclude: false,
            baseline: None,
            write_baseline: None,
        },
        output: OutputFlags {
            format: match diagnose.format {
                LogFormat::Human => Format::Human,
                LogFormat::Json => Format::Json,
            },
            output: diagnose.output,
            stdin_filename: diagnose.stdin_filename,
            fail_on: diagnose.fail_on,
            strict: diagnose.strict,
            quiet: diagnose.quiet,
        },
        fixing: FixFlags::default(),
        statistics: false,
        bounds: diagnose.bounds,
    }
}

fn read_and_report(
    check: &Check,
    color: Color,
    config: &Config,
    clusters: &[ClusterInputs],
) -> io::Result<Status> {
    let bytes = clusters.iter().flat_map(|cluster| &cluster.inputs).map(Input::len).sum();
    let progress = Progress::new(bytes, Unit::Bytes, check.output.quiet);
    let mut reading = Reading::new(&REGISTRY, config.settings.clone(), check.bounds.limits())
        .at_most(check.bounds.max_findings);
    let mut chunk = vec![0; CHUNK];
    let mut is_empty = false;
    for ClusterInputs { cluster, inputs } in clusters {
        reading.cluster(cluster);
        for input in inputs {
            let bytes = feed(&mut reading, input, &mut chunk, &progress);
            is_empty |= input.is_stdin() && bytes == 0 && !check.input.allow_empty;
        }
    }
    let mut diagnosed = reading.finish();
    let inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
    let named: BTreeSet<&str> =
        inputs.filter(|input| input.is_named).map(|input| input.name.as_str()).collect();
    for unreadable in &mut diagnosed.report.unreadable {
        unreadable.concerns_karpenter |= named.contains(unreadable.file.as_str());
    }
    drop(progress);
    if is_empty {
        terminal::error(color, output::EMPTY);
    }
    output::unless_closed(print(&diagnosed, check, color))?;
    Ok(output::status_after(&diagnosed.report, &check.output, is_empty))
}

/// Reads an input up to its end or to the first error. Returns the number of bytes.
fn feed(reading: &mut Reading, input: &Input, chunk: &mut [u8], progress: &Progress) -> usize {
    let mut bytes = 0;
    let mut from = match input.open() {
        Ok(from) => from,
        Err(reason) => {
            reading.unreadable(&input.name, &reason);
            return bytes;
        }
    };
    reading.file(&input.name, input.kind);
    loop {
        match from.read(chunk) {
            Ok(0) => return bytes,
            Ok(read) => {
                bytes += read;
                reading.feed(chunk.get(..read).unwrap_or_default());
                progress.step(read);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                reading.unreadable(&input.name, &input::read_error(&error));
                return bytes;
            }
        }
    }
}

fn print(diagnosed: &Diagnosed, check: &Check, color: Color) -> io::Result<()> {
    let (report, flags) = (&diagnosed.report, &check.output);
    let (mut out, styled) = output::open(flags, Stream::Stdout, color)?;
    if flags.format == Format::Json {
        writeln!(out, "{}", report.to_json())?;
    } else {
        let width = flags.output.is_none().then(terminal::columns).flatten();
        let options = human::Options { color: styled, quiet: flags.quiet, width };
        human::write(&mut out, report, &diagnosed.clusters, options)?;
    }
    out.flush()?;
    output::note_truncation(report, check.bounds.max_findings, color);
    Ok(())
}
