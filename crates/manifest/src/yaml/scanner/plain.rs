//! Unquoted scalars.

use super::{Dialect, ScanResult, Scanner};
use crate::source::Span;
use crate::tree::Style;
use crate::yaml::cursor::{is_blank, is_break, is_flow, is_line_end, is_space};
use crate::yaml::messages::GO_TAB;
use crate::yaml::token::ScalarText;

impl Scanner<'_> {
    pub(super) fn fetch_plain(&mut self) -> ScanResult {
        self.save_key();
        self.key_allowed = false;
        self.undo_indent_by_one();
        let mark = self.cursor.mark();
        let in_flow = self.is_in_flow();
        let composed = self.composed.len();
        // The part of the scalar on the current line, and the line breaks before it.
        let (mut start, mut end) = (mark.at, mark.at);
        let mut breaks = 0;
        loop {
            let blanks = self.cursor.at > end && breaks == 0;
            if self.cursor.is_document_mark() {
                break;
            }
            if self.cursor.peek(0) == b'#' {
                if blanks && !in_flow && end > mark.at {
                    self.interrupted = Some(self.cursor.mark());
                }
                break;
            }
            if in_flow && end == mark.at && self.cursor.peek(0) == b'-' && is_flow(self.cursor.peek(1)) {
                return self.fail(mark.at, "a `-` alone is not text; quote it");
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
            return self.fail(mark.at, "unquoted text cannot start with this character; quote the text");
        }
        self.key_allowed |= self.cursor.fresh;
        let text = if self.composed.len() > composed {
            self.compose(start, end);
            self.composed_from(composed)
        } else {
            ScalarText { span: Span::new(mark.at, end), composed: false }
        };
        self.push_scalar(Style::Plain, mark, end, text);
        Ok(())
    }

    /// End of the word at this position, at white space or an indicator.
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

    /// Passes white space inside an unquoted scalar. Returns the number of line breaks.
    fn skip_plain_space(&mut self, scalar: usize) -> ScanResult<usize> {
        let mut breaks = 0;
        loop {
            let next = self.cursor.peek(0);
            if self.cursor.skip_break() {
                breaks += 1;
            } else if next == b'\t' && self.cursor.fresh && self.cursor.col() < self.indent {
                let at = self.cursor.at;
                self.skip_rest()?;
                if !is_line_end(self.cursor.peek(0)) {
                    return self.fail(scalar, "a tab indents a line of this text; use spaces");
                }
                if self.dialect == Dialect::GoYaml {
                    return self.fail(at, GO_TAB);
                }
            } else if next == b' ' {
                self.cursor.skip_spaces();
            } else if is_blank(next) {
                self.cursor.at += 1;
            } else {
                return Ok(breaks);
            }
        }
    }
}
