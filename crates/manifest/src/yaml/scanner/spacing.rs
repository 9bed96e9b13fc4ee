//! White space, line breaks and comments between tokens.

use super::{Dialect, ScanResult, Scanner};
use crate::source::Span;
use crate::yaml::cursor::{is_line_end, is_space};
use crate::yaml::messages::{GO_TAB, TAB};

impl Scanner<'_> {
    /// Passes white space up to the next token or the end of a comment. Returns whether there was a comment.
    pub(super) fn skip_to_token(&mut self) -> ScanResult<bool> {
        loop {
            let char = self.cursor.peek(0);
            let refused =
                char == b'\t' && self.dialect == Dialect::GoYaml && self.key_allowed && !self.is_in_flow();
            let at = self.cursor.at;
            if self.tabs_matter {
                match char {
                    b'\t' => {
                        self.skip_key_tabs()?;
                        if refused {
                            return self.fail(at, GO_TAB);
                        }
                        continue;
                    }
                    b' ' | b'\n' | b'\r' | b'#' => {}
                    _ => self.tabs_matter = false,
                }
            }
            match char {
                b'\t'
                    if !self.indents.is_empty()
                        && self.cursor.fresh
                        && self.cursor.col() + 1 < self.indent =>
                {
                    self.cursor.skip_blanks();
                    if self.cursor.peek(0) != b'#' && !is_line_end(self.cursor.peek(0)) {
                        return self.fail(self.cursor.at, TAB);
                    }
                    if refused {
                        return self.fail(at, GO_TAB);
                    }
                }
                b'\t' if refused => return self.fail(at, GO_TAB),
                b' ' => self.cursor.skip_spaces(),
                b'\t' => self.cursor.at += 1,
                b'\n' | b'\r' => self.skip_line_break(),
                b'#' => {
                    self.skip_comment();
                    self.skip_line_break();
                    return Ok(true);
                }
                0xef if self.bom_allowed
                    && !self.is_in_flow()
                    && self.cursor.col() == 0
                    && self.cursor.is_bom(self.cursor.at) =>
                {
                    self.cursor.skip_bom();
                }
                _ => break,
            }
        }
        self.refuse_interrupted()?;
        Ok(false)
    }

    /// Refuses an unquoted scalar that continues after a comment.
    fn refuse_interrupted(&mut self) -> ScanResult {
        let Some(comment) = self.interrupted.take() else { return Ok(()) };
        let colon = self.cursor.peek(0) == b':' && is_space(self.cursor.peek(1));
        if !self.is_in_flow()
            && self.cursor.line == comment.line + 1
            && self.cursor.col() >= self.indent
            && !self.cursor.is_at_end()
            && !self.cursor.is_document_word()
            && !colon
        {
            return self.fail(
                comment.at,
                "a comment inside text of several lines; quote the text, or move the comment",
            );
        }
        Ok(())
    }

    pub(super) fn skip_line_break(&mut self) {
        if self.cursor.skip_break() && !self.is_in_flow() {
            self.key_allowed = true;
        }
    }

    pub(super) fn skip_comment(&mut self) {
        let start = self.cursor.at;
        self.cursor.pass(self.cursor.line_end());
        self.comments.push_back(Span::new(start, self.cursor.at));
    }

    /// Passes spaces, tabs and a comment. Returns whether there were tabs.
    pub(super) fn skip_rest(&mut self) -> ScanResult<bool> {
        let (any, tabs) = self.cursor.skip_blanks();
        if self.cursor.peek(0) == b'#' {
            if !any {
                return self
                    .fail(self.cursor.at, "a space is missing before `#`; add a space, or quote the text");
            }
            self.skip_comment();
        }
        Ok(tabs)
    }

    pub(super) fn skip_key_tabs(&mut self) -> ScanResult {
        let at = self.cursor.at;
        let indents = self.cursor.fresh && self.cursor.col() < self.indent;
        if indents {
            self.cursor.skip_blanks();
            if self.cursor.peek(0) != b'#' && !is_line_end(self.cursor.peek(0)) {
                return self.fail(at, TAB);
            }
        } else {
            self.cursor.at += 1;
        }
        self.key_allowed = false;
        Ok(())
    }

    /// Allows `:` directly after a quoted scalar, unless there is a comment between them.
    pub(super) fn allow_adjacent(&mut self) -> ScanResult {
        let comment = self.skip_to_token()?;
        self.adjacent = if comment { usize::MAX } else { self.cursor.at };
        Ok(())
    }
}
