//! Positions of the protocol, and bytes. A position is a line and the units before it in the line, both from 0; lines end with `\n`, `\r\n`
//! or `\r`. The editor chooses the unit.

use lsp_types::{Position, PositionEncodingKind, Range};
use manifest::source::{Source, Span, certain};

/// Unit of the characters in positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PositionUnit {
    /// Bytes of UTF-8.
    Byte,
    /// UTF-16 code units, which every editor knows.
    #[default]
    Utf16,
}

impl PositionUnit {
    /// The unit to use with an editor that names those it knows.
    pub(crate) fn chosen(known: Option<&Vec<PositionEncodingKind>>) -> Self {
        let knows_bytes = known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
        if knows_bytes { Self::Byte } else { Self::Utf16 }
    }

    /// The name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Byte => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    const fn length(self, char: char) -> usize {
        match self {
            Self::Byte => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
        }
    }
}

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The first byte of each line.
    starts: Vec<usize>,
    /// Whether a byte order mark is before the text in the editor, which counts it as a character of the first line.
    has_bom: bool,
}

impl Lines {
    /// The lines of a text, which may follow a byte order mark.
    pub(crate) fn of(text: &str, has_bom: bool) -> Self {
        let mut starts = vec![0];
        let mut bytes = text.bytes().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            if byte == b'\n' || (byte == b'\r' && bytes.peek().is_none_or(|(_, next)| *next != b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { starts, has_bom }
    }

    /// The units of the byte order mark in a line.
    fn bom(&self, line: usize, unit: PositionUnit) -> usize {
        if self.has_bom && line == 0 { unit.length('\u{feff}') } else { 0 }
    }

    /// The position of a byte of the text.
    pub(crate) fn position(&self, source: &Source, byte: usize, unit: PositionUnit) -> Position {
        let byte = source.text().floor_char_boundary(byte);
        let line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = certain(self.starts.get(line).copied());
        let character = match unit {
            PositionUnit::Byte => byte - start,
            // The source finds an offset without reading a long line from its start.
            PositionUnit::Utf16 => source.position(byte).offset - source.position(start).offset,
        };
        Position { line: number(line), character: number(character + self.bom(line, unit)) }
    }

    /// The byte of a position. A position beyond the end of a line counts as the end, and one within a character as its end.
    pub(crate) fn byte(&self, source: &Source, position: Position, unit: PositionUnit) -> usize {
        let [line, character] = [position.line, position.character].map(|value| value as usize);
        let text = source.text();
        let Some(start) = self.starts.get(line).copied() else { return text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let end = start + Span::new(start, end).text(text).trim_end_matches(['\n', '\r']).len();
        let character = character.saturating_sub(self.bom(line, unit));
        let byte = match unit {
            PositionUnit::Byte => text.ceil_char_boundary(start.saturating_add(character)),
            PositionUnit::Utf16 => source.byte_at(source.position(start).offset.saturating_add(character)),
        };
        byte.min(end)
    }
}

/// The text of a document without its byte order mark, with its lines.
#[derive(Debug)]
pub(crate) struct LinedText {
    pub(crate) source: Source,
    lines: Lines,
    unit: PositionUnit,
}

impl LinedText {
    pub(crate) fn of(text: &str, unit: PositionUnit) -> Self {
        let own = text.strip_prefix('\u{feff}');
        let source = Source::new("", own.unwrap_or(text));
        Self { lines: Lines::of(source.text(), own.is_some()), source, unit }
    }

    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }

    pub(crate) fn byte(&self, position: Position) -> usize {
        self.lines.byte(&self.source, position, self.unit)
    }

    /// Whether a position is before the byte order mark.
    pub(crate) fn is_before(&self, position: Position) -> bool {
        self.lines.has_bom && position == Position::default()
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        let [start, end] =
            [span.start, span.end].map(|byte| self.lines.position(&self.source, byte, self.unit));
        Range { start, end }
    }
}

/// Replaces a range of the text of a document, which may begin with a byte order mark.
pub(crate) fn replace(text: &mut String, range: Range, new: &str, unit: PositionUnit) {
    let lined = LinedText::of(text, unit);
    let bom = text.len() - lined.text().len();
    // A change before the byte order mark removes it.
    let is_start = |position: Position| position == Position::default();
    let byte = |position| if is_start(position) { 0 } else { lined.byte(position) + bom };
    let (start, end) = (byte(range.start), byte(range.end));
    text.replace_range(start.min(end)..start.max(end), new);
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

    const UNITS: [PositionUnit; 2] = [PositionUnit::Byte, PositionUnit::Utf16];

    #[test]
    fn counts_units_and_every_end_of_line() {
        let source = Source::new("", "a\nb\r\n😀c\rd");
        let lines = Lines::of(source.text(), false);
        for (byte, in_bytes, in_utf16) in [
            (0, (0, 0), (0, 0)),
            (1, (0, 1), (0, 1)),
            (2, (1, 0), (1, 0)),
            (5, (2, 0), (2, 0)),
            (9, (2, 4), (2, 2)),
            (10, (2, 5), (2, 3)),
            (11, (3, 0), (3, 0)),
            (99, (3, 1), (3, 1)),
        ] {
            for (unit, expected) in UNITS.into_iter().zip([in_bytes, in_utf16]) {
                let Position { line, character } = lines.position(&source, byte, unit);
                assert_eq!((line, character), expected, "{byte} {unit:?}");
                assert_eq!(lines.byte(&source, Position { line, character }, unit), byte.min(12));
            }
        }
        for unit in UNITS {
            let byte = |line, character| lines.byte(&source, Position::new(line, character), unit);
            assert_eq!((byte(0, 99), byte(1, 9), byte(99, 0), byte(2, 1)), (1, 3, 12, 9));
        }
    }

    #[test]
    fn a_byte_order_mark_is_a_character_for_the_editor() {
        let source = Source::new("", "a: 1\nb: 2");
        let lines = Lines::of(source.text(), true);
        for (unit, length) in UNITS.into_iter().zip([3, 1]) {
            assert_eq!(lines.position(&source, 0, unit), Position::new(0, length));
            assert_eq!(lines.position(&source, 5, unit), Position::new(1, 0));
            let byte = |character| lines.byte(&source, Position::new(0, character), unit);
            assert_eq!((byte(0), byte(length + 2)), (0, 2));
        }
    }

    #[test]
    fn replaces_ranges_of_a_text() {
        let replaced = |text: &str, start: (u32, u32), end: (u32, u32), unit| {
            let mut text = text.to_owned();
            let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
            replace(&mut text, range, "x", unit);
            text
        };
        assert_eq!(replaced("😀ab\r\nc", (0, 2), (0, 3), PositionUnit::Utf16), "😀xb\r\nc");
        assert_eq!(replaced("😀ab\r\nc", (0, 4), (0, 5), PositionUnit::Byte), "😀xb\r\nc");
        assert_eq!(replaced("ab\nc\n", (0, 99), (1, 0), PositionUnit::Utf16), "abxc\n");
        assert_eq!(replaced("ab", (9, 0), (9, 9), PositionUnit::Utf16), "abx");
        assert_eq!(replaced("\u{feff}ab", (0, 1), (0, 2), PositionUnit::Utf16), "\u{feff}xb");
        assert_eq!(replaced("\u{feff}ab", (0, 0), (0, 3), PositionUnit::Utf16), "x");
        assert_eq!(replaced("ab", (0, 2), (0, 0), PositionUnit::Utf16), "x");
    }
}
