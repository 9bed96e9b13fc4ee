//! An editor that talks to the language server.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use language_server::{Message, Notification, Request, Response, from_path};
use serde_json::{Value, json};

use crate::guard::Guard;

/// An editor that has started the language server.
pub(crate) struct Editor {
    pub(crate) server: Child,
    _guard: Guard,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
    requests: i32,
    /// The diagnostics that the editor shows, by URI.
    pub(crate) shown: BTreeMap<String, Vec<Value>>,
    /// The methods of the server's requests, without the request to watch files.
    pub(crate) asked: Vec<String>,
    /// The patterns of files that the editor watches.
    pub(crate) watched: Vec<String>,
}

impl Editor {
    /// Starts the server without a message.
    pub(crate) fn silent() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
        command.args(["lsp", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Self {
            _guard: Guard::of(&server),
            server,
            input,
            output,
            requests: 0,
            shown: BTreeMap::new(),
            asked: Vec::new(),
            watched: Vec::new(),
        }
    }

    /// Starts the server with the folders of an editor with every ability.
    pub(crate) fn with_folders(folders: &[&Path]) -> Self {
        let capabilities = json!({
            "workspace": {
                "workspaceEdit": {"documentChanges": true},
                "didChangeWatchedFiles": {"dynamicRegistration": true},
            },
            "textDocument": {"publishDiagnostics": {"relatedInformation": true, "codeDescriptionSupport": true}},
        });
        Self::with(&capabilities, folders)
    }

    /// Starts the server with the abilities and the folders of an editor.
    pub(crate) fn with(capabilities: &Value, folders: &[&Path]) -> Self {
        let mut editor = Self::silent();
        let folders: Vec<Value> = folders.iter().map(|path| json!({"uri": uri(path), "name": "a"})).collect();
        editor.ask("initialize", &json!({"capabilities": capabilities, "workspaceFolders": folders}));
        editor.tell("initialized", json!({}));
        editor
    }

    pub(crate) fn send(&mut self, message: &Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&Message::Notification(Notification { method: method.to_owned(), params }));
    }

    /// Sends a request and returns the result, or the error. Takes the diagnostics that come before it.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let request = Request { id: self.requests.into(), method: method.to_owned(), params: params.clone() };
        self.send(&Message::Request(request));
        loop {
            match Message::read(&mut self.output).unwrap().unwrap() {
                Message::Response(response) => {
                    assert_eq!(response.id, self.requests.into());
                    return response.response_result.unwrap_or_else(|error| json!({"error": error}));
                }
                Message::Notification(Notification { method, .. }) if method == "$/progress" => {}
                Message::Notification(Notification { method, params }) => {
                    assert_eq!(method, "textDocument/publishDiagnostics");
                    let diagnostics = params["diagnostics"].as_array().unwrap().clone();
                    self.shown.insert(params["uri"].as_str().unwrap().to_owned(), diagnostics);
                }
                Message::Request(request) if request.method != "client/registerCapability" => {
                    self.asked.push(request.method.clone());
                    self.send(&Message::Response(Response::new_ok(request.id, Value::Null)));
                }
                Message::Request(request) => {
                    let registration = &request.params["registrations"][0];
                    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
                    let watchers = registration["registerOptions"]["watchers"].as_array().unwrap().iter();
                    let pattern = |watcher: &Value| watcher["globPattern"].as_str().unwrap().to_owned();
                    self.watched = watchers.map(pattern).collect();
                    self.send(&Message::Response(Response::new_ok(request.id, Value::Null)));
                }
            }
        }
    }

    pub(crate) fn open(&mut self, path: &Path, text: &str) {
        let document = json!({"uri": uri(path), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(crate) fn change(&mut self, path: &Path, text: &str) {
        let document = json!({"uri": uri(path), "version": 2});
        let change = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", change);
    }

    /// Asks about a place of a document.
    pub(crate) fn ask_at(&mut self, method: &str, path: &Path, (line, character): (usize, usize)) -> Value {
        let at = json!({"line": line, "character": character});
        let mut params = json!({"textDocument": {"uri": uri(path)}, "position": at});
        if method == "textDocument/references" {
            params["context"] = json!({"includeDeclaration": true});
        }
        self.ask(method, &params)
    }

    /// The code actions of some kinds in a range of a document.
    pub(crate) fn actions(&mut self, path: &Path, range: &Value, only: &[&str]) -> Value {
        let context = json!({"diagnostics": [], "only": only});
        let params = json!({"textDocument": {"uri": uri(path)}, "range": range, "context": context});
        self.ask("textDocument/codeAction", &params)
    }

    /// Says that files have changed on disk.
    pub(crate) fn changed(&mut self, paths: &[&Path]) {
        let changes: Vec<Value> = paths.iter().map(|path| json!({"uri": uri(path), "type": 2})).collect();
        self.tell("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    }

    /// The diagnostics that the editor shows for a file. The server must have sent some, or an empty list.
    pub(crate) fn diagnostics(&mut self, path: &Path) -> Vec<String> {
        let uri = uri(path);
        self.diagnostics_of(&uri)
    }

    pub(crate) fn diagnostics_of(&mut self, uri: &str) -> Vec<String> {
        // The server checks before it answers.
        self.ask(
            "textDocument/hover",
            &json!({"textDocument": {"uri": "x:"}, "position": {"line": 0, "character": 0}}),
        );
        let shown = self.shown.get(uri).unwrap_or_else(|| panic!("no diagnostics of {uri}")).iter();
        let line = |diagnostic: &Value| {
            let start = &diagnostic["range"]["start"];
            let rule = diagnostic["code"].as_str().or(diagnostic["message"].as_str()).unwrap();
            format!("{}:{} {rule} {}", start["line"], start["character"], diagnostic["severity"])
        };
        shown.map(line).collect()
    }

    /// Ends the session as the protocol demands. Returns the exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", &Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        self.server.wait().unwrap().code()
    }
}

/// The address of a path.
pub(crate) fn uri(path: &Path) -> String {
    from_path(path).unwrap().as_str().to_owned()
}
