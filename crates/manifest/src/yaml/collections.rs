//! Collections in brackets and by indentation, and what may turn out to be a key of one.

use super::cursor::{Mark, is_break, is_flow, is_space};
use super::spacing::TAB;
use super::tokens::{Fault, Indent, Kind, Level, Scanner, SimpleKey, Step, Stopped};

impl Scanner<'_> {
    pub(super) fn fetch_flow_start(&mut self, bracket: u8) -> Step {
        self.save_key();
        let mark = self.cursor.mark();
        self.indent_by_one();
        if self.outer.len() >= self.depth {
            self.fault = Fault { at: mark.at, why: None };
            return Err(Stopped);
        }
        let level = Level { at: mark.at, bracket, ..Level::default() };
        let outer = core::mem::replace(&mut self.level, level);
        self.outer.push(outer);
        self.key_allowed = true;
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        self.push(if bracket == b'[' { Kind::FlowSequence } else { Kind::FlowMapping }, mark, end);
        Ok(())
    }

    pub(super) fn fetch_flow_end(&mut self, bracket: u8) -> Step {
        let mark = self.cursor.mark();
        if !self.is_in_flow() {
            return self.fail(mark.at, "this bracket closes none; remove it, or quote the text");
        }
        let is_list = bracket == b']';
        if is_list != (self.level.bracket == b'[') {
            return self.fail(self.level.at, "this bracket is closed by one of another kind");
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
        self.push(if is_list { Kind::FlowSequenceEnd } else { Kind::FlowMappingEnd }, mark, end);
        Ok(())
    }

    pub(super) fn fetch_comma(&mut self) -> Step {
        self.remove_key()?;
        self.key_allowed = true;
        let mark = self.cursor.mark();
        self.end_pair(mark);
        self.level.started = false;
        self.cursor.skip(1);
        let end = self.cursor.at;
        self.skip_rest()?;
        self.push(Kind::Comma, mark, end);
        Ok(())
    }

    fn end_pair(&mut self, mark: Mark) {
        if core::mem::take(&mut self.level.pair) {
            self.push(Kind::FlowMappingEnd, mark, mark.at);
        }
    }

    pub(super) fn fetch_entry(&mut self) -> Step {
        let mark = self.cursor.mark();
        if self.is_in_flow() {
            return self.fail(mark.at, "`- ` within brackets; members are separated by commas there");
        }
        if !self.key_allowed {
            return self.fail(mark.at, "a list cannot start here; start it on a line of its own");
        }
        self.cursor.skip(1);
        self.roll(mark, None, Kind::BlockSequence);
        let tabs = self.skip_rest()?;
        if tabs && self.cursor.peek(0) == b'-' && is_space(self.cursor.peek(1)) {
            return self.fail(self.cursor.at, TAB);
        }
        let next = self.cursor.peek(0);
        if is_break(next) || is_flow(next) {
            self.indent_by_one();
        }
        self.remove_key()?;
        self.key_allowed = true;
        let mark = self.cursor.mark();
        self.push(Kind::Entry, mark, mark.at);
        Ok(())
    }

    pub(super) fn fetch_key(&mut self) -> Step {
        let mark = self.cursor.mark();
        let in_flow = self.is_in_flow();
        if in_flow {
            self.level.started = true;
        } else {
            if !self.key_allowed {
                return self.fail(mark.at, "a key cannot start here; start it on a line of its own");
            }
            self.roll(mark, None, Kind::BlockMapping);
        }
        self.remove_key()?;
        self.key_allowed = !in_flow;
        self.cursor.skip(1);
        self.tabs_matter = false;
        while !in_flow && !self.tabs_matter {
            match self.cursor.peek(0) {
                b' ' => self.cursor.at += 1,
                b'\t' => self.skip_key_tabs()?,
                b'\n' | b'\r' => self.skip_line_break(),
                b'#' => {
                    self.skip_comment();
                    self.tabs_matter = true;
                }
                _ => break,
            }
        }
        self.push(Kind::Key, mark, mark.at + 1);
        Ok(())
    }

    pub(super) fn fetch_value(&mut self) -> Step {
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
            let place = self.head + key.number.saturating_sub(self.handed_out);
            let under_indented = in_flow && self.is_key_under_indented(place, mark);
            if key.mark.line < mark.line && (under_indented || pair) {
                return self
                    .fail(mark.at, "this `:` is on another line than its key, or not indented enough");
            }
            let place = place.min(self.tokens.len());
            self.tokens.insert(place, Self::token(Kind::Key, key.mark, key.mark.at));
            if pair {
                self.tokens.insert(place, Self::token(Kind::FlowMapping, key.mark, key.mark.at));
            }
            self.roll(key.mark, Some(place), Kind::BlockMapping);
            self.indent_by_one();
            self.key_allowed = false;
        } else {
            if pair {
                self.push(Kind::FlowMapping, mark, mark.at);
            }
            if !in_flow {
                if !self.key_allowed {
                    return self.fail(mark.at, "a second `: ` in the value of a key; quote the value");
                }
                self.roll(mark, None, Kind::BlockMapping);
            }
            self.indent_by_one();
            // What starts on this line may be a block only behind spaces.
            self.key_allowed = !in_flow && !tabs;
        }
        self.push(Kind::Value, mark, mark.at);
        Ok(())
    }

    /// Whether a key within brackets, or its colon on another line, stands left of the block around them.
    fn is_key_under_indented(&self, place: usize, colon: Mark) -> bool {
        let block = self.block_indent();
        let mut under = colon.col < block;
        for token in self.tokens.get(place..).unwrap_or_default() {
            under |= token.col < block;
            if !matches!(token.kind, Kind::Anchor | Kind::Tag) {
                break;
            }
        }
        under
    }

    /// Whether text that goes on in this column stands left of the block it belongs to.
    pub(super) fn is_under_indented(&self) -> bool {
        self.cursor.col() < self.block_indent()
    }

    fn block_indent(&self) -> usize {
        let last = self.indents.last().filter(|indent| !indent.block);
        last.map_or(self.indent, |indent| indent.before)
    }

    /// Starts a block collection in a column, unless that is the column of the one that is open.
    fn roll(&mut self, mark: Mark, place: Option<usize>, kind: Kind) {
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
            let place = place.unwrap_or(self.tokens.len());
            self.tokens.insert(place, token);
        }
    }

    /// Ends the block collections whose content is indented further.
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
                self.push(Kind::BlockEnd, mark, mark.at);
            }
        }
    }

    /// What follows a key or a `-` is indented by at least one.
    fn indent_by_one(&mut self) {
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

    /// Remembers that a key may start here.
    pub(super) fn save_key(&mut self) {
        if self.key_allowed {
            let mark = self.cursor.mark();
            let required = !self.is_in_flow()
                && self.indent == mark.col + 1
                && self.indents.last().is_some_and(|last| last.block);
            let number = self.handed_out + self.tokens.len() - self.head;
            self.level.key = Some(SimpleKey { mark, required, number });
        }
    }

    pub(super) fn remove_key(&mut self) -> Step {
        let required = self.level.key.take().filter(|key| key.required);
        self.need_colon(required.map(|key| key.mark.at))
    }

    pub(super) fn refuse_open_bracket(&mut self) -> Step {
        match (self.is_in_flow(), self.level.bracket) {
            (false, _) => Ok(()),
            (true, b'[') => self.fail(self.level.at, "this `[` is never closed"),
            (true, _) => self.fail(self.level.at, "this `{` is never closed"),
        }
    }

    /// Ends all blocks, before what stands outside of documents.
    pub(super) fn end_blocks(&mut self) -> Step {
        self.unroll(0);
        self.remove_key()?;
        self.key_allowed = false;
        Ok(())
    }

    /// A key stands on one line, outside of brackets, and has at most 1024 characters.
    pub(super) fn drop_stale_keys(&mut self) -> Step {
        let mark = self.cursor.mark();
        let outside = self.outer.is_empty();
        let mut missing = None;
        for level in self.outer.iter_mut().chain([&mut self.level]) {
            if let Some(key) = level.key
                && (outside && key.mark.line < mark.line || mark.index - key.mark.index > 1024)
            {
                level.key = None;
                missing = missing.or(key.required.then_some(key.mark.at));
            }
        }
        self.need_colon(missing)
    }

    fn need_colon(&mut self, missing: Option<usize>) -> Step {
        missing.map_or(Ok(()), |at| self.fail(at, "a `:` is missing after this key"))
    }
}
