//! SARIF reports match the standard: OASIS, Static Analysis Results Interchange Format Version 2.1.0 Plus Errata 01. The schema
//! below has the objects that reports use, with the bounds of the standard's schema.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::fs;

use karpwarden::cluster::Cluster;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::render::sarif::sarif;
use karpwarden::rule::settings::{Settings, Target};
use karpwarden::{REGISTRY, rules};
use karpwarden_generate::home;
use serde_json::{Value, json};

/// An object with these members and no others.
fn object(required: &[&str], members: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": members})
}

fn list(of: &str) -> Value {
    json!({"type": "array", "uniqueItems": true, "items": {"$ref": format!("#/$defs/{of}")}})
}

fn some(of: &str) -> Value {
    json!({"type": "array", "minItems": 1, "items": {"$ref": format!("#/$defs/{of}")}})
}

fn one(of: &str) -> Value {
    json!({"$ref": format!("#/$defs/{of}")})
}

fn schema() -> jsonschema::Validator {
    let text = || json!({"type": "string"});
    let number = |least: i64| json!({"type": "integer", "minimum": least});
    let bag = || json!({"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": true, "items": text()}}});
    let level = || json!({"enum": ["none", "note", "warning", "error"]});
    let uri = || json!({"type": "string", "format": "uri-reference", "minLength": 1});
    let definitions = json!({
        // 3.14
        "run": object(&["tool"], &json!({
            "tool": object(&["driver"], &json!({"driver": one("component")})), // 3.18
            "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}, // 3.14.17
            "results": {"type": "array", "items": one("result")},
            "invocations": {"type": "array", "items": one("invocation")},
        })),
        // 3.19
        "component": object(&["name"], &json!({
            "name": text(), "semanticVersion": text(), "informationUri": uri(), "rules": list("rule"),
        })),
        // 3.49
        "rule": object(&["id"], &json!({
            "id": text(), "name": text(), "shortDescription": one("described"), "help": one("described"), "helpUri": uri(),
            "defaultConfiguration": object(&[], &json!({"level": level()})), // 3.50
            "properties": bag(),
        })),
        // 3.12
        "described": object(&["text"], &json!({"text": text(), "markdown": text()})),
        // 3.11
        "message": object(&["text"], &json!({"text": text()})),
        // 3.27
        "result": object(&["message", "ruleId", "locations", "partialFingerprints"], &json!({
            "ruleId": text(), "ruleIndex": number(-1), "level": level(), "message": one("message"),
            "locations": {"type": "array", "items": one("location")}, "relatedLocations": list("location"),
            "partialFingerprints": {"type": "object", "additionalProperties": text()}, "fixes": list("fix"), "properties": bag(),
        })),
        // 3.28; code scanning of GitHub takes no result without a region
        "location": object(&["physicalLocation"], &json!({
            "id": number(-1), "message": one("message"),
            "physicalLocation": object(&["artifactLocation", "region"], &json!({ // 3.29
                "artifactLocation": one("artifact"), "region": one("region"),
            })),
            "logicalLocations": {"type": "array", "uniqueItems": true, "items": // 3.33
                object(&[], &json!({"fullyQualifiedName": text(), "kind": text()}))},
        })),
        // 3.4
        "artifact": object(&["uri"], &json!({"uri": uri()})),
        // 3.30
        "region": object(&["startLine"], &json!({
            "startLine": number(1), "startColumn": number(1), "endLine": number(1), "endColumn": number(1),
        })),
        // 3.55, 3.56, 3.57
        "fix": object(&["artifactChanges"], &json!({"description": one("message"), "artifactChanges": some("change")})),
        "change": object(&["artifactLocation", "replacements"], &json!({
            "artifactLocation": one("artifact"), "replacements": some("replacement"),
        })),
        "replacement": object(&["deletedRegion"], &json!({
            "deletedRegion": one("region"), "insertedContent": object(&[], &json!({"text": text()})),
        })),
        // 3.20, 3.58
        "invocation": object(&["executionSuccessful"], &json!({
            "executionSuccessful": {"type": "boolean"},
            "toolExecutionNotifications": {"type": "array", "items": object(&["message"], &json!({
                "level": level(), "message": one("message"), "locations": list("location"),
            }))},
        })),
    });
    // 3.13
    let mut log = object(
        &["version", "runs"],
        &json!({"$schema": uri(), "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": one("run")}}),
    );
    log["$defs"] = definitions;
    jsonschema::validator_for(&log).unwrap()
}

/// A report on the examples and on a text that cannot be parsed.
fn log(settings: &Settings) -> Value {
    let mut names: Vec<_> =
        fs::read_dir(home::path("examples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut files: Vec<File> = names
        .iter()
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            File::read(name, fs::read_to_string(path).unwrap(), READ_OPTIONS)
        })
        .collect();
    files.push(File::read("a b/é%.yaml", "a: [1\n", READ_OPTIONS));
    let clusters = [Cluster { name: String::new(), files }];
    let report = karpwarden::check(&clusters, settings);
    serde_json::to_value(sarif(&REGISTRY, &report, &clusters, rules::documentation)).unwrap()
}

#[test]
fn reports_match_the_standard() {
    let schema = schema();
    let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
    for settings in [Settings::default(), range] {
        let log = log(&settings);
        let errors: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        for member in ["fixes", "relatedLocations", "partialFingerprints"] {
            assert!(results.iter().any(|result| !result[member].is_null()), "no result has {member}");
        }
        for result in results {
            let rule = &run["tool"]["driver"]["rules"]
                [usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
        }
        let notified =
            &run["invocations"][0]["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"];
        assert_eq!(notified["artifactLocation"]["uri"], "a%20b/%C3%A9%25.yaml");
    }
    // The schema rejects invalid logs.
    for (path, value) in [
        ("/version", json!("2.0.0")),
        ("/runs/0/results/0/level", json!("fatal")),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(0)),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/columnKind", json!("bytes")),
    ] {
        let mut log = log(&Settings::default());
        *log.pointer_mut(path).unwrap() = value;
        assert!(!schema.is_valid(&log), "{path}");
    }
}
