//! The schedules of disruption budgets, read and run as Karpenter does.
//!
//! Karpenter hands `TZ=UTC ` and the schedule to `cron.ParseStandard` of robfig/cron v3.0.1, and a budget is
//! active if the schedule's next run, asked for from `now - duration`, is not after now
//! (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go, `Budget.IsActive`). A schedule that does not parse
//! allows no disruption at all, for any reason, in the whole pool.
//!
//! Reference behaviour: robfig/cron v3.0.1 parser.go (what is read), spec.go (when it runs), constantdelay.go
//! (`@every`). No other dialect will do: this one has no day 7, no six fields, no time zone but UTC, no
//! wrapping ranges.

mod error;
mod field;
#[cfg(test)]
mod properties;
mod repair;
#[cfg(test)]
mod tests;
mod week;
mod windows;

pub use crate::calendar::Minute;
pub use error::{CronError, FieldProblem};
pub use field::Field;
pub use repair::Repair;
pub use week::{Run, Week};
pub use windows::Windows;

use crate::calendar::{DateParts, Day};
use crate::duration::Duration;
use field::{Bits, fields};

/// When a budget's window opens, to the minute in UTC.
///
/// ```
/// use karpwarden_values::cron::{Minute, Schedule};
/// let schedule = Schedule::parse("30 9 * * mon-fri").unwrap();
/// let saturday = Minute::new(2027, 3, 13, 0, 0).unwrap();
/// assert_eq!(schedule.next_after(saturday).unwrap().to_string(), "2027-03-15 09:30");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Five fields, or a descriptor that stands for them.
    Spec(Spec),
    /// `@every`: this many seconds after whenever one asks. The CRD's pattern lets it through only with
    /// blanks behind it.
    Every(i64),
}

/// The five fields (robfig `SpecSchedule`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spec {
    minute: Bits,
    hour: Bits,
    day_of_month: Bits,
    month: Bits,
    day_of_week: Bits,
}

impl Schedule {
    /// Reads a budget's schedule: five fields or a descriptor such as `@daily`, blanks around it ignored.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let spec = text.trim();
        if spec.starts_with('@') {
            return descriptor(text, spec);
        }
        let words = fields(text);
        if let Some(word) = words.first().filter(|word| error::is_zone(word.text)) {
            return Err(CronError::TimeZone { text: word.text.to_owned(), range: word.range() });
        }
        let [minute, hour, day_of_month, month, day_of_week] = words.as_slice() else {
            return Err(CronError::FieldCount { found: words.len(), range: error::range_of(text, spec) });
        };
        Ok(Self(Kind::Spec(Spec {
            minute: Field::Minute.read(*minute)?,
            hour: Field::Hour.read(*hour)?,
            day_of_month: Field::DayOfMonth.read(*day_of_month)?,
            month: Field::Month.read(*month)?,
            day_of_week: Field::DayOfWeek.read(*day_of_week)?,
        })))
    }

    /// Whether a run starts at this minute. What `@every` asks for has no place on the calendar: it never
    /// matches.
    pub fn matches(&self, minute: Minute) -> bool {
        match &self.0 {
            Kind::Spec(spec) => {
                let (hour, of_hour) = (minute.of_day() / 60, minute.of_day() % 60);
                spec.has_day(minute.day().date()) && spec.hour.has(hour) && spec.minute.has(of_hour)
            }
            Kind::Every(_) => false,
        }
    }

    /// The first run after this minute, or `None` if there is none up to the end of the fifth year from it:
    /// there the reference gives up (robfig spec.go `Next`). A run of `@every` is rounded up to the minute.
    pub fn next_after(&self, minute: Minute) -> Option<Minute> {
        match &self.0 {
            Kind::Spec(spec) => spec.first_from(minute.plus(1), minute.day().date().year + 5),
            Kind::Every(seconds) => Some(minute.plus(seconds / 60 + i64::from(seconds % 60 > 0))),
        }
    }

    /// The runs after this minute, in order.
    pub fn runs_after(&self, minute: Minute) -> impl Iterator<Item = Minute> + use<> {
        let schedule = *self;
        core::iter::successors(schedule.next_after(minute), move |run| schedule.next_after(*run))
    }

    /// Whether no day, hour and minute of any year fits, such as with `0 0 30 2 *` or an empty field (`,`).
    ///
    /// Such a budget is active at all times: what the reference answers when it gives up is the year 1, and
    /// that is not after now.
    pub fn never_runs(&self) -> bool {
        // Every date there is comes in a leap year.
        match &self.0 {
            Kind::Spec(spec) => spec.first_from(Day::first(2000, 1).at(0), 2000).is_none(),
            Kind::Every(_) => false,
        }
    }

    /// Whether every week is like every other: no month and no day of the month plays a part.
    pub fn is_weekly(&self) -> bool {
        match &self.0 {
            Kind::Spec(spec) => spec.is_weekly(),
            Kind::Every(_) => true,
        }
    }

    /// Whether a budget with this schedule and duration is active at this minute: Karpenter's
    /// `Budget.IsActive`.
    ///
    /// A run counts from its own minute until the duration is over, that end excluded.
    pub fn is_active(&self, now: Minute, duration: Duration) -> bool {
        match &self.0 {
            Kind::Spec(_) => {
                let checkpoint = now.plus(duration.minutes_rounded_up().saturating_neg());
                self.next_after(checkpoint).is_none_or(|run| run <= now)
            }
            Kind::Every(seconds) => *seconds <= duration.seconds(),
        }
    }
}

impl Spec {
    /// The first minute of a day, from this one on, in which the schedule runs on the days that fit.
    fn first_minute_from(&self, minute: i64) -> Option<i64> {
        let (hour, of_hour) = (minute / 60, minute % 60);
        let rest_of_hour = self.hour.has(hour).then(|| self.minute.first_from(of_hour)).flatten();
        if let Some(of_hour) = rest_of_hour {
            return Some(hour * 60 + of_hour);
        }
        Some(self.hour.first_from(hour + 1)? * 60 + self.minute.first_from(0)?)
    }

    /// Day of month and day of week: both must fit if either was written with a star, else one is enough.
    fn has_day(&self, date: DateParts) -> bool {
        let of_month = self.day_of_month.has(date.day.into());
        let of_week = self.day_of_week.has(date.weekday.into());
        let both = self.day_of_month.has_star() || self.day_of_week.has_star();
        let fits = if both { of_month && of_week } else { of_month || of_week };
        fits && self.month.has(date.month.into())
    }

    /// The first run at or after a minute, in years up to and including the last one given.
    fn first_from(&self, start: Minute, last_year: i64) -> Option<Minute> {
        let later = self.first_minute_from(0)?;
        let (mut day, mut earliest) = (start.day(), self.first_minute_from(start.of_day()));
        loop {
            let date = day.date();
            if date.year > last_year {
                return None;
            }
            if let (true, Some(minute)) = (self.has_day(date), earliest) {
                return Some(day.at(minute));
            }
            earliest = Some(later);
            day = if self.month.has(date.month.into()) {
                Day::since_epoch(day.days().saturating_add(1))
            } else {
                after_month(date)
            };
        }
    }

    /// Whether the days it runs on are told by the day of week alone.
    fn is_weekly(&self) -> bool {
        (0..7).all(|weekday| {
            let has = |month, day| self.has_day(DateParts { year: 0, month, day, weekday });
            let first = has(1, 1);
            (1..=12).all(|month| (1..=31).all(|day| has(month, day) == first))
        })
    }
}

fn after_month(date: DateParts) -> Day {
    if date.month >= 12 { Day::first(date.year + 1, 1) } else { Day::first(date.year, date.month + 1) }
}

/// Reads `@daily` and its like; the reference compares case and all.
fn descriptor(text: &str, spec: &str) -> Result<Schedule, CronError> {
    let daily = Spec {
        minute: Field::Minute.only_first(),
        hour: Field::Hour.only_first(),
        day_of_month: Field::DayOfMonth.all(),
        month: Field::Month.all(),
        day_of_week: Field::DayOfWeek.all(),
    };
    let first_of_month = Spec { day_of_month: Field::DayOfMonth.only_first(), ..daily };
    let spec = match spec {
        "@yearly" | "@annually" => Spec { month: Field::Month.only_first(), ..first_of_month },
        "@monthly" => first_of_month,
        "@weekly" => Spec { day_of_week: Field::DayOfWeek.only_first(), ..daily },
        "@daily" | "@midnight" => daily,
        "@hourly" => Spec { hour: Field::Hour.all(), ..daily },
        _ => return every(text, spec),
    };
    Ok(Schedule(Kind::Spec(spec)))
}

fn every(text: &str, spec: &str) -> Result<Schedule, CronError> {
    let range = error::range_of(text, spec);
    let Some(delay) = spec.strip_prefix("@every ") else {
        return Err(CronError::Descriptor { text: spec.to_owned(), range });
    };
    match Duration::parse(delay) {
        Ok(delay) => Ok(Schedule(Kind::Every(delay.seconds().max(1)))),
        Err(error) => Err(CronError::Every { error, range }),
    }
}
