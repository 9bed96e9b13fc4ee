//! The minutes of a week in which budgets are active.

use core::ops::Range;

use super::schedule::{FieldSets, RunTimes, Schedule};
use super::week::{DayMinutes, WeekMinutes};
use crate::calendar::{Day, MINUTES_PER_DAY as DAY};
use crate::duration::Duration;

/// The minutes of a week in which at least one of some budgets is active.
///
/// The two sets are equal unless a schedule depends on the month or on the day of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetWindows {
    /// The minutes that are covered in every week.
    pub always: WeekMinutes,
    /// The minutes that are covered in some week.
    pub sometimes: WeekMinutes,
}

/// 7 January 2024, a Sunday. The calendar repeats after 28 years within a century.
const FIRST: Day = Day::since_epoch(19_729);
const CYCLE: i64 = 28 * 365 + 7;

/// The longest time between two runs, in days: a little more than from one 29 February to the next.
const MAX_LOOK_BACK_DAYS: i64 = 4 * 366;

impl BudgetWindows {
    /// The combined windows of budgets with these schedules and durations: the result of Karpenter's `Budget.IsActive`
    /// for every minute of a week, or of 28 years if weeks differ.
    ///
    /// `always` is full exactly if one of the budgets is active at any time. Weekly schedules cost a pass over one week,
    /// other schedules a pass over some ten thousand days.
    pub fn of(budgets: &[(Schedule, Duration)]) -> Self {
        let days = match Days::of(budgets) {
            Ok(days) => days,
            Err(active) => {
                let week = if active { WeekMinutes::FULL } else { WeekMinutes::EMPTY };
                return Self { always: week, sometimes: week };
            }
        };
        let mut windows = Self { always: WeekMinutes::FULL, sometimes: WeekMinutes::EMPTY };
        for (weekday, minutes) in (0..7).cycle().zip(days) {
            if let (Some(always), Some(sometimes)) =
                (windows.always.0.get_mut(weekday), windows.sometimes.0.get_mut(weekday))
            {
                always.combine(&minutes, |all, covered| all & covered);
                sometimes.combine(&minutes, |some, covered| some | covered);
            }
        }
        windows
    }

    /// Whether one of some budgets is active at any time: whether [`always`](Self::always) is full, without a pass over the
    /// days after the first gap.
    pub fn cover_every_minute(budgets: &[(Schedule, Duration)]) -> bool {
        Days::of(budgets)
            .map_or_else(|active| active, |mut days| days.all(|minutes| minutes == DayMinutes::FULL))
    }
}

/// The minutes that some budgets cover together, day by day: of one week, or of 28 years if weeks differ.
struct Days<'s> {
    sweeps: Vec<Sweep<'s>>,
    days: Range<i64>,
}

impl<'s> Days<'s> {
    /// An error tells that the budgets together are always active, or never.
    fn of(budgets: &'s [(Schedule, Duration)]) -> Result<Self, bool> {
        let mut sweeps = Vec::with_capacity(budgets.len());
        for (schedule, duration) in budgets {
            match Sweep::start(schedule, *duration) {
                Ok(sweep) => sweeps.push(sweep),
                Err(true) => return Err(true),
                Err(false) => {}
            }
        }
        if sweeps.is_empty() {
            return Err(false);
        }
        let is_weekly = sweeps.iter().all(|sweep| sweep.fields.is_weekly());
        Ok(Self { sweeps, days: 0..if is_weekly { 7 } else { CYCLE } })
    }
}

impl Iterator for Days<'_> {
    type Item = DayMinutes;

    fn next(&mut self) -> Option<DayMinutes> {
        let day = FIRST.plus(self.days.next()?);
        let mut minutes = DayMinutes::EMPTY;
        for sweep in &mut self.sweeps {
            sweep.add(day, &mut minutes);
        }
        Some(minutes)
    }
}

/// The state of one budget in a pass over consecutive days.
struct Sweep<'s> {
    fields: &'s FieldSets,
    /// The number of minutes for which a run keeps the budget active.
    window: i64,
    /// The minutes that the runs of a day cover on the same day.
    fresh: DayMinutes,
    /// The minute of the last run of a day.
    last: i64,
    /// Minutes from the last run to the start of the next day.
    since: i64,
}

impl<'s> Sweep<'s> {
    /// The state at the start of the first day. An error tells whether the budget is always active or never.
    fn start(schedule: &'s Schedule, duration: Duration) -> Result<Self, bool> {
        let RunTimes::Fields(fields) = &schedule.0 else {
            return Err(schedule.is_active(FIRST.at(0), duration));
        };
        if schedule.never_runs() {
            return Err(true);
        }
        let window = duration.minutes_rounded_up();
        if window <= 0 {
            return Err(false);
        }
        let (mut fresh, mut last) = (DayMinutes::EMPTY, None);
        let mut run = fields.first_minute_from(0);
        while let Some(minute) = run {
            last = Some(minute);
            run = fields.first_minute_from(minute + 1);
            let end = minute.saturating_add(window).min(run.unwrap_or(DAY));
            fresh.insert(minute, end);
        }
        let ago = (1..=MAX_LOOK_BACK_DAYS).find(|ago| fields.has_day(FIRST.plus(-ago)));
        let (Some(last), Some(ago)) = (last, ago) else { return Err(true) };
        Ok(Self { fields, window, fresh, last, since: ago * DAY - last })
    }

    fn add(&mut self, day: Day, minutes: &mut DayMinutes) {
        let covered = DayMinutes::before(self.window.saturating_sub(self.since));
        minutes.combine(&covered, |mine, theirs| mine | theirs);
        self.since = self.since.saturating_add(DAY);
        if self.fields.has_day(day) {
            minutes.combine(&self.fresh, |mine, theirs| mine | theirs);
            self.since = DAY - self.last;
        }
    }
}
