//! The page of a rule at its finding.

use std::collections::BTreeSet;

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position, Range, Uri};

use crate::diagnostics::Results;
use crate::lines::overlap;

/// The pages of the rules whose findings are at a position. `page` gives the page of a rule.
pub(crate) fn at(
    results: Results<'_>,
    uri: &Uri,
    position: Position,
    page: impl Fn(&str) -> Option<String>,
) -> Option<Hover> {
    let (name, file) = results.file(uri)?;
    let point = Range { start: position, end: position };
    let there: Vec<_> = results.findings(name, file).filter(|found| overlap(found.range, point)).collect();
    let mut seen = BTreeSet::new();
    let rules = there.iter().map(|found| found.finding.rule).filter(|rule| seen.insert(*rule));
    let pages: Vec<String> = rules.filter_map(page).collect();
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: pages.join("\n---\n\n") };
    let range = there.first()?.range;
    (!pages.is_empty()).then_some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
}
