//! The server for assistants, as a client talks to it.

mod answers;
mod hostile;
mod library;
mod stateless;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::guard::Guard;

/// A client that has started the server.
struct Client {
    server: Child,
    _guard: Guard,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// The addresses of the roots; `None` for a client without roots.
    roots: Option<Vec<String>>,
    /// Number of times that the server has asked for the roots.
    asked: usize,
}

impl Client {
    /// Starts the server without a message.
    fn silent(arguments: &[&str], roots: Option<&[&Path]>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
        command.arg("mcp").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let uri = |path: &&Path| format!("file://{}", path.display());
        let roots = roots.map(|roots| roots.iter().map(uri).collect());
        Self { _guard: Guard::of(&server), server, input, output, requests: 0, roots, asked: 0 }
    }

    /// Starts the server, and a session with it.
    fn with(arguments: &[&str], roots: Option<&[&Path]>) -> Self {
        let mut client = Self::silent(arguments, roots);
        let capabilities =
            if client.roots.is_some() { json!({"roots": {"listChanged": true}}) } else { json!({}) };
        let client_info = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client_info});
        let started = client.ask("initialize", &params);
        assert_eq!(started["serverInfo"]["name"], "karpwarden", "{started}");
        assert_eq!(started["protocolVersion"], "2025-06-18");
        client.tell("notifications/initialized", &json!({}));
        client
    }

    /// Starts a session with a client without roots.
    fn start() -> Self {
        Self::with(&[], None)
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request. Returns its identifier.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The next message of the server.
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next response. The client answers requests for the roots.
    fn received(&mut self) -> Value {
        loop {
            let message = self.receive();
            match (message["method"].as_str(), message.get("id")) {
                (None, _) => return message,
                (Some("roots/list"), Some(_)) => {}
                // The server no longer waits for an answer.
                (Some("notifications/cancelled"), None) => continue,
                _ => panic!("{message}"),
            }
            self.asked += 1;
            let roots = self.roots.as_ref().unwrap().iter().map(|uri| json!({"uri": uri}));
            let result = json!({"roots": roots.collect::<Vec<_>>()});
            self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string());
        }
    }

    /// Sends a request and returns its result, or `{"error": …}`.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let message = self.received();
        assert_eq!(message["id"], id, "{message}");
        message.get("result").cloned().unwrap_or_else(|| json!({"error": message["error"]}))
    }

    /// Calls a tool. Returns the structured content.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert!(text.len() <= 24 << 10, "{}", text.len());
        result["structuredContent"].clone()
    }

    /// Calls a tool that refuses the arguments. Returns the message.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(result.get("structuredContent").is_none());
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Ends the session. Returns the exit status and standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let output = self.server.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

/// Follows the cursors of a list. Returns all its items.
fn all_items(client: &mut Client, tool: &str, first: &Value, at: &str) -> Vec<Value> {
    let mut items = first.pointer(at).unwrap().as_array().unwrap().clone();
    let mut last = first.clone();
    loop {
        let more = last["more"].as_array().unwrap().iter().find(|one| one["at"] == at).cloned();
        let Some(more) = more else { return items };
        last = client.call(tool, &json!({"cursor": more["cursor"]}));
        assert_eq!((&last["part"]["at"], &last["part"]["from"]), (&more["at"], &more["shown"]));
        items.extend(last["part"]["items"].as_array().unwrap().iter().cloned());
    }
}
