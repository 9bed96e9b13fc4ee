//! The text of a schedule as sets of numbers.
//!
//! Reference: robfig/cron v3.0.1 parser.go, `getField`, `getRange` and `parseIntOrName`.

use core::ops::Range;

use super::error::{CronError, CronProblem};
use super::field::CronField;

/// The numbers that a field selects, and whether the field has a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected(u64);

const STAR: u64 = 1 << 63;

impl Selected {
    /// The smallest number of a field.
    pub(super) const fn only_first(field: CronField) -> Self {
        Self(1 << field.bounds().0)
    }

    /// Every number of a field, as `*` selects them.
    pub(super) fn all(field: CronField) -> Self {
        let (first, last) = field.bounds();
        Self(Self::stepped(first, last, 1).0 | STAR)
    }

    /// The numbers from `start` to `end` by `step`. No field has a number above 62.
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

    /// The smallest selected number that is at least `number`.
    pub(super) fn first_from(self, number: i64) -> Option<i64> {
        let above = (self.0 & !STAR) & u64::MAX.checked_shl(u32::try_from(number).ok()?)?;
        (above != 0).then(|| i64::from(above.trailing_zeros()))
    }

    /// Parses a field: ranges separated by commas. Empty ranges are ignored, so a field of commas selects nothing and
    /// is no error.
    pub(super) fn parse(field: CronField, text: SchedulePart<'_>) -> Result<Self, CronError> {
        let mut bits = 0;
        for part in text.split(',').filter(|part| !part.text.is_empty()) {
            bits |= parse_range(field, part)?.0;
        }
        Ok(Self(bits))
    }
}

/// A part of a schedule and its position.
#[derive(Clone, Copy)]
pub(super) struct SchedulePart<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
}

impl<'t> SchedulePart<'t> {
    /// The words between whitespace. Go's `strings.Fields` and Rust agree on what whitespace is.
    pub(super) fn words(text: &'t str) -> Vec<Self> {
        let whole = Self { text, start: 0 };
        text.split_whitespace().map(|word| whole.part(word)).collect()
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn split(self, separator: char) -> impl Iterator<Item = Self> {
        self.text.split(separator).map(move |text| self.part(text))
    }

    /// The parts before and after the first separator.
    fn split_once(self, separator: char) -> (Self, Option<Self>) {
        match self.text.split_once(separator) {
            Some((before, after)) => (self.part(before), Some(self.part(after))),
            None => (self, None),
        }
    }

    /// A slice of the text as a part.
    fn part(self, text: &'t str) -> Self {
        Self { text, start: self.start + (text.as_ptr().addr() - self.text.as_ptr().addr()) }
    }
}

/// Whether a word is a time zone in the spelling of robfig or of Vixie cron.
pub(super) fn is_time_zone(word: &str) -> bool {
    word.starts_with("TZ=") || word.starts_with("CRON_TZ=")
}

/// Position of a trimmed text in its whole.
pub(super) fn range_of(text: &str, trimmed: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + trimmed.len()
}

/// Parses `*`, `?`, `number` or `number-number`, each with or without `/step`.
fn parse_range(field: CronField, part: SchedulePart<'_>) -> Result<Selected, CronError> {
    let fail = |problem| error(field, part, problem);
    let (range, step) = part.split_once('/');
    let (low, high) = range.split_once('-');
    let (first, last) = field.bounds();
    let (start, mut end, mut star) = match high {
        // The reference ignores whatever follows a star and a hyphen: `*-x` is `*`.
        _ if matches!(low.text, "*" | "?") => (first, last, STAR),
        None => {
            let number = parse_number(field, low)?;
            (number, number, 0)
        }
        Some(high) => {
            let low = parse_number(field, low)?;
            if high.text.contains('-') {
                return Err(fail(CronProblem::Hyphens));
            }
            (low, parse_number(field, high)?, 0)
        }
    };
    let step = match step {
        None => 1,
        Some(step) if step.text.contains('/') => return Err(fail(CronProblem::Slashes)),
        Some(step) => {
            let step = parse_step(field, step)?;
            if high.is_none() {
                end = last;
            }
            if step > 1 {
                star = 0;
            }
            step
        }
    };
    if start < first {
        return Err(fail(CronProblem::Below(start)));
    }
    if end > last {
        return Err(fail(CronProblem::Above(end)));
    }
    if start > end {
        return Err(fail(CronProblem::Descends(start, end)));
    }
    if step == 0 {
        return Err(fail(CronProblem::ZeroStep));
    }
    Ok(Selected(Selected::stepped(start, end, step).0 | star))
}

fn parse_step(field: CronField, part: SchedulePart<'_>) -> Result<u64, CronError> {
    // Go parses a signed number, so `-0` is a step of 0.
    let step = part.text.parse::<i64>().ok().and_then(|step| u64::try_from(step).ok());
    step.ok_or_else(|| error(field, part, CronProblem::Step))
}

/// Parses a number, which may have a sign and leading zeros (Go's `strconv.Atoi`), or a name of the field.
fn parse_number(field: CronField, part: SchedulePart<'_>) -> Result<u64, CronError> {
    if let Ok(number) = part.text.parse::<i64>() {
        return u64::try_from(number).map_err(|_| error(field, part, CronProblem::Unreadable));
    }
    let lower = lower(part.text);
    let index = field.names().iter().position(|name| name.get(..3) == Some(lower.as_str()));
    let index = index.and_then(|index| u64::try_from(index).ok());
    index.map(|index| field.bounds().0 + index).ok_or_else(|| error(field, part, CronProblem::Unreadable))
}

fn error(field: CronField, part: SchedulePart<'_>, problem: CronProblem) -> CronError {
    CronError::Field { field, text: part.text.to_owned(), range: part.range(), problem }
}

/// Lower case of the letters in the names, as in Go's `strings.ToLower`. Outside ASCII, only the dotted capital I becomes
/// one of these letters.
pub(super) fn lower(text: &str) -> String {
    text.chars().map(|c| if c == '\u{130}' { 'i' } else { c.to_ascii_lowercase() }).collect()
}
