//! The times at which budgets allow disruption, as a calendar file.
//!
//! Source: RFC 5545. Lines end with CR LF and have at most 75 bytes; longer ones continue after a line break and a space.

use std::io::{self, Write};

use answers::VERSION;
use disruption::allowance::{DisruptionReason, PoolBudgets};
use disruption::calendar::CalendarInterval;
use karpwarden::disrupt::{ClusterDisruption, PoolDisruption, SharedWeek, words};
use values::timestamp::Timestamp;

/// Length in bytes of the longest line.
const MAX_LINE: usize = 75;

/// Writes a calendar with an event for each time at which a NodePool allows disruption in the week.
pub(super) fn write(out: &mut dyn Write, answer: &ClusterDisruption<'_>) -> io::Result<()> {
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        format!("PRODID:-//karpwarden//karpwarden {VERSION}//EN"),
        "CALSCALE:GREGORIAN".to_owned(),
    ];
    for pool in &answer.pools {
        let Ok(budgets) = &pool.budgets else { continue };
        for week in answer.weeks(pool) {
            let allowing = week.intervals.iter().filter(|interval| interval.allowance.allowed > 0);
            lines.extend(allowing.flat_map(|interval| event(answer.at, pool, budgets, &week, interval)));
        }
    }
    lines.push("END:VCALENDAR".to_owned());
    lines.iter().try_for_each(|line| write_folded(out, line))
}

fn event(
    at: Timestamp,
    pool: &PoolDisruption<'_>,
    budgets: &PoolBudgets<'_>,
    week: &SharedWeek,
    interval: &CalendarInterval,
) -> [String; 9] {
    let reasons: Vec<&str> = week.reasons.iter().copied().map(DisruptionReason::name).collect();
    let allowance = &interval.allowance;
    let number = match allowance.allowed {
        _ if allowance.is_unlimited() => "any number of nodes".to_owned(),
        1 => "1 node".to_owned(),
        count => format!("{count} nodes"),
    };
    let by =
        allowance.decided_by.map_or("no budget is active".to_owned(), |index| words::budget(budgets, index));
    let (start, end) = (basic(interval.start), basic(interval.end));
    [
        "BEGIN:VEVENT".to_owned(),
        format!("UID:{}", escaped(&format!("{}-{}-{start}@karpwarden", pool.name, reasons.join("-")))),
        format!("DTSTAMP:{}", basic(at)),
        format!("DTSTART:{start}"),
        format!("DTEND:{end}"),
        format!("SUMMARY:{}", escaped(&format!("NodePool {}: {number} at a time", pool.name))),
        format!("DESCRIPTION:{}", escaped(&format!("{}: {by}", reasons.join(", ")))),
        "TRANSP:TRANSPARENT".to_owned(),
        "END:VEVENT".to_owned(),
    ]
}

/// `20260311T103000Z`.
fn basic(time: Timestamp) -> String {
    time.to_string().chars().filter(|char| !matches!(char, '-' | ':')).collect()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' | ';' | ',' => escaped.extend(['\\', char]),
            '\n' => escaped.push_str("\\n"),
            char if char.is_control() => {}
            char => escaped.push(char),
        }
    }
    escaped
}

fn write_folded(out: &mut dyn Write, line: &str) -> io::Result<()> {
    let mut rest = line;
    let mut longest = MAX_LINE;
    while rest.len() > longest {
        let (first, after) = rest.split_at_checked(rest.floor_char_boundary(longest)).unwrap_or((rest, ""));
        write!(out, "{first}\r\n ")?;
        rest = after;
        // The space counts.
        longest = MAX_LINE - 1;
    }
    write!(out, "{rest}\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_folds_lines() {
        assert_eq!(escaped("a, b; c\\d\ne\u{7}"), "a\\, b\\; c\\\\d\\ne");
        let mut out = Vec::new();
        write_folded(&mut out, &format!("SUMMARY:{}", "é".repeat(60))).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("\r\n") && text.lines().all(|line| line.len() <= MAX_LINE), "{text}");
        assert_eq!(text.replace("\r\n ", "").trim_end(), format!("SUMMARY:{}", "é".repeat(60)));
    }
}
