//! Documents in texts with directives of templates, such as `%{ if }`, whose condition or collection only Terraform knows.

use manifest::sections;
use manifest::source::Span;
use terraform::{EvaluatedText, TextPlace};

use super::ResourceInstance;
use crate::draft::DocumentDraft;

/// Texts that the directives of a document may lead to.
pub(super) const MAX_ALTERNATIVES: usize = 16;
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
        let Some(at) = part.directives().first().map(|directive| directive.place) else {
            drafts.push(DocumentDraft::Text(part, used));
            continue;
        };
        let reason = reason(resource, name, &part);
        let named = resource.named_kinds(DocumentDraft::Unknown(at, reason), part.texts().into_iter());
        let DocumentDraft::Unknown(_, reason) = named else { continue };
        let address = resource.block.address.clone();
        drafts.push(match part.alternatives(MAX_ALTERNATIVES) {
            Some(texts) => DocumentDraft::Alternatives { texts, whole: part, used, at, address, reason },
            None => DocumentDraft::Unknown(at, format!("`{address}`, not checked: {reason}")),
        });
    }
    drafts
}

/// The reason why a document is not known: its directives, each with its place, and their conditions and collections.
pub(super) fn reason(resource: &ResourceInstance<'_>, name: &str, part: &EvaluatedText) -> String {
    let (mut positions, mut causes) = (Vec::new(), Vec::new());
    for directive in part.directives() {
        let position = resource.position(directive.place);
        let cause = format!("`{}`", directive.placeholder.text(part.as_str()));
        if !positions.contains(&position) {
            positions.push(position);
        }
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let (what, are) = if positions.len() == 1 { ("a directive", "is") } else { ("directives", "are") };
    let (positions, causes) = (positions.concat().replace(") (", ", "), causes.join(", "));
    format!("{what} in `{name}`{positions} {are} known only after Terraform applies {causes}")
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
