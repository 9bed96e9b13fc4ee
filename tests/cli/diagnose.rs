//! `karpwarden diagnose`: inputs, locations and exit statuses.

use serde_json::Value;

use crate::folder::{Folder, Run};

/// Log line of a healthy controller.
const NORMAL: &str = r#"{"level":"INFO","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"found provisionable pod(s)","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e-0000-4000-8000-000000000001","Pods":"shop/web-1","duration":"6.2ms"}"#;

/// EC2NodeClass with an ARN as instance profile, and the status that follows from it.
const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod
status:
  conditions:
  - {type: InstanceProfileReady, status: \"True\", reason: InstanceProfileReady}
  - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation, message: object is awaiting reconciliation}
  - {type: Ready, status: Unknown, reason: ReconcilingDependents, message: ValidationSucceeded=Unknown}
";

fn lines(count: usize) -> String {
    format!("{NORMAL}\n").repeat(count)
}

/// Report for standard input.
fn report(arguments: &[&str], stdin: &str) -> (Run, Value) {
    let all = [&["diagnose", "-", "--format", "json"], arguments].concat();
    let run = Folder::with(&[]).run_in("", &all, stdin);
    let report = run.json();
    (run, report)
}

#[test]
fn healthy_log_exits_with_0_and_says_what_was_read() {
    let folder = Folder::with(&[("controller.log", &lines(3))]);
    let run = folder.run(&["diagnose", "--karpenter-version", "1.14", "controller.log"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.summary(), "no findings in 3 log entries and 0 documents; checked against Karpenter 1.14");
    assert!(
        run.stdout.contains("read: 3 lines from 1 file, 2026-04-23T18:04:55Z to 2026-04-23T18:04:55Z: "),
        "{run:?}"
    );
    assert!(run.stdout.contains("no lines below INFO"), "{run:?}");
}

#[test]
fn diagnoses_a_status_between_log_lines_at_the_line_to_change() {
    let text = format!("{}{CLASS}{}", lines(2), lines(1));
    let (run, report) = report(&["--karpenter-version", "1.8"], &text);
    assert_eq!(run.status, 1);
    let first = &report["findings"][0];
    assert_eq!(first["rule"], "status-contradiction");
    assert_eq!((&first["severity"], &first["confidence"]), (&"error".into(), &"certain".into()));
    assert_eq!((&first["file"], &first["line"], &first["column"]), (&"-".into(), &11.into(), &20.into()));
    assert_eq!(first["path"], "spec.instanceProfile");
    let arn = "arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod";
    let start = text.find(arn).unwrap();
    assert_eq!((&first["offset"], &first["endOffset"]), (&start.into(), &(start + arn.len()).into()));
    assert_eq!(first["evidence"][0]["line"], 15);
    assert!(first["evidence"][0]["text"].as_str().unwrap().starts_with("- {type: ValidationSucceeded"));
    let log = &report["logs"][0];
    assert_eq!((&log["lines"], &log["level"], &log["truncated"]), (&17.into(), &"INFO".into(), &0.into()));
    // The findings of `check` follow, each certain and without evidence.
    let rest = report["findings"].as_array().unwrap().iter().skip(1);
    let mut rest = rest.map(|finding| (&finding["confidence"], &finding["evidence"], &finding["rule"]));
    assert!(rest.any(|(_, _, rule)| rule == "instance-profile-is-arn"));
    assert!(
        rest.all(|(confidence, evidence, _)| confidence == "certain" && *evidence == Value::Array(vec![]))
    );
}

#[test]
fn prints_the_diagnosis_then_the_evidence_then_the_line_to_change() {
    let folder = Folder::with(&[("all.txt", CLASS)]);
    let run = folder.run(&[
        "diagnose",
        "--quiet",
        "--select",
        "status-contradiction",
        "--karpenter-version",
        "1.8",
        "all.txt",
    ]);
    insta::assert_snapshot!(run.stdout, @r#"
    error[status-contradiction]: `ValidationSucceeded` was never decided although all other conditions are true: Karpenter waits for an instance profile that EC2 does not find, unless the EC2NodeClass is only minutes old or EC2 throttles requests
       |
       = confidence: certain
       = evidence: all.txt:13: - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation, message: object is awaiting reconciliation}
       = evidence: all.txt:12: - {type: InstanceProfileReady, status: "True", reason: InstanceProfileReady}
       = help: write `Nodes-prod`
       = applies to: Karpenter since 1.3.1
       = docs: https://karpwarden.github.io/karpwarden/rules/status-contradiction
    here: the line to change: EC2NodeClass/default, spec.instanceProfile
      --> all.txt:9:20
       |
     8 |   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
     9 |   instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod
       |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    10 | status:
    11 |   conditions:
    12 |   - {type: InstanceProfileReady, status: "True", reason: InstanceProfileReady}
       |                                          ------ Karpenter copies the profile from the spec and does not look it up
    13 |   - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation, message: object is awaiting reconciliation}
       |                                         ------- this is the consequence
    14 |   - {type: Ready, status: Unknown, reason: ReconcilingDependents, message: ValidationSucceeded=Unknown}
       |
    "#);
}

#[test]
fn tolerates_timestamps_that_run_backwards() {
    let early = NORMAL.replace("2026-04-23T18", "2026-04-22T03");
    let (run, report) = report(&[], &format!("{NORMAL}\n{early}\n{NORMAL}\n"));
    assert_eq!(run.status, 0);
    let log = &report["logs"][0];
    assert_eq!(log["entries"], 3);
    assert_eq!(
        (&log["first"], &log["last"]),
        (&"2026-04-22T03:04:55Z".into(), &"2026-04-23T18:04:55Z".into())
    );
}

#[test]
fn counts_truncated_lines_without_failing() {
    let text = format!("{}\n{}{}", NORMAL.get(100..).unwrap(), lines(2), NORMAL.get(..120).unwrap());
    let (run, report) = report(&[], &text);
    assert_eq!(run.status, 0);
    assert_eq!((&report["logs"][0]["truncated"], &report["logs"][0]["entries"]), (&2.into(), &2.into()));
}

#[test]
fn reads_every_text_file_of_a_folder_despite_ignore_files() {
    let folder = Folder::with(&[
        ("in/.gitignore", "*.log\n"),
        ("in/a.log", &lines(1)),
        ("in/b/controller", &lines(1)),
        ("in/c.yaml", CLASS),
        ("in/.hidden", &lines(5)),
    ]);
    folder.write("in/d.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x01");
    let run = folder.run(&["diagnose", "in", "--format", "json"]);
    let report = run.json();
    let log = &report["logs"][0];
    assert_eq!((&log["files"], &log["entries"]), (&4.into(), &5.into()));
    assert_eq!(report["skipped"][0]["file"], "in/d.png");
    assert_eq!(report["skipped"][0]["reason"], "a binary file, not read");
    assert_eq!(report["findings"][0]["file"], "in/c.yaml");
}

#[test]
fn keeps_clusters_separate() {
    let folder = Folder::with(&[("a/x.log", &lines(1)), ("b/x.log", &lines(2)), ("b/class.yaml", CLASS)]);
    let run = folder.run(&["diagnose", "--cluster", "a", "--cluster", "b/", "--format", "json"]);
    let report = run.json();
    let logs: Vec<_> =
        report["logs"].as_array().unwrap().iter().map(|log| (&log["cluster"], &log["files"])).collect();
    assert_eq!(logs, [(&"a".into(), &1.into()), (&"b".into(), &2.into())]);
    assert_eq!(report["findings"][0]["cluster"], "b");
}

#[test]
fn selects_symptoms_by_name_or_family() {
    let folder = Folder::with(&[("class.yaml", CLASS)]);
    let rules = |arguments: &[&str]| {
        let run = folder.run(&[&["diagnose", "class.yaml", "--format", "json"], arguments].concat());
        let report = run.json();
        let found =
            report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_owned());
        found.collect::<Vec<_>>()
    };
    let selected = rules(&["--select", "symptoms"]);
    assert!(!selected.iter().any(|rule| rule == "status-contradiction" || rule == "instance-profile-is-arn"));
    assert_eq!(rules(&["--select", "status-contradiction"]), ["status-contradiction"]);
    assert!(!rules(&["--ignore", "status-contradiction"]).contains(&"status-contradiction".to_owned()));
    let run = folder.run(&["diagnose", "class.yaml", "--select", "symptom"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("did you mean `symptoms`?"), "{run:?}");
}

#[test]
fn each_failure_has_its_exit_status() {
    let folder = Folder::with(&[("x.log", &lines(1)), ("broken.yaml", "a: [\n"), ("empty/.keep", "")]);
    for (arguments, status) in [
        (vec!["x.log"], 0),
        (vec![], 3),
        (vec!["empty"], 3),
        (vec!["nowhere.log", "x.log"], 4),
        (vec!["broken.yaml"], 4),
        (vec!["x.log", "--format", "sarif"], 2),
        (vec!["x.log", "--karpenter-version", "0.37"], 2),
    ] {
        let run = folder.run(&[&["diagnose"], arguments.as_slice()].concat());
        assert_eq!(run.status, status, "{arguments:?} {run:?}");
    }
    let class = Folder::with(&[("class.yaml", CLASS)]);
    assert_eq!(class.run(&["diagnose", "class.yaml"]).status, 1);
    assert_eq!(class.run(&["diagnose", "class.yaml", "--fail-on", "never"]).status, 0);
}

#[test]
fn escapes_control_characters_of_log_lines() {
    let text =
        CLASS.replace("object is awaiting reconciliation", "\"object \\e]0;x\\a is \u{202e} awaiting\"");
    let (_, report) = report(&[], &text);
    assert_eq!(report["findings"][0]["rule"], "status-contradiction");
    let run = Folder::with(&[]).run_in(
        "",
        &["diagnose", "-"],
        &text.replace("\\e", "\u{1b}").replace("\\a", "\u{7}"),
    );
    assert!(!run.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{run:?}");
}

#[test]
fn writes_the_report_to_the_output_file() {
    let folder = Folder::with(&[("x.log", &lines(1))]);
    let run = folder.run(&["diagnose", "x.log", "--format", "json", "--output", "report.json"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(report["logs"][0]["entries"], 1);
}

#[test]
fn empty_standard_input_is_an_error_unless_it_is_allowed() {
    let folder = Folder::with(&[("x.txt", "")]);
    let run = folder.run_in("", &["diagnose", "--format", "json", "-"], "");
    assert_eq!((run.status, &run.json()["findings"]), (3, &serde_json::json!([])), "{run:?}");
    assert!(run.stderr.contains("standard input is empty"), "{run:?}");
    assert_eq!(folder.run_in("", &["diagnose", "--allow-empty", "-"], "").status, 0);
    assert_eq!(folder.run(&["diagnose", "x.txt"]).status, 0);
    let run = folder.run(&["diagnose", "--format", "json"]);
    assert_eq!((run.status, &run.json()["summary"]["documents"]), (3, &0.into()), "{run:?}");
}
