//! Checks of Karpenter's own objects, for which a front end needs only a part of the engine.

use karpwarden::cluster::Cluster;
use karpwarden::karpenter::release::Release;
use karpwarden::karpenter::upgrade_path::UpgradePath;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::{Settings, Target};

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

const DEPLOYMENT: (&str, &str) = (
    "web.yaml",
    r"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {}}}
",
);

const TERRAFORM: (&str, &str) = ("main.tf", "locals {}\n");

const VARIABLES: (&str, &str) = ("terraform.tfvars", "name = \"default\"\n");

const CHART: (&str, &str) = ("Chart.yaml", "apiVersion: v2\nname: nodes\nversion: 1.0.0\n");

const UPDATE: (&str, &str) = (
    "review.yaml",
    "apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  object: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}
  oldObject: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}
",
);

const ELSEWHERE: (&str, &str) = ("prod/class.yaml", CLASS.1);

fn cluster(files: &[(&str, &str)]) -> [Cluster; 1] {
    let files = files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
    [Cluster { name: String::new(), files }]
}

#[test]
fn reports_on_objects_of_karpenter_as_the_whole_engine_does() {
    let (clusters, settings) = (cluster(&[CLASS]), Settings::default());
    let report = karpwarden::check_karpenter_objects(&clusters, &settings).unwrap();
    assert!(!report.findings.is_empty());
    assert_eq!(report.to_json(), karpwarden::check(&clusters, &settings).to_json());
}

#[test]
fn leaves_every_other_file_to_the_whole_engine() {
    for other in [KUSTOMIZATION, DEPLOYMENT, TERRAFORM, VARIABLES, CHART, UPDATE, ELSEWHERE] {
        let clusters = cluster(&[CLASS, other]);
        assert!(
            karpwarden::check_karpenter_objects(&clusters, &Settings::default()).is_none(),
            "{}",
            other.0
        );
    }
}

#[test]
fn leaves_upgrades_to_the_whole_engine() {
    let path = UpgradePath::new(Release::parse("1.8").unwrap(), Release::parse("1.14").unwrap());
    let settings = Settings { karpenter: Target::on_upgrade(path), ..Settings::default() };
    assert!(karpwarden::check_karpenter_objects(&cluster(&[CLASS]), &settings).is_none());
}
