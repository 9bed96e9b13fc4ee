//! One field of a schedule: its bounds, its names, and how its text becomes a set of numbers (robfig
//! parser.go `getField`, `getRange`, `parseIntOrName`; spec.go for bounds and names).

use core::fmt;
use core::ops::Range;

use super::error::{CronError, FieldProblem};

/// A field of a schedule, in the order they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or `jan` to `dec`.
    Month,
    /// 0 to 6, or `sun` to `sat`.
    DayOfWeek,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// A set of small numbers, and whether a star was among what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits(u64);

const STAR: u64 = 1 << 63;

impl Bits {
    /// From `start` to `end` by `step`; nothing beyond bit 62 is ever asked for.
    fn stepped(start: u64, end: u64, step: u64) -> Self {
        let mut bits = 0;
        let mut number = start;
        while number <= end && number < 63 {
            bits |= 1 << number;
            number = number.saturating_add(step);
        }
        Self(bits)
    }

    pub(super) const fn has(self, number: i64) -> bool {
        number >= 0 && number < 63 && self.0 & (1 << number) != 0
    }

    pub(super) const fn has_star(self) -> bool {
        self.0 & STAR != 0
    }

    /// The smallest number in the set that is not below this one.
    pub(super) fn first_from(self, number: i64) -> Option<i64> {
        let above = (self.0 & !STAR) & u64::MAX.checked_shl(u32::try_from(number).ok()?)?;
        (above != 0).then(|| i64::from(above.trailing_zeros()))
    }
}

/// A word of a schedule and where it starts.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
}

impl Word<'_> {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The parts between separators, each with its place.
    ///
    /// A list, for a chain of iterators would be compiled anew for every separator.
    pub(super) fn split(self, is_separator: fn(char) -> bool) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut start = 0;
        for (at, char) in self.text.char_indices() {
            if is_separator(char) {
                parts.push(self.part(start..at));
                start = at + char.len_utf8();
            }
        }
        if start < self.text.len() {
            parts.push(self.part(start..self.text.len()));
        }
        parts
    }

    fn part(self, range: Range<usize>) -> Self {
        let start = self.start + range.start;
        Self { text: self.text.get(range).unwrap_or_default(), start }
    }
}

/// The words between blanks (Go's `strings.Fields` and Rust's `char::is_whitespace` agree on what is blank).
pub(super) fn fields(text: &str) -> Vec<Word<'_>> {
    let mut words = Word { text, start: 0 }.split(char::is_whitespace);
    words.retain(|word| !word.text.is_empty());
    words
}

impl Field {
    /// All five, in order.
    pub const ALL: [Self; 5] = [Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::DayOfWeek];

    /// The smallest and the largest number the field takes.
    pub const fn bounds(self) -> (u64, u64) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 6),
        }
    }

    /// The full names of the field's numbers, from its smallest on. A schedule has their first three letters.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => &MONTHS,
            Self::DayOfWeek => &WEEKDAYS,
            Self::Minute | Self::Hour | Self::DayOfMonth => &[],
        }
    }

    /// The three letters for a number, where the field has names.
    pub(super) fn name(self, number: u64) -> Option<&'static str> {
        let index = usize::try_from(number.checked_sub(self.bounds().0)?).ok()?;
        self.names().get(index)?.get(..3)
    }

    pub(super) fn only_first(self) -> Bits {
        Bits(1 << self.bounds().0)
    }

    pub(super) fn all(self) -> Bits {
        let (first, last) = self.bounds();
        Bits(Bits::stepped(first, last, 1).0 | STAR)
    }

    /// Reads a field: ranges with commas between them. A comma too many is passed over, and a field of
    /// nothing but commas is an empty set, which is no error.
    pub(super) fn read(self, word: Word<'_>) -> Result<Bits, CronError> {
        let mut bits = 0;
        for part in word.split(|c| c == ',') {
            if !part.text.is_empty() {
                bits |= self.range(part)?.0;
            }
        }
        Ok(Bits(bits))
    }

    /// Reads `*`, `?`, `number`, `number-number`, each with `/step` or without.
    fn range(self, part: Word<'_>) -> Result<Bits, CronError> {
        let fail = |problem| self.error(part, problem);
        let whole = part.split(|c| c == '/').first().copied().unwrap_or(part);
        let ends = whole.text.split('-').count();
        let numbers = whole.split(|c| c == '-');
        let low = numbers.first().copied().unwrap_or(whole);
        let (first, last) = self.bounds();
        let (start, mut end, mut star) = if matches!(low.text, "*" | "?") {
            // Whatever follows with a hyphen is not looked at: `*-x` is `*`.
            (first, last, STAR)
        } else {
            let start = self.number(low)?;
            match ends {
                1 => (start, start, 0),
                2 => {
                    let high = numbers.get(1).copied();
                    (start, self.number(high.unwrap_or(Word { text: "", start: part.range().end }))?, 0)
                }
                _ => return Err(fail(FieldProblem::Hyphens)),
            }
        };
        let step = match part.text.split('/').count() {
            1 => 1,
            2 => {
                let step = self.step(part)?;
                if ends == 1 {
                    end = last;
                }
                if step > 1 {
                    star = 0;
                }
                step
            }
            _ => return Err(fail(FieldProblem::Slashes)),
        };
        if start < first {
            return Err(fail(FieldProblem::Below(start)));
        }
        if end > last {
            return Err(fail(FieldProblem::Above(end)));
        }
        if start > end {
            return Err(fail(FieldProblem::Descends(start, end)));
        }
        if step == 0 {
            return Err(fail(FieldProblem::ZeroStep));
        }
        Ok(Bits(Bits::stepped(start, end, step).0 | star))
    }

    fn error(self, part: Word<'_>, problem: FieldProblem) -> CronError {
        CronError::Field { field: self, text: part.text.to_owned(), range: part.range(), problem }
    }

    fn step(self, part: Word<'_>) -> Result<u64, CronError> {
        let text = part.text.rsplit('/').next().unwrap_or_default();
        let word = Word { text, start: part.range().end - text.len() };
        let step: i64 = text.parse().map_err(|_| self.error(word, FieldProblem::Step))?;
        u64::try_from(step).map_err(|_| self.error(word, FieldProblem::Step))
    }

    /// A number, with a sign and leading zeros if one likes (Go's `strconv.Atoi`), or one of the field's
    /// names.
    fn number(self, word: Word<'_>) -> Result<u64, CronError> {
        let lower = lower(word.text);
        let index = self.names().iter().position(|name| name.get(..3) == Some(lower.as_str()));
        if let Some(index) = index.and_then(|index| u64::try_from(index).ok()) {
            return Ok(self.bounds().0 + index);
        }
        let number: Option<i64> = word.text.parse().ok();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.error(word, FieldProblem::Unreadable))
    }
}

/// Lower case as Go's `strings.ToLower` has it for the letters of the names: besides ASCII, only the dotted
/// capital I folds onto one of them.
pub(super) fn lower(text: &str) -> String {
    text.chars().map(|c| if c == '\u{130}' { 'i' } else { c.to_ascii_lowercase() }).collect()
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}
