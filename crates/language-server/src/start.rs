//! The start of a session: what the editor has and can do, what the server can do, and the files to watch.

use std::path::PathBuf;

use lsp_server::{Message, Request};
use lsp_types::notification::{DidChangeWatchedFiles, Notification as _};
use lsp_types::request::{Initialize, RegisterCapability, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, CompletionOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, DidChangeWatchedFilesRegistrationOptions,
    DocumentLinkOptions, ExecuteCommandOptions, FileSystemWatcher, FoldingRangeProviderCapability,
    GlobPattern, HoverProviderCapability, InitializeParams, InitializeResult, OneOf, Registration,
    RegistrationParams, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WatchKind,
    WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::Value;

use crate::actions::{FIX_ALL, OPEN_PAGE};
use crate::client::Client;
use crate::error::ProtocolError;
use crate::messages::{json, read};
use crate::uri::path_of;

/// The start of a session: the folders and the abilities of the editor.
#[derive(Debug)]
pub struct SessionStart {
    /// The folders of the editor.
    pub folders: Vec<PathBuf>,
    pub(crate) client: Client,
    /// The scheme of the addresses under which the editor shows the pages of rules as documents, if it does.
    pub(crate) rule_pages: Option<String>,
}

impl SessionStart {
    /// Reads the parameters of `initialize`.
    pub fn read(params: Value) -> Result<Self, ProtocolError> {
        // `lsp-types` spells this ability differently from the protocol.
        let refreshes = params.pointer("/capabilities/workspace/diagnostics/refreshSupport");
        let refreshes = refreshes.and_then(Value::as_bool).unwrap_or(false);
        let params: InitializeParams = read(Initialize::METHOD, params)?;
        let folders = params.workspace_folders.iter().flatten().filter_map(|folder| path_of(&folder.uri));
        let mut folders: Vec<PathBuf> = folders.collect();
        #[expect(deprecated, reason = "editors without several folders send only this one")]
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        let options = params.initialization_options.as_ref();
        let rule_pages = options.and_then(|options| options.get("rulePages")?.as_str()).map(str::to_owned);
        Ok(Self { folders, client: Client::of(&params, refreshes), rule_pages })
    }

    /// The result of `initialize`.
    pub fn result(&self, version: &str) -> Value {
        let save = SaveOptions { include_text: Some(false) };
        let folders = WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(OneOf::Left(true)),
        };
        let pulled = DiagnosticOptions {
            identifier: Some("karpwarden".to_owned()),
            inter_file_dependencies: true,
            ..DiagnosticOptions::default()
        };
        let completion = CompletionOptions {
            // After a dash, a colon, a bracket, a comma, a quote, or the slash of a label.
            trigger_characters: Some([" ", "[", ",", "\"", "/", "@"].map(str::to_owned).into()),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        };
        let capabilities = ServerCapabilities {
            position_encoding: Some(self.client.unit.kind()),
            completion_provider: Some(completion),
            diagnostic_provider: self
                .client
                .pulls_diagnostics
                .then_some(DiagnosticServerCapabilities::Options(pulled)),
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(save)),
                ..TextDocumentSyncOptions::default()
            })),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            definition_provider: Some(OneOf::Left(true)),
            document_link_provider: Some(DocumentLinkOptions {
                resolve_provider: Some(false),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            }),
            document_symbol_provider: Some(OneOf::Left(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![OPEN_PAGE.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
            inlay_hint_provider: self.client.wants_hints.then_some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            workspace_symbol_provider: Some(OneOf::Left(true)),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL]),
                ..CodeActionOptions::default()
            })),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(folders),
                ..WorkspaceServerCapabilities::default()
            }),
            ..ServerCapabilities::default()
        };
        let server = ServerInfo { name: "karpwarden".to_owned(), version: Some(version.to_owned()) };
        json(InitializeResult { capabilities, server_info: Some(server) })
    }
}

/// The request to the editor to say when a file on disk changes that matches a pattern, and when anything is deleted, which may be a
/// folder.
pub(crate) fn watch_files(patterns: Vec<String>) -> Message {
    let watcher = |(pattern, kind)| FileSystemWatcher { glob_pattern: GlobPattern::String(pattern), kind };
    let changed = patterns.into_iter().map(|pattern| (pattern, None));
    let deleted = ("**".to_owned(), Some(WatchKind::Delete));
    let watchers = changed.chain([deleted]).map(watcher).collect();
    let options = DidChangeWatchedFilesRegistrationOptions { watchers };
    let registration = Registration {
        id: "files".to_owned(),
        method: DidChangeWatchedFiles::METHOD.to_owned(),
        register_options: Some(json(options)),
    };
    let params = RegistrationParams { registrations: vec![registration] };
    Message::Request(Request::new("files".to_owned().into(), RegisterCapability::METHOD.to_owned(), params))
}
