//! Documents in texts with directives of templates, such as `%{ if }`, whose condition or collection only Terraform knows.

use manifest::sections;
use manifest::source::Span;
use terraform::{EvaluatedText, TextPlace};

use super::ResourceInstance;
use crate::draft::DocumentDraft;

/// Texts that the directives of a document may lead to.
const MAX_ALTERNATIVES: usize = 16;
/// Line that replaces a directive of whole lines.
const LINE: &str = "x\n";

/// The documents of a text. Where a directive changes a document, the document is what all texts have that the directive may lead to.
pub(super) fn documents(
    resource: &ResourceInstance<'_>,
    name: &str,
    text: &EvaluatedText,
    used: TextPlace,
) -> Vec<DocumentDraft> {
    let mut drafts = vec![DocumentDraft::Used(text.clone(), used)];
    for part in parts(text) {
        let Some(directive) = part.directives().first() else {
            drafts.push(DocumentDraft::Text(part, used));
            continue;
        };
        let (at, cause) = (directive.place, directive.placeholder.text(part.as_str()));
        let reason = format!(
            "`{}`, not checked: a directive in `{name}`{} is known only after Terraform applies `{cause}`",
            resource.block.address,
            resource.position(at)
        );
        drafts.push(match part.alternatives(MAX_ALTERNATIVES) {
            Some(texts) => DocumentDraft::Alternatives { texts, used, at, reason },
            None => DocumentDraft::Unknown(at, reason),
        });
    }
    drafts
}

/// The parts of a text between the `---` lines that it has whatever its directives write.
///
/// A placeholder has no line break, and a directive that writes whole lines from the start of a line on leaves the next line where it is.
fn parts(text: &EvaluatedText) -> Vec<EvaluatedText> {
    let content = text.as_str();
    let (mut lines, mut at, mut moved) = (String::new(), 0, Vec::new());
    for directive in text.directives() {
        let Span { start, end } = directive.placeholder;
        lines.push_str(content.get(at..start).unwrap_or_default());
        if directive.writes_whole_lines() && (lines.is_empty() || lines.ends_with('\n')) {
            lines.push_str(LINE);
            moved.push((lines.len(), end));
        } else {
            lines.push_str(content.get(start..end).unwrap_or_default());
        }
        at = end;
    }
    lines.push_str(content.get(at..).unwrap_or_default());
    // No part starts or ends within a line that replaces a directive.
    let byte_of = |byte: usize| {
        let before = moved.iter().rev().find(|(line, _)| *line <= byte);
        before.map_or(byte, |(line, end)| end + (byte - line))
    };
    sections(&lines).iter().map(|part| text.slice(byte_of(part.start), byte_of(part.end))).collect()
}
