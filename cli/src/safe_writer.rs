//! The writer of everything that the program prints: no text of a user acts on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use render::human::{is_control, printable};

/// Notation of a control character in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escaping {
    /// A visible symbol, for people. Colours pass.
    Symbol,
    /// A visible symbol, in a text without colours.
    Plain,
    /// An escape sequence of JSON. Such a character can only be within a string.
    Json,
    /// A character reference of XML.
    Xml,
}

/// Writer that replaces control characters (C0, C1, and the characters that change the direction of text), except line breaks
/// and tabs.
pub(crate) struct SafeWriter<W: Write> {
    out: W,
    escaping: Escaping,
    /// Text that is not written yet: it may be the start of a character or of an escape sequence.
    pending: Vec<u8>,
}

impl<W: Write> SafeWriter<W> {
    pub(crate) fn new(out: W, escaping: Escaping) -> Self {
        Self { out, escaping, pending: Vec::new() }
    }

    /// Writes everything, and returns the writer below.
    pub(crate) fn into_inner(mut self) -> io::Result<W> {
        self.write_pending(true)?;
        Ok(self.out)
    }

    /// Writes the pending text, or the part of it that is certainly complete.
    fn write_pending(&mut self, is_all: bool) -> io::Result<()> {
        let length = if is_all { self.pending.len() } else { complete(&self.pending, self.escaping) };
        let written = String::from_utf8_lossy(self.pending.get(..length).unwrap_or_default());
        let result = self.out.write_all(escaped(&written, self.escaping).as_bytes());
        self.pending.drain(..length);
        result
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        self.write_pending(false).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_pending(true)?;
        self.out.flush()
    }
}

/// Number of bytes before the start of a character, of a style or of a line break that may go on in the next write.
fn complete(bytes: &[u8], escaping: Escaping) -> usize {
    let length = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let tail = bytes.get(..length).unwrap_or_default();
    match tail.iter().rposition(|byte| matches!(byte, b'\x1b' | b'\r')) {
        Some(at)
            if matches!(escaping, Escaping::Symbol | Escaping::Plain)
                && is_open(tail.get(at..).unwrap_or_default()) =>
        {
            at
        }
        _ => length,
    }
}

/// Whether some bytes are the start of a style or of a line break.
fn is_open(bytes: &[u8]) -> bool {
    match bytes {
        b"\x1b" | b"\r" => true,
        [b'\x1b', b'[', rest @ ..] => rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b';'),
        _ => false,
    }
}

fn escaped(text: &str, escaping: Escaping) -> Cow<'_, str> {
    if !text.chars().any(|char| is_control(char) && !matches!(char, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let kept = match escaping {
            Escaping::Symbol => style(rest).or_else(|| line_break(rest)),
            Escaping::Plain => line_break(rest),
            Escaping::Json | Escaping::Xml => None,
        };
        let length = kept.unwrap_or(char.len_utf8());
        let (part, behind) = rest.split_at(length);
        match escaping {
            _ if kept.is_some() || !is_control(char) || matches!(char, '\n' | '\t') => safe.push_str(part),
            Escaping::Symbol | Escaping::Plain => safe.push_str(&printable(part)),
            // Writing to a string does not fail.
            Escaping::Json => drop(write!(safe, "\\u{:04x}", u32::from(char))),
            Escaping::Xml => drop(write!(safe, "&#x{:x};", u32::from(char))),
        }
        rest = behind;
    }
    Cow::Owned(safe)
}

/// Length of the line break of Windows at the start of a text.
fn line_break(text: &str) -> Option<usize> {
    text.starts_with("\r\n").then_some(2)
}

/// Length of the style at the start of a text, such as `ESC [ 1 ; 31 m`. Only weights and colours are styles: a text that is hidden or
/// blinks comes from a user.
fn style(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|char: char| !char.is_ascii_digit() && char != ';')?;
    let is_known =
        |code: &str| matches!(code.parse(), Ok(0..=4 | 22..=24 | 30..=39 | 90..=97)) || code.is_empty();
    let is_style = parameters.get(end..)?.starts_with('m') && parameters.get(..end)?.split(';').all(is_known);
    is_style.then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]], escaping: Escaping) -> String {
        let mut bytes = Vec::new();
        let mut writer = SafeWriter::new(&mut bytes, escaping);
        for part in parts {
            writer.write_all(part).unwrap();
        }
        writer.flush().unwrap();
        drop(writer);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn shows_control_characters_and_keeps_styles_and_lines() {
        let text = "\x1b[1;31mred\x1b[0m\ta\r\nb\rc\x1b[8mh\x1b[2J\x1b]0;x\x07 \u{9b}2J \u{202e}";
        let expected = "\x1b[1;31mred\x1b[0m\ta\r\nb␍c␛[8mh␛[2J␛]0;x␇ \u{fffd}2J \u{fffd}";
        assert_eq!(written(&[text.as_bytes()], Escaping::Symbol), expected);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(written(&bytes, Escaping::Symbol), expected);
    }

    #[test]
    fn a_text_without_colours_has_no_escape_sequence() {
        assert_eq!(written(&[b"\x1b[31ma\r\n"], Escaping::Plain), "␛[31ma\r\n");
    }

    #[test]
    fn writes_the_escapes_of_a_format() {
        let text = "{\"a\": \"\u{7f}\u{9b}\u{202e}ä\"}\n".as_bytes();
        assert_eq!(written(&[text], Escaping::Json), "{\"a\": \"\\u007f\\u009b\\u202eä\"}\n");
        assert_eq!(written(&["<a>\u{202e}</a>".as_bytes()], Escaping::Xml), "<a>&#x202e;</a>");
    }

    #[test]
    fn an_open_sequence_at_the_end_is_written_too() {
        assert_eq!(written(&[b"a\x1b[3", b""], Escaping::Symbol), "a␛[3");
        assert_eq!(written(&[b"a\xe2\x80"], Escaping::Symbol), "a\u{fffd}");
    }
}
