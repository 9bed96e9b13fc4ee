//! The fields of a schedule: their bounds and names.
//!
//! Reference: robfig/cron v3.0.1 spec.go.

use core::fmt;

/// A field of a schedule, in the order in which fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CronField {
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

impl CronField {
    /// All fields, in order.
    pub const ALL: [Self; 5] = [Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::DayOfWeek];

    /// The smallest and the largest number of the field.
    pub const fn bounds(self) -> (u64, u64) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 6),
        }
    }

    /// The full names of the field's numbers, from the smallest on. A schedule uses their first three letters.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => &MONTHS,
            Self::DayOfWeek => &WEEKDAYS,
            Self::Minute | Self::Hour | Self::DayOfMonth => &[],
        }
    }

    /// The three-letter name of a number, if the field has names.
    pub(super) fn name(self, number: u64) -> Option<&'static str> {
        let index = usize::try_from(number.checked_sub(self.bounds().0)?).ok()?;
        self.names().get(index)?.get(..3)
    }
}

/// `day of month`, `month` and so on, for messages.
impl fmt::Display for CronField {
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
