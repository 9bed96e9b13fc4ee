//! Scalars: without quotes, in quotes, and in blocks of lines.

use super::super::source::Span;
use super::super::tree::Style;
use super::cursor::{is_blank, is_break, is_flow, is_line_end, is_space};
use super::spacing::TAB;
use super::tokens::{Scanner, Step, Words};

impl Scanner<'_> {
    /// Appends a stretch of the text to the value that is put together.
    fn compose(&mut self, start: usize, end: usize) {
        let part = self.cursor.slice(start, end);
        self.composed.push_str(part);
    }

    /// Appends line breaks.
    fn compose_breaks(&mut self, count: usize) {
        for _ in 0..count {
            self.composed.push('\n');
        }
    }

    /// What was put together from a length on.
    fn composed_from(&self, start: usize) -> Words {
        Words { span: Span::new(start, self.composed.len()), composed: true }
    }

    pub(super) fn fetch_plain(&mut self) -> Step {
        self.save_key();
        self.key_allowed = false;
        self.undo_indent_by_one();
        let mark = self.cursor.mark();
        let in_flow = self.is_in_flow();
        let composed = self.composed.len();
        // The part on this line, and the line breaks before it.
        let (mut start, mut end) = (mark.at, mark.at);
        let mut breaks = 0;
        loop {
            let blanks = self.cursor.at > end && breaks == 0;
            if self.cursor.is_document_mark() {
                break;
            }
            if self.cursor.peek(0) == b'#' {
                if blanks && !in_flow && end > mark.at {
                    self.interrupted = Some((self.cursor.at, self.cursor.line));
                }
                break;
            }
            if in_flow && end == mark.at && self.cursor.peek(0) == b'-' && is_flow(self.cursor.peek(1)) {
                return self.fail(mark.at, "a `-` alone is no text; put quotes around it");
            }
            let stop = self.plain_end();
            if stop > self.cursor.at {
                if breaks > 0 {
                    self.compose(start, end);
                    if breaks == 1 {
                        self.composed.push(' ');
                    }
                    self.compose_breaks(breaks - 1);
                    start = self.cursor.at;
                    breaks = 0;
                }
                self.cursor.fresh = false;
                self.cursor.pass(stop);
                end = stop;
            }
            let next = self.cursor.peek(0);
            if !is_blank(next) && !is_break(next) {
                break;
            }
            breaks += self.skip_plain_space(mark.at)?;
            if !in_flow && self.cursor.col() < self.indent {
                break;
            }
        }
        if end == mark.at {
            return self.fail(mark.at, "text is missing here; quote it if it starts with this character");
        }
        self.key_allowed |= self.cursor.fresh;
        let text = if self.composed.len() > composed {
            self.compose(start, end);
            self.composed_from(composed)
        } else {
            Words { span: Span::new(mark.at, end), composed: false }
        };
        self.push_scalar(Style::Plain, mark, end, text);
        Ok(())
    }

    /// Where white space or an indicator ends the word that starts here.
    fn plain_end(&self) -> usize {
        let in_flow = self.is_in_flow();
        let ends = |byte: u8| is_space(byte) || (in_flow && is_flow(byte));
        let rest = self.cursor.rest();
        let mut length = 0;
        while let Some(byte) = rest.get(length).copied()
            && !ends(byte)
            && !(byte == b':' && ends(rest.get(length + 1).copied().unwrap_or(0)))
        {
            length += 1;
        }
        self.cursor.at + length
    }

    /// Passes the white space within an unquoted scalar; gives the line breaks in it.
    fn skip_plain_space(&mut self, scalar: usize) -> Step<usize> {
        let mut breaks = 0;
        loop {
            let next = self.cursor.peek(0);
            if self.cursor.skip_break() {
                breaks += 1;
            } else if next == b'\t' && self.cursor.fresh && self.cursor.col() < self.indent {
                self.skip_rest()?;
                if !is_line_end(self.cursor.peek(0)) {
                    return self.fail(scalar, "a line of this text is indented by a tab; use spaces");
                }
            } else if is_blank(next) {
                self.cursor.at += 1;
            } else {
                return Ok(breaks);
            }
        }
    }

    pub(super) fn fetch_quoted(&mut self, quote: u8) -> Step {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let composed = self.composed.len();
        let mut start = self.cursor.at;
        loop {
            if self.cursor.is_document_mark() {
                return self.fail(mark.at, "a line `---` or `...` within quotes; close them before it");
            }
            if self.cursor.is_at_end() {
                return self.fail(mark.at, "these quotes are never closed");
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
            Words { span: Span::new(start, self.cursor.at), composed: false }
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
                "text behind closing quotes; quote the whole value, or escape the quotes",
            );
        }
        let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        self.allow_adjacent()?;
        self.push_scalar(style, mark, end, text);
        Ok(())
    }

    /// Passes what is no white space, up to the closing quote; whether an escaped line break ends it. What comes after
    /// `start` is as it is written.
    fn skip_quoted_words(&mut self, quote: u8, start: &mut usize) -> Step<bool> {
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

    /// Passes white space in quotes: line breaks in it are folded.
    fn skip_quoted_space(&mut self, quote: u8, escaped_break: bool, start: &mut usize) -> Step {
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
                    "this line belongs to text in quotes; indent it, or close the quotes",
                );
            }
            if breaks == 1 {
                self.composed.push(' ');
            }
        }
        Ok(())
    }

    fn skip_escape(&mut self) -> Step<char> {
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
        // JSON writes a character beyond the first 65,536 as two.
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

    /// Passes an escape of so many hexadecimal digits.
    fn skip_hex(&mut self, digits: usize) -> Option<u32> {
        self.cursor.skip(2);
        let mut value = 0;
        for _ in 0..digits {
            value = value << 4 | char::from(self.cursor.peek(0)).to_digit(16)?;
            self.cursor.skip(1);
        }
        Some(value)
    }

    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> Step {
        self.save_key();
        self.key_allowed = true;
        let header = self.cursor.mark();
        let style = if literal { Style::Literal } else { Style::Folded };
        self.cursor.skip(1);
        self.undo_indent_by_one();
        let (mut chomping, mut deeper) = (0, 0);
        for _ in 0..2 {
            match self.cursor.peek(0) {
                sign @ (b'+' | b'-') if chomping == 0 => chomping = sign,
                digit @ b'1'..=b'9' if deeper == 0 => deeper = usize::from(digit - b'0'),
                _ => break,
            }
            self.cursor.skip(1);
        }
        self.skip_rest()?;
        if !is_line_end(self.cursor.peek(0)) {
            return self.fail(
                header.at,
                "the text of `|` or `>` starts on the next line; quote the text if it is none",
            );
        }
        self.cursor.skip_break();
        if self.cursor.peek(0) == b'\t' {
            return self.fail(header.at, "the first line below is indented by a tab; use spaces");
        }
        let mut breaks = 0;
        let indent = if deeper > 0 {
            let indent = self.indent.saturating_sub(1) + deeper;
            self.skip_indent(indent, &mut breaks);
            indent
        } else {
            self.skip_indent(usize::MAX, &mut breaks).max(self.indent)
        };
        let composed = self.composed.len();
        let col = self.cursor.col();
        if self.cursor.is_at_end() {
            if chomping == b'+' && self.cursor.line > header.line {
                self.compose_breaks(if breaks == 0 && col > 0 { 1 } else { breaks });
            }
            self.push_scalar(style, header, self.cursor.at, self.composed_from(composed));
            return Ok(());
        }
        if col < indent && col >= self.indent {
            // Outside of all collections, a comment or the end of the document may follow at once.
            let ends = self.indent == 0 && (self.cursor.is_document_mark() || self.cursor.peek(0) == b'#');
            if !(ends && col == 0) {
                return self.fail(
                    self.cursor.at,
                    "this line is indented less than the number behind `|` or `>` says",
                );
            }
        }
        let mark = self.cursor.mark();
        let ends_in_break = self.compose_lines(literal, indent, &mut breaks);
        if chomping != b'-' {
            let ends = self.cursor.is_at_end() && self.cursor.col() >= indent.max(1);
            self.compose_breaks(usize::from(ends_in_break || ends));
        }
        if chomping == b'+' {
            self.compose_breaks(breaks);
        }
        self.push_scalar(style, mark, self.cursor.at, self.composed_from(composed));
        Ok(())
    }

    /// Puts the lines of a block scalar together; whether a line break follows the last one. `breaks` are the empty
    /// lines before the next line, in the end those after all.
    fn compose_lines(&mut self, literal: bool, indent: usize, breaks: &mut usize) -> bool {
        let mut broken = false;
        let mut was_blank = false;
        while self.cursor.col() == indent
            && !self.cursor.is_at_end()
            && !(indent == 0 && self.cursor.is_document_mark())
        {
            let blank = is_blank(self.cursor.peek(0));
            let folds = !literal && broken && !was_blank && !blank;
            if folds && *breaks == 0 {
                self.composed.push(' ');
            }
            self.compose_breaks(*breaks + usize::from(broken && !folds));
            *breaks = 0;
            was_blank = blank;
            let end = self.cursor.line_end();
            self.compose(self.cursor.at, end);
            self.cursor.pass(end);
            broken = self.cursor.skip_break();
            if !broken {
                break;
            }
            self.skip_indent(indent, breaks);
        }
        broken
    }

    /// Passes spaces up to a column, and empty lines, which it counts; gives the furthest column.
    fn skip_indent(&mut self, indent: usize, breaks: &mut usize) -> usize {
        let mut furthest = 0;
        loop {
            while self.cursor.col() < indent && self.cursor.peek(0) == b' ' {
                self.cursor.at += 1;
            }
            furthest = furthest.max(self.cursor.col());
            if !self.cursor.skip_break() {
                return furthest;
            }
            *breaks += 1;
        }
    }
}

pub(super) const ESCAPE: &str = "no such escape; write `\\\\` for a backslash, or use single quotes";

pub(super) const CODE: &str =
    "this escape is no character; `\\x`, `\\u` and `\\U` take 2, 4 and 8 hexadecimal digits";

/// What a backslash and a character stand for.
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
