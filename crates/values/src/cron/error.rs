//! Why a schedule is refused, worded for whoever wrote it.

use core::fmt;
use core::ops::Range;

use super::field::Field;
use crate::duration::DurationError;

/// A schedule that Karpenter cannot read: the first mistake the reference comes upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CronError {
    /// A time zone before the fields. Karpenter has put one there itself, and takes the second for a field.
    TimeZone {
        /// The prefix, such as `CRON_TZ=Europe/Berlin`.
        text: String,
        /// Where it stands.
        range: Range<usize>,
    },
    /// More or fewer than five fields.
    FieldCount {
        /// How many there are.
        found: usize,
        /// All of them.
        range: Range<usize>,
    },
    /// A descriptor that does not exist. Case counts.
    Descriptor {
        /// What stands there.
        text: String,
        /// Where it stands.
        range: Range<usize>,
    },
    /// `@every` and no duration.
    Every {
        /// Why there is none.
        error: DurationError,
        /// Where `@every` and the rest stand.
        range: Range<usize>,
    },
    /// A mistake within a field.
    Field {
        /// The field.
        field: Field,
        /// The part that is wrong: what stands between commas, or the number or name in it.
        text: String,
        /// Where that part stands.
        range: Range<usize>,
        /// What is wrong with it.
        problem: FieldProblem,
    },
}

/// What is wrong within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldProblem {
    /// Neither a number nor a name of this field.
    Unreadable,
    /// More than one hyphen.
    Hyphens,
    /// More than one slash.
    Slashes,
    /// A step that is not a number.
    Step,
    /// A step of 0.
    ZeroStep,
    /// Begins with this number, below the field's first.
    Below(u64),
    /// Ends with this number, above the field's last.
    Above(u64),
    /// Begins with the one number and ends with the other, which is smaller.
    Descends(u64, u64),
}

/// Whether a word is a time zone in robfig's or in vixie cron's spelling.
pub(super) fn is_zone(word: &str) -> bool {
    word.starts_with("TZ=") || word.starts_with("CRON_TZ=")
}

/// Where a trimmed text stands in its whole.
pub(super) fn range_of(text: &str, trimmed: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + trimmed.len()
}

impl CronError {
    /// The bytes of the schedule that are wrong. Empty for a schedule of blanks.
    pub fn range(&self) -> Range<usize> {
        match self {
            Self::TimeZone { range, .. }
            | Self::FieldCount { range, .. }
            | Self::Descriptor { range, .. }
            | Self::Every { range, .. }
            | Self::Field { range, .. } => range.clone(),
        }
    }

    /// The field that is wrong, where it is one.
    pub const fn field(&self) -> Option<Field> {
        if let Self::Field { field, .. } = self { Some(*field) } else { None }
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeZone { text, .. } => {
                write!(f, "`{text}` has no place in a schedule: Karpenter reads every schedule in UTC")
            }
            Self::FieldCount { found: 0, .. } => f.write_str("the schedule is empty"),
            Self::FieldCount { found, .. } => {
                let fields = if *found == 1 { "field" } else { "fields" };
                write!(
                    f,
                    "{found} {fields}, where a schedule has 5: minute, hour, day of month, month, day of week"
                )
            }
            Self::Descriptor { text, .. } => write!(
                f,
                "`{text}` is unknown; there are `@hourly`, `@daily` (`@midnight`), `@weekly`, `@monthly` and \
                 `@yearly` (`@annually`)"
            ),
            Self::Every { error, .. } => write!(f, "`@every` needs a duration: {error}"),
            Self::Field { field, text, problem, .. } => problem.describe(*field, text, f),
        }
    }
}

impl FieldProblem {
    fn describe(self, field: Field, text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = field.bounds();
        match self {
            Self::Unreadable => {
                write!(f, "`{text}` is not a {field}: a number from {first} to {last}")?;
                if let (Some(from), Some(to)) = (field.name(first), field.name(last)) {
                    write!(f, ", or `{from}` to `{to}`")?;
                }
                let quartz = text.contains(['L', 'W', '#']) && !text.contains(char::is_whitespace);
                if quartz { f.write_str("; `L`, `W` and `#` belong to other schedulers") } else { Ok(()) }
            }
            Self::Hyphens => {
                write!(f, "`{text}` has more than one hyphen; a {field} range has a first and a last")
            }
            Self::Slashes => write!(f, "`{text}` has more than one slash; a {field} range has one step"),
            Self::Step => write!(f, "`{text}` is not a step: a positive number"),
            Self::ZeroStep => {
                write!(f, "`{text}` has the step 0, and so never gets from its first {field} to the next")
            }
            Self::Below(_) => write!(f, "`{text}` begins below {first}, the smallest {field}"),
            Self::Above(7) if field == Field::DayOfWeek => {
                write!(f, "`{text}` ends above 6, the largest day of week: Sunday is 0, never 7")
            }
            Self::Above(_) => write!(f, "`{text}` ends above {last}, the largest {field}"),
            Self::Descends(..) => {
                write!(f, "`{text}` runs backwards: a {field} range cannot wrap around its end")
            }
        }
    }
}

impl core::error::Error for CronError {}
