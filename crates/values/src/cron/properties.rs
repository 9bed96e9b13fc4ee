//! Properties of any schedule.

use super::tests::{duration, minute, schedule};
use super::*;
use crate::calendar::MINUTES_PER_DAY as DAY;
use crate::duration::Duration;
use proptest::collection::vec;
use proptest::prelude::*;

/// A field as text, the numbers that it selects, and whether it has a star.
type Sample = (String, Vec<u8>, bool);

fn sample(first: u8, last: u8) -> impl Strategy<Value = Sample> {
    let range = (first..=last, first..=last, 1..=last).prop_map(|(a, b, step)| {
        let (low, high) = (a.min(b), a.max(b));
        (format!("{low}-{high}/{step}"), (low..=high).step_by(step.into()).collect(), false)
    });
    let single = vec(first..=last, 1..4).prop_map(|numbers| {
        let text = numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        (text, numbers, false)
    });
    prop_oneof![
        Just(("*".to_owned(), (first..=last).collect(), true)),
        (2..=last).prop_map(move |step| (
            format!("*/{step}"),
            (first..=last).step_by(step.into()).collect(),
            false
        )),
        range,
        single,
    ]
}

fn samples() -> impl Strategy<Value = [Sample; 5]> {
    (sample(0, 59), sample(0, 23), sample(1, 31), sample(1, 12), sample(0, 6)).prop_map(Into::into)
}

fn text_of(samples: &[Sample; 5]) -> String {
    samples.each_ref().map(|sample| sample.0.as_str()).join(" ")
}

/// The first run after `start`, found by testing every minute of every day since a known date.
fn scanned(samples: &[Sample; 5], start: Minute) -> Option<Minute> {
    let (mut year, mut month, mut day, mut weekday) = (2000_i64, 1_u8, 1_u8, 6_u8);
    let mut midnight = minute("2000-01-01 00:00");
    let mut last_year = i64::MAX;
    while year <= last_year {
        if midnight.plus(DAY) > start {
            last_year = last_year.min(year + 5);
            let [minutes, hours, days, months, weekdays] = samples;
            let (by_day, by_weekday) = (days.1.contains(&day), weekdays.1.contains(&weekday));
            let fits = if days.2 || weekdays.2 { by_day && by_weekday } else { by_day || by_weekday };
            let minutes_of_day = (0..24_u8).flat_map(|hour| (0..60_u8).map(move |minute| (hour, minute)));
            for (hour, of_hour) in minutes_of_day.filter(|_| fits && months.1.contains(&month)) {
                let run = midnight.plus(i64::from(hour) * 60 + i64::from(of_hour));
                if run > start && hours.1.contains(&hour) && minutes.1.contains(&of_hour) {
                    return Some(run);
                }
            }
        }
        let leap = year % 4 == 0;
        let length = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        day += 1;
        if day > length {
            (day, month) = (1, month + 1);
        }
        if month > 12 {
            (month, year) = (1, year + 1);
        }
        weekday = (weekday + 1) % 7;
        midnight = midnight.plus(DAY);
    }
    None
}

proptest! {
    #[test]
    fn no_text_panics(text in r"\PC*|@?[-0-9*?,/ adefilmnorstuyTZ=\u{2013}]{0,40}") {
        if let Err(error) = Schedule::parse(&text) {
            prop_assert!(text.get(error.range()).is_some() && !error.to_string().is_empty());
            prop_assert!(error.repair(&text).is_none_or(|repair| text.get(repair.range).is_some()));
            if let Some(repair) = Schedule::repair(&text) {
                prop_assert!(Schedule::parse(&repair.text).is_ok());
            }
        }
    }

    #[test]
    fn five_words_never_panic(
        words in vec(r"[-0-9*?,/a-z#LW]{1,8}", 5..7), now in 0_i64..50_000_000,
    ) {
        let text = words.join(" ");
        match Schedule::parse(&text) {
            Ok(schedule) => {
                let _ = schedule.next_after(Minute::since_epoch(now));
                let _ = BudgetWindows::of(&[(schedule, duration("1h"))]);
            }
            Err(error) => prop_assert!(text.get(error.range()).is_some()),
        }
    }

    #[test]
    fn next_run_equals_a_scan_of_every_minute(samples in samples(), start in 0_i64..40 * 525_960) {
        let start = minute("2000-01-01 00:00").plus(start);
        prop_assert_eq!(schedule(&text_of(&samples)).next_after(start), scanned(&samples, start));
    }

    #[test]
    fn only_runs_match(samples in samples(), start in 0_i64..40 * 525_960) {
        let schedule = schedule(&text_of(&samples));
        let start = minute("2000-01-01 00:00").plus(start);
        if let Some(run) = schedule.next_after(start) {
            prop_assert!(schedule.matches(run));
            for minutes in 1..(run.minutes() - start.minutes()).min(2_000) {
                prop_assert!(!schedule.matches(start.plus(minutes)));
            }
        }
    }

    #[test]
    fn windows_equal_a_query_for_every_minute(
        minutes in sample(0, 59), hours in sample(0, 23), weekdays in sample(0, 6), window in 0_i64..12_000,
    ) {
        let schedule = schedule(&format!("{} {} * * {}", minutes.0, hours.0, weekdays.0));
        let window = Duration::from_minutes(window);
        let BudgetWindows { always, sometimes } = BudgetWindows::of(&[(schedule, window)]);
        prop_assert_eq!(always, sometimes);
        let sunday = minute("2027-03-14 00:00");
        for of_week in (0..7 * DAY).step_by(7) {
            prop_assert_eq!(always.contains(of_week), schedule.is_active(sunday.plus(of_week), window));
        }
        let again = always.as_schedules();
        let again: Vec<_> = again
            .iter()
            .map(|(text, window)| (Schedule::parse(text).unwrap(), *window))
            .collect();
        prop_assert_eq!(BudgetWindows::of(&again).always, always);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn windows_bound_schedules_that_depend_on_the_date(
        first in samples(), second in samples(), window in 0_i64..60_000,
        now in vec(0_i64..20 * 525_960, 200),
    ) {
        let window = Duration::from_minutes(window);
        let budgets = [first, second].map(|samples| (schedule(&text_of(&samples)), window));
        let BudgetWindows { always, sometimes } = BudgetWindows::of(&budgets);
        prop_assert_eq!(always.and(&sometimes), always);
        for now in now {
            let now = minute("2024-02-01 00:00").plus(now);
            let active = budgets.iter().any(|(schedule, window)| schedule.is_active(now, *window));
            prop_assert!(!always.contains(now.of_week()) || active);
            prop_assert!(sometimes.contains(now.of_week()) || !active);
        }
    }
}
