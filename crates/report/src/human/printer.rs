//! Output options, styles, and the source excerpts of findings.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Group, Level, Message, Origin, Renderer};
use anstyle::{AnsiColor, Style};
use lint::check::Cluster;
use lint::report::{RelatedLocation, ReportedFinding, TextRange};
use manifest::File;
use manifest::source::{Source, Span};

use super::excerpt::{self, Mark};
use super::words::printable;

/// Options of the human-readable output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Colours and hyperlinks.
    pub color: bool,
    /// Only findings, without skipped documents and the summary.
    pub quiet: bool,
    /// Columns to which quoted log lines are cut.
    pub width: Option<usize>,
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();

/// Renderer with the texts of the checked files.
pub(super) struct Printer<'r> {
    pub(super) files: BTreeMap<&'r str, &'r File>,
    pub(super) options: Options,
    renderer: Renderer,
}

impl<'r> Printer<'r> {
    pub(super) fn new(clusters: &'r [Cluster], options: Options) -> Self {
        let files = clusters.iter().flat_map(|cluster| &cluster.files);
        let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
        // `excerpt` cuts long lines itself, so that the output does not depend on the terminal.
        let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(1000).hyperlink(options.color);
        Self { files: files.map(|file| (file.source.name(), file)).collect(), options, renderer }
    }

    pub(super) fn render(&self, groups: &[Group<'_>]) -> String {
        self.renderer.render(groups)
    }

    pub(super) fn source(&self, file: &str) -> Option<&'r Source> {
        self.files.get(file).map(|file| file.source.as_ref())
    }

    pub(super) fn styled(&self, style: Style, text: &str) -> String {
        if self.options.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Adds the source lines of a finding and of its related locations, which may be in other files.
    pub(super) fn excerpts<'g>(
        &self,
        mut groups: Vec<Group<'g>>,
        level: &Level<'g>,
        finding: &ReportedFinding,
    ) -> Vec<Group<'g>> {
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
        let related = here.iter().filter_map(|related| self.mark(related));
        let marks: Vec<Mark> = std::iter::once(primary).chain(related).collect();
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

    fn mark(&self, related: &RelatedLocation) -> Option<Mark> {
        let source = self.source(&related.file)?;
        let span = Span::new(source.byte_at(related.offset?), source.byte_at(related.end_offset?));
        Some(Mark { span, label: related.message.clone(), is_primary: false })
    }
}

/// Line `= name: text` below an excerpt.
pub(super) fn note<'a>(name: &'static str, text: String) -> Message<'a> {
    Level::NOTE.with_name(name).message(text)
}

/// Adds an excerpt in which a span is marked.
pub(super) fn marked<'g>(group: Group<'g>, source: &Source, span: Span) -> Vec<Group<'g>> {
    let mark = Mark { span, label: String::new(), is_primary: true };
    excerpt::mark(vec![group], &Level::ERROR, source, &[mark])
}

fn span(source: Option<&Source>, range: &TextRange) -> Option<Span> {
    let source = source?;
    Some(Span::new(source.byte_at(range.offset?), source.byte_at(range.end_offset?)))
}
