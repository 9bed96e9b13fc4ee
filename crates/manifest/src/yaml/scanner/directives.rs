//! Directives: `%YAML`, `%TAG` and reserved ones.

use super::tags::is_tag_char;
use super::{ScanResult, Scanner};
use crate::yaml::cursor::{is_blank, is_line_end, is_space};
use crate::yaml::messages::DIRECTIVE;
use crate::yaml::token::{Tag, TokenKind};

/// Maximum length of a directive, the same as for a key: the specification has none.
const MAX_DIRECTIVE: usize = 1024;

impl<'t> Scanner<'t> {
    pub(super) fn fetch_directive(&mut self) -> ScanResult {
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let start = self.cursor.at;
        self.skip_word();
        let name = self.cursor.slice(start, self.cursor.at);
        let holds = match name {
            _ if name.is_empty() || !is_space(self.cursor.peek(0)) => None,
            "YAML" => self.skip_version(),
            "TAG" => self.skip_handle(),
            _ => self.skip_reserved(),
        };
        let holds = holds.filter(|_| name == "YAML" || self.cursor.at - start <= MAX_DIRECTIVE);
        if holds.is_some() {
            self.skip_rest()?;
        }
        if holds.is_none() || !is_line_end(self.cursor.peek(0)) {
            return self.fail(mark.at, DIRECTIVE);
        }
        self.cursor.skip_break();
        let tag = if holds == Some(true) { Tag::None } else { Tag::Undeclared };
        self.push_tagged(TokenKind::Directive, tag, mark, self.cursor.at);
        Ok(())
    }

    /// Passes characters up to white space.
    fn skip_word(&mut self) {
        let mut end = self.cursor.at;
        while !is_space(self.cursor.byte(end)) && !self.cursor.is_bom(end) {
            end += 1;
        }
        self.cursor.pass(end);
    }

    /// Passes a version: two numbers of at most nine digits. Returns whether it is version 1 and the only `%YAML`.
    fn skip_version(&mut self) -> Option<bool> {
        self.cursor.skip_blanks();
        let major = self.skip_digits()?;
        if self.cursor.peek(0) != b'.' {
            return None;
        }
        self.cursor.skip(1);
        self.skip_digits()?;
        let again = core::mem::replace(&mut self.declarations.version, true);
        Some(!again && major.trim_start_matches('0') == "1")
    }

    fn skip_digits(&mut self) -> Option<&'t str> {
        let start = self.cursor.at;
        while self.cursor.peek(0).is_ascii_digit() {
            self.cursor.skip(1);
        }
        let digits = self.cursor.slice(start, self.cursor.at);
        (1..=9).contains(&digits.len()).then_some(digits)
    }

    /// Passes a tag handle and its prefix. Returns whether this is the only `%TAG` for the handle.
    fn skip_handle(&mut self) -> Option<bool> {
        self.cursor.skip_blanks();
        if self.cursor.peek(0) != b'!' {
            return None;
        }
        let start = self.cursor.at;
        let handle_end = self.handle_end(start + 1);
        let handle = self.cursor.slice(start, handle_end);
        if !handle.ends_with('!') {
            return None;
        }
        self.cursor.at = handle_end;
        self.cursor.skip_blanks();
        let prefix = self.cursor.at;
        let first = self.cursor.peek(0);
        if first != b'!' && !is_tag_char(first) {
            return None;
        }
        self.cursor.at = self.decode(prefix, false, &mut Vec::new())?;
        let again = self.declarations.handles.contains_key(handle);
        self.declarations.handles.insert(handle, prefix);
        is_space(self.cursor.peek(0)).then_some(!again)
    }

    /// Passes the words of a reserved directive, at most sixteen.
    fn skip_reserved(&mut self) -> Option<bool> {
        let mut words = 0;
        loop {
            let mut next = self.cursor.at;
            while is_blank(self.cursor.byte(next)) {
                next += 1;
            }
            if next == self.cursor.at || self.cursor.byte(next) == b'#' || is_space(self.cursor.byte(next)) {
                return (words <= 16).then_some(true);
            }
            self.cursor.at = next;
            self.skip_word();
            words += 1;
        }
    }
}
