//! The abilities of the editor.

use lsp_types::{ClientCapabilities, InitializeParams};

use crate::lines::PositionUnit;

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
    /// Asks for the diagnostics of a document, and asks again when the server says so.
    pub(crate) pulls_diagnostics: bool,
    /// Shows the progress of work that the server begins.
    pub(crate) shows_progress: bool,
    /// Shows a page in a browser on request.
    pub(crate) shows_documents: bool,
    /// Shows inlay hints, which the user has turned on for this server.
    pub(crate) wants_hints: bool,
    /// The unit of positions.
    pub(crate) unit: PositionUnit,
}

impl Client {
    /// Reads the abilities. `refreshes` is whether the editor asks for diagnostics again when the server says so.
    pub(crate) fn of(params: &InitializeParams, refreshes: bool) -> Self {
        let options = params.initialization_options.as_ref();
        let wants_hints = options.and_then(|options| options.get("inlayHints")?.as_bool()).unwrap_or(false);
        let able = Self::able(&params.capabilities);
        Self { wants_hints, pulls_diagnostics: able.pulls_diagnostics && refreshes, ..able }
    }

    fn able(capabilities: &ClientCapabilities) -> Self {
        let text = capabilities.text_document.as_ref();
        let diagnostics = text.and_then(|text| text.publish_diagnostics.as_ref());
        let workspace = capabilities.workspace.as_ref();
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let watch = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = capabilities.window.as_ref();
        let documents = window.and_then(|window| window.show_document.as_ref());
        let general = capabilities.general.as_ref();
        Self {
            shows_related: diagnostics.and_then(|it| it.related_information) == Some(true),
            opens_pages: diagnostics.and_then(|it| it.code_description_support) == Some(true),
            edits_versions: edits.and_then(|it| it.document_changes) == Some(true),
            watches_files: watch.and_then(|it| it.dynamic_registration) == Some(true),
            pulls_diagnostics: text.is_some_and(|text| text.diagnostic.is_some()),
            shows_progress: window.and_then(|it| it.work_done_progress) == Some(true),
            shows_documents: documents.is_some_and(|it| it.support),
            wants_hints: false,
            unit: PositionUnit::chosen(general.and_then(|it| it.position_encodings.as_ref())),
        }
    }
}
