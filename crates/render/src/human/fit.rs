//! Lines of an excerpt, cut to the width of a terminal.

use manifest::source::{Span, certain};

/// Replaces a part of a line that is cut off.
pub(super) const CUT: &str = "…";

/// The character to show in an excerpt. `annotate_snippets` replaces the other controls, but not the C1 controls, which begin
/// escape sequences in some terminals. The replacement has two bytes, like every C1 control, so that spans stay.
pub(super) fn visible(char: char) -> char {
    if matches!(char, '\u{80}'..='\u{9f}') { '·' } else { char }
}

/// Text of an excerpt whose lines can lack their starts and ends.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) text: String,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    /// Start of the line in the source.
    start: usize,
    /// The bytes of the source that are shown.
    shown: Span,
    /// Start of these bytes in the text of the excerpt.
    at: usize,
}

impl Fitted {
    /// Adds a line of the source, which starts at a byte, with its line break. If the line has more characters than `room`, shows
    /// the part around a mark, or the start of the line if the mark is elsewhere.
    pub(super) fn add(&mut self, line: &str, start: usize, mark: Option<Span>, room: Option<usize>) {
        let body = line.trim_end_matches(['\n', '\r']);
        let kept = room.map_or(Span::whole(body), |room| part(body, start, mark, room));
        self.text.push_str(if kept.start > 0 { CUT } else { "" });
        let shown = Span::new(start + kept.start, start + kept.end);
        self.lines.push(Line { start, shown, at: self.text.len() });
        self.text.extend(kept.text(body).chars().map(visible));
        self.text.push_str(if kept.end < body.len() { CUT } else { "" });
        self.text.push_str(certain(line.get(body.len()..)));
    }

    /// Whether the start of the line of a byte is cut off.
    pub(super) fn is_cut_before(&self, byte: usize) -> bool {
        let line = self.line(byte);
        line.is_some_and(|line| self.text.get(..line.at).is_some_and(|before| before.ends_with(CUT)))
    }

    fn line(&self, byte: usize) -> Option<&Line> {
        // The start of a line that is cut off belongs to the line, whose shown part starts later.
        let after = self.lines.partition_point(|line| line.start <= byte);
        self.lines.get(after.saturating_sub(1))
    }

    /// Byte range of a span of the source within the text of the excerpt.
    pub(super) fn range(&self, span: Span) -> core::ops::Range<usize> {
        self.position(span.start)..self.position(span.end)
    }

    fn position(&self, byte: usize) -> usize {
        let own = self.line(byte);
        own.map_or(0, |line| line.at + byte.clamp(line.shown.start, line.shown.end) - line.shown.start)
    }
}

/// The bytes of a line to show in so many columns.
fn part(line: &str, start: usize, mark: Option<Span>, room: usize) -> Span {
    let length = line.chars().count();
    if length <= room {
        return Span::whole(line);
    }
    let room = room.saturating_sub(2 * CUT.chars().count());
    let marked = mark.filter(|mark| mark.start >= start && mark.start <= start + line.len());
    let (before, marked) = marked.map_or((0, 0), |mark| {
        let from = mark.start - start;
        let to = mark.end.saturating_sub(start).min(line.len());
        let count = |span: Span| span.text(line).chars().count();
        (count(Span::new(0, from)), count(Span::new(from, to)))
    });
    // The start of a line, with its key, says most about the mark.
    let fits_from_start = before + marked <= room || before <= room / 3;
    let margin = (room.saturating_sub(marked) / 2).max(room / 4);
    let first = if fits_from_start { 0 } else { before.saturating_sub(margin).min(length - room) };
    let byte = |number: usize| line.char_indices().nth(number).map_or(line.len(), |(byte, _)| byte);
    Span::new(byte(first), byte(first + room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(line: &str, mark: Option<(usize, usize)>, room: usize) -> (String, String) {
        let mark = mark.map(|(start, end)| Span::new(start + 100, end + 100));
        let mut fitted = Fitted::default();
        fitted.add(line, 100, mark, Some(room));
        let marked = mark.map_or(0..0, |mark| fitted.range(mark));
        let marked = fitted.text.get(marked).unwrap_or_default().to_owned();
        (fitted.text, marked)
    }

    #[test]
    fn shows_no_control_that_begins_an_escape_sequence() {
        let (text, marked) = fitted("a: \u{9b}31m\u{85}é\n", Some((3, 5)), 80);
        assert_eq!((text.as_str(), marked.as_str()), ("a: ·31m·é\n", "·"));
    }

    #[test]
    fn shows_part_of_long_line_around_mark() {
        let line = "0123456789abcdefghij\n";
        let expect = |mark, room, text: &str, marked: &str| {
            assert_eq!(fitted(line, mark, room), (text.to_owned(), marked.to_owned()));
        };
        expect(Some((10, 12)), 20, line, "ab");
        expect(Some((2, 4)), 10, "01234567…\n", "23");
        expect(Some((10, 12)), 10, "…789abcde…\n", "ab");
        expect(Some((18, 20)), 10, "…cdefghij\n", "ij");
        expect(Some((2, 20)), 10, "01234567…\n", "234567");
        expect(Some((5, 20)), 10, "…3456789a…\n", "56789a");
        expect(None, 10, "01234567…\n", "");
        assert_eq!(fitted("ééééé é", Some((11, 13)), 5), ("…é é".to_owned(), "é".to_owned()));
    }
}
