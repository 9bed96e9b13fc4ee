//! Sections of a YAML file between its `---` lines.

use crate::source::Span;

/// The sections of a text between its `---` lines. A section starts with its own `---`; a section without content is left
/// out.
///
/// A line that starts with `---` and white space ends a document in any context, even in a block scalar.
pub(crate) fn sections(text: &str) -> Vec<Span> {
    let mut sections = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut content = false;
    // A directive such as `%YAML 1.2` belongs to the document whose `---` follows.
    let mut directives = true;
    for line in text.split_inclusive('\n') {
        let separator = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if separator {
            if content {
                sections.push(Span::new(start, at));
                start = at;
            } else if !directives {
                start = at;
            }
            content = false;
            directives = false;
        }
        let body = if separator { line.get(3..).unwrap_or_default() } else { line }.trim_ascii();
        let directive = directives && line.starts_with('%');
        let ends = body == "..." || line.starts_with("... ");
        content |= !(body.is_empty() || body.starts_with('#') || directive || ends);
        at += line.len();
    }
    if content {
        sections.push(Span::new(start, at));
    }
    sections
}
