//! Configurations in JSON and override files, and what Terraform makes of them.

use karpwarden_terraform::{EvaluatedConfiguration, Knowledge, evaluate_expressions, to_json};
use serde_json::Value as Json;

use crate::files::Folder;

/// A default that Terraform takes literally although it looks like a template: we say that it is not known.
const NOT_KNOWN: [&str; 1] = ["var.raw"];

fn rows(folder: &str) -> Vec<Json> {
    let rows = include_str!("syntax.jsonl").lines().map(|line| serde_json::from_str(line).unwrap());
    rows.filter(|row: &Json| row.get("folder").and_then(Json::as_str) == Some(folder)).collect()
}

fn string<'r>(row: &'r Json, key: &str) -> Option<&'r str> {
    row.get(key)?.as_str()
}

fn assert_values(folder: &str, count: usize) {
    let files = Folder::read(&format!("tests/recorded/syntax/{folder}"));
    let rows: Vec<Json> = rows(folder).into_iter().filter(|row| row.get("expression").is_some()).collect();
    assert_eq!(rows.len(), count);
    let expressions: Vec<&str> = rows.iter().map(|row| string(row, "expression").unwrap()).collect();
    for (row, value) in rows.iter().zip(evaluate_expressions("", &files, &expressions)) {
        let (expression, value) = (string(row, "expression").unwrap(), value.unwrap());
        if NOT_KNOWN.contains(&expression) {
            assert_eq!(value.knowledge(), Knowledge::Unknown, "{expression}");
        } else {
            assert_eq!(value.knowledge(), Knowledge::Known, "{expression}: {:?}", value.failure());
            assert_eq!(to_json(&value), string(row, "json").unwrap(), "{expression}");
        }
    }
}

fn assert_resources(folder: &str, count: usize) {
    let files = Folder::read(&format!("tests/recorded/syntax/{folder}"));
    let configuration = EvaluatedConfiguration::evaluate("", &files, &[]);
    assert_eq!(configuration.problems, []);
    let rows: Vec<Json> = rows(folder).into_iter().filter(|row| row.get("address").is_some()).collect();
    let blocks: Vec<_> = configuration.blocks.iter().filter(|block| block.kind == "resource").collect();
    assert_eq!((rows.len(), blocks.len()), (count, count));
    for row in rows {
        let address = string(&row, "address").unwrap();
        let block = blocks.iter().find(|block| block.address == address);
        let block = block.unwrap_or_else(|| panic!("no {address}"));
        for (name, expected) in row.get("values").and_then(Json::as_object).unwrap() {
            let value = block.body.get(name).map_or(Json::Null, |value| {
                assert_eq!(value.knowledge(), Knowledge::Known, "{address} {name}: {:?}", value.failure());
                serde_json::from_str(&to_json(value)).unwrap()
            });
            assert_eq!(value, *expected, "{address} {name}");
        }
    }
}

#[test]
fn says_what_terraform_says_of_json() {
    assert_values("json", 26);
    assert_resources("json", 6);
}

#[test]
fn says_what_terraform_says_of_override_files() {
    assert_values("overrides", 10);
    assert_resources("overrides", 9);
}
