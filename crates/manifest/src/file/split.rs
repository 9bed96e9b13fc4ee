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
        let is_directive = directives && line.starts_with(b"%");
        content = content || (!is_directive && has_content(after.unwrap_or(line)));
        at += line.len();
    }
    if content {
        sections.push(Span::new(start, at));
    }
    sections
}

/// Whether a line, or the rest of a `---` line, is neither empty nor a comment nor the end of a document.
fn has_content(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    !(text.is_empty() || text.starts_with(b"#") || text == b"..." || line.starts_with(b"... "))
}
