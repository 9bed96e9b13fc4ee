use super::*;
use crate::duration::Duration;

pub(super) fn schedule(text: &str) -> Schedule {
    Schedule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Parses `2027-03-14 09:30`.
pub(super) fn minute(text: &str) -> Minute {
    let mut numbers = text.split(['-', ' ', ':']).map(|number| number.parse::<u16>().unwrap());
    let year = numbers.next().unwrap();
    let mut small = numbers.map(|number| u8::try_from(number).unwrap());
    let mut next = || small.next().unwrap();
    Minute::new(year, next(), next(), next(), next()).unwrap()
}

pub(super) fn duration(text: &str) -> Duration {
    Duration::parse(text).unwrap()
}

#[test]
fn runs_where_every_field_matches() {
    for (at, text, runs) in [
        ("2027-03-08 15:45", "0/15 * * * *", true),
        ("2027-03-08 15:40", "0/15 * * * *", false),
        ("2027-03-08 15:50", "5/15 * * * *", true),
        ("2027-03-08 15:00", "5/15 * * * *", false),
        ("2027-03-08 12:00", "0 10-14/2 * * *", true),
        ("2027-03-08 11:00", "0 10-14/2 * * *", false),
        ("2027-07-08 12:00", "* * * JUL *", true),
        ("2027-07-08 12:00", "* * * 7 thu", true),
        ("2027-07-08 12:00", "* * * jun *", false),
        ("2027-03-08 00:00", "0 0 * * Mon-Fri", true),
        ("2027-03-07 00:00", "0 0 * * Mon-Fri", false),
        ("2027-03-07 00:00", "0 0 * * 0", true),
        ("2027-03-07 00:00", "00 +0 * * 00", true),
        ("2027-03-07 00:00", "0,, 0 ,* * *", true),
        // `N/step` runs to the field's end, also from a name.
        ("2027-03-10 00:00", "0 0 * * mon/2", true),
        ("2027-03-12 00:00", "0 0 * * mon/2", true),
        ("2027-03-14 00:00", "0 0 * * mon/2", false),
        // Text after a star and a hyphen is ignored.
        ("2027-03-14 00:00", "0 0 *-x-y * ?-9", true),
        ("2027-03-14 00:00", "@hourly", true),
        ("2027-03-14 00:01", "@hourly", false),
        ("2027-03-14 01:00", "@daily", false),
        ("2027-03-14 00:00", "@midnight", true),
        ("2027-03-14 00:00", "@weekly", true),
        ("2027-03-15 00:00", "@weekly", false),
        ("2027-03-01 00:00", "@monthly", true),
        ("2027-03-02 00:00", "@monthly", false),
        ("2027-01-01 00:00", "@yearly", true),
        ("2027-02-01 00:00", "@annually", false),
        // Whitespace of any kind, around and between the fields.
        ("2027-03-14 00:00", "\u{a0}\t0  0\u{3000}*\t* *\n", true),
        ("2027-03-14 00:00", " @daily\t", true),
        // Go lowers the dotted capital I to a small i.
        ("2027-03-12 00:00", "0 0 * * FR\u{130}", true),
    ] {
        assert_eq!(schedule(text).matches(minute(at)), runs, "{text} at {at}");
        assert_eq!(
            schedule(text).next_after(minute(at).plus(-1)) == Some(minute(at)),
            runs,
            "{text} before {at}"
        );
    }
}

#[test]
fn requires_both_days_only_if_one_has_a_star() {
    for (at, text, runs) in [
        // Sunday the 14th, Monday the 15th, Tuesday the 16th.
        ("2027-03-14 00:00", "0 0 15 * sun", true),
        ("2027-03-15 00:00", "0 0 15 * sun", true),
        ("2027-03-16 00:00", "0 0 15 * sun", false),
        ("2027-03-15 00:00", "0 0 ? * sun", false),
        ("2027-03-14 00:00", "0 0 15 * *", false),
        // A step above 1 removes the star; a step of 1 keeps it.
        ("2027-03-14 00:00", "0 0 */15 * sun", true),
        ("2027-03-16 00:00", "0 0 */15 * sun", true),
        ("2027-03-15 00:00", "0 0 */1 * sun", false),
        ("2027-03-15 00:00", "0 0 1-31 * sun", true),
        ("2027-03-15 00:00", "0 0 *,5 * sun", false),
        // An empty field matches no day.
        ("2027-03-14 00:00", "0 0 , * sun", true),
        ("2027-03-14 00:00", "0 0 , * *", false),
    ] {
        assert_eq!(schedule(text).matches(minute(at)), runs, "{text} at {at}");
    }
}

#[test]
fn finds_the_next_run() {
    for (from, text, next) in [
        ("2012-07-09 14:45", "0/15 * * * *", "2012-07-09 15:00"),
        ("2012-07-09 14:59", "0/15 * * * *", "2012-07-09 15:00"),
        ("2012-07-09 15:00", "0/15 * * * *", "2012-07-09 15:15"),
        ("2012-07-09 15:45", "20-35/15 * * * *", "2012-07-09 16:20"),
        ("2012-07-09 23:46", "*/15 * * * *", "2012-07-10 00:00"),
        ("2012-07-09 23:35", "20-35/15 10-12 * * *", "2012-07-10 10:20"),
        ("2012-07-09 23:35", "20-35/15 1/2 */2 * *", "2012-07-11 01:20"),
        ("2012-07-09 23:35", "0 0 9 Apr-Oct ?", "2012-08-09 00:00"),
        ("2012-07-09 23:35", "0 0 */5 Apr,Aug,Oct Mon", "2012-08-01 00:00"),
        ("2012-07-09 23:35", "0 0 * Feb Mon", "2013-02-04 00:00"),
        ("2012-07-09 23:35", "0 0 * Feb Mon/2", "2013-02-01 00:00"),
        ("2012-12-31 23:59", "* * * * *", "2013-01-01 00:00"),
        ("2012-07-09 23:35", "0 0 29 Feb ?", "2016-02-29 00:00"),
        ("2012-07-09 23:35", "0 0 30 Feb ?", "never"),
        ("2012-07-09 23:35", "0 0 31 4,6 *", "never"),
        ("2012-07-09 23:35", "0 0 * * ,", "never"),
        ("2012-07-09 23:35", ", * * * *", "never"),
        // The search ends with the fifth year; 2100 is not a leap year.
        ("2096-02-28 00:00", "0 0 29 2 *", "2096-02-29 00:00"),
        ("2096-02-29 00:00", "0 0 29 2 *", "never"),
        ("2098-12-31 23:59", "0 0 29 2 *", "never"),
        ("2099-01-01 00:00", "0 0 29 2 *", "2104-02-29 00:00"),
        // `@every` counts from the time of asking, and is at least a second.
        ("2012-07-09 23:35", "@every 1h30m", "2012-07-10 01:05"),
        ("2012-07-09 23:35", "@every 90s", "2012-07-09 23:37"),
        ("2012-07-09 23:35", "@every -1h", "2012-07-09 23:36"),
    ] {
        let run = schedule(text).next_after(minute(from));
        assert_eq!(run.map_or("never".to_owned(), |run| run.to_string()), next, "{text} from {from}");
    }
    let runs = schedule("30 9 * * mon").runs_after(minute("2027-03-15 09:30"));
    let runs: Vec<_> = runs.take(3).map(|run| run.to_string()).collect();
    assert_eq!(runs, ["2027-03-22 09:30", "2027-03-29 09:30", "2027-04-05 09:30"]);
}

#[test]
fn rejects_invalid_fields_at_the_invalid_part() {
    use CronProblem::{Above, Below, Descends, Hyphens, Slashes, Step, Unreadable, ZeroStep};
    for (text, field, wrong, problem) in [
        ("xyz * * * *", CronField::Minute, "xyz", Unreadable),
        ("60 0 * * *", CronField::Minute, "60", Above(60)),
        ("0 60 * * *", CronField::Hour, "60", Above(60)),
        ("0 24 * * *", CronField::Hour, "24", Above(24)),
        ("0 0 0 * *", CronField::DayOfMonth, "0", Below(0)),
        ("0 0 32 * *", CronField::DayOfMonth, "32", Above(32)),
        ("0 0 L * *", CronField::DayOfMonth, "L", Unreadable),
        ("0 0 15W * *", CronField::DayOfMonth, "15W", Unreadable),
        ("0 0 * 0 *", CronField::Month, "0", Below(0)),
        ("0 0 * 13 *", CronField::Month, "13", Above(13)),
        ("0 0 * mon *", CronField::Month, "mon", Unreadable),
        ("0 0 * * XYZ", CronField::DayOfWeek, "XYZ", Unreadable),
        ("0 0 * * friday", CronField::DayOfWeek, "friday", Unreadable),
        ("0 0 * * 5#2", CronField::DayOfWeek, "5#2", Unreadable),
        ("0 0 * * 7", CronField::DayOfWeek, "7", Above(7)),
        ("0 0 * * 1-7", CronField::DayOfWeek, "1-7", Above(7)),
        ("0 0 * * 1,6-9,2", CronField::DayOfWeek, "6-9", Above(9)),
        ("0 0 * * sat-sun", CronField::DayOfWeek, "sat-sun", Descends(6, 0)),
        ("0 0 * * tue-mon", CronField::DayOfWeek, "tue-mon", Descends(2, 1)),
        ("0 22-2 * * *", CronField::Hour, "22-2", Descends(22, 2)),
        ("0 5-3/0 * * *", CronField::Hour, "5-3/0", Descends(5, 3)),
        ("1-2-3 * * * *", CronField::Minute, "1-2-3", Hyphens),
        ("5--5 * * * *", CronField::Minute, "5--5", Hyphens),
        ("5- * * * *", CronField::Minute, "", Unreadable),
        ("-5 * * * *", CronField::Minute, "", Unreadable),
        ("2-x * * * *", CronField::Minute, "x", Unreadable),
        ("5-* * * * *", CronField::Minute, "*", Unreadable),
        ("/5 * * * *", CronField::Minute, "", Unreadable),
        ("+ * * * *", CronField::Minute, "+", Unreadable),
        ("99999999999999999999 * * * *", CronField::Minute, "99999999999999999999", Unreadable),
        ("*/x * * * *", CronField::Minute, "x", Step),
        ("*/ * * * *", CronField::Minute, "", Step),
        ("*/-12 * * * *", CronField::Minute, "-12", Step),
        ("*//2 * * * *", CronField::Minute, "*//2", Slashes),
        ("*/0 * * * *", CronField::Minute, "*/0", ZeroStep),
        ("15/-0 * * * *", CronField::Minute, "15/-0", ZeroStep),
    ] {
        let error = Schedule::parse(text).unwrap_err();
        let CronError::Field { field: found, text: part, range, problem: why } = &error else {
            panic!("{text}: {error}")
        };
        assert_eq!((*found, part.as_str(), *why), (field, wrong, problem), "{text}");
        assert_eq!(text.get(range.clone()), Some(wrong), "{text}");
    }
}

#[test]
fn rejects_other_than_five_fields_or_a_known_descriptor() {
    for (text, found) in
        [("", 0), (" \t", 0), ("daily", 1), ("* * * *", 4), ("0 0 9 * * *", 6), ("0 0 9 ? * * 2027", 7)]
    {
        let error = Schedule::parse(text).unwrap_err();
        assert_eq!(error, CronError::FieldCount { found, range: error.range() }, "{text}");
    }
    for text in ["TZ=UTC 0 9 * * *", "CRON_TZ=UTC 9 * * *", "TZ=UTC @daily", "TZ= 0 9 * * *"] {
        assert!(matches!(Schedule::parse(text), Err(CronError::TimeZone { .. })), "{text}");
    }
    for text in ["@", "@Daily", "@dailyfoo", "@daily * * * *", "@reboot", "@every", "@every\t5m"] {
        assert!(matches!(Schedule::parse(text), Err(CronError::Descriptor { .. })), "{text}");
    }
    for text in ["@every Xm", "@every  5m", "@every 1d"] {
        assert!(matches!(Schedule::parse(text), Err(CronError::Every { .. })), "{text}");
    }
}

#[test]
fn errors_name_the_text_and_the_valid_values() {
    let message = |text| Schedule::parse(text).unwrap_err().to_string();
    insta::assert_snapshot!(message("0 9 * * 7"), @"`7` is above 6, the largest day of week; Sunday is 0");
    insta::assert_snapshot!(message("0 9 * * fri-mon"), @"`fri-mon` ends before it starts; a day of week range cannot wrap around");
    insta::assert_snapshot!(message("0 9 * * friday"), @"`friday` is not a day of week, which is a number from 0 to 6, or `sun` to `sat`");
    insta::assert_snapshot!(message("0 9 L * *"), @"`L` is not a day of month, which is a number from 1 to 31; only other schedulers support `L`, `W` and `#`");
    insta::assert_snapshot!(message("0 0 9 * * *"), @"the schedule has 6 fields instead of 5: minute, hour, day of month, month, day of week");
    insta::assert_snapshot!(message("CRON_TZ=Europe/Berlin 0 9 * * *"), @"`CRON_TZ=Europe/Berlin` is not allowed in a schedule: Karpenter reads every schedule in UTC");
    insta::assert_snapshot!(message("@Daily"), @"`@Daily` is not a known descriptor; the descriptors are `@hourly`, `@daily` (`@midnight`), `@weekly`, `@monthly` and `@yearly` (`@annually`)");
    insta::assert_snapshot!(message("@every 1d"), @"`@every` needs a duration: `d` in `1d` is not a unit of time; the units are `ns`, `us`, `ms`, `s`, `m`, `h`");
    insta::assert_snapshot!(message("*/0 * * * *"), @"`*/0` has the step 0; write a step of at least 1");
    insta::assert_snapshot!(message("0 0 0 * *"), @"`0` is below 1, the smallest day of month");
    insta::assert_snapshot!(message(""), @"the schedule is empty");
}

#[test]
fn repairs_common_mistakes() {
    for (text, repaired, keeps_meaning) in [
        ("0 9 * * 7", "0 9 * * 0", true),
        ("0 9 * * 1,7", "0 9 * * 1,0", true),
        ("0 9 * * 1-7", "0 9 * * 0-6", true),
        ("0 9 * * 5-7", "0 9 * * 5-6,0", true),
        ("0 9 * * fri-7", "0 9 * * fri-sat,sun", true),
        ("0 9 * * 6-7", "0 9 * * 6,0", true),
        ("0 9 * * 1-7/2", "0 9 * * 1,3,5,0", true),
        ("0 9 * * 7-7/2", "0 9 * * 0", true),
        ("0 9 * * 7-2", "0 9 * * 0-2", true),
        ("0 9 * * fri-mon", "0 9 * * fri-sat,sun-mon", true),
        ("0 9 * * sat-sun", "0 9 * * sat,sun", true),
        ("0 22-2 * * *", "0 22-23,0-2 * * *", true),
        ("0 0 25-5 nov-feb *", "0 0 25-31,1-5 nov-dec,jan-feb *", true),
        ("0 9 * * Monday-Friday", "0 9 * * mon-fri", true),
        ("0 9 * Sept thurs,sundays", "0 9 * sep thu,sun", true),
        ("0 9 * * mon–fri", "0 9 * * mon-fri", true),
        ("0 24 * * *", "0 0 * * *", false),
        ("0 0-24 * * *", "0 0-23 * * *", false),
        ("0 0 9 * * *", "0 9 * * *", true),
        ("0 0 9 ? * mon-fri", "0 9 ? * mon-fri", true),
        ("0 0 9 ? * 2-6", "0 9 ? * 2-6", false),
        ("*/5 0 9 * * *", "0 9 * * *", false),
        ("0 9 ? * MON-FRI *", "0 9 ? * MON-FRI", true),
        ("TZ=UTC 0 9 * * *", "0 9 * * *", true),
        ("CRON_TZ=UTC  @daily", "@daily", true),
        (" @Daily ", " @daily ", true),
        ("@dailyfoo", "@daily", false),
        ("hourly", "@hourly", true),
        ("@every 1d", "@every 24h", true),
    ] {
        let repair = Schedule::repair(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((repair.text.as_str(), repair.keeps_meaning), (repaired, keeps_meaning), "{text}");
    }
    for text in [
        "0 9 * * *",
        "0 9 L * *",
        "CRON_TZ=Europe/Berlin 0 9 * * *",
        "* * * *",
        "0 9 * * 9-7",
        "cron(0 9 ? * MON-FRI *)",
        "@reboot",
        "",
        "*/0 * * * *",
    ] {
        assert_eq!(Schedule::repair(text), None, "{text}");
    }
}

#[test]
fn budget_is_active_from_a_run_for_its_duration() {
    for (text, window, now, active) in [
        ("@daily", "30m", "2000-05-30 23:00", false),
        ("@daily", "30m", "2000-05-31 00:00", true),
        ("@daily", "30m", "2000-05-31 00:29", true),
        ("@daily", "30m", "2000-05-31 00:30", false),
        ("@yearly", "24h", "1000-01-01 12:00", true),
        ("@daily", "48h", "2024-01-07 00:00", true),
        ("30 6 * * SUN", "6h", "2024-01-07 00:00", false),
        ("* * * * *", "0h", "2024-01-07 00:00", false),
        ("* * * * *", "1m", "2024-01-07 00:00", true),
        // A schedule that never runs keeps the budget active at all times.
        ("0 0 30 2 *", "1h", "2024-01-07 00:00", true),
        ("0 0 * * ,", "0h", "2024-01-07 00:00", true),
        ("@every 1h", "1h", "2024-01-07 00:00", true),
        ("@every 2h", "1h", "2024-01-07 00:00", false),
    ] {
        assert_eq!(schedule(text).is_active(minute(now), duration(window)), active, "{text} {window} {now}");
    }
    assert!(schedule("0 0 30 2 *").never_runs() && !schedule("0 0 29 2 *").never_runs());
}

#[test]
fn prints_windows_of_a_week_on_one_line() {
    let windows = |budgets: &[(&str, &str)]| {
        let budgets: Vec<_> =
            budgets.iter().map(|(text, window)| (schedule(text), duration(window))).collect();
        let BudgetWindows { always, sometimes } = BudgetWindows::of(&budgets);
        if always == sometimes { always.to_string() } else { format!("{always} | {sometimes}") }
    };
    insta::assert_snapshot!(windows(&[]), @"never");
    insta::assert_snapshot!(windows(&[("0 1 * * mon", "4h")]), @"mon 01:00-05:00");
    insta::assert_snapshot!(windows(&[("0 18 * * fri", "60h")]), @"fri 18:00-mon 06:00");
    insta::assert_snapshot!(windows(&[("@daily", "24h")]), @"all week");
    insta::assert_snapshot!(windows(&[("0 16 * * mon-fri", "16h"), ("0 0 * * sat,sun", "24h")]), @"mon 16:00-tue 08:00, tue 16:00-wed 08:00, wed 16:00-thu 08:00, thu 16:00-fri 08:00, fri 16:00-mon 00:00");
    insta::assert_snapshot!(windows(&[("30 4 * * *", "0h")]), @"never");
    insta::assert_snapshot!(windows(&[("0 0 30 2 *", "1h")]), @"all week");
    insta::assert_snapshot!(windows(&[("0 0 1 * *", "1h")]), @"never | sun 00:00-01:00, mon 00:00-01:00, tue 00:00-01:00, wed 00:00-01:00, thu 00:00-01:00, fri 00:00-01:00, sat 00:00-01:00");
    insta::assert_snapshot!(windows(&[("0 0 1 * *", "744h")]), @"all week");
    insta::assert_snapshot!(windows(&[("0 0 1 * *", "743h")]), @"sun 00:00-23:00, mon 00:00-23:00, tue 00:00-23:00, wed 00:00-23:00, thu 00:00-23:00, fri 00:00-23:00, sat 00:00-23:00 | all week");
    // Neither budget alone covers every week; together they do.
    insta::assert_snapshot!(windows(&[("0 0 1-15 * *", "24h"), ("0 0 16-31 * *", "24h")]), @"all week");
}

#[test]
fn converts_minutes_to_schedules_of_budgets() {
    let working = BudgetWindows::of(&[(schedule("0 9 * * mon-fri"), duration("8h"))]).always;
    let rest = working.complement().as_schedules();
    let rest: Vec<_> = rest.iter().map(|(text, window)| format!("{text} {}", window.concise())).collect();
    assert_eq!(rest, ["0 17 * * mon-thu 16h", "0 17 * * fri 64h"]);
    assert_eq!(WeekMinutes::FULL.as_schedules(), [("0 0 * * *".to_owned(), duration("24h"))]);
    assert!(WeekMinutes::EMPTY.as_schedules().is_empty() && working.or(&working.complement()).is_full());
    assert!(working.and(&working.complement()).is_empty());
}
