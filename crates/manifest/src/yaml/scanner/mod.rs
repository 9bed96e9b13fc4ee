//! YAML text → tokens. Indentation and `:` become the starts and ends of collections.
//!
//! The algorithm comes from libyaml and go-yaml: the scanner remembers the start of a possible key and, once it meets the
//! `:`, inserts the key token before it.

mod block;
mod collections;
mod directives;
mod keys;
mod plain;
mod quoted;
mod spacing;
mod tags;

use std::collections::VecDeque;

use super::cursor::{SavedPosition, YamlCursor, is_flow, is_line_end, is_space};
use super::declarations::Declarations;
use super::token::{ScalarText, Tag, TokenKind, YamlToken};
use crate::source::Span;
use crate::tree::Style;

/// Marker of a failed step; [`Scanner::fault`] has the reason.
pub(super) struct Stopped;

pub(super) type ScanResult<T = ()> = Result<T, Stopped>;

/// Reason why scanning stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanFault {
    /// The byte with the error.
    pub(super) at: usize,
    /// The message; `None` if the nesting is too deep.
    pub(super) why: Option<&'static str>,
}

/// Start of text that may be a key.
#[derive(Clone, Copy)]
struct SimpleKey {
    mark: SavedPosition,
    /// Only a key is valid at this position.
    required: bool,
    /// Number of its token, counted from the start of the text.
    number: usize,
}

/// One level of open brackets, or the level outside all brackets.
#[derive(Default)]
struct Level {
    key: Option<SimpleKey>,
    /// The byte of the bracket.
    at: usize,
    bracket: u8,
    /// In a list: `?` has started the mapping of an item that is a pair.
    started: bool,
    /// In a list: the mapping of an item that is a pair is open.
    pair: bool,
}

/// One level of indentation.
struct Indent {
    /// The value of [`Scanner::indent`] outside this level.
    before: usize,
    /// The level belongs to a block collection, which ends with it.
    block: bool,
}

/// Rules for tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The rules of YAML 1.2.
    Yaml12,
    /// The rules of go-yaml v2, which also refuses a tab before a token that may be a key, and a tab before the
    /// indentation of a scalar of several lines ends.
    GoYaml,
}

pub(super) struct Scanner<'t> {
    pub(super) cursor: YamlCursor<'t>,
    pub(super) declarations: Declarations<'t>,
    /// Comments that the parser has not yet taken, each from its `#` to the end of its line.
    pub(super) comments: VecDeque<Span>,
    /// Values that differ from their spelling, one after another.
    pub(super) composed: String,
    pub(super) fault: ScanFault,
    /// The maximum number of open brackets.
    depth: usize,
    tokens: Vec<YamlToken>,
    /// Index in `tokens` of the next token to return.
    head: usize,
    /// The number of tokens returned so far.
    returned: usize,
    outer: Vec<Level>,
    level: Level,
    pub(super) dialect: Dialect,
    /// A key may start at this position.
    key_allowed: bool,
    /// Column from which text is inside the innermost block: the column of the block plus one; 0 outside all blocks.
    indent: usize,
    indents: Vec<Indent>,
    /// A byte order mark is valid at this position.
    bom_allowed: bool,
    /// The byte at which `:` ends a key even without a space after it, because quotes or a bracket closed there.
    adjacent: usize,
    /// The start of a comment that ended an unquoted scalar.
    interrupted: Option<SavedPosition>,
    /// After `?` and a comment, tabs must not indent the key.
    tabs_matter: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, depth: usize) -> Self {
        Self {
            cursor: YamlCursor::new(text),
            declarations: Declarations::default(),
            comments: VecDeque::new(),
            composed: String::new(),
            fault: ScanFault { at: 0, why: None },
            depth,
            tokens: Vec::new(),
            head: 0,
            returned: 0,
            outer: Vec::new(),
            level: Level::default(),
            dialect: Dialect::Yaml12,
            key_allowed: true,
            indent: 0,
            indents: Vec::new(),
            bom_allowed: true,
            adjacent: 0,
            interrupted: None,
            tabs_matter: false,
        }
    }

    /// Stops scanning. At a forbidden character the message is about that character, whatever else is missing there.
    #[cold]
    pub(super) fn fail<T>(&mut self, at: usize, why: &'static str) -> ScanResult<T> {
        self.fault = if self.cursor.is_cut_off() {
            let why = "a control character; remove it, or write an escape such as `\\x07` in double quotes";
            ScanFault { at: self.cursor.at, why: Some(why) }
        } else {
            ScanFault { at, why: Some(why) }
        };
        Err(Stopped)
    }

    /// Returns the next token.
    pub(super) fn next(&mut self) -> ScanResult<YamlToken> {
        self.fetch_enough()?;
        let Some(token) = self.tokens.get(self.head).copied() else { return Err(Stopped) };
        self.head += 1;
        self.returned += 1;
        if self.head == self.tokens.len() {
            self.tokens.clear();
            self.head = 0;
        } else if self.head > 4096 {
            // Dropping returned tokens in batches keeps the cost per token constant.
            self.tokens.drain(..self.head);
            self.head = 0;
        }
        Ok(token)
    }

    /// Scans until it is certain whether the next token starts a key.
    fn fetch_enough(&mut self) -> ScanResult {
        loop {
            if let Some(last) = self.tokens.last() {
                if matches!(last.kind, TokenKind::DocumentStart | TokenKind::DocumentEnd) {
                    return Ok(());
                }
                self.drop_stale_keys()?;
                let may_start_key =
                    |level: &Level| level.key.as_ref().is_some_and(|key| key.number == self.returned);
                if !may_start_key(&self.level) && !self.outer.iter().any(may_start_key) {
                    return Ok(());
                }
            } else {
                self.composed.clear();
            }
            self.fetch()?;
        }
    }

    fn is_in_flow(&self) -> bool {
        !self.outer.is_empty()
    }

    fn token(kind: TokenKind, mark: SavedPosition, end: usize) -> YamlToken {
        YamlToken {
            kind,
            span: Span::new(mark.at, end),
            col: mark.col,
            style: Style::Plain,
            tag: Tag::None,
            text: ScalarText { span: Span::new(0, 0), composed: false },
        }
    }

    fn push(&mut self, kind: TokenKind, mark: SavedPosition, end: usize) {
        self.tokens.push(Self::token(kind, mark, end));
    }

    fn push_scalar(&mut self, style: Style, mark: SavedPosition, end: usize, text: ScalarText) {
        self.tokens.push(YamlToken { style, text, ..Self::token(TokenKind::Scalar, mark, end) });
    }

    fn push_tagged(&mut self, kind: TokenKind, tag: Tag, mark: SavedPosition, end: usize) {
        self.tokens.push(YamlToken { tag, ..Self::token(kind, mark, end) });
    }

    /// Appends a slice of the text to the composed values.
    fn compose(&mut self, start: usize, end: usize) {
        let part = self.cursor.slice(start, end);
        self.composed.push_str(part);
    }

    /// Appends line breaks to the composed values.
    fn compose_breaks(&mut self, count: usize) {
        for _ in 0..count {
            self.composed.push('\n');
        }
    }

    /// The value composed since a length of the composed values.
    fn composed_from(&self, start: usize) -> ScalarText {
        ScalarText { span: Span::new(start, self.composed.len()), composed: true }
    }

    /// Scans the next token, and the ends of blocks before it.
    fn fetch(&mut self) -> ScanResult {
        while self.skip_to_token()? {
            // A comment may end the chance of a key; the caller checks that before the next token.
            if !self.tokens.is_empty() {
                return Ok(());
            }
        }
        self.drop_stale_keys()?;
        let mark = self.cursor.mark();
        self.unroll(mark.col + 1);
        if self.cursor.is_at_end() {
            return self.fetch_end();
        }
        let (char, next) = (self.cursor.peek(0), self.cursor.peek(1));
        if mark.col == 0 && char == b'%' {
            return self.fetch_directive();
        }
        if self.cursor.is_document_mark() {
            return self.fetch_document_mark(char);
        }
        self.bom_allowed = false;
        let in_flow = self.is_in_flow();
        match char {
            b'[' | b'{' => self.fetch_flow_start(char),
            b']' | b'}' => self.fetch_flow_end(char),
            b',' => self.fetch_comma(),
            b'-' if is_space(next) => self.fetch_entry(),
            b'?' if is_space(next) => self.fetch_key(),
            b':' if is_space(next) => self.fetch_value(),
            b':' if in_flow && mark.at == self.adjacent => self.fetch_value(),
            b':' if in_flow && (next == b'[' || next == b'{') => {
                self.fail(mark.at, "a space is missing after `:`; add a space, or quote the text")
            }
            b':' if in_flow && is_flow(next) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(),
            b'!' => self.fetch_tag(),
            b'|' | b'>' if !in_flow => self.fetch_block_scalar(char == b'|'),
            b'\'' | b'"' => self.fetch_quoted(char),
            b'|' | b'>' | b'%' | b'@' | b'`' => {
                self.fail(mark.at, "unquoted text cannot start with this character; quote the text")
            }
            _ if self.cursor.is_bom(mark.at) => {
                self.fail(mark.at, "a byte order mark inside the text; remove it")
            }
            _ => self.fetch_plain(),
        }
    }

    fn fetch_end(&mut self) -> ScanResult {
        self.refuse_open_bracket()?;
        if self.cursor.is_cut_off() {
            return self.fail(self.cursor.at, "");
        }
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.push(TokenKind::End, mark, mark.at);
        Ok(())
    }

    fn fetch_document_mark(&mut self, char: u8) -> ScanResult {
        self.refuse_open_bracket()?;
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.cursor.skip(3);
        self.bom_allowed = char == b'.';
        let kind = if self.bom_allowed { TokenKind::DocumentEnd } else { TokenKind::DocumentStart };
        self.push(kind, mark, self.cursor.at);
        if self.bom_allowed {
            self.skip_rest()?;
            if !is_line_end(self.cursor.peek(0)) {
                return self.fail(self.cursor.at, "only a comment is valid after `...`; start a new line");
            }
        }
        Ok(())
    }
}
