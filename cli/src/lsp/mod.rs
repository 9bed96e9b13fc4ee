//! `karpwarden lsp`: the language server on standard input and output. The protocol is in the crate `language-server`; here are the
//! files, the settings and the rules.

mod folder;
mod folders;
mod view;

use std::io;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use language_server::{
    Connection, EditorConnection, ErrorCode, Message, Received, Response, Session, SessionStart, receive,
    write_parse_error,
};

use super::platform;
use super::stack::on_all_cores;
use super::status::Status;
use folders::Folders;

/// Time in which an editor has to answer whether it shows progress.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) fn run() -> io::Result<Status> {
    platform::need_threads("the language server")?;
    let (editor, connection) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let reader = thread::spawn(move || read(|message| sender.send(message).is_ok()));
    let writer = thread::spawn(move || {
        receiver.into_iter().try_for_each(|message| message.write(&mut io::stdout().lock()))
    });
    let result = on_all_cores(|| serve(&connection)).flatten();
    // The thread that writes ends when nobody can send any more.
    drop(connection);
    joined(writer).and(joined(reader)).and(result)
}

/// Reads the messages of the editor until it ends the session. `forward` returns whether the session goes on.
fn read(forward: impl Fn(Message) -> bool) -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    while let Some(received) = receive(&mut stdin).map_err(io::Error::other)? {
        match received {
            Received::Undecodable(reason) => write_parse_error(&mut io::stdout().lock(), &reason)?,
            Received::Message(message) => {
                let is_exit = matches!(&message, Message::Notification(one) if one.method == "exit");
                if !forward(message) || is_exit {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn joined(thread: JoinHandle<io::Result<()>>) -> io::Result<()> {
    thread
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a thread of the language server ended with a panic")))
}

fn serve(connection: &Connection) -> io::Result<Status> {
    let Some(start) = initialize(connection)? else { return Ok(Status::NotShutDown) };
    let mut session = Session::new(&start, Folders::new(start.folders.clone()));
    let mut editor = EditorChannel { connection, received: forward(connection), result: Ok(()) };
    while let Ok(first) = editor.received.recv() {
        // An editor sends every keystroke. One check is enough for all messages that came during the last one.
        session.handle_with(vec![first], &mut editor);
        std::mem::replace(&mut editor.result, Ok(()))?;
        if session.has_ended() {
            break;
        }
    }
    Ok(if session.is_shut_down() { Status::Clean } else { Status::NotShutDown })
}

/// The editor at the other end of the connection.
struct EditorChannel<'c> {
    connection: &'c Connection,
    received: Receiver<Message>,
    /// The first error of sending.
    result: io::Result<()>,
}

impl EditorConnection for EditorChannel<'_> {
    fn send(&mut self, message: Message) {
        if self.result.is_ok() {
            self.result = send(self.connection, [message]);
        }
    }

    fn receive(&mut self, waits: bool) -> Vec<Message> {
        let first = if waits { self.received.recv_timeout(PATIENCE).ok() } else { None };
        first.into_iter().chain(self.received.try_iter()).collect()
    }
}

/// Waits for a valid `initialize`, and answers it. `None` if the editor leaves before.
fn initialize(connection: &Connection) -> io::Result<Option<SessionStart>> {
    loop {
        let Ok((id, params)) = connection.initialize_start() else { return Ok(None) };
        match SessionStart::read(params) {
            Ok(start) => {
                let accepted = Response::new_ok(id, start.result(env!("CARGO_PKG_VERSION")));
                send(connection, [Message::Response(accepted)])?;
                return Ok(Some(start));
            }
            // The editor may try again.
            Err(error) => {
                let refused = Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string());
                send(connection, [Message::Response(refused)])?;
            }
        }
    }
}

/// Receives messages while a check runs. The channel of the connection holds none, so that the editor would wait.
fn forward(connection: &Connection) -> Receiver<Message> {
    let (sender, receiver) = mpsc::channel();
    let from = connection.receiver.clone();
    std::thread::spawn(move || from.into_iter().try_for_each(|message| sender.send(message)));
    receiver
}

fn send(connection: &Connection, messages: impl IntoIterator<Item = Message>) -> io::Result<()> {
    messages.into_iter().try_for_each(|message| connection.sender.send(message)).map_err(io::Error::other)
}
