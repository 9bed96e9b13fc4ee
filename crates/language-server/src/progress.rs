//! Progress of work that the server begins: the first reading of a folder.

use lsp_server::{Message, Request};
use lsp_types::notification::Progress;
use lsp_types::request::{Request as _, WorkDoneProgressCreate};
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};

use crate::messages::notify;

/// The token of the only progress at a time.
const TOKEN: &str = "read";

fn token() -> NumberOrString {
    NumberOrString::String(TOKEN.to_owned())
}

/// The messages that show the start of reading a folder.
pub(crate) fn begin(folder: &str) -> [Message; 2] {
    let create = WorkDoneProgressCreateParams { token: token() };
    let method = WorkDoneProgressCreate::METHOD.to_owned();
    let begin = WorkDoneProgressBegin {
        title: "Karpwarden reads the folder".to_owned(),
        message: Some(folder.to_owned()),
        ..WorkDoneProgressBegin::default()
    };
    [
        Message::Request(Request::new(TOKEN.to_owned().into(), method, create)),
        report(WorkDoneProgress::Begin(begin)),
    ]
}

/// The message that shows its end.
pub(crate) fn end() -> Message {
    report(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }))
}

fn report(progress: WorkDoneProgress) -> Message {
    notify::<Progress>(ProgressParams { token: token(), value: ProgressParamsValue::WorkDone(progress) })
}
