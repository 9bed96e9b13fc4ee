//! Formats for programs: SARIF, GitHub annotations, GitLab Code Quality, JUnit.

use insta::assert_snapshot;
use serde_json::Value;

use crate::folder::{BAD, Folder, GOOD, Run};

fn sarif(folder: &Folder, arguments: &[&str]) -> Value {
    let run = folder.check(&[&["--format", "sarif"], arguments].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn sarif_has_the_fields_that_code_scanning_needs() {
    let folder = Folder::with(&[("a b/class.yaml", BAD), ("broken.yaml", "# karpenter\na: [1\n")]);
    let log = sarif(&folder, &["."]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "karpwarden");
    let result = run["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["ruleId"] == "instance-profile-is-arn")
        .unwrap();
    let rule = &driver["rules"][usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
    assert_eq!(rule["id"], "instance-profile-is-arn");
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Why it is bad"));
    assert_eq!(result["level"], "error");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b/class.yaml");
    let region = serde_json::json!({"startLine": 6, "startColumn": 20, "endLine": 6, "endColumn": 79});
    assert_eq!(location["region"], region);
    let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "Nodes-prod");
    assert_eq!(replacement["deletedRegion"], region);
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

#[test]
fn every_sarif_result_has_a_rule_and_a_region() {
    let folder = Folder::with(&[]);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let run = folder.run(&["check", "--format", "sarif", examples]);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 5);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let locations = [&result["locations"], &result["relatedLocations"]];
        for location in locations.into_iter().filter_map(Value::as_array).flatten() {
            let region = &location["physicalLocation"]["region"];
            assert!(
                region["startLine"].as_u64().unwrap() >= 1 && region["startColumn"].as_u64().unwrap() >= 1
            );
        }
    }
}

#[test]
fn fingerprint_does_not_depend_on_lines() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let print =
        |log: &Value| log["runs"][0]["results"][0]["partialFingerprints"]["karpwardenFinding/v1"].clone();
    let before = print(&sarif(&folder, &["class.yaml"]));
    assert!(before.is_string());
    folder.write("class.yaml", format!("# one\n# two\n{BAD}").as_bytes());
    assert_eq!(before, print(&sarif(&folder, &["class.yaml"])));
    folder.write("class.yaml", BAD.replace("name: default", "name: other").as_bytes());
    assert_ne!(before, print(&sarif(&folder, &["class.yaml"])));
}

#[test]
fn github_format_has_a_line_for_each_finding() {
    let folder = Folder::with(&[("a,b.yaml", BAD), ("broken.yaml", "a: [1 # karpenter\n")]);
    let run = folder.check(&["--format", "github", "."]);
    assert_eq!(run.status, 4);
    assert_snapshot!(run.stdout, @"
    ::error file=a%2Cb.yaml,line=6,endLine=6,col=20,endColumn=79,title=instance-profile-is-arn::`spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready (EC2NodeClass/default)%0Awrite `Nodes-prod`%0Ahttps://karpwarden.github.io/karpwarden/rules/instance-profile-is-arn
    ::error file=broken.yaml,line=1,col=4::not valid YAML: this `[` is never closed; add `]`
    ");
}

#[test]
fn junit_format_has_a_suite_for_each_file() {
    let folder =
        Folder::with(&[("bad.yaml", BAD), ("good.yaml", GOOD), ("broken.yaml", "a: [1 # karpenter\n")]);
    let run = folder.check(&["--format", "junit", "."]);
    assert_snapshot!(run.stdout, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="karpwarden" tests="3" skipped="0" failures="1" errors="1">
        <testsuite name="bad.yaml" tests="1" skipped="0" errors="0" failures="1">
            <testcase name="instance-profile-is-arn on EC2NodeClass/default at spec.instanceProfile" classname="bad.yaml" file="bad.yaml" line="6">
                <failure message="`spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready" type="instance-profile-is-arn">bad.yaml:6: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
    write `Nodes-prod`
    https://karpwarden.github.io/karpwarden/rules/instance-profile-is-arn</failure>
            </testcase>
        </testsuite>
        <testsuite name="broken.yaml" tests="1" skipped="0" errors="1" failures="0">
            <testcase name="document 0 can be read" classname="broken.yaml">
                <error message="1:4: not valid YAML: this `[` is never closed; add `]`"/>
            </testcase>
        </testsuite>
        <testsuite name="good.yaml" tests="1" skipped="0" errors="0" failures="0">
            <testcase name="no findings" classname="good.yaml"/>
        </testsuite>
    </testsuites>
    "#);
}

#[test]
fn gitlab_is_a_code_quality_report() {
    let folder =
        Folder::with(&[("apps/class.yaml", BAD), ("broken.yaml", "karpenter: [1\n"), ("good.yaml", GOOD)]);
    let run = folder.check(&["--format", "gitlab", "."]);
    assert_eq!(run.status, 4);
    assert_snapshot!(serde_json::to_string_pretty(&run.json()).unwrap(), @r#"
    [
      {
        "check_name": "instance-profile-is-arn",
        "description": "`spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready; write `Nodes-prod`",
        "fingerprint": "d3cb8ac5278fb3f9:1",
        "location": {
          "lines": {
            "begin": 6
          },
          "path": "apps/class.yaml"
        },
        "severity": "major"
      },
      {
        "check_name": "unreadable",
        "description": "not valid YAML: this `[` is never closed; add `]`",
        "fingerprint": "unreadable:broken.yaml:0",
        "location": {
          "lines": {
            "begin": 1
          },
          "path": "broken.yaml"
        },
        "severity": "major"
      }
    ]
    "#);
    // The fingerprint compares the branches of a merge request, so it does not depend on the line.
    let fingerprint = |run: &Run| run.json()[0]["fingerprint"].clone();
    folder.write("apps/class.yaml", format!("# moved\n{BAD}").as_bytes());
    assert_eq!(fingerprint(&folder.check(&["--format", "gitlab", "."])), fingerprint(&run));
    assert_eq!(folder.check(&["--format", "gitlab", "good.yaml"]).stdout, "[]\n");
}

#[test]
fn writes_the_report_to_the_output_file() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let run = folder.check(&["--format", "sarif", "--output", "report.sarif", "class.yaml"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    let log: Value = serde_json::from_str(&folder.read("report.sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = folder.check(&["--output", "no/such/folder", "class.yaml"]);
    assert_eq!(run.status, 5);
    assert!(run.stderr.contains("cannot write `no/such/folder`"), "{}", run.stderr);
}

#[test]
fn prints_a_summary_beside_reports_that_go_elsewhere() {
    let folder =
        Folder::with(&[("class.yaml", BAD), ("chart/a.yaml", "a: {{ .Values.b }}\n"), ("good.yaml", GOOD)]);
    let notes = |arguments: &[&str]| folder.check(arguments).stderr;
    assert_eq!(
        notes(&["--format", "github", "class.yaml"]),
        "note: 1 error in 1 document; checked against Karpenter 1.14\n"
    );
    assert_eq!(
        notes(&["--format", "junit", "--output", "a.xml", "good.yaml"]),
        "note: no findings in 1 document; checked against Karpenter 1.14\n"
    );
    let nothing = notes(&["--format", "github", "chart"]);
    assert!(nothing.starts_with("note: nothing to check: no Karpenter document"), "{nothing}");
    for silent in [&["--format", "github", "--quiet", "class.yaml"][..], &["--format", "sarif", "class.yaml"]]
    {
        assert_eq!(notes(silent), "");
    }
}

#[test]
fn stdin_filename_names_standard_input() {
    let folder = Folder::with(&[]);
    let run = folder.check_text(&["--stdin-filename", "apps/class.yaml", "--format", "json", "-"], BAD);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["findings"][0]["file"], "apps/class.yaml");
    let run = folder.check_text(&["--stdin-filename", "apps/class.yaml", "--fix", "-"], BAD);
    assert!(run.stdout.contains("instanceProfile: Nodes-prod"), "{}", run.stdout);
}

#[test]
fn broken_file_without_karpenter_fails_in_no_format() {
    let folder = Folder::with(&[("class.yaml", GOOD), ("other/broken.yaml", "a: [1\n")]);
    let log = sarif(&folder, &["."]);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "note");
    let github = folder.check(&["--format", "github", "."]);
    assert!(github.stdout.starts_with("::notice file=other/broken.yaml,line=1,col=4::"), "{github:?}");
    let junit = folder.check(&["--format", "junit", "."]);
    assert!(junit.stdout.contains("errors=\"0\" failures=\"0\""), "{junit:?}");
    assert!(junit.stdout.contains("<system-out>unreadable: 1:4: not valid YAML"), "{junit:?}");
}

#[test]
fn markdown_is_a_checklist_of_the_findings() {
    let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {instanceProfile: 'arn:aws:iam::1:instance-profile/<a>'}
";
    let folder = Folder::with(&[("class.yaml", class)]);
    let run = folder.run(&[
        "check",
        "--karpenter-version",
        "1.8",
        "--select",
        "instance-profile-is-arn",
        "--format",
        "markdown",
        "class.yaml",
    ]);
    assert_snapshot!(run.stdout, @"
    ## Karpenter manifests

    - [ ] **error**: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready ([instance-profile-is-arn](https://karpwarden.github.io/karpwarden/rules/instance-profile-is-arn); `class.yaml:4`)

    1 error in 1 document; checked against Karpenter 1.8.
    ");
}
