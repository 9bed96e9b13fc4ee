//! Configurations of Terraform as input.

use insta::assert_snapshot;

use crate::folder::{Folder, Run};

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
fn fields_around_a_directive_are_checked_and_the_others_are_told() {
    let main = r#"variable "x" {}
resource "kubectl_manifest" "a" {
  yaml_body = <<-YAML
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata: {name: default}
    spec:
      %{ if var.x }
      tags: {a: b}
      %{ endif }
      role: r
      amiSelectorTerms: [{alias: AL2023@latest}]
  YAML
}
"#;
    let folder = Folder::with(&[("main.tf", main)]);
    let run = folder.run(&["check", "."]);
    assert!(run.stdout.contains("main.tf:12:34"), "{}", run.stdout);
    assert!(run.stdout.contains("(1 checked in part; see --verbose)"), "{}", run.stdout);
    let reason = "`kubectl_manifest.a`, not checked in `spec.tags`: a directive in `yaml_body` (main.tf:8) is known only after Terraform applies `${var.x}`";
    assert!(folder.run(&["check", "--verbose", "."]).stdout.contains(reason));
    let json = folder.run(&["check", ".", "--format", "json"]).json();
    assert_eq!(json["skipped"][0]["reason"], reason);
    let hash = folder.run(&["hash", "."]);
    assert_eq!(hash.status, 1, "{}", hash.stdout);
    assert!(hash.stdout.contains("no hash: spec.tags has a placeholder"), "{}", hash.stdout);
    // Either one or the other, and not both.
    let either = main.replace("tags: {a: b}", "role: r\n      %{ else }\n      instanceProfile: p").replacen(
        "      role: r\n      ami",
        "      ami",
        1,
    );
    let run = Folder::with(&[("main.tf", &either)]).run(&["check", "."]);
    assert!(run.stdout.starts_with("no findings"), "{}", run.stdout);
}

#[test]
fn a_plan_compares_what_a_directive_may_write() {
    let old = r#"variable "x" {}
resource "kubectl_manifest" "pool" {
  yaml_body = <<-YAML
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: default}
    spec:
      template:
        metadata:
          labels:
            team: a
            %{ if var.x }
            tier: gold
            %{ endif }
        spec:
          nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
          requirements: []
  YAML
}
"#;
    let effect = |from: &str, to: &str| {
        let new = old.replace(from, to);
        let folder = Folder::with(&[("old/main.tf", old), ("new/main.tf", &new)]);
        let json = folder.run(&["plan", "old", "new", "--format", "json"]).json();
        json["changes"][0]["effect"].as_str().map(str::to_owned)
    };
    assert_eq!(effect("team: a", "team: b").as_deref(), Some("replaces-all"));
    assert_eq!(effect("tier: gold", "tier: silver").as_deref(), Some("unknown"));
    assert_eq!(effect("variable \"x\" {}", "variable \"x\" {}\nvariable \"y\" {}"), None);
}

#[test]
fn two_fields_of_which_one_may_be_null_do_not_exclude_each_other() {
    let main = r#"resource "kubectl_manifest" "class" {
  yaml_body = yamlencode({
    apiVersion = "karpenter.k8s.aws/v1"
    kind       = "EC2NodeClass"
    metadata   = { name = "default" }
    spec = {
      role                       = "KarpenterNodeRole"
      amiSelectorTerms           = [{ id = module.x.id, alias = module.x.alias }]
      amiFamily                  = "AL2023"
      subnetSelectorTerms        = [{ id = module.x.id, tags = module.x.tags }]
      securityGroupSelectorTerms = [{ id = module.x.id, name = module.x.name, tags = null }]
      networkInterfaces          = [{ networkCardIndex = 0, deviceIndex = 0, interfaceType = module.x.type }]
    }
  })
}
resource "kubectl_manifest" "pool" {
  yaml_body = yamlencode({
    apiVersion = "karpenter.sh/v1"
    kind       = "NodePool"
    metadata   = { name = "default" }
    spec = {
      replicas   = module.x.replicas
      weight     = module.x.weight
      limits     = { cpu = module.x.cpu, nodes = 1 }
      disruption = { consolidateAfter = "30s", budgets = [{ nodes = "10%", schedule = module.x.schedule }] }
      template = { spec = {
        nodeClassRef = { group = "karpenter.k8s.aws", kind = "EC2NodeClass", name = "default" }
        requirements = []
      } }
    }
  })
}
"#;
    let errors = |main: &str| {
        let json = Folder::with(&[("main.tf", main)]).run(&["check", ".", "--format", "json"]).json();
        let findings = json["findings"].as_array().unwrap().iter();
        let errors = findings.filter(|finding| finding["severity"] == "error");
        errors.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(errors(main), [""; 0]);
    let known = main
        .replace("module.x.id", "\"subnet-0123456789abcdef0\"")
        .replace("module.x.tags", "{ a = \"b\" }")
        .replace("module.x.weight", "7")
        .replace("module.x.replicas", "3");
    let known = errors(&known);
    assert!(known.iter().any(|message| message.contains("`subnetSelectorTerms` has `id` and")), "{known:?}");
    assert!(known.iter().any(|message| message.contains("has `replicas` and a `weight`")), "{known:?}");
}

#[test]
fn objects_in_the_values_of_other_charts_are_checked() {
    let pool = |key: &str| {
        format!(
            r#"
resource "helm_release" "pool" {{
  name       = "pool"
  repository = "https://bedag.github.io/helm-charts"
  chart      = "{key}"
  values = [yamlencode({{
    resources = [{{ apiVersion = "karpenter.sh/v1", kind = "NodePool", metadata = {{ name = "a" }}, spec = {{ weigth = 1 }} }}]
    templates = [<<-YAML
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {{name: b}}
      spec: {{weihgt: 1}}
    YAML
    ]
    extraObjects = [{{ apiVersion = "karpenter.sh/v1", kind = "NodePool", metadata = {{ name = "c" }}, spec = {{ wieght = 1 }} }}]
  }})]
}}
"#
        )
    };
    let fields = |chart: &str| {
        let json = Folder::with(&[("main.tf", &pool(chart))]).run(&["check", ".", "--format", "json"]).json();
        let findings = json["findings"].as_array().unwrap().iter();
        let unknown = findings.filter(|finding| finding["rule"] == "api-unknown-field");
        unknown
            .map(|finding| format!("{}:{}", finding["path"].as_str().unwrap(), finding["line"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(fields("raw"), ["spec.weigth:7", "spec.weihgt:12"]);
    assert_eq!(fields("argo-cd"), ["spec.weigth:7", "spec.wieght:15"]);
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

/// The findings of a configuration in one file: rule, line, column and severity.
fn findings_in(main: &str) -> Vec<String> {
    let folder = Folder::with(&[("main.tf", main)]);
    let json = folder.run(&["check", ".", "--format", "json"]).json();
    let line = |one: &serde_json::Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        format!("{}:{} {} {}", one["line"], one["column"], text("severity"), text("rule"))
    };
    json["findings"].as_array().unwrap().iter().map(line).collect()
}

/// A policy of the controller with a document.
fn policy(document: &str) -> String {
    format!(
        "resource \"aws_iam_policy\" \"karpenter\" {{\n  name   = \"karpenter\"\n  policy = {document}\n}}\n"
    )
}

/// A document whose statements need the tag of a cluster.
fn encoded(cluster: &str) -> String {
    let actions = "\"ec2:RunInstances\", \"ec2:CreateFleet\", \"ec2:CreateLaunchTemplate\", \"ec2:TerminateInstances\", \"ec2:DeleteLaunchTemplate\"";
    format!(
        r#"jsonencode({{ Statement = [{{
    Effect = "Allow", Action = [{actions}], Resource = "*"
    Condition = {{ StringEquals = {{ "aws:ResourceTag/kubernetes.io/cluster/{cluster}" = "owned" }} }}
  }}] }})"#
    )
}

#[test]
fn a_parameter_of_cloudformation_stays_in_the_condition_of_a_policy() {
    let found = ["5:36 error iam-tag-condition-mismatch"];
    for name in ["$${ClusterName}", "${ClusterName}", "$${AWS::Region}"] {
        assert_eq!(findings_in(&policy(&encoded(name))), found, "{name}");
    }
    for name in ["${module.eks.cluster_name}", "${var.cluster_name}", "prod"] {
        assert_eq!(findings_in(&policy(&encoded(name))), Vec::<String>::new(), "{name}");
    }
    let json = r#"{"Statement": [{"Effect": "Allow", "Action": ["ec2:RunInstances", "ec2:CreateFleet",
    "ec2:CreateLaunchTemplate", "ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"], "Resource": "*", "Condition":
    {"StringEquals": {"aws:ResourceTag/eks:eks-cluster-name": "MARK${ClusterName}"}}}]}
"#;
    let here_document = policy(&format!("<<-JSON\n  {json}  JSON").replace("MARK", "$"));
    assert_eq!(findings_in(&here_document), ["6:63 error iam-tag-condition-mismatch"]);
    let folder = Folder::with(&[
        ("main.tf", &policy("file(\"policy.json\")")),
        ("policy.json", &json.replace("MARK", "")),
    ]);
    let json = folder.run(&["check", ".", "--format", "json"]).json();
    assert_eq!(json["findings"][0]["file"], "policy.json", "{json}");
    assert_eq!(json["findings"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn conditions_that_are_not_known_may_limit_a_policy() {
    let known = encoded("prod");
    let condition = "{ StringEquals = { \"aws:ResourceTag/kubernetes.io/cluster/prod\" = \"owned\" } }";
    for unknown in
        ["var.condition", "{ StringEquals = var.tags }", "{ StringEquals = { \"${var.tag}\" = \"owned\" } }"]
    {
        let document = known.replace(condition, unknown);
        assert_ne!(document, known);
        assert_eq!(findings_in(&policy(&document)), Vec::<String>::new(), "{unknown}");
    }
    assert_eq!(findings_in(&policy(&known.replace(condition, "{}"))), ["4:100 warning iam-delete-unscoped"]);
}

#[test]
fn finds_mistakes_in_user_data_and_in_references_to_profiles() {
    let script = class(
        "userData: |\n        #!/bin/bash\n        /etc/eks/bootstrap.sh ${module.eks.cluster_name} --kubelet-extra-args='--node-labels=a=b'",
    );
    let script = script.replace("al2023@v20250101", "al2@v20250101");
    let profile = class("")
        .replace("role: node-${var.cluster}", "instanceProfile: ${aws_iam_instance_profile.node.arn}");
    let folder = Folder::with(&[("a/main.tf", &script), ("b/main.tf", &profile)]);
    let run = folder.run(&[
        "check",
        "--fix",
        ".",
        "--select",
        "bootstrap-argument-ignored",
        "--select",
        "instance-profile-is-arn",
    ]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.read("a/main.tf"), script.replace("--kubelet-extra-args=", "--kubelet-extra-args "));
    let named = profile.replace("profile.node.arn", "profile.node.name");
    assert_eq!(folder.read("b/main.tf"), named);
    let folder = Folder::with(&[("main.tf", &named)]);
    assert_eq!(folder.run(&["check", ".", "--select", "instance-profile-is-arn"]).status, 0);
}

#[test]
fn refers_to_the_name_of_a_role_instead_of_its_arn() {
    let text = class("").replace("node-${var.cluster}", "${aws_iam_role.node.arn}");
    let of_module = text.replace("aws_iam_role.node.arn", "module.karpenter.node_iam_role_arn");
    let folder = Folder::with(&[("a/main.tf", &text), ("b/main.tf", &of_module)]);
    let select = ["check", ".", "--select", "nodeclass-role-is-arn", "--karpenter-version", "1.1"];
    let found = |run: &Run| -> Vec<String> {
        let findings = run.json();
        let one = |finding: &serde_json::Value| format!("{} {}", finding["file"], finding["severity"]);
        findings["findings"].as_array().unwrap().iter().map(one).collect()
    };
    let run = folder.run(&[&select[..], &["--format", "json"]].concat());
    assert_eq!(found(&run), ["\"a/main.tf\" \"error\"", "\"b/main.tf\" \"warning\""]);
    folder.run(&[&select[..], &["--fix"]].concat());
    assert_eq!(folder.read("a/main.tf"), text.replace("role.node.arn", "role.node.name"));
    assert_eq!(folder.read("b/main.tf"), of_module);
    let run = folder.run(&[&select[..], &["--format", "json"]].concat());
    assert_eq!(found(&run), ["\"b/main.tf\" \"warning\""]);
}

#[test]
fn associations_and_access_entries_name_roles() {
    let role = class("").replace("node-${var.cluster}", "karpenter");
    let arn = "arn:aws:iam::111122223333:role/karpenter";
    let association = format!(
        "resource \"aws_eks_pod_identity_association\" \"a\" {{\n  cluster_name = \"prod\"\n  namespace = \"kube-system\"\n  service_account = \"karpenter\"\n  role_arn = \"{arn}\"\n}}\n"
    );
    assert_eq!(findings_in(&(association.clone() + &role)), ["14:13 warning node-role-is-controller-role"]);
    assert_eq!(findings_in(&(association.replace("\"karpenter\"", "\"ci\"") + &role)), Vec::<String>::new());
    let entry = format!(
        "resource \"aws_eks_access_entry\" \"a\" {{\n  cluster_name = \"prod\"\n  principal_arn = \"{arn}\"\n}}\n"
    );
    assert_eq!(findings_in(&(entry.clone() + &role)), ["1:1 error access-entry-missing-or-wrong-type"]);
    let linux = entry.replace('}', "  type = \"EC2_LINUX\"\n}");
    assert_eq!(findings_in(&(linux + &role)), Vec::<String>::new());
}

#[test]
fn two_clusters_with_one_name_are_found_in_releases() {
    let release = |name: &str| {
        format!(
            "locals {{ name = \"{name}\" }}\nresource \"helm_release\" \"karpenter\" {{\n  chart = \"karpenter\"\n  set {{\n    name = \"settings.clusterName\"\n    value = local.name\n  }}\n}}\n"
        )
    };
    let check = |second: &str| {
        let folder = Folder::with(&[("eu/main.tf", &release("prod")), ("us/main.tf", &release(second))]);
        let json = folder.run(&["check", "--cluster", "eu", "--cluster", "us", "--format", "json"]).json();
        let all = json["findings"].as_array().unwrap().iter();
        all.map(|one| format!("{} {}:{}", one["rule"], one["file"], one["line"])).collect::<Vec<_>>()
    };
    assert_eq!(check("prod"), [r#""cluster-name-shared" "us/main.tf":6"#]);
    assert_eq!(check("prod-us"), Vec::<String>::new());
}

#[test]
fn modules_are_compared_with_values_and_node_classes() {
    let module = r#"module "karpenter" {
  source       = "terraform-aws-modules/eks/aws//modules/karpenter"
  cluster_name = var.cluster
}
resource "helm_release" "karpenter" {
  chart  = "karpenter"
  values = [yamlencode({ settings = { clusterName = var.cluster, interruptionQueue = var.cluster } })]
}
resource "aws_iam_role_policy" "volumes" {
  role   = module.karpenter.iam_role_name
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["ec2:AttachVolume", "ec2:DescribeInstances"], Resource = "*" }] })
}
"#;
    let main = module.to_owned() + &class("").replace("node-$", "Karpenter-$");
    assert_eq!(
        findings_in(&main),
        ["7:86 warning interruption-queue-mismatch", "20:13 warning node-role-name-has-suffix"]
    );
    let fixed = main
        .replace("interruptionQueue = var.cluster", "interruptionQueue = module.karpenter.queue_name")
        .replace("= var.cluster\n}", "= var.cluster\n  node_iam_role_use_name_prefix = false\n}");
    assert_eq!(findings_in(&fixed), Vec::<String>::new());
}

#[test]
fn values_that_only_terraform_knows_break_no_relation_of_the_api_server() {
    let class = |more: &str| {
        format!(
            "resource \"kubernetes_manifest\" \"class\" {{\n  manifest = {{\n    apiVersion = \"karpenter.k8s.aws/v1\"\n    \
             kind = \"EC2NodeClass\"\n    metadata = {{ name = \"a\" }}\n    spec = {{\n      amiSelectorTerms = [{{ alias = \"al2023@v20250807\" }}]\n      \
             subnetSelectorTerms = [{{ tags = {{ a = \"b\" }} }}]\n      securityGroupSelectorTerms = [{{ tags = {{ a = \"b\" }} }}]\n      {more}\n    }}\n  }}\n}}\n"
        )
    };
    let pool = "resource \"kubernetes_manifest\" \"pool\" {\n  manifest = {\n    apiVersion = \"karpenter.sh/v1\"\n    kind = \"NodePool\"\n    \
                metadata = { name = \"a\" }\n    spec = { template = { spec = {\n      nodeClassRef = { group = \"karpenter.k8s.aws\", kind = \"EC2NodeClass\", name = \"a\" }\n      \
                requirements = [{ key = \"karpenter.k8s.aws/instance-category\", operator = \"In\", values = var.categories, minValues = 2 }]\n    } } }\n  }\n}\n";
    for more in [
        "role = var.x ? \"a\" : null\n      instanceProfile = var.x ? null : \"b\"",
        "role = \"r\"\n      kubelet = { imageGCHighThresholdPercent = 85, imageGCLowThresholdPercent = var.low }",
        "role = \"r\"\n      kubelet = { evictionSoft = { \"memory.available\" = \"5%\" }, evictionSoftGracePeriod = var.periods }",
    ] {
        let found = findings_in(&(class(more) + pool));
        assert!(!found.iter().any(|finding| finding.contains("error")), "{more}: {found:?}");
    }
    let both = "role = \"a\"\n      instanceProfile = \"b\"";
    assert!(findings_in(&class(both)).iter().any(|finding| finding.contains("error api-rule")));
}

/// The function also changes the form of the text that the directive writes.
#[test]
fn a_directive_in_a_text_that_a_function_writes_in_another_form_is_no_error() {
    let list = "- key: kubernetes.io/os\n  operator: In\n  values: [linux]\n%{ if a ~}\n- key: kubernetes.io/arch\n  operator: In\n  values: [amd64]\n%{ endif ~}\n";
    let pool = r#"variable "a" { type = bool }
resource "kubectl_manifest" "pool" {
  yaml_body = <<-EOT
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: default}
    spec:
      template:
        spec:
          nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
          requirements:
          ${indent(6, templatefile("${path.module}/list.tftpl", { a = var.a }))}
  EOT
}
"#;
    let toml = "[settings.kubernetes]\ncluster-name = \"prod\"\n%{ if a ~}\n[settings.kubernetes.node-labels]\nteam = \"a\"\n%{ endif ~}\n";
    let given = |function: &str| {
        class(&format!(
            "userData: ${{{function}templatefile(\"${{path.module}}/data.tftpl\", {{ a = var.a }}))}}"
        ))
        .replace("al2023@v20250101", "bottlerocket@v1.30.0")
    };
    for class in [given("jsonencode("), given("format(\"%q\", ")] {
        let folder = Folder::with(&[
            ("infra/pool.tf", pool),
            ("infra/list.tftpl", list),
            ("infra/main.tf", class.as_str()),
            ("infra/data.tftpl", toml),
        ]);
        let run = folder.check(&["infra", "--verbose"]);
        assert!(run.stdout.contains("no findings in 2 documents"), "{}", run.stdout);
    }
}

#[test]
fn a_file_that_is_no_text_has_no_hash() {
    let folder = Folder::with(&[(
        "main.tf",
        &class("tags: {build: '${substr(filesha256(\"${path.module}/lambda.zip\"), 0, 8)}'}"),
    )]);
    folder.write("lambda.zip", b"PK\x03\x04\xff\xfe\x00");
    let run = folder.run(&["hash", "--format", "json", "."]);
    assert_eq!(run.json()["objects"][0]["hash"], "", "{run:?}");
}
