//! The messages of an editor: messages of the protocol for the session, and files that the extension sends.

use std::collections::BTreeMap;
use std::rc::Rc;

use karpwarden::answers::VERSION;
use karpwarden::answers::page::SourceFile;
use language_server::{
    ErrorCode, Message, Notification, Request, RequestId, Response, Session, SessionStart,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::folders::SentFolders;
use crate::host::EditorHost;

/// The server, before and after `initialize`.
pub(crate) struct EditorServer {
    session: Option<Session<SentFolders>>,
    pages: Rc<BTreeMap<String, String>>,
    host: Rc<dyn EditorHost>,
}

/// Parameters of `karpwarden/files`: texts of a folder that are new or have changed, and files that are gone.
#[derive(Deserialize)]
struct FilesOfFolder {
    folder: String,
    files: Vec<SourceFile>,
    removed: Vec<String>,
}

/// Parameters of `karpwarden/removed`, for a folder that is closed, and of `karpwarden/report`, for a folder to check.
#[derive(Deserialize)]
struct FolderAddress {
    folder: String,
}

impl EditorServer {
    pub(crate) fn new(pages: BTreeMap<String, String>, host: Box<dyn EditorHost>) -> Self {
        Self { session: None, pages: Rc::new(pages), host: host.into() }
    }

    pub(crate) fn handle(&mut self, messages: &str) -> serde_json::Result<()> {
        let mut received = Vec::new();
        let mut reports = Vec::new();
        for message in serde_json::from_str::<Vec<Message>>(messages)? {
            match message {
                Message::Request(request) if self.session.is_none() => self.start(request),
                Message::Request(request) if request.method == "karpwarden/report" => {
                    let FolderAddress { folder } = serde_json::from_value(request.params)?;
                    reports.push((request.id, folder));
                }
                Message::Notification(Notification { method, params }) if method == "karpwarden/files" => {
                    let sent: FilesOfFolder = serde_json::from_value(params)?;
                    self.change(|folders| folders.update(&sent.folder, sent.files, &sent.removed));
                }
                Message::Notification(Notification { method, params }) if method == "karpwarden/removed" => {
                    let FolderAddress { folder } = serde_json::from_value(params)?;
                    self.change(|folders| folders.remove(&folder));
                }
                other => received.push(other),
            }
        }
        let Some(session) = &mut self.session else { return Ok(()) };
        session.handle_with(received, &mut |message| send(self.host.as_ref(), &message));
        for (id, folder) in reports {
            let report = session.workspace().report(&folder);
            // The report is text already, and may be long.
            let report = report.map_or_else(|| Value::Null.to_string(), |report| report.to_json());
            self.host.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{report}}}"#, json!(id)));
        }
        Ok(())
    }

    /// Answers a request before the session: `initialize`.
    fn start(&mut self, Request { id, method, mut params }: Request) {
        if method != "initialize" {
            return self.refuse(id, ErrorCode::ServerNotInitialized, "the first request is `initialize`");
        }
        // The extension watches the files and sends them.
        if let Some(workspace) = params.pointer_mut("/capabilities/workspace").and_then(Value::as_object_mut)
        {
            workspace.remove("didChangeWatchedFiles");
        }
        match SessionStart::read(params) {
            Ok(start) => {
                let accepted = Response::new_ok(id, start.result(VERSION));
                send(self.host.as_ref(), &Message::Response(accepted));
                let folders = SentFolders::new(Rc::clone(&self.pages), Rc::clone(&self.host));
                self.session = Some(Session::new(&start, folders));
            }
            Err(error) => self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
        }
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        let refused = Response::new_err(id, code as i32, message.to_owned());
        send(self.host.as_ref(), &Message::Response(refused));
    }

    fn change(&mut self, change: impl FnOnce(&mut SentFolders)) {
        if let Some(session) = &mut self.session {
            session.change_workspace(change);
        }
    }
}

/// Sends a message with the version of JSON-RPC, which `lsp_server` adds only where it writes headers.
fn send(host: &dyn EditorHost, message: &Message) {
    let Ok(Value::Object(mut members)) = serde_json::to_value(message) else { return };
    members.insert("jsonrpc".to_owned(), "2.0".into());
    host.send(&Value::Object(members).to_string());
}
