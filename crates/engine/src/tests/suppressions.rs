//! Suppressions in files and in admission requests.

use crate::check::check;
use crate::request::{RequestCluster, check_request};
use crate::testing::{ARN, REGISTRY, tree};
use cluster::Cluster;
use manifest::File;
use objects::embedded::READ_OPTIONS;
use objects::object::{Object, Operation};
use rule::Rule;
use rule::settings::{RuleLevel, RuleSelector, Settings};

const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n";
const PROFILE: &str = "  instanceProfile: arn:aws:iam::111122223333:instance-profile/b\n";

/// The marked text of each finding, and the number of suppressed findings.
fn checked(files: &[(&str, &str)], settings: &Settings) -> (Vec<String>, usize) {
    let read = files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS));
    let clusters = [Cluster { name: String::new(), files: read.collect() }];
    let report = check(&REGISTRY, &clusters, settings);
    let marked = report.findings.iter().map(|finding| {
        let (_, text) = files.iter().find(|(name, _)| *name == finding.file).unwrap();
        let range = finding.position.offset.unwrap()..finding.position.end_offset.unwrap();
        text.get(range).unwrap().to_owned()
    });
    (marked.collect(), report.summary.suppressed)
}

/// The same for an EC2NodeClass with an ARN below some lines.
fn above(lines: &str, settings: &Settings) -> (Vec<String>, usize) {
    checked(&[("a.yaml", &format!("{CLASS}{lines}{PROFILE}"))], settings)
}

#[test]
fn marks_each_unknown_name_of_a_list() {
    for list in [
        "# karpwarden: ignore[no-such,  other-one , nodeclass] known\nspec:\n",
        "metadata: {annotations: {karpwarden/ignore: 'no-such,  other-one , nodeclass -- known'}}\nspec:\n",
    ] {
        let (marked, _) = above(list, &Settings::default());
        assert_eq!(marked[..2], ["no-such", "other-one"], "{list}");
    }
}

#[test]
fn comments_with_code_between_them_cover_their_own_lines() {
    let text = format!(
        r"{CLASS}spec:
  # karpwarden: ignore[nodeclass] known
{PROFILE}  # karpwarden: ignore[labels] moved
  role: a
"
    );
    assert_eq!(checked(&[("a.yaml", &text)], &Settings::default()), (vec!["labels".to_owned()], 1));
}

#[test]
fn comment_above_another_comment_covers_the_code_below_both() {
    let covering = "spec:\n  # karpwarden: ignore[nodeclass] known\n";
    let (other, malformed) =
        ("# karpwarden: ignore[instance-profile-is-arn] known", "# karpwarden: see above");
    let checked = |below: &str| above(&format!("{covering}  {below}\n"), &Settings::default());
    assert_eq!(checked(other), (Vec::new(), 1));
    assert_eq!(checked(malformed), (vec![malformed.to_owned()], 1));
}

#[test]
fn comment_in_a_base_covers_its_own_text_whatever_the_comments_of_a_patch_cover() {
    let base = format!(
        r"{CLASS}metadata: {{name: a}}
spec:
  # karpwarden: ignore[nodeclass] known
{PROFILE}  role: a
"
    );
    let patch = format!(
        r"{CLASS}metadata: {{name: a}}
spec:
  tags:
    # karpwarden: ignore[nodeclass] known
    a: b
"
    );
    let files = [
        ("base/kustomization.yaml", "resources: [class.yaml]\n"),
        ("base/class.yaml", &base),
        ("prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n"),
        ("prod/patch.yaml", &patch),
    ];
    assert_eq!(checked(&files, &Settings::default()), (Vec::new(), 1));
}

#[test]
fn suppression_of_a_rule_that_is_off_still_counts_as_used() {
    let levels = vec![(RuleSelector::One(ARN.names()), RuleLevel::Off)];
    let settings = Settings { levels, ..Settings::default() };
    for name in ["instance-profile-is-arn", "nodeclass"] {
        let comment = format!("spec:\n  # karpwarden: ignore[{name}] known\n");
        assert_eq!(above(&comment, &settings), (Vec::new(), 0), "{name}");
    }
}

#[test]
fn rule_that_is_off_does_not_run_without_a_suppression_of_it() {
    static NEVER: Rule = Rule { name: "never", check: |_, _, _| panic!("the rule runs"), ..Rule::DEFAULTS };
    let tree = tree(CLASS);
    let object = Object::in_request(tree.root(), None, Operation::Create);
    let cluster = RequestCluster { objects: vec![object], ..RequestCluster::default() };
    let levels = vec![(RuleSelector::One(NEVER.names()), RuleLevel::Off)];
    let settings = Settings { levels, ..Settings::default() };
    assert!(check_request(&REGISTRY, &[&NEVER], object, &cluster, &settings).is_empty());
}

#[test]
fn annotation_counts_in_a_request_only_if_the_settings_allow_it() {
    let text = format!(
        "{CLASS}metadata: {{annotations: {{karpwarden/ignore: nodeclass -- known}}}}\nspec:\n{PROFILE}"
    );
    let tree = tree(&text);
    let object = Object::in_request(tree.root(), None, Operation::Create);
    let cluster = RequestCluster { objects: vec![object], ..RequestCluster::default() };
    for (is_allowed, findings) in [(false, 1), (true, 0)] {
        let settings = Settings { allow_ignore_annotation: is_allowed, ..Settings::default() };
        let found = check_request(&REGISTRY, &[&ARN], object, &cluster, &settings);
        assert_eq!(found.len(), findings, "{is_allowed}");
    }
    let review = format!(
        r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: CREATE
  object:
    {}",
        text.trim_end().replace('\n', "\n    ")
    );
    assert_eq!(checked(&[("review.yaml", &review)], &Settings::default()), (Vec::new(), 1));
}
