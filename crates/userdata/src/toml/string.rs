//! Strings in quotes of all four kinds.

use super::read::{LONE_RETURN, Reader, is_control};
use crate::Span;

impl Reader<'_> {
    /// A string in quotes of any kind: what it says, and where that stands, the whole string where escapes make the two
    /// differ.
    pub(super) fn string(&mut self, quote: u8) -> (String, Span) {
        let start = self.at;
        let is_long = self.starts_with(&[quote; 3]);
        let invalid = match (quote, is_long) {
            (b'"', false) => "invalid basic string",
            (b'"', true) => "invalid multi-line basic string",
            (_, false) => "invalid literal string",
            (_, true) => "invalid multi-line literal string",
        };
        self.at += if is_long { 3 } else { 1 };
        if is_long && !self.eat(b'\n') && self.starts_with(b"\r\n") {
            self.at += 2;
        }
        let mut value = String::new();
        let mut copied = self.at;
        let end = loop {
            match self.peek() {
                Some(byte) if byte == quote => {
                    if !is_long {
                        self.at += 1;
                        break self.at - 1;
                    }
                    if self.starts_with(&[quote; 3]) {
                        self.at += 3;
                        // Up to two quotes before the closing ones are part of the string.
                        let _ = self.eat(quote) && self.eat(quote);
                        break self.at - 3;
                    }
                    self.at += 1;
                }
                Some(b'\\') if quote == b'"' => {
                    value.push_str(Span::new(copied, self.at).text(self.text));
                    self.at += 1;
                    self.escape(&mut value, is_long);
                    copied = self.at;
                }
                Some(b'\n') if is_long => self.at += 1,
                Some(b'\r') if is_long => {
                    self.at += 1;
                    if self.peek() != Some(b'\n') {
                        self.defect(LONE_RETURN, self.here());
                    }
                }
                None | Some(b'\n') => {
                    self.defect(invalid, self.here());
                    break self.at;
                }
                Some(byte) => {
                    if is_control(byte) {
                        let length = usize::from(quote == b'"');
                        self.defect(invalid, Span::new(self.at, self.at + length));
                    }
                    self.at += 1;
                }
            }
        };
        let rest = Span::new(copied, end);
        let is_copy = value.is_empty() && !rest.is_empty();
        value.push_str(rest.text(self.text));
        (value, if is_copy { rest } else { Span::new(start, self.at) })
    }

    /// What stands behind a backslash.
    fn escape(&mut self, value: &mut String, is_long: bool) {
        let character = match self.peek() {
            Some(b'b') => '\u{8}',
            Some(b'e') => '\u{1b}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'\\' | b'"')) => char::from(byte),
            Some(b'x') => return self.code(2, value),
            Some(b'u') => return self.code(4, value),
            Some(b'U') => return self.code(8, value),
            Some(b' ' | b'\t' | b'\n' | b'\r') if is_long => return self.joined_lines(),
            _ => return self.defect("missing escaped value", self.here()),
        };
        self.at += 1;
        value.push(character);
    }

    /// A character by its number.
    fn code(&mut self, length: usize, value: &mut String) {
        self.at += 1;
        let start = self.here();
        let mut code = 0;
        for _ in 0..length {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.defect("too few unicode value digits", self.here());
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        match char::from_u32(code) {
            Some(character) => value.push(character),
            None => self.defect("invalid value", start),
        }
    }

    /// A line break behind a backslash is left out, with all blanks and line breaks around it.
    fn joined_lines(&mut self) {
        self.blanks();
        if !matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.defect("invalid multi-line basic string", self.here());
        }
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.at += 1;
            if byte == b'\r' && self.peek() != Some(b'\n') {
                self.defect(LONE_RETURN, self.here());
            }
        }
    }
}
