//! Safe fixes, applied to texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use answers::report::{Report, ReportedFinding, ReportedFix};
use cluster::Cluster;
use engine::apply::{AppliedFixes, WantedFixes, apply_fixes};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::{REGISTRY, check};
use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use rule::finding::Severity;
use rule::settings::{RuleSelector, Settings};

const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  instanceProfile: ";

fn mended(text: &str) -> (String, AppliedFixes) {
    let limits = Limits::DEFAULT;
    let selector = RuleSelector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
    let settings = Settings { select: vec![selector], ..Settings::default() };
    let mut clusters = [Cluster { name: String::new(), files: vec![File::read("a.yaml", text, &limits)] }];
    let mended = apply_fixes(&REGISTRY, &mut clusters, &settings, &limits, WantedFixes::Safe);
    (clusters[0].files[0].source.text().to_owned(), mended)
}

#[test]
fn applies_every_safe_fix() {
    let bad = format!("{CLASS}arn:aws:iam::111122223333:instance-profile/b\n");
    let (text, result) = mended(&[bad.as_str(); 3].join("---\n"));
    let good = format!("{CLASS}b\n");
    assert_eq!(text, [good.as_str(); 3].join("---\n"));
    assert_eq!((result.applied, result.skipped.len()), (3, 0));
}

/// Two EC2NodeClasses, the second with the `spec` of the first.
const SHARED: &str = r"apiVersion: v1
kind: List
items:
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {name: a}
  spec: &spec {instanceProfile: 'arn:aws:iam::111122223333:instance-profile/b', detailedMonitoring: true}
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {name: b}
  spec: *spec
";

#[test]
fn one_fix_converts_a_pair_that_a_kustomization_builds() {
    let pool = r"apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}
      requirements: []
";
    let class = r"apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: b}
spec:
  amiFamily: AL2023
  amiSelectorTerms: [{id: ami-0123456789abcdef0}]
  role: nodes
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
";
    let files = [
        ("base/pool.yaml", pool),
        ("base/class.yaml", class),
        ("base/kustomization.yaml", "resources: [pool.yaml, class.yaml]\ncommonLabels: {team: a}\n"),
    ];
    let files = files.map(|(name, text)| File::read(name, text, READ_OPTIONS)).into();
    let selector = RuleSelector::parse("removed-api-version", &REGISTRY).unwrap();
    let settings = Settings { select: vec![selector], ..Settings::default() };
    let report = check(&[Cluster { name: String::new(), files }], &settings);
    let offered: Vec<_> = report.findings.into_iter().filter_map(|finding| finding.fix).collect();
    let files = |fix: &ReportedFix| {
        let mut files: Vec<_> = fix.edits.iter().map(|edit| format!("{} {}", edit.file, edit.text)).collect();
        files.sort();
        files
    };
    let both = ["base/class.yaml karpenter.k8s.aws/v1", "base/pool.yaml karpenter.sh/v1"];
    assert_eq!(offered.iter().map(files).collect::<Vec<_>>(), [both, both]);
}

/// The findings of one rule in a text.
fn findings(text: &str) -> Vec<ReportedFinding> {
    let selector = RuleSelector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
    let settings = Settings { select: vec![selector], ..Settings::default() };
    let files = vec![File::read("a.yaml", text, READ_OPTIONS)];
    check(&[Cluster { name: String::new(), files }], &settings).findings
}

/// The text with the fix of a finding applied.
fn with_fix(text: &str, finding: &ReportedFinding) -> String {
    let source = Source::new("-", text);
    let edits = finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| TextEdit {
        span: Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset)),
        text: edit.text.clone(),
    });
    apply(text, &edits.collect::<Vec<_>>())
}

#[test]
fn applies_no_fix_that_changes_an_alias_too() {
    let (text, result) = mended(SHARED);
    assert_eq!((text.as_str(), result.applied, result.skipped), (SHARED, 0, Vec::new()));
}

#[test]
fn lists_aliases_that_a_fix_at_their_anchor_changes() {
    let findings = findings(SHARED);
    let [at_anchor, _] = findings.as_slice() else { panic!("{findings:?}") };
    let fix = at_anchor.fix.as_ref().unwrap();
    assert_eq!((fix.safe, fix.title.as_str()), (false, "write the profile's name"));
    let related: Vec<_> = at_anchor.related.iter().map(|one| (one.line, one.path.as_str())).collect();
    assert_eq!(related, [(Some(11), "spec")]);
    let text = with_fix(SHARED, at_anchor);
    assert!(text.contains("&spec {instanceProfile: 'b', ") && text.contains("spec: *spec"), "{text}");
}

#[test]
fn replaces_alias_by_its_value_to_fix_one_place() {
    let findings = findings(SHARED);
    let [_, at_alias] = findings.as_slice() else { panic!("{findings:?}") };
    let fix = at_alias.fix.as_ref().unwrap();
    assert_eq!((fix.safe, fix.title.as_str()), (false, "write the profile's name, only here"));
    let expected = SHARED.replace("spec: *spec", "spec: {instanceProfile: b, detailedMonitoring: true}");
    assert_eq!(with_fix(SHARED, at_alias), expected);
}

#[test]
fn offers_no_fix_behind_a_merge_key() {
    let merged = SHARED.replace("spec: *spec", "spec: {<<: *spec}");
    let findings = findings(&merged);
    let fixes: Vec<_> = findings.iter().map(|finding| finding.fix.as_ref().map(|fix| fix.safe)).collect();
    assert_eq!(fixes, [Some(false), None]);
    assert_eq!(findings[0].related.len(), 1);
}

#[test]
fn fixes_scalar_alias_and_anchor_without_other_aliases() {
    let text = format!("{CLASS}&a arn:aws:iam::111122223333:instance-profile/b\n");
    assert_eq!(mended(&text).0, format!("{CLASS}&a b\n"));
    let anchored = text.replace(
        "metadata: {name: a}",
        "metadata: {name: a, annotations: {x: &x arn:aws:iam::111122223333:instance-profile/b}}",
    );
    let text = anchored.replace("&a arn:aws:iam::111122223333:instance-profile/b", "*x");
    assert_eq!(mended(&text).0, text.replace("*x", "b"));
}

/// A NodePool and its node class before v1, in two files.
fn pair() -> [(&'static str, &'static str); 2] {
    [
        (
            "pools/pool.yaml",
            r"apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      kubelet: {maxPods: 20}
      nodeClassRef: {name: default}
      requirements: []
",
        ),
        (
            "class.yaml",
            r"apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  role: a
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
",
        ),
    ]
}

#[test]
fn converts_a_pair_in_two_files_with_one_fix() {
    let limits = Limits::DEFAULT;
    let selector = RuleSelector::parse("removed-api-version", &REGISTRY).unwrap();
    let settings = Settings { select: vec![selector], ..Settings::default() };
    let files = pair().map(|(name, text)| File::read(name, text, &limits));
    let mut clusters = [Cluster { name: String::new(), files: files.into() }];
    let report = check(&clusters, &settings);
    for finding in &report.findings {
        let fix = finding.fix.as_ref().unwrap();
        let files: std::collections::BTreeSet<_> = fix.edits.iter().map(|edit| edit.file.as_str()).collect();
        assert_eq!((fix.safe, files.len()), (true, 2), "{finding:?}");
    }
    let mended = apply_fixes(&REGISTRY, &mut clusters, &settings, &limits, WantedFixes::Safe);
    assert_eq!((mended.applied, mended.skipped.len()), (1, 0));
    let texts: Vec<_> = clusters[0].files.iter().map(|file| file.source.text()).collect();
    insta::assert_snapshot!(texts.join("---\n"), @"
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: default}
    spec:
      template:
        spec:
          nodeClassRef:
            group: karpenter.k8s.aws
            kind: EC2NodeClass
            name: default
          requirements: []
    ---
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata: {name: default}
    spec:
      amiSelectorTerms:
        - alias: bottlerocket@latest
      role: a
      subnetSelectorTerms: [{tags: {a: b}}]
      securityGroupSelectorTerms: [{tags: {a: b}}]
      kubelet: {maxPods: 20}
    ");
}

/// The names and texts of files.
type Texts = Vec<(String, String)>;

/// The manifests of the public reports, the problems and the examples: the files of each folder of a report are one cluster.
fn real_manifests() -> Vec<Texts> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = |folder: &Path| {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let alone = ["examples", "tests/problems"].into_iter().flat_map(|folder| entries(&root.join(folder)));
    let mut inputs: Vec<Texts> = alone.filter(is_yaml).map(|path| vec![read(path)]).collect();
    for folder in entries(&root.join("tests/field-cases")).into_iter().filter(|path| path.is_dir()) {
        inputs.push(entries(&folder).into_iter().filter(is_yaml).map(read).collect());
    }
    inputs
}

fn report_of(files: &Texts) -> Report {
    let read = |(name, text): &(String, String)| File {
        is_relevant: Some(true),
        ..File::read(name.as_str(), text.as_str(), READ_OPTIONS)
    };
    check(&[Cluster { name: String::new(), files: files.iter().map(read).collect() }], &Settings::default())
}

/// The numbers of warnings and errors of each rule.
fn problems(report: &Report) -> BTreeMap<&str, usize> {
    let mut problems = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity <= Severity::Warning) {
        *problems.entry(finding.rule).or_default() += 1;
    }
    problems
}

/// The files with the edits of a fix.
fn files_with_fix(files: &Texts, fix: &ReportedFix) -> Texts {
    let fixed = |(name, text): &(String, String)| {
        let source = Source::new(name.as_str(), text.as_str());
        let edits = fix.edits.iter().filter(|edit| edit.file == *name).map(|edit| TextEdit {
            span: Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset)),
            text: edit.text.clone(),
        });
        (name.clone(), apply(text, &edits.collect::<Vec<_>>()))
    };
    files.iter().map(fixed).collect()
}

#[test]
fn fixes_of_real_manifests_lead_to_no_other_warning() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for files in real_manifests() {
        let before = report_of(&files);
        let were = problems(&before);
        for finding in &before.findings {
            let Some(fix) = &finding.fix else { continue };
            count += 1;
            let after = report_of(&files_with_fix(&files, fix));
            let is_new = |(rule, number): &(&str, usize)| were.get(rule).is_none_or(|before| number > before);
            let new: Vec<_> =
                problems(&after).into_iter().filter(is_new).map(|(rule, _)| rule.to_owned()).collect();
            if !new.is_empty() || after.unreadable.len() > before.unreadable.len() {
                wrong.push(format!("{} in {}: `{}` leads to {new:?}", finding.rule, finding.file, fix.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10, "only {count} fixes");
}
