//! The base protocol: messages of an editor with their headers. Source: "Base Protocol" of the Language Server Protocol 3.17.
//!
//! `lsp_server` ends the session at the first message that it cannot parse, and allocates whatever length a header names.

use std::io::{self, BufRead, Read as _, Write};

use lsp_server::{ErrorCode, Message};

use crate::error::FramingError;

/// Maximum length of a message, in bytes: as large as the largest file with room for JSON's escapes.
pub const MAX_MESSAGE: usize = 128 << 20;

/// Maximum length of a line of a header, in bytes.
const MAX_HEADER: u64 = 4096;

/// Message of an editor.
#[derive(Debug)]
pub enum Received {
    /// A message.
    Message(Message),
    /// Text that is not a message, with the reason. The session goes on.
    Undecodable(String),
}

/// Reads the next message; `None` at the end of the input. After an error, the start of the next message is not known.
pub fn receive(from: &mut impl BufRead) -> Result<Option<Received>, FramingError> {
    let Some(length) = read_headers(from)? else { return Ok(None) };
    let mut body = Vec::new();
    // The buffer grows with the bytes that arrive, not with the length that a header claims.
    let read = from.by_ref().take(length as u64).read_to_end(&mut body)?;
    if read < length {
        return Err(FramingError::EndOfInput);
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Received::Message(message),
        Err(error) => Received::Undecodable(error.to_string()),
    }))
}

/// Reads the headers of a message, and returns its length.
fn read_headers(from: &mut impl BufRead) -> Result<Option<usize>, FramingError> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if read == 0 {
            return if length.is_none() { Ok(None) } else { Err(FramingError::EndOfInput) };
        }
        let malformed = || FramingError::Header(String::from_utf8_lossy(&line).trim_end().to_owned());
        let text =
            line.strip_suffix(b"\r\n").and_then(|line| str::from_utf8(line).ok()).ok_or_else(malformed)?;
        if text.is_empty() {
            return length.map(Some).ok_or(FramingError::NoLength);
        }
        let (name, value) = text.split_once(':').ok_or_else(malformed)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let bytes: usize = value.trim().parse().map_err(|_| malformed())?;
            if bytes > MAX_MESSAGE {
                return Err(FramingError::TooLong(bytes));
            }
            length = Some(bytes);
        }
    }
}

/// Writes the answer to text that is not a message. Such an answer has no id.
pub fn write_parse_error(to: &mut impl Write, reason: &str) -> io::Result<()> {
    let error = serde_json::json!({"code": ErrorCode::ParseError as i32, "message": format!("not a message: {reason}")});
    let text = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn goes_on_after_text_that_is_not_a_message() {
        let surrogate = r#"{"jsonrpc": "2.0", "method": "a", "params": {"text": "\ud800"}}"#;
        let next = r#"{"jsonrpc": "2.0", "method": "exit"}"#;
        let bytes = [framed(surrogate), framed("{"), framed(next)].concat();
        let mut from = bytes.as_slice();
        for _ in 0..2 {
            assert!(matches!(receive(&mut from), Ok(Some(Received::Undecodable(_)))));
        }
        assert!(matches!(receive(&mut from), Ok(Some(Received::Message(Message::Notification(_))))));
        assert!(matches!(receive(&mut from), Ok(None)));
    }

    #[test]
    fn refuses_lengths_beyond_the_bound_and_broken_headers() {
        let error = |text: &str| receive(&mut text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            error("Content-Length: 99999999999\r\n\r\n"),
            "a message of 99999999999 bytes is longer than 134217728"
        );
        assert_eq!(error("Content-Length: 5\r\n\r\n{}"), "the input ends within a message");
        assert_eq!(error("Content-Type: x\r\n\r\n"), "a message has no `Content-Length`");
        assert_eq!(error("Content-Length: -1\r\n\r\n"), "`Content-Length: -1` is not a header");
        assert_eq!(error("Content-Length: 2\n\n{}"), "`Content-Length: 2` is not a header");
    }

    #[test]
    fn answers_with_a_parse_error() {
        let mut text = Vec::new();
        write_parse_error(&mut text, "why").unwrap();
        let text = String::from_utf8(text).unwrap();
        let (header, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(header, format!("Content-Length: {}", body.len()));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["id"], body["error"]["code"].as_i64()), (&serde_json::Value::Null, Some(-32700)));
    }
}
