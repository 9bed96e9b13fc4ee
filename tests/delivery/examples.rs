//! The files in `examples/`, which users apply: the API server takes them, and the policy does what their first lines say.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use karpwarden::manifest::FileKind;
use karpwarden::rule::finding::CaughtBy;
use karpwarden::symptoms::Reading;
use karpwarden::{Cluster, File, Limits, Object, READ_OPTIONS, REGISTRY_WITH_SYMPTOMS, Settings, Severity};
use karpwarden_generate::home;
use karpwarden_policy::admission::validate;
use karpwarden_policy::host::Host;
use serde_json::{Value, json};

/// A cluster without objects.
struct Empty;

impl Host for Empty {
    fn call(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, String> {
        Ok(br#"{"items":[]}"#.to_vec())
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Name, text and file of each manifest in a folder.
fn manifests(folder: &Path) -> Vec<(String, String, File)> {
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name.clone(), text.clone(), File::read(name, text, READ_OPTIONS))
    };
    entries(folder).into_iter().filter(is_manifest).map(read).collect()
}

/// The manifests beside the logs: what the clusters with the symptoms admitted.
fn manifests_of_symptoms() -> impl Iterator<Item = (String, String, File)> {
    entries(&home::path("examples/symptoms")).into_iter().flat_map(|folder| manifests(&folder))
}

fn objects(file: &File) -> Vec<Object<'_>> {
    let trees = file.trees();
    trees.flat_map(Object::all).collect()
}

/// The comment at the start of a file, on one line.
fn head(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Whether the API server refuses an object of a file by its definition.
fn is_refused(name: &str, text: &str) -> bool {
    let file = File { is_relevant: Some(true), ..File::read(name, text, READ_OPTIONS) };
    let report =
        karpwarden::check(&[Cluster { name: String::new(), files: vec![file] }], &Settings::default());
    assert!(report.unreadable.is_empty(), "{name}");
    let is_refusal = |one: &karpwarden::ReportedFinding| {
        one.caught_by == CaughtBy::ApiServer && one.severity == Severity::Error
    };
    report.findings.iter().any(is_refusal)
}

/// The comments of a file that start a line, on one line.
fn comments(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The answers of the policy to the objects of a file, one after the other.
fn answers(file: &File, settings: &Value) -> Vec<Value> {
    let answer = |object: Object<'_>| -> Value {
        let object = object.root().to_json();
        let payload = json!({"request": {"operation": "CREATE", "object": object}, "settings": settings});
        serde_json::from_str(&validate(payload.to_string().as_bytes(), &Empty).to_json()).unwrap()
    };
    let read = objects(file).into_iter().filter(|object| object.kind() != "Namespace");
    read.map(answer).collect()
}

#[test]
fn examples_create_the_namespaces_of_their_objects() {
    for (name, _, file) in manifests_of_symptoms().chain(manifests(&home::path("examples"))) {
        let mut namespaces = BTreeSet::from(["", "default", "kube-system"]);
        for object in objects(&file) {
            assert!(
                namespaces.contains(object.namespace()),
                "{name}: {} {}",
                object.kind(),
                object.namespace()
            );
            if object.kind() == "Namespace" {
                namespaces.insert(object.name());
            }
        }
    }
}

#[test]
fn api_server_accepts_the_manifests_of_symptoms() {
    let mut count = 0;
    for (name, text, file) in manifests_of_symptoms() {
        assert!(!is_refused(&name, &text), "{name}");
        let answers = answers(&file, &json!({"announceErrors": false}));
        let is_rejected = answers.iter().any(|answer| answer["accepted"] == false);
        assert_eq!(comments(&text).contains("The policy rejects"), is_rejected, "{name}: {answers:#?}");
        count += 1;
    }
    assert!(count >= 4, "{count}");
}

#[test]
fn examples_can_be_applied_unless_they_say_who_refuses_them() {
    let mut bad = 0;
    for (name, text, file) in manifests(&home::path("examples")) {
        let is_refused = is_refused(&name, &text);
        bad += usize::from(name.ends_with("-bad"));
        // The examples about identity are of this cluster, and say nothing about the setting.
        let named = name
            .starts_with("identity-")
            .then(|| json!({"clusterName": "meadow-staging", "announceErrors": false}));
        for settings in [Some(json!({"announceErrors": false})), named].into_iter().flatten() {
            let answers = answers(&file, &settings);
            let is_rejected = answers.iter().any(|answer| answer["accepted"] == false);
            if !name.ends_with("-bad") {
                assert!(!is_refused && !is_rejected, "{name}: {answers:#?}");
                continue;
            }
            let is_warned = answers.iter().any(|answer| answer["warnings"].is_array());
            let head = head(&text);
            for (says, is_true) in [
                ("The API server refuses", is_refused),
                ("The policy rejects", is_rejected),
                ("The policy accepts it with a warning", is_warned && !is_rejected),
            ] {
                assert_eq!(head.contains(says), is_true, "{name}: {says}? {answers:#?}");
            }
            assert!(is_refused || is_rejected || is_warned, "{name}");
        }
    }
    assert!(bad >= 6, "{bad}");
}

/// A report of the audit scanner with a rejection.
fn audit_report(object: Object<'_>, message: &str) -> Value {
    json!({"apiVersion": "openreports.io/v1alpha1", "kind": "ClusterReport", "metadata": {"name": "report"},
        "scope": {"apiVersion": object.api_version(), "kind": object.kind(), "namespace": object.namespace(), "name": object.name()},
        "results": [{"source": "kubewarden", "policy": "clusterwide-karpenter", "result": "fail", "message": message}]})
}

#[test]
fn audit_reports_of_the_rejections_name_the_rules_of_the_rejections() {
    let mut count = 0;
    for (name, _, file) in manifests(&home::path("examples")) {
        let objects: Vec<_> =
            objects(&file).into_iter().filter(|object| object.kind() != "Namespace").collect();
        let answers = answers(&file, &json!({"announceErrors": false}));
        for (object, answer) in objects.into_iter().zip(answers) {
            if answer["accepted"] == true {
                continue;
            }
            let message = answer["message"].as_str().unwrap();
            let mut reading = Reading::new(&REGISTRY_WITH_SYMPTOMS, Settings::default(), Limits::DEFAULT);
            reading.file("reports.json", FileKind::Unknown);
            reading.feed(audit_report(object, message).to_string().as_bytes());
            let findings = reading.finish().report.findings;
            let read: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
            let explained: BTreeSet<&str> = message
                .lines()
                .filter_map(|line| line.trim().strip_prefix("explain: karpwarden explain "))
                .collect();
            assert!(!explained.is_empty(), "{name}: {message}");
            assert_eq!(read, explained, "{name}: {message}");
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}
