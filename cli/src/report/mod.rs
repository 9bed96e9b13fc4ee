//! `karpwarden report`: writes one page with the answers of the other commands about an input.

mod flags;
mod page;
mod secrets;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

use answers::VERSION;
use answers::report::{Report, ReportedFinding};
use answers::summary::{AbsentPart, PageData, PagePart};
use cluster::Cluster;
use engine::apply::WantedFixes;
use karpwarden::simulate::Choices;
use rule::classification::Family;
use values::timestamp::Timestamp;

use super::disruption::clock::Clock;
use super::disruption::{DisruptionFormat, DisruptionOptions};
use super::error::CommandError;
use super::form::{Color, Format};
use super::messages::{DistinctMessages, Messages};
use super::options::{CheckOptions, DiagnoseOptions, InputOptions, ReportOptions, SettingsOptions};
use super::output::{self, Stream};
use super::safe_writer::Escaping;
use super::simulate::{SimulateOptions, SimulationFormat};
use super::status::Status;
use super::{check, diagnose, disruption as disrupt, log_hint, one_cluster, simulate};

pub(crate) use flags::{PageArguments, PageFlags};

/// Maximum number of nodes and NodePools on a page.
const MAX_DESCRIBED: usize = 1_000;

/// Bytes to which a compressed log may decompress: the default of `diagnose`.
const MAX_DECOMPRESSED: u64 = 4 << 30;

/// Options of a page.
#[derive(Clone, Debug)]
pub(crate) struct PageOptions {
    /// Title; `None` for the names of the paths.
    pub(crate) title: Option<String>,
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    /// Time to judge at; `None` for now.
    pub(crate) at: Option<Timestamp>,
    /// File with prices.
    pub(crate) prices: Option<PathBuf>,
    /// File to write to; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
    /// Largest number of findings on the page.
    pub(crate) max_findings: usize,
}

/// A page, with what the caller has to know about it.
pub(crate) struct WrittenPage {
    pub(crate) html: String,
    pub(crate) status: Status,
    /// The files that the check has read. Some are not in the input, such as the base of an overlay.
    #[cfg_attr(
        target_os = "wasi",
        expect(dead_code, reason = "only `open` watches files, which needs sockets")
    )]
    pub(crate) read: BTreeSet<PathBuf>,
}

pub(crate) fn run(arguments: PageArguments, color: Color) -> Result<Status, CommandError> {
    let PageArguments { page, output, quiet } = arguments;
    let options = PageOptions { file: output, ..page.try_into()? };
    let WrittenPage { html, status, .. } = write(&options, None, &DistinctMessages::new(&color, quiet))?;
    let (mut out, _) = output::open(options.file.as_deref(), Stream::Stdout, Escaping::Json, color)?;
    output::unless_closed(out.write_all(html.as_bytes()).and_then(|()| out.finish()))?;
    if !quiet {
        let file = options.file.as_deref().map(|file| format!("`{}`", file.display()));
        let (name, size) = (file.as_deref().unwrap_or("the page"), page::size(html.len()));
        color.note(&format!("{name} has {size}; it opens from disk and asks nothing of the network"));
    }
    Ok(status)
}

/// Computes the answers and puts them on a page. `mark` is the mark of the input, if a program serves the page.
pub(crate) fn write(
    options: &PageOptions,
    mark: Option<&str>,
    messages: &dyn Messages,
) -> Result<WrittenPage, CommandError> {
    let read =
        one_cluster::read(&options.input, &options.settings, options.file.as_deref(), "report", messages);
    let cluster = match read {
        Ok(read) => read.cluster,
        Err(CommandError::NoInput(_)) => Cluster::default(),
        Err(error) => return Err(error),
    };
    output::refuse_same(options.file.as_deref(), "--output", options.prices.as_deref())?;
    let paths = || options.input.paths.iter().chain(&options.input.clusters);
    if paths().next().is_some() && !paths().any(|path| path.exists()) {
        return Err(CommandError::NoInput("nothing to report: no such file or folder".to_owned()));
    }
    one_cluster::report_unreadable(&cluster.files, messages);
    let mut absent = Vec::new();
    let mut part = Parts { absent: &mut absent, has_prices: options.prices.is_some() };
    let checked = part.of(PagePart::Findings, check::report_with_files(&options.check(), messages))?;
    let (checked, read) = checked.map_or((None, BTreeSet::new()), |(report, read)| (Some(report), read));
    let diagnosed = part.of(PagePart::Symptoms, diagnose::report(&options.diagnose(), messages))?;
    if checked.is_none() && diagnosed.is_none() {
        let text = "nothing to report: name files or folders with manifests, objects or logs";
        return Err(CommandError::NoInput(text.to_owned()));
    }
    let placement = part.of(PagePart::Placement, simulate::answer_in_words(&options.simulate(), messages))?;
    let disruption =
        part.of(PagePart::Disruption, disrupt::overview(&options.disruption()?, messages, MAX_DESCRIBED))?;
    let reports = ReportOptions { fail_on: None, ..ReportOptions::default() };
    let of = |report: &Option<Report>| {
        report.as_ref().map_or(Status::Clean, |report| output::status_after(report, &reports, false))
    };
    let status = if of(&checked) == Status::Clean { of(&diagnosed) } else { of(&checked) };
    // The page has the diagnoses of the logs.
    let hints = log_hint::notes(std::slice::from_ref(&cluster));
    let without_hints = |mut report: Report| {
        report.notes.retain(|note| !hints.contains(note));
        report
    };
    let mut data = PageData {
        title: options.title(),
        version: VERSION,
        at: options.time().into(),
        mark: mark.map(str::to_owned),
        redacted: 0,
        findings: checked.map(without_edits).map(without_hints),
        placement,
        disruption,
        symptoms: diagnosed.map(only_diagnoses),
        absent,
    };
    secrets::redact(&mut data, &cluster.files);
    Ok(WrittenPage { html: page::html(&data)?, status, read })
}

/// A page without answers, which says why. Only `open` has one.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn without_answers(options: &PageOptions, reason: &str, mark: &str) -> std::io::Result<String> {
    let parts = [PagePart::Findings, PagePart::Placement, PagePart::Disruption, PagePart::Symptoms];
    page::html(&PageData {
        title: options.title(),
        version: VERSION,
        at: options.time().into(),
        mark: Some(mark.to_owned()),
        redacted: 0,
        findings: None,
        placement: None,
        disruption: None,
        symptoms: None,
        absent: parts.map(|part| AbsentPart { part, reason: reason.to_owned() }).to_vec(),
    })
}

/// The parts of a page.
struct Parts<'p> {
    absent: &'p mut Vec<AbsentPart>,
    /// Whether the command line names a file that only some commands read.
    has_prices: bool,
}

impl Parts<'_> {
    /// The answer of a command. Where a command refuses its input, such as too many pods, the page says why; an error of the system or
    /// of the command line ends the run.
    fn of<T>(&mut self, part: PagePart, answer: Result<T, CommandError>) -> Result<Option<T>, CommandError> {
        let is_world = matches!(part, PagePart::Placement | PagePart::Disruption) && !self.has_prices;
        let reason = match answer {
            Ok(answer) => return Ok(Some(answer)),
            Err(CommandError::NoInput(reason)) => reason,
            // `check` and `diagnose` have accepted the settings.
            Err(CommandError::Usage(reason)) if is_world => reason,
            Err(error) => return Err(error),
        };
        self.absent.push(AbsentPart { part, reason });
        Ok(None)
    }
}

/// The report without the texts of fixes, which quote whole fields.
fn without_edits(mut report: Report) -> Report {
    for fix in report.findings.iter_mut().filter_map(|finding| finding.fix.as_mut()) {
        fix.edits.clear();
    }
    report
}

/// The report without the findings that `check` reports too.
fn only_diagnoses(report: Report) -> Report {
    let mut report = without_edits(report);
    let is_diagnosis = |finding: &ReportedFinding| {
        finding.family == Family::Symptoms || finding.evidence.as_ref().is_some_and(|lines| !lines.is_empty())
    };
    report.findings.retain(is_diagnosis);
    report
}

impl PageOptions {
    fn title(&self) -> String {
        let name = |path: &PathBuf| {
            let resolved = path.canonicalize().unwrap_or_else(|_| path.clone());
            let name = resolved.file_name().map(|name| name.to_string_lossy().into_owned());
            name.unwrap_or_else(|| path.display().to_string())
        };
        let names = || self.input.paths.iter().map(name).collect::<Vec<_>>().join(", ");
        self.title.clone().unwrap_or_else(names)
    }

    fn report(&self) -> ReportOptions {
        ReportOptions {
            format: Format::Json,
            file: self.file.clone(),
            quiet: true,
            max_findings: self.max_findings,
            ..ReportOptions::default()
        }
    }

    fn check(&self) -> CheckOptions {
        CheckOptions {
            input: self.input.clone(),
            settings: self.settings.clone(),
            report: self.report(),
            root: None,
            render: Some(false),
            force_exclude: false,
            baseline: None,
            fixing: None,
            wanted_fixes: WantedFixes::Safe,
            upgrade_to: None,
            statistics: false,
        }
    }

    fn diagnose(&self) -> DiagnoseOptions {
        DiagnoseOptions {
            input: self.input.clone(),
            settings: self.settings.clone(),
            report: self.report(),
            story: None,
            max_decompressed_bytes: MAX_DECOMPRESSED,
        }
    }

    fn simulate(&self) -> SimulateOptions {
        SimulateOptions {
            input: self.input.clone(),
            settings: self.settings.clone(),
            choices: Choices::default(),
            prices: self.prices.clone(),
            format: SimulationFormat::Json,
            file: self.file.clone(),
            max_findings: 0,
        }
    }

    fn disruption(&self) -> Result<DisruptionOptions, CommandError> {
        Ok(DisruptionOptions {
            input: self.input.clone(),
            settings: self.settings.clone(),
            choices: Choices::default(),
            prices: self.prices.clone(),
            at: self.time(),
            clock: Clock::parse("UTC")?,
            node_counts: std::collections::BTreeMap::new(),
            nominated: BTreeSet::new(),
            marked_for_deletion: BTreeSet::new(),
            subject: None,
            format: DisruptionFormat::Json,
            all: false,
            file: self.file.clone(),
            max_findings: 0,
        })
    }
}
