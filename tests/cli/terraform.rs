//! Configurations of Terraform as input.

use insta::assert_snapshot;

use crate::folder::Folder;

/// A node class whose `spec` has a field more.
fn class(field: &str) -> String {
    format!(
        r#"variable "cluster" {{ default = "prod" }}
resource "kubectl_manifest" "class" {{
  yaml_body = <<-EOT
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata: {{name: default}}
    spec:
      role: node-${{var.cluster}}
      amiSelectorTerms: [{{alias: al2023@v20250101}}]
      subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: "${{var.cluster}}"}}}}]
      securityGroupSelectorTerms: [{{tags: {{karpenter.sh/discovery: "${{var.cluster}}"}}}}]
      {field}
  EOT
}}
"#
    )
}

#[test]
fn finds_mistakes_in_configurations_on_their_line_and_column() {
    let main = r#"resource "kubernetes_manifest" "pool" {
  manifest = {
    apiVersion = "karpenter.sh/v1"
    kind       = "NodePool"
    metadata   = { name = "default" }
    spec = {
      template = { spec = {
        nodeClassRef = { group = "karpenter.k8s.aws", kind = "EC2NodeClass", name = "default" }
        requirements = [{ key = "kubernetes.io/arch", operator = local.operator, values = ["amd64"] }]
      } }
    }
  }
}
resource "kubectl_manifest" "pool" {
  for_each  = toset(["spot", "on-demand"])
  yaml_body = templatefile("${path.module}/pools/pool.yaml.tftpl", { type = each.key })
}
locals { operator = "in" }
"#;
    let template = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: '${type}'}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: is, values: ['${type}']}
";
    let folder = Folder::with(&[
        ("infra/main.tf", main),
        ("infra/class.tf", &class("instanceProfil: x")),
        ("infra/pools/pool.yaml.tftpl", template),
        ("infra/other.tf", "resource \"aws_vpc\" \"a\" {}\n"),
    ]);
    let json = folder.run(&["check", ".", "--format", "json", "--select", "api-server"]).json();
    let findings = json["findings"].as_array().unwrap().iter().map(|finding| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!(
            "{}:{}:{} {} {} {}",
            text("file"),
            finding["line"],
            finding["column"],
            text("rule"),
            text("name"),
            text("path")
        )
    });
    assert_snapshot!(findings.collect::<Vec<_>>().join("\n"), @r"
    infra/class.tf:12:7 api-unknown-field default spec.instanceProfil
    infra/main.tf:9:66 api-enum default spec.template.spec.requirements[0].operator
    infra/pools/pool.yaml.tftpl:9:53 api-enum on-demand spec.template.spec.requirements[0].operator
    ");
    assert_eq!(
        (json["summary"]["documents"].as_i64(), json["unreadable"].as_array().unwrap().len()),
        (Some(4), 0)
    );
}

#[test]
fn reads_configurations_beside_a_named_file_and_modules_outside_of_the_input() {
    let module = class("detailedMonitoring: 'yes'");
    let root = "module \"karpenter\" {\n  source  = \"../modules/karpenter\"\n  cluster = \"dev\"\n}\n";
    let folder =
        Folder::with(&[("modules/karpenter/main.tf", &module), ("live/main.tf", root), (".git/HEAD", "")]);
    let json = folder.run(&["check", "live", "--format", "json"]).json();
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
    let notes = json["notes"].as_array().unwrap().iter().filter_map(|note| note.as_str()).collect::<Vec<_>>();
    assert!(notes.iter().any(|note| note.starts_with("not reported: 1 finding")), "{notes:?}");
    let all = folder.run(&["check", ".", "--format", "json"]).json();
    assert_eq!(all["findings"][0]["file"], "modules/karpenter/main.tf");
}

#[test]
fn reads_the_values_and_the_version_of_a_release() {
    let release = |queue: &str| {
        format!(
            r#"variable "karpenter_version" {{ default = "1.6.2" }}
resource "helm_release" "karpenter" {{
  repository = "oci://public.ecr.aws/karpenter"
  chart      = "karpenter"
  version    = var.karpenter_version
  values = [
    <<-EOT
    settings:
      clusterName: ${{module.eks.cluster_name}}
    EOT
  ]
  set {{
    name  = "settings.interruptionQueue"
    value = {queue}
  }}
}}
"#
        )
    };
    let check = |queue: &str| {
        let folder = Folder::with(&[("main.tf", &release(queue))]);
        let json = folder.run(&["check", ".", "--format", "json"]).json();
        assert_eq!(json["pins"][0]["version"], "1.6.2");
        let findings = json["findings"].as_array().unwrap().iter();
        findings
            .map(|one| format!("{} {}:{} {}", one["rule"], one["line"], one["column"], one["path"]))
            .collect::<Vec<String>>()
    };
    assert_eq!(check("module.karpenter.queue_name"), Vec::<String>::new());
    assert_eq!(
        check("\"https://sqs.eu-west-1.amazonaws.com/111122223333/a\""),
        [r#""interruption-queue-malformed" 14:13 "set[0].value""#]
    );
}

#[test]
fn broken_manifests_in_configurations_are_unreadable() {
    let broken = class("x: [");
    let literal = broken.replace("${var.cluster}", "prod");
    for text in [broken, literal] {
        let folder = Folder::with(&[("main.tf", &text), ("other.tf", "locals { a = 1 }\n")]);
        for named in ["main.tf", "."] {
            let run = folder.run(&["check", named, "--format", "json"]);
            let json = run.json();
            let place = |one: &serde_json::Value| (one["file"].to_string(), one["line"].as_i64());
            let unreadable: Vec<_> = json["unreadable"].as_array().unwrap().iter().map(place).collect();
            assert_eq!((run.status, unreadable), (4, vec![("\"main.tf\"".to_owned(), Some(12))]), "{json}");
            assert_eq!(json["summary"]["documents"], 1, "{json}");
        }
    }
}

const TEMPLATE: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: {kubernetes.io/arch: x86_64}\n  containers: [{name: a, image: a}]\n";
const FROM_TEMPLATE: &str = r#"resource "kubectl_manifest" "a" {
  yaml_body = templatefile("${path.module}/t/pod.tftpl", {})
}
"#;

#[test]
fn a_template_is_not_overwritten_by_the_report() {
    let folder = Folder::with(&[("i/main.tf", FROM_TEMPLATE), ("i/t/pod.tftpl", TEMPLATE)]);
    for command in ["check", "simulate", "hash"] {
        let run = folder.run(&[command, "i", "--output", "i/t/pod.tftpl"]);
        assert_eq!(run.status, 2, "{command}: {run:?}");
        assert!(run.stderr.contains("is also an input"), "{command}: {run:?}");
        assert_eq!(folder.read("i/t/pod.tftpl"), TEMPLATE, "{command}");
    }
}

#[cfg(unix)]
#[test]
fn fixes_no_template_behind_a_link_to_a_folder() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}\n      requirements:\n        - {key: kubernetes.io/arch, operator: In, values: [x86_64]}\n";
    let files = [("i/main.tf", FROM_TEMPLATE), ("shared/pod.tftpl", pool), ("shared/pool.yaml", pool)];
    let folder = Folder::with(&files);
    std::os::unix::fs::symlink("../shared", folder.path("i/t")).unwrap();
    let run = folder.run(&["check", "--fix", "i"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert_eq!([folder.read("shared/pod.tftpl"), folder.read("shared/pool.yaml")], [pool, pool], "{run:?}");
}
