//! The UTC calendar, in days and minutes: no clock, no time zones, no leap seconds, as Go's `time.Time` in UTC.
//!
//! The conversions are the usual era arithmetic of the proleptic Gregorian calendar, with years that begin in
//! March (Howard Hinnant, `chrono-Compatible Low-Level Date Algorithms`).

use core::fmt;

/// Minutes in a day.
pub const DAY: i64 = 24 * 60;

/// The start of a minute in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(i64);

/// A day, counted from 1 January 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

/// Year, month, day and weekday of a [`Day`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateParts {
    /// The year; negative years are before year 0.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 6, from Sunday.
    pub weekday: u32,
}

impl Minute {
    /// A minute of the calendar, such as 29 February 2028, 23:59; `None` if the date or time does not exist.
    ///
    /// Months and days count from 1, hours and minutes from 0.
    pub fn new(year: u16, month: u8, day: u8, hour: u8, minute: u8) -> Option<Self> {
        if hour > 23 || minute > 59 {
            return None;
        }
        let days = Day::new(i64::from(year), u32::from(month), u32::from(day))?;
        Some(Self(days.0 * DAY + i64::from(hour) * 60 + i64::from(minute)))
    }

    /// From the number of whole minutes since 1 January 1970, 00:00 UTC.
    pub const fn since_epoch(minutes: i64) -> Self {
        Self(minutes)
    }

    /// Minutes since 1 January 1970, 00:00 UTC.
    pub const fn minutes(self) -> i64 {
        self.0
    }

    /// So many minutes later, or earlier; the ends of the range are sticky.
    pub const fn plus(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes))
    }

    /// Minutes since the last Sunday, 00:00: the place in [`Week`](super::cron::Week).
    pub const fn of_week(self) -> i64 {
        // The epoch was a Thursday.
        (self.0.rem_euclid(7 * DAY) + 4 * DAY) % (7 * DAY)
    }

    /// The day of the minute.
    pub const fn day(self) -> Day {
        Day(self.0.div_euclid(DAY))
    }

    /// Minutes since the start of the day.
    pub const fn of_day(self) -> i64 {
        self.0.rem_euclid(DAY)
    }
}

impl Day {
    /// A day of the calendar; `None` if the month has no such day. Months and days count from 1.
    pub fn new(year: i64, month: u32, day: u32) -> Option<Self> {
        let long = if month == 12 { Self::first(year + 1, 1) } else { Self::first(year, month + 1) };
        let candidate = Self(Self::first(year, month).0 + i64::from(day) - 1);
        ((1..=12).contains(&month) && day >= 1 && candidate < long).then_some(candidate)
    }

    /// Reads `2027-03-31`; `None` for other text and for days that do not exist.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let lengths = (year.len(), month.len(), day.len());
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if lengths != (4, 2, 2) || parts.next().is_some() || !digits {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// The day so many days after 1 January 1970.
    pub const fn since_epoch(days: i64) -> Self {
        Self(days)
    }

    /// Days since 1 January 1970.
    pub const fn days(self) -> i64 {
        self.0
    }

    /// The first day of a month.
    pub fn first(year: i64, month: u32) -> Self {
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * i64::from((month + 9) % 12) + 2) / 5;
        Self(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    /// Year, month, day and weekday.
    pub fn date(self) -> DateParts {
        let shifted = self.0.saturating_add(719_468);
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let small = |number: i64| u32::try_from(number).unwrap_or_default();
        DateParts {
            year: era * 400 + year + next,
            month: small(month),
            day: small(day),
            weekday: small((self.0.rem_euclid(7) + 4) % 7),
        }
    }

    /// The minute so many minutes into the day.
    pub const fn at(self, minute: i64) -> Minute {
        Minute(self.0.saturating_mul(DAY).saturating_add(minute))
    }
}

/// `2027-03-14`.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DateParts { year, month, day, .. } = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// `2027-03-14 09:30`.
impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minute = self.of_day();
        write!(f, "{} {:02}:{:02}", self.day(), minute / 60, minute % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rejects_dates_that_do_not_exist() {
        assert!(Minute::new(2028, 2, 29, 23, 59).is_some() && Minute::new(2000, 2, 29, 0, 0).is_some());
        for (year, month, day) in
            [(2027, 2, 29), (2100, 2, 29), (2027, 4, 31), (2027, 0, 1), (2027, 13, 1), (2027, 1, 0)]
        {
            assert_eq!(Minute::new(year, month, day, 0, 0), None);
        }
        assert!(Minute::new(2027, 1, 1, 24, 0).is_none() && Minute::new(2027, 1, 1, 0, 60).is_none());
    }

    #[test]
    fn parses_days() {
        for text in ["1970-01-01", "2000-02-29", "2000-03-01", "2026-11-20"] {
            assert_eq!(Day::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Day::parse("2000-02-29"), Some(Day::since_epoch(11_016)));
        for text in ["", "2027-02-29", "2027-2-28", "+027-02-28", "2027-02-28-", "2027-13-01", "2027-00-01"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn weekdays_count_from_sunday() {
        for (year, month, day, weekday) in
            [(1970, 1, 1, 4), (2012, 7, 9, 1), (2012, 7, 15, 0), (2000, 2, 29, 2), (1899, 12, 31, 0)]
        {
            let minute = Minute::new(year, month, day, 12, 30).unwrap();
            assert_eq!(minute.day().date().weekday, weekday);
            assert_eq!(minute.of_week(), i64::from(weekday) * DAY + 750);
        }
        assert_eq!(Minute::new(1899, 12, 31, 7, 5).unwrap().to_string(), "1899-12-31 07:05");
    }

    #[test]
    fn every_day_of_an_era_follows_the_one_before() {
        let mut before = Day::first(1900, 1).date();
        for day in Day::first(1900, 1).0 + 1..Day::first(2300, 1).0 {
            let date = Day(day).date();
            assert_eq!(date.weekday, (before.weekday + 1) % 7);
            let next = match (date.day, date.month) {
                (1, 1) => (before.year + 1, 1, 1),
                (1, _) => (before.year, before.month + 1, 1),
                _ => (before.year, before.month, before.day + 1),
            };
            assert_eq!((date.year, date.month, date.day), next);
            assert_eq!(Day::new(date.year, date.month, date.day), Some(Day(day)));
            before = date;
        }
    }

    proptest! {
        #[test]
        fn no_minute_panics(minutes: i64) {
            let minute = Minute::since_epoch(minutes);
            prop_assert!((0..7 * DAY).contains(&minute.of_week()));
            prop_assert!(!minute.plus(minutes).to_string().is_empty());
        }
    }
}
