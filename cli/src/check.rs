//! `karpwarden check`: reads manifests, checks them, applies fixes on request, and reports.

use std::io;

use cluster::Cluster;
use engine::check::check_within;
use engine::report::Report;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::rules::documentation;
use manifest::parallel;
use render::{github, human, junit, markdown, sarif};
use rule::settings::Target;

use super::arguments::{Check, Color, Format, InputFlags};
use super::baseline::{self, Baseline};
use super::config::{self, Config};
use super::fix::{self, Fixed, Origin};
use super::input::{self, ClusterInputs, Input, Loaded, Patterns, Wanted};
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::status::Status;
use super::{terminal, unused};

/// Stack of the threads that parse and check. The largest value of `--max-depth` needs this much.
pub(super) const STACK: usize = 64 << 20;

pub(crate) fn run(check: &Check, color: Color) -> io::Result<Status> {
    run_against(check, None, color)
}

/// Runs a check. `target` takes precedence over the releases of the flags and of the config file, and comes with its remarks.
pub(crate) fn run_against(
    check: &Check,
    target: Option<(Target, Vec<String>)>,
    color: Color,
) -> io::Result<Status> {
    let Some((config, excluded, baseline)) = prepared(check, target, color) else { return Ok(Status::Usage) };
    let mut clusters = input::by_cluster(check, config.path.as_deref(), &excluded, Wanted::Manifests);
    if check.choice.force_exclude {
        // Hooks name every file, so a name does not show that the file is about Karpenter.
        for input in clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs) {
            input.is_named &= input.path().is_none();
        }
        let named = input::count(&clusters);
        let is_excluded =
            |input: &Input| input.assumed_path().is_some_and(|path| excluded.matches(path, false));
        for cluster in &mut clusters {
            cluster.inputs.retain(|input| !is_excluded(input));
        }
        if named > 0 && input::count(&clusters) == 0 {
            if !check.output.quiet {
                terminal::note(color, "nothing to check: every file is excluded");
            }
            print_empty(check, color, &config)?;
            return Ok(Status::Clean);
        }
    }
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), color);
    let Some(config) = config else { return Ok(Status::Usage) };
    if input::count(&clusters) == 0 {
        terminal::error(color, no_input(check));
        print_empty(check, color, &config)?;
        return Ok(Status::NoInput);
    }
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build().map_err(io::Error::other)?;
    let run = Run { check, color, config: &config, baseline: baseline.as_ref() };
    pool.install(|| run.check_inputs(&clusters))
}

/// Prints a report without findings in the formats for programs, which parse the output whatever the exit status is.
fn print_empty(check: &Check, color: Color, config: &Config) -> io::Result<()> {
    if check.output.format == Format::Human && check.output.output.is_none() {
        return Ok(());
    }
    let run = Run { check, color, config, baseline: None };
    output::unless_closed(run.print(&Report::new(&config.settings), &[], Stream::Stdout))
}

/// Reads the settings, the excluded paths and the baseline. Prints every error.
fn prepared(
    check: &Check,
    target: Option<(Target, Vec<String>)>,
    color: Color,
) -> Option<(Config, Patterns, Option<Baseline>)> {
    let config = config::read_for(check, target, color)?;
    if check.fixing.diff && check.output.format != Format::Human {
        terminal::error(color, "`--diff` prints a diff and cannot be combined with `--format`");
        return None;
    }
    if check.statistics && !matches!(check.output.format, Format::Human | Format::Json) {
        terminal::error(color, "`--statistics` needs `--format human` or `--format json`");
        return None;
    }
    let excluded =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color)?;
    let baseline =
        check.choice.baseline.as_deref().map(|path| Baseline::read(path, config.base.clone())).transpose();
    let baseline = baseline.map_err(|message| terminal::error(color, &message)).ok()?;
    Some((config, excluded, baseline))
}

fn no_input(check: &Check) -> &'static str {
    let input = &check.input;
    if input.paths.is_empty() && input.cluster.is_empty() && input.helm_values.is_empty() {
        "nothing to check: name files or folders, or `-` for standard input"
    } else {
        "nothing to check: found no .yaml, .yml, .json or .jsonl files"
    }
}

/// Flags and settings of a run.
struct Run<'r> {
    check: &'r Check,
    color: Color,
    config: &'r Config,
    baseline: Option<&'r Baseline>,
}

impl Run<'_> {
    fn check_inputs(&self, inputs: &[ClusterInputs]) -> io::Result<Status> {
        let progress = Progress::new(input::count(inputs), Unit::Files, self.check.output.quiet);
        let (clusters, origins) = self.load(inputs, &progress);
        if self.check.fixing.diff {
            return self.show_diff(clusters, &origins, progress);
        }
        self.report(clusters, &origins, progress)
    }

    /// Reads and parses the inputs.
    fn load(&self, inputs: &[ClusterInputs], progress: &Progress) -> (Vec<Cluster>, Vec<Origin>) {
        let limits = self.check.bounds.limits();
        let mut origins = Vec::new();
        let mut clusters = Vec::new();
        for ClusterInputs { cluster, inputs } in inputs {
            let read = |input: &Input| {
                let loaded = input.read(&limits);
                progress.step(1);
                loaded
            };
            let loaded: Vec<Loaded> = parallel::map(inputs, read);
            let mut files = Vec::new();
            for Loaded { file, path, is_stdin, encoding } in loaded {
                files.push(file);
                origins.push(Origin { path, is_stdin, encoding });
            }
            clusters.push(Cluster { name: cluster.clone(), files });
        }
        (clusters, origins)
    }

    /// Checks the clusters. Also returns the number of baseline entries that match no finding.
    fn checked(&self, clusters: &[Cluster]) -> (Report, usize) {
        let Check { choice, bounds, .. } = self.check;
        // A baseline has every finding, so that the next run has no new one.
        let is_bounded = choice.write_baseline.is_none() && self.baseline.is_none();
        let bound = if is_bounded { bounds.max_findings } else { usize::MAX };
        let mut report = check_within(&REGISTRY, clusters, &self.config.settings, bound);
        let names = clusters.iter().flat_map(|cluster| &cluster.files).map(|file| file.source.name());
        let unmatched = self.baseline.map_or(0, |baseline| baseline.apply(&mut report, names));
        // Rules that do not run find nothing.
        let is_narrowed = !(choice.select.is_empty() && choice.ignore.is_empty());
        (report, if is_narrowed { 0 } else { unmatched })
    }

    fn fixed(&self, clusters: &mut [Cluster], origins: &[Origin]) -> Fixed {
        fix::apply(clusters, origins, &self.config.settings, &self.check.bounds.limits())
    }

    /// Prints the report to standard error and the changes of `--fix` to standard output.
    fn show_diff(
        &self,
        mut clusters: Vec<Cluster>,
        origins: &[Origin],
        progress: Progress,
    ) -> io::Result<Status> {
        let (mut before, _) = self.checked(&clusters);
        before.truncate(self.check.bounds.max_findings);
        drop(progress);
        let is_empty = self.refuses_empty(&clusters, origins);
        output::unless_closed(self.print(&before, &clusters, Stream::Stderr))?;
        let fixed = self.fixed(&mut clusters, origins);
        fixed.note_skipped(self.color);
        output::unless_closed(fixed.print_diff(self.color))?;
        Ok(output::status_after(&before, &self.check.output, is_empty))
    }

    /// Applies the fixes if `--fix` is given, writes the baseline if `--write-baseline` is given, and prints the report.
    fn report(
        &self,
        mut clusters: Vec<Cluster>,
        origins: &[Origin],
        progress: Progress,
    ) -> io::Result<Status> {
        let fixed = self.check.fixing.fix.then(|| self.fixed(&mut clusters, origins));
        let (mut after, unmatched) = self.checked(&clusters);
        drop(progress);
        let is_empty = self.refuses_empty(&clusters, origins);
        let unused = unused::remarks(self.check, self.config, &after);
        for remark in &unused {
            self.note(remark);
        }
        after.notes.extend(unused);
        if let Some(path) = &self.check.choice.write_baseline {
            let count = baseline::write(path, &mut after, self.config.base.clone())?;
            self.note(&format!("wrote {} to `{}`", counted(count, "finding"), path.display()));
        }
        after.truncate(self.check.bounds.max_findings);
        match unmatched {
            0 => {}
            1 => self.note("1 baseline entry no longer matches; regenerate it with `--write-baseline`"),
            more => self.note(&format!(
                "{more} baseline entries no longer match; regenerate it with `--write-baseline`"
            )),
        }
        let is_stdin_fixed = self.check.fixing.fix && reads_stdin(&self.check.input);
        let stream = if is_stdin_fixed { Stream::Stderr } else { Stream::Stdout };
        if let Some(fixed) = &fixed {
            let files = fixed.write()?;
            fixed.note_skipped(self.color);
            if fixed.applied() > 0 {
                let findings = counted(fixed.applied(), "finding");
                self.note(&format!("fixed {findings} in {}", counted(files, "file")));
            }
        }
        if self.check.statistics {
            after.count_rules();
        }
        output::unless_closed(self.print(&after, &clusters, stream))?;
        Ok(output::status_after(&after, &self.check.output, is_empty))
    }

    /// Whether standard input is empty although the command line does not allow that. Prints an error if so.
    fn refuses_empty(&self, clusters: &[Cluster], origins: &[Origin]) -> bool {
        let mut files = clusters.iter().flat_map(|cluster| &cluster.files).zip(origins);
        let is_empty = !self.check.input.allow_empty
            && files.any(|(file, origin)| origin.is_stdin && file.documents.is_empty());
        if is_empty {
            terminal::error(self.color, output::EMPTY);
        }
        is_empty
    }

    fn print(&self, report: &Report, clusters: &[Cluster], stream: Stream) -> io::Result<()> {
        let flags = &self.check.output;
        let (mut out, styled) = output::open(flags, stream, self.color)?;
        match flags.format {
            Format::Json => writeln!(out, "{}", report.to_json())?,
            Format::Sarif => writeln!(out, "{}", sarif::sarif(&REGISTRY, report, clusters, documentation))?,
            Format::Github => out.write_all(github::github(report).as_bytes())?,
            Format::Junit => {
                let files = clusters.iter().flat_map(|cluster| &cluster.files);
                out.write_all(junit::junit(report, files.map(|file| file.source.name())).as_bytes())?;
            }
            Format::Markdown => out.write_all(markdown::markdown(report, clusters).as_bytes())?,
            Format::Human => {
                let width = terminal::columns().filter(|_| flags.output.is_none());
                let options = human::Options { color: styled, quiet: flags.quiet, width };
                human::write(&mut out, report, clusters, options)?;
            }
        }
        out.flush()?;
        // GitHub shows annotations outside the log of the job, and a file is not in the log either. Without a summary the
        // log would be empty.
        if flags.output.is_some() || flags.format == Format::Github {
            self.note(&human::summary(report));
        }
        output::note_truncation(report, self.check.bounds.max_findings, self.color);
        Ok(())
    }

    /// Prints a note to standard error, unless `--quiet` is given.
    fn note(&self, message: &str) {
        if !self.check.output.quiet {
            terminal::note(self.color, message);
        }
    }
}

/// Number with a noun, such as `1 file` or `2 files`.
fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

fn reads_stdin(input: &InputFlags) -> bool {
    input.paths.iter().chain(&input.helm_values).any(|path| path.as_os_str() == "-")
}
