//! Collections in brackets: `{a: b, c: [d]}`, and JSON.

use manifest::source::Span;

use super::{Collection, Entry, EntryId, Outline};

/// An open collection.
struct Open {
    owner: Option<EntryId>,
    /// Its position among the collections.
    collection: usize,
    is_list: bool,
}

/// Reads the collection that starts at a byte, as the value of an entry. Within a block, a line that is not indented more than `column`
/// ends a collection that is not closed, except a closing bracket. Returns the byte after the collection.
pub(super) fn read(
    outline: &mut Outline,
    text: &str,
    start: usize,
    owner: Option<EntryId>,
    column: Option<usize>,
) -> usize {
    let end = outline.span.end;
    let mut flow = Flow { outline, text, end, open: Vec::new(), member: None };
    flow.push(start, owner);
    let mut at = start + 1;
    while at < end && !flow.open.is_empty() {
        let Some(byte) = text.as_bytes().get(at) else { break };
        match byte {
            b'\n' | b' ' | b'\t' | b'\r' => {
                let next = skip_whitespace(text, at, end);
                if let Some(line) = column.and_then(|column| end_of_block(text, at, next, column)) {
                    at = line;
                    break;
                }
                at = next;
            }
            b'#' => {
                let stop = line_end(text, at, end);
                flow.outline.comments.push(Span::new(at, stop));
                at = stop;
            }
            b'{' | b'[' => {
                let owner = flow.member_for_value(at);
                flow.push(at, Some(owner));
                at += 1;
            }
            b'}' | b']' => {
                flow.close(at + 1);
                at += 1;
            }
            b',' => {
                flow.end_member(at);
                at += 1;
            }
            b':' if flow.takes_colon() => {
                flow.set_colon(at);
                at += 1;
            }
            _ => at = flow.scalar(at),
        }
    }
    flow.end_all(at);
    at
}

fn skip_whitespace(text: &str, at: usize, end: usize) -> usize {
    let rest = Span::new(at, end).text(text);
    end - rest.trim_start_matches(['\n', ' ', '\t', '\r']).len()
}

/// The end of the line at which a collection within a block ends, because the text after the whitespace between two bytes is on a line that
/// is indented too little.
fn end_of_block(text: &str, at: usize, next: usize, column: usize) -> Option<usize> {
    let whitespace = Span::new(at, next).text(text);
    let indent = whitespace.len() - (whitespace.rfind('\n')? + 1);
    let closes = matches!(text.as_bytes().get(next), Some(b'}' | b']'));
    (indent <= column && !closes).then(|| at + whitespace.find(['\n', '\r']).unwrap_or_default())
}

/// The end of the line at a byte, without the line break.
pub(super) fn line_end(text: &str, at: usize, end: usize) -> usize {
    let rest = Span::new(at, end).text(text);
    at + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

struct Flow<'o, 't> {
    outline: &'o mut Outline,
    text: &'t str,
    end: usize,
    open: Vec<Open>,
    /// The member of the innermost collection that is being read.
    member: Option<EntryId>,
}

impl Flow<'_, '_> {
    fn push(&mut self, at: usize, owner: Option<EntryId>) {
        let is_list = self.text.as_bytes().get(at) == Some(&b'[');
        self.open.push(Open { owner, collection: self.outline.collections.len(), is_list });
        self.outline.collections.push(Collection { owner, span: Span::new(at, self.end) });
        self.member = None;
    }

    fn close(&mut self, end: usize) {
        self.end_member(end - 1);
        if let Some(open) = self.open.pop() {
            if let Some(collection) = self.outline.collections.get_mut(open.collection) {
                collection.span.end = end;
            }
            if let Some(owner) = open.owner {
                self.outline.extend(owner, end.min(self.end));
            }
            // A collection within another one is the value of a member there.
            self.member = open.owner.filter(|_| !self.open.is_empty());
        }
    }

    fn end_all(&mut self, end: usize) {
        while !self.open.is_empty() {
            // A cursor at the end of the text is still within.
            self.close(end + 1);
        }
    }

    fn end_member(&mut self, end: usize) {
        if let Some(id) = self.member.take() {
            self.outline.extend(id, end);
        }
    }

    fn add(&mut self, key: Option<Span>, value: Span, start: usize) -> EntryId {
        let parent = self.open.last().and_then(|open| open.owner);
        let span = Span::new(start, key.unwrap_or(value).end.max(value.end));
        let id = self.outline.add(Entry { is_flow: true, ..Entry::new(parent, key, value, span) });
        self.member = Some(id);
        id
    }

    /// The member whose value starts at a byte.
    fn member_for_value(&mut self, at: usize) -> EntryId {
        let awaits = |entry: &Entry| entry.colon.is_some() && entry.value.is_empty();
        if let Some(id) = self.member.filter(|id| self.outline.entry(*id).is_some_and(awaits)) {
            return id;
        }
        let is_list = self.open.last().is_some_and(|open| open.is_list);
        let key = (!is_list).then(|| Span::new(at, at));
        self.add(key, Span::new(at, at), at)
    }

    /// Whether a colon ends the key of the member.
    fn takes_colon(&self) -> bool {
        self.member.and_then(|id| self.outline.entry(id)).is_some()
    }

    fn set_colon(&mut self, at: usize) {
        let Some(id) = self.member else { return };
        let Some(entry) = self.outline.entries.get_mut(id) else { return };
        if entry.colon.is_none() {
            if entry.key.is_none() {
                // The only pair of `[a: b]`.
                entry.key = Some(entry.value);
            }
            (entry.colon, entry.value) = (Some(at), Span::new(at + 1, at + 1));
            return;
        }
        // The comma after the value before is not typed yet: what looked like the value is the next key.
        let key = entry.value;
        if key.is_empty() {
            return;
        }
        entry.value = Span::new(key.start, key.start);
        entry.span.end = key.start;
        let id = self.add(Some(key), Span::new(at + 1, at + 1), key.start);
        if let Some(entry) = self.outline.entries.get_mut(id) {
            entry.colon = Some(at);
        }
    }

    /// Reads a scalar, and returns the byte after it.
    fn scalar(&mut self, start: usize) -> usize {
        let (span, after) = if let Some(quote @ (b'"' | b'\'')) = self.text.as_bytes().get(start) {
            quoted(self.text, start, *quote, self.end)
        } else {
            let end = start + plain_length(Span::new(start, self.end).text(self.text)).max(1);
            let end = self.text.ceil_char_boundary(end);
            let trimmed = Span::new(start, end).text(self.text).trim_end().len();
            (Span::new(start, start + trimmed), end)
        };
        let awaits = |entry: &Entry| entry.colon.is_some() && entry.value.is_empty();
        let waiting = self.member.filter(|id| self.outline.entry(*id).is_some_and(awaits));
        if let Some(entry) = waiting.and_then(|id| self.outline.entries.get_mut(id)) {
            entry.value = span;
            entry.span.end = after;
            return after;
        }
        self.end_member(start);
        let is_list = self.open.last().is_some_and(|open| open.is_list);
        if is_list {
            self.add(None, span, start)
        } else {
            self.add(Some(span), Span::new(after, after), start)
        };
        after
    }
}

/// The length of a plain scalar at the start of a text.
fn plain_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().peekable();
    let mut before = b' ';
    while let Some((at, byte)) = bytes.next() {
        let next = bytes.peek().map_or(b'\n', |(_, next)| *next);
        let ends = match byte {
            b',' | b'[' | b']' | b'{' | b'}' | b'\n' | b'\r' => true,
            b':' => matches!(next, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'[' | b']' | b'{' | b'}'),
            b'#' => before == b' ',
            _ => false,
        };
        if ends {
            return at;
        }
        before = byte;
    }
    text.len()
}

/// The text in quotes, and the byte after the closing quote. A quote that is not closed ends with the line.
pub(super) fn quoted(text: &str, start: usize, quote: u8, end: usize) -> (Span, usize) {
    let stop = line_end(text, start, end);
    let mut at = start + 1;
    while let Some(byte) = text.as_bytes().get(at).filter(|_| at < stop) {
        if *byte == b'\\' && quote == b'"' {
            at += 2;
        } else if *byte == quote {
            if quote == b'\'' && text.as_bytes().get(at + 1) == Some(&b'\'') {
                at += 2;
                continue;
            }
            return (Span::new(start + 1, at), at + 1);
        } else {
            at += 1;
        }
    }
    (Span::new(start + 1, stop.max(start + 1)), stop.max(start + 1))
}
