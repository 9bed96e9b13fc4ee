//! The documents that each converter makes of a resource.

use core::fmt::Write as _;

mod aws;
mod directives;
mod infrastructure;
mod kubernetes;
mod plans;
mod roots;

use insta::assert_snapshot;
use karpwarden_terraform_objects::{FilesBeside, evaluate};
use manifest::limits::Limits;
use manifest::source::Span;
use manifest::tree::{Node, Value};
use manifest::{Document, File, FileKind};
use objects::embedded::READ_OPTIONS;

/// Templates and other files beside the input.
struct Templates(Vec<(&'static str, &'static str)>);

impl FilesBeside for Templates {
    fn read(&self, name: &str) -> Option<File> {
        let (name, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(File::read(*name, *text, READ_OPTIONS))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn names_in(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

fn evaluated(inputs: &[(&str, &str)], beside: &[(&'static str, &'static str)]) -> Vec<File> {
    let mut files: Vec<File> =
        inputs.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
    evaluate(&mut files, &Templates(beside.to_vec()), &Limits::DEFAULT);
    files
}

/// The documents of all files: each scalar with its path, its value, its line and the text at its place.
fn shown(inputs: &[(&str, &str)], beside: &[(&'static str, &'static str)]) -> String {
    shown_files(&evaluated(inputs, beside))
}

fn shown_files(files: &[File]) -> String {
    let mut shown = String::new();
    for file in files {
        for document in &file.documents {
            let line = file.source.position(document.start()).line;
            let _ = writeln!(shown, "--- {}:{line}", file.source.name());
            match document {
                Document::Read(tree) => {
                    show(tree.root(), "", &mut shown);
                    for reason in tree.hidden() {
                        let _ = writeln!(shown, "{reason}");
                    }
                }
                Document::Unevaluated { reason, .. } => {
                    let _ = writeln!(shown, "{reason}");
                }
                other => {
                    let _ = writeln!(shown, "{other:?}");
                }
            }
        }
    }
    shown
}

fn show(node: Node<'_>, path: &str, into: &mut String) {
    let value = match node.value() {
        Value::Mapping | Value::Sequence => {
            for child in node.children() {
                let key = if node.is_mapping() { child.key().to_owned() } else { child.index().to_string() };
                show(child, &format!("{path}.{key}"), into);
            }
            return;
        }
        Value::String(text) => format!("{text:?}"),
        _ => node.spelling().to_owned(),
    };
    let position = node.source().position(node.span().start);
    let text = node.source().slice(node.span());
    let same = if value.trim_matches('"') == text.trim_matches('"') {
        String::new()
    } else {
        format!(" from {text:?}")
    };
    let _ = writeln!(into, "{path} = {value} @{}:{}{same}", position.line, position.column);
}

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
    .spec.kubelet.maxPods = 110 @8:41
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
fn helm_release_of_karpenter_has_merged_values_and_parameters() {
    let text = r#"resource "helm_release" "karpenter" {
  repository = "oci://public.ecr.aws/karpenter"
  chart      = "karpenter"
  version    = "1.6.2"
  values = [
    <<-EOT
      settings:
        clusterName: ${module.eks.cluster_name}
        interruptionQueue: a
    EOT
    ,
    yamlencode({ settings = { interruptionQueue = "b" }, replicas = 2 }),
    file("absent.yaml"),
  ]
  set {
    name  = "settings.x"
    value = "y"
  }
  dynamic "set" {
    for_each = { "controller.a" = 1 }
    content {
      name  = set.key
      value = set.value
    }
  }
}
resource "helm_release" "nginx" {
  chart = "nginx"
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .resource.helm_release.karpenter.chart = "karpenter" @3:16
    .resource.helm_release.karpenter.repository = "oci://public.ecr.aws/karpenter" @2:16
    .resource.helm_release.karpenter.version = "1.6.2" @4:16
    .resource.helm_release.karpenter.values.settings.clusterName = "${module.eks.cluster_name}" @8:22
    .resource.helm_release.karpenter.values.settings.interruptionQueue = "b" @12:51
    .resource.helm_release.karpenter.values.replicas = 2 @12:69
    .resource.helm_release.karpenter.set.0.name = "settings.x" @16:13
    .resource.helm_release.karpenter.set.0.value = "y" @17:13
    .resource.helm_release.karpenter.set.1.name = "controller.a" @22:15 from "set.key"
    .resource.helm_release.karpenter.set.1.value = 1 @23:15 from "set.value"
    .resource.helm_release.karpenter.unevaluated.0 = "${file(\"absent.yaml\")}" @13:5 from "file(\"absent.yaml\")"
    "#);
}

#[test]
fn configurations_in_json_have_the_places_of_their_values() {
    let json = r#"{
  "locals": { "name": "prod" },
  "data": { "aws_iam_policy_document": { "a": {
    "statement": { "actions": ["ec2:RunInstances"], "resources": ["*"],
      "condition": [{ "test": "StringEquals", "variable": "aws:RequestTag/x", "values": ["${local.name}"] }] }
  } } },
  "resource": {
    "kubectl_manifest": { "pool": {
      "yaml_body": "${yamlencode({\"kind\": \"A\", \"name\": local.name})}"
    }, "text": {
      "yaml_body": "kind: B\nmetadata:\n  name: \"pool-${local.name}\"\n  labels: {a: ${module.eks.name}}\n"
    } },
    "kubernetes_manifest": { "b": { "manifest": { "kind": "C", "name": "${local.name}", "none": null } } },
    "helm_release": { "karpenter": { "chart": "karpenter", "version": "1.6.2",
      "set": [{ "name": "settings.x", "value": "y" }],
      "dynamic": { "set": { "for_each": { "k": "v" }, "content": { "name": "${set.key}", "value": "${set.value}" } } } } },
    "aws_iam_policy": { "karpenter": { "policy": "${data.aws_iam_policy_document.a.json}" } }
  }
}
"#;
    assert_snapshot!(shown(&[("main.tf.json", json)], &[]), @r#"
    --- main.tf.json:9
    .kind = "A" @9:46 from "\"A\\"
    .name = "prod" @9:62 from "local.name"
    --- main.tf.json:11
    .kind = "B" @11:27
    .metadata.name = "pool-prod" @11:49 from "\\\"pool-${local.name}\\\""
    .metadata.labels.a = "${module.eks.name}" @11:87
    --- main.tf.json:13
    .kind = "C" @13:59
    .name = "prod" @13:75 from "local.name"
    --- main.tf.json:14
    .resource.helm_release.karpenter.chart = "karpenter" @14:47
    .resource.helm_release.karpenter.version = "1.6.2" @14:71
    .resource.helm_release.karpenter.set.0.name = "settings.x" @15:25
    .resource.helm_release.karpenter.set.0.value = "y" @15:48
    .resource.helm_release.karpenter.set.1.name = "k" @16:79 from "set.key"
    .resource.helm_release.karpenter.set.1.value = "v" @16:102 from "set.value"
    --- main.tf.json:17
    .Resources.karpenter.Type = "AWS::IAM::ManagedPolicy" @17:25 from "\"karpenter\""
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Effect = "Allow" @4:5 from "\"statement\""
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Action.0 = "ec2:RunInstances" @4:32
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Resource.0 = "*" @4:67
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Condition.StringEquals.aws:RequestTag/x.0 = "prod" @5:93 from "local.name"
    "#);
}

#[test]
fn override_files_replace_values_at_their_own_place() {
    let main = "resource \"kubernetes_manifest\" \"a\" {\n  manifest = { kind = local.kind }\n}\nlocals { kind = \"A\" }\n";
    let files = [("main.tf", main), ("override.tf", "locals { kind = \"B\" }\n")];
    assert_snapshot!(shown(&files, &[]), @r#"
    --- main.tf:2
    .kind = "B" @2:23 from "local.kind"
    "#);
    let body = "resource \"kubernetes_manifest\" \"a\" {\n  manifest = { kind = \"C\" }\n}\n";
    let files = [("main.tf", main), ("x_override.tf", body), ("y_override.tf.json", "{\"a\": ")];
    assert_snapshot!(shown(&files, &[]), @r#"
    --- x_override.tf:2
    .kind = "C" @2:23
    --- y_override.tf.json:1
    Unreadable { at: 0, error: Json(Unclosed('{', '}')) }
    "#);
}

#[test]
fn sensitive_parameters_of_a_release_are_placeholders() {
    let text = r#"resource "helm_release" "a" {
  chart = "karpenter"
  set_sensitive {
    name  = "a"
    value = "secret"
  }
}
resource "helm_release" "b" {
  chart         = "karpenter"
  set_sensitive = [{ name = "b", value = "secret" }]
}
"#;
    let shown = shown(&[("main.tf", text)], &[]);
    assert_eq!(shown.matches(".value = \"${sensitive}\"").count(), 2, "{shown}");
    assert!(!shown.contains("= \"secret\""), "{shown}");
}

#[test]
fn modules_with_equal_values_have_their_documents_once() {
    let main = r#"module "a" {
  source = "./m"
  name   = "x"
}
module "b" {
  source = "./m"
  name   = "x"
}
module "c" {
  source = "./m"
  name   = "y"
}
"#;
    let module = "variable \"name\" {}\nresource \"kubernetes_manifest\" \"m\" {\n  manifest = { kind = var.name }\n}\n";
    assert_snapshot!(shown(&[("main.tf", main), ("m/main.tf", module)], &[]), @r#"
    --- m/main.tf:3
    .kind = "x" @3:23 from "var.name"
    --- m/main.tf:3
    .kind = "y" @3:23 from "var.name"
    "#);
}

#[test]
fn here_documents_of_other_blocks_stay() {
    let text = "resource \"null_resource\" \"a\" {\n  x = <<-EOT\n    kind: A\n  EOT\n}\nresource \"kubectl_manifest\" \"b\" {}\n";
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:3
    .kind = "A" @3:11
    "#);
}

#[test]
fn a_resource_without_instances_makes_no_object() {
    let off = |name: &str, more: &str| {
        format!(
            "resource \"kubectl_manifest\" \"{name}\" {{\n  {more}\n  yaml_body = <<-EOT\n    kind: B\n    name: ${{upper(\"x\")}}\n  EOT\n}}\n"
        )
    };
    let main = off("a", "count = 0") + &off("b", "for_each = {}") + &off("c", "count = module.far.enabled");
    let module = "module \"m\" {\n  source = \"./m\"\n  count  = 0\n}\n";
    let others = "data \"kubectl_manifest\" \"e\" {\n  count = 0\n}\nmodule \"helm_release\" {\n  source = \"example/f/aws\"\n  count  = 0\n}\n";
    let files =
        [("main.tf", main.as_str()), ("call.tf", module), ("m/m.tf", &off("d", "")), ("z.tf", others)];
    assert_snapshot!(shown(&files, &[]), @r#"
    --- main.tf:1
    `kubectl_manifest.a` makes no object: `count` is 0
    --- main.tf:8
    `kubectl_manifest.b` makes no object: `for_each` is empty
    --- main.tf:18
    .kind = "B" @18:11
    .name = "X" @19:11 from "${upper(\"x\")}"
    --- m/m.tf:1
    `kubectl_manifest.d` makes no object: `count` of `module.m` is 0
    "#);
    // So have the modules that such a module calls, and a module that calls itself ends.
    let inner = "module \"n\" {\n  source = \"../n\"\n}\n";
    let files = [("call.tf", module), ("m/m.tf", inner), ("n/n.tf", &[inner, &off("d", "")].concat())];
    assert_snapshot!(shown(&files, &[]), @r"
    --- n/n.tf:4
    `kubectl_manifest.d` makes no object: `count` of `module.m` is 0
    ");
    // Another module has an instance.
    let twice = "module \"n\" {\n  source = \"./m\"\n}\n";
    let files = [("call.tf", [module, twice].concat()), ("m/m.tf", off("d", ""))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_snapshot!(shown(&files, &[]), @r#"
    --- m/m.tf:4
    .kind = "B" @4:11
    .name = "X" @5:11 from "${upper(\"x\")}"
    "#);
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
fn configurations_share_a_bound_on_their_work() {
    // Each folder takes a twentieth of the steps of the whole input or more.
    let main = r#"locals { all = [for a in range(40) : [for b in range(1000) : a * b]] }
resource "kubernetes_manifest" "a" {
  manifest = { kind = "A", name = length(local.all) }
}
"#;
    let names: Vec<String> = (0..24).map(|index| format!("root{index}/main.tf")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), main)).collect();
    let shown = shown(&files, &[]);
    let known = shown.matches(".name = 40").count();
    assert!((1..24).contains(&known), "{known}");
    assert!(shown.contains("--- root23/main.tf:1\nTerraform, not evaluated"), "{shown}");
}

#[test]
fn a_file_that_does_not_parse_keeps_its_here_documents_and_says_why() {
    let text =
        "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-EOT\n    kind: A\n  EOT\n  b = = 1\n}\n";
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:3
    .kind = "A" @3:11
    --- main.tf:5
    Terraform, not evaluated, only its here-documents are read: The file is not valid HCL: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit
    "#);
}

#[test]
fn configurations_without_objects_are_no_documents() {
    let files = evaluated(&[("main.tf", "locals { a = 1 }\n"), ("a.yaml", "kind: A\n")], &[]);
    assert!(files[0].documents.is_empty() && files[0].kind == FileKind::TextOnly);
    assert_eq!(files[1].documents.len(), 1);
    let mut named = File { is_relevant: Some(true), ..File::read("main.tf", "locals {}\n", READ_OPTIONS) };
    named = {
        let mut files = vec![named];
        evaluate(&mut files, &karpwarden_terraform_objects::NoFilesBeside, &Limits::DEFAULT);
        files.remove(0)
    };
    assert!(matches!(named.documents.as_slice(), [Document::Script(_)]));
}

#[test]
fn evaluating_again_gives_the_documents_of_the_new_text() {
    let main = "resource \"kubernetes_manifest\" \"a\" {\n  manifest = { kind = local.kind }\n}\n";
    let read = |name: &str, text: &str| File::read(name, text, READ_OPTIONS);
    let mut files = vec![read("main.tf", main), read("locals.tf", "locals { kind = \"A\" }\n")];
    let kind = |files: &[File]| match files[0].documents.as_slice() {
        [Document::Read(tree)] => tree.root().str_at(&["kind"]).unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    evaluate(&mut files, &karpwarden_terraform_objects::NoFilesBeside, &Limits::DEFAULT);
    assert_eq!(kind(&files), "A");
    files[1] = read("locals.tf", "locals { kind = \"B\" }\n");
    evaluate(&mut files, &karpwarden_terraform_objects::NoFilesBeside, &Limits::DEFAULT);
    assert_eq!(kind(&files), "B");
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
