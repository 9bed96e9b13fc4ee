//! Position in a YAML text, with its line and column.

use crate::source::certain;

/// A position in the bytes of a text up to the first character that YAML forbids.
///
/// Every byte beyond the end is 0, which no text contains.
pub(super) struct YamlCursor<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// The next byte.
    pub(super) at: usize,
    /// From 0.
    pub(super) line: usize,
    /// Start of the line plus the number of UTF-8 continuation bytes in it, so that a column counts characters.
    line_start: usize,
    /// The number of UTF-8 continuation bytes so far.
    wide: usize,
    /// There is only white space between the start of the line and this position.
    pub(super) fresh: bool,
}

/// A saved position with its line and column.
#[derive(Clone, Copy)]
pub(super) struct SavedPosition {
    /// The byte.
    pub(super) at: usize,
    /// From 0.
    pub(super) line: usize,
    /// From 0, in code points.
    pub(super) col: usize,
    /// Code points from the start of the text.
    pub(super) index: usize,
}

impl<'t> YamlCursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let all = text.as_bytes();
        let bytes = certain(all.get(..first_control(all)));
        Self { text, bytes, at: 0, line: 0, line_start: 0, wide: 0, fresh: true }
    }

    /// Whether the position is at a character that YAML forbids.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_at_end() && self.at < self.text.len()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.byte(self.at + ahead)
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    #[track_caller]
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        certain(self.text.get(start..end))
    }

    /// The bytes from this position on.
    #[track_caller]
    pub(super) fn rest(&self) -> &'t [u8] {
        certain(self.bytes.get(self.at..))
    }

    pub(super) fn mark(&self) -> SavedPosition {
        SavedPosition { at: self.at, line: self.line, col: self.col(), index: self.at - self.wide }
    }

    pub(super) fn col(&self) -> usize {
        self.at - self.line_start
    }

    /// Passes ASCII characters other than white space.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
        self.fresh = false;
    }

    /// Passes the characters before a byte of the same line.
    pub(super) fn pass(&mut self, end: usize) {
        let passed = certain(self.bytes.get(self.at..end));
        let wide = passed.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
        self.wide += wide;
        self.line_start += wide;
        self.at = end;
    }

    /// Passes a byte order mark, which has no column.
    pub(super) fn skip_bom(&mut self) {
        self.at += 3;
        self.line_start += 3;
        self.wide += 2;
    }

    /// Passes spaces.
    pub(super) fn skip_spaces(&mut self) {
        self.at += self.rest().iter().take_while(|byte| **byte == b' ').count();
    }

    /// Passes spaces and tabs. Returns whether there were any, and whether there were tabs.
    pub(super) fn skip_blanks(&mut self) -> (bool, bool) {
        let start = self.at;
        let mut tabs = false;
        while is_blank(self.peek(0)) {
            tabs |= self.peek(0) == b'\t';
            self.at += 1;
        }
        (self.at > start, tabs)
    }

    /// Passes a line break. Returns whether there was one.
    pub(super) fn skip_break(&mut self) -> bool {
        match self.peek(0) {
            b'\n' => {}
            b'\r' => self.at += usize::from(self.peek(1) == b'\n'),
            _ => return false,
        }
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
        self.fresh = true;
        true
    }

    /// End of the line.
    pub(super) fn line_end(&self) -> usize {
        let rest = self.rest();
        self.at + rest.iter().position(|byte| is_break(*byte)).unwrap_or(rest.len())
    }

    pub(super) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.rest().starts_with(bytes)
    }

    pub(super) fn is_bom(&self, at: usize) -> bool {
        self.byte(at) == 0xef && self.byte(at + 1) == 0xbb && self.byte(at + 2) == 0xbf
    }

    /// Whether the word at this position is `---` or `...`.
    pub(super) fn is_document_word(&self) -> bool {
        (self.starts_with(b"---") || self.starts_with(b"...")) && is_space(self.peek(3))
    }

    /// Whether a line `---` or `...` starts at this position.
    pub(super) fn is_document_mark(&self) -> bool {
        self.col() == 0 && self.is_document_word()
    }
}

/// Start of the first character that YAML forbids: a control character, U+FFFE or U+FFFF.
fn first_control(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(first_suspicious) {
        at += found;
        let second = bytes.get(at + 1).copied().unwrap_or_default();
        let allowed = match bytes.get(at) {
            // U+0080 to U+009F, except the line break U+0085.
            Some(0xc2) => second >= 0xa0 || second == 0x85,
            // U+FFFE and U+FFFF.
            Some(0xef) => second != 0xbf || bytes.get(at + 2).is_none_or(|third| *third < 0xbe),
            _ => false,
        };
        if !allowed {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Index of the first byte that may start a forbidden character. The loop over a block has no early exit, so that the compiler
/// vectorises it.
fn first_suspicious(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let is_any_in = |block: &[u8]| block.iter().fold(false, |any, byte| any | suspicious(*byte));
    let start = BLOCK * bytes.chunks(BLOCK).position(is_any_in)?;
    let found = bytes.get(start..)?.iter().position(|byte| suspicious(*byte))?;
    Some(start + found)
}

/// Whether a byte may start a forbidden character.
fn suspicious(byte: u8) -> bool {
    (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || matches!(byte, 0x7f | 0xc2 | 0xef)
}

pub(super) fn is_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A blank, a line break or the end.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0)
}

/// A line break or the end.
pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | 0)
}

/// A character that ends a word within brackets.
pub(super) fn is_flow(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

#[cfg(test)]
mod tests {
    use super::first_control;

    #[test]
    fn finds_the_first_control_character_wherever_it_is() {
        for before in 0..100 {
            let allowed = "é\u{a0}\u{85}\u{feff}\t".chars().cycle().take(before).collect::<String>();
            for control in ["\u{7}", "\u{7f}", "\u{9f}", "\u{ffff}"] {
                let text = format!("{allowed}{control}{allowed}{control}");
                assert_eq!(first_control(text.as_bytes()), allowed.len(), "{text:?}");
            }
            assert_eq!(first_control(allowed.as_bytes()), allowed.len(), "{allowed:?}");
        }
    }
}
