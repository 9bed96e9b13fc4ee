//! Sections of a YAML file between its `---` lines.

use crate::source::Span;

/// The sections of a text between its `---` lines. A section starts with its own `---`; a section without content is left
/// out.
///
/// A line that starts with `---` and white space ends a document in any context, even in a block scalar.
pub fn sections(text: &str) -> Vec<Span> {
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

/// The sections of a text whose lines have an indentation of some bytes. A `---` line is part of no section: with an indentation, it
/// would be text. A section without content is left out.
pub(crate) fn indented_sections(text: &str, indent: usize) -> Vec<Span> {
    let mut sections = Vec::new();
    let (mut start, mut at, mut content) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.get(indent..).is_some_and(|line| line.trim_end() == "---") {
            if content {
                sections.push(Span::new(start, at));
            }
            (start, content) = (next, false);
        }
        content = content || (start < next && has_content(line.as_bytes()));
        at = next;
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
