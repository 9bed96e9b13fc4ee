//! Tokens of collections, in brackets and by indentation.

use super::{Dialect, Level, ScanFault, ScanResult, Scanner, Stopped};
use crate::yaml::cursor::{SavedPosition, is_break, is_flow, is_space};
use crate::yaml::messages::{GO_TAB, TAB};
use crate::yaml::token::TokenKind;

impl Scanner<'_> {
    pub(super) fn fetch_flow_start(&mut self, bracket: u8) -> ScanResult {
        self.save_key();
        let mark = self.cursor.mark();
        self.indent_by_one();
        if self.outer.len() >= self.depth {
            self.fault = ScanFault { at: mark.at, why: None };
            return Err(Stopped);
        }
        let level = Level { at: mark.at, bracket, ..Level::default() };
        let outer = core::mem::replace(&mut self.level, level);
        self.outer.push(outer);
        self.key_allowed = true;
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        self.push(if bracket == b'[' { TokenKind::FlowSequence } else { TokenKind::FlowMapping }, mark, end);
        Ok(())
    }

    pub(super) fn fetch_flow_end(&mut self, bracket: u8) -> ScanResult {
        let mark = self.cursor.mark();
        if !self.is_in_flow() {
            return self.fail(mark.at, "no open bracket matches this one; remove it, or quote the text");
        }
        let is_list = bracket == b']';
        if is_list != (self.level.bracket == b'[') {
            return self.fail(
                self.level.at,
                "the closing bracket is of another kind; close `[` with `]` and `{` with `}`",
            );
        }
        self.remove_key()?;
        self.end_pair(mark);
        if let Some(outer) = self.outer.pop() {
            self.level = outer;
        }
        self.key_allowed = false;
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        self.adjacent = self.cursor.at;
        self.push(if is_list { TokenKind::FlowSequenceEnd } else { TokenKind::FlowMappingEnd }, mark, end);
        Ok(())
    }

    pub(super) fn fetch_comma(&mut self) -> ScanResult {
        self.remove_key()?;
        self.key_allowed = true;
        let mark = self.cursor.mark();
        self.end_pair(mark);
        self.level.started = false;
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        self.push(TokenKind::Comma, mark, end);
        Ok(())
    }

    fn end_pair(&mut self, mark: SavedPosition) {
        if core::mem::take(&mut self.level.pair) {
            self.push(TokenKind::FlowMappingEnd, mark, mark.at);
        }
    }

    pub(super) fn fetch_entry(&mut self) -> ScanResult {
        let mark = self.cursor.mark();
        if self.is_in_flow() {
            return self.fail(mark.at, "`- ` inside brackets; separate the items by commas");
        }
        if !self.key_allowed {
            return self.fail(mark.at, "a list cannot start here; start it on a new line");
        }
        self.cursor.skip(1);
        self.roll(mark, None, TokenKind::BlockSequence);
        let tabs = self.skip_rest()?;
        if tabs && self.cursor.peek(0) == b'-' && is_space(self.cursor.peek(1)) {
            return self.fail(self.cursor.at, TAB);
        }
        if tabs && self.dialect == Dialect::GoYaml {
            return self.fail(mark.at + 1, GO_TAB);
        }
        let next = self.cursor.peek(0);
        if is_break(next) || is_flow(next) {
            self.indent_by_one();
        }
        self.remove_key()?;
        self.key_allowed = true;
        let mark = self.cursor.mark();
        self.push(TokenKind::Entry, mark, mark.at);
        Ok(())
    }

    pub(super) fn fetch_key(&mut self) -> ScanResult {
        let mark = self.cursor.mark();
        let in_flow = self.is_in_flow();
        if in_flow {
            self.level.started = true;
        } else {
            if !self.key_allowed {
                return self.fail(mark.at, "a key cannot start here; start it on a new line");
            }
            self.roll(mark, None, TokenKind::BlockMapping);
        }
        self.remove_key()?;
        self.key_allowed = !in_flow;
        self.cursor.skip(1);
        self.tabs_matter = false;
        while !in_flow && !self.tabs_matter {
            match self.cursor.peek(0) {
                b' ' => self.cursor.at += 1,
                b'\t' if self.dialect == Dialect::GoYaml => return self.fail(self.cursor.at, GO_TAB),
                b'\t' => self.skip_key_tabs()?,
                b'\n' | b'\r' => self.skip_line_break(),
                b'#' => {
                    self.skip_comment();
                    self.tabs_matter = true;
                }
                _ => break,
            }
        }
        self.push(TokenKind::Key, mark, mark.at + 1);
        Ok(())
    }

    pub(super) fn fetch_value(&mut self) -> ScanResult {
        let mark = self.cursor.mark();
        let in_flow = self.is_in_flow();
        let pair = self.level.bracket == b'[' && !self.level.started;
        if pair {
            self.level.pair = true;
        }
        self.cursor.skip(1);
        let blank = matches!(self.cursor.peek(0), b' ' | b'\t');
        let tabs = blank && self.skip_rest()?;
        if let Some(key) = self.level.key.take() {
            let token_index = self.head + key.number.saturating_sub(self.returned);
            let under_indented = in_flow && self.is_key_under_indented(token_index, mark);
            if key.mark.line < mark.line && (under_indented || pair) {
                return self.fail(
                    mark.at,
                    "this `:` is not on the line of its key, or not indented enough; move it to the key",
                );
            }
            let token_index = token_index.min(self.tokens.len());
            self.tokens.insert(token_index, Self::token(TokenKind::Key, key.mark, key.mark.at));
            if pair {
                self.tokens.insert(token_index, Self::token(TokenKind::FlowMapping, key.mark, key.mark.at));
            }
            self.roll(key.mark, Some(token_index), TokenKind::BlockMapping);
            self.indent_by_one();
            self.key_allowed = false;
        } else {
            if pair {
                self.push(TokenKind::FlowMapping, mark, mark.at);
            }
            if !in_flow {
                if !self.key_allowed {
                    return self.fail(mark.at, "a second `: ` in one value; quote the value");
                }
                if tabs && self.dialect == Dialect::GoYaml {
                    return self.fail(mark.at + 1, GO_TAB);
                }
                self.roll(mark, None, TokenKind::BlockMapping);
            }
            self.indent_by_one();
            // A block may start on this line only after spaces, not after tabs.
            self.key_allowed = !in_flow && !tabs;
        }
        self.push(TokenKind::Value, mark, mark.at);
        Ok(())
    }
}
