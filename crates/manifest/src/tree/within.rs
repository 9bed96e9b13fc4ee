//! Spans of parts of a string, for example of one word of a script in a block scalar.

use super::node::Node;
use super::store::Style;
use crate::source::{Source, Span, certain};

impl Node<'_> {
    /// The span in the source of the bytes `range` of this string. If the text folds or escapes the string, the span
    /// covers the spelling of these bytes. A range beyond the string gives the end of the string.
    pub fn span_within(self, range: Span) -> Span {
        if let Some(span) = self.span_in_parts(range) {
            return span;
        }
        let Some(value) = self.as_str().filter(|_| self.is_verbatim()) else { return self.span() };
        let mut walk = Walk::new(self.source(), self.span(), self.style());
        walk.rewind(value);
        let mut at = 0;
        let mut start = None;
        for char in value.chars() {
            if at >= range.end {
                break;
            }
            let written = walk.step(char, certain(value.get(at..)));
            if at >= range.start && start.is_none() {
                start = Some(written.start);
            }
            at += char.len_utf8();
            walk.last = written.end;
        }
        let start = start.unwrap_or(walk.last);
        Span::new(start, walk.last.max(start))
    }
}

/// A walk along the spelling of a scalar, one character of the value at a time.
struct Walk<'s> {
    source: &'s Source,
    style: Style,
    at: usize,
    end: usize,
    /// The indentation that a block scalar drops from each line.
    indent: usize,
    /// End of the last character.
    last: usize,
    /// The last character came from a line break.
    broken: bool,
}

impl<'s> Walk<'s> {
    fn new(source: &'s Source, span: Span, style: Style) -> Self {
        let quoted = matches!(style, Style::SingleQuoted | Style::DoubleQuoted);
        let at = span.start + usize::from(quoted);
        // A block scalar starts at its first content character, behind nothing but the indentation.
        let before = source.before(span.start);
        let line_end = before.trim_end_matches(' ');
        let starts_line = line_end.is_empty() || line_end.ends_with(['\n', '\r']);
        let indent = if starts_line { before.len() - line_end.len() } else { 0 };
        let end = span.end.saturating_sub(usize::from(quoted));
        Self { source, style, at, end, indent, last: at, broken: false }
    }

    /// Moves back to the empty lines at the start of a block scalar: its span starts at the first content character.
    fn rewind(&mut self, value: &str) {
        let empty = value.bytes().take_while(|byte| *byte == b'\n').count();
        if empty == 0
            || !matches!(self.style, Style::Literal | Style::Folded)
            || self.rest().starts_with(['\n', '\r'])
        {
            return;
        }
        let before = self.source.before(self.at);
        let Some((end, _)) = before.rmatch_indices('\n').nth(empty) else { return };
        let lines = certain(before.get(end + 1..));
        self.at = end + 1 + self.indentation(lines, true);
        self.last = self.at;
        self.broken = true;
    }

    fn rest(&self) -> &'s str {
        self.source.slice(Span::new(self.at.min(self.end), self.end))
    }

    /// Passes the spelling of the first character of `value` and returns the span of the spelling.
    fn step(&mut self, char: char, value: &str) -> Span {
        let block = matches!(self.style, Style::Literal | Style::Folded);
        if (char == '\n' || char == ' ')
            && let Some(len) = self.line_break(char, value, block)
        {
            let from = self.at;
            self.at += len;
            self.broken = true;
            return Span::new(from, self.at);
        }
        self.broken = false;
        let from = self.at;
        let rest = self.rest();
        let len = match (self.style, rest.as_bytes().first()) {
            (Style::DoubleQuoted, Some(b'\\')) => escape_len(rest),
            (Style::SingleQuoted, Some(b'\'')) => 2,
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
        self.at += len;
        Span::new(from, self.at)
    }

    /// The length of the line breaks that one character folds or keeps, with the indentation after them.
    fn line_break(&mut self, char: char, value: &str, block: bool) -> Option<usize> {
        let rest = self.rest();
        let folds = self.style != Style::Literal;
        let lead = if block { 0 } else { rest.len() - rest.trim_start_matches([' ', '\t']).len() };
        let mut len = lead + newline_len(rest.get(lead..)?)?;
        len += self.indentation(rest.get(len..)?, block);
        // Folding drops the first of several line breaks, except next to a line with more indentation.
        if folds
            && char == '\n'
            && !self.broken
            && value.bytes().take_while(|byte| *byte == b'\n').count() < self.count_breaks(block)
            && let Some(second) = rest.get(len..).and_then(newline_len)
        {
            len += second;
            len += self.indentation(rest.get(len..)?, block);
        }
        Some(len)
    }

    /// The number of line breaks at this place, up to the next line with content.
    fn count_breaks(&self, block: bool) -> usize {
        let mut count = 0;
        let mut rest = self.rest().trim_start_matches([' ', '\t']);
        while let Some(line) = newline_len(rest).and_then(|len| rest.get(len..)) {
            count += 1;
            rest = certain(line.get(self.indentation(line, block)..));
        }
        count
    }

    /// The length of the indentation, which is not part of the value.
    fn indentation(&self, line: &str, block: bool) -> usize {
        if block {
            return line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        }
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }
}

fn newline_len(text: &str) -> Option<usize> {
    if text.starts_with("\r\n") { Some(2) } else { text.starts_with(['\n', '\r']).then_some(1) }
}

/// The length of an escape such as `\n`, `\x41`, `\u0041` or an escaped line break.
fn escape_len(text: &str) -> usize {
    let digits = match text.as_bytes().get(1) {
        Some(b'x') => 2,
        Some(b'u') => surrogate_len(text),
        Some(b'U') => 8,
        _ => 0,
    };
    let char = text.get(1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    1 + char + digits
}

/// The hexadecimal digits after `\u`. JSON spells a character above U+FFFF as a pair of escapes.
fn surrogate_len(text: &str) -> usize {
    let high = text.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let pair = high.is_some_and(|high| (0xd800..0xdc00).contains(&high)) && text.get(6..8) == Some("\\u");
    if pair { 10 } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{Document, File};

    /// The spelling and line of every occurrence of `word` in the string under `text:`.
    fn found(text: &str, word: &str) -> Vec<(String, usize)> {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
        let node = tree.root().get("text").unwrap();
        let value = node.as_str().unwrap();
        value
            .match_indices(word)
            .map(|(at, _)| {
                let span = node.span_within(Span::new(at, at + word.len()));
                (file.source.slice(span).to_owned(), file.source.position(span.start).line)
            })
            .collect()
    }

    fn expect(text: &str, word: &str, places: &[(&str, usize)]) {
        let places: Vec<_> = places.iter().map(|(text, line)| ((*text).to_owned(), *line)).collect();
        assert_eq!(found(text, word), places, "{text}");
    }

    #[test]
    fn finds_word_on_its_line_of_a_block_scalar() {
        expect(
            "text: |\n  #!/bin/bash\n  set -e\n\n    é word\n  word\n",
            "word",
            &[("word", 5), ("word", 6)],
        );
        expect("text: |\r\n  one\r\n  word\r\n", "word", &[("word", 3)]);
        expect("text: |\n\n  \n  one word\n", "word", &[("word", 4)]);
        expect("text: |\r\n\r\n  word\r\n\r\n  word", "word", &[("word", 3), ("word", 5)]);
        expect("text: >\n\n\n  one\n  word\n", "word", &[("word", 5)]);
        expect("a:\ntext: |2\n    one\n   word\n", "word", &[("word", 4)]);
    }

    #[test]
    fn finds_word_on_its_line_of_folded_text() {
        expect("text: >\n  one\n  word\n\n  two\n  word\n", "word", &[("word", 3), ("word", 6)]);
        expect("text: >-\n  one\n\n    word\n\n  word\n", "word", &[("word", 4), ("word", 6)]);
        expect("text: >-\n  one\n\n\n  word\n    more\n  word\n", "word", &[("word", 5), ("word", 7)]);
    }

    #[test]
    fn finds_word_in_quotes_after_escapes_and_line_breaks() {
        expect(r#"text: "a\n\x41\u00e9 word\"word""#, "word", &[("word", 1), ("word", 1)]);
        expect("text: \"one\n  word\n\n  word\"", "word", &[("word", 2), ("word", 4)]);
        expect("text: 'it''s a word'", "word", &[("word", 1)]);
        expect("text: one\n  word", "word", &[("word", 2)]);
        expect("{\"text\": \"\\ud83d\\ude00 word\"}", "word", &[("word", 1)]);
    }
}
