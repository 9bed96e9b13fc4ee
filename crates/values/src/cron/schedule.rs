//! A schedule and its runs.

use super::error::CronError;
use super::field::CronField;
use super::parse::{SchedulePart, Selected, is_time_zone, range_of};
use crate::calendar::{Day, Minute};
use crate::duration::Duration;

/// 1 January 2000, in a leap year.
const LEAP_YEAR: Day = Day::since_epoch(10_957);

/// The times at which the window of a budget opens, to the minute in UTC.
///
/// ```
/// use karpwarden_values::cron::{Minute, Schedule};
/// let schedule = Schedule::parse("30 9 * * mon-fri").unwrap();
/// let saturday = Minute::new(2027, 3, 13, 0, 0).unwrap();
/// assert_eq!(schedule.next_after(saturday).unwrap().to_string(), "2027-03-15 09:30");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule(pub(super) RunTimes);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunTimes {
    /// Five fields, or a descriptor that abbreviates them.
    Fields(FieldSets),
    /// `@every`: this many seconds after the time of asking. The pattern of the CRD accepts it only with trailing
    /// whitespace.
    Every(i64),
}

/// The numbers that the five fields select (robfig `SpecSchedule`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldSets {
    minute: Selected,
    hour: Selected,
    day_of_month: Selected,
    month: Selected,
    day_of_week: Selected,
}

impl Schedule {
    /// Parses the schedule of a budget: five fields or a descriptor such as `@daily`, with or without whitespace around.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let spec = text.trim();
        if spec.starts_with('@') {
            return parse_descriptor(text, spec);
        }
        let words = SchedulePart::words(text);
        if let Some(word) = words.first().filter(|word| is_time_zone(word.text)) {
            return Err(CronError::TimeZone { text: word.text.to_owned(), range: word.range() });
        }
        let [minute, hour, day_of_month, month, day_of_week] = words.as_slice() else {
            return Err(CronError::FieldCount { found: words.len(), range: range_of(text, spec) });
        };
        Ok(Self(RunTimes::Fields(FieldSets {
            minute: Selected::parse(CronField::Minute, *minute)?,
            hour: Selected::parse(CronField::Hour, *hour)?,
            day_of_month: Selected::parse(CronField::DayOfMonth, *day_of_month)?,
            month: Selected::parse(CronField::Month, *month)?,
            day_of_week: Selected::parse(CronField::DayOfWeek, *day_of_week)?,
        })))
    }

    /// Whether a run starts at this minute. `@every` never matches, because its runs depend on the time of asking.
    pub fn matches(&self, minute: Minute) -> bool {
        match &self.0 {
            RunTimes::Fields(fields) => {
                let (hour, of_hour) = (minute.of_day() / 60, minute.of_day() % 60);
                fields.has_day(minute.day()) && fields.hour.has(hour) && fields.minute.has(of_hour)
            }
            RunTimes::Every(_) => false,
        }
    }

    /// The first run after this minute; `None` if the next five years have no run, which is where the reference gives up
    /// (robfig spec.go `Next`). A run of `@every` is rounded up to the minute.
    pub fn next_after(&self, minute: Minute) -> Option<Minute> {
        match &self.0 {
            RunTimes::Fields(fields) => fields.first_from(minute.plus(1), minute.day().date().year() + 5),
            RunTimes::Every(seconds) => Some(minute.plus(seconds / 60 + i64::from(seconds % 60 > 0))),
        }
    }

    /// The runs after this minute, in order.
    pub fn runs_after(&self, minute: Minute) -> impl Iterator<Item = Minute> + use<> {
        let schedule = *self;
        core::iter::successors(schedule.next_after(minute), move |run| schedule.next_after(*run))
    }

    /// Whether the schedule never runs in any year, such as `0 0 30 2 *` or a schedule with an empty field (`,`).
    ///
    /// A budget with such a schedule is active at all times: the reference gives up and returns the year 1, which is not
    /// after now.
    pub fn never_runs(&self) -> bool {
        // A leap year has every date.
        match &self.0 {
            RunTimes::Fields(fields) => fields.first_from(LEAP_YEAR.at(0), 2000).is_none(),
            RunTimes::Every(_) => false,
        }
    }

    /// Whether all weeks are equal, because the schedule depends neither on the month nor on the day of the month.
    pub fn is_weekly(&self) -> bool {
        match &self.0 {
            RunTimes::Fields(fields) => fields.is_weekly(),
            RunTimes::Every(_) => true,
        }
    }

    /// Whether a budget with this schedule and duration is active at this minute, as in Karpenter's
    /// `Budget.IsActive`.
    ///
    /// A run lasts from its first minute up to, but without, the end of the duration.
    pub fn is_active(&self, now: Minute, duration: Duration) -> bool {
        match &self.0 {
            RunTimes::Fields(_) => {
                let checkpoint = now.plus(duration.minutes_rounded_up().saturating_neg());
                self.next_after(checkpoint).is_none_or(|run| run <= now)
            }
            RunTimes::Every(seconds) => *seconds <= duration.seconds(),
        }
    }
}

impl FieldSets {
    /// The first minute of a day, at or after `minute`, in which the schedule runs on matching days.
    pub(super) fn first_minute_from(&self, minute: i64) -> Option<i64> {
        let (hour, of_hour) = (minute / 60, minute % 60);
        let rest_of_hour = self.hour.has(hour).then(|| self.minute.first_from(of_hour)).flatten();
        if let Some(of_hour) = rest_of_hour {
            return Some(hour * 60 + of_hour);
        }
        Some(self.hour.first_from(hour + 1)? * 60 + self.minute.first_from(0)?)
    }

    /// Whether the schedule runs on a day.
    pub(super) fn has_day(&self, day: Day) -> bool {
        let date = day.date();
        self.matches_day(date.month(), date.day_of_month(), day.weekday())
    }

    /// Matches the day of the month and the day of the week: both must match if either field has a star, otherwise one
    /// is enough.
    fn matches_day(&self, month: u8, day_of_month: u8, weekday: u8) -> bool {
        let of_month = self.day_of_month.has(day_of_month.into());
        let of_week = self.day_of_week.has(weekday.into());
        let both = self.day_of_month.has_star() || self.day_of_week.has_star();
        let fits = if both { of_month && of_week } else { of_month || of_week };
        fits && self.month.has(month.into())
    }

    /// The first run at or after a minute, in years up to and including `last_year`.
    fn first_from(&self, start: Minute, last_year: i64) -> Option<Minute> {
        let later = self.first_minute_from(0)?;
        let (mut day, mut earliest) = (start.day(), self.first_minute_from(start.of_day()));
        loop {
            let date = day.date();
            if date.year() > last_year {
                return None;
            }
            if let (true, Some(minute)) = (self.has_day(day), earliest) {
                return Some(day.at(minute));
            }
            earliest = Some(later);
            day = if self.month.has(date.month().into()) { day.plus(1) } else { day.next_month() };
        }
    }

    /// Whether the days of the runs depend on the day of the week alone.
    pub(super) fn is_weekly(&self) -> bool {
        // Most schedules have two stars here.
        let is_every_date = self.day_of_month == Selected::all(CronField::DayOfMonth)
            && self.month == Selected::all(CronField::Month);
        is_every_date
            || (0..7).all(|weekday| {
                let has = |month, day| self.matches_day(month, day, weekday);
                let first = has(1, 1);
                (1..=12).all(|month| (1..=31).all(|day| has(month, day) == first))
            })
    }
}

/// Parses `@daily` and other descriptors. Case matters.
fn parse_descriptor(text: &str, spec: &str) -> Result<Schedule, CronError> {
    let daily = FieldSets {
        minute: Selected::only_first(CronField::Minute),
        hour: Selected::only_first(CronField::Hour),
        day_of_month: Selected::all(CronField::DayOfMonth),
        month: Selected::all(CronField::Month),
        day_of_week: Selected::all(CronField::DayOfWeek),
    };
    let first_of_month = FieldSets { day_of_month: Selected::only_first(CronField::DayOfMonth), ..daily };
    let fields = match spec {
        "@yearly" | "@annually" => {
            FieldSets { month: Selected::only_first(CronField::Month), ..first_of_month }
        }
        "@monthly" => first_of_month,
        "@weekly" => FieldSets { day_of_week: Selected::only_first(CronField::DayOfWeek), ..daily },
        "@daily" | "@midnight" => daily,
        "@hourly" => FieldSets { hour: Selected::all(CronField::Hour), ..daily },
        _ => return parse_every(text, spec),
    };
    Ok(Schedule(RunTimes::Fields(fields)))
}

fn parse_every(text: &str, spec: &str) -> Result<Schedule, CronError> {
    let range = range_of(text, spec);
    let Some(delay) = spec.strip_prefix("@every ") else {
        return Err(CronError::Descriptor { text: spec.to_owned(), range });
    };
    match Duration::parse(delay) {
        Ok(delay) => Ok(Schedule(RunTimes::Every(delay.seconds().max(1)))),
        Err(error) => Err(CronError::Every { error, range }),
    }
}
