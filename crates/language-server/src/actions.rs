//! Code actions: the fix of a finding, all safe fixes of a document, a comment that accepts a finding, and the page of its rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use answers::report::{ReportedFix, url};
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Command, DocumentChanges,
    NumberOrString, OneOf, OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};
use rule::registry::SuppressionRules;

use crate::completion::is_json;
use crate::diagnostics::{Found, Results};
use crate::documents::{OpenDocument, OpenDocuments};
use crate::lines::{LinedText, PositionUnit, overlap};
use crate::outline::Outline;

/// The command that opens the page of a rule in a browser. Its argument is the rule.
pub(crate) const OPEN_PAGE: &str = "karpwarden.openPage";

/// The kind of the action that applies all safe fixes of a document.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.karpwarden");

/// The reason in a new comment, which the author replaces: it must not read like a reason that somebody has written.
const REASON: &str = "<write here why this is accepted>";

/// The code actions for a range of a document.
pub(crate) fn in_range(
    results: Results<'_>,
    suppressions: SuppressionRules,
    open: &OpenDocuments,
    document: &OpenDocument,
    range: Range,
    context: &CodeActionContext,
) -> Vec<CodeActionOrCommand> {
    let wants = |kind: &CodeActionKind| {
        let includes = |asked: &CodeActionKind| {
            let rest = kind.as_str().strip_prefix(asked.as_str());
            rest.is_some_and(|rest| asked.as_str().is_empty() || rest.is_empty() || rest.starts_with('.'))
        };
        context.only.as_ref().is_none_or(|kinds| kinds.iter().any(includes))
    };
    let Some((name, file)) = results.file(&document.uri) else { return Vec::new() };
    let there = results.findings(name, file).filter(|found| overlap(found.range, range)).collect();
    let there = asked_about(there, context);
    let mut actions = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        actions.extend(there.iter().filter_map(|found| fix(results, open, found)));
        if let Some(commented) = CommentedText::of(document, results.client.unit) {
            let acceptable = there.iter().filter(|found| !suppressions.report(found.finding.rule));
            actions
                .extend(acceptable.filter_map(|found| suppression(results, open, name, &commented, found)));
        }
        let mut seen = BTreeSet::new();
        let rules =
            there.iter().filter(|found| results.client.shows_documents && seen.insert(found.finding.rule));
        actions.extend(rules.filter_map(|found| page(results, found)));
    }
    if wants(&FIX_ALL) {
        actions.extend(fix_all(results, open, results.findings(name, file)));
    }
    actions.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

/// The findings that the editor names, or all if it names none of them. Kate asks about one finding with the range of the whole document.
fn asked_about<'s>(there: Vec<Found<'s>>, context: &CodeActionContext) -> Vec<Found<'s>> {
    let is_named = |found: &Found<'_>| {
        let rule = |code: &NumberOrString| matches!(code, NumberOrString::String(code) if code == found.finding.rule);
        context
            .diagnostics
            .iter()
            .any(|named| named.range == found.range && named.code.as_ref().is_some_and(rule))
    };
    let (named, others): (Vec<_>, Vec<_>) = there.into_iter().partition(is_named);
    if named.is_empty() { others } else { named }
}

/// The fix of a finding.
fn fix(results: Results<'_>, open: &OpenDocuments, found: &Found<'_>) -> Option<CodeAction> {
    let fix = found.finding.fix.as_ref()?;
    Some(CodeAction {
        title: title(fix, found.finding.rule),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![results.diagnostic(found)]),
        edit: Some(workspace_edit(results, open, edits(results, fix)?)?),
        is_preferred: Some(fix.safe),
        ..CodeAction::default()
    })
}

/// The safe fixes of all findings in a document. A fix that touches the text of an earlier one is left for the next time.
fn fix_all<'s>(
    results: Results<'_>,
    open: &OpenDocuments,
    findings: impl Iterator<Item = Found<'s>>,
) -> Option<CodeAction> {
    let mut all: BTreeMap<&str, Vec<TextEdit>> = BTreeMap::new();
    let mut count = 0;
    for fix in findings.filter_map(|found| found.finding.fix.as_ref()).filter(|fix| fix.safe) {
        let Some(own) = edits(results, fix) else { continue };
        let is_taken = own.iter().any(|(file, edits)| {
            let known = all.get(file).map(Vec::as_slice).unwrap_or_default();
            edits.iter().any(|edit| known.iter().any(|other| overlap(edit.range, other.range)))
        });
        if is_taken {
            continue;
        }
        count += 1;
        for (file, edits) in own {
            all.entry(file).or_default().extend(edits);
        }
    }
    let title = match count {
        0 => return None,
        1 => "Apply the safe fix of this document".to_owned(),
        count => format!("Apply {count} safe fixes of this document"),
    };
    let edit = Some(workspace_edit(results, open, all)?);
    Some(CodeAction { title, kind: Some(FIX_ALL), edit, ..CodeAction::default() })
}

/// A text in which comments may stand.
struct CommentedText {
    text: LinedText,
    outlines: Vec<Outline>,
}

impl CommentedText {
    /// `None` for JSON, which has no comments.
    fn of(document: &OpenDocument, unit: PositionUnit) -> Option<Self> {
        if is_json(&document.name()) {
            return None;
        }
        let text = document.lined(unit);
        Some(Self { outlines: Outline::all(text.text()), text })
    }
}

/// A comment above the line of a finding. `None` where a comment is impossible: in JSON, and within a script.
fn suppression(
    results: Results<'_>,
    open: &OpenDocuments,
    name: &str,
    CommentedText { text, outlines }: &CommentedText,
    found: &Found<'_>,
) -> Option<CodeAction> {
    let byte = text.byte(found.range.start);
    let start = text.text().get(..byte)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.text().get(start..)?;
    if line.starts_with("---")
        || outlines.iter().any(|outline| outline.is_in_script(start))
        || line.trim_start().starts_with('{')
    {
        return None;
    }
    let indent = line.get(..line.len() - line.trim_start_matches([' ', '\t']).len())?;
    let rule = found.finding.rule;
    let new_text = format!("{indent}# karpwarden: ignore[{rule}] {REASON}\n");
    let at = text.range(manifest::source::Span::new(start, start));
    let edits = BTreeMap::from([(name, vec![TextEdit { range: at, new_text }])]);
    Some(CodeAction {
        title: format!("Accept with a comment ({rule})"),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![results.diagnostic(found)]),
        edit: Some(workspace_edit(results, open, edits)?),
        is_preferred: Some(false),
        ..CodeAction::default()
    })
}

/// The page of the rule of a finding; `None` without a published site.
fn page(results: Results<'_>, found: &Found<'_>) -> Option<CodeAction> {
    let rule = found.finding.rule;
    page_of(rule)?;
    let title = format!("Open the page of {rule}");
    let arguments = Some(vec![rule.into()]);
    Some(CodeAction {
        title: title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![results.diagnostic(found)]),
        command: Some(Command { title, command: OPEN_PAGE.to_owned(), arguments }),
        is_preferred: Some(false),
        ..CodeAction::default()
    })
}

/// The address of the page of a rule; `None` without a published site.
pub(crate) fn page_of(rule: &str) -> Option<Uri> {
    page_address(&url(rule))
}

/// The address of a page as a URI. An empty text would be a valid reference, but leads nowhere.
pub(crate) fn page_address(text: &str) -> Option<Uri> {
    if text.is_empty() { None } else { text.parse().ok() }
}

fn title(fix: &ReportedFix, rule: &str) -> String {
    let kind = if fix.safe { "Fix" } else { "Unsafe fix" };
    format!("{kind}: {} ({rule})", fix.title)
}

/// The edits of a fix by the name of their file; `None` if a file of it is not known.
fn edits<'s>(results: Results<'s>, fix: &'s ReportedFix) -> Option<BTreeMap<&'s str, Vec<TextEdit>>> {
    let mut by_file: BTreeMap<&str, Vec<TextEdit>> = BTreeMap::new();
    for edit in &fix.edits {
        let file = results.checked.files.get(&edit.file)?;
        let range = file.range(edit.offset, edit.end_offset, results.client.unit);
        by_file.entry(&edit.file).or_default().push(TextEdit { range, new_text: edit.text.clone() });
    }
    Some(by_file)
}

/// Edits of files. They have the versions of their documents if the editor understands them, so that it does not apply an edit to another
/// text.
#[expect(clippy::mutable_key_type, reason = "a type of the protocol")]
fn workspace_edit(
    results: Results<'_>,
    open: &OpenDocuments,
    by_file: BTreeMap<&str, Vec<TextEdit>>,
) -> Option<WorkspaceEdit> {
    let by_uri =
        by_file.into_iter().map(|(name, edits)| Some((results.checked.files.get(name)?.uri.clone(), edits)));
    if !results.client.edits_versions {
        let changes: HashMap<Uri, Vec<TextEdit>> = by_uri.collect::<Option<_>>()?;
        return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
    }
    let documents = by_uri.map(|document| {
        let (uri, edits) = document?;
        let version = open.get(&uri).map(|document| document.version);
        let edits = edits.into_iter().map(OneOf::Left).collect();
        Some(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
            edits,
        })
    });
    let documents: Vec<_> = documents.collect::<Option<_>>()?;
    Some(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(documents)),
        ..WorkspaceEdit::default()
    })
}

#[cfg(test)]
mod tests {
    use super::page_address;

    #[test]
    fn an_empty_address_is_no_page() {
        assert_eq!(page_address(""), None);
        assert!(page_address("https://example.com/rules/some-rule").is_some());
    }
}
