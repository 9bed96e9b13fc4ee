//! Reports for a person at a terminal: the plan of an upgrade, each finding with its source lines, then a summary. Before the summary, a
//! verbose report also has the versions that the input pins, the folders that look like clusters, and what was not checked or read.

mod diagnosis;
mod excerpt;
mod finding;
mod fit;
mod listing;
mod notes;
mod plan;
mod printer;
mod statistics;
mod words;

use std::io::{self, Write};

use crate::plan::UpgradePlan;
use annotate_snippets::{Group, Level};
use answers::report::{Report, ReportedFinding};
use cluster::Cluster;
use manifest::source::{Source, Span};

pub use printer::Options;
use printer::{BOLD, GOOD, Printer, marked};
pub use words::{is_control, printable, summary};

/// Writes a report. `clusters` are the checked files, whose text is shown around each location.
pub fn write(out: &mut dyn Write, report: &Report, clusters: &[Cluster], options: Options) -> io::Result<()> {
    let printer = Printer::new(clusters, options);
    let (unopened, unparsed): (Vec<_>, Vec<_>) =
        report.unreadable.iter().filter(|unreadable| unreadable.concerns_karpenter).partition(|unreadable| {
            printer.source(&unreadable.file).is_none_or(|source| source.text().is_empty())
        });
    for unreadable in unopened {
        writeln!(out, "{}\n", listing::unopened(&printer, unreadable))?;
    }
    if !options.quiet
        && let Some(upgrade) = UpgradePlan::of(report, clusters)
    {
        plan::write(&printer, out, &upgrade)?;
    }
    let mut findings: Vec<&ReportedFinding> = report.findings.iter().collect();
    if report.statistics.is_some() {
        findings.clear();
    }
    if report.upgrade_path().is_some() {
        findings.sort_by_key(|finding| finding.boundary);
    }
    for finding in findings {
        writeln!(out, "{}\n", finding::render(&printer, finding))?;
    }
    for unreadable in unparsed {
        writeln!(out, "{}\n", listing::unparsed(&printer, unreadable))?;
    }
    statistics::write(&printer, out, report.statistics.as_deref().unwrap_or_default())?;
    if options.quiet {
        return Ok(());
    }
    listing::accepted(&printer, out, report)?;
    notes::pins(&printer, out, &report.pins)?;
    if options.verbose {
        notes::environments(&printer, out, &report.environments)?;
        listing::skipped(&printer, out, &report.skipped)?;
        listing::unread(&printer, out, &report.unread)?;
    }
    listing::unrelated(&printer, out, &report.unreadable)?;
    for line in diagnosis::not_recognised(report, options.width) {
        writeln!(out, "{}: {line}", printer.styled(BOLD, "not recognised"))?;
    }
    for line in diagnosis::logs(report) {
        writeln!(out, "{}: {line}", printer.styled(BOLD, "read"))?;
    }
    let is_clean = report.findings.is_empty() && report.unreadable.is_empty();
    let style = if is_clean { GOOD } else { BOLD };
    writeln!(out, "{}", printer.styled(style, &words::summary_of(report, !options.verbose)))
}

/// Renders a mistake in a text other than a manifest, such as a config file.
pub fn problem(source: &Source, span: Span, message: &str, color: bool) -> String {
    let printer = Printer::new(&[], Options { color, ..Options::default() });
    let title = Level::ERROR.primary_title(printable(message));
    printer.render(&marked(Group::with_title(title), source, span))
}
