//! Scalars in single and double quotes.

use super::{ScanResult, Scanner};
use crate::source::Span;
use crate::tree::Style;
use crate::yaml::cursor::{is_blank, is_break, is_line_end, is_space};
use crate::yaml::messages::{CODE, ESCAPE, TAB};
use crate::yaml::token::ScalarText;

impl Scanner<'_> {
    pub(super) fn fetch_quoted(&mut self, quote: u8) -> ScanResult {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let composed = self.composed.len();
        let mut start = self.cursor.at;
        loop {
            if self.cursor.is_document_mark() {
                return self.fail(
                    mark.at,
                    "a line `---` or `...` inside quotes; close the quotes before it, or indent the line",
                );
            }
            if self.cursor.is_at_end() {
                return self.fail(mark.at, "these quotes are never closed; add the closing quote");
            }
            let escaped_break = self.skip_quoted_words(quote, &mut start)?;
            if self.cursor.peek(0) == quote && !escaped_break {
                break;
            }
            self.skip_quoted_space(quote, escaped_break, &mut start)?;
        }
        let text = if self.composed.len() > composed || start > mark.at + 1 {
            self.compose(start, self.cursor.at);
            self.composed_from(composed)
        } else {
            ScalarText { span: Span::new(start, self.cursor.at), composed: false }
        };
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        let goes_on = match self.cursor.peek(0) {
            b',' | b'}' | b']' => self.is_in_flow(),
            b':' => self.is_in_flow() || mark.line == self.cursor.line,
            next => is_line_end(next),
        };
        if !goes_on {
            return self.fail(
                self.cursor.at,
                "text after closing quotes; quote the whole value, or escape the inner quotes",
            );
        }
        let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        self.allow_adjacent()?;
        self.push_scalar(style, mark, end, text);
        Ok(())
    }

    /// Passes text up to white space or the closing quote. Returns whether an escaped line break ended it. From `start` on
    /// the value is the same as its spelling.
    fn skip_quoted_words(&mut self, quote: u8, start: &mut usize) -> ScanResult<bool> {
        loop {
            let rest = self.cursor.rest();
            let special = |byte: &u8| is_space(*byte) || *byte == quote || (*byte == b'\\' && quote == b'"');
            let length = rest.iter().position(special).unwrap_or(rest.len());
            if length > 0 {
                self.cursor.fresh = false;
                self.cursor.pass(self.cursor.at + length);
            }
            let (char, next) = (self.cursor.peek(0), self.cursor.peek(1));
            if char == quote && quote == b'\'' && next == b'\'' {
                self.compose(*start, self.cursor.at + 1);
                self.cursor.skip(2);
            } else if char == b'\\' && quote == b'"' {
                self.compose(*start, self.cursor.at);
                if is_break(next) {
                    self.cursor.skip(1);
                    self.cursor.skip_break();
                    *start = self.cursor.at;
                    return Ok(true);
                }
                let char = self.skip_escape()?;
                self.composed.push(char);
            } else {
                return Ok(false);
            }
            *start = self.cursor.at;
        }
    }

    /// Passes white space inside quotes and folds its line breaks.
    fn skip_quoted_space(&mut self, quote: u8, escaped_break: bool, start: &mut usize) -> ScanResult {
        let blanks = self.cursor.at;
        let mut breaks = 0;
        let mut folded = escaped_break;
        while !self.cursor.is_at_end() {
            let next = self.cursor.peek(0);
            if is_break(next) {
                if folded {
                    self.composed.push('\n');
                } else {
                    self.compose(*start, blanks);
                }
                self.cursor.skip_break();
                breaks += 1;
                folded = true;
            } else if is_blank(next) {
                if folded && next == b'\t' && self.cursor.col() + 1 < self.indent {
                    return self.fail(self.cursor.at, TAB);
                }
                self.cursor.at += 1;
            } else {
                break;
            }
        }
        if !folded {
            return Ok(());
        }
        *start = self.cursor.at;
        if breaks > 0 && !escaped_break {
            if !self.is_in_flow() && self.cursor.peek(0) != quote && self.is_under_indented() {
                return self.fail(
                    self.cursor.at,
                    "this line is inside quotes and not indented; indent it, or close the quotes",
                );
            }
            if breaks == 1 {
                self.composed.push(' ');
            }
        }
        Ok(())
    }

    fn skip_escape(&mut self) -> ScanResult<char> {
        let at = self.cursor.at;
        let digits = match self.cursor.peek(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            char => {
                let Some(char) = escaped(char) else {
                    return self.fail(at, ESCAPE);
                };
                self.cursor.skip(2);
                return Ok(char);
            }
        };
        let mut code = self.skip_hex(digits);
        // JSON spells a character above U+FFFF as a surrogate pair.
        if let Some(high @ 0xd800..0xdc00) = code
            && digits == 4
            && self.cursor.starts_with(b"\\u")
        {
            let low = self.skip_hex(4).filter(|low| (0xdc00..0xe000).contains(low));
            code = low.map(|low| 0x1_0000 + ((high - 0xd800) << 10 | (low - 0xdc00)));
        }
        match code.and_then(char::from_u32) {
            Some(char) => Ok(char),
            None => self.fail(at, CODE),
        }
    }

    /// Passes an escape with a number of hexadecimal digits.
    fn skip_hex(&mut self, digits: usize) -> Option<u32> {
        self.cursor.skip(2);
        let mut value = 0;
        for _ in 0..digits {
            value = value << 4 | char::from(self.cursor.peek(0)).to_digit(16)?;
            self.cursor.skip(1);
        }
        Some(value)
    }
}

/// The character of an escape: a backslash and `char`.
fn escaped(char: u8) -> Option<char> {
    Some(match char {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0b',
        b'f' => '\x0c',
        b'r' => '\r',
        b'e' => '\x1b',
        b' ' | b'"' | b'/' | b'\\' => char::from(char),
        b'N' => '\u{85}',
        b'_' => '\u{a0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
