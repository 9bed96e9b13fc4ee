//! Fixes as code actions.

use std::collections::{BTreeMap, HashMap};

use answers::report::ReportedFix;
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use crate::diagnostics::Results;
use crate::documents::OpenDocuments;
use crate::lines::overlap;

/// The code actions for a range of a document: the fix of each finding there.
pub(crate) fn in_range(
    results: Results<'_>,
    open: &OpenDocuments,
    uri: &Uri,
    range: Range,
    context: &CodeActionContext,
) -> Vec<CodeActionOrCommand> {
    let asks_for_fixes = context.only.as_ref().is_none_or(|kinds| kinds.iter().any(includes_fixes));
    let Some((name, file)) = results.file(uri).filter(|_| asks_for_fixes) else {
        return Vec::new();
    };
    let there = results.findings(name, file).filter(|found| overlap(found.range, range));
    let actions = there.filter_map(|found| {
        let fix = found.finding.fix.as_ref()?;
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: title(fix, found.finding.rule),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![results.diagnostic(&found)]),
            edit: Some(edit(results, open, fix)?),
            is_preferred: Some(fix.safe),
            ..CodeAction::default()
        }))
    });
    actions.collect()
}

/// Whether a kind that the editor asks for is `quickfix` or a kind above it.
fn includes_fixes(kind: &CodeActionKind) -> bool {
    kind.as_str().is_empty() || *kind == CodeActionKind::QUICKFIX
}

fn title(fix: &ReportedFix, rule: &str) -> String {
    let kind = if fix.safe { "Fix" } else { "Unsafe fix" };
    format!("{kind}: {} ({rule})", fix.title)
}

/// The edits of a fix; `None` if a file of it is not known. The edits have the versions of their documents if the editor understands
/// them, so that it does not apply an edit to another text.
#[expect(clippy::mutable_key_type, reason = "a type of the protocol")]
fn edit(results: Results<'_>, open: &OpenDocuments, fix: &ReportedFix) -> Option<WorkspaceEdit> {
    let mut by_file: BTreeMap<&str, Vec<TextEdit>> = BTreeMap::new();
    for edit in &fix.edits {
        let range = results.checked.files.get(&edit.file)?.range(edit.offset, edit.end_offset);
        by_file.entry(&edit.file).or_default().push(TextEdit { range, new_text: edit.text.clone() });
    }
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
