//! Findings for a person at a terminal: each with the lines it is about, then what was not checked, then a summary.

mod diagnosis;
mod excerpt;
mod words;

use std::collections::BTreeMap;
use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Group, Level, Origin, Padding, Renderer};
use anstyle::{AnsiColor, Style};

use lint::report::{Finding, Range, Related, Report, Skipped, Unreadable};
use lint::check::Cluster;
use lint::finding::Severity;
use karpenter::release::Releases;
use manifest::source::{Source, Span};
use manifest::{Document, File};
use excerpt::Mark;
pub use words::printable;

/// How a report is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// With colours and hyperlinks.
    pub color: bool,
    /// The findings alone, without what was skipped and the summary.
    pub quiet: bool,
    /// The columns that lines of a log are cut to.
    pub width: Option<usize>,
}

/// The places that a group of skipped documents is shown with.
const PLACES_SHOWN: usize = 3;

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();

/// Writes a report. The clusters are those that were checked: their texts are what is shown around the places.
pub fn write(out: &mut dyn Write, report: &Report, clusters: &[Cluster], options: Options) -> io::Result<()> {
    let printer = Printer::new(clusters, options);
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    if report.upgrade_path().is_some() {
        findings.sort_by_key(|finding| finding.boundary);
    }
    for finding in findings {
        writeln!(out, "{}\n", printer.finding(finding))?;
    }
    for unreadable in &report.unreadable {
        writeln!(out, "{}\n", printer.unreadable(unreadable))?;
    }
    if options.quiet {
        return Ok(());
    }
    printer.accepted(out, report)?;
    printer.skipped(out, &report.skipped)?;
    for line in Printer::logs(report) {
        writeln!(out, "{}: {line}", printer.styled(BOLD, "read"))?;
    }
    let calm = report.findings.is_empty() && report.unreadable.is_empty();
    let style = if calm { GOOD } else { BOLD };
    writeln!(out, "{}", printer.styled(style, &words::summary(report)))
}

/// The last line of a report, which says how much was checked and what came of it.
pub fn summary(report: &Report) -> String {
    words::summary(report)
}

/// A mistake in a text that is no manifest, such as a config file.
pub fn problem(source: &Source, span: Span, message: &str, color: bool) -> String {
    let printer = Printer::new(&[], Options { color, ..Options::default() });
    let title = Level::ERROR.primary_title(printable(message));
    printer.renderer.render(&at(Group::with_title(title), source, span))
}

struct Printer<'r> {
    files: BTreeMap<&'r str, &'r File>,
    renderer: Renderer,
    options: Options,
}

impl<'r> Printer<'r> {
    fn new(clusters: &'r [Cluster], options: Options) -> Self {
        let files = clusters.iter().flat_map(|cluster| &cluster.files);
        // Lines are cut around the place already, and the same everywhere whatever the terminal.
        let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(1000).hyperlink(options.color);
        Self { files: files.map(|file| (file.source.name(), file)).collect(), renderer, options }
    }

    fn source(&self, file: &str) -> Option<&'r Source> {
        self.files.get(file).map(|file| file.source.as_ref())
    }

    fn styled(&self, style: Style, text: &str) -> String {
        if self.options.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn finding(&self, finding: &Finding) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        if finding.seen.is_some() || finding.evidence.as_ref().is_some_and(|lines| !lines.is_empty()) {
            return self.diagnosis(finding, &level);
        }
        let message = words::message(finding);
        let title = level.clone().primary_title(message).id(finding.rule).id_url(&finding.url);
        let groups = vec![Group::with_title(title)];
        let mut groups = self.places(groups, &level, finding);
        let mut group = groups.pop().unwrap_or_else(|| Group::with_level(level));
        group = group.element(Padding).element(note("object", words::object(finding)));
        if !finding.help.is_empty() {
            group = group.element(note("help", printable(&finding.help)));
        }
        group = group.element(note("caught by", words::caught_by(finding.caught_by).to_owned()));
        if finding.releases != Releases::ALL.to_string() {
            group = group.element(note("holds for", format!("Karpenter {}", finding.releases)));
        }
        groups.push(group.element(note("docs", finding.url.clone())));
        groups.extend(self.fix(finding));
        self.renderer.render(&groups)
    }

    /// The lines of a finding with those of its related places, in whatever file they are.
    fn places<'g>(&self, mut groups: Vec<Group<'g>>, level: &Level<'g>, finding: &Finding) -> Vec<Group<'g>> {
        let source = self.source(&finding.file);
        let (Some(source), Some(span)) = (source, span(source, &finding.position)) else {
            if !finding.file.is_empty() {
                let group = groups.pop().unwrap_or_else(|| Group::with_level(level.clone()));
                groups.push(group.element(Origin::path(printable(&finding.file))));
            }
            return groups;
        };
        let primary = Mark { span, label: String::new(), is_primary: true };
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            finding.related.iter().partition(|related| related.file == finding.file);
        let near = here.iter().filter_map(|related| self.mark(related));
        let marks: Vec<Mark> = std::iter::once(primary).chain(near).collect();
        groups = excerpt::mark(groups, level, source, &marks);
        for related in elsewhere {
            if let (Some(source), Some(mark)) = (self.source(&related.file), self.mark(related)) {
                groups = excerpt::mark(groups, level, source, &[mark]);
            } else {
                let text = format!("{}: {}: {}", related.file, related.path, related.message);
                let group = groups.pop().map(|group| group.element(note("see", printable(&text))));
                groups.extend(group);
            }
        }
        groups
    }

    fn mark(&self, related: &Related) -> Option<Mark> {
        let source = self.source(&related.file)?;
        let span = Span::new(source.byte_at(related.offset?), source.byte_at(related.end_offset?));
        Some(Mark { span, label: related.message.clone(), is_primary: false })
    }

    fn fix(&self, finding: &Finding) -> Option<Group<'static>> {
        let fix = finding.fix.as_ref()?;
        let source = self.source(&finding.file)?;
        let name = if fix.safe { "fix" } else { "fix to look at" };
        let title = printable(&fix.title);
        let made = if finding.confidence.is_some() { "karpwarden check --fix" } else { "--fix" };
        let title = if fix.safe { format!("{title} (made by `{made}`)") } else { title };
        let edits = fix.edits.iter().map(|edit| {
            let span = Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset));
            (span, edit.text.clone())
        });
        let edits: Vec<_> = edits.collect();
        let level = Level::HELP.with_name(name);
        Some(level.secondary_title(title).elements(excerpt::patched(source, &edits)))
    }

    fn unreadable(&self, unreadable: &Unreadable) -> String {
        let title = Level::ERROR.with_name("unreadable").primary_title(printable(&unreadable.message));
        let group = Group::with_title(title);
        let source = self.source(&unreadable.file).filter(|source| !source.text().is_empty());
        let file = self.files.get(unreadable.file.as_str());
        let at_byte = file.and_then(|file| file.documents.get(unreadable.document)).map(Document::start);
        let groups = match (source, at_byte) {
            (Some(source), Some(byte)) => at(group, source, mark_at(source, byte)),
            _ => vec![group.element(Origin::path(printable(&unreadable.file)))],
        };
        self.renderer.render(&groups)
    }

    fn accepted(&self, out: &mut dyn Write, report: &Report) -> io::Result<()> {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for accepted in report.accepted.iter().flatten() {
            gather(&mut groups, &accepted.releases, self.place(&accepted.file, accepted.document));
        }
        for (releases, places) in groups {
            let by = if releases.is_empty() { "none of these releases" } else { releases };
            let line = format!("accepted by {by}");
            writeln!(out, "{}: {}", self.styled(BOLD, &line), some_of(&places))?;
        }
        Ok(())
    }

    fn skipped(&self, out: &mut dyn Write, skipped: &[Skipped]) -> io::Result<()> {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for skipped in skipped {
            gather(&mut groups, &skipped.reason, self.place(&skipped.file, skipped.document));
        }
        for (reason, places) in groups {
            writeln!(out, "{}: {}: {}", self.styled(BOLD, "skipped"), printable(reason), some_of(&places))?;
        }
        Ok(())
    }

    /// Where a document starts: `file.yaml:12`.
    fn place(&self, file: &str, document: usize) -> String {
        let start = self.files.get(file).and_then(|file| {
            let byte = file.documents.get(document)?.start();
            Some(file.source.position(byte).line)
        });
        let file = printable(file);
        start.map_or(file.clone(), |line| format!("{file}:{line}"))
    }
}

/// Adds a place to the group of its reason. There are few reasons, and their order is that of the input.
fn gather<'a>(groups: &mut Vec<(&'a str, Vec<String>)>, reason: &'a str, place: String) {
    match groups.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, places)) => places.push(place),
        None => groups.push((reason, vec![place])),
    }
}

fn some_of(places: &[String]) -> String {
    let shown = places.iter().take(PLACES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match places.len().saturating_sub(PLACES_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn note<'a>(name: &'static str, text: String) -> annotate_snippets::Message<'a> {
    Level::NOTE.with_name(name).message(text)
}

/// The character at which reading stopped; at the end of a text the last one.
fn mark_at(source: &Source, byte: usize) -> Span {
    let text = source.text();
    let byte = if byte < text.len() { byte } else { text.trim_end().len().saturating_sub(1) };
    let start = text.floor_char_boundary(byte);
    Span::new(start, text.ceil_char_boundary(start + 1))
}

fn at<'g>(group: Group<'g>, source: &Source, span: Span) -> Vec<Group<'g>> {
    let mark = Mark { span, label: String::new(), is_primary: true };
    excerpt::mark(vec![group], &Level::ERROR, source, &[mark])
}

fn span(source: Option<&Source>, range: &Range) -> Option<Span> {
    let source = source?;
    Some(Span::new(source.byte_at(range.offset?), source.byte_at(range.end_offset?)))
}
