//! Schedules of budgets: `cron.ParseStandard` with the text of its error, and the next runs.

use karpwarden_values::cron::{Minute, Schedule};
use serde_json::Value as Json;

use crate::compare::compare;

/// The minutes of the next runs, at most three.
type Runs = Result<Vec<i64>, String>;

#[test]
fn schedules_run_when_go_says() {
    compare(include_bytes!("schedules.jsonl.gz"), &[], go, |text, results| {
        let schedule = Schedule::parse(text).map_err(|error| error.go_text(text))?;
        let start = Minute::since_epoch(results[0].as_i64().unwrap_or_default());
        Ok(schedule.runs_after(start).take(3).map(Minute::minutes).collect())
    });
}

fn go(results: &[Json]) -> Runs {
    let (start, steps) = match results {
        [Json::String(error)] => return Err(error.clone()),
        [start, steps @ ..] => (start.as_i64().unwrap(), steps),
        [] => panic!("no result"),
    };
    // Only `@every` has steps that are no whole minutes. Ours rounds each of them up.
    let mut minute = start;
    let runs = steps.iter().map(|step| {
        let seconds = step.as_i64().unwrap();
        minute += seconds / 60 + i64::from(seconds % 60 > 0);
        minute
    });
    Ok(runs.collect())
}
