//! Logs, events and status as users paste them, with the first diagnosis of each, and healthy ones without a diagnosis.
//!
//! They are based on Karpenter's source at the release in their names; none is copied from an issue.

use std::fs;
use std::path::{Path, PathBuf};

use answers::report::Confidence;
use answers::report::ReportedFinding;
use karpenter::release::Release;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::FileKind;
use manifest::limits::Limits;
use render::human;
use rule::finding::Severity;
use rule::settings::Settings;
use symptoms::{Diagnosed, Reading};

use Confidence::{Certain, Likely, Possible};

/// An input, its first diagnosis with the confidence, and the location of the cause in a manifest, as `file:line`.
type Expected = (&'static str, &'static str, Confidence, &'static str);

/// A name that ends in a slash is a folder: of one cluster, or of several clusters if it contains folders.
const PROBLEMS: &[Expected] = &[
    ("restricted-label/consolidation-1.3.log", "nodeclaim-refused-label", Certain, ""),
    ("restricted-label/preferred-1.7-debug.log", "nodeclaim-refused-label", Certain, ""),
    ("restricted-label/mixed-1.4/", "nodeclaim-refused-label", Certain, "worker.yaml:24"),
    ("restricted-label/ignored-1.2-debug.log", "pod-ignored", Certain, ""),
    ("restricted-label/ignored-1.8-events.txt", "pod-ignored", Certain, ""),
    ("unnamed-events/ignored-1.8-describe.txt", "pod-ignored", Likely, ""),
    ("unnamed-events/unschedulable-1.12-describe.txt", "node-group-label-required", Likely, ""),
    ("pod-ignored/late-volume-1.8-debug.log", "pod-ignored", Certain, ""),
    (
        "instance-profile/unlisted-1.9-status.yaml",
        "status-contradiction",
        Likely,
        "unlisted-1.9-status.yaml:16",
    ),
    ("restricted-label/refused-1.2-console.log", "nodeclaim-refused-label", Certain, ""),
    ("restricted-label/refused-1.6-cri.log", "nodeclaim-refused-label", Certain, ""),
    ("registration-taint/refused-1.0-debug.log", "registration-taint-absent", Certain, ""),
    ("registration-taint/refused-1.2-status.yaml", "registration-taint-absent", Certain, ""),
    ("registration-taint/mixed-1.1/", "registration-taint-absent", Certain, "custom.yaml:20"),
    ("registration-taint/passed-1.8.log", "registration-taint-absent", Certain, ""),
    ("registration-taint/passed-1.4-events.txt", "registration-taint-absent", Certain, ""),
    ("registration-taint/never-joined-1.5-debug.log", "node-never-joined", Certain, ""),
    ("registration-taint/never-joined-1.11.log", "node-never-joined", Likely, ""),
    ("registration-taint/never-joined-1.13-status.yaml", "node-never-joined", Likely, ""),
    ("registration-taint/never-joined-1.6-describe.txt", "node-never-joined", Possible, ""),
    ("registration-taint/never-joined-1.10-tables.txt", "node-never-joined", Possible, ""),
    ("registration-taint/refused-1.2-describe.txt", "registration-taint-absent", Certain, ""),
    ("foreign-collection/two-clusters-1.8/", "foreign-collection", Certain, ""),
    ("foreign-collection/victim-1.0-debug.log", "foreign-collection", Likely, ""),
    ("foreign-collection/victim-1.12.log", "foreign-collection", Likely, ""),
    ("foreign-collection/victim-1.3.log", "foreign-collection", Possible, ""),
    ("foreign-collection/collector-1.6-debug.log", "foreign-collection", Likely, ""),
    ("foreign-collection/collector-1.11-debug.log", "foreign-collection", Likely, ""),
    ("foreign-collection/victim-1.10-debug.log", "foreign-collection", Likely, ""),
    ("double-nodeclaim/storage-1.2.log", "double-nodeclaim", Likely, ""),
    ("double-nodeclaim/mixed-1.5/", "double-nodeclaim", Certain, "storage.yaml:9"),
    ("double-nodeclaim/two-releases-1.6.log", "double-nodeclaim", Certain, ""),
    ("double-nodeclaim/two-files-1.6/", "double-nodeclaim", Certain, ""),
    ("double-nodeclaim/describe-1.4.txt", "double-nodeclaim", Certain, ""),
    ("double-nodeclaim/waiting-1.8-debug.log", "pod-ignored", Likely, ""),
    ("double-nodeclaim/taint-1.8-debug.log", "double-nodeclaim", Likely, ""),
    ("double-nodeclaim/nominated-1.3-events.yaml", "double-nodeclaim", Likely, ""),
    ("double-nodeclaim/waiting-1.10-events.txt", "pod-ignored", Likely, ""),
    ("double-nodeclaim/nominated-1.1-events.json", "double-nodeclaim", Certain, ""),
    ("double-nodeclaim/storage-1.4.log", "double-nodeclaim", Likely, ""),
    (
        "instance-profile/undecided-1.4-status.yaml",
        "status-contradiction",
        Certain,
        "undecided-1.4-status.yaml:15",
    ),
    ("instance-profile/launch-1.1.log", "instance-profile-not-found", Certain, ""),
    ("instance-profile/mixed-1.9/", "instance-profile-blocks-nodepool", Certain, "default.yaml:8"),
    ("instance-profile/undecided-1.5-describe.txt", "instance-profile-blocks-nodepool", Likely, ""),
    ("instance-profile/undecided-1.9-describe.txt", "instance-profile-blocks-nodepool", Certain, ""),
    (
        "instance-profile/undecided-1.8-list.json",
        "status-contradiction",
        Certain,
        "undecided-1.8-list.json:75",
    ),
    ("instance-profile/unready-1.11.log", "nodepool-not-ready", Certain, ""),
    ("drift-loop/security-groups-1.8-debug.log", "drift-loop", Certain, ""),
    ("drift-loop/security-groups-1.0-debug.log", "drift-loop", Likely, ""),
    ("drift-loop/unknown-1.10.log", "drift-loop", Likely, ""),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems/symptoms")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Reads an input as the command line does.
fn diagnose(input: &str) -> Diagnosed {
    let mut reading = Reading::new(&REGISTRY, Settings::default(), Limits::DEFAULT);
    let mut read = |path: &Path| {
        reading.file(&name(path), FileKind::Unknown);
        // In pieces, like a stream.
        fs::read(path).unwrap().chunks(4096).for_each(|piece| reading.feed(piece));
    };
    let path = folder().join(input);
    if !input.ends_with('/') {
        read(&path);
        return reading.finish();
    }
    let entries = sorted(&path);
    if entries.iter().all(|entry| entry.is_dir()) {
        for cluster in &entries {
            reading.cluster(&name(cluster));
            for file in sorted(cluster) {
                reading.file(&format!("{}/{}", name(cluster), name(&file)), FileKind::Unknown);
                reading.feed(&fs::read(&file).unwrap());
            }
        }
    } else {
        for entry in &entries {
            read(entry);
        }
    }
    reading.finish()
}

fn is_diagnosis(finding: &ReportedFinding) -> bool {
    finding.evidence.as_ref().is_some_and(|evidence| !evidence.is_empty())
}

#[test]
fn each_problem_gives_its_diagnosis_first() {
    let mut wrong = Vec::new();
    for (input, rule, confidence, place) in PROBLEMS {
        let report = diagnose(input).report;
        let Some(first) = report.findings.first() else {
            wrong.push(format!("{input}: nothing is found"));
            continue;
        };
        let line = first.position.line.unwrap_or_default();
        let found = format!("{} {:?}", first.rule, first.confidence.unwrap_or(Possible));
        if found != format!("{rule} {confidence:?}") || !is_diagnosis(first) {
            let all: Vec<_> = report
                .findings
                .iter()
                .map(|one| format!("{} {:?}: {}", one.rule, one.confidence, one.message))
                .collect();
            wrong.push(format!("{input}: {found} comes first\n  {}", all.join("\n  ")));
        }
        if !place.is_empty() && *place != format!("{}:{line}", first.file) {
            wrong.push(format!("{input}: points at {}:{line}, not {place}", first.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn healthy_clusters_give_no_diagnosis() {
    for path in sorted(&folder().join("healthy")) {
        let report = diagnose(&format!("healthy/{}", name(&path))).report;
        let grave: Vec<_> =
            report.findings.iter().filter(|finding| finding.severity <= Severity::Warning).collect();
        let told: Vec<_> = grave.iter().map(|one| format!("{}: {}", one.rule, one.message)).collect();
        assert!(grave.is_empty(), "{}: {}", path.display(), told.join("\n"));
    }
}

#[test]
fn every_input_has_an_expectation() {
    let mut files: Vec<_> = sorted(&folder()).iter().flat_map(|path| sorted(path)).collect();
    files.retain(|path| !path.parent().unwrap().ends_with("healthy"));
    for path in files {
        let relative = path.strip_prefix(folder()).unwrap().to_string_lossy().into_owned();
        let known = PROBLEMS.iter().any(|(input, ..)| input.trim_end_matches('/') == relative);
        assert!(known, "{relative} is not expected to give anything");
    }
}

fn is_log(input: &str) -> bool {
    Path::new(input).extension().is_some_and(|extension| extension == "log")
}

/// Cuts and the order of files do not change the diagnoses of a log.
#[test]
fn tolerates_missing_and_repeated_lines() {
    for (input, ..) in PROBLEMS.iter().filter(|(input, ..)| is_log(input)) {
        let text = fs::read_to_string(folder().join(input)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let turned: Vec<_> = lines.iter().rev().copied().collect();
        let thinned: Vec<_> = lines.iter().step_by(2).copied().collect();
        let cut = text.get(97..text.len() - 41).unwrap();
        for text in [&turned.join("\n"), &thinned.join("\n"), cut, &text.repeat(2)] {
            let mut reading = Reading::new(&REGISTRY, Settings::default(), Limits::DEFAULT);
            reading.file("karpenter.log", FileKind::Unknown);
            reading.feed(text.as_bytes());
            reading.finish();
        }
    }
}

/// The report for people.
fn human(input: &str) -> String {
    let Diagnosed { report, clusters, .. } = diagnose(input);
    let mut out = Vec::new();
    human::write(&mut out, &report, &clusters, human::Options::default()).unwrap();
    let newest = format!("checked against Karpenter {}", Release::NEWEST);
    String::from_utf8(out).unwrap().replace(&newest, "checked against Karpenter NEWEST")
}

#[test]
fn prints_the_diagnosis_first() {
    insta::assert_snapshot!(human("foreign-collection/two-clusters-1.8/"), @r#"
    error[foreign-collection]: the controller of another cluster of this input terminated 3 instances of this cluster, `aws:///eu-west-1a/i-0c1cfb2c7919d53c1`, `aws:///eu-west-1b/i-02bbb3e8018125961`, `aws:///eu-west-1a/i-019dccf162e815ae4`: both use the cluster name `eks-prod`
     |
     = confidence: certain; seen 3 times from 2026-02-03T10:01:14Z to 2026-02-03T10:07:06Z; NodeClaim/default-h4k8v, NodeClaim/default-z9c3r, NodeClaim/default-m2x7t (cluster blue)
     = evidence: blue/karpenter.log:5: {"level":"DEBUG","time":"2026-02-03T10:00:01.216Z",…"message":"hydrated launch template cache","commit":"f29079c","tag-key":"eks:eks-cluster-name","tag-value":"eks-prod","count":3}
     = evidence: blue/karpenter.log:10: {"level":"INFO","time":"2026-02-03T10:00:03.256Z",…"message":"launched nodeclaim",…"controller":"nodeclaim.lifecycle",…"NodeClaim":…","memory":"3114Mi","pods":"29","vpc.amazonaws.com/pod-eni":"9"}}
     = evidence: green/karpenter.log:5: {"level":"DEBUG","time":"2026-02-03T10:00:21.216Z",…"message":"hydrated launch template cache","commit":"f29079c","tag-key":"eks:eks-cluster-name","tag-value":"eks-prod","count":3}
     = evidence: green/karpenter.log:6: {"level":"DEBUG","time":"2026-02-03T10:01:14.260Z",…"message":"garbage collected cloudprovider instance",…"controller":"instance.ga…"name":"",…"provider-id":"aws:///eu-west-1a/i-0c1cfb2c7919d53c1"}
     = evidence: blue/karpenter.log:13: {"level":"DEBUG","time":"2026-02-03T10:02:46.260Z",…"message":"garbage collecting nodeclaim with no cloudprovider representation",…internal"},"provider-id":"aws:///eu-west-1a/i-0c1cfb2c7919d53c1"}
     = evidence: blue/karpenter.log:20: {"level":"INFO","time":"2026-02-03T10:02:59.308Z",…"message":"launched nodeclaim",…"controller":"nodeclaim.lifecycle",…"NodeClaim":…","memory":"3114Mi","pods":"29","vpc.amazonaws.com/pod-eni":"9"}}
     = evidence: green/karpenter.log:7: {"level":"DEBUG","time":"2026-02-03T10:04:10.312Z",…"message":"garbage collected cloudprovider instance",…"controller":"instance.ga…"name":"",…"provider-id":"aws:///eu-west-1b/i-02bbb3e8018125961"}
     = evidence: blue/karpenter.log:23: {"level":"DEBUG","time":"2026-02-03T10:05:42.312Z",…"message":"garbage collecting nodeclaim with no cloudprovider representation",…internal"},"provider-id":"aws:///eu-west-1b/i-02bbb3e8018125961"}
     = help: give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`
     = explain: karpwarden explain foreign-collection

    read: cluster blue, 35 lines from 1 file, 2026-02-03T10:00:00Z to 2026-02-03T10:08:41Z: 35 understood
    read: the log was written by Karpenter 1.8.6
    read: cluster green, 15 lines from 1 file, 2026-02-03T10:00:20Z to 2026-02-03T10:07:53Z: 15 understood
    read: the log was written by Karpenter 1.8.6
    1 error in 50 log entries and 0 documents; checked against Karpenter NEWEST
    "#);
    insta::assert_snapshot!(human("double-nodeclaim/mixed-1.5/"), @r#"
    error[double-nodeclaim]: two NodeClaims were created for the same pods within 9 seconds: `search-2kd8v` in eu-west-1a, then `search-w5n7t` in eu-west-1b
      |
      = confidence: certain; seen once at 2025-08-25T14:00:10Z; NodeClaim/search-2kd8v, NodeClaim/search-w5n7t, Pod/search/opensearch-0
      = evidence: karpenter.log:7: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:01.224Z",…"message":"found provisionable pod(s)",…h-0, search/opensearch-1, search/opensearch-2","duration":"62.3ms"}
      = evidence: karpenter.log:9: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:01.252Z",…"message":"created nodeclaim",…"controll…arge, c5.xlarge, c5a.large, c5a.xlarge, c6a.large and 55 other(s)"}
      = evidence: karpenter.log:12: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:03.264Z",…"message":"launched nodeclaim",…"contro…Gi","memory":"3114Mi","pods":"29","vpc.amazonaws.com/pod-eni":"9"}}
      = evidence: karpenter.log:16: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:10.280Z",…"message":"found provisionable pod(s)",…h-0, search/opensearch-1, search/opensearch-2","duration":"62.3ms"}
      = evidence: karpenter.log:19: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:10.312Z",…"message":"created nodeclaim",…"control…arge, c5.xlarge, c5a.large, c5a.xlarge, c6a.large and 55 other(s)"}
      = evidence: karpenter.log:21: [pod/karpenter-7d9c6b8f5d-x2k4q/controller] {"level":"INFO","time":"2025-08-25T14:00:12.320Z",…"message":"launched nodeclaim",…"contro…Gi","memory":"3114Mi","pods":"29","vpc.amazonaws.com/pod-eni":"9"}}
      = help: the volume of `search/opensearch-0` is in another zone than the first node: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`; from 1.7 on Karpenter waits until such a volume is bound
      = explain: karpwarden explain double-nodeclaim
    here: the line to change: StorageClass/fast, volumeBindingMode
     --> storage.yaml:9:20
      |
    8 | reclaimPolicy: Delete
    9 | volumeBindingMode: Immediate
      |                    ^^^^^^^^^

    warning[storageclass-immediate]: `volumeBindingMode` is `Immediate`: the EBS volume can be created in a different zone than the node that Karpenter launches, and Karpenter then launches a second node in the volume's zone
      --> storage.yaml:9:20
       |
     8 | reclaimPolicy: Delete
     9 | volumeBindingMode: Immediate
       |                    ^^^^^^^^^
       |
      ::: storage.yaml:34:25
       |
    33 |       accessModes: [ReadWriteOnce]
    34 |       storageClassName: fast
       |                         ---- the claim template of StatefulSet `opensearch` claims its volume from this class
    35 |       resources:
       |
       = object: StorageClass/fast, volumeBindingMode
       = help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
       = otherwise caught by: nothing; accepted silently
       = applies to: Karpenter until 1.6
       = explain: karpwarden explain storageclass-immediate
    fix: write `WaitForFirstConsumer` (applied by `karpwarden check --fix`)
       |
     9 - volumeBindingMode: Immediate
     9 + volumeBindingMode: WaitForFirstConsumer
       |

    read: 68 lines from 2 files, 2025-08-25T14:00:00Z to 2025-08-25T14:01:07Z: 32 understood
    read: the log was written by Karpenter 1.5.5
    1 error, 1 warning in 32 log entries and 2 documents; checked against Karpenter 1.5.5
    "#);
}

#[test]
fn json_has_the_evidence() {
    let report = diagnose("registration-taint/passed-1.4-events.txt").report;
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let first = serde_json::to_string_pretty(&json["findings"][0]).unwrap();
    insta::assert_snapshot!(first, @r#"
    {
      "apiVersion": "karpenter.sh/v1",
      "caughtBy": "nobody",
      "cluster": "",
      "column": 1,
      "confidence": "certain",
      "document": 0,
      "endColumn": 169,
      "endLine": 3,
      "endOffset": null,
      "evidence": [
        {
          "file": "passed-1.4-events.txt",
          "line": 3,
          "text": "6m38s       Normal    Launched                   nodeclaim/custom-d9x4r         Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched"
        },
        {
          "file": "passed-1.4-events.txt",
          "line": 4,
          "text": "5m31s       Warning   UnregisteredTaintMissing   nodeclaim/custom-d9x4r         Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes"
        },
        {
          "file": "passed-1.4-events.txt",
          "line": 5,
          "text": "5m29s       Normal    Registered                 nodeclaim/custom-d9x4r         Status condition transitioned, Type: Registered, Status: Unknown -> True, Reason: Registered"
        }
      ],
      "family": "symptoms",
      "file": "passed-1.4-events.txt",
      "fix": null,
      "help": "let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` except `Custom` Karpenter adds it",
      "kind": "NodeClaim",
      "line": 3,
      "message": "the node of `custom-d9x4r` started without the taint `karpenter.sh/unregistered:NoExecute` and is registered nevertheless: pods may have been bound before taints and labels were in place",
      "name": "custom-d9x4r",
      "namespace": "",
      "offset": null,
      "path": "",
      "related": [],
      "releases": "all",
      "rule": "registration-taint-absent",
      "seen": {
        "atLeast": false,
        "count": 1,
        "first": null,
        "last": null,
        "objects": [
          "NodeClaim/custom-d9x4r"
        ],
        "objectsInAll": 1
      },
      "severity": "warning",
      "url": "https://karpwarden.github.io/karpwarden/rules/registration-taint-absent"
    }
    "#);
}
