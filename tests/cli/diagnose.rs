//! `karpwarden diagnose`: inputs, locations and exit statuses.

use serde_json::Value;

use crate::folder::{Folder, Run};

/// Log line of a healthy controller.
const NORMAL: &str = r#"{"level":"INFO","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"found provisionable pod(s)","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e-0000-4000-8000-000000000001","Pods":"shop/web-1","duration":"6.2ms"}"#;

/// EC2NodeClass with an ARN as instance profile, and the status that follows from it.
pub(crate) const CLASS: &str = "\
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

pub(crate) fn lines(count: usize) -> String {
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
       = explain: karpwarden explain status-contradiction
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
    for name in ["image.png", "in/image.png"] {
        folder.write(name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x01");
    }
    for (arguments, status) in [
        (vec!["x.log"], 0),
        (vec![], 3),
        (vec!["empty"], 3),
        (vec!["nowhere.log", "x.log"], 4),
        (vec!["broken.yaml"], 4),
        (vec!["image.png"], 4),
        (vec!["x.log", "image.png"], 4),
        (vec!["--cluster", "in"], 0),
        (vec!["x.log", "--format", "yaml"], 2),
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

/// Pod of the controller whose container was killed.
const KILLED: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: karpenter-5d8f7c9b6-x2x4z
  namespace: kube-system
  labels: {app.kubernetes.io/name: karpenter}
status:
  containerStatuses:
  - name: controller
    restartCount: 3
    lastState:
      terminated: {exitCode: 137, reason: OOMKilled, finishedAt: \"2026-04-23T18:04:55Z\"}
";

#[test]
fn diagnoses_a_killed_controller() {
    let rules = |text: &str| {
        let (_, report) = report(&["--select", "symptoms"], text);
        let all = report["findings"].as_array().unwrap().clone();
        all.iter()
            .map(|one| format!("{} {}", one["rule"].as_str().unwrap(), one["confidence"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(KILLED), ["controller-out-of-memory certain"]);
    assert!(rules(&KILLED.replace("name: karpenter}", "name: web}")).is_empty());
    assert!(rules(&KILLED.replace("OOMKilled", "Completed")).is_empty());
    assert!(rules(&KILLED.replace("- name: controller", "- name: istio-proxy")).is_empty());
    let image = "- name: manager\n    image: public.ecr.aws/karpenter/controller:1.4.2";
    assert_eq!(
        rules(&KILLED.replace("- name: controller", image).replace("name: karpenter}", "name: web}")),
        ["controller-out-of-memory certain"]
    );
    let described = "\
Name:             karpenter-5d8f7c9b6-x2x4z
Namespace:        kube-system
Node:             ip-10-0-37-12/10.0.37.12
Containers:
  controller:
    State:          Running
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
";
    assert_eq!(rules(described), ["controller-out-of-memory certain"]);
    assert!(rules(&described.replace("karpenter-5", "web-5")).is_empty());
    assert!(rules(&described.replace("karpenter-5", "karpenter-dashboard-5")).is_empty());
    assert!(rules(&described.replace("  controller:", "  istio-proxy:")).is_empty());
    let sidecar = "  controller:\n    Image:  public.ecr.aws/karpenter/controller:1.4.2\n  istio-proxy:";
    assert!(rules(&described.replace("  controller:", sidecar)).is_empty());
    let image = "  manager:\n    Image:          public.ecr.aws/karpenter/controller:1.4.2";
    assert_eq!(
        rules(&described.replace("  controller:", image).replace("karpenter-5", "scaler-5")),
        ["controller-out-of-memory certain"]
    );
    let table = "NAME   READY   STATUS   RESTARTS   AGE\nkarpenter-5d8f7c9b6-x2x4z   0/1   OOMKilled   4 (31s ago)   12m\n";
    assert_eq!(rules(table), ["controller-out-of-memory certain"]);
    for row in [
        "karpenter-5d8f7c9b6-x2x4z   0/1   OOMKilled",
        "kube-system   karpenter-5d8f7c9b6-x2x4z   0/1   OOMKilled   4   12m",
        "pod/karpenter-5d8f7c9b6-x2x4z   0/1   OOMKilled   4   12m",
    ] {
        assert_eq!(rules(&format!("{row}\n")), ["controller-out-of-memory certain"], "{row}");
    }
    for row in [
        "karpenter-system   web-1   0/1   OOMKilled   4   12m",
        "karpenter-system   web-5d8f7c9b6-x2x4z   0/1   OOMKilled   4   12m",
        "my-karpenter-demo-5d8f7c9b6-x2x4z   0/1   OOMKilled   4   12m",
        "karpenter-dashboard-5d8f7c9b6-x2x4z   0/1   OOMKilled   4   12m",
        // Either container may be the one that was killed.
        "karpenter-5d8f7c9b6-x2x4z   1/2   OOMKilled   4   12m",
        "karpenter-5d8f7c9b6-x2x4z   1/1   Running   4   12m",
    ] {
        assert!(rules(&format!("{row}\n")).is_empty(), "{row}");
    }
}

#[test]
fn lists_unknown_errors() {
    let unknown =
        NORMAL.replace("INFO", "ERROR").replace("found provisionable pod(s)", "the frobnicator 7 broke");
    let folder = Folder::with(&[(
        "x.log",
        &format!(
            "{NORMAL}\n{unknown}\n{}\n",
            unknown.replace("frobnicator 7", "frobnicator 8").replace("18:04:55", "18:06:00")
        ),
    )]);
    let run = folder.run(&["diagnose", "x.log"]);
    assert_eq!(run.status, 0);
    let line = run.stdout.lines().find(|line| line.starts_with("not recognised")).unwrap();
    assert_eq!(
        line,
        "not recognised: the frobnicator … broke (seen 2 times from 2026-04-23T18:04:55Z to 2026-04-23T18:06:00Z; x.log:2)"
    );
    assert!(!folder.run(&["diagnose", "--quiet", "x.log"]).stdout.contains("not recognised"));
    let report = folder.run(&["diagnose", "--format", "json", "x.log"]).json();
    let listed = &report["logs"][0]["notRecognised"];
    assert_eq!((&listed[0]["count"], &listed[0]["line"], &listed[1]), (&2.into(), &2.into(), &Value::Null));
    assert_eq!(report["logs"][0]["isOfKarpenter"], true);
}

#[test]
fn says_that_a_log_is_not_of_karpenter() {
    let folder = Folder::with(&[
        ("web.log", "2026-04-23T18:04:55Z GET /index.html 200\nlistening\n"),
        ("karpenter.log", &lines(1)),
    ]);
    let says = |arguments: &[&str]| {
        folder.run(arguments).stdout.contains("none of these lines is known to come from Karpenter")
    };
    assert!(says(&["diagnose", "web.log"]));
    let unknown = Folder::with(&[("notes.txt", "listening\nready\n")]);
    let run = unknown.run(&["diagnose", "notes.txt"]);
    assert_eq!(run.stdout.lines().last(), Some("nothing to diagnose: no log entry recognised"), "{run:?}");
    assert!(!says(&["diagnose", "web.log", "karpenter.log"]));
}

/// A log with a problem.
pub(crate) fn problem() -> String {
    format!(
        r"{}panic: runtime error: integer divide by zero

goroutine 1 [running]:
sigs.k8s.io/karpenter/pkg/operator.NewOperator(0x1)
",
        lines(2)
    )
}

#[test]
fn writes_the_formats_of_check() {
    let folder = Folder::with(&[("k.log", &problem()), ("x.log", &lines(1))]);
    let run = |format: &str| folder.run(&["diagnose", "k.log", "x.log", "--format", format]);
    let sarif = run("sarif").json();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["ruleIndex"], &result["level"]),
        (&"controller-panicked".into(), &0.into(), &"error".into())
    );
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "controller-panicked");
    assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# controller-panicked"));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    let evidence = &result["relatedLocations"][0];
    assert!(
        evidence["message"]["text"]
            .as_str()
            .unwrap()
            .starts_with("panic: runtime error: integer divide by zero")
    );
    let github = run("github");
    assert!(github.stdout.starts_with("::error file=k.log,line=3,"), "{github:?}");
    assert!(
        github.stdout.contains("::the controller panicked: `runtime error: integer divide by zero`%0A"),
        "{github:?}"
    );
    let junit = run("junit");
    assert!(
        junit.stdout.contains(
            "<testcase name=\"controller-panicked\" classname=\"k.log\" file=\"k.log\" line=\"3\">"
        ),
        "{junit:?}"
    );
    assert!(junit.stdout.contains("<testcase name=\"no findings\" classname=\"x.log\"/>"), "{junit:?}");
    assert_eq!([run("sarif").status, github.status, junit.status], [1, 1, 1]);
}

/// The rule, the confidence and the objects of each finding.
fn diagnoses(stdin: &str) -> Vec<String> {
    let (_, report) = report(&[], stdin);
    let one = |finding: &Value| {
        let objects: Vec<&str> =
            finding["seen"]["objects"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        format!(
            "{} {} {}",
            finding["rule"].as_str().unwrap(),
            finding["confidence"].as_str().unwrap(),
            objects.join(",")
        )
    };
    report["findings"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn reads_tables_of_nodes() {
    let nodes = "\
NAME     STATUS                        ROLES    AGE   VERSION   NODEPOOL
node-1   NotReady,SchedulingDisabled   <none>   3d    v1.33.1   web
node-2   Ready                         <none>   3d    v1.33.1   web
node-3   NotReady                      <none>   2m    v1.33.1   web
node-4   NotReady                      <none>   3d    v1.33.1
";
    assert_eq!(diagnoses(nodes), ["unready-node-not-repaired likely Node/node-1"]);
    let plain = nodes.replace("   NODEPOOL", "").replace("   web", "");
    assert_eq!(diagnoses(&plain), ["unready-node-not-repaired possible Node/node-1,Node/node-4"]);
    let claim = |ready: &str| {
        format!(
            "NAME    TYPE       CAPACITY   ZONE         NODE     READY     AGE\nweb-1   m5.large   spot       eu-west-1a   node-1   {ready:<8}  3d\n\n{plain}"
        )
    };
    assert_eq!(
        diagnoses(&claim("True"))[0],
        "unready-node-not-repaired likely Node/node-1,Node/node-4,NodeClaim/web-1"
    );
    // The node of a NodeClaim that is not ready was not in use.
    assert_eq!(diagnoses(&claim("Unknown")), ["unready-node-not-repaired possible Node/node-4"]);
}

#[test]
fn reads_tables_of_nodepools_and_node_classes() {
    let tables = "\
NAME                        NODECLASS   NODES   READY   AGE
nodepool.karpenter.sh/web   default     3       False   12d
nodepool.karpenter.sh/gpu   gpu         0       True    12d

NAME                                     READY   AGE
ec2nodeclass.karpenter.k8s.aws/default   False   12d
ec2nodeclass.karpenter.k8s.aws/gpu       True    12d
";
    assert_eq!(
        diagnoses(tables),
        ["object-not-ready certain EC2NodeClass/default", "object-not-ready certain NodePool/web"]
    );
    let wide = "NAME      READY   AGE   ROLE\ndefault   False   12d   nodes\n";
    assert_eq!(diagnoses(wide), ["object-not-ready certain EC2NodeClass/default"]);
    // An Issuer of cert-manager has the same columns.
    assert!(diagnoses("NAME      READY   AGE\ndefault   False   12d\n").is_empty());
}
