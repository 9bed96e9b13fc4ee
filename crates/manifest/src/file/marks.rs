//! Marks that explain why a text is not YAML or JSON: template syntax and Git conflicts.

use crate::source::{Span, certain};

/// The first mark of a template in a document that does not parse.
///
/// Marks of statements, such as `{{` of Go templates, `{%` of Jinja, `<%` of ERB and `%{` of Terraform, count anywhere outside
/// comments. `${x}` is valid YAML in most places, so it counts only alone on a line, or near the error: there in the text with words
/// instead of expressions, which is as long.
pub(super) fn template_mark(text: &str, words: &str, failed_at: usize) -> Option<Span> {
    const STATEMENTS: [&str; 4] = ["{{", "{%", "<%", "%{"];
    let failed = line_start(text, failed_at);
    let before = line_start(text, certain(text.get(..failed)).trim_end().len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = if line.trim_start().starts_with('#') { "" } else { line };
        let code = code.split_once(" #").map_or(code, |(code, _)| code);
        if let Some(at) = STATEMENTS.iter().filter_map(|mark| code.find(mark)).min() {
            return Some(Span::new(start + at, start + at + 2));
        }
        let is_near = start == failed || start == before;
        let is_alone = code.trim().starts_with("${") && code.trim().ends_with('}');
        let of_words = words.get(start..start + code.len()).unwrap_or_default();
        let expression = if is_alone { code.find("${") } else { of_words.find("${").filter(|_| is_near) };
        if let Some(at) = expression {
            return Some(Span::new(start + at, start + at + 2));
        }
        start += line.len();
    }
    None
}

/// The first line that Git writes into a file with a merge conflict, as its offset and its mark.
///
/// Source: "How conflicts are presented" in git-merge(1); the marks have seven characters and start the line.
pub(super) fn conflict_marker(text: &str) -> Option<(usize, &'static str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_mark = |mark: &&str| {
            let rest = line.strip_prefix(*mark);
            rest.is_some_and(|rest| rest.starts_with(' ') || rest.trim_end().is_empty())
        };
        if let Some(mark) = ["<<<<<<<", "=======", ">>>>>>>"].into_iter().find(is_mark) {
            return Some((start, mark));
        }
        start += line.len();
    }
    None
}

/// Start of the line that contains an offset.
fn line_start(text: &str, at: usize) -> usize {
    let before = certain(text.get(..text.floor_char_boundary(at)));
    before.rfind('\n').map_or(0, |end| end + 1)
}
