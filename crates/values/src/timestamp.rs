//! Timestamps of objects, parsed like Go's `time.Parse(time.RFC3339, …)`.
//!
//! Reference: golang/go `src/time/format_rfc3339.go` and `src/time/format.go`.

use core::fmt;

use crate::calendar::{Date, Day, Minute};
use crate::duration::Duration;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

/// Instant in nanoseconds since 1970 in UTC, between the years 1678 and 2261.
///
/// ```
/// use karpwarden_values::timestamp::Timestamp;
/// let time = Timestamp::parse("2026-03-11T11:30:00+02:00").unwrap();
/// assert_eq!(time.to_string(), "2026-03-11T09:30:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Parses `2026-03-11T10:30:00Z`, with or without a fraction of a second, in UTC or with an offset such as `+02:00`.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let (clock, rest) = rest.strip_prefix('T')?.split_at_checked(8)?;
        let date = Date::parse(date)?;
        let &[h1, h2, b':', m1, m2, b':', s1, s2] = clock.as_bytes() else { return None };
        let (hour, minute, second) = (pair(h1, h2, 23)?, pair(m1, m2, 59)?, pair(s1, s2, 59)?);
        let (fraction, rest) = split_fraction(rest)?;
        let seconds = (hour * 60 + minute - offset(rest)?) * 60 + second;
        let day = date.day().days().checked_mul(DAY)?;
        Some(Self(day.checked_add(seconds * SECOND + fraction)?))
    }

    /// The instant some nanoseconds after 1970.
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// The instant some seconds after 1970; saturates.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(SECOND))
    }

    /// The start of a minute; saturates.
    pub const fn of_minute(minute: Minute) -> Self {
        Self(minute.minutes().saturating_mul(MINUTE))
    }

    /// The minute in which the instant is.
    pub const fn minute(self) -> Minute {
        Minute::since_epoch(self.0.div_euclid(MINUTE))
    }

    /// Whole seconds since 1970, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }

    /// Nanoseconds since the start of the second.
    pub const fn nanoseconds_of_second(self) -> i64 {
        self.0.rem_euclid(SECOND)
    }

    /// The instant some time later, or earlier if negative; saturates.
    pub const fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.nanoseconds()))
    }

    /// The instant some time earlier; saturates.
    pub const fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration.nanoseconds()))
    }

    /// The time since an earlier instant, negative for a later one; saturates.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanoseconds(self.0.saturating_sub(earlier.0))
    }
}

/// A number of two digits.
fn pair(tens: u8, ones: u8, most: i64) -> Option<i64> {
    let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
    let number = is_number.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))?;
    (number <= most).then_some(number)
}

/// Nanoseconds of a fraction such as `.250`, and the text after it. Digits after the ninth are dropped.
fn split_fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())?;
    let padded = digits.bytes().chain(core::iter::repeat(b'0')).take(9);
    Some((padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), rest))
}

/// Minutes east of UTC.
fn offset(text: &str) -> Option<i64> {
    match text.as_bytes() {
        b"Z" => Some(0),
        &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let minutes = pair(h1, h2, 24)? * 60 + pair(m1, m2, 60)?;
            Some(if sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

/// Prints `2026-03-11T10:30:00Z` without the fraction of a second, like the API server.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, second) =
            (Day::since_epoch(self.0.div_euclid(DAY)).date(), self.0.rem_euclid(DAY) / SECOND);
        write!(f, "{date}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_timestamps_of_the_api_server() {
        for (text, printed, nanoseconds) in [
            ("2026-03-11T10:30:00Z", "2026-03-11T10:30:00Z", 0),
            ("2026-03-11T11:30:00+02:00", "2026-03-11T09:30:00Z", 0),
            ("2026-03-10T23:30:00-01:30", "2026-03-11T01:00:00Z", 0),
            ("2026-03-13T17:00:00.001Z", "2026-03-13T17:00:00Z", 1_000_000),
            ("1969-12-31T23:59:59.9999999999Z", "1969-12-31T23:59:59Z", 999_999_999),
        ] {
            let time = Timestamp::parse(text).unwrap();
            assert_eq!(
                (time.to_string().as_str(), time.nanoseconds_of_second()),
                (printed, nanoseconds),
                "{text}"
            );
        }
    }

    #[test]
    fn rejects_what_go_does_not_parse() {
        for text in [
            "",
            "2026-03-11",
            "2026-03-11T10:30Z",
            "2026-03-11 10:30:00Z",
            "2026-03-11T10:30:00",
            "2026-03-11T10:30:00z",
            "2026-03-11T24:00:00Z",
            "2026-03-11T10:30:60Z",
            "2026-02-29T10:30:00Z",
            "2026-03-11T10:30:00.Z",
            "2026-03-11T10:30:00+0200",
            "2026-03-11T+1:30:00Z",
            "9999-03-11T10:30:00Z",
            "2026-03-11Té0:30:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn counts_time_in_both_directions() {
        let time = Timestamp::parse("2026-03-11T10:30:59Z").unwrap();
        let hour = Duration::from_minutes(60);
        assert_eq!(time.plus(hour).to_string(), "2026-03-11T11:30:59Z");
        assert_eq!(time.minus(hour).to_string(), "2026-03-11T09:30:59Z");
        assert_eq!(time.minus(hour).since(time), Duration::from_minutes(-60));
        assert_eq!(Timestamp::of_minute(time.minute()).to_string(), "2026-03-11T10:30:00Z");
        assert_eq!(Timestamp::from_seconds(time.seconds()), time);
    }

    proptest! {
        #[test]
        fn a_printed_timestamp_parses_to_the_same_second(nanoseconds: i64) {
            let time = Timestamp::from_nanoseconds(nanoseconds);
            if let Some(parsed) = Timestamp::parse(&time.to_string()) {
                prop_assert_eq!(parsed.seconds(), time.seconds());
            }
        }

        #[test]
        fn no_text_panics(text in "[0-9T:Z+.-]{0,32}|.{0,32}") {
            let _ = Timestamp::parse(&text);
        }
    }
}
