//! A session: the messages of one editor, from `initialize` to `exit`.

mod requests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::{ErrorCode, Message, Notification, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Initialized, Notification as _,
};
use lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    PublishDiagnosticsParams, Uri, WorkspaceFolder,
};

use crate::client::Client;
use crate::diagnostics::{self, Results};
use crate::documents::OpenDocuments;
use crate::error::ProtocolError;
use crate::messages::{cancelled_request, log, publish, read, refresh_diagnostics};
use crate::progress::FolderProgress;
use crate::start::{SessionStart, watch_files};
use crate::uri::path_of;
use crate::workspace::{Checked, Workspace};

/// The state of a session.
#[derive(Debug)]
pub struct Session<W> {
    workspace: W,
    client: Client,
    /// The scheme of the addresses under which the editor shows the pages of rules as documents, if it does.
    rule_pages: Option<String>,
    open: OpenDocuments,
    checked: Vec<Arc<Checked>>,
    unchecked: Unchecked,
    /// The diagnostics that the editor shows because the server has sent them, by the URI of their file.
    published: BTreeMap<String, PublishDiagnosticsParams>,
    /// The diagnostics for which the editor asks, by the URI of their file.
    pulled: BTreeMap<String, PublishDiagnosticsParams>,
    /// The documents that have changed since the last check: the editor asks for their diagnostics by itself.
    touched: BTreeSet<String>,
    /// The number of requests to the editor.
    requests: u64,
    /// The number of texts that the editor has sent.
    revisions: u64,
    /// The messages that have come and are not handled yet.
    queue: VecDeque<Message>,
    /// The requests among them that the editor has cancelled, by number.
    cancelled: BTreeSet<String>,
    is_shut_down: bool,
    has_ended: bool,
}

/// What the last check has not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Unchecked {
    #[default]
    Nothing,
    /// Documents or files have changed.
    Changes,
    /// Documents have been opened, whose folders the check does not know. There may be changes too.
    NewDocuments,
}

/// Maximum number of times that messages come before the editor answers whether it shows progress.
const MAX_RECEIVED: usize = 20;

/// The editor at the other end of a session.
pub trait EditorConnection {
    /// Sends a message to the editor.
    fn send(&mut self, message: Message);

    /// Returns the messages that the editor has sent since the last call. Without any and with `waits`, waits a moment for one.
    fn receive(&mut self, waits: bool) -> Vec<Message>;
}

/// An editor whose messages all come before.
impl<F: FnMut(Message)> EditorConnection for F {
    fn send(&mut self, message: Message) {
        self(message);
    }

    fn receive(&mut self, _: bool) -> Vec<Message> {
        Vec::new()
    }
}

impl<W: Workspace> Session<W> {
    /// Starts a session.
    pub fn new(start: &SessionStart, workspace: W) -> Self {
        Self {
            workspace,
            client: start.client,
            rule_pages: start.rule_pages.clone(),
            open: OpenDocuments::default(),
            checked: Vec::new(),
            unchecked: Unchecked::Nothing,
            published: BTreeMap::new(),
            pulled: BTreeMap::new(),
            touched: BTreeSet::new(),
            requests: 0,
            revisions: 0,
            queue: VecDeque::new(),
            cancelled: BTreeSet::new(),
            is_shut_down: false,
            has_ended: false,
        }
    }

    /// Whether the editor has ended the session.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the editor has sent `shutdown`.
    pub fn is_shut_down(&self) -> bool {
        self.is_shut_down
    }

    /// The files around the open documents.
    pub fn workspace(&self) -> &W {
        &self.workspace
    }

    /// Changes files around the open documents, which are checked again with the next messages.
    pub fn change_workspace(&mut self, change: impl FnOnce(&mut W)) {
        change(&mut self.workspace);
        self.note_changes();
    }

    /// Handles messages that have come together, and checks the documents if any has changed. Returns the messages to send.
    pub fn handle(&mut self, messages: Vec<Message>) -> Vec<Message> {
        let mut sent = Vec::new();
        self.handle_with(messages, &mut |message: Message| sent.push(message));
        sent
    }

    /// Handles messages like [`Self::handle`], and the messages that come meanwhile. Sends each message as soon as it is known, so that progress
    /// is seen.
    pub fn handle_with(&mut self, messages: Vec<Message>, editor: &mut dyn EditorConnection) {
        self.enqueue(messages);
        loop {
            self.handle_queue(editor);
            if self.has_ended {
                return;
            }
            self.refresh(editor);
            // Messages may have come while the editor was asked about progress.
            if self.queue.is_empty() {
                return;
            }
        }
    }

    /// Handles the messages that have come, and those that come meanwhile.
    fn handle_queue(&mut self, editor: &mut dyn EditorConnection) {
        while !self.has_ended {
            self.enqueue(editor.receive(false));
            let Some(message) = self.queue.pop_front() else { break };
            match message {
                Message::Request(request) if self.cancelled.contains(&request.id.to_string()) => {
                    let message = "the editor cancelled the request".to_owned();
                    let error = Response::new_err(request.id, ErrorCode::RequestCanceled as i32, message);
                    editor.send(Message::Response(error));
                }
                Message::Request(request) => {
                    let answer = self.answer(request, editor);
                    editor.send(Message::Response(answer));
                }
                Message::Notification(notification) => {
                    self.take(notification).into_iter().for_each(|message| editor.send(message));
                }
                Message::Response(_) => {}
            }
        }
        self.cancelled.clear();
    }

    fn enqueue(&mut self, messages: Vec<Message>) {
        self.cancelled.extend(messages.iter().filter_map(cancelled_request));
        self.queue.extend(messages);
    }

    /// Asks the editor to show that a folder is read. `None` if the editor refuses, or does not answer soon.
    fn begin_progress(&mut self, folder: &str, editor: &mut dyn EditorConnection) -> Option<FolderProgress> {
        self.requests += 1;
        let progress = FolderProgress::new(self.requests);
        editor.send(progress.create());
        for _ in 0..MAX_RECEIVED {
            let received = editor.receive(true);
            let accepted = received.iter().find_map(|message| progress.is_accepted_by(message));
            let is_silent = received.is_empty();
            self.enqueue(received);
            if accepted == Some(true) {
                editor.send(progress.begin(folder));
                return Some(progress);
            }
            if accepted == Some(false) || is_silent {
                break;
            }
        }
        None
    }

    /// Checks the documents if anything has changed, and sends the diagnostics that the editor does not show yet.
    fn refresh(&mut self, editor: &mut dyn EditorConnection) {
        if std::mem::take(&mut self.unchecked) == Unchecked::Nothing {
            return;
        }
        let unread = self.workspace.unread(&self.open).filter(|_| self.client.shows_progress);
        let progress = unread.and_then(|folder| self.begin_progress(&folder, editor));
        self.checked = self.workspace.check(&self.open);
        if let Some(progress) = progress {
            editor.send(progress.end());
        }
        let mut pushed = self.config_diagnostics();
        for document in self.open.iter() {
            let fresh = || {
                PublishDiagnosticsParams::new(
                    document.uri.clone(),
                    self.found_in(&document.uri),
                    Some(document.version),
                )
            };
            pushed.entry(document.uri.as_str().to_owned()).or_insert_with(fresh);
        }
        // An editor that asks for the diagnostics of the open documents would show them twice.
        let is_asked = |_: &String, one: &mut PublishDiagnosticsParams| {
            self.client.pulls_diagnostics && self.open.get(&one.uri).is_some()
        };
        let pulled: BTreeMap<_, _> = pushed.extract_if(.., is_asked).collect();
        let others = pulled.iter().filter(|(uri, _)| !self.touched.contains(*uri));
        let is_new = |(uri, new): (&String, &PublishDiagnosticsParams)| {
            self.pulled.get(uri).is_some_and(|old| old.diagnostics != new.diagnostics)
        };
        if others.into_iter().any(is_new) {
            self.requests += 1;
            editor.send(refresh_diagnostics(self.requests));
        }
        self.touched.clear();
        self.pulled = pulled;
        let before = std::mem::take(&mut self.published);
        let gone = before.iter().filter(|(uri, _)| !pushed.contains_key(*uri));
        gone.map(|(_, old)| publish(PublishDiagnosticsParams::new(old.uri.clone(), Vec::new(), None)))
            .for_each(|message| editor.send(message));
        let changed = pushed.iter().filter(|(uri, new)| before.get(*uri) != Some(*new));
        changed.map(|(_, new)| publish(new.clone())).for_each(|message| editor.send(message));
        self.published = pushed;
    }

    /// The diagnostics of a document, without the errors of a config file.
    fn found_in(&self, uri: &Uri) -> Vec<Diagnostic> {
        self.results_of(uri).map_or_else(Vec::new, |results| results.diagnostics(uri))
    }

    /// The result of the check that names a file.
    fn results_of(&self, uri: &Uri) -> Option<Results<'_>> {
        let all = self.checked.iter().map(|checked| Results { checked, client: self.client });
        all.into_iter().find(|results| results.file(uri).is_some())
    }

    /// The errors of each config file.
    fn config_diagnostics(&self) -> BTreeMap<String, PublishDiagnosticsParams> {
        let mut all = BTreeMap::new();
        for problem in self.checked.iter().flat_map(|checked| &checked.config_problems) {
            let uri = &problem.file.uri;
            let version = self.open.get(uri).map(|document| document.version);
            let none = || PublishDiagnosticsParams::new(uri.clone(), Vec::new(), version);
            let diagnostic = diagnostics::of_config(problem, self.client.unit);
            let known = &mut all.entry(uri.as_str().to_owned()).or_insert_with(none).diagnostics;
            // Several folders may have the same config file.
            if !known.contains(&diagnostic) {
                known.push(diagnostic);
            }
        }
        all
    }

    fn take(&mut self, notification: Notification) -> Vec<Message> {
        let Notification { method, params } = notification;
        let problem = match method.as_str() {
            Exit::METHOD => {
                self.has_ended = true;
                None
            }
            Initialized::METHOD => {
                let watch = || watch_files(self.workspace.watched());
                return self.client.watches_files.then(watch).into_iter().collect();
            }
            DidOpenTextDocument::METHOD => read(&method, params).map(|params| self.open(params)).err(),
            DidChangeTextDocument::METHOD => {
                read(&method, params).and_then(|params| self.change(params)).err()
            }
            DidCloseTextDocument::METHOD => read(&method, params).map(|params| self.close(&params)).err(),
            DidSaveTextDocument::METHOD => read(&method, params).map(|params| self.save(&params)).err(),
            DidChangeWatchedFiles::METHOD => {
                read(&method, params).map(|params| self.change_files(&params)).err()
            }
            DidChangeWorkspaceFolders::METHOD => {
                read(&method, params).map(|params| self.change_folders(&params)).err()
            }
            // The editor may send notifications that a server need not know.
            _ => None,
        };
        problem.map(|error| log(&error.to_string())).into_iter().collect()
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.revisions += 1;
        // An editor that opens a document again may have dropped its diagnostics.
        self.published.remove(document.uri.as_str());
        self.touched.insert(document.uri.as_str().to_owned());
        self.open.open(document.uri, document.version, document.text, self.revisions);
        self.unchecked = Unchecked::NewDocuments;
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), ProtocolError> {
        let document = params.text_document;
        if params.content_changes.is_empty() {
            return Ok(());
        }
        self.revisions += 1;
        if !self.open.change(&document, params.content_changes, self.client.unit, self.revisions) {
            return Err(ProtocolError::NotOpen(document.uri.as_str().to_owned()));
        }
        self.touched.insert(document.uri.as_str().to_owned());
        self.note_changes();
        Ok(())
    }

    fn note_changes(&mut self) {
        self.unchecked = self.unchecked.max(Unchecked::Changes);
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        if self.open.close(&params.text_document.uri) {
            self.note_changes();
        }
    }

    fn save(&mut self, params: &DidSaveTextDocumentParams) {
        self.reload([&params.text_document.uri]);
    }

    fn change_files(&mut self, params: &DidChangeWatchedFilesParams) {
        self.reload(params.changes.iter().map(|change| &change.uri));
    }

    fn reload<'u>(&mut self, changed: impl IntoIterator<Item = &'u Uri>) {
        let paths: Vec<PathBuf> = changed.into_iter().filter_map(path_of).collect();
        self.workspace.reload(&paths);
        self.note_changes();
    }

    fn change_folders(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| path_of(&folder.uri)).collect()
        };
        self.workspace.change_folders(paths(&params.event.added), &paths(&params.event.removed));
        self.note_changes();
    }
}
