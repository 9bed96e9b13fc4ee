//! `karpwarden check`: reads manifests, checks them, applies fixes on request, and reports.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use answers::report::Report;
use cluster::Cluster;
use engine::check::check_within;
use engine::pins::reads_pins;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::rules::documentation;
use manifest::{Encoding, File, FileKind, parallel};
use render::{github, gitlab, human, junit, markdown, sarif};

use super::baseline::{self, Baseline};
use super::config::{self, Config};
use super::error::CommandError;
use super::fix::{self, Fixed, TextOrigin};
use super::form::{Color, Format};
use super::input::{
    self, BaseFolder, ClusterInputs, InputFile, Loaded, NotFollowed, Patterns, Wanted, charts, pinning,
};
use super::messages::Messages;
use super::options::{BaselineUse, CheckOptions, Fixing};
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::stack::{on_all_cores, on_one_core};
use super::status::Status;
use super::{bounds, log_hint, render_charts, terminal, unused, upgrade_start};

/// Result of a run whose report is printed.
pub(crate) struct PrintedCheck {
    pub(crate) status: Status,
    /// The files that were read, also those beside the inputs.
    pub(crate) read: BTreeSet<PathBuf>,
}

impl From<Status> for PrintedCheck {
    fn from(status: Status) -> Self {
        Self { status, read: BTreeSet::new() }
    }
}

pub(crate) fn run(options: &CheckOptions, color: Color) -> Result<Status, CommandError> {
    print(options, color).map(|printed| printed.status)
}

/// Checks the input and prints the report.
pub(crate) fn print(options: &CheckOptions, color: Color) -> Result<PrintedCheck, CommandError> {
    let (config, excluded, baseline) = prepared(options, &color)?;
    let own = options.baseline.as_ref().map(BaselineUse::path);
    let mut clusters = input::by_cluster(&options.input, &config, own, &excluded, Wanted::Manifests);
    if options.force_exclude {
        // Hooks name every file, so a name does not show that the file is about Karpenter.
        for input in clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs) {
            input.is_named &= input.path().is_none();
        }
    }
    let file = options.report.file.as_deref();
    output::refuse_input(file, "--output", &clusters, config.path.as_deref())?;
    output::refuse_same(file, "--output", own)?;
    if let Some(BaselineUse::Write(path)) = &options.baseline {
        output::refuse_input(Some(path), "--write-baseline", &clusters, config.path.as_deref())?;
        baseline::refuse_other(path)?;
    }
    if options.force_exclude {
        let named = input::count(&clusters);
        let is_excluded =
            |input: &InputFile| input.assumed_path().is_some_and(|path| excluded.matches(path, false));
        for cluster in &mut clusters {
            cluster.inputs.retain(|input| !is_excluded(input));
        }
        if named > 0 && input::count(&clusters) == 0 {
            if !options.report.quiet {
                terminal::note(color, "nothing to check: every file is excluded");
            }
            print_empty(options, color, &config)?;
            return Ok(Status::Clean.into());
        }
    }
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), &color)?;
    if input::count(&clusters) == 0 {
        terminal::error(color, &format!("nothing to check: {}", input::NO_FILES));
        print_empty(options, color, &config)?;
        return Ok(Status::NoInput.into());
    }
    let unread = clusters.iter().flat_map(|cluster| &cluster.unread).cloned().collect::<Vec<_>>();
    let run = CheckRun {
        options,
        color,
        config: &config,
        baseline: baseline.as_ref(),
        unread: &unread,
        remarks: &[],
    };
    let check = || run.check_inputs(&clusters);
    if input::is_one_short_file(&clusters) { on_one_core(check)? } else { on_all_cores(check)? }
}

/// Finds the inputs, and the config file of the run.
pub(crate) fn inputs(
    options: &CheckOptions,
    messages: &dyn Messages,
) -> Result<(Config, Vec<ClusterInputs>), CommandError> {
    let (config, excluded, _) = prepared(options, messages)?;
    let own = options.baseline.as_ref().map(BaselineUse::path);
    let clusters = input::by_cluster(&options.input, &config, own, &excluded, Wanted::Manifests);
    Ok((config, clusters))
}

/// Reads the input and checks it. Prints nothing, applies no fix and writes no file.
pub(crate) fn report(options: &CheckOptions, messages: &dyn Messages) -> Result<Report, CommandError> {
    report_with_files(options, messages).map(|(report, _)| report)
}

/// The report, and the files that were read for it.
pub(crate) fn report_with_files(
    options: &CheckOptions,
    messages: &dyn Messages,
) -> Result<(Report, BTreeSet<PathBuf>), CommandError> {
    let (config, excluded, _) = prepared(options, messages)?;
    let clusters = input::by_cluster(&options.input, &config, None, &excluded, Wanted::Manifests);
    input::refuse_excess(&options.input, &clusters)?;
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), messages)?;
    if input::count(&clusters) == 0 {
        return Err(CommandError::NoInput(format!("nothing to check: {}", input::NO_FILES)));
    }
    let unread = clusters.iter().flat_map(|cluster| &cluster.unread).cloned().collect::<Vec<_>>();
    let color = Color::Never;
    let run = CheckRun { options, color, config: &config, baseline: None, unread: &unread, remarks: &[] };
    on_all_cores(|| run.report_of(&clusters))?
}

/// The paths of the files of clusters.
fn paths_of(clusters: &[Cluster], base: &BaseFolder) -> BTreeSet<PathBuf> {
    let files = clusters.iter().flat_map(|cluster| &cluster.files);
    files.map(|file| base.path(Path::new(file.source.name()))).collect()
}

/// Prints a report without findings in the formats for programs, which parse the output whatever the exit status is.
fn print_empty(options: &CheckOptions, color: Color, config: &Config) -> io::Result<()> {
    if options.report.format == Format::Human && options.report.file.is_none() {
        return Ok(());
    }
    let run = CheckRun { options, color, config, baseline: None, unread: &[], remarks: &[] };
    output::unless_closed(run.print(&Report::new(&config.settings), &[], Stream::Stdout))
}

/// Reads the settings, the excluded paths and the baseline.
fn prepared(
    options: &CheckOptions,
    messages: &dyn Messages,
) -> Result<(Config, Patterns, Option<Baseline>), CommandError> {
    let config = config::read(&options.settings, &options.input, messages)?;
    let usage = |message: &str| Err(CommandError::Usage(message.to_owned()));
    if options.fixing == Some(Fixing::Diff) && options.report.format != Format::Human {
        return usage("`--diff` prints a diff and cannot be combined with `--format`");
    }
    if options.statistics && !matches!(options.report.format, Format::Human | Format::Json) {
        return usage("`--statistics` needs `--format human` or `--format json`");
    }
    if let Some(root) = options.root.as_deref().filter(|root| !root.is_dir()) {
        return usage(&format!("--root: `{}` is not a folder", root.display()));
    }
    let excluded = config.excluded(&options.input, messages)?;
    let baseline = match &options.baseline {
        Some(BaselineUse::Read(path)) => Some(Baseline::read(path, config.base.clone())?),
        _ => None,
    };
    Ok((config, excluded, baseline))
}

/// Options and settings of a run.
struct CheckRun<'r> {
    options: &'r CheckOptions,
    color: Color,
    config: &'r Config,
    baseline: Option<&'r Baseline>,
    /// Names of the files in the folders that are not read because of their extension.
    unread: &'r [String],
    /// Remarks on the input.
    remarks: &'r [String],
}

impl CheckRun<'_> {
    fn check_inputs(&self, inputs: &[ClusterInputs]) -> Result<PrintedCheck, CommandError> {
        let progress = Progress::new(input::count(inputs), Unit::Files, self.options.report.quiet);
        let (clusters, origins, remarks) = self.load(inputs, &progress);
        let files = clusters.iter().flat_map(|cluster| &cluster.files);
        output::refuse_referenced(self.options.report.file.as_deref(), "--output", files, &self.config.base)?;
        for remark in &remarks {
            self.note(remark);
        }
        let started = self.started(&clusters)?;
        if let Some(remark) = started.as_ref().and_then(|config| config.settings.unknown_releases.last()) {
            self.note(remark);
        }
        let config = started.as_ref().unwrap_or(self.config);
        let run = CheckRun { remarks: &remarks, config, ..*self };
        let read = paths_of(&clusters, &config.base);
        let status = run.check_clusters(clusters, &origins, progress)?;
        Ok(PrintedCheck { status, read })
    }

    /// The config for an upgrade that starts at the release that the input names; `None` for another run.
    fn started(&self, clusters: &[Cluster]) -> Result<Option<Config>, CommandError> {
        let is_strict = self.options.settings.strict_release;
        let with_start = |to| upgrade_start::with_start(self.config, to, clusters, is_strict);
        self.options.upgrade_to.map(with_start).transpose()
    }

    fn report_of(&self, inputs: &[ClusterInputs]) -> Result<(Report, BTreeSet<PathBuf>), CommandError> {
        let progress = Progress::new(input::count(inputs), Unit::Files, true);
        let (clusters, _, remarks) = self.load(inputs, &progress);
        self.options.input.refuse_overdraft()?;
        let started = self.started(&clusters)?;
        let config = started.as_ref().unwrap_or(self.config);
        let (mut report, _) = CheckRun { remarks: &remarks, config, ..*self }.checked(&clusters);
        report.notes.extend(log_hint::notes(&clusters));
        report.truncate(self.options.report.max_findings);
        Ok((report, paths_of(&clusters, &config.base)))
    }

    fn check_clusters(
        &self,
        clusters: Vec<Cluster>,
        origins: &[TextOrigin],
        progress: Progress,
    ) -> io::Result<Status> {
        if self.options.fixing == Some(Fixing::Diff) {
            return self.show_diff(clusters, origins, progress);
        }
        self.report(clusters, origins, progress)
    }

    /// Reads and parses the inputs and the files to which their kustomizations refer. Also returns remarks on references that were not
    /// followed.
    fn load(
        &self,
        inputs: &[ClusterInputs],
        progress: &Progress,
    ) -> (Vec<Cluster>, Vec<TextOrigin>, Vec<String>) {
        let limits = self.options.input.limits;
        let (mut origins, mut remarks) = (Vec::new(), Vec::new());
        let mut clusters = Vec::new();
        for ClusterInputs { cluster, inputs, pinning, unread, .. } in inputs {
            let read = |input: &InputFile| {
                let loaded = input.read(&limits);
                progress.step(1);
                loaded
            };
            let loaded: Vec<Loaded> = parallel::map(inputs, read);
            let mut files = Vec::new();
            let first = origins.len();
            for Loaded { file, path, is_stdin, encoding } in loaded {
                files.push(file);
                origins.push(TextOrigin { path, is_stdin, encoding });
            }
            let root = self.options.root.as_deref();
            let confinement = self.options.input.confinement.as_ref();
            let referenced = input::referenced(&files, &self.config.base, root, confinement, &limits);
            remarks.extend(referenced.not_followed.iter().map(|one| remark_on(one, root)));
            files.extend(referenced.files);
            input::evaluate_terraform(&mut files, unread, &self.config.base, &self.options.input, root);
            let settings = &self.config.settings;
            // Helm is another program, which a confined run does not start.
            if confinement.is_some() && settings.render {
                remarks.push("the charts are not rendered, although the settings ask for it".to_owned());
            } else if self.options.render.unwrap_or(settings.render) {
                let (base, kubernetes) = (&self.config.base, settings.kubernetes_minor);
                remarks.extend(render_charts::render(&mut files, base, kubernetes, &limits));
            }
            let templates = charts::texts(&files, &self.config.base, confinement);
            let texts = self.texts_with_pins(pinning, &mut remarks).into_iter().chain(templates);
            input::add_unknown(&mut files, texts);
            for file in files.iter().skip(origins.len() - first) {
                let origin = self.origin_beside(file, origins.get(first..).unwrap_or_default());
                origins.push(origin);
            }
            clusters.push(Cluster { name: cluster.clone(), files });
        }
        (clusters, origins, remarks)
    }

    /// The origin of a file that is read beside the inputs. Only a template with objects is written back, and only within the folder of
    /// an input: a link may not lead out of it.
    fn origin_beside(&self, file: &File, inputs: &[TextOrigin]) -> TextOrigin {
        let path = self.config.base.path(Path::new(file.source.name()));
        let holds = |folder: &&PathBuf| match (std::path::absolute(&path), std::path::absolute(folder)) {
            (Ok(path), Ok(folder)) => path.starts_with(folder),
            _ => false,
        };
        let folders = inputs.iter().filter_map(|input| input.path.as_ref()).map(|(_, folder)| folder);
        let folder = folders.filter(holds).max_by_key(|folder| folder.components().count());
        let folder = folder.filter(|_| file.kind == FileKind::Unknown).cloned();
        let path = folder.map(|folder| (path, folder));
        TextOrigin { path, is_stdin: false, encoding: Encoding::default() }
    }

    /// The texts beside the manifests that pin a version, unless no pin counts. Adds a remark if some files are not read.
    fn texts_with_pins(&self, pinning: &[PathBuf], remarks: &mut Vec<String>) -> Vec<File> {
        let starts_at_pin =
            self.options.upgrade_to.is_some() && !self.config.settings.is_karpenter_version_set;
        if !starts_at_pin && !reads_pins(&self.config.settings) {
            return Vec::new();
        }
        if pinning.len() > pinning::MAX_FILES {
            let (read, all) = (pinning::MAX_FILES, pinning.len());
            remarks.push(format!(
                "read only {read} of {all} scripts and other texts for the Karpenter version that they pin"
            ));
        }
        pinning::texts_with_pins(pinning, &self.config.base, self.options.input.confinement.as_ref())
    }

    /// Checks the clusters. Also returns the number of baseline entries that match no finding.
    fn checked(&self, clusters: &[Cluster]) -> (Report, usize) {
        // A baseline has every finding, so that the next run has no new one.
        let is_bounded = self.options.baseline.is_none();
        let bound = if is_bounded { self.options.report.max_findings } else { usize::MAX };
        let mut report = check_within(&REGISTRY, clusters, &self.config.settings, bound);
        bounds::advise(&mut report);
        let files = clusters.iter().flat_map(|cluster| &cluster.files);
        // A configuration of Terraform reads files whatever their extension is.
        let read: BTreeSet<&str> = files.map(|file| file.source.name()).collect();
        report.unread = self.unread.iter().filter(|name| !read.contains(name.as_str())).cloned().collect();
        report.notes.extend_from_slice(self.remarks);
        if report.outside.findings > 0 {
            let findings = counted(report.outside.findings, "finding");
            let files = "files outside of the input, to which kustomizations refer";
            report.notes.push(format!("not reported: {findings} in {files}"));
        }
        let names = clusters.iter().flat_map(|cluster| &cluster.files).map(|file| file.source.name());
        let unmatched = self.baseline.map_or(0, |baseline| baseline.apply(&mut report, names));
        // Rules that do not run find nothing.
        (report, if self.options.settings.is_selection() { 0 } else { unmatched })
    }

    fn fixed(&self, clusters: &mut [Cluster], origins: &[TextOrigin]) -> Fixed {
        let limits = &self.options.input.limits;
        fix::apply(clusters, origins, &self.config.settings, limits, self.options.wanted_fixes)
    }

    /// Whether the fixes change the files.
    fn fixes(&self) -> bool {
        self.options.fixing == Some(Fixing::Apply)
    }

    /// Prints the report to standard error and the changes of `--fix` to standard output.
    fn show_diff(
        &self,
        mut clusters: Vec<Cluster>,
        origins: &[TextOrigin],
        progress: Progress,
    ) -> io::Result<Status> {
        let (mut before, _) = self.checked(&clusters);
        before.truncate(self.options.report.max_findings);
        drop(progress);
        let is_empty = self.refuses_empty(&clusters, origins);
        output::unless_closed(self.print(&before, &clusters, Stream::Stderr))?;
        let fixed = self.fixed(&mut clusters, origins);
        fixed.note_skipped(self.color);
        output::unless_closed(fixed.print_diff(self.color))?;
        Ok(output::status_after(&before, &self.options.report, is_empty))
    }

    /// Applies the fixes if `--fix` is given, writes the baseline if `--write-baseline` is given, and prints the report.
    fn report(
        &self,
        mut clusters: Vec<Cluster>,
        origins: &[TextOrigin],
        progress: Progress,
    ) -> io::Result<Status> {
        let fixed = self.fixes().then(|| self.fixed(&mut clusters, origins));
        let written = fixed.as_ref().map(|fixed| fixed.write(&mut clusters, &self.options.input.limits));
        let written = written.transpose()?.unwrap_or_default();
        let (mut after, unmatched) = self.checked(&clusters);
        drop(progress);
        let is_empty = self.refuses_empty(&clusters, origins);
        let unused = unused::remarks(self.options, self.config, &after);
        for remark in &unused {
            self.note(remark);
        }
        after.notes.extend(unused);
        for hint in log_hint::notes(&clusters) {
            self.note(&hint);
        }
        if let Some(BaselineUse::Write(path)) = &self.options.baseline {
            let count = baseline::write(path, &mut after, self.config.base.clone())?;
            self.note(&format!("wrote {} to `{}`", counted(count, "finding"), path.display()));
        }
        after.truncate(self.options.report.max_findings);
        match unmatched {
            0 => {}
            1 => self.note("1 baseline entry no longer matches; regenerate it with `--write-baseline`"),
            more => self.note(&format!(
                "{more} baseline entries no longer match; regenerate it with `--write-baseline`"
            )),
        }
        let is_stdin_fixed = self.fixes() && self.options.input.reads_stdin();
        let stream = if is_stdin_fixed { Stream::Stderr } else { Stream::Stdout };
        if let Some(fixed) = &fixed {
            fixed.note_skipped(self.color);
            written.report(self.color);
            let files = counted(written.files, "file");
            if fixed.applied() > 0 && written.is_complete() {
                self.note(&format!("fixed {} in {files}", counted(fixed.applied(), "finding")));
            } else if written.files > 0 {
                self.note(&format!("fixed {files}"));
            }
        }
        if self.options.statistics {
            after.count_rules();
        }
        output::unless_closed(self.print(&after, &clusters, stream))?;
        Ok(written.status(output::status_after(&after, &self.options.report, is_empty)))
    }

    /// Whether standard input is empty although the command line does not allow that. Prints an error if so.
    fn refuses_empty(&self, clusters: &[Cluster], origins: &[TextOrigin]) -> bool {
        let mut files = clusters.iter().flat_map(|cluster| &cluster.files).zip(origins);
        let is_empty = !self.options.input.allow_empty
            && files.any(|(file, origin)| origin.is_stdin && file.documents.is_empty());
        if is_empty {
            terminal::error(self.color, output::EMPTY);
        }
        is_empty
    }

    fn print(&self, report: &Report, clusters: &[Cluster], stream: Stream) -> io::Result<()> {
        let options = &self.options.report;
        let (mut out, styled) =
            output::open(options.file.as_deref(), stream, options.format.escaping(), self.color)?;
        match options.format {
            Format::Json => writeln!(out, "{}", report.to_json())?,
            Format::Sarif => writeln!(out, "{}", sarif::sarif(&REGISTRY, report, clusters, documentation))?,
            Format::Github => out.write_all(github::github(report).as_bytes())?,
            Format::Gitlab => writeln!(out, "{}", gitlab::gitlab(report))?,
            Format::Junit => {
                let files = clusters.iter().flat_map(|cluster| &cluster.files);
                let files = files.filter(|file| file.is_input());
                out.write_all(junit::junit(report, files.map(|file| file.source.name())).as_bytes())?;
            }
            Format::Markdown => out.write_all(markdown::markdown(report, clusters).as_bytes())?,
            Format::Human => {
                let width = terminal::columns().filter(|_| options.file.is_none());
                let style =
                    human::Options { color: styled, quiet: options.quiet, verbose: options.verbose, width };
                human::write(&mut out, report, clusters, style)?;
            }
        }
        out.finish()?;
        // GitHub shows annotations outside the log of the job, and a file is not in the log either. Without a summary the
        // log would be empty.
        if options.file.is_some() || options.format == Format::Github {
            self.note(&human::summary(report));
        }
        output::note_truncation(report, self.options.report.max_findings, self.color);
        Ok(())
    }

    /// Prints a note to standard error, unless `--quiet` is given.
    fn note(&self, message: &str) {
        if !self.options.report.quiet {
            terminal::note(self.color, message);
        }
    }
}

/// Remark on a reference that was not followed.
fn remark_on(reference: &NotFollowed, root: Option<&Path>) -> String {
    let NotFollowed { from, to } = reference;
    let advice = match root {
        Some(root) => format!("and of the root `{}`, and not read", root.display()),
        None => "and not read; `--root DIR` reads what is in DIR".to_owned(),
    };
    human::printable(&format!("`{from}` refers to `{to}`, which is outside of the input {advice}"))
}

/// Number with a noun, such as `1 file` or `2 files`.
fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
