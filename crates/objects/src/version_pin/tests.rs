//! Tests of the pins of each tool.

use crate::embedded::READ_OPTIONS;
use manifest::{Document, File};

use super::pins;

/// The pins of a file, such as `1.6.2:3` for a version in line 3, and `1.6.2:3 crds` for custom resource definitions.
fn found(name: &str, text: &str) -> Vec<String> {
    let file = File::read(name, text, READ_OPTIONS);
    let mut result = Vec::new();
    for document in &file.documents {
        let Document::Read(tree) = document else { panic!("{document:?}") };
        for pin in pins(tree, name) {
            let line = file.source.position(pin.node.span().start).line;
            let part = if pin.part == super::PinnedPart::Definitions { " crds" } else { "" };
            result.push(format!("{}:{line}{part}", pin.version));
        }
    }
    result
}

#[track_caller]
fn assert_pins(name: &str, text: &str, expected: &[&str]) {
    assert_eq!(found(name, text), expected, "{text}");
}

fn deployment(image: &str, labels: &str) -> String {
    format!(
        r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter, labels: {{{labels}}}}}
spec: {{template: {{spec: {{containers: [{{name: controller, image: '{image}'}}]}}}}}}
"
    )
}

#[test]
fn image_of_the_controller_pins_its_tag() {
    for (image, expected) in [
        ("public.ecr.aws/karpenter/controller:1.6.2", &["1.6.2:4"][..]),
        ("public.ecr.aws/karpenter/controller:v0.37.0@sha256:0a1b", &["0.37.0:4"]),
        ("registry.example:5000/karpenter/controller:1.6.2", &["1.6.2:4"]),
        ("public.ecr.aws/karpenter/controller@sha256:0a1b", &[]),
        ("public.ecr.aws/karpenter/controller:${VERSION}", &[]),
        ("mcr.microsoft.com/aks/karpenter/controller:1.6.2", &[]),
        ("example.com/controller:1.6.2", &[]),
        ("public.ecr.aws/karpenter/karpenter:v0.32.0", &["0.32.0:4"]),
        ("karpenter/karpenter:v0.32.0", &["0.32.0:4"]),
        ("ghcr.io/linode/karpenter/karpenter:v0.1.0", &[]),
    ] {
        assert_pins("a.yaml", &deployment(image, ""), expected);
    }
}

#[test]
fn labels_of_the_chart_pin_its_version() {
    for (labels, expected) in [
        ("helm.sh/chart: karpenter-1.6.2, app.kubernetes.io/version: 1.6.2", &["1.6.2:3"][..]),
        ("helm.sh/chart: karpenter-1.6.2", &["1.6.2:3"]),
        ("app.kubernetes.io/version: 1.6.2", &["1.6.2:3"]),
        ("helm.sh/chart: karpenter-0.1.0, app.kubernetes.io/version: 1.16.0", &[]),
        ("helm.sh/chart: karpenter-nodepools-1.6.2, app.kubernetes.io/version: 1.6.2", &[]),
        ("helm.sh/chart: karpenter-nodepools-1.6.2", &[]),
    ] {
        let text = |name: &str| {
            format!(
                r"apiVersion: v1
kind: ServiceAccount
metadata: {{labels: {{app.kubernetes.io/name: {name}, {labels}}}}}
"
            )
        };
        assert_pins("a.yaml", &text("karpenter"), expected);
        assert_pins("a.yaml", &text("karpenter-nodepools"), &[]);
    }
    let labels = "app.kubernetes.io/name: karpenter, helm.sh/chart: karpenter-1.6.1";
    assert_pins("a.yaml", &deployment("public.ecr.aws/karpenter/controller:1.6.2", labels), &["1.6.2:4"]);
    assert_pins("a.yaml", &deployment("example.com/controller", labels), &["1.6.1:3"]);
}

#[test]
fn items_of_a_list_pin_versions() {
    let text = r"apiVersion: v1
kind: List
items:
- apiVersion: eksctl.io/v1alpha5
  kind: ClusterConfig
  karpenter: {version: '1.2.1'}
";
    assert_pins("a.yaml", text, &["1.2.1:6"]);
}

#[test]
fn argo_cd_pins_the_chart_of_each_source() {
    let one = |source: &str| {
        format!(
            r"apiVersion: argoproj.io/v1alpha1
kind: Application
spec:
  source: {{{source}}}
"
        )
    };
    for (source, expected) in [
        ("repoURL: public.ecr.aws/karpenter, chart: karpenter, targetRevision: 1.6.2", &["1.6.2:4"][..]),
        ("repoURL: public.ecr.aws, chart: karpenter/karpenter, targetRevision: 1.6.*", &["1.6:4"]),
        ("repoURL: public.ecr.aws/karpenter, chart: karpenter-crd, targetRevision: 1.6.2", &["1.6.2:4 crds"]),
        ("repoURL: 'oci://public.ecr.aws/karpenter/karpenter', path: ., targetRevision: 1.6.2", &["1.6.2:4"]),
        (
            "repoURL: 'https://github.com/aws/karpenter-provider-aws', path: charts/karpenter, targetRevision: v1.6.2",
            &["1.6.2:4"],
        ),
        (
            "repoURL: 'https://github.com/aws/karpenter-provider-aws.git', path: pkg/apis/crds, targetRevision: v1.6.2",
            &["1.6.2:4 crds"],
        ),
        (
            "repoURL: 'https://github.com/aws/karpenter-provider-aws', path: examples, targetRevision: v1.6.2",
            &[],
        ),
        (
            "repoURL: 'https://github.com/example/karpenter', path: charts/karpenter, targetRevision: v1.6.2",
            &[],
        ),
        ("repoURL: public.ecr.aws/karpenter, chart: karpenter, targetRevision: '{{version}}'", &[]),
        ("repoURL: public.ecr.aws/karpenter, chart: karpenter-pools, targetRevision: 1.6.2", &[]),
        ("repoURL: mcr.microsoft.com/aks/karpenter, chart: karpenter, targetRevision: 1.6.2", &[]),
    ] {
        assert_pins("a.yaml", &one(source), expected);
    }
    let several = r"apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  template:
    spec:
      sources:
      - {chart: karpenter, repoURL: a, targetRevision: 1.6.2}
      - {repoURL: b, targetRevision: main, ref: values}
      - {chart: karpenter-crd, repoURL: a, targetRevision: 1.6.1}
";
    assert_pins("a.yaml", several, &["1.6.2:7", "1.6.1:9 crds"]);
}

#[test]
fn flux_and_k3s_pin_the_chart() {
    let flux = |chart: &str| {
        format!(
            r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
spec:
  chart: {{spec: {{{chart}}}}}
"
        )
    };
    assert_pins("a.yaml", &flux("chart: karpenter, version: 1.6.2"), &["1.6.2:4"]);
    assert_pins("a.yaml", &flux("chart: karpenter, version: '>=1.6.0 <1.7.0'"), &["1.6:4"]);
    assert_pins("a.yaml", &flux("chart: karpenter, version: '>=1.0.0'"), &[]);
    assert_pins("a.yaml", &flux("chart: ./charts/karpenter, version: 1.6.2"), &[]);
    let oci = |spec: &str| {
        format!(
            r"apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
spec: {{{spec}}}
"
        )
    };
    let url = "url: 'oci://public.ecr.aws/karpenter/karpenter'";
    assert_pins("a.yaml", &oci(&format!("{url}, ref: {{tag: 1.6.2}}")), &["1.6.2:3"]);
    assert_pins("a.yaml", &oci(&format!("{url}, ref: {{semver: ~1.6.0}}")), &["1.6:3"]);
    assert_pins("a.yaml", &oci("url: 'oci://example.com/charts/nginx', ref: {tag: 1.6.2}"), &[]);
    let git = r"apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
spec: {url: 'https://github.com/aws/karpenter-provider-aws', ref: {tag: v1.6.2}}
";
    assert_pins("a.yaml", git, &["1.6.2:3 crds"]);
    let k3s = r"apiVersion: helm.cattle.io/v1
kind: HelmChart
spec: {chart: 'oci://public.ecr.aws/karpenter/karpenter', version: 1.6.2}
";
    assert_pins("a.yaml", k3s, &["1.6.2:3"]);
}

#[test]
fn chart_file_pins_its_own_version_or_its_dependency() {
    let name = "charts/karpenter/Chart.yaml";
    assert_pins(name, "apiVersion: v2\nname: karpenter\nversion: 1.6.2\nappVersion: 1.6.2\n", &["1.6.2:3"]);
    assert_pins(name, "apiVersion: v2\nname: karpenter\nversion: 0.9.0\nappVersion: 1.16.0\n", &[]);
    assert_pins(name, "apiVersion: v2\nname: karpenter\nversion: 1.6.2\n", &[]);
    assert_pins(name, "apiVersion: v2\nname: pools\nversion: 1.6.2\nappVersion: 1.6.2\n", &[]);
    let wrapper = r"apiVersion: v2
name: karpenter
version: 1.0.0
appVersion: 1.0.0
dependencies:
- {name: karpenter, version: 1.6.2, repository: 'oci://public.ecr.aws/karpenter'}
- {name: common, version: 2.0.0}
";
    assert_pins(name, wrapper, &["1.6.2:6"]);
    assert_pins("values.yaml", wrapper, &[]);
    let local = r"apiVersion: v2
name: addons
version: 1.0.0
dependencies:
- {name: karpenter, version: 1.6.2, repository: 'file://../karpenter'}
";
    assert_pins(name, local, &[]);
}

#[test]
fn files_of_other_tools_pin_the_chart() {
    let helmfile = r"releases:
- name: karpenter
  chart: karpenter/karpenter
  version: 1.6.2
- {name: b, chart: ./karpenter, version: 1.6.2}
";
    assert_pins("helmfile.yaml", helmfile, &["1.6.2:4"]);
    let kustomization = r"helmCharts:
- {name: karpenter, repo: 'oci://public.ecr.aws/karpenter', version: 1.6.2}
images:
- {name: public.ecr.aws/karpenter/controller, newTag: 1.6.3}
- {name: nginx, newTag: 1.6.4}
resources:
- pools.yaml
- https://raw.githubusercontent.com/aws/karpenter-provider-aws/v1.6.1/pkg/apis/crds/karpenter.sh_nodepools.yaml
- https://github.com/aws/karpenter-provider-aws//pkg/apis/crds?ref=v1.6.0&timeout=90s
- https://github.com/aws/karpenter-provider-aws//pkg/apis/crds
";
    let expected = ["1.6.2:2", "1.6.3:4", "1.6.1:8 crds", "1.6.0:9 crds"];
    assert_pins("kustomization.yaml", kustomization, &expected);
    let with_kind = format!(
        r"{kustomization}apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
"
    );
    assert_pins("a.yaml", &with_kind, &expected);
    let terraform =
        r#"{"resource": {"helm_release": {"karpenter": {"chart": "karpenter", "version": "1.6.2"}}}}"#;
    assert_pins("main.tf.json", terraform, &["1.6.2:1"]);
    let of_repository = |repository: &str| {
        format!("settings: {{interruptionQueue: a}}\ncontroller: {{image: {{{repository}tag: 1.6.2}}}}\n")
    };
    assert_pins("values.yaml", &of_repository(""), &["1.6.2:2"]);
    assert_pins(
        "values.yaml",
        &of_repository("repository: mcr.microsoft.com/aks/karpenter/controller, "),
        &[],
    );
    assert_pins("values.yaml", "controller: {image: {tag: 1.6.2}}\n", &[]);
    let misplaced = |repository: &str| {
        format!("settings: {{interruptionQueue: a}}\nimage: {{repository: {repository}, tag: 1.6.2}}\n")
    };
    assert_pins("values.yaml", &misplaced("public.ecr.aws/karpenter/karpenter"), &["1.6.2:2"]);
    assert_pins("values.yaml", &misplaced("example.com/proxy"), &[]);
}

#[test]
fn template_of_an_early_guide_pins_a_version_below_1_0() {
    let template = |condition: &str| {
        format!(
            r#"AWSTemplateFormatVersion: "2010-09-09"
Description: Resources used by https://github.com/aws/karpenter
Resources:
  KarpenterNodeInstanceProfile:
    Type: "AWS::IAM::InstanceProfile"
    Properties: {{Roles: [{{Ref: KarpenterNodeRole}}]}}
  KarpenterControllerPolicy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement: [{{Effect: Allow, Resource: "*", Action: [ec2:RunInstances, {condition}]}}]
"#
        )
    };
    assert_pins("a.yaml", &template("pricing:GetProducts"), &["0.31:5"]);
    assert_pins("a.yaml", &template("iam:GetInstanceProfile"), &[]);
    assert_pins("a.yaml", &template("pricing:GetProducts").replace("InstanceProfile\"", "Role\""), &[]);
    assert_pins("a.yaml", &template("pricing:GetProducts").replace("aws/karpenter", "example/a"), &[]);
}
