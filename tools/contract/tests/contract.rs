//! The derived files, and the samples in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use karpwarden_contract::{files, samples, schema};

#[test]
fn files_are_up_to_date() {
    for (path, text) in files().unwrap() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&path);
        let present = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
        assert!(present == text, "{path} is out of date; run `make generate`");
    }
}

#[test]
fn samples_match_their_schemas() {
    let schemas: BTreeMap<&str, _> = schema::all().into_iter().collect();
    let mut count = 0;
    for sample in samples::all().unwrap() {
        let name = match sample.kind {
            "Report" => "report",
            "Rule[]" => "rules",
            "SimulationAnswer" => "simulation",
            "DisruptionAnswer" => "disruption",
            "PlanAnswer" => "plan",
            "HashAnswer" => "hash",
            "WhyAnswer" => "why",
            _ => continue,
        };
        let validator = jsonschema::validator_for(&schemas[name]).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&sample.value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", sample.name);
        count += 1;
    }
    assert_eq!(count, 10);
}
