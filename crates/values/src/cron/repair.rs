//! Repairs for schedules that cannot be parsed.

use core::ops::Range;

use super::error::{CronError, CronProblem};
use super::field::CronField;
use super::parse::{SchedulePart, lower};
use super::schedule::Schedule;

/// An edit that repairs the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRepair {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The replacement.
    pub text: String,
    /// Whether the result means the same as the text in every scheduler that accepts the text, such as a weekday 7 or a
    /// range that wraps around. Otherwise the repair is a guess.
    pub keeps_meaning: bool,
}

/// Spellings of UTC as a time zone, which Karpenter uses anyway.
const UTC: [&str; 6] = ["", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"];

/// The descriptors except `@every`.
const DESCRIPTORS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// The most errors that are repaired in one schedule. Each parse finds one error.
const MAX_ROUNDS: usize = 8;

impl Schedule {
    /// One edit of the whole text after which the schedule can be parsed. `None` if it can be parsed as it is, or if an
    /// error has no obvious repair.
    pub fn repair(text: &str) -> Option<ScheduleRepair> {
        let (mut current, mut keeps_meaning) = (text.to_owned(), true);
        for _ in 0..MAX_ROUNDS {
            let Err(error) = Self::parse(&current) else { break };
            let repair = error.repair(&current)?;
            keeps_meaning &= repair.keeps_meaning;
            let (before, behind) = (current.get(..repair.range.start)?, current.get(repair.range.end..)?);
            current = format!("{before}{}{behind}", repair.text);
        }
        let repaired = current != text && Self::parse(&current).is_ok();
        repaired.then_some(ScheduleRepair { range: 0..text.len(), text: current, keeps_meaning })
    }
}

impl CronError {
    /// An edit that repairs this error, if there is an obvious one. Other errors may remain; [`Schedule::repair`] repairs
    /// them all.
    ///
    /// `schedule` is the text that was parsed.
    pub fn repair(&self, schedule: &str) -> Option<ScheduleRepair> {
        let mut range = self.range();
        let (text, keeps_meaning) = match self {
            Self::TimeZone { text, .. } => {
                let zone = text.split_once('=')?.1;
                let blanks = schedule.get(range.end..)?;
                range.end += blanks.len() - blanks.trim_start().len();
                UTC.contains(&zone).then(|| (String::new(), true))?
            }
            Self::FieldCount { found: 6, .. } => {
                let (sixth, keeps_meaning) = sixth_field(schedule)?;
                range = sixth;
                (String::new(), keeps_meaning)
            }
            Self::FieldCount { found: 1, .. } => {
                let text = format!("@{}", schedule.get(range.clone())?.to_ascii_lowercase());
                let known = DESCRIPTORS.contains(&text.as_str());
                known.then_some((text, true))?
            }
            Self::Descriptor { text, .. } => {
                let text = text.to_ascii_lowercase();
                let known = DESCRIPTORS.into_iter().find(|known| text.starts_with(known))?;
                (known.to_owned(), known == text)
            }
            Self::Every { error, .. } => (format!("@every {}", error.suggestion()?), true),
            Self::Field { field, text, problem, .. } => in_field(*field, text, *problem)?,
            Self::FieldCount { .. } => return None,
        };
        schedule.get(range.clone())?;
        Some(ScheduleRepair { range, text, keeps_meaning })
    }
}

/// The field to remove from a schedule of six fields: the leading seconds of Quartz and Spring, or the trailing year of
/// Amazon `EventBridge`, whose rules have a `?` in exactly one of the day fields.
fn sixth_field(schedule: &str) -> Option<(Range<usize>, bool)> {
    let words = SchedulePart::words(schedule);
    let [first, second, third, _, fifth, sixth] = words.as_slice() else { return None };
    if schedule.contains('(') {
        return None;
    }
    let has_year = (third.text == "?") != (fifth.text == "?")
        && sixth.text.bytes().all(|b| b"*,-/0123456789".contains(&b));
    // Other schedulers count the days of the week from 1.
    let day = if has_year { fifth } else { sixth };
    let days_by_name = !day.text.bytes().any(|byte| byte.is_ascii_digit());
    let (range, idle) = if has_year {
        (fifth.range().end..sixth.range().end, sixth.text == "*")
    } else {
        (first.start..second.start, first.text.bytes().all(|byte| byte == b'0'))
    };
    Some((range, idle && days_by_name))
}

fn in_field(field: CronField, text: &str, problem: CronProblem) -> Option<(String, bool)> {
    match problem {
        CronProblem::Unreadable => spelling(field, text).map(|text| (text, true)),
        CronProblem::Above(end) => above(field, text, end),
        CronProblem::Descends(start, end) => wrapped(field, text, start, end).map(|text| (text, true)),
        _ => None,
    }
}

/// Repairs names such as `Friday` and `thurs`, and dashes instead of hyphens.
fn spelling(field: CronField, text: &str) -> Option<String> {
    const DASHES: [char; 4] = ['\u{2010}', '\u{2013}', '\u{2014}', '\u{2212}'];
    if text.contains(DASHES) {
        return Some(text.replace(DASHES, "-"));
    }
    let lower = lower(text);
    let word = lower.strip_suffix('.').unwrap_or(&lower);
    let word = if word.ends_with("days") { word.strip_suffix('s').unwrap_or(word) } else { word };
    let full = field.names().iter().find(|full| word.len() >= 3 && full.starts_with(word))?;
    full.get(..3).map(str::to_owned)
}

/// Repairs a number above the largest: weekday 7 is Sunday, hour 24 and minute 60 are the largest number at the end of a
/// range and 0 otherwise.
fn above(field: CronField, text: &str, end: u64) -> Option<(String, bool)> {
    let (range, step) = text.split_once('/').map_or((text, None), |(range, step)| (range, Some(step)));
    let (_, last) = field.bounds();
    match (field, range.split_once('-'), step) {
        (CronField::DayOfWeek, None, None) if end == 7 => Some(("0".to_owned(), true)),
        (CronField::DayOfWeek, Some((low, _)), _) if end == 7 => {
            let start = number(field, low).filter(|start| *start <= 7)?;
            let step = step.map_or(Some(1), |step| step.parse::<u64>().ok()).filter(|step| *step > 0)?;
            Some((up_to_sunday(field, low, start, step), true))
        }
        (CronField::Hour | CronField::Minute, None, None) if end == last + 1 => Some(("0".to_owned(), false)),
        (CronField::Hour | CronField::Minute, Some((low, _)), None) if end == last + 1 => {
            Some((format!("{low}-{last}"), false))
        }
        _ => None,
    }
}

/// The days from `start` to the next Sunday, where Sunday is 0.
fn up_to_sunday(field: CronField, low: &str, start: u64, step: u64) -> String {
    let named = low.parse::<u64>().is_err();
    let day = |number: u64| spelled(field, number, named);
    match (start, step) {
        (0 | 1, 1) => "0-6".to_owned(),
        (6, 1) => format!("{low},{}", day(0)),
        (2..=5, 1) => format!("{low}-{},{}", day(6), day(0)),
        _ => {
            let mut days = day(start % 7);
            let mut number = start.saturating_add(step);
            while number <= 7 {
                days.push(',');
                days.push_str(&day(number % 7));
                number = number.saturating_add(step);
            }
            days
        }
    }
}

/// A number of a field, spelled as a name if the other numbers are.
fn spelled(field: CronField, number: u64, named: bool) -> String {
    match field.name(number) {
        Some(name) if named => name.to_owned(),
        _ => number.to_string(),
    }
}

/// Splits a range that wraps around, such as `fri-mon`, into `fri-sat,sun-mon`.
fn wrapped(field: CronField, text: &str, start: u64, end: u64) -> Option<String> {
    let (low, high) = text.split_once('-').filter(|_| !text.contains('/'))?;
    let (first, last) = field.bounds();
    let named = low.parse::<u64>().is_err() || high.parse::<u64>().is_err();
    let edge = |number: u64| spelled(field, number, named);
    let before = match start {
        7 if field == CronField::DayOfWeek => {
            return Some(if end == 0 { "0".to_owned() } else { format!("0-{high}") });
        }
        start if start > last => return None,
        start if start == last => low.to_owned(),
        _ => format!("{low}-{}", edge(last)),
    };
    let after = if end == first { high.to_owned() } else { format!("{}-{high}", edge(first)) };
    Some(format!("{before},{after}"))
}

fn number(field: CronField, text: &str) -> Option<u64> {
    let lower = lower(text);
    let (first, last) = field.bounds();
    text.parse().ok().or_else(|| (first..=last).find(|number| field.name(*number) == Some(lower.as_str())))
}
