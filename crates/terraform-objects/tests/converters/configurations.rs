//! Several files, resources without objects, and files that cannot be read.

use insta::assert_snapshot;
use karpwarden_terraform_objects::evaluate;
use manifest::limits::Limits;
use manifest::{Document, File, FileKind};
use objects::embedded::READ_OPTIONS;

use crate::{evaluated, shown};

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
