//! `diagnose` with reports of Kubewarden's audit scanner.
//!
//! Their shape: docs/explanations/audit-scanner/policy-reports.md of kubewarden/docs at 00005aeba48f623a3587ad87c64b77b00b24742c.

use serde_json::{Value, json};

use crate::folder::{BAD, Folder, GOOD, Run};

/// A rejection, as the policy words it.
const REFUSAL: &str = "1 error in EC2NodeClass/default (Karpenter 1.14)\n\
    1. instance-profile-is-arn at spec.instanceProfile\n   `spec.instanceProfile` is an ARN\n   help: write `Nodes-prod`\n   \
    explain: karpwarden explain instance-profile-is-arn";

/// A report on an EC2NodeClass.
fn report(api_version: &str, kind: &str, results: &[Value]) -> Value {
    let uid = "7d1f2a44-0000-4000-8000-000000000001";
    let scope = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "name": "default", "uid": uid, "resourceVersion": "17"});
    json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": uid, "labels": {"app.kubernetes.io/managed-by": "kubewarden"}},
        "scope": scope, "results": results, "summary": {"error": 0, "fail": 1, "pass": 1, "skip": 0, "warn": 0}})
}

fn result(policy: &str, verdict: &str, message: &str) -> Value {
    json!({"source": "kubewarden", "policy": policy, "result": verdict, "message": message, "scored": true,
        "timestamp": {"seconds": 1_772_000_000, "nanos": 0}, "properties": {"validating": "true"}})
}

fn results() -> Vec<Value> {
    vec![
        result("clusterwide-karpenter", "fail", REFUSAL),
        result("clusterwide-labels", "fail", "The following mandatory labels are missing: cost-center"),
        result("clusterwide-other", "pass", ""),
    ]
}

fn diagnose(folder: &Folder, further: &[&str]) -> Run {
    folder.run(&[&["diagnose", "--karpenter-version", "1.14", "--format", "json"], further].concat())
}

/// The findings of a rule.
fn of_rule(run: &Run) -> Vec<Value> {
    let report = run.json();
    crate::answers::assert_valid("report", &report);
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["rule"] == "instance-profile-is-arn").cloned().collect()
}

#[test]
fn reads_the_errors_of_the_policy_back_with_rule_object_and_remedy() {
    for (api_version, kind) in [
        ("openreports.io/v1alpha1", "ClusterReport"),
        ("wgpolicyk8s.io/v1alpha2", "ClusterPolicyReport"),
        ("openreports.io/v1alpha1", "Report"),
        ("wgpolicyk8s.io/v1alpha2", "PolicyReport"),
    ] {
        let folder = Folder::with(&[]);
        let list =
            json!({"apiVersion": "v1", "kind": "List", "items": [report(api_version, kind, &results())]});
        folder.write("reports.json", serde_json::to_string_pretty(&list).unwrap().as_bytes());
        let run = diagnose(&folder, &["reports.json"]);
        assert_eq!(run.status, 1, "{run:?}");
        let found = of_rule(&run);
        assert_eq!(found.len(), 1, "{kind}: {run:?}");
        let finding = &found[0];
        for (key, expected) in [
            ("severity", "error"),
            ("kind", "EC2NodeClass"),
            ("name", "default"),
            ("path", "spec.instanceProfile"),
            ("message", "`spec.instanceProfile` is an ARN"),
            ("help", "write `Nodes-prod`"),
            ("confidence", "certain"),
        ] {
            assert_eq!(finding[key], expected, "{kind} {key}");
        }
        let line = usize::try_from(finding["line"].as_u64().unwrap()).unwrap();
        assert!(
            folder.read("reports.json").lines().nth(line - 1).unwrap().contains("1 error in EC2NodeClass")
        );
        let quoted = finding["evidence"][0]["text"].as_str().unwrap();
        assert!(quoted.starts_with("clusterwide-karpenter: 1 error in EC2NodeClass/default"), "{quoted}");
        assert_eq!(run.json()["summary"]["errors"], 1, "{run:?}");
    }
}

#[test]
fn a_finding_in_a_manifest_stands_for_the_finding_of_the_report() {
    let own = report("openreports.io/v1alpha1", "ClusterReport", &results());
    let folder = Folder::with(&[("class.yaml", BAD), ("report.json", &own.to_string())]);
    let found = of_rule(&diagnose(&folder, &["."]));
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["file"], &found[0]["line"]), (&"class.yaml".into(), &6.into()));
    // The object was changed after the scan, or the policy knows more than the files.
    folder.write("class.yaml", GOOD.as_bytes());
    let found = of_rule(&diagnose(&folder, &["."]));
    assert_eq!((found.len(), &found[0]["confidence"]), (1, &"likely".into()));
}

#[test]
fn one_error_in_several_reports_is_one_finding() {
    let reports = ["openreports.io/v1alpha1", "wgpolicyk8s.io/v1alpha2"].map(|version| {
        let kind = if version.starts_with("open") { "ClusterReport" } else { "ClusterPolicyReport" };
        report(version, kind, &results()).to_string()
    });
    let folder = Folder::with(&[("reports.jsonl", &reports.join("\n"))]);
    assert_eq!(of_rule(&diagnose(&folder, &["reports.jsonl"])).len(), 1);
}

#[test]
fn settings_choose_and_accept_findings_of_reports() {
    let own = report("openreports.io/v1alpha1", "ClusterReport", &results());
    let folder = Folder::with(&[("report.json", &own.to_string())]);
    assert_eq!(of_rule(&diagnose(&folder, &["--ignore", "nodeclass", "report.json"])).len(), 0);
    folder.write("karpwarden.yaml", b"rules:\n  instance-profile-is-arn: warn\n");
    assert_eq!(of_rule(&diagnose(&folder, &["report.json"]))[0]["severity"], "warning");
    let exception = "exceptions:\n  - {rule: nodeclass, kind: EC2NodeClass, name: def*, reason: known}\n";
    folder.write("karpwarden.yaml", exception.as_bytes());
    let run = diagnose(&folder, &["report.json"]);
    assert_eq!((run.status, of_rule(&run).len()), (0, 0), "{run:?}");
    assert_eq!(run.json()["summary"]["suppressed"], 1);
    folder.write("karpwarden.yaml", exception.replace("def*", "other").as_bytes());
    assert_eq!(of_rule(&diagnose(&folder, &["report.json"])).len(), 1);
}

#[test]
fn says_how_many_reports_it_read_even_without_an_error() {
    let of = |results: &[Value]| report("openreports.io/v1alpha1", "ClusterReport", results);
    let passed = [result("clusterwide-karpenter", "pass", "")];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [of(&passed), of(&results()[1..])]});
    let folder =
        Folder::with(&[("reports.json", &list.to_string()), ("bad.json", &of(&results()).to_string())]);
    let run = folder.run(&["diagnose", "--karpenter-version", "1.14", "reports.json"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (
            0,
            "read: 1 line from 1 file: 2 reports of the audit scanner without an error of Karpwarden's policy\n\
            no findings in 1 document (2 reports of the audit scanner); checked against Karpenter 1.14\n"
        ),
        "{run:?}"
    );
    let run = folder.run(&["diagnose", "--karpenter-version", "1.14", "bad.json"]);
    let expected = ": 1 report of the audit scanner with 1 error of Karpwarden's policy\n1 error in 1 document (1 report";
    assert!(run.stdout.contains(expected), "{run:?}");
    let answer = diagnose(&folder, &["bad.json"]).json();
    assert_eq!(
        (&answer["logs"][0]["auditReports"], &answer["logs"][0]["auditErrors"]),
        (&1.into(), &1.into())
    );
    assert_eq!((&answer["summary"]["skipped"], &answer["skipped"]), (&0.into(), &json!([])));
}
