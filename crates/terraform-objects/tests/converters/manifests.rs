//! Manifests in strings and in objects.

use insta::assert_snapshot;
use manifest::Document;
use manifest::source::Span;

use crate::{evaluated, shown};

#[test]
fn kubectl_manifest_in_a_here_document_has_the_places_of_its_lines() {
    let text = r#"variable "name" { default = "prod" }
resource "kubectl_manifest" "a" {
  yaml_body = <<-EOT
    kind: NodePool
    metadata:
      name: pool-${var.name}
      labels: {a: "${module.eks.name}"}
    spec:
      script: |
        one ${var.name}
        two
    %{ if var.name == "prod" }
      limit: 3
    %{ endif }
  EOT
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:4
    .kind = "NodePool" @4:11
    .metadata.name = "pool-prod" @6:13 from "pool-${var.name}"
    .metadata.labels.a = "${module.eks.name}" @7:19
    .spec.script = "one prod\ntwo\n" @10:9 from "one ${var.name}\n        two\n    %{ if var.name == \"prod\" }\n      "
    .spec.limit = 3 @13:14
    "#);
}

#[test]
fn what_a_here_document_is_letter_by_letter_stays_as_it_was_read() {
    let text = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-EOT\n    kind: A\n    name: ${module.a.b}\n  EOT\n}\n";
    let files = evaluated(&[("main.tf", text)], &[]);
    let [Document::Read(tree)] = files[0].documents.as_slice() else { panic!("{files:?}") };
    assert!(!tree.is_assembled() && tree.root().str_at(&["name"]) == Some("${module.a.b}"));
}

#[test]
fn encoded_values_have_the_places_of_their_expressions() {
    let text = r#"locals {
  role = "node-${var.x}"
  more = { replicas = 2, ready = true, ratio = 0.5 }
}
variable "x" { default = "a" }
resource "kubectl_manifest" "a" {
  for_each  = toset(["spot"])
  yaml_body = yamlencode(merge({ kind = "A", role = local.role, key = each.key, none = null }, local.more))
}
resource "kubernetes_manifest" "b" {
  manifest = {
    "kind" = "B"
    none   = null
    items  = ["x", module.a.b]
  }
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:8
    .key = "spot" @8:71 from "each.key"
    .kind = "A" @8:41
    .none = null @8:88
    .ratio = 0.5 @3:48
    .ready = true @3:34
    .replicas = 2 @3:23
    .role = "node-a" @8:53 from "local.role"
    --- main.tf:11
    .items.0 = "x" @14:15
    .items.1 = "${module.a.b}" @14:20 from "module.a.b"
    .kind = "B" @12:14
    "#);
}

#[test]
fn templates_have_places_in_their_own_file() {
    let main = r#"resource "kubectl_manifest" "a" {
  for_each  = { one = 1, two = 2 }
  yaml_body = templatefile("${path.module}/tpl/a.yaml.tftpl", { name = each.key, number = each.value })
}
"#;
    let template = "kind: A\nname: ${name}\nnumber: ${number}\n";
    assert_snapshot!(shown(&[("infra/main.tf", main)], &[("infra/tpl/a.yaml.tftpl", template)]), @r#"
    --- infra/tpl/a.yaml.tftpl:1
    .kind = "A" @1:7
    .name = "one" @2:7 from "${name}"
    .number = 1 @3:9 from "${number}"
    --- infra/tpl/a.yaml.tftpl:1
    .kind = "A" @1:7
    .name = "two" @2:7 from "${name}"
    .number = 2 @3:9 from "${number}"
    "#);
}

#[test]
fn data_sources_of_the_provider_give_their_documents() {
    let main = r#"data "kubectl_file_documents" "inline" {
  content = <<-EOT
    kind: A
    name: ${upper("x")}
    ---
    kind: B
  EOT
}
data "kubectl_path_documents" "files" {
  pattern = "${path.module}/manifests/*.yaml"
  vars    = { name = "prod" }
}
resource "kubectl_manifest" "inline" {
  for_each  = data.kubectl_file_documents.inline.manifests
  yaml_body = each.value
}
resource "kubectl_manifest" "files" {
  count     = length(data.kubectl_path_documents.files.documents)
  yaml_body = element(data.kubectl_path_documents.files.documents, count.index)
}
"#;
    let files = [("main.tf", main), ("manifests/a.yaml", "kind: C\nname: ${name}\n---\nkind: D\n")];
    assert_snapshot!(shown(&files, &[]), @r#"
    --- main.tf:3
    .kind = "A" @3:11
    .name = "X" @4:11 from "${upper(\"x\")}"
    --- main.tf:6
    .kind = "B" @6:11
    --- manifests/a.yaml:1
    .kind = "C" @1:7
    .name = "prod" @2:7 from "${name}"
    --- manifests/a.yaml:4
    .kind = "D" @4:7
    "#);
}

#[test]
fn texts_with_placeholders_are_decoded() {
    let main = r#"data "template_file" "old" {
  template = file("${path.module}/tpl/old.tpl")
  vars     = { name = module.a.name, kind = "B" }
}
resource "kubernetes_manifest" "new" {
  manifest = yamldecode(templatefile("${path.module}/tpl/new.yaml", { name = module.a.name }))
}
resource "kubernetes_manifest" "old" {
  manifest = yamldecode(data.template_file.old.rendered)
}
resource "kubectl_manifest" "chosen" {
  yaml_body = coalesce(null, <<-EOT
    kind: C
    name: ${module.a.name}
  EOT
  )
}
"#;
    let beside =
        [("tpl/new.yaml", "kind: A\nname: ${name}\n"), ("tpl/old.tpl", "kind: ${kind}\nnames: [${name}]\n")];
    assert_snapshot!(shown(&[("main.tf", main)], &beside), @r#"
    --- main.tf:13
    .kind = "C" @13:11
    .name = "${module.a.name}" @14:11
    --- tpl/new.yaml:1
    .kind = "A" @1:7
    .name = "${module.a.name}" @2:7 from "${name}"
    --- tpl/old.tpl:1
    .kind = "B" @1:7 from "${kind}"
    .names.0 = "${module.a.name}" @2:9 from "${name}"
    "#);
}

#[test]
fn scalars_of_kubernetes_manifest_have_the_types_of_the_schema() {
    let main = r#"resource "kubernetes_manifest" "class" {
  manifest = {
    apiVersion = "karpenter.k8s.aws/v1"
    kind       = "EC2NodeClass"
    metadata   = { name = "a", labels = { critical = true } }
    spec = {
      detailedMonitoring  = "true"
      kubelet             = { maxPods = "110", clusterDNS = ["10.0.0.10"] }
      tags                = { cost = 1234, account = 111122223333, ratio = 0.5, on = false, name = var.name }
      blockDeviceMappings = [{ ebs = { encrypted = "yes", volumeSize = "100Gi", iops = "3000" } }]
    }
  }
}
resource "kubernetes_manifest" "pool" {
  manifest = yamldecode(file("${path.module}/pool.yaml"))
}
resource "kubernetes_manifest" "app" {
  manifest = { kind = "Deployment", spec = { replicas = "2", template = { metadata = { labels = { a = 1 } } } } }
}
"#;
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {weight: '10', template: {spec: {taints: [{value: true}], requirements: [{values: [4]}]}}}\n";
    assert_snapshot!(shown(&[("main.tf", main), ("pool.yaml", pool)], &[]), @r#"
    --- main.tf:2
    .apiVersion = "karpenter.k8s.aws/v1" @3:18
    .kind = "EC2NodeClass" @4:18
    .metadata.labels.critical = "true" @5:54
    .metadata.name = "a" @5:27
    .spec.blockDeviceMappings.0.ebs.encrypted = "yes" @10:52
    .spec.blockDeviceMappings.0.ebs.iops = 3000 @10:88
    .spec.blockDeviceMappings.0.ebs.volumeSize = "100Gi" @10:72
    .spec.detailedMonitoring = true @7:29
    .spec.kubelet.clusterDNS.0 = "10.0.0.10" @8:62
    .spec.kubelet.maxPods = "${unknown}" @8:41 from "\"110\""
    .spec.tags.account = "1.111222233e+11" @9:54 from "111122223333"
    .spec.tags.cost = "1234" @9:38
    .spec.tags.name = "${var.name}" @9:100 from "var.name"
    .spec.tags.on = "false" @9:86
    .spec.tags.ratio = "0.5" @9:76
    --- main.tf:18
    .kind = "Deployment" @18:23
    .spec.replicas = "2" @18:57
    .spec.template.metadata.labels.a = "1" @18:103
    --- pool.yaml:1
    .apiVersion = "karpenter.sh/v1" @1:13
    .kind = "NodePool" @2:7
    .spec.template.spec.requirements.0.values.0 = "4" @3:90
    .spec.template.spec.taints.0.value = "true" @3:57
    .spec.weight = 10 @3:16 from "'10'"
    "#);
}

#[test]
fn a_directive_that_is_not_known_makes_the_document_unknown() {
    let text = r#"resource "kubectl_manifest" "a" {
  yaml_body = <<-EOT
    kind: A
    %{~ if module.a.is_on ~}
    role: x
    %{~ endif ~}
    name: y
  EOT
}
resource "helm_release" "karpenter" {
  chart  = "karpenter"
  values = ["replicas: 1\n%{ for x in module.a.all }x: ${x}%{ endfor }"]
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:4
    `kubectl_manifest.a`, not checked: a directive in `yaml_body` (main.tf:4) is known only after Terraform applies `${module.a.is_on}`
    --- main.tf:10
    .resource.helm_release.karpenter.chart = "karpenter" @11:12
    .resource.helm_release.karpenter.unevaluated.0 = "${unknown}" @12:13 from "\"replicas: 1\\n%{ for x in module.a.all }x: ${x}%{ endfor }\""
    "#);
}

#[test]
fn says_why_a_document_is_not_known() {
    let text = r#"resource "kubectl_manifest" "a" {
  yaml_body = data.http.manifest.body
}
resource "kubectl_manifest" "b" {
  yaml_body = yamlencode(regex("x", 1, 2))
}
resource "kubernetes_manifest" "c" {
  manifest = var.manifest
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r"
    --- main.tf:2
    `kubectl_manifest.a`, not checked: `yaml_body` is known only after Terraform applies `${data.http.manifest.body}`
    --- main.tf:5
    `kubectl_manifest.b`, not checked: `yaml_body` is not evaluated (main.tf:5): regex: The function takes 2 arguments.
    --- main.tf:8
    `kubernetes_manifest.c`, not checked: `manifest` is known only after Terraform applies `${var.manifest}`
    ");
}

#[test]
fn a_placeholder_within_a_flow_sequence_does_not_lose_the_document() {
    let text = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-EOT\n    kind: A\n    zones: [${module.vpc.az}a, '${upper(\"x\")}', b]\n    ${module.a.key}: {x: ${module.a.value}}\n  EOT\n}\n";
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:3
    .kind = "A" @3:11
    .zones.0 = "${module.vpc.az}a" @4:13
    .zones.1 = "X" @4:32 from "'${upper(\"x\")}'"
    .zones.2 = "b" @4:49
    .${module.a.key}.x = "${module.a.value}" @5:26
    "#);
}

#[test]
fn finds_a_word_in_a_string_with_known_parts() {
    let text = "variable \"x\" { default = \"longer\" }\nresource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-EOT\n    kind: A\n    data: |\n      one ${var.x} two\n      three\n  EOT\n}\n";
    let files = evaluated(&[("main.tf", text)], &[]);
    let [Document::Read(tree)] = files[0].documents.as_slice() else { panic!("{files:?}") };
    let data = tree.root().get("data").unwrap();
    let value = data.as_str().unwrap();
    let place = |word: &str| {
        let at = value.find(word).unwrap();
        let span = data.span_within(Span::new(at, at + word.len()));
        (data.source().slice(span).to_owned(), data.source().position(span.start).line)
    };
    assert_eq!(place("one"), ("one".to_owned(), 6));
    assert_eq!(place("longer"), ("${var.x}".to_owned(), 6));
    assert_eq!(place("two"), ("two".to_owned(), 6));
    assert_eq!(place("three"), ("three".to_owned(), 7));
}
