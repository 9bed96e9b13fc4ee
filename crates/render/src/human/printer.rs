//! Output options, styles, and the source excerpts of findings.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Group, Level, Message, Origin, Renderer};
use anstyle::{AnsiColor, Style};
use answers::report::{RelatedLocation, ReportedFinding, TextRange};
use cluster::Cluster;
use manifest::source::{Source, Span};
use manifest::{File, FileKind};

use super::excerpt::{self, ExcerptMark};
use super::words::printable;

/// Options of the human-readable output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Colours.
    pub color: bool,
    /// Only findings and what could not be read, without the summary.
    pub quiet: bool,
    /// Also what a user need not act on: pinned versions, folders that look like clusters, skipped documents and unread files.
    pub verbose: bool,
    /// Columns of the terminal: source lines and quoted log lines are cut to it, and messages are wrapped. `None` for output
    /// that is not for a terminal.
    pub width: Option<usize>,
}

/// Related locations shown for each finding.
const MAX_RELATED: usize = 3;

/// Columns of a line number of up to four digits, and of the bar after it.
const NUMBER: usize = 7;

/// Smallest number of columns that a message is wrapped to, because a narrower column is hard to read.
const NARROWEST: usize = 40;

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
        // `excerpt` cuts long lines itself.
        let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(1000);
        Self { files: files.map(|file| (file.source.name(), file)).collect(), options, renderer }
    }

    pub(super) fn render(&self, groups: &[Group<'_>]) -> String {
        self.renderer.render(groups)
    }

    pub(super) fn source(&self, file: &str) -> Option<&'r Source> {
        self.files.get(file).map(|file| file.source.as_ref())
    }

    /// Columns for the text of a source line, after its number.
    pub(super) fn room(&self) -> Option<usize> {
        self.options.width.map(|width| width.saturating_sub(NUMBER).max(NARROWEST))
    }

    /// Wraps a text that follows a label of some columns.
    pub(super) fn wrapped(&self, text: &str, label: usize) -> String {
        self.options.width.map_or_else(
            || text.to_owned(),
            |width| wrapped(text, width.saturating_sub(label).max(NARROWEST)),
        )
    }

    /// Line `= name: text` below an excerpt.
    pub(super) fn note<'a>(&self, name: &'static str, text: &str) -> Message<'a> {
        // ` = ` is before the name and `: ` after it.
        note(name, self.wrapped(text, NUMBER + name.len() + 2))
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
        if self.files.get(finding.file.as_str()).is_some_and(|file| file.kind == FileKind::Plan) {
            let (line, column) = (finding.position.line, finding.position.column);
            let place = Origin::path(printable(&finding.file));
            let place = line.into_iter().fold(place, Origin::line);
            let place = column.into_iter().fold(place, Origin::char_column);
            let group = groups.pop().unwrap_or_else(|| Group::with_level(level.clone()));
            groups.push(group.element(place));
            return groups;
        }
        let primary = ExcerptMark { span, label: String::new(), is_primary: true };
        let shown = finding.related.iter().take(MAX_RELATED);
        let (here, elsewhere): (Vec<_>, Vec<_>) = shown.partition(|related| related.file == finding.file);
        let related = here.iter().filter_map(|related| self.mark(related));
        let marks: Vec<ExcerptMark> = std::iter::once(primary).chain(related).collect();
        groups = excerpt::mark(groups, level, source, &marks, self.room());
        for related in elsewhere {
            if let (Some(source), Some(mark)) = (self.source(&related.file), self.mark(related)) {
                groups = excerpt::mark(groups, level, source, &[mark], self.room());
            } else {
                let text = format!("{}: {}: {}", related.file, related.path, related.message);
                let group = groups.pop().map(|group| group.element(note("see", printable(&text))));
                groups.extend(group);
            }
        }
        let more = finding.related.len().saturating_sub(MAX_RELATED);
        if let Some(group) = groups.pop_if(|_| more > 0) {
            groups.push(group.element(note("see", format!("and {more} more; `--format json` lists all"))));
        }
        groups
    }

    fn mark(&self, related: &RelatedLocation) -> Option<ExcerptMark> {
        let source = self.source(&related.file)?;
        let span = Span::new(source.byte_at(related.offset?), source.byte_at(related.end_offset?));
        Some(ExcerptMark { span, label: related.message.clone(), is_primary: false })
    }
}

/// Breaks a text into lines of at most so many characters, at spaces. A longer word keeps its own line.
fn wrapped(text: &str, columns: usize) -> String {
    let mut result = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > columns {
            result.push('\n');
            used = 0;
        } else if !result.is_empty() {
            result.push(' ');
            used += 1;
        }
        result.push_str(word);
        used += length;
    }
    result
}

/// Line `= name: text` below an excerpt, on one line.
pub(super) fn note<'a>(name: &'static str, text: String) -> Message<'a> {
    Level::NOTE.with_name(name).message(text)
}

/// Adds an excerpt in which a span is marked.
pub(super) fn marked<'g>(group: Group<'g>, source: &Source, span: Span) -> Vec<Group<'g>> {
    let mark = ExcerptMark { span, label: String::new(), is_primary: true };
    excerpt::mark(vec![group], &Level::ERROR, source, &[mark], None)
}

fn span(source: Option<&Source>, range: &TextRange) -> Option<Span> {
    let source = source?;
    Some(Span::new(source.byte_at(range.offset?), source.byte_at(range.end_offset?)))
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn wraps_at_spaces_and_keeps_long_words() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("one two three", 6), "one\ntwo\nthree");
        assert_eq!(wrapped("a-very-long-word é ééé", 5), "a-very-long-word\né ééé");
        assert_eq!(wrapped("", 5), "");
    }
}
