//! Reading and writing messages.

use lsp_server::{Message, Notification, Request, RequestId};
use lsp_types::notification::{Cancel, LogMessage, Notification as _, PublishDiagnostics};
use lsp_types::request::{Request as _, ShowDocument, WorkspaceDiagnosticRefresh};
use lsp_types::{LogMessageParams, MessageType, PublishDiagnosticsParams, ShowDocumentParams, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::ProtocolError;
use crate::uri::encode_uris;

/// The number of a request that a message cancels, as text.
pub(crate) fn cancelled_request(message: &Message) -> Option<String> {
    let Message::Notification(Notification { method, params }) = message else { return None };
    let id = params.get("id").filter(|_| method == Cancel::METHOD)?;
    Some(serde_json::from_value::<RequestId>(id.clone()).ok()?.to_string())
}

/// Reads parameters.
pub(crate) fn read<T: DeserializeOwned>(method: &str, mut params: Value) -> Result<T, ProtocolError> {
    encode_uris(&mut params);
    serde_json::from_value(params)
        .map_err(|source| ProtocolError::InvalidParameters { method: method.to_owned(), source })
}

pub(crate) fn publish(params: PublishDiagnosticsParams) -> Message {
    notify::<PublishDiagnostics>(params)
}

/// The request to the editor to ask again for the diagnostics of its documents.
pub(crate) fn refresh_diagnostics(number: u64) -> Message {
    let id = format!("diagnostics-{number}");
    Message::Request(Request::new(id.into(), WorkspaceDiagnosticRefresh::METHOD.to_owned(), ()))
}

/// The request to the editor to show a page in a browser.
pub(crate) fn show_page(uri: Uri, number: u64) -> Message {
    let params = ShowDocumentParams { uri, external: Some(true), take_focus: None, selection: None };
    Message::Request(Request::new(format!("page-{number}").into(), ShowDocument::METHOD.to_owned(), params))
}

pub(crate) fn log(message: &str) -> Message {
    notify::<LogMessage>(LogMessageParams { typ: MessageType::WARNING, message: message.to_owned() })
}

pub(crate) fn notify<N: lsp_types::notification::Notification>(params: N::Params) -> Message
where
    N::Params: Serialize,
{
    Message::Notification(Notification::new(N::METHOD.to_owned(), params))
}

/// A value of the protocol as JSON. Its types have no map whose keys are not strings, so this does not fail.
pub(crate) fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
