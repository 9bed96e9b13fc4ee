//! Objects as a real API server admits them: the policy says about them what `check` says about the manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use karpwarden::lint::check::Cluster as Files;
use karpwarden::lint::settings::Settings;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use serde_json::{Value, json};

use super::cluster::{Cluster, warnings};

/// A finding: severity, rule and path.
type Found = BTreeSet<(String, String)>;

fn recorded() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/admission/recorded.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The findings of `check` for a manifest. A request has no text, an unknown field never reaches it, and `status` is written
/// through a subresource that no policy matches.
fn checked(manifest: &Value) -> Found {
    let files = vec![File::read("object.json", manifest.to_string(), &Limits::DEFAULT)];
    let report = karpwarden::check(&[Files { name: String::new(), files }], &Settings::default());
    let findings = report.findings.iter();
    let comparable = findings.filter(|finding| {
        finding.family.name() != "document"
            && finding.rule != "api-unknown-field"
            && !finding.path.starts_with("status.")
    });
    comparable.map(|finding| (finding.severity.to_string(), named(finding.rule, &finding.path))).collect()
}

fn named(rule: &str, path: &str) -> String {
    if path.is_empty() { rule.to_owned() } else { format!("{rule} at {path}") }
}

/// The findings that the audit annotations of an answer name.
fn answered(answer: &Value) -> Found {
    let of = |severity: &'static str| {
        let names = answer["audit_annotations"][format!("{severity}s")].as_str().unwrap_or_default();
        names
            .split(", ")
            .filter(|name| !name.is_empty())
            .map(move |name| (severity.to_owned(), name.to_owned()))
    };
    ["error", "warning", "info"].into_iter().flat_map(of).collect()
}

#[test]
fn admitted_objects_have_the_findings_of_their_manifests() {
    let mut compared = 0;
    let mut different = Vec::new();
    for record in recorded().iter().filter(|record| !record["admitted"].is_null()) {
        let answer = Cluster::default().create(&record["admitted"], &json!({}));
        let (expected, found) = (checked(&record["written"]), answered(&answer));
        if expected != found {
            let missing: Vec<_> = expected.difference(&found).collect();
            let added: Vec<_> = found.difference(&expected).collect();
            different.push(format!(
                "{} {}: missing {missing:?}, added {added:?}",
                record["source"], record["document"]
            ));
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared} objects only");
    assert_eq!(different, [] as [String; 0], "{}", different.join("\n"));
}

#[test]
fn refused_objects_have_an_error() {
    for record in recorded().iter().filter(|record| record["admitted"].is_null()) {
        let answer = Cluster::default().create(&record["written"], &json!({"rules": {"api-server": "deny"}}));
        assert_eq!(answer["accepted"], false, "{record}");
    }
}

/// Without the permission to list a kind, the host never answers.
#[test]
fn asks_a_host_that_never_answers_for_nothing_with_context_none() {
    for record in recorded().iter().filter(|record| !record["admitted"].is_null()) {
        let admitted = &record["admitted"];
        let cluster = Cluster::default();
        cluster.create(admitted, &json!({"context": "none"}));
        cluster.update(admitted, admitted, &json!({"context": "none"}));
        assert_eq!(cluster.asked(), [] as [String; 0], "{record}");
    }
}

/// `kubectl apply` sends the node class and the pool of a file one after the other, in the order of the file.
#[test]
fn two_step_apply_reports_nothing_that_is_true_only_between_the_steps() {
    let of_file = |source: &str| -> Vec<Value> {
        recorded()
            .iter()
            .filter(|record| record["source"] == source)
            .map(|record| record["admitted"].clone())
            .collect()
    };
    let [pool, class] = &of_file("examples/getting-started.yaml")[..] else { panic!("two objects") };
    let first = Cluster::default().create(pool, &json!({"completeInventory": true}));
    let second = Cluster::holding([pool.clone()]).create(class, &json!({"completeInventory": true}));
    let again = Cluster::holding([pool.clone(), class.clone()]).update(
        pool,
        pool,
        &json!({"completeInventory": true}),
    );
    for answer in [&first, &second, &again] {
        assert_eq!(answer["accepted"], true, "{answer}");
        assert!(warnings(answer).is_empty(), "{answer}");
    }
}

/// An API server writes `managedFields`: kubectl's entry has the operation `Update`, which does not stop a fix.
#[test]
fn objects_that_kubectl_created_can_be_fixed() {
    let records = recorded();
    let managed = records
        .iter()
        .map(|record| &record["admitted"])
        .find(|object| object["kind"] == "EC2NodeClass" && !object["metadata"]["managedFields"].is_null());
    let mut class = managed.unwrap().clone();
    class["spec"].as_object_mut().unwrap().remove("role");
    class["spec"]["instanceProfile"] = super::cluster::ARN.into();
    let answer = Cluster::default().create(&class, &json!({"fix": true}));
    assert_eq!(answer["mutated_object"]["spec"]["instanceProfile"], "p", "{answer}");
}
