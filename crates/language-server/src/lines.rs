//! Offsets and positions. A position is a line and the UTF-16 code units before it in the line, both from 0; lines end with `\n`,
//! `\r\n` or `\r`.

use lsp_types::{Position, Range};
use manifest::source::certain;

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The UTF-16 offset of the start of each line.
    starts: Vec<usize>,
    /// The length of the text in UTF-16 code units.
    len: usize,
    /// 1 if a byte order mark is before the text in the editor, which counts it as a character of the first line.
    bom: usize,
}

impl Lines {
    /// The lines of a text, which may follow a byte order mark.
    pub(crate) fn of(text: &str, has_bom: bool) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            at += char.len_utf16();
            if char == '\n' || (char == '\r' && chars.peek() != Some(&'\n')) {
                starts.push(at);
            }
        }
        Self { starts, len: at, bom: usize::from(has_bom) }
    }

    /// The position of an offset of a report.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = certain(self.starts.get(line).copied());
        let bom = if line == 0 { self.bom } else { 0 };
        Position { line: number(line), character: number(offset - start + bom) }
    }

    /// The offset of a position. A position beyond the end of a line counts as the start of the next one.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let [line, character] = [position.line, position.character].map(|value| value as usize);
        let Some(start) = self.starts.get(line) else { return self.len };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.len);
        let bom = if line == 0 { self.bom } else { 0 };
        start.saturating_add(character.saturating_sub(bom)).min(end)
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Whether two ranges have a position in common. An empty range has the position where it is.
pub(crate) fn overlap(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_utf_16_code_units_and_every_end_of_line() {
        let lines = Lines::of("a\nb\r\n😀c\rd", false);
        for (offset, expected) in [
            (0, (0, 0)),
            (1, (0, 1)),
            (2, (1, 0)),
            (5, (2, 0)),
            (7, (2, 2)),
            (9, (3, 0)),
            (10, (3, 1)),
            (99, (3, 1)),
        ] {
            let Position { line, character } = lines.position(offset);
            assert_eq!((line, character), expected, "{offset}");
            assert_eq!(lines.offset(Position { line, character }), offset.min(10));
        }
        assert_eq!(lines.offset(Position::new(0, 99)), 2);
        assert_eq!(lines.offset(Position::new(99, 0)), 10);
    }

    #[test]
    fn a_byte_order_mark_is_a_character_for_the_editor() {
        let lines = Lines::of("a: 1\nb: 2", true);
        assert_eq!(lines.position(0), Position::new(0, 1));
        assert_eq!(lines.position(5), Position::new(1, 0));
        assert_eq!((lines.offset(Position::new(0, 0)), lines.offset(Position::new(0, 3))), (0, 2));
    }
}
