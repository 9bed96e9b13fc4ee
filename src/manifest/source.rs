//! A text with its name, and where a byte of it lies for a person and for an editor.

use std::sync::OnceLock;

/// One input text. Positions into it are byte offsets until [`Source::position`] turns them into what people count.
#[derive(Debug, Default)]
pub struct Source {
    name: String,
    text: String,
    lines: OnceLock<Vec<Line>>,
}

/// Where a line starts.
#[derive(Clone, Copy, Debug)]
struct Line {
    byte: usize,
    utf16: usize,
}

/// A place in a text, counted in every unit that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in Unicode code points.
    pub column: usize,
    /// From 0, in UTF-16 code units from the start of the text.
    pub offset: usize,
}

/// A range of bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

impl Source {
    /// A text under a name, which is a path, or `-` for standard input.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// The name given to [`Source::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty where the span does not lie within the text on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// Where a byte lies. A byte past the end lies at the end; one inside a character lies at its start.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.text.floor_char_boundary(byte);
        let lines = self.lines.get_or_init(|| lines_of(&self.text));
        let number = lines.partition_point(|line| line.byte <= byte);
        let line = lines.get(number.saturating_sub(1)).copied().unwrap_or(Line { byte: 0, utf16: 0 });
        let before = self.slice(Span::new(line.byte, byte));
        let (points, units) =
            before.chars().fold((0, 0), |(points, units), char| (points + 1, units + char.len_utf16()));
        Position { line: number.max(1), column: points + 1, offset: line.utf16 + units }
    }

    /// The byte at an offset in UTF-16 code units: the way back from [`Position::offset`].
    pub fn byte_at(&self, offset: usize) -> usize {
        let lines = self.lines.get_or_init(|| lines_of(&self.text));
        let number = lines.partition_point(|line| line.utf16 <= offset);
        let line = lines.get(number.saturating_sub(1)).copied().unwrap_or(Line { byte: 0, utf16: 0 });
        let mut units = line.utf16;
        for (byte, char) in self.text.get(line.byte..).unwrap_or_default().char_indices() {
            if units >= offset {
                return line.byte + byte;
            }
            units += char.len_utf16();
        }
        self.text.len()
    }
}

fn lines_of(text: &str) -> Vec<Line> {
    let mut lines = vec![Line { byte: 0, utf16: 0 }];
    let mut utf16 = 0;
    let mut byte = 0;
    for line in text.split_inclusive('\n') {
        utf16 += if line.is_ascii() { line.len() } else { line.chars().map(char::len_utf16).sum() };
        byte += line.len();
        if line.ends_with('\n') {
            lines.push(Line { byte, utf16 });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_code_points_and_offsets_utf16_units() {
        let source = Source::new("-", "é: 😀\r\nb: x\n");
        let at = source.text().find('x').unwrap();
        assert_eq!(source.position(at), Position { line: 2, column: 4, offset: 10 });
        let smile = source.text().find('😀').unwrap();
        assert_eq!(source.position(smile), Position { line: 1, column: 4, offset: 3 });
        assert_eq!(source.position(smile + 4), Position { line: 1, column: 5, offset: 5 });
        assert_eq!(source.position(999), Position { line: 3, column: 1, offset: 12 });
    }

    #[test]
    fn offsets_lead_back_to_their_bytes() {
        let source = Source::new("-", "é: 😀\r\nb: x\n\n😀");
        for (byte, _) in source.text().char_indices() {
            assert_eq!(source.byte_at(source.position(byte).offset), byte);
        }
    }
}
