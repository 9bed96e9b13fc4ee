//! A word as a tool receives it, quotes taken away, with the way back to where each of its characters stands.

use manifest::source::Span;

use super::Placed;
use core::ops::Range;

/// A word after quote removal. Nothing in it is expanded: `$X` stays as written and is marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Where it stands, quotes included.
    pub span: Span,
    /// What the tool receives, with expansions left as they are written.
    pub value: String,
    /// Whether a part of it stands in quotes or behind a backslash.
    pub quoted: bool,
    pieces: Vec<Piece>,
    expansions: Vec<Range<usize>>,
}

/// A stretch of the value and where it comes from. The next piece starts where this one ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    value: usize,
    raw: Span,
}

impl Word {
    /// Whether a part of it is only known on the node: `$X`, `${X}`, `$(…)`, a back-tick.
    pub fn is_dynamic(&self) -> bool {
        !self.expansions.is_empty()
    }

    /// Whether an expansion touches this range of the value.
    pub fn is_dynamic_in(&self, range: &Range<usize>) -> bool {
        let next = self.expansions.partition_point(|expansion| expansion.end <= range.start);
        self.expansions.get(next).is_some_and(|expansion| expansion.start < range.end)
    }

    /// The expansions, as they stand in the text.
    pub fn expansions(&self) -> impl Iterator<Item = Span> {
        self.expansions.iter().map(|range| self.place(range))
    }

    /// Where a range of the value stands in the text. A range that the value does not have gives the whole
    /// word.
    pub fn place(&self, range: &Range<usize>) -> Span {
        let first = self.pieces.partition_point(|piece| piece.value <= range.start).checked_sub(1);
        let last = self.pieces.partition_point(|piece| piece.value < range.end).checked_sub(1);
        let (Some(first), Some(last)) = (first, last.or(first)) else { return self.span };
        let start = self.position(first, range.start, false);
        let end = self.position(last, range.end, true);
        Span::new(start, end.max(start))
    }

    /// Where an offset in a piece stands. A piece that is no copy has only its two ends.
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

    /// A range of the value as text of its own.
    pub fn part(&self, range: &Range<usize>) -> Placed {
        Placed { value: self.value.get(range.clone()).unwrap_or("").to_owned(), span: self.place(range) }
    }

    /// The value with its place.
    pub fn placed(&self) -> Placed {
        Placed { value: self.value.clone(), span: self.span }
    }

    /// A word that is given as one, such as an item of a list: no shell takes it apart, and nothing in it is expanded.
    /// `raw` is where its value stands, `span` with what is around it.
    pub fn literal(value: &str, raw: Span, span: Span) -> Self {
        let mut word = Self { span, quoted: true, ..Self::default() };
        word.push(value, raw, false);
        word
    }

    /// The last path segment: `bootstrap.sh` of `/etc/eks/bootstrap.sh`.
    pub fn basename(&self) -> &str {
        self.value.rsplit('/').next().unwrap_or("")
    }

    /// Whether it is exactly this, written bare.
    pub fn is_bare(&self, text: &str) -> bool {
        !self.quoted && self.value == text
    }

    /// Adds what reads as `value` and stands at `raw`.
    pub(super) fn push(&mut self, value: &str, raw: Span, expanded: bool) {
        let start = self.value.len();
        self.value.push_str(value);
        let end = self.value.len();
        match self.pieces.last_mut() {
            // A copy goes on where the last one stopped.
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

    /// Splits the value once more as a shell or systemd would: blanks, quotes, backslashes. Places stay true.
    ///
    /// An expansion is kept whole; what it expands to may well be several words.
    pub fn split(&self) -> Vec<Self> {
        let mut words = Vec::new();
        let mut word: Option<Self> = None;
        let mut quote = None;
        let mut characters = self.value.char_indices();
        while let Some((at, character)) = characters.next() {
            let range = at..at + character.len_utf8();
            let expanded = self.is_dynamic_in(&range);
            let raw = self.place(&range);
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
                        let raw = raw.to(self.place(&(at..at + escaped.len_utf8())));
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

    fn word(pieces: &[(&str, usize, usize, bool)]) -> Word {
        let mut word = Word::default();
        for (value, start, end, expanded) in pieces {
            word.push(value, Span::new(*start, *end), *expanded);
            word.span.end = *end;
        }
        word
    }

    #[test]
    fn a_range_of_the_value_is_found_behind_quotes_and_escapes() {
        // text: 'ab'"cd"\e
        let word = word(&[("ab", 1, 3, false), ("cd", 5, 7, false), ("e", 8, 10, false)]);
        assert_eq!(word.value, "abcde");
        assert_eq!(word.place(&(0..2)), Span::new(1, 3));
        assert_eq!(word.place(&(1..3)), Span::new(2, 6));
        assert_eq!(word.place(&(3..5)), Span::new(6, 10));
        assert_eq!(word.place(&(4..5)), Span::new(8, 10));
    }

    #[test]
    fn a_second_split_keeps_the_places_of_the_first() {
        let text = r#"--a="x y" --b \"c d"#;
        let outer = word(&[(text, 100, 100 + text.len(), false)]);
        let words = outer.split();
        let values: Vec<_> = words.iter().map(|word| word.value.as_str()).collect();
        assert_eq!(values, ["--a=x y", "--b", "\"c", "d"]);
        assert_eq!(words[0].place(&(4..7)), Span::new(105, 108));
        assert_eq!(words[2].place(&(1..2)), Span::new(116, 117));
    }

    #[test]
    fn an_expansion_is_marked_in_the_word_that_has_it_and_kept_whole() {
        let outer = word(&[("--a=", 0, 4, false), ("${X:-b c}", 4, 13, true), (" --d", 13, 17, false)]);
        let words = outer.split();
        assert_eq!(words.len(), 2);
        assert!(words[0].is_dynamic() && !words[1].is_dynamic());
        assert_eq!(words[0].expansions().collect::<Vec<_>>(), [Span::new(4, 13)]);
    }
}
