//! Findings that begin on an upgrade path.

use std::fmt::Write as _;

use cluster::Cluster;
use karpenter::release::Release;
use karpenter::upgrade_path::UpgradePath;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::File;
use rule::settings::{Settings, Target};

/// Settings for an upgrade path.
fn upgrade_path(from: &str, to: &str) -> Settings {
    let path = UpgradePath::new(Release::parse(from).unwrap(), Release::parse(to).unwrap());
    Settings { karpenter: Target::on_upgrade(path), ..Settings::default() }
}

/// Findings of all rules that begin on an upgrade path, except the rules that apply to every EC2NodeClass.
fn begins(from: &str, to: &str, text: &str) -> String {
    let files = vec![File::read("-", text, READ_OPTIONS)];
    let report = check(&[Cluster { name: String::new(), files }], &upgrade_path(from, to));
    let mut output = String::new();
    let general = ["ca-bundle-drift", "nodeclass-hash-changes", "open-reservations-unused"];
    for finding in report.findings.iter().filter(|finding| !general.contains(&finding.rule)) {
        let boundary = finding.boundary.unwrap();
        let _ = writeln!(output, "{boundary}: {} {} {}", finding.severity, finding.rule, finding.path);
    }
    output
}

fn pool(spec: &str) -> String {
    format!(
        r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
{spec}"
    )
}

fn class(spec: &str) -> String {
    format!(
        r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  role: a
  amiSelectorTerms: [{{alias: al2023@v20250807}}]
  subnetSelectorTerms: [{{tags: {{a: b}}}}]
  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]
{spec}"
    )
}

#[test]
fn reports_api_versions_that_a_release_no_longer_serves() {
    let beta = r"apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: a}
";
    insta::assert_snapshot!(begins("1.0", "1.8", beta), @"from 1.1 on: error removed-api-version apiVersion");
    assert_eq!(begins("1.1", "1.8", beta), "");
}

#[test]
fn reports_labels_and_operators_of_1_9_on_a_downgrade() {
    let text = pool(
        r"      requirements:
        - {key: node-role.kubernetes.io/web, operator: Exists}
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}
        - {key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [dedicated]}
",
    );
    assert_eq!(begins("1.8", "1.14", &text), "");
    assert_eq!(begins("1.14", "1.9.0", &text), "");
    insta::assert_snapshot!(begins("1.9.0", "1.8", &text), @"
    from 1.8 down: error restricted-label spec.template.spec.requirements[0].key
    from 1.8 down: error api-enum spec.template.spec.requirements[1].operator
    from 1.8 down: error restricted-label spec.template.spec.requirements[2].key
    ");
}

#[test]
fn reports_balanced_on_a_downgrade_below_1_14() {
    let text =
        pool("      requirements: []\n  disruption: {consolidationPolicy: Balanced, consolidateAfter: 0s}\n");
    assert_eq!(begins("1.8", "1.14", &text), "");
    insta::assert_snapshot!(begins("1.14", "1.13", &text), @"from 1.13 down: error api-enum spec.disruption.consolidationPolicy");
}

#[test]
fn reports_fields_on_a_downgrade_below_their_first_release() {
    let text = class(
        r"  ipPrefixCount: 1
  placementGroupSelector: {name: a}
  cpuOptions: {coreCount: 1}
  capacityReservationSelectorTerms: [{id: cr-1}]
",
    );
    insta::assert_snapshot!(begins("1.14", "1.0", &text), @"
    from 1.7 down: error api-unknown-field spec.ipPrefixCount
    from 1.10 down: error api-unknown-field spec.placementGroupSelector
    from 1.12 down: error api-unknown-field spec.cpuOptions
    from 1.2 down: error api-unknown-field spec.capacityReservationSelectorTerms
    ");
    assert_eq!(begins("1.13.0", "1.14", &text), "");
}

#[test]
fn ignores_refusals_that_only_change_their_reason() {
    let overlay = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec: {weight: many}
";
    assert_eq!(begins("1.0", "1.14", overlay), "from 1.7 on: info feature-gate-needed kind\n");
    let terms = class("  capacityReservationSelectorTerms: [{id: many}]\n");
    assert_eq!(begins("1.0", "1.14", &terms), "");
    let label = pool("      requirements: [{key: karpenter.k8s.aws/ec2nodeclass, operator: Exists}]\n");
    assert_eq!(begins("1.0", "1.14", &label), "");
}

#[test]
fn reports_values_that_a_stricter_pattern_refuses() {
    let text = pool("      requirements: []\n      expireAfter: 30sfoo\n");
    insta::assert_snapshot!(begins("1.3", "1.4.0", &text), @"from 1.4 on: error api-pattern spec.template.spec.expireAfter");
    assert_eq!(begins("1.4.0", "1.14", &text), "");
}

#[test]
fn reports_findings_of_ordinary_rules_that_begin_with_a_release() {
    let immediate = r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
provisioner: ebs.csi.aws.com
volumeBindingMode: Immediate
";
    insta::assert_snapshot!(begins("1.6", "1.7.0", immediate), @"from 1.7 on: warning storageclass-immediate volumeBindingMode");
    assert_eq!(begins("1.7", "1.14", immediate), "");
    let values = "settings: {clusterName: a}\nwebhook: {enabled: true}\n";
    insta::assert_snapshot!(begins("1.0", "1.1.0", values), @"from 1.1 on: warning helm-values-removed-keys webhook");
    assert_eq!(begins("1.1", "1.14", values), "");
}

#[test]
fn reports_what_differs_between_1_14_and_1_15() {
    // Accepted since 1.15.
    for text in [
        pool("      requirements: []\n  disruption: {consolidationPolicy: WhenEmpty}\n"),
        pool(
            "      requirements: []\n  disruption: {consolidateAfter: 0s, budgets: [{nodes: '1', reasons: [Unhealthy]}]}\n",
        ),
        pool("      requirements: [{key: karpenter.k8s.aws/nitro-sandbox, operator: Exists}]\n"),
        class("  enclaveOptions: {enabled: true}\n"),
        class("  kubelet: {registryPullQPS: 10}\n"),
    ] {
        assert_eq!(begins("1.14", "1.15", &text), "", "{text}");
        assert!(begins("1.15", "1.14", &text).contains("from 1.14 down: error"), "{text}");
    }
    // The API server refuses these values until 1.14, and the controller since 1.15.
    let refused = class("  kubelet: {maxPods: -1, bogus: 1}\n");
    assert_eq!(begins("1.14", "1.15", &refused), "");
    assert_eq!(begins("1.15", "1.14", &refused).lines().count(), 2);
    let bottlerocket =
        class("  kubelet: {podsPerCore: 1}\n").replace("al2023@v20250807", "bottlerocket@v1.44.0");
    insta::assert_snapshot!(begins("1.14", "1.15", &bottlerocket), @"from 1.15 on: error kubelet-field-unsupported spec.kubelet.podsPerCore");
}

#[test]
fn ignores_problems_that_an_upgrade_solves() {
    let role = class("").replace("role: a\n", "role: a/b\n");
    assert_eq!(begins("1.1", "1.6", &role), "");
    insta::assert_snapshot!(begins("1.6", "1.0", &role), @"from 1.1 down: error nodeclass-role-is-arn spec.role");
}
