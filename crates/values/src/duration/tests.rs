use super::*;
use proptest::prelude::*;

const H: i64 = 3_600_000_000_000;
const M: i64 = 60_000_000_000;
const S: i64 = 1_000_000_000;

#[test]
fn adds_numbers_with_units() {
    for (text, nanoseconds) in [
        ("0", 0),
        ("-0", 0),
        ("+0", 0),
        ("0s", 0),
        ("7s", 7 * S),
        ("-7s", -7 * S),
        ("+7s", 7 * S),
        ("007s", 7 * S),
        ("2.s", 2 * S),
        (".25s", S / 4),
        ("1.0070s", 1_007_000_000),
        ("9ns", 9),
        ("9us", 9_000),
        ("9\u{b5}s", 9_000),
        ("9\u{3bc}s", 9_000),
        ("9ms", 9_000_000),
        ("9m", 9 * M),
        ("9h", 9 * H),
        ("2h30m", 2 * H + 30 * M),
        ("30m2h", 2 * H + 30 * M),
        ("1m1m", 2 * M),
        ("-1m2.5s", -(M + 5 * S / 2)),
        ("720h", 720 * H),
        ("9007199254740993ns", (1 << 53) + 1),
        // Fractions go through floating point, and digits that no longer fit are dropped.
        ("0.3333333333333333333h", 20 * M),
        ("0.1000000000000000000000h", H / 10),
        ("0.830103483285477580700h", 2_988_372_539_827),
        ("9223372036854775807ns", i64::MAX),
        ("9223372036854775.807us", i64::MAX),
        ("-9223372036854775808ns", i64::MIN),
        ("-9223372036854ms775us808ns", i64::MIN),
        // Go's sum wraps at 2^64.
        ("9223372036854775808ns9223372036854775808ns", 0),
    ] {
        assert_eq!(Duration::parse(text).map(Duration::nanoseconds), Ok(nanoseconds), "{text}");
    }
}

#[test]
fn rejects_what_go_rejects_and_gives_the_reason() {
    use DurationProblem::{MissingUnit, NoNumber, TooLong, UnknownUnit};
    for (text, problem) in [
        ("", NoNumber),
        ("-", NoNumber),
        ("--1s", NoNumber),
        (".", NoNumber),
        (".s", NoNumber),
        ("-.s", NoNumber),
        ("s", NoNumber),
        (" 1s", NoNumber),
        ("\u{fffd}", NoNumber),
        ("Never", NoNumber),
        ("5", MissingUnit),
        ("00", MissingUnit),
        ("1h5", MissingUnit),
        ("1.2.3s", MissingUnit),
        ("1s ", UnknownUnit("s ".to_owned())),
        ("1h 5m", UnknownUnit("h ".to_owned())),
        ("7d", UnknownUnit("d".to_owned())),
        ("1H", UnknownUnit("H".to_owned())),
        ("1h-5m", UnknownUnit("h-".to_owned())),
        ("9223372036854775808ns", TooLong),
        ("-9223372036854775809ns", TooLong),
        ("99999999999999999999h", TooLong),
        ("9223372036854776us", TooLong),
        ("9223372036854775.808us", TooLong),
        ("3000000h", TooLong),
        ("2562047h48m", TooLong),
    ] {
        let error = Duration::parse(text).unwrap_err();
        assert_eq!(error.problem(), &problem, "{text}");
    }
}

#[test]
fn suggests_the_spelling_of_go() {
    for (text, suggestion) in [
        ("7d", Some("168h")),
        ("1d12h", Some("36h")),
        ("2w", Some("336h")),
        ("90 min", Some("1h30m")),
        ("1 hour 30 minutes", Some("1h30m")),
        ("30 s", Some("30s")),
        ("1H", Some("1h")),
        ("never", Some("Never")),
        ("30", None),
        ("1 month", None),
        ("", None),
    ] {
        let error = Duration::parse(text).unwrap_err();
        assert_eq!(error.suggestion().as_deref(), suggestion, "{text}");
    }
}

#[test]
fn prints_like_go() {
    for (nanoseconds, text, concise) in [
        (0, "0s", "0s"),
        (1, "1ns", "1ns"),
        (1_100, "1.1\u{b5}s", "1.1\u{b5}s"),
        (2_200_000, "2.2ms", "2.2ms"),
        (-3_300_000_000, "-3.3s", "-3.3s"),
        (10 * S, "10s", "10s"),
        (10 * M, "10m0s", "10m"),
        (H, "1h0m0s", "1h"),
        (20 * H + 10 * M, "20h10m0s", "20h10m"),
        (20 * H + 10 * S, "20h0m10s", "20h0m10s"),
        (8 * M + 1, "8m0.000000001s", "8m0.000000001s"),
        (i64::MAX, "2562047h47m16.854775807s", "2562047h47m16.854775807s"),
        (i64::MIN, "-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
    ] {
        let duration = Duration::from_nanoseconds(nanoseconds);
        assert_eq!((duration.to_string().as_str(), duration.concise().as_str()), (text, concise));
    }
}

#[test]
fn parses_never_only_for_nillable_durations() {
    assert_eq!(NillableDuration::parse("Never"), Ok(NillableDuration::Never));
    assert_eq!(NillableDuration::parse("1h"), Ok(NillableDuration::After(Duration::from_minutes(60))));
    assert!(NillableDuration::parse("never").is_err() && NillableDuration::parse("").is_err());
}

#[test]
fn rounds_up_to_whole_minutes() {
    for (text, minutes) in [("0", 0), ("1ns", 1), ("60s", 1), ("61s", 2), ("-61s", -1)] {
        assert_eq!(Duration::parse(text).unwrap().minutes_rounded_up(), minutes, "{text}");
    }
}

#[test]
fn errors_name_the_text_and_the_valid_units() {
    insta::assert_snapshot!(Duration::parse("7d").unwrap_err(), @"`d` in `7d` is not a unit of time; the units are `ns`, `us`, `ms`, `s`, `m`, `h`");
    insta::assert_snapshot!(Duration::parse("30").unwrap_err(), @"`30` has a number without a unit (`s`, `m` or `h`)");
    insta::assert_snapshot!(Duration::parse("soon").unwrap_err(), @"`soon` is not a duration such as `1h30m`");
    insta::assert_snapshot!(Duration::parse("").unwrap_err(), @"the duration is empty");
}

proptest! {
    #[test]
    fn no_text_panics(text in r"\PC*|[-+0-9.hmsnuµd ]{0,40}") {
        if let Err(error) = Duration::parse(&text) {
            let _ = (error.to_string(), error.suggestion());
        }
    }

    #[test]
    fn printed_duration_parses_to_the_same(nanoseconds: i64) {
        let duration = Duration::from_nanoseconds(nanoseconds);
        prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
        prop_assert_eq!(Duration::parse(&duration.concise()), Ok(duration));
    }

    #[test]
    fn orders_by_length(a: i64, b: i64) {
        prop_assert_eq!(Duration(a).cmp(&Duration(b)), a.cmp(&b));
    }
}

#[test]
fn words_errors_like_go() {
    for (text, expected) in [
        ("", "time: invalid duration \"\""),
        ("h", "time: invalid duration \"h\""),
        ("60", "time: missing unit in duration \"60\""),
        ("1d", "time: unknown unit \"d\" in duration \"1d\""),
        ("9999999999h", "time: invalid duration \"9999999999h\""),
        ("1\"", "time: unknown unit \"\\\"\" in duration \"1\\\"\""),
    ] {
        assert_eq!(Duration::parse(text).unwrap_err().go_text(), expected, "{text}");
    }
}
