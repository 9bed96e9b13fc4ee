//! The lines around a place, cut so that no file and no line is too long to show.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Snippet};

use super::words::printable;
use manifest::source::{Source, Span};

/// Bytes on either side of a place within which its line has to end to be shown whole. A file may be one line of many
/// megabytes.
const REACH: usize = 240;

/// Bytes that are shown on either side of a place in a longer line.
const NEAR: usize = 48;

/// Lines from one place to the next that are still shown together.
const TOGETHER: usize = 6;

/// Lines of a place that are marked; of a longer one the first is.
const TALLEST: usize = 8;

/// A place to mark.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) span: Span,
    pub(super) label: String,
    pub(super) is_primary: bool,
}

/// Some whole lines of a text, or of a long line a part.
struct Window<'s> {
    source: &'s Source,
    span: Span,
    /// The text goes on before it in the same line.
    is_cut: bool,
    /// The text goes on after it in the same line.
    goes_on: bool,
}

/// What stands for the part of a line that is left out.
const CUT: &str = "…";

impl<'s> Window<'s> {
    /// The lines of a span with one more before and after it.
    fn around(source: &'s Source, span: Span) -> Self {
        let text = source.text();
        let (start, is_cut) = line_start(text, span.start);
        let (end, goes_on) = line_end(text, span.end);
        let mut window = Self { source, span: Span::new(start, end), is_cut, goes_on };
        if !is_cut && start > 0 {
            let (before, is_cut) = line_start(text, start - 1);
            if !is_cut && is_shown(source.slice(Span::new(before, start))) {
                window.span.start = before;
            }
        }
        if !goes_on && end < text.len() {
            let (after, goes_on) = line_end(text, end + 1);
            if !goes_on && is_shown(source.slice(Span::new(end + 1, after))) {
                window.span.end = after;
            }
        }
        if source.slice(window.span).ends_with('\r') && window.span.end > span.end {
            window.span.end -= 1;
        }
        window
    }

    fn text(&self) -> String {
        let text = self.source.slice(self.span);
        let before = if self.is_cut { CUT } else { "" };
        let after = if self.goes_on { CUT } else { "" };
        format!("{before}{text}{after}")
    }

    fn marked<'m>(&self, marks: impl Iterator<Item = &'m Mark>) -> Snippet<'static, Annotation<'static>> {
        let annotations = marks.map(|mark| {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let label = (!mark.label.is_empty()).then(|| printable(&mark.label));
            kind.span(self.range(mark.span)).label(label)
        });
        let annotations: Vec<_> = annotations.collect();
        Snippet::source(self.text()).line_start(self.line()).fold(false).annotations(annotations)
    }

    fn line(&self) -> usize {
        self.source.position(self.span.start).line
    }

    /// The bytes of a span within [`Window::text`].
    fn range(&self, span: Span) -> core::ops::Range<usize> {
        let lead = if self.is_cut { CUT.len() } else { 0 };
        let within = |byte: usize| byte.clamp(self.span.start, self.span.end) - self.span.start + lead;
        within(span.start)..within(span.end)
    }
}

/// Whether a line around a place helps to see where one is.
fn is_shown(line: &str) -> bool {
    let line = line.trim();
    !(line.is_empty() || line == "---")
}

/// Where the line of a byte starts; where that is far, a byte near to it, and the second is true.
fn line_start(text: &str, byte: usize) -> (usize, bool) {
    let reach = text.floor_char_boundary(byte.saturating_sub(REACH));
    match text.get(reach..byte).and_then(|before| before.rfind('\n')) {
        Some(at) => (reach + at + 1, false),
        None if reach == 0 || text.as_bytes().get(reach - 1) == Some(&b'\n') => (reach, false),
        None => (text.floor_char_boundary(byte.saturating_sub(NEAR)), true),
    }
}

/// The byte of the line feed that ends the line of a byte, or the end of the text; where that is far, a byte near to it,
/// and the second is true.
fn line_end(text: &str, byte: usize) -> (usize, bool) {
    let reach = text.floor_char_boundary(byte.saturating_add(REACH));
    match text.get(byte..reach).and_then(|after| after.find('\n')) {
        Some(at) => (byte + at, false),
        None if reach == text.len() => (reach, false),
        None => (text.floor_char_boundary(byte.saturating_add(NEAR)), true),
    }
}

/// A span of many lines, or of a long one, as far as it is marked.
fn clipped(source: &Source, span: Span) -> Span {
    let text = source.slice(span);
    let first = text.split('\n').next().unwrap_or_default();
    let is_tall = text.bytes().filter(|byte| *byte == b'\n').take(TALLEST).count() == TALLEST;
    let end = if is_tall { span.start + first.trim_end().len() } else { span.end };
    Span::new(span.start, source.text().floor_char_boundary(end.min(span.start + 8 * REACH)))
}

/// Adds marked lines to the last of some groups: those of the primary place first, as they give the place its line, then
/// the others in the order of the text. Places that are near to one another share theirs.
pub(super) fn mark<'g>(
    mut groups: Vec<Group<'g>>,
    level: &Level<'g>,
    source: &Source,
    marks: &[Mark],
) -> Vec<Group<'g>> {
    let mut marks: Vec<Mark> =
        marks.iter().map(|mark| Mark { span: clipped(source, mark.span), ..mark.clone() }).collect();
    marks.sort_by_key(|mark| mark.span);
    let spans: Vec<Span> = marks.iter().map(|mark| mark.span).collect();
    let mut stretches = together(source, &spans);
    let holds = |lines: &Span, mark: &Mark| lines.start <= mark.span.start && mark.span.end <= lines.end;
    stretches.sort_by_key(|lines| !marks.iter().any(|mark| mark.is_primary && holds(lines, mark)));
    for lines in stretches {
        let window = Window::around(source, lines);
        let inside = marks.iter().filter(|mark| holds(&lines, mark));
        let snippet = window.marked(inside);
        let group = groups.pop().unwrap_or_else(|| Group::with_level(level.clone()));
        let name = printable(source.name());
        if window.is_cut {
            // The excerpt does not know what was cut before it, so the place is told apart from it.
            let position = source.position(lines.start);
            let origin = Origin::path(name).line(position.line).char_column(position.column);
            groups.push(group.element(origin));
            groups.push(Group::with_level(level.clone()).element(snippet));
        } else {
            groups.push(group.element(snippet.path(name)));
        }
    }
    groups
}

/// Lines as they would be with edits made.
pub(super) fn patched(source: &Source, edits: &[(Span, String)]) -> Vec<Snippet<'static, Patch<'static>>> {
    let mut spans: Vec<Span> = edits.iter().map(|(span, _)| *span).collect();
    spans.sort();
    let snippet = |group: Span| {
        let window = Window::around(source, group);
        let inside = edits.iter().filter(|(span, _)| group.start <= span.start && span.end <= group.end);
        let patches = inside.map(|(span, text)| Patch::new(window.range(*span), text.clone()));
        let patches: Vec<_> = patches.collect();
        Snippet::source(window.text()).line_start(window.line()).patches(patches)
    };
    together(source, &spans).into_iter().map(snippet).collect()
}

/// The spans of groups of spans that are near to one another.
fn together(source: &Source, sorted: &[Span]) -> Vec<Span> {
    let mut groups: Vec<Span> = Vec::new();
    for span in sorted {
        let near = |group: &&mut Span| {
            let between = source.text().get(group.end..span.start).unwrap_or_default();
            span.start <= group.end
                || (between.len() < TOGETHER * REACH
                    && between.bytes().filter(|byte| *byte == b'\n').count() <= TOGETHER)
        };
        match groups.last_mut().filter(near) {
            Some(group) => group.end = group.end.max(span.end),
            None => groups.push(*span),
        }
    }
    groups
}
