//! `karpwarden diagnose`: reads logs, events, status and manifests, each file as a stream, and reports what is wrong.

use std::io::{self, Read as _};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use lint::check::fails;
use report::human;
use symptoms::{Diagnosed, Reading};

use super::arguments::{Check, ChoiceFlags, Color, Diagnose, FixFlags, Format, LogFormat, OutputFlags};
use super::check::{STACK, file, groups};
use super::config::{self, Config};
use super::input::{Input, Taken};
use super::patterns::Patterns;
use super::progress::{Progress, Unit};
use super::{Status, terminal};

/// The bytes that are read at once.
const PIECE: usize = 1 << 18;

pub(crate) fn run(diagnose: Diagnose, color: Color) -> io::Result<Status> {
    let check = Check {
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
            quiet: diagnose.quiet,
        },
        fixing: FixFlags::default(),
        bounds: diagnose.bounds,
    };
    let Some(config) = config::read(&check, color) else { return Ok(Status::Usage) };
    let excluded =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color);
    let Some(excluded) = excluded else { return Ok(Status::Usage) };
    let groups = groups(&check, config.path.as_deref(), &excluded, Taken::Texts);
    let config = config.for_files(&groups.iter().flat_map(|(_, inputs)| inputs), color);
    let Some(config) = config else { return Ok(Status::Usage) };
    if groups.iter().all(|(_, inputs)| inputs.is_empty()) {
        let is_said = !(check.input.paths.is_empty() && check.input.cluster.is_empty());
        let named =
            if is_said { "no file there" } else { "name files or folders, or `-` for standard input" };
        terminal::error(color, &format!("nothing to diagnose: {named}"));
        return Ok(Status::NoInput);
    }
    // Manifests may nest deeply.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?.install(|| with_inputs(&check, color, &config, &groups))
}

fn with_inputs(
    check: &Check,
    color: Color,
    config: &Config,
    groups: &[(String, Vec<Input>)],
) -> io::Result<Status> {
    let bytes = groups.iter().flat_map(|(_, inputs)| inputs).map(Input::len).sum();
    let progress = Progress::new(bytes, Unit::Bytes, check.output.quiet);
    let mut reading =
        Reading::new(&REGISTRY, config.settings.clone(), check.bounds.limits()).at_most(check.bounds.max_findings);
    let mut piece = vec![0; PIECE];
    for (name, inputs) in groups {
        reading.cluster(name);
        for input in inputs {
            feed(&mut reading, input, &mut piece, &progress);
        }
    }
    let diagnosed = reading.finish();
    drop(progress);
    match print(&diagnosed, check, color) {
        // `| head` has seen enough, and still wants to know how it went.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        result => result?,
    }
    let report = &diagnosed.report;
    if !report.unreadable.is_empty() {
        return Ok(Status::Unreadable);
    }
    match check.output.fail_on.severity() {
        Some(level) if fails(report, level) => Ok(Status::Findings),
        _ => Ok(Status::Clean),
    }
}

/// Reads a file to its end, or as far as it can be read.
fn feed(reading: &mut Reading, input: &Input, piece: &mut [u8], progress: &Progress) {
    let mut from = match input.open() {
        Ok(from) => from,
        Err(reason) => {
            reading.unreadable(&input.name, &reason);
            return;
        }
    };
    reading.file(&input.name, input.kind);
    loop {
        match from.read(piece) {
            Ok(0) => return,
            Ok(read) => {
                reading.feed(piece.get(..read).unwrap_or_default());
                progress.step(read);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                reading.unreadable(&input.name, &super::input::unread(&error));
                return;
            }
        }
    }
}

fn print(diagnosed: &Diagnosed, check: &Check, color: Color) -> io::Result<()> {
    let (report, output) = (&diagnosed.report, &check.output);
    let (mut out, styled): (Box<dyn io::Write>, bool) = match &output.output {
        Some(path) => (file(path)?, color == Color::Always),
        None => (terminal::stdout(color), color.on_stdout()),
    };
    if output.format == Format::Json {
        writeln!(out, "{}", report.to_json())?;
    } else {
        let width = output.output.is_none().then(terminal::columns).flatten();
        let options = human::Options { color: styled, quiet: output.quiet, width };
        human::write(&mut out, report, &diagnosed.clusters, options)?;
    }
    out.flush()?;
    if report.truncated {
        let bound = check.bounds.max_findings;
        terminal::note(
            color,
            &format!(
                "more than {bound} findings, the rest is counted and not shown; raise the bound with --max-findings"
            ),
        );
    }
    Ok(())
}
