//! Sets of minutes of a week in UTC.

use core::fmt;

use crate::calendar::{MINUTES_PER_DAY as DAY, MINUTES_PER_WEEK as WEEK};
use crate::duration::Duration;

/// A set of minutes of a day, one bit each. The last word holds 32 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DayMinutes([u64; 23]);

impl DayMinutes {
    pub(super) const EMPTY: Self = Self([0; 23]);
    pub(super) const FULL: Self = {
        let mut words = [u64::MAX; 23];
        words[22] = u32::MAX as u64;
        Self(words)
    };

    /// Adds the minutes from `start` up to, but without, `end`.
    pub(super) fn insert(&mut self, start: i64, end: i64) {
        let mut minutes = Self::before(end);
        minutes.combine(&Self::before(start), |all, before| all & !before);
        self.combine(&minutes, |mine, theirs| mine | theirs);
    }

    fn contains(&self, minute: i64) -> bool {
        let word = usize::try_from(minute / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word & (1 << (minute % 64)) != 0)
    }

    /// The minutes before this one.
    pub(super) fn before(minute: i64) -> Self {
        let mut left = minute.clamp(0, DAY);
        let mut words = [0; 23];
        for word in &mut words {
            *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            left = (left - 64).max(0);
        }
        Self(words)
    }

    pub(super) fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = with(*mine, theirs);
        }
    }
}

/// A set of minutes of a week, which starts on Sunday at 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMinutes(pub(super) [DayMinutes; 7]);

/// An interval of consecutive minutes of a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekRun {
    /// The first minute, counted from Sunday 00:00.
    pub start: i64,
    /// Number of minutes, at most a week.
    pub minutes: i64,
}

impl WeekMinutes {
    /// No minute.
    pub const EMPTY: Self = Self([DayMinutes::EMPTY; 7]);
    /// Every minute.
    pub const FULL: Self = Self([DayMinutes::FULL; 7]);

    /// Whether a minute, counted from Sunday 00:00, is in the set.
    pub fn contains(&self, minute: i64) -> bool {
        let day = usize::try_from(minute.div_euclid(DAY)).ok().and_then(|day| self.0.get(day));
        day.is_some_and(|day| day.contains(minute % DAY))
    }

    /// Whether every minute is in the set.
    pub fn is_full(&self) -> bool {
        *self == Self::FULL
    }

    /// Whether no minute is in the set.
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The minutes in either set.
    pub fn or(mut self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine | theirs);
        self
    }

    /// The minutes in both sets.
    pub fn and(mut self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine & theirs);
        self
    }

    /// The minutes that are not in the set.
    pub fn complement(&self) -> Self {
        let mut rest = Self::FULL;
        rest.combine(self, |all, mine| all & !mine);
        rest
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64 + Copy) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.combine(theirs, with);
        }
    }

    /// The intervals of the set, ordered by their start. The last interval may continue from Saturday into Sunday.
    pub fn runs(&self) -> impl Iterator<Item = WeekRun> {
        // If an interval continues from Saturday into Sunday, count the week from the first gap.
        let gap = (0..WEEK).find(|minute| self.contains(WEEK - 1) && !self.contains(*minute));
        let (mut minute, end) = gap.map_or((0, WEEK), |gap| (gap + 1, gap + WEEK));
        core::iter::from_fn(move || {
            let start = (minute..end).find(|minute| self.contains(minute % WEEK))?;
            minute = (start..end).find(|minute| !self.contains(minute % WEEK)).unwrap_or(end);
            Some(WeekRun { start: start % WEEK, minutes: minute - start })
        })
    }

    /// The set as schedules of budgets, each with a duration, whose windows are exactly these minutes.
    pub fn as_schedules(&self) -> Vec<(String, Duration)> {
        if self.is_full() {
            return vec![("0 0 * * *".to_owned(), Duration::from_minutes(DAY))];
        }
        let mut groups: Vec<(i64, i64, [bool; 7])> = Vec::new();
        for WeekRun { start, minutes } in self.runs() {
            let (weekday, time) = (start / DAY, start % DAY);
            let known = groups.iter().position(|group| (group.0, group.1) == (time, minutes));
            let index = known.unwrap_or(groups.len());
            if known.is_none() {
                groups.push((time, minutes, [false; 7]));
            }
            let days = groups.get_mut(index).map(|group| &mut group.2);
            if let Some(day) = days.and_then(|days| days.get_mut(usize::try_from(weekday).ok()?)) {
                *day = true;
            }
        }
        let mut schedules = Vec::new();
        for (time, minutes, days) in groups {
            let schedule = format!("{} {} * * {}", time % 60, time / 60, weekdays(days));
            schedules.push((schedule, Duration::from_minutes(minutes)));
        }
        schedules
    }
}

const NAMES: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

fn name(weekday: i64) -> &'static str {
    let name = usize::try_from(weekday).ok().and_then(|weekday| NAMES.get(weekday));
    debug_assert!(name.is_some(), "{weekday} is no day of the week");
    name.copied().unwrap_or_default()
}

/// Prints `mon-fri`, `sun,wed-thu`, or `*` for every day.
fn weekdays(days: [bool; 7]) -> String {
    if days.iter().all(|day| *day) {
        return "*".to_owned();
    }
    let mut text = String::new();
    let mut rest = days.iter().zip(NAMES).peekable();
    while let Some((wanted, first)) = rest.next() {
        if !wanted {
            continue;
        }
        text.push_str(if text.is_empty() { "" } else { "," });
        text.push_str(first);
        let mut last = first;
        while let Some((_, name)) = rest.next_if(|(wanted, _)| **wanted) {
            last = name;
        }
        if first != last {
            text.push('-');
            text.push_str(last);
        }
    }
    text
}

/// Prints `fri 18:00-mon 06:00`, where the end is the first minute after the interval.
impl fmt::Display for WeekRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start, (self.start + self.minutes) % WEEK);
        write!(f, "{} {:02}:{:02}-", name(start / DAY), start % DAY / 60, start % 60)?;
        if start / DAY != end / DAY || end <= start {
            write!(f, "{} ", name(end / DAY))?;
        }
        write!(f, "{:02}:{:02}", end % DAY / 60, end % 60)
    }
}

/// Prints the intervals separated by commas, `all week` or `never`.
impl fmt::Display for WeekMinutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_full() || self.is_empty() {
            return f.write_str(if self.is_full() { "all week" } else { "never" });
        }
        for (index, run) in self.runs().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{run}")?;
        }
        Ok(())
    }
}
