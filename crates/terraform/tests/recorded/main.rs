//! Answers of `terraform console` (`README.md`).

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod files;
mod plan;
mod syntax;

use std::io::Read as _;

use files::Folder;
use karpwarden_terraform::{EvaluatedValue, Knowledge, evaluate_expressions, to_json};
use serde_json::Value as Json;

/// An answer of Terraform.
struct Row {
    expression: String,
    /// The value as JSON.
    json: Option<String>,
    is_sensitive: bool,
    /// The type as the console prints it.
    of: Option<String>,
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let row: Json = serde_json::from_str(line).unwrap();
        let string = |key: &str| row.get(key).and_then(Json::as_str).map(str::to_owned);
        Row {
            expression: string("expression").unwrap(),
            json: string("json"),
            is_sensitive: row.get("sensitive").is_some(),
            of: string("type"),
        }
    };
    text.lines().map(row).collect()
}

fn recorded() -> Vec<Row> {
    let mut text = String::new();
    let packed: &[u8] = include_bytes!("console.jsonl.gz");
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    rows(&text)
}

/// Expressions with a name that no file declares. Terraform refuses them before it evaluates anything; here the file may be missing, so that
/// only what needs the name is not known.
const UNDECLARED: [&str; 2] = ["false ? var.nope : 1", "[for x in [] : nope]"];

/// The difference between our answer and Terraform's; none if we agree or do not know.
fn difference(row: &Row, value: &Result<EvaluatedValue, String>) -> Option<String> {
    let Ok(value) = value else { return None };
    if value.knowledge() > Knowledge::Known {
        return None;
    }
    // The console does not print what is sensitive.
    if row.is_sensitive || UNDECLARED.contains(&row.expression.as_str()) {
        return None;
    }
    let json = to_json(value);
    let Some(expected) = &row.json else { return Some(format!("known: {json}")) };
    if json != *expected {
        return Some(format!("\n    ours      {json}\n    Terraform {expected}"));
    }
    let of = value.type_of().to_string();
    let of_terraform = row.of.as_ref()?.replace(' ', "");
    (of.replace(' ', "") != of_terraform)
        .then(|| format!("\n    ours      {of}\n    Terraform {of_terraform}"))
}

/// The number of values that we know, the number that Terraform knows, and the differences.
fn compare(rows: &[Row]) -> (usize, usize, Vec<String>) {
    let folder = Folder::read("tests/recorded/configuration");
    let (mut known, mut all) = (0, 0);
    let mut differences = Vec::new();
    let texts: Vec<&str> = rows.iter().map(|row| row.expression.as_str()).collect();
    for (row, value) in rows.iter().zip(evaluate_expressions("", &folder, &texts)) {
        if row.json.is_some() {
            all += 1;
            known += usize::from(value.as_ref().is_ok_and(|value| value.knowledge() == Knowledge::Known));
        }
        if let Some(difference) = difference(row, &value) {
            differences.push(format!("{}: {difference}", row.expression));
        }
    }
    (known, all, differences)
}

#[test]
fn says_what_terraform_says_or_nothing() {
    let rows = recorded();
    assert!(rows.len() >= 8_000);
    let (known, all, differences) = compare(&rows);
    let shown = differences.get(..differences.len().min(40)).unwrap_or_default().join("\n");
    assert!(differences.is_empty(), "{} of {} differ:\n{shown}", differences.len(), rows.len());
    // The rest is what the functions do not evaluate, such as hashes.
    assert!(known * 100 >= all * 90, "{known} of {all} known");
}

/// A string of JSON: as `serde_json` writes it, and as Go does, which escapes what HTML would read.
fn json_string(text: &str, is_of_go: bool) -> String {
    let json = serde_json::to_string(text).unwrap();
    if !is_of_go {
        return json;
    }
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[test]
fn says_the_same_in_json() {
    let folder = Folder::read("tests/recorded/configuration");
    let all = recorded();
    let texts: Vec<&str> = all.iter().map(|row| row.expression.as_str()).collect();
    // The parser ends at the first file that it refuses.
    let native = evaluate_expressions("", &folder, &texts);
    // The file itself is in the answer to one expression.
    let is_same = |row: &Row| row.expression != "fileset(\".\", \"**/*.json\")";
    let rows: Vec<(&Row, EvaluatedValue)> = all
        .iter()
        .zip(native)
        .filter_map(|(row, value)| Some((row, value.ok()?)))
        .filter(|(row, _)| is_same(row))
        .collect();
    let local = |(index, (row, _)): (usize, &(&Row, EvaluatedValue))| {
        let text = json_string(&format!("${{{}}}", row.expression), index % 2 == 0);
        format!("    \"json{index}\": {text}")
    };
    let locals: Vec<String> = rows.iter().enumerate().map(local).collect();
    let folder =
        folder.with("json.tf.json", format!("{{\n  \"locals\": {{\n{}\n  }}\n}}\n", locals.join(",\n")));
    let names: Vec<String> = (0..rows.len()).map(|index| format!("local.json{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut differences = Vec::new();
    for ((row, native), value) in rows.iter().zip(evaluate_expressions("", &folder, &names)) {
        if let Some(difference) = difference(row, &value) {
            differences.push(format!("{}: {difference}", row.expression));
        } else if native.knowledge() == Knowledge::Known
            && value.is_ok_and(|value| value.knowledge() > Knowledge::Known)
        {
            differences.push(format!("{}: not known in JSON", row.expression));
        }
    }
    let shown = differences.get(..differences.len().min(40)).unwrap_or_default().join("\n");
    assert!(differences.is_empty(), "{} of {} differ:\n{shown}", differences.len(), rows.len());
}

#[test]
fn says_what_the_given_answers_say() {
    let rows = rows(include_str!("given.jsonl"));
    assert_eq!(rows.len(), 233);
    let (_, _, differences) = compare(&rows);
    assert!(differences.is_empty(), "{differences:#?}");
}
