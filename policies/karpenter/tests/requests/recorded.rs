//! Objects as a real API server admits them: the policy says about them what `check` says about the manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use karpwarden::ADMISSION;
use karpwarden::cluster::Cluster as Files;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::rule::settings::Settings;
use serde_json::{Value, json};

use super::cluster::{Cluster, warnings};

/// A finding: severity, rule and path.
type Found = BTreeSet<(String, String)>;

fn recorded() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/admission/recorded.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The findings of `check` for a manifest. Without the rules that only files need, and without `status`, which is
/// written through a subresource that no policy matches.
fn checked(manifest: &Value) -> Found {
    // The cluster has Karpenter.
    let file = File::read("object.json", manifest.to_string(), &Limits::DEFAULT);
    let files = vec![File { is_relevant: Some(true), ..file }];
    let report = karpwarden::check(&[Files { name: String::new(), files }], &Settings::default());
    let findings = report.findings.iter();
    let comparable = findings
        .filter(|finding| ADMISSION.find(finding.rule).is_some() && !finding.path.starts_with("status."));
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

/// The paths that a refusal of the API server names: for a missing field, the object that lacks it. `<nil>` means that the API server
/// did not evaluate some rules.
fn refused_paths(kubectl: &str) -> Vec<&str> {
    let (_, causes) = kubectl.split_once(" is invalid: ").unwrap_or_default();
    let causes = causes.split('\n').map(|cause| cause.trim_start_matches(['*', ' ']));
    let named = causes.filter_map(|cause| cause.split_once(": ")).filter(|(path, _)| *path != "<nil>");
    named
        .map(|(path, reason)| match path.rsplit_once('.') {
            Some((parent, _)) if reason.starts_with("Required value") => parent,
            _ => path,
        })
        .collect()
}

#[test]
fn refused_objects_are_rejected_at_the_places_that_the_api_server_names() {
    let mut rejected = 0;
    for record in recorded().iter().filter(|record| record["admitted"].is_null()) {
        let kubectl = record["kubectl"].as_str().unwrap();
        let settings = json!({"karpenterVersion": "1.14", "rules": {"api-server": "deny"}});
        let answer = Cluster::default().create(&record["written"], &settings);
        if kubectl.contains("(AlreadyExists)") {
            // The API server validates an object before it looks for its name, so nothing is wrong with the object.
            assert_eq!(answer["accepted"], true, "{kubectl}: {answer}");
            continue;
        }
        assert_eq!(answer["accepted"], false, "{kubectl}: {answer}");
        let paths = refused_paths(kubectl);
        assert!(!paths.is_empty(), "{kubectl}");
        for path in paths {
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains(path), "{path}: {message}");
        }
        rejected += 1;
    }
    assert_eq!(rejected, 3);
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
    let [class, pool] = &of_file("examples/getting-started.yaml")[..] else { panic!("two objects") };
    let settings = json!({"completeInventory": true});
    let both = Cluster::holding([pool.clone(), class.clone()]);
    for answer in [
        Cluster::default().create(class, &settings),
        Cluster::holding([class.clone()]).create(pool, &settings),
        // A file with the pool first.
        Cluster::default().create(pool, &settings),
        Cluster::holding([pool.clone()]).create(class, &settings),
        // The same file again.
        both.update(class, class, &settings),
        both.update(pool, pool, &settings),
    ] {
        assert_eq!(answer["accepted"], true, "{answer}");
        assert!(warnings(&answer).is_empty(), "{answer}");
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
