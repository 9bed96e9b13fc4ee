//! Messages of an editor to the language server, and documents that are open in it.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a message of another shape is a property that does not hold"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karpwarden::cluster::Cluster;
use karpwarden::karpenter::release::Release;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::Object;
use karpwarden::rule::registry::Registry;
use karpwarden::rule::settings::Settings;
use karpwarden::scheduling::simulation::SimulationSettings;
use karpwarden::simulate::{Choices, DeducedSettings};
use karpwarden::values::timestamp::Timestamp;
use karpwarden::{REGISTRY, reference};
use language_server::protocol::{
    CodeActionOrCommand, CompletionItemKind, CompletionList, CompletionTextEdit, Diagnostic,
    DidChangeTextDocumentParams, DidOpenTextDocumentParams, DocumentChanges, DocumentSymbol, Hover, OneOf,
    Position, PublishDiagnosticsParams, Range, TextEdit, Uri, WorkspaceEdit,
};
use language_server::{
    Checked, CheckedFile, FolderView, Message, Notification, OpenDocument, OpenDocuments, Received, Request,
    Session, SessionStart, Workspace, encode_uris, from_path, receive, write_parse_error,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::input::Texts;

/// Maximum number of places of a document to ask about.
const MAX_PLACES: usize = 6;

/// Sends messages: the first line is the parameters of `initialize`, each further line a message. Every request gets one response,
/// and every diagnostic is within its document.
pub fn assert_messages(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    let mut session = session(first.unwrap_or_else(|| json!({"capabilities": {}})));
    let mut texts = BTreeMap::new();
    for line in lines {
        let Ok(message) = serde_json::from_slice::<Message>(line) else { continue };
        keep_text(&message, &mut texts);
        let asked = if let Message::Request(request) = &message { Some(request.id.clone()) } else { None };
        let sent = session.handle(vec![message]);
        let answered = sent.iter().filter_map(|one| match one {
            Message::Response(response) => Some(response.id.clone()),
            _ => None,
        });
        assert_eq!(answered.collect::<Vec<_>>(), Vec::from_iter(asked));
        for message in &sent {
            assert_diagnostics(message, &texts);
        }
        if session.has_ended() {
            break;
        }
    }
}

/// Reads messages with their headers, and sends them to a session. Reading ends, whatever the headers claim, and text that is not a
/// message has an answer. Each line is also sent as a separate message, and is read whatever the line before it is.
pub fn assert_frames(bytes: &[u8]) {
    let mut session = session(json!({"capabilities": {}}));
    let mut from = bytes;
    loop {
        let before = from.len();
        match receive(&mut from) {
            Ok(None) => break,
            Ok(Some(Received::Message(message))) => {
                assert!(from.len() < before);
                session.handle(vec![message]);
                if session.has_ended() {
                    break;
                }
            }
            Ok(Some(Received::Undecodable(reason))) => {
                assert!(from.len() < before);
                assert_parse_error(&reason);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
    }
    let lines = bytes.split(|byte| *byte == b'\n');
    let framed = |line: &[u8]| [format!("Content-Length: {}\r\n\r\n", line.len()).as_bytes(), line].concat();
    let stream: Vec<u8> = lines.clone().flat_map(framed).collect();
    let mut from = stream.as_slice();
    for line in lines {
        let received = receive(&mut from);
        let is_message = serde_json::from_slice::<Message>(line).is_ok();
        match received {
            Ok(Some(Received::Message(_))) => assert!(is_message),
            Ok(Some(Received::Undecodable(_))) => assert!(!is_message),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(receive(&mut from), Ok(None)));
}

/// The answer to text that is not a message is one framed object of JSON.
fn assert_parse_error(reason: &str) {
    let mut answer = Vec::new();
    assert!(write_parse_error(&mut answer, reason).is_ok());
    let text = String::from_utf8_lossy(&answer);
    let (header, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(header, format!("Content-Length: {}", body.len()));
    let body: Value = as_typed(serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}")));
    assert!(body["error"]["message"].is_string(), "{body}");
}

/// Opens the documents of a text. Every diagnostic and every edit of a fix is within its document, and a document to which a fix is
/// applied can be sent again.
pub fn assert_documents(text: &str) {
    let Texts { files, .. } = Texts::cut(text);
    let edits = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    let related = json!({"publishDiagnostics": {"relatedInformation": true, "codeDescriptionSupport": true}});
    let capabilities = json!({"workspace": edits["workspace"], "textDocument": related});
    let mut session = session(json!({"capabilities": capabilities}));
    let mut texts = BTreeMap::new();
    let mut opened = Vec::new();
    for (name, text) in &files {
        let Some(uri) = uri_of(name) else { continue };
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        let message = notification("textDocument/didOpen", json!({"textDocument": document}));
        keep_text(&message, &mut texts);
        opened.push(message);
    }
    let sent = session.handle(opened);
    for (uri, text) in &texts {
        assert_answers(&mut session, uri, text);
    }
    let published: Vec<_> = sent.iter().filter_map(|message| assert_diagnostics(message, &texts)).collect();
    let Some(edit) = published.iter().find_map(|one| first_edit(&mut session, one)) else { return };
    for (uri, edits) in edits_of(edit) {
        let Some(text) = texts.get(&uri) else { panic!("an edit of `{uri}`, which is not open") };
        let changed = json!({
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": applied(text, &edits)}],
        });
        let message = notification("textDocument/didChange", changed);
        keep_text(&message, &mut texts);
        for message in session.handle(vec![message]) {
            assert_diagnostics(&message, &texts);
        }
    }
}

/// The texts after each choice of a completion at `^` in a document, by what is chosen. A key gets a value.
pub fn completed(name: &str, marked: &str, value: &str) -> Vec<(String, String)> {
    let (before, after) = marked.split_once('^').unwrap_or((marked, ""));
    let text = format!("{before}{after}");
    let document = json!({"uri": uri_of(name), "languageId": "yaml", "version": 1, "text": text});
    let mut session = session(json!({"capabilities": {}}));
    session.handle(vec![notification("textDocument/didOpen", json!({"textDocument": document}))]);
    let line = before.matches('\n').count();
    let character = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    let position = json!({"line": line, "character": character});
    let params = json!({"textDocument": {"uri": uri_of(name)}, "position": position});
    let completions: CompletionList = as_typed(ask(&mut session, "textDocument/completion", params));
    let chosen = completions.items.into_iter().map(|item| {
        let Some(CompletionTextEdit::Edit(mut edit)) = item.text_edit else { panic!("{}", item.label) };
        if item.kind == Some(CompletionItemKind::FIELD) {
            edit.new_text += value;
        }
        (item.label, applied(&text, &[edit]))
    });
    chosen.collect()
}

/// Asks everything about a document, at some of its places. Completions replace text of the document, and ranges are within it.
fn assert_answers(session: &mut Session<OpenOnly>, uri: &str, text: &str) {
    let document = json!({"uri": uri});
    let lines: Vec<&str> = text.split('\n').collect();
    let step = lines.len().div_ceil(MAX_PLACES).max(1);
    for (line, text_of_line) in lines.iter().enumerate().step_by(step) {
        let character = text_of_line.trim_end_matches('\r').encode_utf16().count();
        let at = json!({"textDocument": document, "position": {"line": line, "character": character}});
        let completions: CompletionList = as_typed(ask(session, "textDocument/completion", at.clone()));
        for item in completions.items {
            let Some(CompletionTextEdit::Edit(edit)) = item.text_edit else { panic!("{item:?}") };
            assert!(byte_of(text, edit.range.start) <= byte_of(text, edit.range.end), "{edit:?}");
        }
        let hover: Option<Hover> = as_typed(ask(session, "textDocument/hover", at.clone()));
        if let Some(range) = hover.and_then(|hover| hover.range) {
            assert!(byte_of(text, range.start) <= byte_of(text, range.end), "{range:?}");
        }
        ask(session, "textDocument/definition", at);
    }
    let whole = json!({"textDocument": document});
    let symbols: Vec<DocumentSymbol> = as_typed(ask(session, "textDocument/documentSymbol", whole.clone()));
    for symbol in symbols {
        let [outer, inner] = [symbol.range, symbol.selection_range];
        assert!(outer.start <= inner.start && inner.end <= outer.end, "{outer:?} {inner:?}");
        assert!(byte_of(text, outer.start) <= byte_of(text, outer.end));
    }
    for method in ["textDocument/foldingRange", "textDocument/codeLens", "textDocument/documentLink"] {
        assert!(ask(session, method, whole.clone()).is_array(), "{method}");
    }
}

/// The edit of the first fix at a diagnostic of a document. Every page on hover has text.
fn first_edit(
    session: &mut Session<OpenOnly>,
    published: &PublishDiagnosticsParams,
) -> Option<WorkspaceEdit> {
    let document = json!({"uri": published.uri});
    published.diagnostics.iter().find_map(|diagnostic| {
        let Diagnostic { range, .. } = diagnostic;
        let hover =
            ask(session, "textDocument/hover", json!({"textDocument": document, "position": range.start}));
        assert!(
            diagnostic.code.is_none()
                || hover["contents"]["value"].as_str().is_some_and(|text| text.len() > 9)
        );
        let context = json!({"diagnostics": []});
        let params = json!({"textDocument": document, "range": range, "context": context});
        let actions = ask(session, "textDocument/codeAction", params);
        let actions: Vec<CodeActionOrCommand> = as_typed(actions);
        actions.into_iter().find_map(|action| match action {
            CodeActionOrCommand::CodeAction(action) => action.edit,
            CodeActionOrCommand::Command(command) => panic!("the command {command:?}"),
        })
    })
}

fn ask(session: &mut Session<OpenOnly>, method: &str, params: Value) -> Value {
    let request = Request { id: 1.into(), method: method.to_owned(), params };
    match session.handle(vec![Message::Request(request)]).pop() {
        Some(Message::Response(response)) => {
            response.response_result.unwrap_or_else(|error| panic!("{error:?}"))
        }
        other => panic!("{other:?}"),
    }
}

/// The text after edits, which must not overlap.
fn applied(text: &str, edits: &[TextEdit]) -> String {
    let mut ranges: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| (byte_of(text, edit.range.start), byte_of(text, edit.range.end), edit.new_text.as_str()))
        .collect();
    ranges.sort_unstable();
    let (mut result, mut at) = (String::new(), 0);
    for (start, end, new) in ranges {
        assert!(at <= start && start <= end, "edits overlap: {edits:?}");
        result += text.get(at..start).unwrap_or_default();
        result += new;
        at = end;
    }
    result + text.get(at..).unwrap_or_default()
}

fn edits_of(edit: WorkspaceEdit) -> Vec<(String, Vec<TextEdit>)> {
    let Some(DocumentChanges::Edits(documents)) = edit.document_changes else { panic!("no edits: {edit:?}") };
    let edits = documents.into_iter().map(|document| {
        let edits = document.edits.into_iter().map(|edit| match edit {
            OneOf::Left(edit) => edit,
            OneOf::Right(edit) => edit.text_edit,
        });
        (document.text_document.uri.as_str().to_owned(), edits.collect())
    });
    edits.collect()
}

/// The diagnostics of a message. Each is within the text of its document.
fn assert_diagnostics(
    message: &Message,
    texts: &BTreeMap<String, String>,
) -> Option<PublishDiagnosticsParams> {
    let Message::Notification(Notification { method, params }) = message else { return None };
    if method != "textDocument/publishDiagnostics" {
        return None;
    }
    let published: PublishDiagnosticsParams = as_typed(params.clone());
    for diagnostic in &published.diagnostics {
        let Some(text) = texts.get(published.uri.as_str()) else {
            panic!("a diagnostic in no document: {published:?}")
        };
        let Range { start, end } = diagnostic.range;
        assert!(byte_of(text, start) <= byte_of(text, end), "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty());
    }
    Some(published)
}

/// The byte of a position, which must be in the text and between two characters.
fn byte_of(text: &str, position: language_server::protocol::Position) -> usize {
    let (mut line, mut character) = (0, 0);
    let mut chars = text.char_indices().peekable();
    while let Some((byte, char)) = chars.next() {
        if (line, character) == (position.line, position.character) {
            return byte;
        }
        let ends = char == '\n' || (char == '\r' && chars.peek().is_none_or(|(_, next)| *next != '\n'));
        (line, character) = if ends {
            (line + 1, 0)
        } else {
            (line, character + u32::try_from(char.len_utf16()).unwrap_or(1))
        };
    }
    assert_eq!((line, character), (position.line, position.character), "not a position of {text:?}");
    text.len()
}

/// The byte of a position. A position beyond the end of a line is the end of the line, a position within a character the end of the
/// character.
fn nearest_byte(text: &str, position: Position) -> usize {
    let (mut line, mut character) = (0, 0);
    let mut chars = text.char_indices().peekable();
    while let Some((byte, char)) = chars.next() {
        let is_end = matches!(char, '\n' | '\r');
        if line == position.line && (character >= position.character || is_end) {
            return byte;
        }
        let ends = char == '\n' || (char == '\r' && chars.peek().is_none_or(|(_, next)| *next != '\n'));
        (line, character) = if ends {
            (line + 1, 0)
        } else {
            (line, character + u32::try_from(char.len_utf16()).unwrap_or(1))
        };
    }
    text.len()
}

/// Keeps the texts that the session has, as an editor does.
fn keep_text(message: &Message, texts: &mut BTreeMap<String, String>) {
    let Message::Notification(Notification { method, params }) = message else { return };
    let mut params = params.clone();
    encode_uris(&mut params);
    match method.as_str() {
        "textDocument/didOpen" => {
            let Ok(params) = serde_json::from_value::<DidOpenTextDocumentParams>(params) else {
                return;
            };
            texts.insert(params.text_document.uri.as_str().to_owned(), params.text_document.text);
        }
        "textDocument/didChange" => {
            let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(params) else {
                return;
            };
            let Some(text) = texts.get_mut(params.text_document.uri.as_str()) else { return };
            for change in params.content_changes {
                match change.range {
                    // A position beyond a line means its end, as the protocol says.
                    Some(range) => {
                        let [start, end] =
                            [range.start, range.end].map(|position| nearest_byte(text, position));
                        text.replace_range(start.min(end)..start.max(end), &change.text);
                    }
                    None => *text = change.text,
                }
            }
        }
        _ => {}
    }
}

fn as_typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

fn notification(method: &str, params: Value) -> Message {
    Message::Notification(Notification { method: method.to_owned(), params })
}

fn uri_of(name: &str) -> Option<String> {
    Some(from_path(&Path::new("/repository").join(name))?.as_str().to_owned())
}

fn session(initialize: Value) -> Session<OpenOnly> {
    let start = SessionStart::read(initialize).or_else(|_| SessionStart::read(json!({"capabilities": {}})));
    Session::new(&start.unwrap_or_else(|message| panic!("{message}")), OpenOnly::default())
}

/// A workspace with the open documents and no other files.
#[derive(Default)]
struct OpenOnly {
    cluster: Cluster,
}

impl Workspace for OpenOnly {
    fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>> {
        let read = |(name, text): (&str, &str)| File {
            is_relevant: Some(true),
            ..File::from_bytes(name, text.as_bytes().to_vec(), READ_OPTIONS)
        };
        let files: Vec<File> = open.iter().map(|one| read((one.uri.as_str(), &one.text))).collect();
        let sources: Vec<_> = files.iter().map(|file| Arc::clone(&file.source)).collect();
        self.cluster = Cluster { name: String::new(), files };
        let report = karpwarden::check(std::slice::from_ref(&self.cluster), &Settings::default());
        let files = open.iter().zip(sources).map(|(document, source)| {
            let file = CheckedFile::new(document.uri.clone(), source, Some(document));
            (document.uri.as_str().to_owned(), file)
        });
        vec![Arc::new(Checked { report, files: files.collect(), config_problems: Vec::new() })]
    }

    fn watched(&self) -> Vec<String> {
        Vec::new()
    }

    fn reload(&mut self, _: &[PathBuf]) {}

    fn change_folders(&mut self, _: Vec<PathBuf>, _: &[PathBuf]) {}

    fn page(&self, rule: &str) -> Option<String> {
        REGISTRY.find(rule).map(reference::page)
    }

    fn registry(&self) -> &'static Registry {
        &REGISTRY
    }

    fn folder_of(&self, document: &OpenDocument) -> Option<&dyn FolderView> {
        self.file_of(document).map(|_| self as &dyn FolderView)
    }

    fn folders(&self) -> Vec<&dyn FolderView> {
        vec![self]
    }

    fn unread(&self, _: &OpenDocuments) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(0)
    }
}

impl FolderView for OpenOnly {
    fn files(&self) -> &[File] {
        &self.cluster.files
    }

    fn is_about_karpenter(&self) -> bool {
        true
    }

    fn file_of(&self, document: &OpenDocument) -> Option<&File> {
        self.cluster.files.iter().find(|file| file.source.name() == document.uri.as_str())
    }

    fn uri_of(&self, file: &File) -> Option<Uri> {
        file.source.name().parse().ok()
    }

    fn environments(&self) -> Vec<&str> {
        Vec::new()
    }

    fn release_for(&self, _: Option<&File>) -> Release {
        Release::NEWEST
    }

    fn simulation_settings(&self, objects: &[Object<'_>]) -> SimulationSettings {
        let deduced = DeducedSettings::new(&Choices::default(), &Settings::default(), self.files(), objects);
        deduced.map_or_else(|_| SimulationSettings::new(Release::NEWEST), |deduced| deduced.settings)
    }
}
