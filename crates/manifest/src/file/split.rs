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
    for line in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
        let after = line
            .strip_prefix(b"---")
            .filter(|after| matches!(after.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')));
        if after.is_some() {
            if content {
                sections.push(Span::new(start, at));
                start = at;
            } else if !directives {
                start = at;
            }
            content = false;
            directives = false;
        }
        let body = after.unwrap_or(line).trim_ascii();
        let directive = directives && line.starts_with(b"%");
        let ends = body == b"..." || line.starts_with(b"... ");
        content |= !(body.is_empty() || body.starts_with(b"#") || directive || ends);
        at += line.len();
    }
    if content {
        sections.push(Span::new(start, at));
    }
    sections
}
