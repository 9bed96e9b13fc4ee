//! Editor front end without the command line: the language server over files that the extension for VS Code sends.
//!
//! The module also has the functions of the page's modules `karpwarden-playground` and `karpwarden-playground-placement`, which the views
//! beside a file call, so that the extension carries the engine once.

// Their functions are part of the module.
use {engine as _, placement as _};

mod folder;
mod folders;
mod host;
mod server;

use std::collections::BTreeMap;

use karpwarden::values::timestamp::Timestamp;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::host::EditorHost;
use crate::server::EditorServer;

#[wasm_bindgen]
extern "C" {
    /// The worker around the module.
    pub type WorkerHost;

    /// Sends a message to the editor.
    #[wasm_bindgen(method)]
    fn send(this: &WorkerHost, message: &str);

    /// The positions of the names that patterns in the syntax of ignore files match.
    #[wasm_bindgen(method)]
    fn matching(this: &WorkerHost, patterns: Vec<String>, names: Vec<String>) -> Vec<u32>;

    /// The seconds since 1970.
    #[wasm_bindgen(method)]
    fn now(this: &WorkerHost) -> f64;
}

impl EditorHost for WorkerHost {
    fn send(&self, message: &str) {
        Self::send(self, message);
    }

    fn matching(&self, patterns: &[String], names: &[String]) -> Vec<usize> {
        let found = Self::matching(self, patterns.to_vec(), names.to_vec());
        found.into_iter().filter_map(|position| usize::try_from(position).ok()).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "a number of seconds")]
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(Self::now(self) as i64)
    }
}

/// The language server.
#[wasm_bindgen(js_name = LanguageServer)]
#[expect(missing_debug_implementations, reason = "JavaScript holds it")]
pub struct LanguageServer(EditorServer);

#[wasm_bindgen(js_class = LanguageServer)]
impl LanguageServer {
    /// Starts a server. `pages` has the documentation of the rules as one JSON object from name to Markdown.
    #[wasm_bindgen(constructor)]
    pub fn new(pages: &str, host: WorkerHost) -> Result<Self, String> {
        let pages: BTreeMap<String, String> =
            serde_json::from_str(pages).map_err(|error| format!("the documentation: {error}"))?;
        Ok(Self(EditorServer::new(pages, Box::new(host))))
    }

    /// Handles messages of the editor that have come together: a JSON array of messages of the Language Server Protocol, and of the
    /// extension's own: `karpwarden/files`, `karpwarden/removed` and `karpwarden/report`.
    pub fn handle(&mut self, messages: &str) -> Result<(), String> {
        self.0.handle(messages).map_err(|error| error.to_string())
    }
}
