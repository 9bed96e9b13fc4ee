//! Progress of work that the server begins: the first reading of a folder.

use lsp_server::{Message, Request, RequestId};
use lsp_types::notification::Progress;
use lsp_types::request::{Request as _, WorkDoneProgressCreate};
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};

use crate::messages::notify;

/// Progress of the first reading of a folder.
#[derive(Debug)]
pub(crate) struct FolderProgress {
    /// The number of the request that creates the token, and the token.
    id: String,
}

impl FolderProgress {
    /// Progress with the number of its request.
    pub(crate) fn new(number: u64) -> Self {
        Self { id: format!("progress-{number}") }
    }

    fn token(&self) -> NumberOrString {
        NumberOrString::String(self.id.clone())
    }

    /// The request to the editor to accept the token.
    pub(crate) fn create(&self) -> Message {
        let params = WorkDoneProgressCreateParams { token: self.token() };
        let method = WorkDoneProgressCreate::METHOD.to_owned();
        Message::Request(Request::new(self.id.clone().into(), method, params))
    }

    /// Whether the editor accepts the token; `None` if a message is not its answer. A server must not use a token after an error.
    pub(crate) fn is_accepted_by(&self, message: &Message) -> Option<bool> {
        match message {
            Message::Response(response) if response.id == RequestId::from(self.id.clone()) => {
                Some(response.response_result.is_ok())
            }
            _ => None,
        }
    }

    /// The message that shows the start of reading a folder.
    pub(crate) fn begin(&self, folder: &str) -> Message {
        self.report(WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title: "Karpwarden reads the folder".to_owned(),
            message: Some(folder.to_owned()),
            ..WorkDoneProgressBegin::default()
        }))
    }

    /// The message that shows its end.
    pub(crate) fn end(&self) -> Message {
        self.report(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }))
    }

    fn report(&self, progress: WorkDoneProgress) -> Message {
        let value = ProgressParamsValue::WorkDone(progress);
        notify::<Progress>(ProgressParams { token: self.token(), value })
    }
}
