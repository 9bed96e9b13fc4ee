//! Messages of a session, with a workspace that counts its checks.

use lsp_server::Request;
use lsp_types::notification::{Cancel, LogMessage, PublishDiagnostics};
use lsp_types::request::{Completion, DocumentDiagnosticRequest, HoverRequest, Request as _};
use manifest::source::Source;
use rule::registry::Registry;
use rule::settings::Settings;
use serde_json::{Value, json};
use values::timestamp::Timestamp;

use super::*;
use crate::documents::OpenDocument;
use crate::testing::REGISTRY;
use crate::workspace::{CheckedFile, ConfigProblem, FolderView};
use answers::report::Report;

/// A workspace that counts its checks. A document with the text `wrong` has an error, as a config file has one.
#[derive(Default)]
struct Counting {
    checks: usize,
}

impl Workspace for Counting {
    fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>> {
        self.checks += 1;
        let blamed = |uri: &str| open.iter().any(|other| other.text == format!("blames {uri}"));
        let is_wrong = |document: &&OpenDocument| document.text == "wrong" || blamed(document.uri.as_str());
        let wrong = open.iter().filter(is_wrong).map(|document| {
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

    fn registry(&self) -> &'static Registry {
        &REGISTRY
    }

    fn folder_of(&self, _: &OpenDocument) -> Option<&dyn FolderView> {
        None
    }

    fn folders(&self) -> Vec<&dyn FolderView> {
        Vec::new()
    }

    fn unread(&self, _: &OpenDocuments) -> Option<String> {
        (self.checks == 0).then(|| "/folder".to_owned())
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(0)
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
    parsed.map(|one: PublishDiagnosticsParams| (one.uri.as_str().to_owned(), one.diagnostics.len())).collect()
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
fn checks_a_new_document_before_it_completes_in_it() {
    let complete = |id: i32| {
        let params = json!({"textDocument": {"uri": "file:///b"}, "position": {"line": 0, "character": 1}});
        Message::Request(Request { id: id.into(), method: Completion::METHOD.to_owned(), params })
    };
    let is_answer = |message: &Message| matches!(message, Message::Response(_));
    let mut session = session();
    session.handle(vec![open("file:///a", "a")]);
    let sent = session.handle(vec![open("file:///b", "wrong"), complete(1)]);
    assert_eq!(sent.iter().position(is_answer), Some(1), "the diagnostics come first: {sent:?}");
    let sent = session.handle(vec![change("file:///b", 2, &json!({"text": "b"})), complete(2)]);
    assert_eq!(sent.iter().position(is_answer), Some(0), "nobody who types waits for a check: {sent:?}");
}

#[test]
fn does_not_check_for_a_cancelled_request() {
    let mut session = session();
    let cancel = tell(Cancel::METHOD, json!({"id": 1}));
    session.handle(vec![open("file:///a", "a")]);
    let changed = |version| change("file:///a", version, &json!({"text": "b"}));
    let sent = session.handle(vec![changed(2), hover(1), changed(3), hover(2), cancel]);
    let errors = sent.iter().filter_map(|message| match message {
        Message::Response(response) => Some(response.response_result.as_ref().err().map(|error| error.code)),
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
fn takes_changes_in_parts_one_after_the_other() {
    let mut session = session();
    session.handle(vec![open("file:///a", "a")]);
    let at = |character: u32| json!({"line": 0, "character": character});
    let part = |start, end, text: &str| json!({"range": {"start": at(start), "end": at(end)}, "text": text});
    let changes = json!([part(1, 1, "ong"), part(0, 1, "wr")]);
    let params = json!({"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": changes});
    let sent = session.handle(vec![tell(DidChangeTextDocument::METHOD, params)]);
    assert_eq!(published(&sent), [("file:///a".to_owned(), 1)]);
    let sent = session.handle(vec![change("file:///b", 2, &json!({"text": "b"}))]);
    let log = sent.iter().filter_map(|message| match message {
        Message::Notification(one) if one.method == LogMessage::METHOD => one.params["message"].as_str(),
        _ => None,
    });
    assert_eq!(log.collect::<Vec<_>>(), ["`file:///b` changed, but is not open"]);
}

/// A session of an editor that asks for diagnostics and shows progress.
fn able_session() -> Session<Counting> {
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
        "window": {"workDoneProgress": true},
    });
    let start = SessionStart::read(json!({"capabilities": capabilities})).unwrap();
    let result = start.result("1.0.0");
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8");
    assert!(result["capabilities"]["diagnosticProvider"]["interFileDependencies"].as_bool().unwrap());
    Session::new(&start, Counting::default())
}

fn methods(sent: &[Message]) -> Vec<&str> {
    sent.iter()
        .map(|message| match message {
            Message::Notification(one) => one.method.as_str(),
            Message::Request(one) => one.method.as_str(),
            Message::Response(_) => "",
        })
        .collect()
}

fn pull(session: &mut Session<Counting>, uri: &str) -> usize {
    let params = json!({"textDocument": {"uri": uri}});
    let request = Request { id: 9.into(), method: DocumentDiagnosticRequest::METHOD.to_owned(), params };
    let Some(Message::Response(response)) = session.handle(vec![Message::Request(request)]).pop() else {
        panic!("no response")
    };
    response.response_result.unwrap()["items"].as_array().unwrap().len()
}

#[test]
fn an_editor_that_asks_for_diagnostics_is_sent_none() {
    let mut session = able_session();
    let sent = session.handle(vec![open("file:///a", "wrong"), open("file:///b", "right")]);
    assert_eq!(methods(&sent), ["window/workDoneProgress/create"]);
    assert_eq!((pull(&mut session, "file:///a"), pull(&mut session, "file:///b")), (1, 0));
    assert_eq!(session.workspace.checks, 1);
    // The editor asks by itself for a document that it has changed.
    let sent = session.handle(vec![change("file:///b", 2, &json!({"text": "wrong"}))]);
    assert!(sent.is_empty(), "{sent:?}");
    assert_eq!(pull(&mut session, "file:///b"), 1);
}

#[test]
fn the_editor_asks_again_when_another_document_has_changed() {
    let mut session = able_session();
    session.handle(vec![open("file:///a", "same"), open("file:///b", "right")]);
    // In a folder, the text of one document may be the mistake of another one.
    let sent = session.handle(vec![change("file:///b", 2, &json!({"text": "blames file:///a"}))]);
    assert_eq!(methods(&sent), ["workspace/diagnostic/refresh"]);
    assert_eq!(pull(&mut session, "file:///a"), 1);
}

/// An editor that answers each request of the server, and sends something while a check runs.
struct Answering {
    accepts: bool,
    sent: Vec<Message>,
    later: Vec<Message>,
}

impl EditorConnection for Answering {
    fn send(&mut self, message: Message) {
        if let Message::Request(request) = &message {
            let id = request.id.clone();
            let refused = || Response::new_err(id.clone(), ErrorCode::MethodNotFound as i32, "no".to_owned());
            let answer = if self.accepts { Response::new_ok(id.clone(), Value::Null) } else { refused() };
            self.later.push(Message::Response(answer));
        }
        self.sent.push(message);
    }

    fn receive(&mut self, _: bool) -> Vec<Message> {
        std::mem::take(&mut self.later)
    }
}

#[test]
fn shows_progress_with_a_token_that_the_editor_accepts() {
    for (accepts, expected) in [
        (true, ["window/workDoneProgress/create", "$/progress", "$/progress"].as_slice()),
        (false, &["window/workDoneProgress/create"]),
    ] {
        let mut editor = Answering { accepts, sent: Vec::new(), later: Vec::new() };
        let mut session = able_session();
        session.handle_with(vec![open("file:///a", "right")], &mut editor);
        assert_eq!(methods(&editor.sent), expected);
        assert_eq!(session.workspace.checks, 1);
        let Some(Message::Request(create)) = editor.sent.first() else { panic!("{:?}", editor.sent) };
        for message in editor.sent.iter().skip(1) {
            let Message::Notification(progress) = message else { panic!("{message:?}") };
            assert_eq!(progress.params["token"], create.params["token"]);
        }
    }
}

#[test]
fn answers_what_comes_while_the_editor_is_asked_about_progress() {
    let mut editor = Answering { accepts: true, sent: Vec::new(), later: Vec::new() };
    let mut session = able_session();
    session.handle_with(vec![open("file:///a", "right")], &mut Asking(&mut editor, Some(hover(1))));
    let expected = ["window/workDoneProgress/create", "$/progress", "$/progress", ""];
    assert_eq!(methods(&editor.sent), expected);
    assert_eq!(session.workspace.checks, 1);
}

/// An editor that sends a request when the server waits.
struct Asking<'e>(&'e mut Answering, Option<Message>);

impl EditorConnection for Asking<'_> {
    fn send(&mut self, message: Message) {
        self.0.send(message);
    }

    fn receive(&mut self, waits: bool) -> Vec<Message> {
        let asked = self.1.take_if(|_| waits);
        asked.into_iter().chain(self.0.receive(waits)).collect()
    }
}

/// An editor that sends a message after the first answer.
struct Cancelling(Vec<Message>, Option<Message>);
impl EditorConnection for Cancelling {
    fn send(&mut self, message: Message) {
        self.0.push(message);
    }

    fn receive(&mut self, _: bool) -> Vec<Message> {
        let is_answered = self.0.iter().any(|message| matches!(message, Message::Response(_)));
        self.1.take_if(|_| is_answered).into_iter().collect()
    }
}

#[test]
fn a_request_can_be_cancelled_while_an_earlier_one_is_answered() {
    let cancel = tell(Cancel::METHOD, json!({"id": 2}));
    let mut editor = Cancelling(Vec::new(), Some(cancel));
    session().handle_with(vec![hover(1), hover(2)], &mut editor);
    let answers = editor.0.iter().filter_map(|message| match message {
        Message::Response(response) => Some(response.response_result.is_ok()),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [true, false]);
}
