//! Times in logs and objects → milliseconds.

use std::fmt;

use values::calendar::{Date, Day};

/// The time at which tables were printed. It is unknown, so it comes after every date. All tables of a cluster count as printed at
/// the same time.
const PRINTED: i64 = 1 << 60;

/// Milliseconds since 1970 in UTC. An age in a table sorts after all dates, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

/// First and last time of some entries: the dated ones, and those with an age only.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeSpan {
    dated: Option<(Time, Time)>,
    aged: Option<(Time, Time)>,
}

impl TimeSpan {
    /// Adds a time.
    pub fn take(&mut self, time: Time) {
        let span = if time.is_age() { &mut self.aged } else { &mut self.dated };
        let (first, last) = span.unwrap_or((time, time));
        *span = Some((first.min(time), last.max(time)));
    }

    /// Returns the first and the last date.
    pub fn dated(self) -> Option<(Time, Time)> {
        self.dated
    }

    /// Returns the last date, or without dates the last age.
    pub fn last(self) -> Option<Time> {
        self.dated.or(self.aged).map(|(_, last)| last)
    }

    /// Returns the milliseconds from a time to the last comparable one.
    pub fn since(self, time: Time) -> Option<i64> {
        let (_, last) = if time.is_age() { self.aged } else { self.dated }?;
        Some(last.0 - time.0)
    }
}

impl Time {
    /// Reads an age in a table: `5m32s`, `3d4h`, `2y101d`. `None` for other text, such as `<unknown>`.
    ///
    /// Source: kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/util/duration/duration.go, `HumanDuration`.
    pub fn of_age(text: &str) -> Option<Self> {
        const UNITS: [(char, i64); 5] =
            [('y', 365 * 86_400), ('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];
        let mut rest = text;
        let mut seconds = 0_i64;
        while !rest.is_empty() {
            let end = rest.find(|char: char| !char.is_ascii_digit())?;
            let (number, after) = rest.split_at_checked(end)?;
            let unit = after.chars().next()?;
            let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
            seconds = seconds.checked_add(number.parse::<i64>().ok()?.checked_mul(*length)?)?;
            rest = after.get(unit.len_utf8()..)?;
        }
        let is_age = !text.is_empty() && seconds < PRINTED / 2000;
        is_age.then(|| Self(PRINTED - seconds * 1000))
    }

    /// The time at which tables were printed.
    pub fn printed() -> Self {
        Self(PRINTED)
    }

    /// Whether it is an age rather than a date.
    pub fn is_age(self) -> bool {
        self.0 >= PRINTED / 2
    }

    /// Returns the milliseconds since another time; `None` if one is a date and the other an age.
    pub fn since(self, other: Self) -> Option<i64> {
        (self.is_age() == other.is_age()).then(|| self.0 - other.0)
    }

    /// Reads `2026-03-31T18:04:55.550Z`, with or without a fraction, with `Z` or an offset such as `+02:00` or `+0000`;
    /// a space for the `T` is accepted. `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (year, month) = (digits(bytes, 0, 4)?, digits(bytes, 5, 2)?);
        let (day, hour) = (digits(bytes, 8, 2)?, digits(bytes, 11, 2)?);
        let (minute, second) = (digits(bytes, 14, 2)?, digits(bytes, 17, 2)?);
        let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
        let separated = separators.iter().all(|(at, byte)| bytes.get(*at) == Some(byte))
            && matches!(bytes.get(10), Some(b'T' | b't' | b' '));
        if !separated || hour >= 24 || minute >= 60 || second > 60 {
            return None;
        }
        let day = Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)?.day();
        let mut rest = bytes.get(19..)?;
        let mut millis = 0;
        if let Some((b'.' | b',', fraction)) = rest.split_first() {
            let len = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let digit =
                |at: usize| fraction.get(at).filter(|_| at < len).map_or(0, |byte| i64::from(byte - b'0'));
            millis = digit(0) * 100 + digit(1) * 10 + digit(2);
            rest = fraction.get(len..)?;
        }
        let minutes = offset(rest)?;
        let seconds = day.days() * 86_400 + hour * 3600 + minute * 60 + second - minutes * 60;
        Some(Self(seconds * 1000 + millis))
    }

    /// Reads `Thu, 23 Apr 2026 18:04:55 +0200`, which `kubectl describe` prints for built-in kinds.
    pub fn parse_rfc1123(text: &str) -> Option<Self> {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let (_, date) = text.split_once(", ")?;
        let mut words = date.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let (day, name, year, clock, offset) = (next(), next(), next(), next(), next());
        let month = MONTHS.find(name).filter(|_| name.len() == 3)? / 3 + 1;
        Self::parse(&format!("{year}-{month:02}-{day:0>2}T{clock}{offset}"))
    }

    /// Reads `0423` and `18:04:55.123456`, which lack the year, in the year that is nearest to another time.
    pub fn nearest(date: &str, clock: &str, other: Self) -> Option<Self> {
        const YEAR: i64 = 31_556_952_000;
        let (month, day) = date.split_at_checked(2)?;
        let about = 1970 + other.0.div_euclid(YEAR);
        let in_year = |year| Self::parse(&format!("{year:04}-{month}-{day}T{clock}"));
        (about - 1..=about + 1).filter_map(in_year).min_by_key(|time| (time.0 - other.0).abs())
    }

    /// Reads seconds, milliseconds, microseconds or nanoseconds since 1970: the unit that gives a date of this century.
    pub fn since_1970(number: f64) -> Option<Self> {
        let per_milli = match number {
            _ if number < 1e8 => return None,
            _ if number < 1e11 => 1e-3,
            _ if number < 1e14 => 1.0,
            _ if number < 1e17 => 1e3,
            _ if number < 1e20 => 1e6,
            _ => return None,
        };
        #[expect(clippy::cast_possible_truncation, reason = "the bounds above keep it below 1e14")]
        let millis = (number / per_milli) as i64;
        Some(Self(millis))
    }
}

impl fmt::Display for Time {
    /// RFC 3339 with seconds, in UTC: `2026-03-31T18:04:55Z`; `150s ago` for an age.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_age() {
            return write!(f, "{}s ago", (Self::printed().0 - self.0) / 1000);
        }
        let seconds = self.0.div_euclid(1000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{:02}Z", Day::since_epoch(days).date(), second % 60)
    }
}

fn digits(bytes: &[u8], at: usize, len: usize) -> Option<i64> {
    bytes
        .get(at..at + len)?
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// Minutes east of UTC.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        [] | [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let minutes_at = if rest.get(2) == Some(&b':') { 3 } else { 2 };
            let minutes = digits(rest, 0, 2)? * 60 + digits(rest, minutes_at, 2).unwrap_or(0);
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_times_of_logs() {
        for (text, printed) in [
            ("2026-03-31T18:04:55.550Z", "2026-03-31T18:04:55Z"),
            ("2026-03-31T18:04:55Z", "2026-03-31T18:04:55Z"),
            ("2026-03-31T18:04:55.123456789Z", "2026-03-31T18:04:55Z"),
            ("2026-03-31T20:04:55.123000+02:00", "2026-03-31T18:04:55Z"),
            ("2026-03-31T18:04:55.000+0000", "2026-03-31T18:04:55Z"),
            ("2026-03-31 18:04:55.550", "2026-03-31T18:04:55Z"),
            ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(Time::parse(text).unwrap().to_string(), printed, "{text}");
        }
        assert_eq!(Time::parse("2026-03-31T18:04:55.5Z").unwrap().0 % 1000, 500);
        for text in [
            "",
            "2026-03-31",
            "18:04:55",
            "2026-13-31T18:04:55Z",
            "2026-03-31T18:04:55 x",
            "9999999999999999999",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    #[test]
    fn parses_the_ages_of_kubectl() {
        for (text, seconds) in [
            ("0s", 0),
            ("45s", 45),
            ("2m30s", 150),
            ("5h", 18_000),
            ("7h59m", 28_740),
            ("3d4h", 273_600),
            ("2y101d", 71_798_400),
        ] {
            let time = Time::of_age(text).unwrap();
            assert_eq!(Time::printed().since(time), Some(seconds * 1000), "{text}");
            assert!(time.is_age());
        }
        for text in [
            "",
            "<unknown>",
            "<invalid>",
            "5",
            "m",
            "5m3",
            "5 m",
            "2x",
            "9999999999999999999s",
            "99999999999999999y",
        ] {
            assert_eq!(Time::of_age(text), None, "{text}");
        }
    }

    #[test]
    fn spans_keep_dates_and_ages_apart() {
        let (early, late) = (Time(0), Time(60_000));
        let (old, young) = (Time::of_age("5m").unwrap(), Time::of_age("10s").unwrap());
        let mut span = TimeSpan::default();
        assert_eq!((span.last(), span.since(early)), (None, None));
        for time in [young, old] {
            span.take(time);
        }
        assert_eq!((span.last(), span.dated(), span.since(old)), (Some(young), None, Some(290_000)));
        for time in [late, early] {
            span.take(time);
        }
        assert_eq!((span.last(), span.dated()), (Some(late), Some((early, late))));
        assert_eq!((span.since(early), span.since(old)), (Some(60_000), Some(290_000)));
        assert_eq!((late.since(early), late.since(old)), (Some(60_000), None));
    }

    #[test]
    fn parses_the_times_of_descriptions() {
        for (text, printed) in [
            ("Thu, 23 Apr 2026 18:04:55 +0200", Some("2026-04-23T16:04:55Z")),
            ("Mon, 01 Jan 2024 00:00:00 +0000", Some("2024-01-01T00:00:00Z")),
            ("Mon, 1 Dec 2025 07:00:00 -0330", Some("2025-12-01T10:30:00Z")),
            ("Mon, 01 Foo 2024 00:00:00 +0000", None),
            ("Mon, 01", None),
            ("<unset>", None),
        ] {
            assert_eq!(Time::parse_rfc1123(text).map(|time| time.to_string()).as_deref(), printed, "{text}");
        }
    }

    #[test]
    fn a_day_without_a_year_gets_the_nearest_year() {
        let nearest = |date: &str, other: &str| {
            let time = Time::nearest(date, "18:04:55.123456", Time::parse(other).unwrap());
            time.map(|time| time.to_string())
        };
        for (date, other, expected) in [
            ("0423", "2026-04-23T18:04:56Z", "2026-04-23T18:04:55Z"),
            ("1231", "2026-01-01T00:00:01Z", "2025-12-31T18:04:55Z"),
            ("0101", "2025-12-31T23:59:59Z", "2026-01-01T18:04:55Z"),
            ("0229", "2024-03-01T00:00:00Z", "2024-02-29T18:04:55Z"),
        ] {
            assert_eq!(nearest(date, other).as_deref(), Some(expected), "{date} {other}");
        }
        assert_eq!(nearest("1323", "2026-04-23T18:04:56Z"), None);
        assert_eq!(Time::nearest("é3", "1", Time(0)), None);
    }

    #[test]
    fn numbers_have_the_unit_that_gives_a_date_of_this_century() {
        for number in
            [1_775_000_000.5, 1_775_000_000_500.0, 1_775_000_000_500_000.0, 1_775_000_000_500_000_000.0]
        {
            assert_eq!(Time::since_1970(number), Some(Time(1_775_000_000_500)), "{number}");
        }
        assert_eq!(Time::since_1970(12.0), None);
        assert_eq!(Time::since_1970(f64::NAN), None);
    }
}
