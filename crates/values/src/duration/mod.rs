//! Durations, parsed like Go's `time.ParseDuration` and printed like `time.Duration.String`.
//!
//! Karpenter parses every duration this way: `terminationGracePeriod` and a budget's `duration` (apimachinery
//! pkg/apis/meta/v1/duration.go), `expireAfter` and `consolidateAfter` (kubernetes-sigs/karpenter
//! pkg/apis/v1/duration.go), and the `karpenter.sh/do-not-disrupt` annotation (pkg/utils/pod/scheduling.go).
//! The CRDs have narrower patterns for these fields, which belong to the API schema.
//!
//! Reference: golang/go src/time/format.go (`ParseDuration`) and src/time/time.go
//! (`Duration.String`).

#[cfg(test)]
mod tests;

use core::fmt::{self, Write as _};

/// A length of time in nanoseconds, at most some 292 years in either direction.
///
/// ```
/// use karpwarden_values::duration::Duration;
/// assert_eq!(Duration::parse("90m").unwrap().to_string(), "1h30m0s");
/// assert_eq!(Duration::parse("7d").unwrap_err().suggestion().as_deref(), Some("168h"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

/// The name of a unit, and its length in nanoseconds.
type Unit = (&'static str, u64);

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The units of Go, with both micro signs, U+00B5 and U+03BC.
const UNITS: [Unit; 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
];

/// Names of units that Go does not have, in lower case.
const FOREIGN_UNITS: [Unit; 21] = [
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
    ("ms", 1_000_000),
    ("sec", SECOND),
    ("secs", SECOND),
    ("second", SECOND),
    ("seconds", SECOND),
    ("min", MINUTE),
    ("mins", MINUTE),
    ("minute", MINUTE),
    ("minutes", MINUTE),
    ("hr", HOUR),
    ("hrs", HOUR),
    ("hour", HOUR),
    ("hours", HOUR),
    ("d", 24 * HOUR),
    ("day", 24 * HOUR),
    ("days", 24 * HOUR),
    ("w", 168 * HOUR),
    ("week", 168 * HOUR),
];

/// The magnitude of the most negative duration, which is the largest number that Go's parser accepts before it applies
/// the sign.
const MAX_MAGNITUDE: u64 = 1 << 63;

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A number of nanoseconds.
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// A number of minutes; saturates beyond 292 years.
    pub const fn from_minutes(minutes: i64) -> Self {
        Self(minutes.saturating_mul(MINUTE.cast_signed()))
    }

    /// Parses a duration such as `1h30m`, `-1.5h` or `300ms`. Every number needs a unit, except a single `0`.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        read(text, &UNITS).map_err(|problem| DurationError { text: text.to_owned(), problem })
    }

    /// The length in nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// Whole seconds, rounded towards zero.
    pub const fn seconds(self) -> i64 {
        self.0 / SECOND.cast_signed()
    }

    /// Whole minutes, rounded up.
    pub const fn minutes_rounded_up(self) -> i64 {
        let (whole, rest) =
            (self.0.div_euclid(MINUTE.cast_signed()), self.0.rem_euclid(MINUTE.cast_signed()));
        if rest > 0 { whole + 1 } else { whole }
    }

    /// The shortest spelling: `168h`, where [`Display`](fmt::Display) prints `168h0m0s` like Go.
    pub fn concise(self) -> String {
        let mut text = self.to_string();
        for idle in ["m0s", "h0m"] {
            if text.ends_with(idle) {
                text.truncate(text.len() - 2);
            }
        }
        text
    }
}

fn read(text: &str, units: &[Unit]) -> Result<Duration, DurationProblem> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(DurationProblem::NoNumber);
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (term, after) = term(rest, units)?;
        rest = after;
        // The sum wraps like Go's: twice 2^63 is zero, which is valid.
        total = total.wrapping_add(term);
        if total > MAX_MAGNITUDE {
            return Err(DurationProblem::TooLong);
        }
    }
    match (negative, i64::try_from(total)) {
        (false, Ok(total)) => Ok(Duration(total)),
        (false, Err(_)) => Err(DurationProblem::TooLong),
        (true, _) => Ok(Duration(0_i64.wrapping_sub_unsigned(total))),
    }
}

/// Parses one number and its unit. Returns the length in nanoseconds and the rest of the text.
fn term<'t>(text: &'t str, units: &[Unit]) -> Result<(u64, &'t str), DurationProblem> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationProblem::NoNumber);
    }
    let count = leading_integer(whole).ok_or(DurationProblem::TooLong)?;
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(DurationProblem::MissingUnit);
    }
    let unit = units.iter().find(|(known, _)| *known == name).map(|(_, length)| *length);
    let unit = unit.ok_or_else(|| DurationProblem::UnknownUnit(name.to_owned()))?;
    if count > MAX_MAGNITUDE / unit {
        return Err(DurationProblem::TooLong);
    }
    let length = (count * unit).saturating_add(share(fraction, unit));
    if length > MAX_MAGNITUDE { Err(DurationProblem::TooLong) } else { Ok((length, rest)) }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn digits(text: &str) -> impl Iterator<Item = u64> {
    text.bytes().map(|byte| u64::from(byte.wrapping_sub(b'0')))
}

/// The number, up to and including 2^63.
fn leading_integer(text: &str) -> Option<u64> {
    digits(text).try_fold(0_u64, |sum, digit| {
        let sum = sum.checked_mul(10)?.checked_add(digit)?;
        (sum <= MAX_MAGNITUDE).then_some(sum)
    })
}

/// The value of the digits after the point, in Go's floating-point arithmetic. Digits beyond the range of an `i64` are
/// dropped.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversions of Go's ParseDuration, whose rounding is part of the reference behaviour"
)]
fn share(fraction: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0_f64);
    for digit in digits(fraction) {
        let next = if value > (MAX_MAGNITUDE - 1) / 10 { break } else { value * 10 + digit };
        if next > MAX_MAGNITUDE {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// Prints like Go: `1h30m0s`, `1.5s`, `250ms`, `0s`. The text parses to the same duration.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let (name, unit) = match length {
            0 => return f.write_str("0s"),
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("\u{b5}s", 1_000),
            1_000_000..SECOND => ("ms", 1_000_000),
            SECOND.. => ("s", SECOND),
        };
        if length >= HOUR {
            write!(f, "{}h", length / HOUR)?;
        }
        if length >= MINUTE {
            write!(f, "{}m", length % HOUR / MINUTE)?;
        }
        write!(f, "{}", length % MINUTE / unit)?;
        let (mut rest, mut place) = (length % unit, unit);
        if rest > 0 {
            f.write_str(".")?;
        }
        while rest > 0 {
            place /= 10;
            write!(f, "{}", rest / place)?;
            rest %= place;
        }
        f.write_str(name)
    }
}

/// A duration or `Never`: the type of `expireAfter` and `consolidateAfter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NillableDuration {
    /// The word `Never`. Case matters.
    Never,
    /// After a duration.
    After(Duration),
}

impl NillableDuration {
    /// Parses `Never` or a duration.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        if text == "Never" { Ok(Self::Never) } else { Duration::parse(text).map(Self::After) }
    }
}

impl fmt::Display for NillableDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("Never"),
            Self::After(duration) => duration.fmt(f),
        }
    }
}

/// A text that Go does not accept as a duration, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError {
    text: String,
    problem: DurationProblem,
}

/// Reason why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationProblem {
    /// A number is missing: the text is empty, or has a unit or whitespace instead.
    NoNumber,
    /// A number without a unit.
    MissingUnit,
    /// An unknown unit, as written.
    UnknownUnit(String),
    /// More nanoseconds than an `int64` can hold.
    TooLong,
}

impl DurationError {
    /// The reason.
    pub const fn problem(&self) -> &DurationProblem {
        &self.problem
    }

    /// The duration that is most likely meant: `168h` for `7d` or `7 days`, `90m` for `90 min`. `None` for a number
    /// without a unit, which may be any.
    pub fn suggestion(&self) -> Option<String> {
        if self.text.eq_ignore_ascii_case("never") {
            return Some("Never".to_owned());
        }
        let mut text = self.text.to_ascii_lowercase();
        text.retain(|c| !c.is_whitespace());
        read(&text, &FOREIGN_UNITS).ok().map(Duration::concise)
    }
}

impl DurationError {
    /// The error text of Go's `time.ParseDuration`.
    pub fn go_text(&self) -> String {
        let text = go_quoted(&self.text);
        match &self.problem {
            DurationProblem::NoNumber | DurationProblem::TooLong => format!("time: invalid duration {text}"),
            DurationProblem::MissingUnit => format!("time: missing unit in duration {text}"),
            DurationProblem::UnknownUnit(unit) => {
                format!("time: unknown unit {} in duration {text}", go_quoted(unit))
            }
        }
    }
}

/// A text in quotes, as Go's package `time` quotes it: control characters and all bytes outside ASCII as `\x` escapes.
fn go_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'\x7f' => quoted.push(char::from(byte)),
            _ => {
                let _ = write!(quoted, "\\x{byte:02x}");
            }
        }
    }
    quoted.push('"');
    quoted
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match &self.problem {
            DurationProblem::NoNumber if text.is_empty() => f.write_str("the duration is empty"),
            DurationProblem::NoNumber => {
                write!(f, "`{text}` is not a duration such as `1h30m`")
            }
            DurationProblem::MissingUnit => {
                write!(f, "`{text}` has a number without a unit (`s`, `m` or `h`)")
            }
            DurationProblem::UnknownUnit(unit) => {
                write!(
                    f,
                    "`{unit}` in `{text}` is not a unit of time; the units are `ns`, `us`, `ms`, `s`, `m`, `h`"
                )
            }
            DurationProblem::TooLong => {
                write!(f, "`{text}` is longer than 292 years, the longest duration")
            }
        }
    }
}

impl core::error::Error for DurationError {}
