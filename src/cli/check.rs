//! `karpwarden check`: reads, checks, fixes where asked, reports.

use std::io::{self, Write};
use std::path::Path;

use lint::check::{Cluster, check_within, fails};
use lint::report::Report;
use report::{github, human, junit, sarif};
use karpwarden::rules::documentation;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use lint::settings::Target;
use rayon::prelude::*;

use super::arguments::{Check, Color, Format, InputFlags};
use super::baseline::{self, Baseline};
use super::config::{self, Config};
use super::fix::{self, Origin};
use super::input::{self, Input, Loaded, Taken};
use super::patterns::Patterns;
use super::progress::{Progress, Unit};
use super::{Status, terminal};

/// The stack of the threads that read: as deep as the deepest bound on nesting asks for.
pub(super) const STACK: usize = 64 << 20;

pub(crate) fn run(check: &Check, color: Color) -> io::Result<Status> {
    run_against(check, None, color)
}

/// The same against releases that win over those of the flags and the config file.
pub(crate) fn run_against(check: &Check, target: Option<Target>, color: Color) -> io::Result<Status> {
    let Some(mut config) = config::read(check, color) else { return Ok(Status::Usage) };
    if let Some(target) = target {
        config.settings.karpenter = target;
        config.settings.overrides.iter_mut().for_each(|one| one.karpenter = None);
    }
    if let Some(conflict) = conflict(check) {
        terminal::error(color, conflict);
        return Ok(Status::Usage);
    }
    let Some(excluded) =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color)
    else {
        return Ok(Status::Usage);
    };
    let baseline = match check.choice.baseline.as_deref().map(Baseline::read) {
        None => None,
        Some(Ok(baseline)) => Some(baseline),
        Some(Err(message)) => {
            terminal::error(color, &message);
            return Ok(Status::Usage);
        }
    };
    let mut groups = groups(check, config.path.as_deref(), &excluded, Taken::Manifests);
    if check.choice.force_exclude {
        let named = count(&groups);
        let is_left_out = |input: &Input| input.place().is_some_and(|path| excluded.fit(path, false));
        for (_, inputs) in &mut groups {
            inputs.retain(|input| !is_left_out(input));
        }
        if named > 0 && count(&groups) == 0 {
            if !check.output.quiet {
                terminal::note(color, "nothing to check: all of it is excluded");
            }
            return Ok(Status::Clean);
        }
    }
    let config = config.for_files(&groups.iter().flat_map(|(_, inputs)| inputs), color);
    let Some(config) = config else { return Ok(Status::Usage) };
    if groups.iter().all(|(_, inputs)| inputs.is_empty()) {
        terminal::error(color, no_input(check));
        return Ok(Status::NoInput);
    }
    // Most of what is allocated lives until the process ends, so a failure here is one of the system.
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build().map_err(io::Error::other)?;
    pool.install(|| with_inputs(check, color, &config, &groups, baseline.as_ref()))
}

/// How many inputs there are.
fn count(groups: &[(String, Vec<Input>)]) -> usize {
    groups.iter().map(|(_, inputs)| inputs.len()).sum()
}

fn conflict(check: &Check) -> Option<&'static str> {
    if check.fixing.diff && check.output.format != Format::Human {
        return Some("--diff prints a diff, and no --format");
    }
    None
}

fn no_input(check: &Check) -> &'static str {
    let input = &check.input;
    if input.paths.is_empty() && input.cluster.is_empty() && input.helm_values.is_empty() {
        "nothing to check: name files or folders, or `-` for standard input"
    } else {
        "nothing to check: no .yaml, .yml, .json or .jsonl file there"
    }
}

/// The inputs of each cluster: the plain paths are one without a name, every `--cluster` is one under its folder's.
pub(super) fn groups(
    check: &Check,
    config: Option<&Path>,
    excluded: &Patterns,
    taken: Taken,
) -> Vec<(String, Vec<Input>)> {
    let mut groups = Vec::new();
    let stdin = check.output.stdin_filename.as_deref().unwrap_or("-");
    let choice = &check.choice;
    let own: Vec<&Path> = [config, choice.baseline.as_deref(), choice.write_baseline.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    if !check.input.paths.is_empty() {
        groups.push((String::new(), input::gather(&check.input.paths, &own, excluded, stdin, taken)));
    }
    for folder in &check.input.cluster {
        let name = folder.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let name = name.trim_end_matches('/').to_owned();
        if !groups.iter().any(|(known, _)| *known == name) {
            groups.push((name, input::gather(std::slice::from_ref(folder), &own, excluded, stdin, taken)));
        }
    }
    input::mark_patches(&mut groups, &check.bounds.limits());
    input::mark_values(&mut groups, &check.input.helm_values, stdin);
    groups
}

fn with_inputs(
    check: &Check,
    color: Color,
    config: &Config,
    groups: &[(String, Vec<Input>)],
    baseline: Option<&Baseline>,
) -> io::Result<Status> {
    let limits = check.bounds.limits();
    let progress = Progress::new(count(groups), Unit::Files, check.output.quiet);
    let mut origins = Vec::new();
    let mut clusters = Vec::new();
    for (name, inputs) in groups {
        let read = |input: &Input| {
            let loaded = input.read(&limits);
            progress.step(1);
            loaded
        };
        let loaded: Vec<Loaded> = inputs.par_iter().map(read).collect();
        let mut files = Vec::new();
        for Loaded { file, path, is_stdin, has_mark } in loaded {
            files.push(file);
            origins.push(Origin { path, is_stdin, has_mark });
        }
        clusters.push(Cluster { name: name.clone(), files });
    }
    let settings = &config.settings;
    let report = |clusters: &[Cluster]| {
        let mut report = check_within(&REGISTRY, clusters, settings, check.bounds.max_findings);
        let gone = baseline.map_or(0, |baseline| baseline.apply(&mut report));
        (report, gone)
    };
    let output = &check.output;
    if check.fixing.diff {
        let (before, _) = report(&clusters);
        drop(progress);
        print(&before, &clusters, check, color, To::Stderr)?;
        let fixed = fix::make(&mut clusters, &origins, settings, &limits);
        fixed.tell(color);
        fixed.diff(color)?;
        return Ok(status(&before, check));
    }
    let fixed = check.fixing.fix.then(|| fix::make(&mut clusters, &origins, settings, &limits));
    let (mut after, gone) = report(&clusters);
    drop(progress);
    if let Some(path) = &check.choice.write_baseline {
        let count = baseline::write(path, &mut after)?;
        if !output.quiet {
            let entries = if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") };
            terminal::note(color, &format!("listed {entries} in `{}`", path.display()));
        }
    }
    if gone > 0 && !output.quiet {
        terminal::note(color, &format!("{gone} listed in the baseline are no longer there; write it anew"));
    }
    let to = if check.fixing.fix && reads_stdin(&check.input) { To::Stderr } else { To::Stdout };
    if let Some(fixed) = &fixed {
        let files = fixed.write()?;
        fixed.tell(color);
        if !output.quiet && fixed.mended.applied > 0 {
            let count = |number: usize, one: &str, many: &str| {
                format!("{number} {}", if number == 1 { one } else { many })
            };
            let findings = count(fixed.mended.applied, "finding", "findings");
            terminal::note(color, &format!("fixed {findings} in {}", count(files, "file", "files")));
        }
    }
    match print(&after, &clusters, check, color, to) {
        // `| head` has seen enough, and still wants to know how it went.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        result => result?,
    }
    Ok(status(&after, check))
}

fn reads_stdin(input: &InputFlags) -> bool {
    input.paths.iter().chain(&input.helm_values).any(|path| path.as_os_str() == "-")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Stdout,
    Stderr,
}

fn print(report: &Report, clusters: &[Cluster], check: &Check, color: Color, to: To) -> io::Result<()> {
    let (mut out, styled): (Box<dyn Write>, bool) = match (&check.output.output, to) {
        (Some(path), _) => (file(path)?, color == Color::Always),
        (None, To::Stdout) => (terminal::stdout(color), color.on_stdout()),
        (None, To::Stderr) => (terminal::stderr(color), color.on_stderr()),
    };
    match check.output.format {
        Format::Json => writeln!(out, "{}", report.to_json())?,
        Format::Sarif => writeln!(out, "{}", sarif::sarif(&REGISTRY, report, clusters, documentation))?,
        Format::Github => out.write_all(github::github(report).as_bytes())?,
        Format::Junit => {
            let files = clusters.iter().flat_map(|cluster| &cluster.files);
            out.write_all(junit::junit(report, files.map(|file| file.source.name())).as_bytes())?;
        }
        Format::Human => {
            let options = human::Options { color: styled, quiet: check.output.quiet, width: None };
            human::write(&mut out, report, clusters, options)?;
        }
    }
    out.flush()?;
    // An annotation is shown elsewhere, a file is not shown: the log of a job would be empty.
    let is_elsewhere = check.output.output.is_some() || check.output.format == Format::Github;
    if is_elsewhere && !check.output.quiet {
        terminal::note(color, &human::summary(report));
    }
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

/// The file of `--output`.
pub(super) fn file(path: &Path) -> io::Result<Box<dyn Write>> {
    let file = std::fs::File::create(path)
        .map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", path.display())))?;
    Ok(Box::new(io::BufWriter::new(file)))
}

fn status(report: &Report, check: &Check) -> Status {
    if !report.unreadable.is_empty() {
        return Status::Unreadable;
    }
    match check.output.fail_on.severity() {
        Some(level) if fails(report, level) => Status::Findings,
        _ => Status::Clean,
    }
}
