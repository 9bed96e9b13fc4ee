//! `karpwarden plan` about what changes around NodePools and EC2NodeClasses: Kubernetes, versions before 1.0, node classes of EKS Auto Mode,
//! static NodePools and pods without a place.

use serde_json::Value;

use crate::folder::Folder;

const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {d: x}}]
  securityGroupSelectorTerms: [{tags: {d: x}}]
";

fn pool(name: &str, class: &str, spec: &str) -> String {
    format!(
        "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  {spec}
  template:
    spec:
      nodeClassRef: {class}
      requirements: [{{key: kubernetes.io/arch, operator: In, values: [amd64]}}]
"
    )
}

const OWN: &str = "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}";

/// The plan of a change of one file beside others.
fn plan(beside: &str, (file, old, new): (&str, &str, &str), further: &[&str]) -> (i32, Value) {
    let (one, other) = (format!("old/{file}"), format!("new/{file}"));
    let files = [
        ("old/beside.yaml", beside),
        ("new/beside.yaml", beside),
        (one.as_str(), old),
        (other.as_str(), new),
    ];
    let folder = Folder::with(&files);
    let run = folder.run(&[&["plan", "old", "new", "--format", "json"], further].concat());
    let answer = run.json();
    crate::answers::assert_valid("plan", &answer);
    (run.status, answer)
}

fn verdict(beside: &str, change: (&str, &str, &str)) -> String {
    plan(beside, change, &["--karpenter-version", "1.14"]).1["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn another_version_of_kubernetes_replaces_the_nodes_of_aliases() {
    let beside = format!("{}---\n{CLASS}", pool("default", OWN, "weight: 1"));
    let module = |version: &str| {
        format!(
            "module \"eks\" {{\n  source = \"terraform-aws-modules/eks/aws\"\n  cluster_name = \"prod\"\n  cluster_version = \"{version}\"\n}}\n\
             module \"karpenter\" {{\n  source = \"terraform-aws-modules/eks/aws//modules/karpenter\"\n  cluster_name = \"prod\"\n}}\n"
        )
    };
    let config = |version: &str| {
        format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: prod, version: '{version}'}}\n"
        )
    };
    let stack = |version: &str| {
        format!(
            "Resources:\n  Prod: {{Type: 'AWS::EKS::Cluster', Properties: {{Name: prod, Version: '{version}'}}}}\n"
        )
    };
    let expected = "replaces every node of 1 NodePool (default): Kubernetes 1.33 → 1.34";
    for (file, text) in
        [("main.tf", &module as &dyn Fn(&str) -> String), ("cluster.yaml", &config), ("stack.yaml", &stack)]
    {
        let verdict_of = |old: &str, new: &str, beside: &str| verdict(beside, (file, &text(old), &text(new)));
        assert_eq!(verdict_of("1.33", "1.34", &beside), expected, "{file}");
        let same = verdict_of("1.33", "1.33", &beside);
        assert!(same.starts_with("no node is replaced"), "{file}: {same}");
        let by_id = beside.replace("{alias: al2023@v20250807}", "{id: ami-0123456789abcdef0}");
        let kept = verdict_of("1.33", "1.34", &by_id);
        assert!(kept.starts_with("no node is replaced"), "{file}: {kept}");
    }
    let open = verdict(&beside, ("main.tf", &module("${var.version}"), &module("1.34")));
    assert!(open.starts_with("may replace nodes of 1 NodePool (default): Kubernetes"), "{open}");
}

#[test]
fn outputs_of_published_modules_depend_on_some_of_their_arguments() {
    let class = CLASS.replace("role: nodes", "role: \"${module.karpenter.node_iam_role_name}\"");
    let main = format!(
        "module \"vpc\" {{\n  source = \"terraform-aws-modules/vpc/aws\"\n  name = \"prod\"\n}}\n\
         module \"eks\" {{\n  source = \"terraform-aws-modules/eks/aws\"\n  name = \"prod\"\n  subnet_ids = module.vpc.private_subnets\n}}\n\
         module \"karpenter\" {{\n  source = \"terraform-aws-modules/eks/aws//modules/karpenter\"\n  cluster_name = module.eks.cluster_name\n}}\n\
         resource \"kubectl_manifest\" \"class\" {{\n  yaml_body = <<-YAML\n{class}  YAML\n}}\n"
    );
    assert!(class.contains("module.karpenter"), "{class}");
    let of = |old: &str, new: &str| {
        let beside = pool("default", OWN, "weight: 1");
        verdict(&beside, ("main.tf", &main, &main.replace(old, new)))
    };
    for (old, new) in [
        ("aws\"\n  name = \"prod\"\n}", "aws\"\n  name = \"prod\"\n  enable_flow_log = true\n}"),
        ("  subnet_ids", "  enable_irsa = true\n  subnet_ids"),
        ("  cluster_name", "  enable_spot_termination = true\n  cluster_name"),
    ] {
        let found = of(old, new);
        assert!(found.starts_with("no node is replaced"), "{new}: {found}");
    }
    for (old, new) in [
        ("prod\"\n  subnet_ids", "test\"\n  subnet_ids"),
        ("  cluster_name", "  node_iam_role_name = \"nodes\"\n  cluster_name"),
        ("modules/karpenter\"", "modules/karpenter\"\n  version = \"21.0.0\""),
    ] {
        let found = of(old, new);
        assert!(found.starts_with("may replace nodes"), "{new}: {found}");
    }
}

#[test]
fn the_cluster_counts_in_a_configuration_that_does_not_mention_karpenter() {
    let beside = format!("{}---\n{CLASS}", pool("default", OWN, "weight: 1"));
    let module = |version: &str| {
        format!(
            "module \"eks\" {{\n  source = \"terraform-aws-modules/eks/aws\"\n  cluster_name = \"prod\"\n  cluster_version = \"{version}\"\n}}\n"
        )
    };
    let resource = |version: &str| {
        format!("resource \"aws_eks_cluster\" \"a\" {{\n  name = \"prod\"\n  version = \"{version}\"\n}}\n")
    };
    let expected = "replaces every node of 1 NodePool (default): Kubernetes 1.33 → 1.34";
    for text in [&module as &dyn Fn(&str) -> String, &resource] {
        assert_eq!(verdict(&beside, ("eks.tf", &text("1.33"), &text("1.34"))), expected);
        let same = verdict(&beside, ("eks.tf", &text("1.33"), &format!("# a\n{}", text("1.33"))));
        assert!(same.starts_with("no node is replaced"), "{same}");
    }
}

#[test]
fn another_version_of_kubernetes_may_concern_nodes_that_the_input_does_not_show() {
    let config = |name: &str, version: &str| {
        format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: {name}, version: '{version}'}}\n"
        )
    };
    let (old, new) = (config("prod", "1.33"), config("prod", "1.34"));
    let may = "may replace nodes: Kubernetes 1.33 → 1.34";
    for beside in [CLASS.to_owned(), String::new()] {
        assert_eq!(verdict(&beside, ("cluster.yaml", &old, &new)), may, "{beside}");
    }
    let pools = format!("{}---\n{CLASS}", pool("default", OWN, "weight: 1"));
    let open = pools.replace("[{alias: al2023@v20250807}]", "${var.terms}");
    let may_of_pool = "may replace nodes of 1 NodePool (default): Kubernetes 1.33 → 1.34";
    assert_eq!(verdict(&open, ("cluster.yaml", &old, &new)), may_of_pool);
    // It is not known which of two clusters has the NodePool.
    let both = |version: &str| format!("{}---\n{}", config("a", "1.33"), config("b", version));
    assert_eq!(verdict(&pools, ("cluster.yaml", &both("1.33"), &both("1.34"))), may_of_pool);
    assert!(
        verdict(&pools, ("cluster.yaml", &both("1.33"), &both("1.33"))).starts_with("no node is replaced")
    );
    let stack = |default: &str| {
        format!(
            "Parameters: {{V: {{Type: String, Default: '{default}'}}}}\nResources:\n  Prod: {{Type: 'AWS::EKS::Cluster', Properties: {{Name: prod, Version: !Ref V}}}}\n"
        )
    };
    let changed = verdict(&pools, ("stack.yaml", &stack("1.33"), &stack("1.34")));
    assert_eq!(changed, "replaces every node of 1 NodePool (default): Kubernetes 1.33 → 1.34");
}

#[test]
fn a_node_class_of_another_cloud_may_replace_nodes() {
    let beside = pool("default", "{group: karpenter.azure.com, kind: AKSNodeClass, name: a}", "weight: 1");
    let class = |family: &str| {
        format!(
            "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {{name: a}}\nspec: {{imageFamily: {family}}}\n"
        )
    };
    let changed = verdict(&beside, ("class.yaml", &class("Ubuntu2204"), &class("AzureLinux")));
    let expected = "may replace nodes of 1 NodePool (default): a plan does not compare the fields of karpenter.azure.com/v1beta1";
    assert_eq!(changed, expected);
    let same =
        verdict(&beside, ("class.yaml", &class("Ubuntu2204"), &format!("# a\n{}", class("Ubuntu2204"))));
    assert!(same.starts_with("no node is replaced"), "{same}");
}

#[test]
fn ids_without_a_common_one_replace_every_node() {
    let beside = pool("default", OWN, "weight: 1");
    for (field, id) in [("amiSelectorTerms", "ami"), ("securityGroupSelectorTerms", "sg")] {
        let class = |numbers: &[&str]| {
            let ids: Vec<String> = numbers.iter().map(|number| format!("{{id: {id}-{number}}}")).collect();
            let ids = ids.join(", ");
            let term = if field.starts_with("ami") { "{alias: al2023@v20250807}" } else { "{tags: {d: x}}" };
            let old = format!("{field}: [{term}]");
            CLASS.replace(&old, &format!("{field}: [{ids}]")).replace("role:", "amiFamily: AL2023\n  role:")
        };
        let found = verdict(&beside, ("class.yaml", &class(&["1", "2"]), &class(&["3"])));
        assert_eq!(found, format!("replaces every node of 1 NodePool (default): spec.{field}"));
        let found = verdict(&beside, ("class.yaml", &class(&["1", "2"]), &class(&["2"])));
        assert_eq!(found, format!("may replace nodes of 1 NodePool (default): spec.{field}"));
    }
}

#[test]
fn several_node_pools_of_one_resource_of_terraform_are_several() {
    let resource = |team: &str| {
        let body = pool("${each.key}", OWN, "weight: 1")
            .replace("  template:\n", &format!("  template:\n    metadata: {{labels: {{team: {team}}}}}\n"));
        let body = body.trim_end().replace('\n', "\n    ");
        format!(
            "resource \"kubectl_manifest\" \"pool\" {{\n  for_each = toset([\"a\", \"b\"])\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n"
        )
    };
    let changed = verdict(CLASS, ("main.tf", &resource("one"), &resource("two")));
    assert!(changed.starts_with("replaces every node of 2 NodePools (a, b): "), "{changed}");
}

#[test]
fn a_kustomization_that_drops_a_base_outside_of_the_input_may_replace_nodes() {
    let kustomization = |resources: &str| format!("kind: Kustomization\nresources: [{resources}]\n");
    let outside = kustomization("'https://github.com/a/karpenter-nodes?ref=v1', local.yaml");
    let local = format!("{}---\n{CLASS}", pool("local", OWN, "weight: 1"));
    let folder = |kustomization: &str, local: &str, side: &str| {
        [
            (format!("{side}/kustomization.yaml"), kustomization.to_owned()),
            (format!("{side}/local.yaml"), local.to_owned()),
        ]
    };
    let planned = |new: &str, new_local: &str| {
        let files = [folder(&outside, &local, "old"), folder(new, new_local, "new")].concat();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Folder::with(&files).run(&["plan", "old", "new", "--karpenter-version", "1.14"]).stdout
    };
    let dropped = planned(&kustomization("local.yaml"), &local);
    assert!(
        dropped.starts_with("may replace nodes: old/kustomization.yaml has changed, and its base "),
        "{dropped}"
    );
    // A resource is compared by itself.
    let weight = planned(&outside, &local.replace("weight: 1", "weight: 2"));
    assert!(weight.starts_with("no node is replaced: spec.weight acts at once"), "{weight}");
}

#[test]
fn the_effect_of_versions_before_1_0_is_not_known() {
    let beside = format!("{}---\n{CLASS}", pool("default", OWN, "weight: 1"));
    let release = |version: &str| {
        format!(
            "resource \"helm_release\" \"karpenter\" {{\n  chart = \"karpenter\"\n  repository = \"oci://public.ecr.aws/karpenter\"\n  version = \"{version}\"\n}}\n"
        )
    };
    for (old, new, expected) in [
        ("0.37.7", "1.5.0", "may replace nodes of 1 NodePool (default): release 0.37.7 → 1.5.0"),
        ("0.37.7", "0.37.8", "may replace nodes of 1 NodePool (default): release 0.37.7 → 0.37.8"),
    ] {
        let (_, answer) = plan(&beside, ("main.tf", &release(old), &release(new)), &[]);
        assert_eq!(answer["verdict"], expected);
    }
}

#[test]
fn a_node_class_of_auto_mode_may_replace_the_nodes_of_its_pools() {
    let class = |size: &str| {
        format!(
            "apiVersion: eks.amazonaws.com/v1\nkind: NodeClass\nmetadata: {{name: default}}\nspec: {{ephemeralStorage: {{size: {size}}}}}\n"
        )
    };
    let beside = pool("auto", "{group: eks.amazonaws.com, kind: NodeClass, name: default}", "weight: 1");
    let changed = verdict(&beside, ("class.yaml", &class("80Gi"), &class("120Gi")));
    assert_eq!(
        changed,
        "may replace nodes of 1 NodePool (auto): a plan does not compare the fields of eks.amazonaws.com/v1"
    );
    let same = verdict(&beside, ("class.yaml", &class("80Gi"), &format!("# x\n{}", class("80Gi"))));
    assert!(same.starts_with("no node is replaced"), "{same}");
}

#[test]
fn an_added_static_pool_launches_its_nodes_at_once() {
    let pool = pool("static", OWN, "replicas: 3");
    let (_, answer) = plan(CLASS, ("pool.yaml", "", &pool), &["--karpenter-version", "1.14"]);
    assert_eq!(answer["changes"][0]["message"], "it launches its nodes at once: spec.replicas is 3");
}

#[test]
fn pods_that_have_no_place_before_do_not_fail_a_plan() {
    let pod = |name: &str, arch: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop}}\n\
             spec: {{nodeSelector: {{kubernetes.io/arch: {arch}}}, containers: [{{name: a, image: a, resources: {{requests: {{cpu: 100m}}}}}}]}}\n"
        )
    };
    let beside = format!("{CLASS}{}", pod("stuck", "arm64"));
    let change = |new: &str, more: &str| {
        let (old, new) =
            (pool("default", OWN, "weight: 1"), pool("default", OWN, "weight: 2").replace("amd64", new));
        plan(
            &beside,
            ("pool.yaml", &old, &(new + more)),
            &["--karpenter-version", "1.14", "--fail-on", "pending"],
        )
    };
    let (status, answer) = change("amd64", "");
    assert_eq!((status, &answer["pods"]["pendingBefore"]), (0, &serde_json::json!(["shop/stuck"])));
    assert_eq!(answer["pods"]["pending"], answer["pods"]["pendingBefore"]);
    let (status, answer) = change("amd64", &pod("added", "arm64"));
    assert_eq!((status, answer["pods"]["pending"].as_array().unwrap().len()), (1, 2));
}
