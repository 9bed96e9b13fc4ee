//! A session: the messages of one editor, from `initialize` to `exit`.

use std::path::PathBuf;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Initialized, LogMessage, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{CodeActionRequest, HoverRequest, RegisterCapability, Request as _, Shutdown};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, Diagnostic,
    DidChangeTextDocumentParams, DidChangeWatchedFilesRegistrationOptions, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, FileSystemWatcher, GlobPattern, HoverParams,
    HoverProviderCapability, InitializeParams, InitializeResult, LogMessageParams, MessageType, OneOf,
    PublishDiagnosticsParams, Registration, RegistrationParams, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
    Uri, WorkspaceFolder, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;
use crate::diagnostics::{self, View};
use crate::documents::OpenDocuments;
use crate::uri::path_of;
use crate::workspace::{Checked, Workspace};
use crate::{actions, hover};

/// Files that a check reads.
const WATCHED: &str = "**/*.{yaml,yml,json,jsonl}";

/// The start of a session: the folders and the abilities of the editor.
#[derive(Debug)]
pub struct Start {
    /// The folders of the editor.
    pub folders: Vec<PathBuf>,
    client: Client,
}

/// The state of a session.
#[derive(Debug)]
pub struct Session<W> {
    workspace: W,
    client: Client,
    open: OpenDocuments,
    checked: Vec<Checked>,
    /// Whether documents or files have changed since the last check.
    is_stale: bool,
    /// The files that show diagnostics.
    published: Vec<Uri>,
    /// The number of texts that the editor has sent.
    revisions: u64,
    is_shut_down: bool,
    has_ended: bool,
}

impl Start {
    /// Reads the parameters of `initialize`. The error is a message for the editor.
    pub fn read(params: Value) -> Result<Self, String> {
        let params: InitializeParams = serde_json::from_value(params)
            .map_err(|error| format!("the parameters of `initialize` are not valid: {error}"))?;
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

impl<W: Workspace> Session<W> {
    /// Starts a session.
    pub fn new(start: &Start, workspace: W) -> Self {
        Self {
            workspace,
            client: start.client,
            open: OpenDocuments::default(),
            checked: Vec::new(),
            is_stale: false,
            published: Vec::new(),
            revisions: 0,
            is_shut_down: false,
            has_ended: false,
        }
    }

    /// Whether the editor has ended the session.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the editor has asked for the end before it came, as the protocol demands.
    pub fn is_shut_down(&self) -> bool {
        self.is_shut_down
    }

    /// Handles a message. Returns the messages to send.
    pub fn handle(&mut self, message: Message) -> Vec<Message> {
        match message {
            Message::Request(request) => {
                let mut sent = self.refresh();
                sent.push(Message::Response(self.answer(request)));
                sent
            }
            Message::Notification(notification) => self.take(notification),
            Message::Response(_) => Vec::new(),
        }
    }

    /// Checks the documents if anything has changed. Returns the diagnostics to send.
    pub fn refresh(&mut self) -> Vec<Message> {
        if !std::mem::take(&mut self.is_stale) {
            return Vec::new();
        }
        self.checked = self.workspace.check(&self.open);
        let mut current = self.config_diagnostics();
        for document in self.open.iter() {
            let uri = &document.uri;
            if !current.iter().any(|(known, _)| known == uri) {
                let found = self.view_of(uri).map_or_else(Vec::new, |view| view.diagnostics(uri));
                current.push((uri.clone(), found));
            }
        }
        let published = current.iter().map(|(uri, _)| uri.clone()).collect();
        let before = std::mem::replace(&mut self.published, published);
        let gone =
            before.into_iter().filter(|uri| !self.published.contains(uri)).map(|uri| (uri, Vec::new()));
        let all = current.into_iter().chain(gone);
        all.map(|(uri, found)| publish(&uri, found, self.open.get(&uri).map(|document| document.version)))
            .collect()
    }

    /// The result of the check that read a file.
    fn view_of(&self, uri: &Uri) -> Option<View<'_>> {
        let views = self.checked.iter().map(|checked| self.view(checked));
        views.into_iter().find(|view| view.file(uri).is_some())
    }

    fn view<'s>(&'s self, checked: &'s Checked) -> View<'s> {
        View { checked, client: self.client }
    }

    /// The errors of each config file.
    fn config_diagnostics(&self) -> Vec<(Uri, Vec<Diagnostic>)> {
        let mut all: Vec<(Uri, Vec<Diagnostic>)> = Vec::new();
        for problem in self.checked.iter().flat_map(|checked| &checked.config_problems) {
            let diagnostic = diagnostics::of_config(problem);
            match all.iter_mut().find(|(uri, _)| *uri == problem.file.uri) {
                // Several folders may have the same config file.
                Some((_, known)) if known.contains(&diagnostic) => {}
                Some((_, known)) => known.push(diagnostic),
                None => all.push((problem.file.uri.clone(), vec![diagnostic])),
            }
        }
        all
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        if self.is_shut_down {
            let message = "the session is shut down; only `exit` may follow".to_owned();
            return Response::new_err(id, ErrorCode::InvalidRequest as i32, message);
        }
        let result = match method.as_str() {
            Shutdown::METHOD => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            CodeActionRequest::METHOD => read(&method, params).map(|params| json(self.code_actions(&params))),
            HoverRequest::METHOD => read(&method, params).map(|params| json(self.hover(&params))),
            _ => {
                let message = format!("the request `{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(id, result),
            Err(message) => Response::new_err(id, ErrorCode::InvalidParams as i32, message),
        }
    }

    fn code_actions(&self, params: &CodeActionParams) -> Vec<lsp_types::CodeActionOrCommand> {
        let uri = &params.text_document.uri;
        let view = self.view_of(uri).filter(|_| self.open.get(uri).is_some());
        view.map_or_else(Vec::new, |view| {
            actions::in_range(view, &self.open, uri, params.range, &params.context)
        })
    }

    fn hover(&self, params: &HoverParams) -> Option<lsp_types::Hover> {
        let place = &params.text_document_position_params;
        let uri = &place.text_document.uri;
        hover::at(self.view_of(uri)?, uri, place.position, |rule| self.workspace.page(rule))
    }

    fn take(&mut self, notification: Notification) -> Vec<Message> {
        let Notification { method, params } = notification;
        let problem = match method.as_str() {
            Exit::METHOD => {
                self.has_ended = true;
                None
            }
            Initialized::METHOD => return self.watch_files().into_iter().collect(),
            DidOpenTextDocument::METHOD => read(&method, params).map(|params| self.open(params)).err(),
            DidChangeTextDocument::METHOD => {
                read(&method, params).and_then(|params| self.change(params)).err()
            }
            DidCloseTextDocument::METHOD => read(&method, params).map(|params| self.close(&params)).err(),
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.workspace.reload();
                self.is_stale = true;
                None
            }
            DidChangeWorkspaceFolders::METHOD => {
                read(&method, params).map(|params| self.change_folders(&params)).err()
            }
            // The editor may send notifications that a server need not know.
            _ => None,
        };
        problem.map(|message| log(&message)).into_iter().collect()
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.revisions += 1;
        self.open.open(document.uri, document.version, document.text, self.revisions);
        self.is_stale = true;
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), String> {
        let document = params.text_document;
        // The session asks for whole texts, so the last change is the text.
        let Some(change) = params.content_changes.into_iter().next_back() else { return Ok(()) };
        if change.range.is_some() {
            return Err(format!(
                "`{}` changed in a part, but the server asks for whole texts",
                document.uri.as_str()
            ));
        }
        self.revisions += 1;
        if !self.open.change(&document.uri, document.version, change.text, self.revisions) {
            return Err(format!("`{}` changed, but is not open", document.uri.as_str()));
        }
        self.is_stale = true;
        Ok(())
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        self.is_stale |= self.open.close(&params.text_document.uri);
    }

    fn change_folders(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| path_of(&folder.uri)).collect()
        };
        self.workspace.change_folders(paths(&params.event.added), &paths(&params.event.removed));
        self.is_stale = true;
    }

    /// Asks the editor to say when a file on disk changes.
    fn watch_files(&self) -> Option<Message> {
        let watcher = FileSystemWatcher { glob_pattern: GlobPattern::String(WATCHED.to_owned()), kind: None };
        let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
        let registration = Registration {
            id: "files".to_owned(),
            method: DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: Some(json(options)),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        let request =
            || Request::new("files".to_owned().into(), RegisterCapability::METHOD.to_owned(), params);
        self.client.watches_files.then(request).map(Message::Request)
    }
}

/// Reads parameters. The error is a message for the editor.
fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, String> {
    serde_json::from_value(params)
        .map_err(|error| format!("the parameters of `{method}` are not valid: {error}"))
}

fn publish(uri: &Uri, diagnostics: Vec<Diagnostic>, version: Option<i32>) -> Message {
    notify::<PublishDiagnostics>(PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version })
}

fn log(message: &str) -> Message {
    notify::<LogMessage>(LogMessageParams { typ: MessageType::WARNING, message: message.to_owned() })
}

fn notify<N: lsp_types::notification::Notification>(params: N::Params) -> Message
where
    N::Params: Serialize,
{
    Message::Notification(Notification::new(N::METHOD.to_owned(), params))
}

/// A value of the protocol as JSON. Its types have no map whose keys are not strings, so this does not fail.
fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
