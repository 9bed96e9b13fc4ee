//! YAML text → tokens: indentation and `:` become the starts and ends of collections.
//!
//! The way of libyaml, which go-yaml and most readers go: what may turn out to be a key is remembered, and its token is
//! put before it once the `:` is there.

use super::super::source::Span;
use super::super::tree::Style;
use super::cursor::{Cursor, Mark, is_flow, is_line_end, is_space};
use super::names::{Names, Tag};

/// Reading has ended; [`Scanner::fault`] says why.
pub(super) struct Stopped;

pub(super) type Step<T = ()> = Result<T, Stopped>;

/// What stopped reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The byte where it is.
    pub(super) at: usize,
    /// What is wrong there; nothing where the nesting is too deep.
    pub(super) why: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    DocumentStart,
    DocumentEnd,
    Directive,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    Entry,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    Comma,
    Key,
    Value,
    Alias,
    Anchor,
    Tag,
    Scalar,
}

#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// The column of its start.
    pub(super) col: usize,
    pub(super) style: Style,
    pub(super) tag: Tag,
    pub(super) text: Words,
}

/// The value of a scalar: a stretch of the text, or of what was put together beside it.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) span: Span,
    pub(super) composed: bool,
}

/// What may turn out to be a key.
#[derive(Clone, Copy)]
pub(super) struct SimpleKey {
    pub(super) mark: Mark,
    /// Nothing but a key can stand here.
    pub(super) required: bool,
    /// Which token it is, counted from the first of all.
    pub(super) number: usize,
}

/// Brackets that are open, or what is outside of all.
#[derive(Default)]
pub(super) struct Level {
    pub(super) key: Option<SimpleKey>,
    /// Where the bracket stands.
    pub(super) at: usize,
    pub(super) bracket: u8,
    /// In a list: a member that is a pair has its mapping, begun by `?`.
    pub(super) started: bool,
    /// In a list: the mapping of a pair is open.
    pub(super) pair: bool,
}

pub(super) struct Indent {
    /// What [`Scanner::indent`] was before.
    pub(super) before: usize,
    /// A collection ends with it.
    pub(super) block: bool,
}

pub(super) struct Scanner<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) names: Names<'t>,
    /// The comments so far, each from its `#` to the end of its line.
    pub(super) comments: Vec<Span>,
    /// Values that differ from their spelling.
    pub(super) composed: String,
    pub(super) fault: Fault,
    /// The levels of brackets that are read.
    pub(super) depth: usize,
    pub(super) tokens: Vec<Token>,
    /// The first of the tokens that is still to be handed out.
    pub(super) head: usize,
    pub(super) handed_out: usize,
    pub(super) outer: Vec<Level>,
    pub(super) level: Level,
    /// A key may start here.
    pub(super) key_allowed: bool,
    /// The column from which on text is inside of the innermost block: one more than the block's own, 0 outside of all.
    pub(super) indent: usize,
    pub(super) indents: Vec<Indent>,
    /// A byte order mark may stand here.
    pub(super) bom_allowed: bool,
    /// Where `:` ends a key without white space behind it, because quotes or a bracket ended there.
    pub(super) adjacent: usize,
    /// Where a comment cut off an unquoted scalar, and the line of it.
    pub(super) interrupted: Option<(usize, usize)>,
    /// After `?` and a comment: tabs must not indent the key.
    pub(super) tabs_matter: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, depth: usize) -> Self {
        Self {
            cursor: Cursor::new(text),
            names: Names::default(),
            comments: Vec::new(),
            composed: String::new(),
            fault: Fault { at: 0, why: None },
            depth,
            tokens: Vec::new(),
            head: 0,
            handed_out: 0,
            outer: Vec::new(),
            level: Level::default(),
            key_allowed: true,
            indent: 0,
            indents: Vec::new(),
            bom_allowed: true,
            adjacent: 0,
            interrupted: None,
            tabs_matter: false,
        }
    }

    /// Stops reading. Where a control character cut the text off, that is why, whatever seems to be missing there.
    #[cold]
    #[inline(never)]
    pub(super) fn fail<T>(&mut self, at: usize, why: &'static str) -> Step<T> {
        self.fault = if self.cursor.is_cut_off() {
            let why = "a control character; leave it out, or write it as an escape such as `\\x07` in double quotes";
            Fault { at: self.cursor.at, why: Some(why) }
        } else {
            Fault { at, why: Some(why) }
        };
        Err(Stopped)
    }

    /// Hands out the next token.
    pub(super) fn next(&mut self) -> Step<Token> {
        self.fetch_enough()?;
        let Some(token) = self.tokens.get(self.head).copied() else { return Err(Stopped) };
        self.head += 1;
        self.handed_out += 1;
        // What was handed out is dropped when nothing is left, or when it is much.
        if self.head == self.tokens.len() || self.head > 4096 {
            self.tokens.drain(..self.head);
            self.head = 0;
        }
        Ok(token)
    }

    /// Reads on until it is clear whether the next token is the start of a key.
    fn fetch_enough(&mut self) -> Step {
        loop {
            if let Some(last) = self.tokens.last() {
                if matches!(last.kind, Kind::DocumentStart | Kind::DocumentEnd) {
                    return Ok(());
                }
                self.drop_stale_keys()?;
                let mut keys = self.outer.iter().chain([&self.level]).filter_map(|level| level.key.as_ref());
                if !keys.any(|key| key.number == self.handed_out) {
                    return Ok(());
                }
            } else {
                self.composed.clear();
            }
            self.fetch()?;
        }
    }

    pub(super) fn is_in_flow(&self) -> bool {
        !self.outer.is_empty()
    }

    pub(super) fn token(kind: Kind, mark: Mark, end: usize) -> Token {
        Token {
            kind,
            span: Span::new(mark.at, end),
            col: mark.col,
            style: Style::Plain,
            tag: Tag::None,
            text: Words { span: Span::new(0, 0), composed: false },
        }
    }

    pub(super) fn push(&mut self, kind: Kind, mark: Mark, end: usize) {
        self.tokens.push(Self::token(kind, mark, end));
    }

    pub(super) fn push_scalar(&mut self, style: Style, mark: Mark, end: usize, text: Words) {
        self.tokens.push(Token { style, text, ..Self::token(Kind::Scalar, mark, end) });
    }

    pub(super) fn push_tagged(&mut self, kind: Kind, tag: Tag, mark: Mark, end: usize) {
        self.tokens.push(Token { tag, ..Self::token(kind, mark, end) });
    }

    /// Reads the next token, and those that have to stand before it.
    fn fetch(&mut self) -> Step {
        while self.skip_to_token()? {
            // A comment may have outlived a key, which is to be known before what follows it.
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
                self.fail(mark.at, "a space is missing after `:`")
            }
            b':' if in_flow && is_flow(next) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(),
            b'!' => self.fetch_tag(),
            b'|' | b'>' if !in_flow => self.fetch_block_scalar(char == b'|'),
            b'\'' | b'"' => self.fetch_quoted(char),
            b'|' | b'>' | b'%' | b'@' | b'`' => {
                self.fail(mark.at, "text that starts with this character needs quotes")
            }
            _ if self.cursor.is_bom(mark.at) => {
                self.fail(mark.at, "a byte order mark within the text; remove it")
            }
            _ => self.fetch_plain(),
        }
    }

    fn fetch_end(&mut self) -> Step {
        self.refuse_open_bracket()?;
        if self.cursor.is_cut_off() {
            return self.fail(self.cursor.at, "");
        }
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.push(Kind::End, mark, mark.at);
        Ok(())
    }

    fn fetch_document_mark(&mut self, char: u8) -> Step {
        self.refuse_open_bracket()?;
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.cursor.skip(3);
        self.bom_allowed = char == b'.';
        let kind = if self.bom_allowed { Kind::DocumentEnd } else { Kind::DocumentStart };
        self.push(kind, mark, self.cursor.at);
        if self.bom_allowed {
            self.skip_rest()?;
            if !is_line_end(self.cursor.peek(0)) {
                return self.fail(self.cursor.at, "only a comment can stand behind `...`");
            }
        }
        Ok(())
    }
}
