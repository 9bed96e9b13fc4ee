//! The lines around a place, cut so that no file and no line is too long to show.

use annotate_snippets::{Annotation, AnnotationKind, Patch, Snippet};

use crate::manifest::source::{Source, Span};

/// Bytes of one line that are shown on either side of a place. A file may be one line of many megabytes.
const REACH: usize = 240;

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
}

/// What stands for the part of a line that is left out.
const CUT: &str = "…";

impl<'s> Window<'s> {
    /// The lines of a span with one more before and after it.
    fn around(source: &'s Source, span: Span) -> Self {
        let text = source.text();
        let (start, is_cut) = line_start(text, span.start);
        let mut end = line_end(text, span.end);
        let mut window = Self { source, span: Span::new(start, end), is_cut };
        if !is_cut && start > 0 {
            let (before, cut) = line_start(text, start - 1);
            if !cut && is_shown(source.slice(Span::new(before, start))) {
                window.span.start = before;
            }
        }
        if text.as_bytes().get(end) == Some(&b'\n') {
            let after = line_end(text, end + 1);
            if is_shown(source.slice(Span::new(end + 1, after))) {
                end = after;
            }
        }
        window.span.end = end;
        window
    }

    fn text(&self) -> String {
        let text = self.source.slice(self.span);
        if self.is_cut { format!("{CUT}{text}") } else { text.to_owned() }
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

/// Where the line of a byte starts, or a byte within reach of it where that is far; then the second is true.
fn line_start(text: &str, byte: usize) -> (usize, bool) {
    let reach = text.floor_char_boundary(byte.saturating_sub(REACH));
    match text.get(reach..byte).and_then(|before| before.rfind('\n')) {
        Some(at) => (reach + at + 1, false),
        None => (reach, reach > 0 && text.as_bytes().get(reach - 1) != Some(&b'\n')),
    }
}

/// The byte of the line feed that ends the line of a byte, or a byte within reach of it.
fn line_end(text: &str, byte: usize) -> usize {
    let reach = text.floor_char_boundary(byte.saturating_add(REACH));
    text.get(byte..reach).and_then(|after| after.find('\n')).map_or(reach, |at| byte + at)
}

/// A span of many lines, or of a long one, as far as it is marked.
fn clipped(source: &Source, span: Span) -> Span {
    let text = source.slice(span);
    let first = text.split('\n').next().unwrap_or_default();
    let is_tall = text.bytes().filter(|byte| *byte == b'\n').take(TALLEST).count() == TALLEST;
    let end = if is_tall { span.start + first.trim_end().len() } else { span.end };
    Span::new(span.start, source.text().floor_char_boundary(end.min(span.start + 8 * REACH)))
}

/// Marked lines, in the order of the text; places that are near to one another share theirs.
pub(super) fn marked(source: &Source, marks: &[Mark]) -> Vec<Snippet<'static, Annotation<'static>>> {
    let mut marks: Vec<Mark> =
        marks.iter().map(|mark| Mark { span: clipped(source, mark.span), ..mark.clone() }).collect();
    marks.sort_by_key(|mark| mark.span);
    let spans: Vec<Span> = marks.iter().map(|mark| mark.span).collect();
    let snippet = |group: Span| {
        let window = Window::around(source, group);
        let inside = marks.iter().filter(|mark| group.start <= mark.span.start && mark.span.end <= group.end);
        let annotations = inside.map(|mark| {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let label = (!mark.label.is_empty()).then(|| super::words::printable(&mark.label));
            kind.span(window.range(mark.span)).label(label)
        });
        let annotations: Vec<_> = annotations.collect();
        Snippet::source(window.text()).line_start(window.line()).fold(false).annotations(annotations)
    };
    together(source, &spans).into_iter().map(snippet).collect()
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
