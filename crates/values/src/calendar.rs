//! The proleptic Gregorian calendar in UTC: days, dates and minutes, without a clock, time zones and leap seconds.
//!
//! The conversions between days and dates are Howard Hinnant's `days_from_civil` and `civil_from_days`
//! (<https://howardhinnant.github.io/date_algorithms.html>), which count years from March, so that the leap day is the
//! last day of a year.

use core::fmt;

/// Minutes in a day.
pub const MINUTES_PER_DAY: i64 = 24 * 60;

/// Minutes in a week.
pub const MINUTES_PER_WEEK: i64 = 7 * MINUTES_PER_DAY;

/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH: i64 = 719_468;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// Whether a year has a 29 February.
pub const fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Number of days in a month; 0 for a month that does not exist.
pub const fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 0,
    }
}

/// A day of the calendar as year, month and day of the month.
///
/// ```
/// use karpwarden_values::calendar::Date;
/// let date = Date::parse("2028-02-29").unwrap();
/// assert_eq!(date.to_string(), "2028-02-29");
/// assert!(Date::parse("2027-02-29").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// A date; `None` if the calendar does not have it. Months and days count from 1.
    pub fn new(year: i64, month: u8, day: u8) -> Option<Self> {
        (1..=days_in_month(year, month)).contains(&day).then_some(Self { year, month, day })
    }

    /// Parses `2027-03-31`; `None` for other spellings and for days that do not exist.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let is_whole = parts.next().is_none() && year.len() == 4 && month.len() == 2 && day.len() == 2;
        let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let date = Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
        (is_whole && is_decimal).then_some(date)
    }

    /// The year.
    pub const fn year(self) -> i64 {
        self.year
    }

    /// The month, from 1.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    pub const fn day_of_month(self) -> u8 {
        self.day
    }

    /// The date as a count of days.
    pub fn day(self) -> Day {
        let (month, year) = if self.month > 2 {
            (self.month - 3, self.year)
        } else {
            (self.month + 9, self.year.saturating_sub(1))
        };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * i64::from(month) + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Day(era.saturating_mul(DAYS_PER_ERA).saturating_add(day_of_era - EPOCH))
    }
}

/// `2027-03-31`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A day of the calendar as a count of days since 1 January 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// The day some days after 1 January 1970.
    pub const fn since_epoch(days: i64) -> Self {
        Self(days)
    }

    /// Days since 1 January 1970.
    pub const fn days(self) -> i64 {
        self.0
    }

    /// The day some days later, or earlier if negative; saturates.
    pub const fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// The first day of the next month.
    pub fn next_month(self) -> Self {
        let Date { year, month, .. } = self.date();
        let first = if month >= 12 {
            Date { year: year.saturating_add(1), month: 1, day: 1 }
        } else {
            Date { year, month: month + 1, day: 1 }
        };
        first.day()
    }

    /// Day of the week, from 0 for Sunday to 6.
    pub fn weekday(self) -> u8 {
        // The epoch was a Thursday.
        small((self.0.rem_euclid(7) + 4) % 7)
    }

    /// The date.
    pub fn date(self) -> Date {
        let shifted = self.0.saturating_add(EPOCH);
        let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        Date { year: era * 400 + year_of_era + next_year, month: small(month), day: small(day) }
    }

    /// A minute of the day; saturates.
    pub const fn at(self, minute: i64) -> Minute {
        Minute(self.0.saturating_mul(MINUTES_PER_DAY).saturating_add(minute))
    }
}

/// A number of the calendar that is known to fit.
fn small(number: i64) -> u8 {
    debug_assert!(u8::try_from(number).is_ok(), "{number} is not a number of the calendar");
    u8::try_from(number).unwrap_or_default()
}

/// The start of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(i64);

impl Minute {
    /// A minute, such as 29 February 2028, 23:59; `None` if the calendar does not have it.
    ///
    /// Months and days count from 1, hours and minutes from 0.
    pub fn new(year: u16, month: u8, day: u8, hour: u8, minute: u8) -> Option<Self> {
        let date = Date::new(i64::from(year), month, day).filter(|_| hour <= 23 && minute <= 59)?;
        Some(date.day().at(i64::from(hour) * 60 + i64::from(minute)))
    }

    /// The minute some minutes after 1 January 1970, 00:00.
    pub const fn since_epoch(minutes: i64) -> Self {
        Self(minutes)
    }

    /// Minutes since 1 January 1970, 00:00.
    pub const fn minutes(self) -> i64 {
        self.0
    }

    /// The minute some minutes later, or earlier if negative; saturates.
    pub const fn plus(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes))
    }

    /// Minutes since the last Sunday, 00:00.
    pub const fn of_week(self) -> i64 {
        // The epoch was a Thursday.
        (self.0.rem_euclid(MINUTES_PER_WEEK) + 4 * MINUTES_PER_DAY) % MINUTES_PER_WEEK
    }

    /// Minutes since midnight.
    pub const fn of_day(self) -> i64 {
        self.0.rem_euclid(MINUTES_PER_DAY)
    }

    /// The day.
    pub const fn day(self) -> Day {
        Day(self.0.div_euclid(MINUTES_PER_DAY))
    }
}

/// `2027-03-14 09:30`.
impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, minute) = (self.day().date(), self.of_day());
        write!(f, "{date} {:02}:{:02}", minute / 60, minute % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rejects_dates_and_times_that_do_not_exist() {
        assert!(Minute::new(2028, 2, 29, 23, 59).is_some() && Minute::new(2000, 2, 29, 0, 0).is_some());
        for (year, month, day) in
            [(2027, 2, 29), (2100, 2, 29), (2027, 4, 31), (2027, 0, 1), (2027, 13, 1), (2027, 1, 0)]
        {
            assert_eq!(Minute::new(year, month, day, 0, 0), None);
        }
        assert!(Minute::new(2027, 1, 1, 24, 0).is_none() && Minute::new(2027, 1, 1, 0, 60).is_none());
        for text in ["", "2027", "2027-3-31", "2027-03-31-01", "2027-02-30", "+027-03-31", "20270331"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn counts_days_from_1970() {
        for (days, text) in
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (20_777, "2026-11-20")]
        {
            assert_eq!(Day::since_epoch(days).date().to_string(), text);
            assert_eq!(Date::parse(text).unwrap().day().days(), days);
        }
    }

    #[test]
    fn counts_weekdays_from_sunday() {
        for (year, month, day, weekday) in
            [(1970, 1, 1, 4), (2012, 7, 9, 1), (2012, 7, 15, 0), (2000, 2, 29, 2), (1899, 12, 31, 0)]
        {
            let minute = Minute::new(year, month, day, 12, 30).unwrap();
            assert_eq!(minute.day().weekday(), weekday);
            assert_eq!(minute.of_week(), i64::from(weekday) * MINUTES_PER_DAY + 750);
        }
        assert_eq!(Minute::new(1899, 12, 31, 7, 5).unwrap().to_string(), "1899-12-31 07:05");
    }

    #[test]
    fn every_day_of_400_years_follows_the_day_before() {
        let day_of = |text| Date::parse(text).unwrap().day();
        let (first, last) = (day_of("1900-01-01"), day_of("2300-01-01"));
        let mut before = first;
        while before < last {
            let (day, date, old) = (before.plus(1), before.plus(1).date(), before.date());
            let next = match (date.day, date.month) {
                (1, 1) => (old.year + 1, 1, 1),
                (1, _) => (old.year, old.month + 1, 1),
                _ => (old.year, old.month, old.day + 1),
            };
            assert_eq!((date.year, date.month, date.day), next);
            assert_eq!(day.weekday(), (before.weekday() + 1) % 7);
            assert_eq!(Date::new(date.year, date.month, date.day), Some(date));
            assert_eq!(date.day(), day);
            assert_eq!(date.day == 1, before.next_month() == day);
            before = day;
        }
    }

    proptest! {
        #[test]
        fn no_minute_panics(minutes: i64) {
            let minute = Minute::since_epoch(minutes);
            prop_assert!((0..MINUTES_PER_WEEK).contains(&minute.of_week()));
            prop_assert!(!minute.plus(minutes).to_string().is_empty());
            prop_assert!(!Day::since_epoch(minutes).date().to_string().is_empty());
        }
    }
}
