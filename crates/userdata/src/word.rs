//! Words after quotes and escapes are resolved, with the span of every part in the source text.

use core::ops::Range;

use manifest::source::{Span, certain};

/// Text with its span in the source. The two differ if quotes or escapes were resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpannedText {
    /// Text after quotes and escapes are resolved.
    pub value: String,
    /// Span in the source text.
    pub span: Span,
}

/// Word as a program receives it, after quote removal. Expansions such as `$X` stay as written and are marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceWord {
    /// Span in the source text, with quotes.
    pub span: Span,
    /// Value that the program receives, with expansions as written.
    pub value: String,
    /// Whether a part of the word is quoted or escaped.
    pub quoted: bool,
    pieces: Vec<Piece>,
    expansions: Vec<Range<usize>>,
}

/// Part of the value with its span in the source text. The next piece starts where this one ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// Offset in the value.
    value: usize,
    raw: Span,
}

impl SourceWord {
    /// Whether only the node knows a part of the value: `$X`, `${X}`, `$(…)`, a back-tick.
    pub fn is_dynamic(&self) -> bool {
        !self.expansions.is_empty()
    }

    /// Whether a range of the value overlaps an expansion.
    pub fn is_dynamic_in(&self, range: &Range<usize>) -> bool {
        let next = self.expansions.partition_point(|expansion| expansion.end <= range.start);
        self.expansions.get(next).is_some_and(|expansion| expansion.start < range.end)
    }

    /// Spans of the expansions in the source text.
    pub fn expansions(&self) -> impl Iterator<Item = Span> {
        self.expansions.iter().map(|range| self.span_of(range))
    }

    /// Span of a range of the value in the source text. For a range outside the value, the span of the whole word.
    pub fn span_of(&self, range: &Range<usize>) -> Span {
        let first = self.pieces.partition_point(|piece| piece.value <= range.start).checked_sub(1);
        let last = self.pieces.partition_point(|piece| piece.value < range.end).checked_sub(1);
        let (Some(first), Some(last)) = (first, last.or(first)) else { return self.span };
        let start = self.position(first, range.start, false);
        let end = self.position(last, range.end, true);
        Span::new(start, end.max(start))
    }

    /// Position of an offset of the value in the source text. A piece with escapes maps only its two ends.
    fn position(&self, index: usize, offset: usize, is_end: bool) -> usize {
        let Some(piece) = self.pieces.get(index) else { return self.span.end };
        let value_end = self.pieces.get(index + 1).map_or(self.value.len(), |next| next.value);
        let inside = offset.clamp(piece.value, value_end) - piece.value;
        if piece.raw.len() == value_end - piece.value {
            piece.raw.start + inside
        } else if (is_end && inside > 0) || offset >= value_end {
            piece.raw.end
        } else {
            piece.raw.start
        }
    }

    /// Range of the value as text with its span.
    pub fn part(&self, range: &Range<usize>) -> SpannedText {
        SpannedText { value: certain(self.value.get(range.clone())).to_owned(), span: self.span_of(range) }
    }

    /// Word that no shell splits or expands, such as an item of a list. `raw` is the span of the value, `span` includes
    /// the quotes.
    pub fn literal(value: &str, raw: Span, span: Span) -> Self {
        let mut word = Self { span, quoted: true, ..Self::default() };
        word.push(value, raw, false);
        word
    }

    /// Last path segment: `bootstrap.sh` for `/etc/eks/bootstrap.sh`.
    pub fn basename(&self) -> &str {
        self.value.rsplit_once('/').map_or(&*self.value, |(_, name)| name)
    }

    /// Whether only the node knows the last path segment, the name of the program.
    pub fn is_dynamic_name(&self) -> bool {
        self.is_dynamic_in(&(self.value.len() - self.basename().len()..self.value.len()))
    }

    /// Whether the word expands to several words: an array or all arguments.
    pub fn is_list(&self) -> bool {
        self.is_dynamic() && ["[@]", "[*]", "$@", "$*"].iter().any(|list| self.value.contains(list))
    }

    /// Whether the word is this text without quotes.
    pub fn is_bare(&self, text: &str) -> bool {
        !self.quoted && self.value == text
    }

    /// Appends a value with its span in the source text.
    pub(super) fn push(&mut self, value: &str, raw: Span, expanded: bool) {
        let start = self.value.len();
        self.value.push_str(value);
        let end = self.value.len();
        match self.pieces.last_mut() {
            // Both pieces are verbatim and adjacent.
            Some(last)
                if last.raw.end == raw.start
                    && last.raw.len() == start - last.value
                    && raw.len() == value.len() =>
            {
                last.raw.end = raw.end;
            }
            _ => self.pieces.push(Piece { value: start, raw }),
        }
        if expanded {
            match self.expansions.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => self.expansions.push(start..end),
            }
        }
    }

    /// Splits the value once more as a shell or systemd does, at spaces, with quotes and backslashes. Spans still refer
    /// to the source text.
    ///
    /// An expansion is never split, although its result may consist of several words.
    pub fn split(&self) -> Vec<Self> {
        let mut words = Vec::new();
        let mut word: Option<Self> = None;
        let mut quote = None;
        let mut characters = self.value.char_indices();
        while let Some((at, character)) = characters.next() {
            let range = at..at + character.len_utf8();
            let expanded = self.is_dynamic_in(&range);
            let raw = self.span_of(&range);
            match (character, quote) {
                _ if expanded => {}
                (' ' | '\t' | '\n' | '\r', None) => {
                    words.extend(word.take());
                    continue;
                }
                ('"' | '\'', None) => {
                    quote = Some(character);
                    word.get_or_insert_with(|| Self::starting(raw)).quote(raw);
                    continue;
                }
                (_, Some(open)) if open == character => {
                    quote = None;
                    word.get_or_insert_with(|| Self::starting(raw)).quote(raw);
                    continue;
                }
                ('\\', None | Some('"')) => {
                    if let Some((at, escaped)) = characters.next() {
                        let raw = raw.to(self.span_of(&(at..at + escaped.len_utf8())));
                        let word = word.get_or_insert_with(|| Self::starting(raw));
                        word.quote(raw);
                        word.push(escaped.encode_utf8(&mut [0; 4]), raw, false);
                        continue;
                    }
                }
                _ => {}
            }
            let word = word.get_or_insert_with(|| Self::starting(raw));
            word.span.end = raw.end;
            word.push(character.encode_utf8(&mut [0; 4]), raw, expanded);
        }
        words.extend(word);
        words
    }

    pub(super) fn starting(at: Span) -> Self {
        Self { span: at, ..Self::default() }
    }

    fn quote(&mut self, raw: Span) {
        self.quoted = true;
        self.span.end = raw.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(pieces: &[(&str, usize, usize, bool)]) -> SourceWord {
        let mut word = SourceWord::default();
        for (value, start, end, expanded) in pieces {
            word.push(value, Span::new(*start, *end), *expanded);
            word.span.end = *end;
        }
        word
    }

    #[test]
    fn maps_ranges_of_the_value_across_quotes_and_escapes() {
        // text: 'ab'"cd"\e
        let word = word(&[("ab", 1, 3, false), ("cd", 5, 7, false), ("e", 8, 10, false)]);
        assert_eq!(word.value, "abcde");
        assert_eq!(word.span_of(&(0..2)), Span::new(1, 3));
        assert_eq!(word.span_of(&(1..3)), Span::new(2, 6));
        assert_eq!(word.span_of(&(3..5)), Span::new(6, 10));
        assert_eq!(word.span_of(&(4..5)), Span::new(8, 10));
    }

    #[test]
    fn splits_a_value_and_keeps_its_spans() {
        let text = r#"--a="x y" --b \"c d"#;
        let outer = word(&[(text, 100, 100 + text.len(), false)]);
        let words = outer.split();
        let values: Vec<_> = words.iter().map(|word| word.value.as_str()).collect();
        assert_eq!(values, ["--a=x y", "--b", "\"c", "d"]);
        assert_eq!(words[0].span_of(&(4..7)), Span::new(105, 108));
        assert_eq!(words[2].span_of(&(1..2)), Span::new(116, 117));
    }

    #[test]
    fn split_keeps_expansions_whole_and_marked() {
        let outer = word(&[("--a=", 0, 4, false), ("${X:-b c}", 4, 13, true), (" --d", 13, 17, false)]);
        let words = outer.split();
        assert_eq!(words.len(), 2);
        assert!(words[0].is_dynamic() && !words[1].is_dynamic());
        assert_eq!(words[0].expansions().collect::<Vec<_>>(), [Span::new(4, 13)]);
    }
}
