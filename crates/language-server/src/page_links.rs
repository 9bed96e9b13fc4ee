//! From the names of rules, in comments and in the config file, to their pages: links, and definitions.

use lsp_types::{DocumentLink, Location, Range};
use manifest::source::Span;
use rule::Rule;
use rule::registry::Registry;
use rule::settings::CONFIG_FILE;
use rule::suppression::AcceptedList;

use crate::actions::page_of;
use crate::documents::OpenDocument;
use crate::lines::LinedText;
use crate::outline::Outline;
use crate::schema::ends_with;

/// The links of a document.
pub(crate) fn of_document(
    document: &OpenDocument,
    text: &LinedText,
    registry: &Registry,
) -> Vec<DocumentLink> {
    let link = |(span, rule): (Span, &Rule)| {
        Some(DocumentLink {
            range: text.range(span),
            target: Some(page_of(rule.name)?),
            tooltip: Some(rule.summary.to_owned()),
            data: None,
        })
    };
    rules_named_in(document, text.text(), registry).into_iter().filter_map(link).collect()
}

/// The page of the rule that is named at a byte of a document, as a document of the editor: `scheme:name.md`.
pub(crate) fn definition(
    document: &OpenDocument,
    text: &str,
    byte: usize,
    registry: &Registry,
    scheme: &str,
) -> Option<Location> {
    let (_, rule) = rule_at(document, text, byte, registry)?;
    let uri = format!("{scheme}:{}.md", rule.name).parse().ok()?;
    Some(Location { uri, range: Range::default() })
}

/// The rule that is named at a byte of a document, with the place of its name.
pub(crate) fn rule_at<'r>(
    document: &OpenDocument,
    text: &str,
    byte: usize,
    registry: &'r Registry,
) -> Option<(Span, &'r Rule)> {
    let named = rules_named_in(document, text, registry);
    named.into_iter().find(|(span, _)| span.start <= byte && byte <= span.end)
}

/// The rules that a document names, with the places of their names.
fn rules_named_in<'r>(document: &OpenDocument, text: &str, registry: &'r Registry) -> Vec<(Span, &'r Rule)> {
    let is_config = document.name().rsplit(['/', '\\']).next() == Some(CONFIG_FILE);
    let mut rules = Vec::new();
    for outline in Outline::all(text) {
        let mut spans: Vec<Span> =
            outline.comments().iter().flat_map(|comment| in_comment(text, *comment)).collect();
        if is_config {
            spans.extend(in_settings(text, &outline));
        }
        rules.extend(spans.into_iter().filter_map(|span| Some((span, registry.find(span.text(text))?))));
    }
    rules
}

/// The names in a comment that accepts findings.
fn in_comment(text: &str, comment: Span) -> Vec<Span> {
    let own = comment.text(text);
    let names = AcceptedList::of(own).map(|list| list.names(own)).unwrap_or_default();
    names.into_iter().map(|span| span.shifted(comment.start)).collect()
}

/// The rules in the settings: the keys of `rules`, and the rule of an exception.
fn in_settings(text: &str, outline: &Outline) -> Vec<Span> {
    let mut spans = Vec::new();
    for (id, entry) in outline.entries() {
        let path = outline.path(text, Some(id), None);
        if ends_with(&path, "exceptions[].rule") {
            spans.push(entry.value);
        } else if path.len() > 1 && ends_with(path.get(..path.len() - 1).unwrap_or_default(), "rules") {
            spans.extend(entry.key);
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::PositionUnit;
    use crate::testing::REGISTRY;

    #[test]
    fn links_the_names_of_rules_to_their_pages() {
        let linked = |name: &str, text: &str| {
            let document = OpenDocument {
                uri: format!("file:///{name}").parse().unwrap(),
                path: Some(format!("/{name}").into()),
                version: 1,
                text: text.to_owned(),
                revision: 1,
            };
            let links = of_document(&document, &LinedText::of(text, PositionUnit::Utf16), &REGISTRY);
            let target = |link: &DocumentLink| link.target.clone().unwrap().as_str().ends_with("/some-rule");
            assert!(links.iter().all(target), "{links:?}");
            links.iter().map(|link| (link.range.start.line, link.range.start.character)).collect::<Vec<_>>()
        };
        let text = "# karpwarden: ignore[other, some-rule] x\na: 1 # ignore[some-rule]\n## karpwarden: ignore[some-rule]\n";
        assert_eq!(linked("a.yaml", text), [(0, 28)]);
        let settings = "rules:\n  some-rule: warn\n  other: off\nexceptions:\n  - rule: some-rule\n    name: some-rule\n";
        assert_eq!(linked("karpwarden.yaml", settings), [(1, 2), (4, 10)]);
        assert!(linked("a.yaml", settings).is_empty());
    }
}
