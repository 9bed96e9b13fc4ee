//! A session: the messages of one editor, from `initialize` to `exit`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Initialized, Notification as _,
};
use lsp_types::request::{CodeActionRequest, HoverRequest, Request as _, Shutdown};
use lsp_types::{
    CodeActionParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, HoverParams, PublishDiagnosticsParams, Uri, WorkspaceFolder,
};
use serde_json::Value;

use crate::client::Client;
use crate::diagnostics::{self, Results};
use crate::documents::OpenDocuments;
use crate::error::ProtocolError;
use crate::messages::{cancelled_request, json, log, publish, read};
use crate::start::{SessionStart, watch_files};
use crate::uri::path_of;
use crate::workspace::{Checked, Workspace};
use crate::{actions, hover};

/// The state of a session.
#[derive(Debug)]
pub struct Session<W> {
    workspace: W,
    client: Client,
    open: OpenDocuments,
    checked: Vec<Arc<Checked>>,
    /// Whether documents or files have changed since the last check.
    is_stale: bool,
    /// The diagnostics that the editor shows, by the URI of their file.
    published: BTreeMap<String, PublishDiagnosticsParams>,
    /// The number of texts that the editor has sent.
    revisions: u64,
    is_shut_down: bool,
    has_ended: bool,
}

impl<W: Workspace> Session<W> {
    /// Starts a session.
    pub fn new(start: &SessionStart, workspace: W) -> Self {
        Self {
            workspace,
            client: start.client,
            open: OpenDocuments::default(),
            checked: Vec::new(),
            is_stale: false,
            published: BTreeMap::new(),
            revisions: 0,
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

    /// Handles messages that have come together, and checks the documents if any has changed. Returns the messages to send.
    pub fn handle(&mut self, messages: Vec<Message>) -> Vec<Message> {
        let cancelled: BTreeSet<String> = messages.iter().filter_map(cancelled_request).collect();
        let mut sent = Vec::new();
        for message in messages {
            match message {
                Message::Request(request) if cancelled.contains(&request.id.to_string()) => {
                    let message = "the editor cancelled the request".to_owned();
                    let error = Response::new_err(request.id, ErrorCode::RequestCanceled as i32, message);
                    sent.push(Message::Response(error));
                }
                Message::Request(request) => {
                    let answer = self.answer(request, &mut sent);
                    sent.push(Message::Response(answer));
                }
                Message::Notification(notification) => sent.extend(self.take(notification)),
                Message::Response(_) => {}
            }
        }
        if !self.has_ended {
            self.refresh(&mut sent);
        }
        sent
    }

    /// Checks the documents if anything has changed, and sends the diagnostics that the editor does not show yet.
    fn refresh(&mut self, sent: &mut Vec<Message>) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        self.checked = self.workspace.check(&self.open);
        let mut current = self.config_diagnostics();
        for document in self.open.iter() {
            let uri = &document.uri;
            let found = || self.results_of(uri).map_or_else(Vec::new, |results| results.diagnostics(uri));
            let fresh = || PublishDiagnosticsParams::new(uri.clone(), found(), Some(document.version));
            current.entry(uri.as_str().to_owned()).or_insert_with(fresh);
        }
        let before = std::mem::take(&mut self.published);
        let gone = before.iter().filter(|(uri, _)| !current.contains_key(*uri));
        sent.extend(
            gone.map(|(_, old)| publish(PublishDiagnosticsParams::new(old.uri.clone(), Vec::new(), None))),
        );
        let changed = current.iter().filter(|(uri, new)| before.get(*uri) != Some(*new));
        sent.extend(changed.map(|(_, new)| publish(new.clone())));
        self.published = current;
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
            let diagnostic = diagnostics::of_config(problem);
            let known = &mut all.entry(uri.as_str().to_owned()).or_insert_with(none).diagnostics;
            // Several folders may have the same config file.
            if !known.contains(&diagnostic) {
                known.push(diagnostic);
            }
        }
        all
    }

    /// Answers a request. A check for the answer sends its diagnostics first.
    fn answer(&mut self, request: Request, sent: &mut Vec<Message>) -> Response {
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
            CodeActionRequest::METHOD => read(&method, params).map(|params| {
                self.refresh(sent);
                json(self.code_actions(&params))
            }),
            HoverRequest::METHOD => read(&method, params).map(|params| {
                self.refresh(sent);
                json(self.hover(&params))
            }),
            _ => {
                let message = format!("the request `{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(id, result),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    fn code_actions(&self, params: &CodeActionParams) -> Vec<lsp_types::CodeActionOrCommand> {
        let uri = &params.text_document.uri;
        let results = self.results_of(uri).filter(|_| self.open.get(uri).is_some());
        results.map_or_else(Vec::new, |results| {
            actions::in_range(results, &self.open, uri, params.range, &params.context)
        })
    }

    fn hover(&self, params: &HoverParams) -> Option<lsp_types::Hover> {
        let place = &params.text_document_position_params;
        let document = self.open.get(&place.text_document.uri)?;
        let results = self.results_of(&document.uri);
        hover::at(results, document, place.position, |rule| self.workspace.page(rule))
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
        self.open.open(document.uri, document.version, document.text, self.revisions);
        self.is_stale = true;
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), ProtocolError> {
        let document = params.text_document;
        // The session asks for whole texts, so the last change is the text.
        let Some(change) = params.content_changes.into_iter().next_back() else { return Ok(()) };
        if change.range.is_some() {
            return Err(ProtocolError::PartialChange(document.uri.as_str().to_owned()));
        }
        self.revisions += 1;
        if !self.open.change(&document.uri, document.version, change.text, self.revisions) {
            return Err(ProtocolError::NotOpen(document.uri.as_str().to_owned()));
        }
        self.is_stale = true;
        Ok(())
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        self.is_stale |= self.open.close(&params.text_document.uri);
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
        self.is_stale = true;
    }

    fn change_folders(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| path_of(&folder.uri)).collect()
        };
        self.workspace.change_folders(paths(&params.event.added), &paths(&params.event.removed));
        self.is_stale = true;
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::notification::{Cancel, LogMessage, PublishDiagnostics};
    use manifest::source::Source;
    use rule::settings::Settings;
    use serde_json::json;

    use super::*;
    use crate::workspace::{CheckedFile, ConfigProblem};
    use answers::report::Report;

    /// A workspace that counts its checks. A document with the text `wrong` has an error, as a config file has one.
    #[derive(Default)]
    struct Counting {
        checks: usize,
    }

    impl Workspace for Counting {
        fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>> {
            self.checks += 1;
            let wrong = open.iter().filter(|document| document.text == "wrong").map(|document| {
                let source = Arc::new(Source::new("a", document.text.clone()));
                let file = CheckedFile::new(document.uri.clone(), source, Some(document));
                ConfigProblem { file, span: manifest::source::Span::new(0, 5), message: "wrong".to_owned() }
            });
            let report = Report::new(&Settings::default());
            vec![Arc::new(Checked { report, files: BTreeMap::new(), config_problems: wrong.collect() })]
        }

        fn reload(&mut self, _: &[PathBuf]) {}

        fn watched(&self) -> Vec<String> {
            Vec::new()
        }

        fn change_folders(&mut self, _: Vec<PathBuf>, _: &[PathBuf]) {}

        fn page(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn session() -> Session<Counting> {
        Session::new(&SessionStart::read(json!({"capabilities": {}})).unwrap(), Counting::default())
    }

    fn tell(method: &str, params: Value) -> Message {
        Message::Notification(Notification { method: method.to_owned(), params })
    }

    fn open(uri: &str, text: &str) -> Message {
        tell(
            DidOpenTextDocument::METHOD,
            json!({"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}}),
        )
    }

    fn change(uri: &str, version: i32, change: &Value) -> Message {
        let document = json!({"uri": uri, "version": version});
        tell(DidChangeTextDocument::METHOD, json!({"textDocument": document, "contentChanges": [change]}))
    }

    fn hover(id: i32) -> Message {
        let params = json!({"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}});
        Message::Request(Request { id: id.into(), method: HoverRequest::METHOD.to_owned(), params })
    }

    /// The URI and the number of diagnostics of each message about diagnostics.
    fn published(sent: &[Message]) -> Vec<(String, usize)> {
        let params = sent.iter().filter_map(|message| match message {
            Message::Notification(one) if one.method == PublishDiagnostics::METHOD => Some(&one.params),
            _ => None,
        });
        let parsed = params.map(|params| serde_json::from_value(params.clone()).unwrap());
        parsed
            .map(|one: PublishDiagnosticsParams| (one.uri.as_str().to_owned(), one.diagnostics.len()))
            .collect()
    }

    #[test]
    fn checks_once_for_messages_that_come_together() {
        let mut session = session();
        let texts = (2..20).map(|version| change("file:///a", version, &json!({"text": "b"})));
        session.handle([open("file:///a", "a")].into_iter().chain(texts).collect());
        assert_eq!(session.workspace.checks, 1);
        session.handle(vec![hover(1), hover(2)]);
        assert_eq!(session.workspace.checks, 1, "nothing has changed");
    }

    #[test]
    fn does_not_check_for_a_cancelled_request() {
        let mut session = session();
        let cancel = tell(Cancel::METHOD, json!({"id": 1}));
        session.handle(vec![open("file:///a", "a")]);
        let changed = |version| change("file:///a", version, &json!({"text": "b"}));
        let sent = session.handle(vec![changed(2), hover(1), changed(3), hover(2), cancel]);
        let errors = sent.iter().filter_map(|message| match message {
            Message::Response(response) => {
                Some(response.response_result.as_ref().err().map(|error| error.code))
            }
            _ => None,
        });
        let errors: Vec<_> = errors.collect();
        let cancelled = Some(ErrorCode::RequestCanceled as i32);
        assert_eq!((errors.as_slice(), session.workspace.checks), ([cancelled, None].as_slice(), 2));
    }

    #[test]
    fn sends_only_what_the_editor_does_not_show_yet() {
        let mut session = session();
        let (a, b) = ("file:///a".to_owned(), "file:///b".to_owned());
        let sent = session.handle(vec![open(&a, "right"), open(&b, "wrong")]);
        assert_eq!(published(&sent), [(a.clone(), 0), (b.clone(), 1)]);
        let sent = session.handle(vec![change(&a, 2, &json!({"text": "wrong"}))]);
        assert_eq!(published(&sent), [(a.clone(), 1)]);
        let close = || tell(DidCloseTextDocument::METHOD, json!({"textDocument": {"uri": a}}));
        assert_eq!(
            published(&session.handle(vec![close(), open(&a, "wrong")])),
            [(a.clone(), 1)],
            "opened again"
        );
        assert_eq!(published(&session.handle(vec![close()])), [(a.clone(), 0)]);
    }

    #[test]
    fn refuses_a_part_of_a_text() {
        let mut session = session();
        session.handle(vec![open("file:///a", "a")]);
        let start = json!({"line": 0, "character": 0});
        let part = json!({"range": {"start": start, "end": start}, "text": "b"});
        let sent = session
            .handle(vec![change("file:///a", 2, &part), change("file:///b", 2, &json!({"text": "b"}))]);
        let log = sent.iter().filter_map(|message| match message {
            Message::Notification(one) if one.method == LogMessage::METHOD => one.params["message"].as_str(),
            _ => None,
        });
        let log: Vec<_> = log.collect();
        let expected = [
            "`file:///a` changed in a part, but the server asks for whole texts",
            "`file:///b` changed, but is not open",
        ];
        assert_eq!((log.as_slice(), session.workspace.checks), (expected.as_slice(), 1));
    }
}
