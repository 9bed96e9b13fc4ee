//! The windows of a budget between two instants.

use super::schedule::{RunTimes, Schedule};
use crate::calendar::Minute;
use crate::duration::Duration;
use crate::timestamp::Timestamp;

/// Half-open interval of time in which a window is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The first instant.
    pub start: Timestamp,
    /// The first instant after the interval.
    pub end: Timestamp,
}

impl Schedule {
    /// Whether a window with this schedule and duration is open at an instant, as in Karpenter's `Budget.IsActive`: from a
    /// run up to, but without, the end of the duration.
    pub fn is_open(&self, now: Timestamp, duration: Duration) -> bool {
        let checkpoint = now.minus(duration);
        match &self.0 {
            RunTimes::Fields(_) => {
                self.next_after(checkpoint.minute()).is_none_or(|run| Timestamp::of_minute(run) <= now)
            }
            // robfig constantdelay.go `Next` rounds the result down to the second.
            RunTimes::Every(seconds) => {
                let delay = Duration::from_nanoseconds(seconds.saturating_mul(1_000_000_000));
                let fraction = Duration::from_nanoseconds(checkpoint.nanoseconds_of_second());
                checkpoint.plus(delay).minus(fraction) <= now
            }
        }
    }

    /// The intervals between two instants in which the window is open, in order. Overlapping windows are one interval.
    pub fn openings(&self, from: Timestamp, to: Timestamp, duration: Duration) -> Vec<Opening> {
        let is_fields = matches!(self.0, RunTimes::Fields(_));
        let never_closes = is_fields && self.next_after(from.minus(duration).minute()).is_none();
        if never_closes || !is_fields {
            let whole =
                (from < to && self.is_open(from, duration)).then_some(Opening { start: from, end: to });
            return whole.into_iter().collect();
        }
        let mut openings: Vec<Opening> = Vec::new();
        let mut next = self.run_in_force(from, duration).or_else(|| self.next_after(from.minute()));
        while let Some(run) = next.filter(|run| duration > Duration::ZERO && Timestamp::of_minute(*run) < to)
        {
            let run_start = Timestamp::of_minute(run);
            let (start, end) = (run_start.max(from), run_start.plus(duration).min(to));
            match openings.last_mut().filter(|last| start <= last.end) {
                Some(last) => last.end = last.end.max(end),
                None => openings.push(Opening { start, end }),
            }
            next = self.next_after(run);
        }
        openings
    }

    /// The last run whose window is open at an instant.
    fn run_in_force(&self, now: Timestamp, duration: Duration) -> Option<Minute> {
        let is_past = |minute: i64| {
            let run = self.next_after(Minute::since_epoch(minute))?;
            (run <= now.minute()).then_some(run)
        };
        let (mut before, mut after) = (now.minus(duration).minute().minutes(), now.minute().minutes());
        let mut last = is_past(before)?;
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            match is_past(middle) {
                Some(run) => (before, last) = (middle, run),
                None => after = middle,
            }
        }
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// The openings in a week from Wednesday, 11 March 2026.
    fn openings(schedule: &str, duration: &str) -> Vec<String> {
        let from = time("2026-03-11T10:30:00Z");
        let (schedule, duration) = (Schedule::parse(schedule).unwrap(), Duration::parse(duration).unwrap());
        let all = schedule.openings(from, from.plus(Duration::from_minutes(7 * 1440)), duration);
        all.iter().map(|opening| format!("{}/{}", opening.start, opening.end)).collect()
    }

    #[test]
    fn a_window_is_open_from_its_run_to_before_its_end() {
        let schedule = Schedule::parse("0 9 * * mon-fri").unwrap();
        let duration = Duration::parse("8h").unwrap();
        for (text, open) in [
            ("2026-03-13T08:59:59.999Z", false),
            ("2026-03-13T09:00:00Z", true),
            ("2026-03-13T16:59:59.999Z", true),
            ("2026-03-13T17:00:00Z", false),
        ] {
            assert_eq!(schedule.is_open(time(text), duration), open, "{text}");
        }
    }

    #[test]
    fn lists_windows_that_started_before() {
        assert_eq!(
            openings("0 9 * * wed,thu", "8h"),
            [
                "2026-03-11T10:30:00Z/2026-03-11T17:00:00Z",
                "2026-03-12T09:00:00Z/2026-03-12T17:00:00Z",
                "2026-03-18T09:00:00Z/2026-03-18T10:30:00Z"
            ]
        );
        assert_eq!(openings("0 0 1 * *", "744h"), ["2026-03-11T10:30:00Z/2026-03-18T10:30:00Z"]);
    }

    #[test]
    fn joins_overlapping_windows() {
        assert_eq!(openings("* * * * *", "90s"), ["2026-03-11T10:30:00Z/2026-03-18T10:30:00Z"]);
        assert_eq!(openings("0 12,13 12 * *", "1h"), ["2026-03-12T12:00:00Z/2026-03-12T14:00:00Z"]);
        assert_eq!(openings("0 12,14 12 * *", "1h").len(), 2);
    }

    #[test]
    fn a_window_without_length_never_opens_and_a_date_that_never_comes_is_always_open() {
        assert_eq!(openings("0 9 * * *", "0s"), Vec::<String>::new());
        assert_eq!(openings("0 9 * * *", "-1h"), Vec::<String>::new());
        assert_eq!(openings("0 0 30 2 *", "1h"), ["2026-03-11T10:30:00Z/2026-03-18T10:30:00Z"]);
        assert_eq!(openings("@every 1h", "59m"), Vec::<String>::new());
        assert_eq!(openings("@every 1h", "1h").len(), 1);
    }

    proptest! {
        #[test]
        fn openings_and_instants_agree(
            minute in 0_u8..60, hour in prop::option::of(0_u8..24), weekday in prop::option::of(0_u8..7),
            seconds in 1_i64..400_000, start in 0_i64..1_000_000_000, offset in 0_i64..604_800,
        ) {
            let field = |value: Option<u8>| value.map_or("*".to_owned(), |value| value.to_string());
            let text = format!("{minute} {} * * {}", field(hour), field(weekday));
            let schedule = Schedule::parse(&text).unwrap();
            let duration = Duration::from_nanoseconds(seconds * 1_000_000_000);
            let from = Timestamp::from_seconds(start);
            let all = schedule.openings(from, Timestamp::from_seconds(start + 604_800), duration);
            let now = Timestamp::from_seconds(start + offset);
            let listed = all.iter().any(|opening| opening.start <= now && now < opening.end);
            prop_assert_eq!(listed, schedule.is_open(now, duration));
        }
    }
}
