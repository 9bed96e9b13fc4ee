//! Source lines around a location, cut so that long files and long lines can be shown.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Snippet};
use manifest::source::{Source, Span};

use super::fit::{CUT, Fitted, visible};
use super::words::printable;

/// Bytes on either side of a location within which a line has to end to be shown whole. A file may be one line of many
/// megabytes.
const REACH: usize = 240;

/// Bytes shown on either side of a location in a longer line.
const NEAR: usize = 48;

/// Largest distance in lines of two locations that share an excerpt.
const MAX_DISTANCE: usize = 6;

/// Largest number of lines that are marked whole; only the first line of a longer span is marked.
const MAX_MARKED_LINES: usize = 8;

/// Location to mark, with its label.
#[derive(Clone, Debug)]
pub(super) struct ExcerptMark {
    pub(super) span: Span,
    pub(super) label: String,
    pub(super) is_primary: bool,
}

/// Part of a text to show: whole lines, or a part of a long line.
struct Window<'s> {
    source: &'s Source,
    span: Span,
    /// The start of the line is cut off.
    is_cut_before: bool,
    /// The end of the line is cut off.
    is_cut_after: bool,
}

impl<'s> Window<'s> {
    /// The lines of a span, with one line before and one after it.
    fn around(source: &'s Source, span: Span) -> Self {
        let text = source.text();
        let (start, is_cut_before) = line_start(text, span.start);
        let (end, is_cut_after) = line_end(text, span.end);
        let mut window = Self { source, span: Span::new(start, end), is_cut_before, is_cut_after };
        if !is_cut_before && start > 0 {
            let (before, is_cut) = line_start(text, start - 1);
            if !is_cut && is_shown(source.slice(Span::new(before, start))) {
                window.span.start = before;
            }
        }
        if !is_cut_after && end < text.len() {
            let (after, is_cut) = line_end(text, end + 1);
            if !is_cut && is_shown(source.slice(Span::new(end + 1, after))) {
                window.span.end = after;
            }
        }
        if source.slice(window.span).ends_with('\r') && window.span.end > span.end {
            window.span.end -= 1;
        }
        window
    }

    /// The lines, in so many columns, with the first mark of each line shown.
    fn fitted(&self, marks: &[Span], room: Option<usize>) -> Fitted {
        let mut fitted = Fitted::default();
        fitted.text.push_str(if self.is_cut_before { CUT } else { "" });
        let mut at = self.span.start;
        for line in self.source.slice(self.span).split_inclusive('\n') {
            let mark = marks.iter().find(|mark| at <= mark.start && mark.start < at + line.len().max(1));
            fitted.add(line, at, mark.copied(), room);
            at += line.len();
        }
        fitted.text.push_str(if self.is_cut_after { CUT } else { "" });
        fitted
    }

    fn marked(marks: &[&ExcerptMark], fitted: Fitted, line: usize) -> Snippet<'static, Annotation<'static>> {
        let annotations = marks.iter().map(|mark| {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let label = (!mark.label.is_empty()).then(|| printable(&mark.label));
            kind.span(fitted.range(mark.span)).label(label)
        });
        let annotations: Vec<_> = annotations.collect();
        Snippet::source(fitted.text).line_start(line).fold(false).annotations(annotations)
    }

    fn line(&self) -> usize {
        self.source.position(self.span.start).line
    }
}

/// Whether a neighbouring line helps the reader to recognise the location.
fn is_shown(line: &str) -> bool {
    let line = line.trim();
    !(line.is_empty() || line == "---")
}

/// Start of the line that contains a byte, or `true` and a nearer byte if the start is too far away.
fn line_start(text: &str, byte: usize) -> (usize, bool) {
    let reach = text.floor_char_boundary(byte.saturating_sub(REACH));
    match text.get(reach..byte).and_then(|before| before.rfind('\n')) {
        Some(at) => (reach + at + 1, false),
        None if reach == 0 || text.as_bytes().get(reach - 1) == Some(&b'\n') => (reach, false),
        None => (text.floor_char_boundary(byte.saturating_sub(NEAR)), true),
    }
}

/// End of the line that contains a byte, without the line feed, or `true` and a nearer byte if the end is too far away.
fn line_end(text: &str, byte: usize) -> (usize, bool) {
    let reach = text.floor_char_boundary(byte.saturating_add(REACH));
    match text.get(byte..reach).and_then(|after| after.find('\n')) {
        Some(at) => (byte + at, false),
        None if reach == text.len() => (reach, false),
        None => (text.floor_char_boundary(byte.saturating_add(NEAR)), true),
    }
}

/// Part of a span that is marked, if the span has many lines or a long line.
fn clipped(source: &Source, span: Span) -> Span {
    let text = source.slice(span);
    let first = text.split_once('\n').map_or(text, |(line, _)| line);
    let is_tall =
        text.bytes().filter(|byte| *byte == b'\n').take(MAX_MARKED_LINES).count() == MAX_MARKED_LINES;
    let end = if is_tall { span.start + first.trim_end().len() } else { span.end };
    Span::new(span.start, source.text().floor_char_boundary(end.min(span.start + 8 * REACH)))
}

/// Adds excerpts with marks to the last group, with at most `room` columns of the source. Marks near to each other share an
/// excerpt. The excerpt with the primary mark comes first, because its location is shown as `--> file:line`; the others follow
/// in the order of the text.
pub(super) fn mark<'g>(
    mut groups: Vec<Group<'g>>,
    level: &Level<'g>,
    source: &Source,
    marks: &[ExcerptMark],
    room: Option<usize>,
) -> Vec<Group<'g>> {
    let mut marks: Vec<ExcerptMark> =
        marks.iter().map(|mark| ExcerptMark { span: clipped(source, mark.span), ..mark.clone() }).collect();
    marks.sort_by_key(|mark| mark.span);
    let spans: Vec<Span> = marks.iter().map(|mark| mark.span).collect();
    let mut excerpts = joined(source, &spans);
    let holds =
        |lines: &Span, mark: &ExcerptMark| lines.start <= mark.span.start && mark.span.end <= lines.end;
    excerpts.sort_by_key(|lines| !marks.iter().any(|mark| mark.is_primary && holds(lines, mark)));
    for lines in excerpts {
        let window = Window::around(source, lines);
        let inside: Vec<&ExcerptMark> = marks.iter().filter(|mark| holds(&lines, mark)).collect();
        let spans: Vec<Span> = inside.iter().map(|mark| mark.span).collect();
        let fitted = window.fitted(&spans, room);
        let primary = inside.iter().find(|mark| mark.is_primary);
        let start = primary.map_or(lines.start, |mark| mark.span.start);
        let is_cut_before = window.is_cut_before || fitted.is_cut_before(start);
        let snippet = Window::marked(&inside, fitted, window.line());
        let group = groups.pop().unwrap_or_else(|| Group::with_level(level.clone()));
        let name = printable(source.name());
        if is_cut_before {
            // `Snippet` does not know about the part that is cut off, so the location is a separate element.
            let position = source.position(start);
            let origin = Origin::path(name).line(position.line).char_column(position.column);
            groups.push(group.element(origin));
            groups.push(Group::with_level(level.clone()).element(snippet));
        } else {
            groups.push(group.element(snippet.path(name)));
        }
    }
    groups
}

/// Excerpts that show the text with edits applied, with at most `room` columns of the source.
pub(super) fn patched(
    source: &Source,
    edits: &[(Span, String)],
    room: Option<usize>,
) -> Vec<Snippet<'static, Patch<'static>>> {
    let mut spans: Vec<Span> = edits.iter().map(|(span, _)| *span).collect();
    spans.sort();
    let snippet = |group: Span| {
        let window = Window::around(source, group);
        let inside = edits.iter().filter(|(span, _)| group.start <= span.start && span.end <= group.end);
        let fitted = window.fitted(&spans, room);
        let patches = inside.map(|(span, text)| {
            Patch::new(fitted.range(*span), text.chars().map(visible).collect::<String>())
        });
        let patches: Vec<_> = patches.collect();
        Snippet::source(fitted.text).line_start(window.line()).patches(patches)
    };
    joined(source, &spans).into_iter().map(snippet).collect()
}

/// Joins the spans that are near to each other.
fn joined(source: &Source, sorted: &[Span]) -> Vec<Span> {
    let mut groups: Vec<Span> = Vec::new();
    for span in sorted {
        let near = |group: &&mut Span| {
            let between = source.text().get(group.end..span.start).unwrap_or_default();
            span.start <= group.end
                || (between.len() < MAX_DISTANCE * REACH
                    && between.bytes().filter(|byte| *byte == b'\n').count() <= MAX_DISTANCE)
        };
        match groups.last_mut().filter(near) {
            Some(group) => group.end = group.end.max(span.end),
            None => groups.push(*span),
        }
    }
    groups
}
