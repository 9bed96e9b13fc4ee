//! Dates and times, which `toml_parser` tells from numbers and does not check further (RFC 3339 with TOML's
//! leave to drop a half, the offset or, since 1.1, the seconds).

/// Whether it is a date, a time or both that a calendar and a clock can show.
pub(super) fn is_valid(text: &str) -> bool {
    let mut rest = text;
    let date = rest.as_bytes().get(4) == Some(&b'-');
    if date {
        let Some(after) = day(rest) else { return false };
        if after.is_empty() {
            return true;
        }
        let Some(time) = after.strip_prefix(['T', 't', ' ']) else { return false };
        rest = time;
    }
    let Some(after) = time(rest) else { return false };
    match after.as_bytes().first() {
        None => true,
        Some(b'Z' | b'z') => date && after.len() == 1,
        Some(b'+' | b'-') => date && after.get(1..).and_then(clock).is_some_and(str::is_empty),
        Some(_) => false,
    }
}

/// So many digits and what follows them.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    (number.bytes().all(|byte| byte.is_ascii_digit())).then(|| Some((number.parse().ok()?, rest)))?
}

fn day(text: &str) -> Option<&str> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    ((1..=12).contains(&month) && (1..=days).contains(&day)).then_some(rest)
}

/// `HH:MM`
fn clock(text: &str) -> Option<&str> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    (hour < 24 && minute < 60).then_some(rest)
}

fn time(text: &str) -> Option<&str> {
    let rest = clock(text)?;
    let Some(seconds) = rest.strip_prefix(':') else { return Some(rest) };
    // 60 is a leap second.
    let (second, rest) = digits(seconds, 2)?;
    let rest = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => {
            let after = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            (after.len() < fraction.len()).then_some(after)?
        }
    };
    (second <= 60).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn a_calendar_and_a_clock_decide() {
        for valid in [
            "1979-05-27",
            "2024-02-29",
            "07:32:00",
            "07:32",
            "1979-05-27T07:32:00.999999",
            "1979-05-27 07:32:00Z",
            "1979-05-27t07:32:00-07:00",
        ] {
            assert!(is_valid(valid), "{valid}");
        }
        for invalid in [
            "1979-13-01",
            "2023-02-29",
            "1979-05-27T",
            "1979-5-27",
            "24:00:00",
            "07:32:00Z",
            "07:32:00.",
            "1979-05-27x",
        ] {
            assert!(!is_valid(invalid), "{invalid}");
        }
    }
}
