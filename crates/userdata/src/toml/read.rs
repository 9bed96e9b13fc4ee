//! From a text to its tree: one cursor that goes forward.

use super::tree::{Origin, ROOT, Tree, Twice};
use super::{Document, SyntaxError, Value, scalar};
use crate::word::Word;
use crate::{Placed, Span};

/// The most arrays and inline tables inside one another.
const MAX_DEPTH: u32 = 64;

pub(super) const LONE_RETURN: &str = "carriage return must be followed by newline";

pub(super) fn document(text: &str) -> Result<Document, SyntaxError> {
    let mut reader = Reader { text, at: 0, depth: 0, tree: Tree::default(), error: None, has_stopped: false };
    reader.tree.add(None, Placed::default(), Span::whole(text), Value::Table, Origin::Header);
    reader.document();
    match reader.error {
        Some(error) => Err(error),
        None => Ok(Document { nodes: reader.tree.nodes }),
    }
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: u32,
    tree: Tree,
    error: Option<SyntaxError>,
    has_stopped: bool,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.peek() == Some(byte);
        self.at += usize::from(eaten);
        eaten
    }

    pub(super) fn starts_with(&self, mark: &[u8]) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(mark))
    }

    pub(super) fn here(&self) -> Span {
        Span::new(self.at, self.at)
    }

    /// Something that parses and means nothing. The first one counts, and only where all parses: one mistake would be
    /// told twice.
    pub(super) fn defect(&mut self, message: &str, span: Span) {
        if !self.has_stopped && self.error.as_ref().is_none_or(|first| span.start < first.span.start) {
            self.error = Some(SyntaxError { message: message.to_owned(), span });
        }
    }

    /// Something that does not parse. What follows is left out: the cursor goes to the end, where every loop ends.
    fn stop(&mut self, message: &str, span: Span) {
        if !self.has_stopped {
            self.error = None;
            self.defect(message, span);
            self.has_stopped = true;
            self.at = self.text.len();
        }
    }

    fn twice(&mut self, key: &Placed) {
        let message = ["`", &key.value, "` is defined twice"].concat();
        self.defect(&message, key.span);
    }

    fn document(&mut self) {
        if self.starts_with(b"\xEF\xBB\xBF") {
            self.at = 3;
        }
        let mut table = ROOT;
        loop {
            self.trivia();
            match self.peek() {
                None => return,
                Some(b'[') => table = self.header().unwrap_or(table),
                Some(b']') => return self.stop("missing table open", self.here()),
                Some(b',' | b'{' | b'}') => return self.stop("invalid key-value pair", self.here()),
                Some(_) => {
                    let path = self.path();
                    if !self.eat(b'=') {
                        return self.stop("key with no value", self.here());
                    }
                    self.blanks();
                    self.pair(table, path);
                }
            }
            self.blanks();
            if !matches!(self.peek(), None | Some(b'\n' | b'\r' | b'#')) {
                return self.stop("unexpected key or value", self.here());
            }
        }
    }

    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips blanks, line breaks and comments.
    fn trivia(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n') => self.at += 1,
                Some(b'\r') => {
                    self.at += 1;
                    if self.peek() != Some(b'\n') {
                        self.stop(LONE_RETURN, self.here());
                    }
                }
                Some(b'#') => {
                    while let Some(byte) = self.peek()
                        && !matches!(byte, b'\n' | b'\r')
                    {
                        if is_control(byte) {
                            self.stop("invalid comment character", self.here());
                        } else {
                            self.at += 1;
                        }
                    }
                }
                _ => return,
            }
        }
    }

    /// `[a.b]` or `[[a.b]]`: the table that it opens.
    fn header(&mut self) -> Option<usize> {
        let start = self.at;
        self.at += 1;
        let is_array = self.eat(b'[');
        let path = self.path();
        let what = if is_array { "unclosed array table" } else { "unclosed table" };
        if !self.eat(b']') {
            let end = path.last().map_or(start, |key| key.span.end);
            self.stop(what, Span::new(end, end));
        } else if is_array && !self.eat(b']') {
            self.stop(what, self.here());
        }
        match self.tree.open(path, is_array, Span::new(start, self.at)) {
            Ok(table) => Some(table),
            Err(Twice(key)) => {
                self.twice(&key);
                None
            }
        }
    }

    /// Keys with dots between them, and the blanks around them.
    fn path(&mut self) -> Vec<Placed> {
        let mut path = Vec::new();
        loop {
            self.blanks();
            let key = self.key();
            path.push(key);
            self.blanks();
            if !self.eat(b'.') {
                return path;
            }
        }
    }

    fn key(&mut self) -> Placed {
        let start = self.at;
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let is_long = self.starts_with(&[quote; 3]);
            let (value, _) = self.string(quote);
            let span = Span::new(start, self.at);
            if is_long {
                self.defect("keys cannot be multi-line strings", span);
            }
            return Placed { value, span };
        }
        self.word();
        let span = Span::new(start, self.at);
        let value = span.text(self.text).to_owned();
        if span.is_empty() {
            self.defect("unquoted keys cannot be empty", span);
        }
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if let Some(wrong) = value.bytes().position(|byte| !is_bare(byte)) {
            let length = value.bytes().skip(wrong).take_while(|byte| !is_bare(*byte)).count();
            self.defect("invalid unquoted key", Span::new(start + wrong, start + wrong + length));
        }
        Placed { value, span }
    }

    /// Skips what is neither a blank nor a mark.
    fn word(&mut self) {
        while let Some(byte) = self.peek()
            && !b".=,[]{} \t#\r\n".contains(&byte)
        {
            self.at += 1;
        }
    }

    /// The value of a key in a table.
    fn pair(&mut self, table: usize, path: Vec<Placed>) {
        match self.tree.define(table, path) {
            Ok((table, key)) => self.value(Some(table), key),
            Err(Twice(key)) => {
                self.twice(&key);
                // It is read all the same, for what is wrong inside it.
                self.value(None, key);
            }
        }
    }

    fn value(&mut self, parent: Option<usize>, key: Placed) {
        let start = self.at;
        let value = match self.peek() {
            Some(b'[') => Value::Array,
            Some(b'{') => Value::Table,
            Some(b'=') => return self.stop("extra `=`", Span::new(start, start + 1)),
            Some(b']' | b'}') => return self.stop("missing value", self.here()),
            Some(quote @ (b'"' | b'\'')) => {
                let (value, content) = self.string(quote);
                let mut word = Word::starting(Span::new(start, self.at));
                word.quoted = true;
                word.push(&value, content, false);
                Value::String(word)
            }
            _ => self.scalar(),
        };
        let is_scalar = !matches!(value, Value::Array | Value::Table);
        let is_array = matches!(value, Value::Array);
        let id = self.tree.add(parent, key, Span::new(start, self.at), value, Origin::Value);
        if is_scalar {
            return;
        }
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.stop("cannot recurse further; max recursion depth met", Span::new(start, self.at));
        }
        self.items(id, is_array);
        self.depth -= 1;
        if let Some(node) = self.tree.nodes.get_mut(id) {
            node.span.end = self.at;
        }
    }

    /// What an array or an inline table holds, and the bracket that closes it.
    fn items(&mut self, id: usize, is_array: bool) {
        let (close, unclosed, extra, missing) = if is_array {
            (b']', "unclosed array", "extra comma in array", "missing comma between array elements")
        } else {
            (
                b'}',
                "unclosed inline table",
                "extra comma in inline table",
                "missing comma between key-value pairs",
            )
        };
        let mut end = self.here();
        let mut wants_comma = false;
        loop {
            self.trivia();
            match self.peek() {
                None => return self.stop(unclosed, end),
                Some(byte) if byte == close => {
                    self.at += 1;
                    return;
                }
                Some(b',') if wants_comma => {
                    self.at += 1;
                    wants_comma = false;
                }
                Some(b',') => {
                    let span = Span::new(self.at, self.at + usize::from(is_array));
                    return self.stop(extra, span);
                }
                Some(_) if wants_comma => {
                    return self.stop(missing, self.here());
                }
                Some(_) if is_array => {
                    self.value(Some(id), Placed::default());
                    wants_comma = true;
                }
                Some(_) => {
                    let path = self.path();
                    self.trivia();
                    if !self.eat(b'=') {
                        self.stop("missing assignment between key-value pairs", self.here());
                    }
                    self.trivia();
                    self.pair(id, path);
                    wants_comma = true;
                }
            }
            end = self.here();
        }
    }

    /// A value without quotes. A blank is part of it where more of it follows, as between a date and a time.
    fn scalar(&mut self) -> Value {
        let start = self.at;
        let mut end = start;
        loop {
            if self.at != end || !self.eat(b'.') {
                let word = self.at;
                if !matches!(self.peek(), Some(b'"' | b'\'')) {
                    self.word();
                }
                if self.at == word {
                    self.at = end;
                    break;
                }
            }
            end = self.at;
            self.blanks();
        }
        match scalar::read(Span::new(start, end).text(self.text)) {
            Ok(value) => value,
            Err((message, span)) => {
                self.defect(message, Span::new(start + span.start, start + span.end));
                Value::Float
            }
        }
    }
}

/// What stands nowhere but in an escape.
pub(super) const fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 10..=31 | 127)
}
