//! The order of keys in objects, which differs between people and kubectl, changes no diagnosis.

#![expect(clippy::indexing_slicing, reason = "a JSON value without a key is null")]

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::limits::Limits;
use manifest::{Document, File, FileKind, ReadOptions};
use rule::settings::Settings;
use serde_json::{Value, json};
use symptoms::Reading;

/// Ways in which people hand objects to `diagnose`.
#[derive(Clone, Copy, Debug)]
enum Form {
    Lines,
    /// Lines that are indented, as copied out of a list.
    Indented,
    Pretty,
    /// Pretty-printed, with the first member on the line of the bracket.
    Compact,
    Yaml,
    JsonList,
    YamlList,
}

const FORMS: [Form; 7] =
    [Form::Lines, Form::Indented, Form::Pretty, Form::Compact, Form::Yaml, Form::JsonList, Form::YamlList];

/// Order of keys that a number gives. Order 0 is the order of the alphabet, as kubectl prints objects.
fn keys(object: &serde_json::Map<String, Value>, order: u64) -> Vec<&String> {
    let rank = |key: &String| {
        key.bytes().fold(order, |rank, byte| (rank ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort();
    if order > 0 {
        keys.sort_by_key(|key| rank(key));
    }
    keys
}

/// Writes a value as JSON, on one line without an indentation.
fn json(value: &Value, order: u64, indent: Option<usize>, out: &mut String) {
    let inner = indent.map(|indent| indent + 2);
    let feed = |indent: Option<usize>, out: &mut String| {
        if let Some(indent) = indent {
            let _ = write!(out, "\n{:indent$}", "");
        }
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (at, key) in keys(members, order).into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                feed(inner, out);
                let _ = write!(out, "{}:{}", json!(key), if indent.is_some() { " " } else { "" });
                json(&members[key], order, inner, out);
            }
            feed(indent, out);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                feed(inner, out);
                json(item, order, inner, out);
            }
            feed(indent, out);
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Writes the members of an object or the items of a list as YAML, the first one without its indentation.
fn yaml(value: &Value, order: u64, indent: usize, out: &mut String) {
    let begin = |at: usize, out: &mut String| {
        if at > 0 {
            let _ = write!(out, "{:indent$}", "");
        }
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (at, key) in keys(members, order).into_iter().enumerate() {
                begin(at, out);
                let is_plain = key.bytes().all(|byte| byte.is_ascii_alphabetic());
                let _ = if is_plain { write!(out, "{key}:") } else { write!(out, "{}:", json!(key)) };
                match &members[key] {
                    inner @ (Value::Object(_) | Value::Array(_)) if !is_empty(inner) => {
                        let indent = indent + 2;
                        let _ = write!(out, "\n{:indent$}", "");
                        yaml(inner, order, indent, out);
                    }
                    scalar => {
                        let _ = writeln!(out, " {scalar}");
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                begin(at, out);
                out.push_str("- ");
                yaml(item, order, indent + 2, out);
            }
        }
        scalar => {
            let _ = writeln!(out, "{scalar}");
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn written(objects: &[Value], order: u64, form: Form) -> String {
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": objects, "metadata": {"resourceVersion": ""}});
    let mut out = String::new();
    match form {
        Form::Lines | Form::Indented | Form::Pretty | Form::Compact => {
            for object in objects {
                let mut text = String::new();
                json(object, order, (!matches!(form, Form::Lines | Form::Indented)).then_some(0), &mut text);
                if matches!(form, Form::Compact) {
                    text = text.replacen("{\n  ", "{ ", 1);
                }
                let indent = if matches!(form, Form::Indented) { "  " } else { "" };
                let _ = writeln!(out, "{indent}{text}");
            }
        }
        Form::Yaml => {
            for object in objects {
                yaml(object, order, 0, &mut out);
                out.push_str("---\n");
            }
        }
        Form::JsonList => json(&list, order, Some(0), &mut out),
        Form::YamlList => yaml(&list, order, 0, &mut out),
    }
    out
}

/// The objects of a manifest; none if the file is a log or a table.
fn objects(path: &Path) -> Vec<Value> {
    let is_manifest = path.extension().is_some_and(|end| end == "yaml" || end == "json");
    let text = fs::read_to_string(path).unwrap();
    let file = File::read("a", text, ReadOptions::default());
    let trees = file.documents.iter().filter(|_| is_manifest).filter_map(|document| match document {
        Document::Read(tree) => Some(tree.root().to_json()),
        _ => None,
    });
    let unpacked = trees.flat_map(|object| match object["items"].as_array() {
        Some(items) => items.clone(),
        None => vec![object],
    });
    unpacked.filter(|object| object["apiVersion"].is_string()).collect()
}

/// The findings for a manifest among the other files of its folder, without their places.
fn told(name: &str, text: &str, others: &[PathBuf]) -> Vec<Value> {
    let mut reading = Reading::new(&REGISTRY, Settings::default(), Limits::DEFAULT);
    for other in others {
        reading.file(&other.display().to_string(), FileKind::Unknown);
        reading.feed(&fs::read(other).unwrap());
    }
    reading.file(name, FileKind::Unknown);
    reading.feed(text.as_bytes());
    let report: Value = serde_json::from_str(&reading.finish().report.to_json()).unwrap();
    assert_eq!(report["unreadable"], json!([]), "{name}\n{text}");
    let finding = |finding: &Value| {
        let keys = ["rule", "severity", "confidence", "kind", "namespace", "name", "path", "message", "help"];
        json!({
            "finding": keys.map(|key| finding[key].clone()),
            "count": finding["seen"]["count"],
            "objects": finding["seen"]["objects"],
        })
    };
    let mut told: Vec<Value> = report["findings"].as_array().unwrap().iter().map(finding).collect();
    // The places of findings decide about their order, and the places differ.
    told.sort_by_key(Value::to_string);
    told
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open = vec![root.join("examples"), root.join("tests/problems"), root.join("tests/field-cases")];
    let mut folders = Vec::new();
    while let Some(folder) = open.pop() {
        let mut inner: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        inner.retain(|path| path.is_dir());
        inner.sort();
        open.extend(inner);
        folders.push(folder);
    }
    folders
}

/// Says where the findings for the objects depend on the order of their keys.
fn assert_same_in_any_order(place: &str, objects: &[Value], others: &[PathBuf], forms: &[Form], seed: u64) {
    let expected = told("-", &written(objects, 0, Form::Lines), others);
    for (order, form) in forms.iter().copied().enumerate() {
        for order in [0, order as u64 * 7 + seed] {
            let text = written(objects, order, form);
            let found = told("-", &text, others);
            let differs = |one: &&Value| !(found.contains(one) && expected.contains(one));
            let different: Vec<_> = found.iter().chain(&expected).filter(differs).collect();
            assert!(different.is_empty(), "{place} as {form:?}: {different:#?}\n{text}");
        }
    }
}

/// The objects of the cases of tests/conformance, many in one input. The second of two equal objects with another name conflicts
/// with the first, where a rule compares objects.
#[test]
fn keys_of_the_conformance_cases_in_any_order_give_the_same_findings() {
    let packed =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/cases.jsonl.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 3_000, "{}", cases.len());
    for (seed, cases) in cases.chunks(50).enumerate() {
        let named = |(number, case): (usize, &Value)| {
            let mut first = case["object"].clone();
            let mut second = first.clone();
            first["metadata"]["name"] = format!("a-{number}").into();
            second["metadata"]["name"] = format!("b-{number}").into();
            [first, second]
        };
        let objects: Vec<Value> = cases.iter().enumerate().flat_map(named).collect();
        let first = cases[0]["id"].as_str().unwrap();
        assert_same_in_any_order(first, &objects, &[], &[Form::Lines], seed as u64 + 1);
    }
}

/// The consequence that a condition shows is evidence beside its cause, also if one line has the whole object.
#[test]
fn object_on_one_line_gives_the_same_evidence() {
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "False", "reason": reason, "message": message,
            "lastTransitionTime": "2026-11-25T20:00:00Z"})
    };
    let reference = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"});
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"},
    "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": []}}},
    "status": {"conditions": [
        condition("ValidationSucceeded", "NodeRequirementValidationFailed", "invalid"),
        condition("Ready", "UnhealthyDependents", "ValidationSucceeded=False"),
    ]}});
    let evidence = |form: Form| -> Vec<Value> {
        let mut reading = Reading::new(&REGISTRY, Settings::default(), Limits::DEFAULT);
        reading.file("-", FileKind::Unknown);
        reading.feed(written(std::slice::from_ref(&pool), 0, form).as_bytes());
        let report: Value = serde_json::from_str(&reading.finish().report.to_json()).unwrap();
        let quotes = report["findings"][0]["evidence"].as_array().unwrap();
        quotes.iter().map(|quote| quote["text"].clone()).collect()
    };
    assert_eq!(evidence(Form::Pretty).len(), 2, "{:?}", evidence(Form::Pretty));
    assert_eq!(evidence(Form::Lines), evidence(Form::Pretty));
}

/// Rules that name the keys of an object, with several keys.
#[test]
fn several_faulty_keys_of_an_object_in_any_order_give_the_same_findings() {
    let reference = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"});
    let overlay = |name: &str| {
        json!({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": name},
            "spec": {"capacity": {"example.com/a": "1", "example.com/b": "2", "vpc.amazonaws.com/efa": "2"},
                "requirements": []}})
    };
    let tags = json!([{"tags": {"Name": "*", "Environment": "prod", "Team": "*"}}]);
    let objects = [
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {
            "replicas": 1, "limits": {"cpu": "4", "memory": "1Gi", "pods": "10"},
            "template": {"spec": {"requirements": [], "nodeClassRef": reference}}}}),
        overlay("a"),
        overlay("b"),
        json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a"}, "spec": {
            "role": "a", "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": tags, "securityGroupSelectorTerms": tags}}),
    ];
    for seed in 1..20 {
        assert_same_in_any_order("several keys", &objects, &[], &[Form::Lines], seed);
    }
}

#[test]
fn keys_in_any_order_give_the_same_findings() {
    let mut read = 0;
    for folder in folders() {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.is_file());
        files.sort();
        // The files of a folder are one input if a log is among them.
        let is_one = files.iter().any(|path| path.ends_with("karpenter.log"));
        for path in &files {
            let objects = objects(path);
            if objects.is_empty() {
                continue;
            }
            let others: Vec<PathBuf> =
                files.iter().filter(|other| is_one && *other != path).cloned().collect();
            read += FORMS.len() as u64;
            assert_same_in_any_order(&path.display().to_string(), &objects, &others, &FORMS, read);
        }
    }
    assert!(read > 300, "{read}");
}
