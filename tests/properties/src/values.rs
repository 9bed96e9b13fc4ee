//! Small grammars: schedules, quantities, durations, timestamps, names, expressions and placeholders.

use karpwarden::values::arn::IamReference;
use karpwarden::values::cron::{BudgetWindows, Minute, Schedule};
use karpwarden::values::duration::{Duration, NillableDuration};
use karpwarden::values::placeholder::{Placeholder, has_placeholder, replaced, with_defaults};
use karpwarden::values::quantity::Quantity;
use karpwarden::values::timestamp::Timestamp;
use karpwarden::values::{calendar, kubelet_expression, naming, spelling};

/// A minute of November 2026.
const NOW: Minute = Minute::since_epoch(29_913_120);

/// Parses a text in every grammar.
pub fn assert_values(text: &str) {
    assert_schedule(text);
    assert_quantity(text);
    assert_duration(text);
    assert_timestamp(text);
    assert_placeholder(text);
    let expression = kubelet_expression::check(text);
    if let Err(error) = expression {
        assert!(!error.to_string().is_empty() && !error.help().is_empty(), "{text:?}");
    }
    let _ = kubelet_expression::is_probable(text);
    for problem in [naming::qualified_name_problem(text), naming::label_value_problem(text)] {
        assert!(problem.is_none_or(|problem| !problem.to_string().is_empty()), "{text:?}");
    }
    let problem = naming::subdomain_problem(text);
    assert!(problem.is_none_or(|problem| !problem.to_string().is_empty()), "{text:?}");
    let _ = IamReference::parse(text);
    let _ = spelling::nearest(text, ["karpenter.sh/capacity-type", "é", ""]);
}

/// A repair of a schedule can be parsed, and the runs of a schedule are in order.
fn assert_schedule(text: &str) {
    match Schedule::parse(text) {
        Err(error) => {
            assert!(text.get(error.range()).is_some(), "{error:?} in {text:?}");
            assert!(!error.to_string().is_empty() && !error.go_text(text).is_empty(), "{text:?}");
            assert!(error.repair(text).is_none_or(|repair| text.get(repair.range).is_some()), "{text:?}");
            if let Some(repair) = Schedule::repair(text) {
                assert!(Schedule::parse(&repair.text).is_ok(), "{text:?} becomes {:?}", repair.text);
            }
        }
        Ok(schedule) => {
            let mut last = NOW;
            for run in schedule.runs_after(NOW).take(3) {
                assert!(run > last, "{text:?}");
                last = run;
            }
            assert!(Schedule::repair(text).is_none(), "{text:?}");
            let _ = (schedule.never_runs(), schedule.matches(NOW));
            // A schedule that is not weekly costs a pass over 28 years.
            if schedule.is_weekly() {
                assert_windows(schedule);
            }
        }
    }
}

/// Windows as schedules are the same windows.
fn assert_windows(schedule: Schedule) {
    let windows = BudgetWindows::of(&[(schedule, Duration::from_minutes(90))]);
    let again = windows.always.as_schedules();
    let parsed: Result<Vec<_>, _> = again
        .iter()
        .map(|(text, window)| Schedule::parse(text).map(|schedule| (schedule, *window)))
        .collect();
    assert!(parsed.is_ok_and(|again| BudgetWindows::of(&again).always == windows.always), "{again:?}");
}

/// The canonical form of a quantity is the same quantity, and a suggestion is a quantity.
fn assert_quantity(text: &str) {
    match Quantity::parse(text) {
        Ok(quantity) => {
            let canonical = quantity.to_string();
            assert_eq!(Quantity::parse(&canonical), Ok(quantity), "{text:?} is {canonical:?}");
            let _ = (quantity.units(), quantity.milli());
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{text:?}");
            for suggestion in error.suggestions() {
                assert!(Quantity::parse(&suggestion).is_ok(), "{text:?}: {suggestion:?}");
            }
        }
    }
}

/// Both spellings of a duration are the same duration, and a suggestion is a duration.
fn assert_duration(text: &str) {
    match NillableDuration::parse(text) {
        Ok(NillableDuration::Never) => {}
        Ok(NillableDuration::After(duration)) => {
            for spelling in [duration.to_string(), duration.concise()] {
                assert_eq!(Duration::parse(&spelling), Ok(duration), "{text:?} is {spelling:?}");
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.go_text().is_empty(), "{text:?}");
            let suggestion = error.suggestion();
            let is_valid = |text: &String| NillableDuration::parse(text).is_ok();
            assert!(suggestion.as_ref().is_none_or(is_valid), "{text:?}: {suggestion:?}");
        }
    }
}

/// A timestamp without a fraction of a second prints as itself.
fn assert_timestamp(text: &str) {
    if let Some(time) = Timestamp::parse(text) {
        let seconds = Timestamp::from_seconds(time.seconds());
        assert_eq!(Timestamp::parse(&seconds.to_string()), Some(seconds), "{text:?}");
    }
    if let Some(date) = calendar::Date::parse(text) {
        assert_eq!(date.day().date(), date, "{text:?}");
    }
}

/// A placeholder is a part of the text, and a text without its placeholders is another text.
fn assert_placeholder(text: &str) {
    let placeholder = Placeholder::find(text);
    assert_eq!(placeholder.is_some(), has_placeholder(text));
    if let Some(placeholder) = placeholder {
        let range = placeholder.range;
        assert!(text.get(range.clone()).is_some_and(|part| !part.is_empty()), "{range:?} in {text:?}");
    } else {
        assert_eq!(replaced(text, "x"), text);
        assert_eq!(with_defaults(text), None);
    }
}
