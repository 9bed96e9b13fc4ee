//! Lines with their indentation: dashes, keys, scalars, and block scalars.

use manifest::source::Span;

use super::flow::{self, line_end, quoted};
use super::{Entry, EntryId, Outline};

/// The spans of the documents of a text.
pub(super) fn documents(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let is_separator = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_separator && at > start {
            spans.push(Span::new(start, at));
        }
        at += line.len();
        if is_separator {
            start = at;
        }
    }
    spans.push(Span::new(start, text.len()));
    spans
}

/// Reads the document of a span.
pub(super) fn read(text: &str, span: Span) -> Outline {
    let mut reader = Reader { outline: Outline { span, ..Outline::default() }, text, open: Vec::new() };
    let mut at = span.start;
    while at < span.end {
        at = reader.line(at);
    }
    reader.outline
}

struct Reader<'t> {
    outline: Outline,
    text: &'t str,
    /// The entries around the next line, the outermost first.
    open: Vec<EntryId>,
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied().filter(|_| at < self.outline.span.end)
    }

    /// The text from a byte to the end of its line.
    fn rest(&self, at: usize) -> &str {
        Span::new(at, line_end(self.text, at, self.outline.span.end)).text(self.text)
    }

    /// The start of the line after a byte.
    fn next_line(&self, at: usize) -> usize {
        let end = self.outline.span.end;
        let rest = Span::new(at, end).text(self.text);
        rest.find('\n').map_or(end, |length| at + length + 1)
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    }

    /// Reads a line, with the lines of a scalar or a collection that starts in it. Returns the start of the next one.
    fn line(&mut self, start: usize) -> usize {
        let mut at = self.skip_blanks(start);
        let mut item = None;
        while self.byte(at) == Some(b'-')
            && matches!(self.byte(at + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
        {
            let value = self.skip_blanks(at + 1);
            let place = value.min(at + 2);
            item = Some(self.add(None, None, Span::new(place, place), Span::new(at, at + 1), at - start));
            at = value;
        }
        match self.byte(at) {
            None | Some(b'\n' | b'\r') => self.next_line(at),
            Some(b'#') => self.comment(at),
            _ => self.content(at, at - start, item),
        }
    }

    fn comment(&mut self, at: usize) -> usize {
        self.outline.comments.push(Span::new(at, line_end(self.text, at, self.outline.span.end)));
        self.next_line(at)
    }

    /// Reads a key with its value, or a scalar or collection, at a byte.
    fn content(&mut self, at: usize, column: usize, item: Option<EntryId>) -> usize {
        if let Some((key, colon)) = self.key_at(at) {
            let value = self.skip_blanks(colon + 1);
            let place = value.min(colon + 2);
            let id =
                self.add(Some(key), Some(colon), Span::new(place, place), Span::new(at, colon + 1), column);
            return self.value(id, value, column);
        }
        match (item, self.byte(at)) {
            (Some(item), _) => {
                let column = self.outline.entry(item).map_or(column, |entry| entry.column);
                self.value(item, at, column)
            }
            // A line of a template, or a directive of Terraform in a here-document. No scalar of YAML starts with `%`.
            (None, Some(b'%')) if self.rest(at).starts_with("%{") => self.next_line(at),
            (None, Some(b'{')) if self.rest(at).starts_with("{{") => self.next_line(at),
            (None, Some(b'{' | b'[')) => {
                // JSON, or a collection on the line below its key.
                let owner = self.holder_of(column);
                let is_top = owner.is_none();
                let after = flow::read(
                    &mut self.outline,
                    self.text,
                    at,
                    owner,
                    (!is_top).then(|| column.saturating_sub(1)),
                );
                self.after_value(after)
            }
            _ => {
                let word = self.scalar_at(at).0;
                self.add(Some(word), None, Span::new(word.end, word.end), word, column);
                self.after_value(word.end)
            }
        }
    }

    /// The entry that holds an entry of a column.
    fn holder_of(&mut self, column: usize) -> Option<EntryId> {
        while let Some(id) = self.open.last() {
            if self.outline.entry(*id).is_some_and(|entry| entry.column < column) {
                return Some(*id);
            }
            self.open.pop();
        }
        None
    }

    /// Adds an entry under the entry that is indented less. A list may have the indentation of its key.
    fn add(
        &mut self,
        key: Option<Span>,
        colon: Option<usize>,
        value: Span,
        span: Span,
        column: usize,
    ) -> EntryId {
        let is_item = key.is_none();
        let encloses = |entry: &Entry| {
            entry.column < column || (is_item && entry.column == column && entry.key.is_some())
        };
        while self.open.last().is_some_and(|id| !self.outline.entry(*id).is_some_and(encloses)) {
            self.open.pop();
        }
        let parent = self.open.last().copied();
        let id = self.outline.add(Entry { colon, column, ..Entry::new(parent, key, value, span) });
        self.outline.extend(id, span.end);
        self.open.push(id);
        id
    }

    /// Reads the value of an entry at a byte, which may be the end of the line.
    fn value(&mut self, id: EntryId, at: usize, column: usize) -> usize {
        let mut at = at;
        // Anchors and tags.
        while matches!(self.byte(at), Some(b'&' | b'!')) {
            let word = self.rest(at);
            at = self.skip_blanks(at + word.find([' ', '\t']).unwrap_or(word.len()));
        }
        match self.byte(at) {
            None | Some(b'\n' | b'\r') => self.next_line(at),
            Some(b'#') => self.comment(at),
            Some(b'|' | b'>') => self.script(id, at, column),
            Some(b'{' | b'[') if !self.rest(at).starts_with("{{") => {
                let after = flow::read(&mut self.outline, self.text, at, Some(id), Some(column));
                self.after_value(after)
            }
            Some(_) => {
                let (span, after) = self.scalar_at(at);
                if let Some(entry) = self.outline.entries.get_mut(id) {
                    entry.value = span;
                }
                self.outline.extend(id, after);
                self.after_value(after)
            }
        }
    }

    /// The lines of a block scalar, which are indented more than its key.
    fn script(&mut self, id: EntryId, at: usize, column: usize) -> usize {
        let start = self.next_line(at);
        let (mut next, mut end) = (start, at);
        while next < self.outline.span.end {
            let line = self.rest(next);
            let text = line.trim_start_matches([' ', '\t']);
            if !text.is_empty() && line.len() - text.len() <= column {
                break;
            }
            if !text.is_empty() {
                end = next + line.len();
            }
            next = self.next_line(next);
        }
        if start < next {
            self.outline.scripts.push(Span::new(start, next));
        }
        self.outline.extend(id, end);
        next
    }

    /// Reads the comment after a value.
    fn after_value(&mut self, after: usize) -> usize {
        let at = self.skip_blanks(after);
        if self.byte(at) == Some(b'#') { self.comment(at) } else { self.next_line(after) }
    }

    /// The key at a byte, and its colon.
    fn key_at(&self, at: usize) -> Option<(Span, usize)> {
        let is_colon = |at: usize| {
            self.byte(at) == Some(b':')
                && matches!(self.byte(at + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
        };
        if let Some(quote @ (b'"' | b'\'')) = self.byte(at) {
            let (span, after) = quoted(self.text, at, quote, self.outline.span.end);
            let colon = self.skip_blanks(after);
            return is_colon(colon).then_some((span, colon));
        }
        if matches!(self.byte(at), Some(b'{' | b'[' | b'#' | b'|' | b'>' | b'%')) {
            return None;
        }
        let line = self.rest(at);
        let mut before = ' ';
        for (offset, char) in line.char_indices() {
            if char == '#' && before.is_whitespace() {
                return None;
            }
            if char == ':' && is_colon(at + offset) {
                let key = Span::new(at, at + offset).text(self.text).trim_end();
                return Some((Span::new(at, at + key.len()), at + offset));
            }
            before = char;
        }
        None
    }

    /// The scalar at a byte without its quotes, and the byte after it.
    fn scalar_at(&self, at: usize) -> (Span, usize) {
        if let Some(quote @ (b'"' | b'\'')) = self.byte(at) {
            return quoted(self.text, at, quote, self.outline.span.end);
        }
        let line = self.rest(at);
        let comment = line.match_indices('#').find(|(offset, _)| {
            *offset == 0 || line.as_bytes().get(offset - 1).is_some_and(u8::is_ascii_whitespace)
        });
        let text =
            line.get(..comment.map_or(line.len(), |(offset, _)| offset)).unwrap_or_default().trim_end();
        (Span::new(at, at + text.len()), at + text.len())
    }
}
