//! Symbols of a document and of the folders, and the ranges that can be folded.

use lsp_types::{DocumentSymbol, FoldingRange, FoldingRangeKind, OneOf, Range, SymbolKind, WorkspaceSymbol};
use manifest::is_terraform;
use manifest::source::Span;

use crate::folder::is_patch;
use crate::lines::LinedText;
use crate::navigation::{Navigator, in_file, objects_in};
use crate::outline::{EntryId, Outline};

/// Maximum number of symbols of folders in an answer.
const MAX_SYMBOLS: usize = 500;

/// The objects of a document with the fields of their `spec`; the keys of a document that is no object. None of a configuration of
/// Terraform, which has its own language server.
pub(crate) fn of_document(name: &str, text: &LinedText) -> Vec<DocumentSymbol> {
    if is_terraform(name) {
        return Vec::new();
    }
    let outlines = Outline::all(text.text());
    outlines.iter().flat_map(|outline| SymbolReader { outline, text }.document()).collect()
}

#[derive(Clone, Copy)]
struct SymbolReader<'o> {
    outline: &'o Outline,
    text: &'o LinedText,
}

impl SymbolReader<'_> {
    fn document(self) -> Vec<DocumentSymbol> {
        let text = self.text.text();
        if self.outline.scalar(text, None, "kind") == "List" {
            let items = self.outline.member(text, None, "items");
            let items = self.outline.children(items).filter(|(_, entry)| entry.key.is_none());
            return items.filter_map(|(id, entry)| self.object(Some(id), entry.span)).collect();
        }
        let mut members = self.outline.children(None).map(|(_, entry)| entry.span);
        let Some(first) = members.next() else { return Vec::new() };
        let whole = first.to(members.last().unwrap_or(first));
        self.object(None, whole).map_or_else(|| self.fields(None), |object| vec![object])
    }

    fn object(self, root: Option<EntryId>, span: Span) -> Option<DocumentSymbol> {
        let text = self.text.text();
        let kind = Some(self.outline.scalar(text, root, "kind")).filter(|kind| !kind.is_empty())?;
        let metadata = self.outline.member(text, root, "metadata");
        let name = metadata.and_then(|id| self.outline.member(text, Some(id), "name"));
        let name = name.and_then(|id| self.outline.entry(id)).map(|entry| entry.value);
        let spec = self.outline.member(text, root, "spec");
        let selected = name.filter(|name| !name.is_empty()).unwrap_or(Span::new(span.start, span.start));
        let title = format!("{kind} {}", selected.text(text));
        let children = spec.map(|spec| self.fields(Some(spec))).unwrap_or_default();
        let detail = self.outline.scalar(text, root, "apiVersion");
        Some(symbol(
            title.trim().to_owned(),
            detail,
            SymbolKind::OBJECT,
            self.ranges(span, selected),
            children,
        ))
    }

    /// The keys below an entry.
    fn fields(self, holder: Option<EntryId>) -> Vec<DocumentSymbol> {
        let text = self.text.text();
        let members = self.outline.children(holder).filter_map(|(_, entry)| Some((entry.key?, entry)));
        let named = members.filter(|(key, _)| !key.is_empty());
        named
            .map(|(key, entry)| {
                let ranges = self.ranges(entry.span, key);
                let value = entry.value.text(text).lines().next().unwrap_or_default();
                symbol(key.text(text).to_owned(), value, SymbolKind::FIELD, ranges, Vec::new())
            })
            .collect()
    }

    fn ranges(self, whole: Span, selected: Span) -> (Range, Range) {
        // The selected part must be within the whole.
        let whole = Span::new(whole.start.min(selected.start), whole.end.max(selected.end));
        (self.text.range(whole), self.text.range(selected))
    }
}

fn symbol(
    name: String,
    detail: &str,
    kind: SymbolKind,
    (range, selection_range): (Range, Range),
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    #[expect(deprecated, reason = "the type has no constructor")]
    DocumentSymbol {
        name,
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: (!children.is_empty()).then_some(children),
    }
}

/// The objects of the folders whose kind and name have the words of a query.
pub(crate) fn of_folders(folders: &[Navigator<'_>], query: &str) -> Vec<WorkspaceSymbol> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut symbols = Vec::new();
    for folder in folders {
        for file in folder.folder.files().iter().filter(|file| file.is_input() && !is_patch(file)) {
            let is_meant = |name: &str| words.iter().all(|word| name.to_lowercase().contains(word));
            let named =
                objects_in(file).filter(|object| !object.kind().is_empty() && !object.name().is_empty());
            let named = named.filter(|object| in_file(object.name_node(), file).is_some());
            let named = named.map(|object| (format!("{} {}", object.kind(), object.name()), object));
            let own: Vec<_> = named.filter(|(name, _)| is_meant(name)).collect();
            if own.is_empty() {
                continue;
            }
            let Some(place) = folder.file(file) else { continue };
            symbols.extend(own.into_iter().map(|(name, object)| WorkspaceSymbol {
                name,
                kind: SymbolKind::OBJECT,
                tags: None,
                container_name: Some(object.namespace().to_owned()).filter(|namespace| !namespace.is_empty()),
                location: OneOf::Left(place.location(object.name_node().span())),
                data: None,
            }));
        }
    }
    symbols.truncate(MAX_SYMBOLS);
    symbols
}

/// The documents of a text, and the keys and items with several lines. None of a configuration of Terraform.
pub(crate) fn folds(name: &str, text: &LinedText) -> Vec<FoldingRange> {
    let mut folds = Vec::new();
    if is_terraform(name) {
        return folds;
    }
    for outline in Outline::all(text.text()) {
        let written = outline.span.text(text.text());
        let trimmed = written.trim_start();
        let start = outline.span.start + written.len() - trimmed.len();
        let whole = Span::new(start, start + trimmed.trim_end().len());
        let kind = Some(FoldingRangeKind::Region);
        let entries = outline.spans().map(|span| (span, None));
        for (span, kind) in std::iter::once((whole, kind)).chain(entries) {
            let Range { start, end } = text.range(span);
            if start.line < end.line {
                folds.push(FoldingRange {
                    start_line: start.line,
                    end_line: end.line,
                    kind,
                    ..FoldingRange::default()
                });
            }
        }
    }
    // Several entries may begin in a line.
    folds.sort_by_key(|fold| (fold.start_line, std::cmp::Reverse(fold.end_line)));
    folds.dedup_by_key(|fold| fold.start_line);
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::PositionUnit;

    #[test]
    fn a_configuration_of_terraform_has_no_symbols() {
        let text = "resource \"a\" \"b\" {\n  c = {\n    d: 1\n  }\n}\n";
        let text = LinedText::of(text, PositionUnit::Utf16);
        for name in ["main.tf", "main.tofu"] {
            assert!(of_document(name, &text).is_empty() && folds(name, &text).is_empty(), "{name}");
        }
        assert!(!of_document("a.yaml", &text).is_empty() && !folds("a.yaml", &text).is_empty());
    }
}
