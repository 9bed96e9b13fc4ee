//! Indentation of block collections, and text that may be a key.

use super::{Indent, ScanFault, ScanResult, Scanner, SimpleKey};
use crate::source::certain;
use crate::yaml::cursor::SavedPosition;
use crate::yaml::token::TokenKind;

/// The most characters of a key without `?`.
const MAX_KEY_LENGTH: usize = 1024;

impl Scanner<'_> {
    /// Whether a key inside brackets, or its `:` on another line, is left of the surrounding block.
    pub(super) fn is_key_under_indented(&self, token_index: usize, colon: SavedPosition) -> bool {
        let block = self.block_indent();
        let mut under = colon.col < block;
        for token in certain(self.tokens.get(token_index..)) {
            under |= token.col < block;
            if !matches!(token.kind, TokenKind::Anchor | TokenKind::Tag) {
                break;
            }
        }
        under
    }

    /// Whether the position is left of the block that its text belongs to.
    pub(super) fn is_under_indented(&self) -> bool {
        self.cursor.col() < self.block_indent()
    }

    fn block_indent(&self) -> usize {
        let last = self.indents.last().filter(|indent| !indent.block);
        last.map_or(self.indent, |indent| indent.before)
    }

    /// Starts a block collection at a column, unless the open block collection has the same column.
    pub(super) fn roll(&mut self, mark: SavedPosition, token_index: Option<usize>, kind: TokenKind) {
        if self.is_in_flow() {
            return;
        }
        let indent = mark.col + 1;
        if self.indent <= indent
            && let Some(last) = self.indents.pop_if(|last| !last.block)
        {
            self.indent = last.before;
        }
        if self.indent < indent {
            self.indents.push(Indent { before: self.indent, block: true });
            self.indent = indent;
            let token = Self::token(kind, mark, mark.at);
            let token_index = token_index.unwrap_or(self.tokens.len());
            self.tokens.insert(token_index, token);
        }
    }

    /// Ends the block collections with deeper indentation.
    pub(super) fn unroll(&mut self, indent: usize) {
        if self.is_in_flow() {
            return;
        }
        let mark = self.cursor.mark();
        while self.indent > indent
            && let Some(last) = self.indents.pop()
        {
            self.indent = last.before;
            if last.block {
                self.push(TokenKind::BlockEnd, mark, mark.at);
            }
        }
    }

    /// Requires that the value of a key or a `-` is indented by at least one column.
    pub(super) fn indent_by_one(&mut self) {
        if !self.is_in_flow() && self.indents.last().is_some_and(|last| last.block) {
            self.indents.push(Indent { before: self.indent, block: false });
            self.indent += 1;
        }
    }

    pub(super) fn undo_indent_by_one(&mut self) {
        while let Some(last) = self.indents.pop_if(|last| !last.block) {
            self.indent = last.before;
        }
    }

    /// Remembers the position as the start of a possible key.
    pub(super) fn save_key(&mut self) {
        if self.key_allowed {
            let mark = self.cursor.mark();
            let required = !self.is_in_flow()
                && self.indent == mark.col + 1
                && self.indents.last().is_some_and(|last| last.block);
            let number = self.returned + self.tokens.len() - self.head;
            self.level.key = Some(SimpleKey { mark, required, number });
        }
    }

    pub(super) fn remove_key(&mut self) -> ScanResult {
        let required = self.level.key.take().filter(|key| key.required);
        self.need_colon(required.map(|key| key.mark.at))
    }

    pub(super) fn refuse_open_bracket(&mut self) -> ScanResult {
        if self.is_in_flow() {
            return self.fail(self.level.at, self.unclosed());
        }
        Ok(())
    }

    fn unclosed(&self) -> &'static str {
        if self.level.bracket == b'[' {
            "this `[` is never closed; add `]`"
        } else {
            "this `{` is never closed; add `}`"
        }
    }

    /// The fault, or a fault at the innermost open bracket if its end is missing: the text has no end for it, or the text
    /// continues below the bracket as a block, which is not indented more than the line of the bracket.
    pub(in crate::yaml) fn at_unclosed_bracket(&self, fault: ScanFault) -> ScanFault {
        let is_syntax = fault.why.is_some() && !self.cursor.is_cut_off();
        if !is_syntax || !self.is_in_flow() || self.level.at >= fault.at {
            return fault;
        }
        let text = self.cursor.text();
        let line = |at: usize| {
            let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            let rest = certain(text.get(start..));
            rest.split_once('\n').map_or(rest, |(line, _)| line)
        };
        let is_on_later_line =
            text.get(self.level.at..fault.at).is_some_and(|between| between.contains('\n'));
        if !is_on_later_line {
            return fault;
        }
        let close = if self.level.bracket == b'[' { ']' } else { '}' };
        let has_end = text.get(self.level.at..).is_some_and(|rest| rest.contains(close));
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let (bracket, failed) = (line(self.level.at), line(fault.at));
        let is_block =
            indentation(failed) <= indentation(bracket) && !failed.trim_start().starts_with([']', '}']);
        if has_end && !is_block { fault } else { ScanFault { at: self.level.at, why: Some(self.unclosed()) } }
    }

    /// Ends all blocks at the end of a document.
    pub(super) fn end_blocks(&mut self) -> ScanResult {
        self.unroll(0);
        self.remove_key()?;
        self.key_allowed = false;
        Ok(())
    }

    /// Drops possible keys that cannot be keys any more: outside brackets a key is on one line, and it is not longer than
    /// [`MAX_KEY_LENGTH`].
    pub(super) fn drop_stale_keys(&mut self) -> ScanResult {
        let outside = self.outer.is_empty();
        let is_near = |key: SimpleKey| {
            key.mark.line == self.cursor.line && self.cursor.at - key.mark.at <= MAX_KEY_LENGTH
        };
        if outside && self.level.key.is_none_or(is_near) {
            return Ok(());
        }
        let mark = self.cursor.mark();
        let mut missing = None;
        for level in self.outer.iter_mut().chain([&mut self.level]) {
            if let Some(key) = level.key
                && (outside && key.mark.line < mark.line || mark.index - key.mark.index > MAX_KEY_LENGTH)
            {
                level.key = None;
                missing = missing.or(key.required.then_some(key.mark.at));
            }
        }
        self.need_colon(missing)
    }

    fn need_colon(&mut self, missing: Option<usize>) -> ScanResult {
        missing.map_or(Ok(()), |at| {
            self.fail(
                at,
                "a `:` is missing after this key; add it, or indent the text as part of the value above",
            )
        })
    }
}
