//! Code blocks of Markdown, which often contain manifests.

use crate::source::Span;

/// A fenced code block of a Markdown text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeBlock<'t> {
    /// The language as written, such as `yaml`; empty if the block names none.
    pub language: &'t str,
    /// The lines between the fences.
    pub body: Span,
}

/// Whether a name is the name of a Markdown file.
pub fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "mdx", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns the fenced code blocks of a Markdown text. A block without an end goes on to the end of the text.
///
/// Source: spec.txt of commonmark/commonmark-spec, "Fenced code blocks". A fence may have any indentation here, because the items of a
/// list have one.
pub fn code_blocks(text: &str) -> Vec<CodeBlock<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, CodeBlock<'_>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match (open, fence(line)) {
            (None, Some((marks, language))) => {
                open = Some((marks, CodeBlock { language, body: Span::new(at, at) }));
            }
            (Some((marks, block)), Some((end, ""))) if end.starts_with(marks) => {
                blocks.push(CodeBlock { body: Span::new(block.body.start, start), ..block });
                open = None;
            }
            _ => {}
        }
    }
    blocks.extend(open.map(|(_, block)| CodeBlock { body: Span::new(block.body.start, at), ..block }));
    blocks
}

/// The marks and the language of a line that opens or closes a code block: `` ``` `` and `bash`.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let marks = line.get(..line.len() - info.len()).filter(|marks| marks.len() >= 3)?;
    let is_inline = mark == '`' && info.contains('`');
    let language = info.split([' ', '\t', '{', '}', ',', '=']).find(|word| !word.is_empty());
    (!is_inline).then(|| (marks, language.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<(&str, &str)> {
        code_blocks(text).into_iter().map(|block| (block.language, block.body.text(text))).collect()
    }

    #[test]
    fn finds_fenced_blocks_with_their_language() {
        assert_eq!(blocks("a\n```yaml\nb: c\n```\n~~~\nd\n~~~~\n"), [("yaml", "b: c\n"), ("", "d\n")]);
        assert_eq!(blocks("1. a\n\n   ```sh\n   b\n   ```\n"), [("sh", "   b\n")]);
        assert_eq!(
            blocks("```yaml title=\"a.yaml\"\nb\n```\n``` {.yaml}\nc\n```"),
            [("yaml", "b\n"), (".yaml", "c\n")]
        );
        assert_eq!(blocks("````md\n```yaml\na\n```\n````\n"), [("md", "```yaml\na\n```\n")]);
        assert_eq!(blocks("```yaml\na\n"), [("yaml", "a\n")]);
        assert_eq!(blocks("a ```yaml\n``` b ```\n`c`\n"), []);
    }
}
