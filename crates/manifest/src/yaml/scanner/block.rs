//! Block scalars: `|` and `>`.

use super::{Dialect, ScanResult, Scanner};
use crate::tree::Style;
use crate::yaml::cursor::{is_blank, is_line_end};
use crate::yaml::messages::GO_TAB;

impl Scanner<'_> {
    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> ScanResult {
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
                "the text after `|` or `>` must start on the next line; start it there, or quote it",
            );
        }
        self.cursor.skip_break();
        if self.cursor.peek(0) == b'\t' {
            return self.fail(header.at, "a tab indents the first line below; use spaces");
        }
        let mut breaks = 0;
        let indent = if deeper > 0 {
            let indent = self.indent.saturating_sub(1) + deeper;
            self.skip_indent(indent, &mut breaks)?;
            indent
        } else {
            self.skip_indent(usize::MAX, &mut breaks)?.max(self.indent)
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
            // Outside all collections, a comment or the end of the document is valid here.
            let ends = self.indent == 0 && (self.cursor.is_document_mark() || self.cursor.peek(0) == b'#');
            if !(ends && col == 0) {
                return self.fail(
                    self.cursor.at,
                    "this line has less indentation than the number after `|` or `>`; indent it, or change the number",
                );
            }
        }
        let mark = self.cursor.mark();
        let ends_in_break = self.compose_lines(literal, indent, &mut breaks)?;
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

    /// Composes the lines of a block scalar. Returns whether a line break ends the last one. `breaks` is the number of
    /// empty lines before the next line, and finally after the last line.
    fn compose_lines(&mut self, literal: bool, indent: usize, breaks: &mut usize) -> ScanResult<bool> {
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
            self.skip_indent(indent, breaks)?;
        }
        Ok(broken)
    }

    /// Passes spaces up to a column, and counts empty lines. Returns the furthest column.
    fn skip_indent(&mut self, indent: usize, breaks: &mut usize) -> ScanResult<usize> {
        let mut furthest = 0;
        loop {
            while self.cursor.col() < indent && self.cursor.peek(0) == b' ' {
                self.cursor.at += 1;
            }
            furthest = furthest.max(self.cursor.col());
            if self.dialect == Dialect::GoYaml && self.cursor.col() < indent && self.cursor.peek(0) == b'\t' {
                return self.fail(self.cursor.at, GO_TAB);
            }
            if !self.cursor.skip_break() {
                return Ok(furthest);
            }
            *breaks += 1;
        }
    }
}
