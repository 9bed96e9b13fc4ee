//! Durations: `time.ParseDuration`, with the text of its error.

use karpwarden_values::duration::Duration;
use serde_json::Value as Json;

use crate::compare::compare;

#[test]
fn parses_durations_as_go_does() {
    compare(include_bytes!("durations.jsonl.gz"), &[], go, |text, _| {
        Duration::parse(text).map(Duration::nanoseconds).map_err(|error| error.go_text())
    });
}

fn go(results: &[Json]) -> Result<i64, String> {
    match results {
        [Json::String(error)] => Err(error.clone()),
        [nanoseconds] => Ok(nanoseconds.as_i64().unwrap()),
        _ => panic!("{results:?}"),
    }
}
