//! The connection on standard input and output: a JSON-RPC message per line, each of a bounded size. A line that is no message gets an
//! error, and the next line is read.

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::limits::MAX_MESSAGE;

/// Number of messages that are read ahead.
const AHEAD: usize = 16;

/// The two ends of the connection.
pub(super) struct StdioTransport {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Sender<Outgoing>,
}

/// A line to write, or the end.
enum Outgoing {
    Line(String),
    End,
}

/// The thread that writes.
pub(super) struct LineWriter {
    outgoing: Sender<Outgoing>,
    thread: JoinHandle<io::Result<()>>,
}

/// Identifier of a message of any shape.
#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
}

/// Starts the threads that read standard input and write standard output. The thread that reads ends with the process.
pub(super) fn stdio() -> (StdioTransport, LineWriter) {
    let (outgoing, lines) = channel();
    let (forward, incoming) = mpsc::channel(AHEAD);
    let errors = outgoing.clone();
    thread::spawn(move || read(&mut io::stdin().lock(), &forward, &errors));
    let thread = thread::spawn(move || write(&lines));
    let writer = LineWriter { outgoing: outgoing.clone(), thread };
    (StdioTransport { incoming, outgoing }, writer)
}

impl LineWriter {
    /// Waits until everything is written.
    pub(super) fn finish(self) -> io::Result<()> {
        // The thread has ended before if the client reads no more.
        let _ = self.outgoing.send(Outgoing::End);
        let written = self.thread.join();
        let written =
            written.unwrap_or_else(|_| Err(io::Error::other("the thread that writes ended with a panic")));
        // A client that has left is not an error.
        written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

fn write(lines: &Receiver<Outgoing>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    while let Ok(Outgoing::Line(line)) = lines.recv() {
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}

/// Reads messages until the end of the input, or until nobody receives them.
fn read(
    from: &mut impl BufRead,
    forward: &mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    errors: &Sender<Outgoing>,
) {
    let mut line = Vec::new();
    let mut has_request = false;
    loop {
        // Without its input, the server has nothing to do.
        let Ok(Some(message)) = next(from, &mut line) else { return };
        let message = match message {
            Ok(message) => message,
            Err((id, error)) => {
                let error = ServerJsonRpcMessage::error(error, id);
                if send(errors, &error).is_err() {
                    return;
                }
                continue;
            }
        };
        has_request |= matches!(message, JsonRpcMessage::Request(_));
        // Before the first request, nothing else has a meaning.
        if has_request && forward.blocking_send(message).is_err() {
            return;
        }
    }
}

/// A message, or an error with the identifier of the request.
type Received = Result<RxJsonRpcMessage<RoleServer>, (Option<RequestId>, ErrorData)>;

/// Reads a line. `None` at the end of the input.
fn next(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Received>> {
    loop {
        line.clear();
        let most = MAX_MESSAGE as u64 + 1;
        if from.by_ref().take(most).read_until(b'\n', line)? == 0 {
            return Ok(None);
        }
        if line.len() > MAX_MESSAGE && !line.ends_with(b"\n") {
            return Ok(Some(Err(too_long(from, line)?)));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(parsed(line)));
        }
    }
}

fn parsed(line: &[u8]) -> Received {
    serde_json::from_slice(line).map_err(|error| {
        if error.is_data() {
            let id = identifier(line, line);
            let advice = "send a request, a notification or a response of JSON-RPC 2.0, and no batch";
            (
                id,
                ErrorData::invalid_request(
                    format!("the line is no message of the protocol ({error}); {advice}"),
                    None,
                ),
            )
        } else {
            let text = format!("the line is not JSON ({error}); write a JSON-RPC message on one line");
            (None, ErrorData::parse_error(text, None))
        }
    })
}

/// The identifier of a message, if it is an object. A list is a batch, which has none.
fn identifier(start: &[u8], message: impl Read) -> Option<RequestId> {
    let is_object = start.trim_ascii_start().starts_with(b"{");
    let envelope = is_object.then(|| serde_json::from_reader::<_, Envelope>(message));
    envelope?.ok()?.id
}

/// Skips the rest of a line that is too long. Finds the identifier of its request, in constant memory.
fn too_long(from: &mut impl BufRead, start: &[u8]) -> io::Result<(Option<RequestId>, ErrorData)> {
    let mut rest = RestOfLine { from, has_ended: false };
    let id = identifier(start, io::BufReader::new(start.chain(&mut rest)));
    io::copy(&mut rest, &mut io::sink())?;
    let most = MAX_MESSAGE >> 20;
    let text = format!(
        "the message has more than {most} MiB; write a large text to a file, and pass its path in `paths`"
    );
    Ok((id, ErrorData::new(ErrorCode::INVALID_REQUEST, text, None)))
}

/// The bytes up to the end of a line.
struct RestOfLine<'r, R> {
    from: &'r mut R,
    has_ended: bool,
}

impl<R: BufRead> Read for RestOfLine<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended {
            return Ok(0);
        }
        let available = self.from.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let length = part.len().min(buffer.len());
        let (copied, part) =
            (buffer.get_mut(..length).unwrap_or_default(), part.get(..length).unwrap_or_default());
        copied.copy_from_slice(part);
        let is_at_end = end == Some(length);
        let is_over = available.is_empty() || is_at_end;
        self.from.consume(length + usize::from(is_at_end));
        self.has_ended = is_over;
        Ok(length)
    }
}

fn send(outgoing: &Sender<Outgoing>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let line = serde_json::to_string(message)?;
    outgoing.send(Outgoing::Line(line)).map_err(io::Error::other)
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "standard input and output".into()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(send(&self.outgoing, &message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of an input: the method of a request, or the identifier and the code of an error.
    fn read_all(input: &[u8]) -> Vec<String> {
        let (mut from, mut line, mut all) = (io::BufReader::with_capacity(16, input), Vec::new(), Vec::new());
        while let Some(received) = next(&mut from, &mut line).unwrap() {
            all.push(match received {
                Ok(message) => serde_json::to_value(&message).unwrap()["method"].to_string(),
                Err((id, error)) => format!("{id:?} {}", error.code.0),
            });
        }
        all
    }

    #[test]
    fn goes_on_after_lines_that_are_no_messages() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let input = format!("{ping}\n\r\n{{\n[{ping}]\n{{\"id\": 5}}\n\"text\"\n{ping}\r\n{ping}");
        let expected = [
            "\"ping\"",
            "None -32700",
            "None -32600",
            "Some(Number(5)) -32600",
            "None -32600",
            "\"ping\"",
            "\"ping\"",
        ];
        assert_eq!(read_all(input.as_bytes()), expected);
    }

    #[test]
    fn finds_the_request_of_a_line_that_is_too_long() {
        let text = "x".repeat(MAX_MESSAGE);
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for (message, id) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"a","params":{{"text":"{text}"}}}}"#),
                "Some(Number(7))",
            ),
            (format!(r#"{{"params":{{"id":3,"text":"{text}"}},"id":"é"}}"#), "Some(String(\"é\"))"),
            (format!("[{text}"), "None"),
            (text.clone() + &text, "None"),
        ] {
            let input = format!("{message}\n{ping}\n");
            assert_eq!(read_all(input.as_bytes()), [format!("{id} -32600"), "\"ping\"".to_owned()]);
        }
    }
}
