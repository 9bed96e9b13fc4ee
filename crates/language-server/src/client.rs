//! The abilities of the editor.

use lsp_types::ClientCapabilities;

/// Abilities of the editor that the session depends on.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "abilities do not depend on each other")]
pub(crate) struct Client {
    /// Shows places that belong to a diagnostic.
    pub(crate) shows_related: bool,
    /// Opens the page of a rule from its diagnostics.
    pub(crate) opens_pages: bool,
    /// Applies edits of several documents, with their versions.
    pub(crate) edits_versions: bool,
    /// Watches files on request.
    pub(crate) watches_files: bool,
}

impl Client {
    pub(crate) fn of(capabilities: &ClientCapabilities) -> Self {
        let text = capabilities.text_document.as_ref();
        let diagnostics = text.and_then(|text| text.publish_diagnostics.as_ref());
        let workspace = capabilities.workspace.as_ref();
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let watch = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        Self {
            shows_related: diagnostics.and_then(|it| it.related_information) == Some(true),
            opens_pages: diagnostics.and_then(|it| it.code_description_support) == Some(true),
            edits_versions: edits.and_then(|it| it.document_changes) == Some(true),
            watches_files: watch.and_then(|it| it.dynamic_registration) == Some(true),
        }
    }
}
