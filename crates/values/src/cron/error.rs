//! Errors in a schedule, worded for its author.

use core::fmt;
use core::ops::Range;

use super::field::CronField;
use crate::duration::DurationError;

/// The first error that Karpenter finds in a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CronError {
    /// A time zone before the fields. Karpenter adds a time zone itself, and parses a second one as a field.
    TimeZone {
        /// The prefix, such as `CRON_TZ=Europe/Berlin`.
        text: String,
        /// Position of the text.
        range: Range<usize>,
    },
    /// More or fewer than five fields.
    FieldCount {
        /// Number of fields.
        found: usize,
        /// Position of the fields.
        range: Range<usize>,
    },
    /// A descriptor that does not exist. Case matters.
    Descriptor {
        /// The descriptor.
        text: String,
        /// Position of the text.
        range: Range<usize>,
    },
    /// `@every` without a valid duration.
    Every {
        /// Error in the duration.
        error: DurationError,
        /// Position of `@every` and its duration.
        range: Range<usize>,
    },
    /// An error in a field.
    Field {
        /// The field.
        field: CronField,
        /// The invalid part: the text between two commas, or a number or name in it.
        text: String,
        /// Position of the part.
        range: Range<usize>,
        /// The error.
        problem: CronProblem,
    },
}

/// Kind of error in a field of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CronProblem {
    /// Neither a number nor a name of the field.
    Unreadable,
    /// More than one hyphen.
    Hyphens,
    /// More than one slash.
    Slashes,
    /// A step that is not a number.
    Step,
    /// A step of 0.
    ZeroStep,
    /// A first number below the smallest number of the field.
    Below(u64),
    /// A last number above the largest number of the field.
    Above(u64),
    /// A range from the first number to the second, which is smaller.
    Descends(u64, u64),
}

impl CronError {
    /// The invalid bytes of the schedule. Empty for a schedule of whitespace.
    pub fn range(&self) -> Range<usize> {
        match self {
            Self::TimeZone { range, .. }
            | Self::FieldCount { range, .. }
            | Self::Descriptor { range, .. }
            | Self::Every { range, .. }
            | Self::Field { range, .. } => range.clone(),
        }
    }

    /// The invalid field, if the error is in a field.
    pub const fn field(&self) -> Option<CronField> {
        if let Self::Field { field, .. } = self { Some(*field) } else { None }
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeZone { text, .. } => {
                write!(f, "`{text}` is not allowed in a schedule: Karpenter reads every schedule in UTC")
            }
            Self::FieldCount { found: 0, .. } => f.write_str("the schedule is empty"),
            Self::FieldCount { found, .. } => {
                let fields = if *found == 1 { "field" } else { "fields" };
                write!(
                    f,
                    "the schedule has {found} {fields} instead of 5: minute, hour, day of month, month, day of week"
                )
            }
            Self::Descriptor { text, .. } => write!(
                f,
                "`{text}` is not a known descriptor; the descriptors are `@hourly`, `@daily` (`@midnight`), `@weekly`, \
                 `@monthly` and `@yearly` (`@annually`)"
            ),
            Self::Every { error, .. } => write!(f, "`@every` needs a duration: {error}"),
            Self::Field { field, text, problem, .. } => problem.describe(*field, text, f),
        }
    }
}

impl CronProblem {
    fn describe(self, field: CronField, text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = field.bounds();
        match self {
            Self::Unreadable => {
                write!(f, "`{text}` is not a {field}, which is a number from {first} to {last}")?;
                if let (Some(from), Some(to)) = (field.name(first), field.name(last)) {
                    write!(f, ", or `{from}` to `{to}`")?;
                }
                let quartz = text.contains(['L', 'W', '#']) && !text.contains(char::is_whitespace);
                if quartz { f.write_str("; only other schedulers support `L`, `W` and `#`") } else { Ok(()) }
            }
            Self::Hyphens => {
                write!(f, "`{text}` has more than one hyphen; a range has a first and a last {field}")
            }
            Self::Slashes => write!(f, "`{text}` has more than one slash; a range has one step"),
            Self::Step => write!(f, "`{text}` is not a step, which is a positive number"),
            Self::ZeroStep => {
                write!(f, "`{text}` has the step 0; write a step of at least 1")
            }
            Self::Below(_) => write!(f, "`{text}` is below {first}, the smallest {field}"),
            Self::Above(7) if field == CronField::DayOfWeek => {
                write!(f, "`{text}` is above 6, the largest day of week; Sunday is 0")
            }
            Self::Above(_) => write!(f, "`{text}` is above {last}, the largest {field}"),
            Self::Descends(..) => {
                write!(f, "`{text}` ends before it starts; a {field} range cannot wrap around")
            }
        }
    }
}

impl core::error::Error for CronError {}
