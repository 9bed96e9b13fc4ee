//! When budgets are active, laid over the week.

use super::week::{DayMinutes, Week};
use super::{Kind, Schedule, Spec};
use crate::calendar::{DAY, Day};
use crate::duration::Duration;

/// When at least one of some budgets is active.
///
/// The two sets are the same unless a day of the month or a month plays a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The minutes of the week that are covered in every week.
    pub always: Week,
    /// The minutes of the week that are covered in some week.
    pub sometimes: Week,
}

/// 7 January 2024, a Sunday. The calendar repeats after 28 years as long as no century comes between.
const FIRST: Day = Day::since_epoch(19_729);
const CYCLE: i64 = 28 * 365 + 7;

/// The longest a schedule rests: from one 29 February to the next, and a little.
const LOOK_BACK: i64 = 4 * 366;

impl Windows {
    /// The windows of budgets with these schedules and durations, taken together: what Karpenter's
    /// `Budget.IsActive` says of each, at every minute of a week, or of 28 years where weeks differ.
    ///
    /// So `always` is full exactly if at any time one of the budgets is active. With weekly schedules the
    /// cost is that of a day and a week for each; else that of some ten thousand days.
    pub fn of(budgets: &[(Schedule, Duration)]) -> Self {
        let mut constant = false;
        let mut sweeps: Vec<Sweep<'_>> = Vec::with_capacity(budgets.len());
        for (schedule, duration) in budgets {
            match Sweep::start(schedule, *duration) {
                Ok(sweep) => sweeps.push(sweep),
                Err(active) => constant |= active,
            }
        }
        if constant || sweeps.is_empty() {
            let week = if constant { Week::FULL } else { Week::EMPTY };
            return Self { always: week, sometimes: week };
        }
        let weekly = sweeps.iter().all(|sweep| sweep.spec.is_weekly());
        let mut windows = Self { always: Week::FULL, sometimes: Week::EMPTY };
        for day in FIRST.days()..FIRST.days() + if weekly { 7 } else { CYCLE } {
            let mut minutes = DayMinutes::EMPTY;
            for sweep in &mut sweeps {
                sweep.add(Day::since_epoch(day), &mut minutes);
            }
            let weekday = usize::try_from((day - FIRST.days()) % 7).unwrap_or_default();
            if let (Some(always), Some(sometimes)) =
                (windows.always.0.get_mut(weekday), windows.sometimes.0.get_mut(weekday))
            {
                always.combine(&minutes, |all, covered| all & covered);
                sometimes.combine(&minutes, |some, covered| some | covered);
            }
        }
        windows
    }
}

/// One budget on its way through the days.
struct Sweep<'s> {
    spec: &'s Spec,
    /// How many minutes a run keeps the budget active.
    window: i64,
    /// What the runs of a day cover of that day.
    fresh: DayMinutes,
    /// The last run of a day.
    last: i64,
    /// Minutes from the last run to the start of the day that comes next.
    since: i64,
}

impl<'s> Sweep<'s> {
    /// A budget at the start of the first day, or whether it is active at all times or at none.
    fn start(schedule: &'s Schedule, duration: Duration) -> Result<Self, bool> {
        let Kind::Spec(spec) = &schedule.0 else { return Err(schedule.is_active(FIRST.at(0), duration)) };
        if schedule.never_runs() {
            return Err(true);
        }
        let window = duration.minutes_rounded_up();
        if window <= 0 {
            return Err(false);
        }
        let (mut fresh, mut last) = (DayMinutes::EMPTY, None);
        for minute in 0..DAY {
            if spec.first_minute_from(minute) == Some(minute) {
                last = Some(minute);
            }
            if last.is_some_and(|last| minute - last < window) {
                fresh.insert(minute);
            }
        }
        let ago = (1..=LOOK_BACK).find(|ago| spec.has_day(Day::since_epoch(FIRST.days() - ago).date()));
        let (Some(last), Some(ago)) = (last, ago) else { return Err(true) };
        Ok(Self { spec, window, fresh, last, since: ago * DAY - last })
    }

    fn add(&mut self, day: Day, minutes: &mut DayMinutes) {
        let covered = DayMinutes::before(self.window.saturating_sub(self.since));
        minutes.combine(&covered, |mine, theirs| mine | theirs);
        self.since = self.since.saturating_add(DAY);
        if self.spec.has_day(day.date()) {
            minutes.combine(&self.fresh, |mine, theirs| mine | theirs);
            self.since = DAY - self.last;
        }
    }
}
