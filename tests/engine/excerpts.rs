//! Source excerpts of findings at a terminal.

use answers::report::{RelatedLocation, Report, TextRange};
use cluster::Cluster;
use insta::assert_snapshot;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::{REGISTRY, check};
use manifest::File;
use render::human::{Options, write};
use rule::settings::{RuleSelector, Settings};

const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: a
  namespace: b
spec:
  instanceProfile: arn:aws:iam::111122223333:role/x
";

fn clusters() -> [Cluster; 1] {
    let read = |name: &str| File::read(name, CLASS, READ_OPTIONS);
    [Cluster { name: "prod".to_owned(), files: vec![read("a.yaml"), read("b.yaml")] }]
}

/// Report of one rule, reduced to its first finding.
fn report(clusters: &[Cluster]) -> Report {
    let selector = RuleSelector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
    let mut report = check(clusters, &Settings { select: vec![selector], ..Settings::default() });
    report.findings.truncate(1);
    report
}

fn shown(report: &Report, clusters: &[Cluster]) -> String {
    shown_in(report, clusters, None)
}

/// The report for a terminal of so many columns.
fn shown_in(report: &Report, clusters: &[Cluster], width: Option<usize>) -> String {
    let mut out = Vec::new();
    write(&mut out, report, clusters, Options { quiet: true, width, ..Options::default() }).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn shows_related_locations_in_other_files() {
    let clusters = clusters();
    let mut report = report(&clusters);
    let related = |file: &str, line: usize, (offset, end): (usize, usize)| RelatedLocation {
        file: file.to_owned(),
        document: 0,
        path: "metadata.name".to_owned(),
        line: Some(line),
        column: Some(1),
        offset: Some(offset),
        end_offset: Some(end),
        message: "the same name".to_owned(),
    };
    let name = CLASS.find("name: a").unwrap();
    report.findings[0].related = vec![
        related("a.yaml", 4, (name + 6, name + 7)),
        related("b.yaml", 4, (name + 6, name + 7)),
        related("cluster", 0, (0, 0)),
    ];
    assert_snapshot!(shown(&report, &clusters), @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is the ARN of a role, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> a.yaml:7:20
      |
    3 | metadata:
    4 |   name: a
      |         - the same name
    5 |   namespace: b
    6 | spec:
    7 |   instanceProfile: arn:aws:iam::111122223333:role/x
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
     ::: b.yaml:4:9
      |
    3 | metadata:
    4 |   name: a
      |         - the same name
    5 |   namespace: b
      |
      = see: cluster: metadata.name: the same name
      |
      = object: EC2NodeClass/b/a, spec.instanceProfile (cluster prod)
      = help: write the name of the instance profile that contains the role, or write the role name into `spec.role` instead
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn
    ");
}

#[test]
fn shows_the_path_of_a_finding_without_text() {
    let clusters = clusters();
    let mut report = report(&clusters);
    report.findings[0].position = TextRange::default();
    report.findings[0].file = String::new();
    report.findings[0].releases = "until 1.8".to_owned();
    assert_snapshot!(shown(&report, &clusters), @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is the ARN of a role, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     |
     = object: EC2NodeClass/b/a, spec.instanceProfile (cluster prod)
     = help: write the name of the instance profile that contains the role, or write the role name into `spec.role` instead
     = otherwise caught by: nothing; accepted silently
     = applies to: Karpenter until 1.8
     = explain: karpwarden explain instance-profile-is-arn
    ");
}

#[test]
fn shows_three_related_locations_and_counts_the_others() {
    let clusters = clusters();
    let mut report = report(&clusters);
    let related = |line: usize| RelatedLocation {
        file: "cluster".to_owned(),
        document: 0,
        path: "metadata.name".to_owned(),
        line: Some(line),
        column: None,
        offset: None,
        end_offset: None,
        message: format!("name {line}"),
    };
    for (number, expected) in
        [(3, None), (4, Some("and 1 more; `--format json` lists all")), (7, Some("and 4 more;"))]
    {
        report.findings[0].related = (0..number).map(related).collect();
        let output = shown(&report, &clusters);
        assert_eq!(output.matches("= see: cluster").count(), 3, "{output}");
        assert_eq!(output.contains(" more;"), expected.is_some(), "{output}");
        assert!(expected.is_none_or(|expected| output.contains(expected)), "{output}");
    }
}

#[test]
fn fits_into_a_narrow_terminal() {
    let long = format!("{CLASS}  tags: {{}}\n").replace(
        "instanceProfile: arn",
        &format!("tags: {{a: {}, b: c}}\n  instanceProfile: arn", "x".repeat(100)),
    );
    let long =
        long.replace("role/x", &format!("instance-profile/{}/b # {}", "y".repeat(60), "z".repeat(100)));
    let clusters = [Cluster { name: String::new(), files: vec![File::read("a.yaml", long, READ_OPTIONS)] }];
    let report = report(&clusters);
    assert_snapshot!(shown_in(&report, &clusters, Some(80)), @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but
                                    Karpenter expects the profile name; the
                                    EC2NodeClass never becomes Ready
     --> a.yaml:8:20
      |
    7 |   tags: {a: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    8 |   instanceProfile: arn:aws:iam::111122223333:instance-profile/yyyyyyyyy…
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    9 |   tags: {}
      |
      = object: EC2NodeClass/b/a, spec.instanceProfile
      = help: write `b`
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
      |
    8 -   instanceProfile: arn:aws:iam::111122223333:instance-profile/yyyyyyyyy…
    8 +   instanceProfile: b…
      |
    ");
    let piped = shown(&report, &clusters);
    assert!(
        piped.contains(&"z".repeat(100)) && piped.contains("the profile name; the EC2NodeClass never"),
        "{piped}"
    );
}
