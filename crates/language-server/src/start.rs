//! The start of a session: what the editor has and can do, what the server can do, and the files to watch.

use std::path::PathBuf;

use lsp_server::{Message, Request};
use lsp_types::notification::{DidChangeWatchedFiles, Notification as _};
use lsp_types::request::{Initialize, RegisterCapability, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, HoverProviderCapability,
    InitializeParams, InitializeResult, OneOf, Registration, RegistrationParams, SaveOptions,
    ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WatchKind, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use serde_json::Value;

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
}

impl SessionStart {
    /// Reads the parameters of `initialize`.
    pub fn read(params: Value) -> Result<Self, ProtocolError> {
        let params: InitializeParams = read(Initialize::METHOD, params)?;
        let folders = params.workspace_folders.iter().flatten().filter_map(|folder| path_of(&folder.uri));
        let mut folders: Vec<PathBuf> = folders.collect();
        #[expect(deprecated, reason = "editors without several folders send only this one")]
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        Ok(Self { folders, client: Client::of(&params.capabilities) })
    }

    /// The result of `initialize`.
    pub fn result(version: &str) -> Value {
        let save = SaveOptions { include_text: Some(false) };
        let folders = WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(OneOf::Left(true)),
        };
        let capabilities = ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::FULL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(save)),
                ..TextDocumentSyncOptions::default()
            })),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
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
