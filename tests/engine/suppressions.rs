//! Suppressions in annotations and comments.

use cluster::Cluster;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::File;
use rule::settings::Settings;

const ARN: &str = "arn:aws:iam::111122223333:instance-profile/prod";

/// `line rule: message` for every finding of an EC2NodeClass, and the number of suppressed findings.
fn checked(metadata: &str, profile: &str) -> String {
    let text = format!(
        r"# karpwarden: ignore[no-such-rule] at the top
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a{metadata}}}
spec:
{profile}
  amiSelectorTerms: [{{alias: al2023@latest}}]
  subnetSelectorTerms: [{{id: subnet-0a1b2c3d}}]
  securityGroupSelectorTerms: [{{id: sg-0a1b2c3d}}]
"
    );
    let text = if metadata == "," { text } else { text.split_once('\n').unwrap().1.to_owned() };
    let files = vec![File::read("-", text, READ_OPTIONS)];
    let settings = Settings::default();
    let report = check(&[Cluster { name: String::new(), files }], &settings);
    let ours = |rule: &str| rule.starts_with("suppression") || rule == "instance-profile-is-arn";
    let mut lines: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| ours(finding.rule))
        .map(|finding| format!("{} {}: {}", finding.position.line.unwrap(), finding.rule, finding.message))
        .collect();
    lines.push(format!("{} suppressed", report.summary.suppressed));
    lines.join("\n")
}

#[test]
fn annotation_applies_to_the_whole_object() {
    let annotated = |text: &str| {
        checked(
            &format!(", annotations: {{karpwarden/ignore: '{text}'}}"),
            &format!("  instanceProfile: {ARN}"),
        )
    };
    assert_eq!(annotated("instance-profile-is-arn -- known"), "1 suppressed");
    assert_eq!(annotated("nodeclass -- known"), "1 suppressed");
    insta::assert_snapshot!(annotated("instance-profile-is-arm, yaml-duplicate-key, nodeclass"), @"
    3 suppression-without-reason: this suppression gives no reason
    3 suppression-of-unknown-rule: there is no rule or family `instance-profile-is-arm` (did you mean `instance-profile-is-arn`?)
    3 suppression-unused: `yaml-duplicate-key` has no finding here to suppress
    1 suppressed
    ");
}

#[test]
fn comment_applies_to_its_line_or_the_next() {
    let there = |comment: &str| checked("", &format!("  instanceProfile: {ARN} {comment}"));
    assert_eq!(there("# karpwarden: ignore[instance-profile-is-arn] known"), "1 suppressed");
    insta::assert_snapshot!(there("# karpwarden: ignore[instance-profile-is-arn]"), @"
    5 suppression-without-reason: this suppression gives no reason
    1 suppressed
    ");
    insta::assert_snapshot!(there("# karpwarden: ignore[instance-profile-is-arn] <write the reason>"), @"
    5 suppression-without-reason: this suppression gives no reason
    1 suppressed
    ");
    insta::assert_snapshot!(there("# karpwarden: ignore instance-profile-is-arn"), @"
    5 suppression-of-unknown-rule: this comment is not a suppression; write `# karpwarden: ignore[rule] reason`
    5 instance-profile-is-arn: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
    0 suppressed
    ");
    let above = |comment: &str| checked("", &format!("  {comment}\n\n  # more\n  instanceProfile: {ARN}"));
    assert_eq!(above("# karpwarden: ignore[nodeclass] known"), "1 suppressed");
    let below =
        checked("", &format!("  instanceProfile: {ARN}\n  # karpwarden: ignore[nodeclass] late\n  role: a"));
    insta::assert_snapshot!(below, @"
    6 suppression-unused: `nodeclass` has no finding here to suppress
    5 instance-profile-is-arn: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
    0 suppressed
    ");
}

#[test]
fn comment_at_the_top_belongs_to_the_first_object() {
    insta::assert_snapshot!(checked(",", "  role: a"), @"
    1 suppression-of-unknown-rule: there is no rule or family `no-such-rule`
    0 suppressed
    ");
}

#[test]
fn comment_above_an_item_of_a_list_belongs_to_that_item() {
    let pool = |name: &str| {
        format!(
            r"- apiVersion: karpenter.sh/v1beta1
  kind: NodePool
  metadata: {{name: {name}}}
"
        )
    };
    let text = format!(
        r"apiVersion: v1
kind: List
items:
{}# karpwarden: ignore[removed-api-version] migrated next week
{}",
        pool("a"),
        pool("b")
    );
    let files = vec![File::read("-", text, READ_OPTIONS)];
    let report = check(&[Cluster { name: String::new(), files }], &Settings::default());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.rule, finding.name.as_str())).collect();
    assert_eq!(found, [("removed-api-version", "a")]);
    assert_eq!(report.summary.suppressed, 1);
}
