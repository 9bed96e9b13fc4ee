//! A named text, its spans, and the conversion of byte offsets to lines and columns.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use always_assert::never;

use crate::encoding::Encoding;

/// A text with its name. [`Source::position`] converts a byte offset to a line and a column.
#[derive(Debug, Default)]
pub struct Source {
    name: String,
    text: String,
    encoding: Encoding,
    marks: OnceLock<Vec<Mark>>,
}

/// The distance of marks, in bytes. Converting one offset must not scan the whole file, and a file of empty lines must not
/// take more memory than another one, so marks do not follow the lines.
const STRIDE: usize = 256;

/// A point of the text.
#[derive(Clone, Copy, Debug)]
struct Mark {
    byte: usize,
    utf16: usize,
    /// From 1.
    line: usize,
    /// Code points before the mark in its line.
    points: usize,
}

/// A place in a text, in the units of people (line and column) and of editors (UTF-16 offset).
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
    /// Creates the span `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The whole text.
    pub const fn whole(text: &str) -> Self {
        Self::new(0, text.len())
    }

    /// Text that the span covers; empty if the span is not a range of this text on character boundaries.
    pub fn text(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// First line in the span that is not blank, without leading whitespace.
    #[must_use]
    pub fn first_line(self, text: &str) -> Self {
        let within = self.text(text);
        let line = within.trim_start();
        let start = self.start + (within.len() - line.len());
        Self::new(start, start + line.lines().next().map_or(0, str::len))
    }

    /// Number of bytes.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers no bytes.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Span from the start of this one to the end of another.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        Self::new(self.start, other.end)
    }

    /// The same span in a text that has this many more bytes before it.
    #[must_use]
    pub const fn shifted(self, bytes: usize) -> Self {
        Self::new(self.start + bytes, self.end + bytes)
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// Returns the part of a text or a list that a lookup must find. A lookup that finds nothing panics in tests, and is empty in
/// release builds.
#[track_caller]
pub fn certain<T: Default>(part: Option<T>) -> T {
    never!(part.is_none(), "a place outside of the text or the list");
    part.unwrap_or_default()
}

impl Source {
    /// Creates a source. The name is a path, or `-` for standard input.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let encoding = Encoding::default();
        Self { name: name.into(), text: text.into(), encoding, marks: OnceLock::new() }
    }

    /// The same source, of a file with an encoding.
    #[must_use]
    pub fn encoded(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// The encoding of the file.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self.encoding {
            Encoding::Utf8 => Cow::Borrowed(self.text.as_bytes()),
            encoding => Cow::Owned(encoding.encode(&self.text)),
        }
    }

    /// The name given to [`Source::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty if the span is not within the text or not on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        span.text(&self.text)
    }

    /// The text before a byte of the text.
    #[track_caller]
    pub fn before(&self, byte: usize) -> &str {
        certain(self.text.get(..byte))
    }

    /// The text from a byte of the text on.
    #[track_caller]
    pub fn after(&self, byte: usize) -> &str {
        certain(self.text.get(byte..))
    }

    /// The lines of a span, from the start of its first line. The lines of a literal block scalar have its indentation.
    pub(crate) fn lines_of_block(&self, span: Span) -> Span {
        let start = self.before(span.start).rfind(['\n', '\r']).map_or(0, |at| at + 1);
        Span::new(start, span.end)
    }

    /// Converts a byte offset. An offset beyond the end counts as the end, an offset inside a character as its start.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.text.floor_char_boundary(byte);
        let mark = self.mark(|mark| mark.byte <= byte);
        let here = mark.after(self.slice(Span::new(mark.byte, byte)));
        Position { line: here.line, column: here.points + 1, offset: here.utf16 }
    }

    /// Converts an offset in UTF-16 code units, as in [`Position::offset`], to a byte offset.
    pub fn byte_at(&self, offset: usize) -> usize {
        let mark = self.mark(|mark| mark.utf16 <= offset);
        let mut units = mark.utf16;
        for (byte, char) in self.after(mark.byte).char_indices() {
            if units >= offset {
                return mark.byte + byte;
            }
            units += char.len_utf16();
        }
        self.text.len()
    }

    /// Converts a line and a column, as in [`Position`], to a byte offset. A column beyond the end of the line counts as its end.
    pub fn byte_of(&self, line: usize, column: usize) -> usize {
        let mark = self.mark(|mark| (mark.line, mark.points) < (line, column));
        let (mut at, mut points) = (mark.line, mark.points + 1);
        for (byte, char) in self.after(mark.byte).char_indices() {
            if at > line || (at == line && (points >= column || char == '\n')) {
                return mark.byte + byte;
            }
            (at, points) = if char == '\n' { (at + 1, 1) } else { (at, points + 1) };
        }
        self.text.len()
    }

    /// The last mark that satisfies a condition. All marks before it satisfy the condition too.
    fn mark(&self, holds: impl Fn(&Mark) -> bool) -> Mark {
        let marks = self.marks.get_or_init(|| marks_of(&self.text));
        let number = marks.partition_point(holds);
        marks.get(number.saturating_sub(1)).copied().unwrap_or(Mark::START)
    }
}

impl Mark {
    const START: Self = Self { byte: 0, utf16: 0, line: 1, points: 0 };

    /// The mark behind a text that starts at this mark.
    fn after(self, text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let last_line = text.rsplit('\n').next().unwrap_or_default();
        let before = if breaks == 0 { self.points } else { 0 };
        Self {
            byte: self.byte + text.len(),
            utf16: self.utf16 + Length::of(text).units,
            line: self.line + breaks,
            points: before + Length::of(last_line).points,
        }
    }
}

/// Length of a text.
#[derive(Clone, Copy, Debug)]
struct Length {
    /// Code points.
    points: usize,
    /// UTF-16 code units.
    units: usize,
}

impl Length {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self { points: text.len(), units: text.len() };
        }
        text.chars().fold(Self { points: 0, units: 0 }, |length, char| Self {
            points: length.points + 1,
            units: length.units + char.len_utf16(),
        })
    }
}

fn marks_of(text: &str) -> Vec<Mark> {
    let mut mark = Mark::START;
    let mut marks = vec![mark];
    let mut rest = text;
    while rest.len() > STRIDE {
        let (part, more) = rest.split_at(rest.floor_char_boundary(STRIDE));
        mark = mark.after(part);
        marks.push(mark);
        rest = more;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_columns_in_code_points_and_offsets_in_utf16_units() {
        let source = Source::new("-", "é: 😀\r\nb: x\n");
        let at = source.text().find('x').unwrap();
        assert_eq!(source.position(at), Position { line: 2, column: 4, offset: 10 });
        let smile = source.text().find('😀').unwrap();
        assert_eq!(source.position(smile), Position { line: 1, column: 4, offset: 3 });
        assert_eq!(source.position(smile + 4), Position { line: 1, column: 5, offset: 5 });
        assert_eq!(source.position(999), Position { line: 3, column: 1, offset: 12 });
    }

    #[test]
    fn converts_utf16_offsets_back_to_bytes() {
        let source = Source::new("-", "é: 😀\r\nb: x\n\n😀");
        for (byte, _) in source.text().char_indices() {
            assert_eq!(source.byte_at(source.position(byte).offset), byte);
        }
    }

    #[test]
    fn converts_lines_and_columns_back_to_bytes() {
        let source = Source::new("-", format!("é: 😀\r\nb: x\n\n{}x\ny", "é😀".repeat(3000)));
        for (byte, _) in source.text().char_indices() {
            let Position { line, column, .. } = source.position(byte);
            assert_eq!(source.byte_of(line, column), byte, "{line}:{column}");
        }
        assert_eq!(source.byte_of(2, 99), source.text().find("\n\n").unwrap());
        assert_eq!(source.byte_of(99, 1), source.text().len());
    }

    #[test]
    fn marks_take_less_memory_than_the_text_whatever_its_lines_are() {
        let texts = ["\n", "---\n", "#\n", " ", "a: b\n", "é"].map(|piece| piece.repeat(100_000));
        for text in texts {
            let marks = marks_of(&text);
            let last = marks.last().unwrap();
            assert!(marks.len() * size_of::<Mark>() * 4 < text.len(), "{} marks", marks.len());
            assert_eq!(last.line, 1 + text.get(..last.byte).unwrap().matches('\n').count());
        }
    }

    #[test]
    fn counts_columns_of_a_long_line_from_its_start() {
        let source = Source::new("-", format!("a: b\n{}x\ny", "é😀".repeat(5000)));
        let at = source.text().find('x').unwrap();
        assert_eq!(source.position(at), Position { line: 2, column: 10_001, offset: 15_005 });
        assert_eq!(source.position(at + 2), Position { line: 3, column: 1, offset: 15_007 });
        assert_eq!(source.byte_at(15_005), at);
    }
}
