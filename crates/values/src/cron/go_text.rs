//! Errors in a schedule in the words of robfig/cron, which Karpenter logs.
//!
//! Reference: robfig/cron v3.0.1 parser.go.

use core::fmt::Write as _;

use super::error::{CronError, CronProblem};
use super::field::CronField;
use super::parse::{SchedulePart, Selected};

impl CronError {
    /// The error text of robfig/cron for the schedule that has the error.
    pub fn go_text(&self, schedule: &str) -> String {
        let spec = schedule.trim();
        match self {
            Self::TimeZone { .. } => {
                let words = SchedulePart::words(schedule);
                // Karpenter's own time zone comes first, so the parser reads a second one as the minute.
                match words.first() {
                    Some(word) if words.len() == 5 => Selected::parse(CronField::Minute, *word)
                        .err()
                        .map_or_else(String::new, |error| error.go_text(schedule)),
                    _ => field_count(&words),
                }
            }
            Self::FieldCount { .. } => field_count(&SchedulePart::words(schedule)),
            Self::Descriptor { text, .. } => format!("unrecognized descriptor: {text}"),
            Self::Every { error, .. } => format!("failed to parse duration {spec}: {}", error.go_text()),
            Self::Field { field, text, problem, .. } => problem.go_text(*field, text),
        }
    }
}

fn field_count(words: &[SchedulePart<'_>]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    format!("expected exactly 5 fields, found {}: [{}]", texts.len(), texts.join(" "))
}

impl CronProblem {
    fn go_text(self, field: CronField, text: &str) -> String {
        let (first, last) = field.bounds();
        match self {
            Self::Unreadable | Self::Step => number(text),
            Self::Hyphens => format!("too many hyphens: {text}"),
            Self::Slashes => format!("too many slashes: {text}"),
            Self::ZeroStep => format!("step of range should be a positive number: {text}"),
            Self::Below(number) => format!("beginning of range ({number}) below minimum ({first}): {text}"),
            Self::Above(number) => format!("end of range ({number}) above maximum ({last}): {text}"),
            Self::Descends(start, end) => {
                format!("beginning of range ({start}) beyond end of range ({end}): {text}")
            }
        }
    }
}

/// The reason why a text is not a number, as `mustParseInt` of the reference gives it.
fn number(text: &str) -> String {
    if let Ok(number) = text.parse::<i64>() {
        return format!("negative number ({number}) not allowed: {text}");
    }
    format!("failed to parse int from {text}: {}", atoi_error(text))
}

/// The error of Go's `strconv.Atoi` for a text that is not a number.
pub fn atoi_error(text: &str) -> String {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let reason = if is_number { "value out of range" } else { "invalid syntax" };
    format!("strconv.Atoi: parsing {}: {reason}", quoted(text))
}

/// A text in quotes, as Go's `strconv.Quote` quotes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            // Rust's escapes tell which characters are printable.
            _ if char == '\'' || char.escape_debug().count() == 1 => quoted.push(char),
            '\0'..='\x7f' => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(char));
            }
            '\u{80}'..='\u{ffff}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            _ => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(char));
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::Schedule;

    #[test]
    fn words_errors_like_the_reference() {
        for (schedule, expected) in [
            ("", "expected exactly 5 fields, found 0: []"),
            ("0 9 * *", "expected exactly 5 fields, found 4: [0 9 * *]"),
            ("TZ=UTC 0 9 * * *", "expected exactly 5 fields, found 6: [TZ=UTC 0 9 * * *]"),
            (
                "TZ=Europe/Paris 9 * * *",
                "failed to parse int from TZ=Europe: strconv.Atoi: parsing \"TZ=Europe\": invalid syntax",
            ),
            (" @Daily", "unrecognized descriptor: @Daily"),
            ("@every h", "failed to parse duration @every h: time: invalid duration \"h\""),
            ("0 9 L * *", "failed to parse int from L: strconv.Atoi: parsing \"L\": invalid syntax"),
            (
                "99999999999999999999 * * * *",
                "failed to parse int from 99999999999999999999: strconv.Atoi: parsing \"99999999999999999999\": \
                 value out of range",
            ),
            ("*/-5 * * * *", "negative number (-5) not allowed: -5"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("*/2/3 * * * *", "too many slashes: */2/3"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("0 9 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("0 9 * * 1-7", "end of range (7) above maximum (6): 1-7"),
            ("0 9 * * fri-mon", "beginning of range (5) beyond end of range (1): fri-mon"),
        ] {
            let error = Schedule::parse(schedule).unwrap_err();
            assert_eq!(error.go_text(schedule), expected, "{schedule}");
        }
    }
}
