//! `karpwarden lsp`: the language server on standard input and output. The protocol is in the crate `language-server`; here are the
//! files, the settings and the rules.

mod folder;
mod folders;

use std::io;

use language_server::{Connection, Message, Response, Session, Start};

use super::check::STACK;
use super::status::Status;
use folders::Folders;

/// JSON-RPC 2.0: `Invalid params`.
const INVALID_PARAMS: i32 = -32602;

pub(crate) fn run() -> io::Result<Status> {
    let (connection, threads) = Connection::stdio();
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build().map_err(io::Error::other)?;
    let result = pool.install(|| serve(&connection));
    // The thread that writes ends when nobody can send any more.
    drop(connection);
    threads.join().and(result)
}

fn serve(connection: &Connection) -> io::Result<Status> {
    let start = loop {
        let (id, params) = connection.initialize_start().map_err(io::Error::other)?;
        match Start::read(params) {
            Ok(start) => {
                let accepted = Response::new_ok(id, Start::result(env!("CARGO_PKG_VERSION")));
                send(connection, [Message::Response(accepted)])?;
                break start;
            }
            // The editor may try again.
            Err(message) => {
                let refused = Response::new_err(id, INVALID_PARAMS, message);
                send(connection, [Message::Response(refused)])?;
            }
        }
    };
    let mut session = Session::new(&start, Folders::new(&start.folders));
    while let Ok(message) = connection.receiver.recv() {
        send(connection, session.handle(message))?;
        // An editor sends every keystroke. One check is enough for all that came during the last one.
        while let Ok(message) = connection.receiver.try_recv() {
            send(connection, session.handle(message))?;
        }
        send(connection, session.refresh())?;
        if session.has_ended() {
            break;
        }
    }
    Ok(if session.is_shut_down() { Status::Clean } else { Status::Findings })
}

fn send(connection: &Connection, messages: impl IntoIterator<Item = Message>) -> io::Result<()> {
    messages.into_iter().try_for_each(|message| connection.sender.send(message)).map_err(io::Error::other)
}
