//! The obvious way out of a schedule that does not parse.

use core::ops::Range;

use super::Schedule;
use super::error::{CronError, FieldProblem};
use super::field::{Field, fields, lower};

/// An edit of a schedule's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// What to write there.
    pub text: String,
    /// Whether the outcome means what the text would have meant to any scheduler that takes it (a day 7, a
    /// range that wraps), rather than being a good guess.
    pub keeps_meaning: bool,
}

/// What people write who take a zone to be needed, and mean the one that is there already.
const UTC: [&str; 6] = ["", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"];

/// The descriptors but for `@every`, as the reference spells them.
const DESCRIPTORS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// A schedule may hold several mistakes of which each parse shows one; more than this many are not repaired.
const ROUNDS: usize = 8;

impl Schedule {
    /// Repairs a schedule that does not parse until it does: one edit of the whole text. `None` if it parses
    /// as it stands, or if some mistake in it has no obvious way out.
    pub fn repair(text: &str) -> Option<Repair> {
        let (mut current, mut keeps_meaning) = (text.to_owned(), true);
        for _ in 0..ROUNDS {
            let Err(error) = Self::parse(&current) else { break };
            let repair = error.repair(&current)?;
            keeps_meaning &= repair.keeps_meaning;
            let (before, behind) = (current.get(..repair.range.start)?, current.get(repair.range.end..)?);
            current = format!("{before}{}{behind}", repair.text);
        }
        let repaired = current != text && Self::parse(&current).is_ok();
        repaired.then_some(Repair { range: 0..text.len(), text: current, keeps_meaning })
    }
}

impl CronError {
    /// The edit that removes this mistake, if there is an obvious one. Others may remain: see
    /// [`Schedule::repair`].
    ///
    /// `schedule` is the text that was parsed.
    pub fn repair(&self, schedule: &str) -> Option<Repair> {
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
        Some(Repair { range, text, keeps_meaning })
    }
}

/// Drops the field that five-field schedules do not have: the seconds in front (Quartz, Spring), or the year
/// behind (Amazon's event rules, known by a `?` as either of the days, in the third place or the fifth).
fn sixth_field(schedule: &str) -> Option<(Range<usize>, bool)> {
    let words = fields(schedule);
    let [first, second, third, _, fifth, sixth] = words.as_slice() else { return None };
    if schedule.contains('(') {
        return None;
    }
    let has_year = (third.text == "?") != (fifth.text == "?")
        && sixth.text.bytes().all(|b| b"*,-/0123456789".contains(&b));
    // Others number the days of the week from 1.
    let day = if has_year { fifth } else { sixth };
    let days_by_name = !day.text.bytes().any(|byte| byte.is_ascii_digit());
    let (range, idle) = if has_year {
        (fifth.range().end..sixth.range().end, sixth.text == "*")
    } else {
        (first.start..second.start, first.text.bytes().all(|byte| byte == b'0'))
    };
    Some((range, idle && days_by_name))
}

fn in_field(field: Field, text: &str, problem: FieldProblem) -> Option<(String, bool)> {
    match problem {
        FieldProblem::Unreadable => spelling(field, text).map(|text| (text, true)),
        FieldProblem::Above(end) => above(field, text, end),
        FieldProblem::Descends(start, end) => wrapped(field, text, start, end).map(|text| (text, true)),
        _ => None,
    }
}

/// `Friday` or `thurs` for `fri` and `thu`, and a dash for a hyphen.
fn spelling(field: Field, text: &str) -> Option<String> {
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

/// A day 7 is Sunday. An hour 24 or a minute 60 at the end of a range is one too many; alone it is the next
/// one's 0.
fn above(field: Field, text: &str, end: u64) -> Option<(String, bool)> {
    let (range, step) = text.split_once('/').map_or((text, None), |(range, step)| (range, Some(step)));
    let (_, last) = field.bounds();
    match (field, range.split_once('-'), step) {
        (Field::DayOfWeek, None, None) if end == 7 => Some(("0".to_owned(), true)),
        (Field::DayOfWeek, Some((low, _)), _) if end == 7 => {
            let start = number(field, low).filter(|start| *start <= 7)?;
            let step = step.map_or(Some(1), |step| step.parse::<u64>().ok()).filter(|step| *step > 0)?;
            Some((up_to_sunday(field, low, start, step), true))
        }
        (Field::Hour | Field::Minute, None, None) if end == last + 1 => Some(("0".to_owned(), false)),
        (Field::Hour | Field::Minute, Some((low, _)), None) if end == last + 1 => {
            Some((format!("{low}-{last}"), false))
        }
        _ => None,
    }
}

/// The days from one to the Sunday after, where Sunday is 0.
fn up_to_sunday(field: Field, low: &str, start: u64, step: u64) -> String {
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

/// A number of a field, by its name where the others have theirs.
#[inline(never)]
fn spelled(field: Field, number: u64, named: bool) -> String {
    match field.name(number) {
        Some(name) if named => name.to_owned(),
        _ => number.to_string(),
    }
}

/// `fri-mon` as `fri-sat,sun-mon`; a range of one is one.
fn wrapped(field: Field, text: &str, start: u64, end: u64) -> Option<String> {
    let (low, high) = text.split_once('-').filter(|_| !text.contains('/'))?;
    let (first, last) = field.bounds();
    let named = low.parse::<u64>().is_err() || high.parse::<u64>().is_err();
    let edge = |number: u64| spelled(field, number, named);
    let before = match start {
        7 if field == Field::DayOfWeek => {
            return Some(if end == 0 { "0".to_owned() } else { format!("0-{high}") });
        }
        start if start > last => return None,
        start if start == last => low.to_owned(),
        _ => format!("{low}-{}", edge(last)),
    };
    let after = if end == first { high.to_owned() } else { format!("{}-{high}", edge(first)) };
    Some(format!("{before},{after}"))
}

fn number(field: Field, text: &str) -> Option<u64> {
    let lower = lower(text);
    let (first, last) = field.bounds();
    text.parse().ok().or_else(|| (first..=last).find(|number| field.name(*number) == Some(lower.as_str())))
}
