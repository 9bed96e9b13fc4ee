//! A week as a line of marks, one for three hours.

use disruption::calendar::{CalendarInterval, WEEK};
use karpwarden::disrupt::words::weekday;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::clock::Clock;

/// Minutes of a mark.
const MINUTES: i64 = 180;

/// Legend of the marks.
pub(super) const LEGEND: &str =
    "one mark is 3 hours: · no node, ░ some, ▒ a fifth, ▓ half, █ all nodes, + changes between none and some";

/// A week as two lines: the days, and the marks of an interval each.
pub(super) struct Strip {
    pub(super) days: String,
    pub(super) marks: String,
}

/// The week of a NodePool with some nodes.
pub(super) fn strip(intervals: &[CalendarInterval], nodes: usize, at: Timestamp, clock: &Clock) -> Strip {
    let step = Duration::from_minutes(MINUTES);
    let end = at.plus(WEEK);
    let (mut names, mut days): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut start = clock.part_of_day(at, MINUTES);
    let mut today = None;
    while start < end {
        let day = clock.day(start);
        if today.replace(day) != Some(day) {
            names.push(weekday(day));
            days.push(String::new());
        }
        if let Some(marks) = days.last_mut() {
            marks.push(mark(intervals, nodes, start.max(at), start.plus(step).min(end)));
        }
        start = start.plus(step);
    }
    let cells = names.iter().zip(&days).map(|(name, marks)| {
        let width = marks.chars().count();
        // A day at the edge may have no place for its name.
        let name = if width < name.len() { "" } else { name };
        format!("{name:<width$}")
    });
    let cells: Vec<String> = cells.collect();
    Strip { days: cells.join("│").trim_end().to_owned(), marks: days.join("│") }
}

/// The mark of a period.
fn mark(intervals: &[CalendarInterval], nodes: usize, start: Timestamp, end: Timestamp) -> char {
    let inside = intervals.iter().filter(|interval| interval.start < end && start < interval.end);
    let numbers: Vec<i64> = inside.map(|interval| interval.allowance.allowed.max(0)).collect();
    let (least, most) = (numbers.iter().min().copied(), numbers.iter().max().copied());
    match (least.unwrap_or_default(), most.unwrap_or_default()) {
        (0, 0) => '·',
        (0, _) => '+',
        (least, _) => shade(least, i64::try_from(nodes).unwrap_or(i64::MAX)),
    }
}

fn shade(allowed: i64, nodes: i64) -> char {
    match () {
        () if allowed >= nodes => '█',
        () if allowed.saturating_mul(2) >= nodes => '▓',
        () if allowed.saturating_mul(5) >= nodes => '▒',
        () => '░',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disruption::allowance::Allowance;

    fn interval(start: &str, end: &str, allowed: i64) -> CalendarInterval {
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let allowance = Allowance { allowed, computed: allowed, error: String::new(), decided_by: None };
        CalendarInterval { start: time(start), end: time(end), allowance }
    }

    #[test]
    fn draws_a_week_from_the_part_of_the_day() {
        let at = Timestamp::parse("2026-03-11T20:30:00Z").unwrap();
        let intervals = [
            interval("2026-03-11T20:30:00Z", "2026-03-12T10:00:00Z", 100),
            interval("2026-03-12T10:00:00Z", "2026-03-13T00:00:00Z", 0),
            interval("2026-03-13T00:00:00Z", "2026-03-14T00:00:00Z", 10),
            interval("2026-03-14T00:00:00Z", "2026-03-15T00:00:00Z", 20),
            interval("2026-03-15T00:00:00Z", "2026-03-18T20:30:00Z", 50),
        ];
        let strip = strip(&intervals, 100, at, &Clock::parse("UTC").unwrap());
        assert_eq!(strip.marks, "██│███+····│░░░░░░░░│▒▒▒▒▒▒▒▒│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓");
        assert_eq!(strip.days, "  │Thu     │Fri     │Sat     │Sun     │Mon     │Tue     │Wed");
    }
}
