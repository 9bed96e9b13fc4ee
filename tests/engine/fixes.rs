//! Safe fixes, applied to texts.

use answers::report::ReportedFinding;
use cluster::Cluster;
use engine::apply::{AppliedFixes, WantedFixes, apply_fixes};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::{REGISTRY, check};
use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::limits::Limits;
use manifest::source::{Source, Span};
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
