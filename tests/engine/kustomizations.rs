//! Checks with and without the code that builds kustomizations.

use karpwarden::lint::check::Cluster;
use karpwarden::lint::settings::Settings;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;

const CLASS: (&str, &str) = (
    "class.yaml",
    "apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
",
);

const KUSTOMIZATION: (&str, &str) = ("kustomization.yaml", "resources: [class.yaml]\n");

fn cluster(files: &[(&str, &str)]) -> [Cluster; 1] {
    let files = files.iter().map(|(name, text)| File::read(*name, *text, &Limits::DEFAULT)).collect();
    [Cluster { name: String::new(), files }]
}

#[test]
fn files_without_a_kustomization_have_the_same_report_either_way() {
    let (clusters, settings) = (cluster(&[CLASS]), Settings::default());
    let report = karpwarden::check_without_kustomization(&clusters, &settings).unwrap();
    assert!(!report.findings.is_empty());
    assert_eq!(report.to_json(), karpwarden::check(&clusters, &settings).to_json());
}

#[test]
fn a_kustomization_needs_the_code_that_builds_it() {
    let (clusters, settings) = (cluster(&[CLASS, KUSTOMIZATION]), Settings::default());
    assert!(karpwarden::check_without_kustomization(&clusters, &settings).is_none());
}
