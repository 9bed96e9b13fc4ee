//! The effect of a change of the field at a place, and the page of a rule at its finding.

use std::collections::BTreeSet;

use drift::HoveredField;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position, Range};
use manifest::File;
use objects::embedded::READ_OPTIONS;

use crate::diagnostics::Results;
use crate::documents::OpenDocument;
use crate::lines::{Lines, overlap};

/// The effect of the field at a position of a document, and the pages of the rules whose findings are there. A document without findings
/// may have no results. `page` gives the page of a rule.
pub(crate) fn at(
    results: Option<Results<'_>>,
    document: &OpenDocument,
    position: Position,
    page: impl Fn(&str) -> Option<String>,
) -> Option<Hover> {
    let point = Range { start: position, end: position };
    let own = results.and_then(|results| Some((results, results.file(&document.uri)?)));
    let found = own.into_iter().flat_map(|(results, (name, file))| results.findings(name, file));
    let there: Vec<_> = found.filter(|found| overlap(found.range, point)).collect();
    let mut seen = BTreeSet::new();
    let rules = there.iter().map(|found| found.finding.rule).filter(|rule| seen.insert(*rule));
    let pages: Vec<String> = rules.filter_map(page).collect();
    let field = field_at(document, position);
    let range = there.first().map(|found| found.range).or_else(|| Some(field.as_ref()?.1))?;
    let parts: Vec<String> = field.map(|(effect, _)| effect).into_iter().chain(pages).collect();
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: parts.join("\n---\n\n") };
    (!parts.is_empty()).then_some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
}

/// The effect of changing the field at a position, and the range of the field.
fn field_at(document: &OpenDocument, position: Position) -> Option<(String, Range)> {
    let text = document.text.strip_prefix('\u{feff}');
    let lines = Lines::of(text.unwrap_or(&document.text), text.is_some());
    let file = File::read(document.uri.as_str(), text.unwrap_or(&document.text), READ_OPTIONS);
    let found = HoveredField::at(&file, file.source.byte_at(lines.offset(position)))?;
    let place = |byte| lines.position(file.source.position(byte).offset);
    Some((found.markdown(), Range { start: place(found.span.start), end: place(found.span.end) }))
}
