//! Realistic inputs of several documents, with the findings that they must and must not have.
//!
//! The comment at the top of a file specifies them: `karpenter` and `kubernetes` are the versions to check against, `context:
//! complete` means that the file contains every NodePool and EC2NodeClass of its cluster. `expect` lists required findings as
//! `rule: Kind/name` or `rule: Kind/namespace/name`, `expect: clean` means no error and no warning, `may` lists consequences
//! of the same mistake, and `must-not` lists wrong findings. Rules that do not exist yet are ignored.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[cfg(feature = "symptoms")]
mod key_order;
#[cfg(feature = "symptoms")]
mod symptoms;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cluster::Cluster;
use karpwarden::REGISTRY;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::File;
use rule::finding::Severity;
use rule::settings::{Settings, Target, kubernetes_minor};

/// Settings and expectations at the top of a file.
#[derive(Default)]
struct Head {
    settings: Settings,
    clean: bool,
    expect: BTreeSet<String>,
    must_not: BTreeSet<String>,
}

fn head(text: &str) -> Head {
    let mut head = Head::default();
    let mut list = "";
    for line in text.lines().map_while(|line| line.strip_prefix('#')) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(item) = line.strip_prefix("  - ") {
            let item = item.split(" #").next().unwrap().trim().to_owned();
            match list {
                "expect" => drop(head.expect.insert(item)),
                "must-not" => drop(head.must_not.insert(item)),
                _ => {}
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.split(" #").next().unwrap().trim().trim_matches('"');
        list = key;
        match key {
            "karpenter" => head.settings.karpenter = Target::parse(value).unwrap(),
            "kubernetes" => head.settings.kubernetes_minor = kubernetes_minor(value),
            "context" => head.settings.complete_inventory = value == "complete",
            "expect" => head.clean = value == "clean",
            _ => {}
        }
    }
    head
}

/// `rule: Kind/namespace/name` and severity of every finding in a file.
fn findings(path: &Path, text: &str, settings: &Settings) -> Vec<(String, Severity)> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let files = vec![File { is_relevant: Some(true), ..File::read(name, text, READ_OPTIONS) }];
    let report = check(&[Cluster { name: String::new(), files }], settings);
    assert!(
        report.unreadable.is_empty()
            && report.skipped.iter().all(|skipped| skipped.reason.contains("no rule"))
    );
    let named = |finding: &answers::report::ReportedFinding| {
        let namespace =
            if finding.namespace.is_empty() { String::new() } else { format!("{}/", finding.namespace) };
        format!("{}: {}/{namespace}{}", finding.rule, finding.kind, finding.name)
    };
    report.findings.iter().map(|finding| (named(finding), finding.severity)).collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

#[test]
fn finds_every_problem_and_nothing_wrong() {
    let exists = |item: &&String| REGISTRY.find(item.split(':').next().unwrap()).is_some();
    let mut wrong = Vec::new();
    let mut expected = 0;
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let head = head(&text);
        assert!(head.clean || !head.expect.is_empty(), "{}: no expectation", path.display());
        let found = findings(&path, &text, &head.settings);
        let names: BTreeSet<&String> = found.iter().map(|(name, _)| name).collect();
        let mut add = |what: &str, name: &String| wrong.push(format!("{}: {what} {name}", path.display()));
        expected += head.expect.iter().filter(exists).count();
        head.expect
            .iter()
            .filter(exists)
            .filter(|name| !names.contains(name))
            .for_each(|name| add("missing", name));
        head.must_not.iter().filter(|name| names.contains(name)).for_each(|name| add("wrong", name));
        if head.clean {
            found
                .iter()
                .filter(|(_, severity)| *severity <= Severity::Warning)
                .for_each(|(name, _)| add("not clean", name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected >= 7, "only {expected} findings are expected");
}

/// The name of an example says whether it has findings.
#[test]
fn bad_examples_have_findings_and_good_examples_have_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The folders contain logs and their manifests.
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let found = findings(&path, &text, &Settings::default());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bad = name.ends_with("-bad");
        let grave = found.iter().filter(|(_, severity)| *severity <= Severity::Warning).count();
        assert_eq!(grave > 0, bad, "{name}: {found:?}");
        if !bad && name != "workload-bundle" && name != "cluster" {
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }
}

/// This example is often copied, so its findings must be exact.
#[test]
fn custom_ami_example_has_three_findings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/custom-ami-bad.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let found = findings(&path, &text, &Settings::default());
    let found: BTreeSet<String> = found.iter().map(|(name, severity)| format!("{severity} {name}")).collect();
    let expected = [
        "error bootstrap-argument-ignored: EC2NodeClass/hardened",
        "info userdata-mime-malformed: EC2NodeClass/hardened",
        "warning registration-taint-missing: EC2NodeClass/hardened",
    ];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
}
