//! Plans and states of Terraform, and plans of changes to configurations of Terraform.

use std::process::Command;

use serde_json::{Value, json};

use crate::folder::{Folder, Run};

const AT: [&str; 5] = ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14"];

fn pool(team: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {"template": {"metadata": {"labels": {"team": team}}, "spec": {
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        }}},
    })
}

fn class(profile: &str) -> String {
    format!(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: default\nspec:\n  instanceProfile: {profile}\n  amiSelectorTerms: [{{alias: al2023@v20250807}}]\n  subnetSelectorTerms: [{{tags: {{a: b}}}}]\n  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]\n"
    )
}

fn change(address: &str, actions: &[&str], before: &Value, after: &Value) -> Value {
    let (kind, name) = address.split_once('.').unwrap();
    json!({
        "address": address, "mode": "managed", "type": kind, "name": name,
        "change": {
            "actions": actions, "before": before, "after": after,
            "after_unknown": {"uid": true}, "before_sensitive": {"yaml_body": true}, "after_sensitive": {"yaml_body": true},
        },
    })
}

/// A plan on one line, as Terraform writes it.
fn plan(changes: &[Value]) -> String {
    let plan = json!({"format_version": "1.2", "terraform_version": "1.11.4", "planned_values": {}, "resource_changes": changes});
    format!("{plan}\n")
}

fn kubectl(profile: &str) -> Value {
    json!({"yaml_body": class(profile), "yaml_body_parsed": class(profile), "password": "s3cret"})
}

fn kubernetes(team: &str) -> Value {
    json!({"manifest": pool(team)})
}

#[test]
fn a_plan_is_checked_without_its_text_and_without_fixes() {
    let changes = [
        change(
            "kubectl_manifest.class",
            &["create"],
            &Value::Null,
            &kubectl("arn:aws:iam::1:instance-profile/x"),
        ),
        change("kubernetes_manifest.pool", &["create"], &Value::Null, &kubernetes("a")),
    ];
    let folder = Folder::with(&[("plan.json", &plan(&changes))]);
    let answer = folder.run(&["check", "plan.json", "--format", "json", "--select", "nodeclass"]).json();
    assert_eq!(answer["summary"]["checked"], 2, "{answer:#}");
    let finding = &answer["findings"][0];
    assert_eq!(finding["rule"], "instance-profile-is-arn");
    assert_eq!(finding["help"], "write `x`; found in the resource `kubectl_manifest.class`");
    assert_eq!(finding["fix"], Value::Null);
    let (start, end) = (finding["offset"].as_u64().unwrap(), finding["endOffset"].as_u64().unwrap());
    let text = plan(&changes);
    let slice = text.get(usize::try_from(start).unwrap()..usize::try_from(end).unwrap());
    assert_eq!(slice, Some("arn:aws:iam::1:instance-profile/x"));
    let run = folder.run(&["check", "plan.json", "--select", "nodeclass"]);
    assert!(run.stdout.contains(&format!("--> plan.json:1:{}", start + 1)), "{}", run.stdout);
    assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
    let fixed = folder.run(&["check", "--fix", "plan.json"]);
    assert_eq!((fixed.status, folder.read("plan.json")), (1, text));
}

#[test]
fn the_two_sides_of_a_plan_are_compared() {
    let changes = [
        change("kubectl_manifest.class", &["no-op"], &kubectl("x"), &kubectl("x")),
        change("kubernetes_manifest.pool", &["update"], &kubernetes("a"), &kubernetes("b")),
    ];
    let folder = Folder::with(&[("plan.json", &plan(&changes))]);
    let run = folder.run(&[&AT[..], &["--terraform", "plan.json"]].concat());
    let verdict = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team\n";
    assert!(run.stdout.starts_with(verdict) && run.status == 0, "{run:?}");
    let piped =
        folder.run_in("", &[&AT[..], &["--terraform", "-", "--format", "json"]].concat(), &plan(&changes));
    let answer: Value = serde_json::from_str(&piped.stdout).unwrap();
    crate::answers::assert_valid("plan", &answer);
    assert_eq!(answer["effect"], "replaces-all");
    let created = [change("kubernetes_manifest.pool", &["create"], &Value::Null, &kubernetes("a"))];
    let folder = Folder::with(&[("plan.json", &plan(&created))]);
    let run = folder.run(&[&AT[..], &["--terraform", "plan.json", "--fail-on", "replaces"]].concat());
    assert!(run.status == 0 && run.stdout.contains("NodePool/default  added"), "{run:?}");
}

#[test]
fn a_body_that_is_not_known_may_replace_nodes() {
    let mut changes = [change("kubectl_manifest.class", &["update"], &kubectl("x"), &json!({})), Value::Null];
    changes[0]["change"]["after_unknown"] = json!({"yaml_body": true, "yaml_body_parsed": true});
    changes[1] = change("kubernetes_manifest.pool", &["no-op"], &kubernetes("a"), &kubernetes("a"));
    let folder = Folder::with(&[("plan.json", &plan(&changes))]);
    let run = folder.run(&[&AT[..], &["--terraform", "plan.json"]].concat());
    assert!(run.stdout.starts_with("may replace"), "{run:?}");
}

#[test]
fn each_call_of_a_module_in_a_plan_is_a_cluster() {
    let of_call = |call: &str, after: &str| {
        let mut change =
            change("kubernetes_manifest.pool", &["update"], &kubernetes("a"), &kubernetes(after));
        change["address"] = json!(format!("module.{call}.kubernetes_manifest.pool"));
        change["module_address"] = json!(format!("module.{call}"));
        change
    };
    let (answer, _) = planned(&[of_call("blue", "b"), of_call("green", "a")]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (default in module.blue): spec.template.metadata.labels.team"
    );
}

/// The answer to a plan, and the status of a run that fails if nodes are replaced or removed.
fn planned(changes: &[Value]) -> (Value, i32) {
    let folder = Folder::with(&[("plan.json", &plan(changes))]);
    let of_plan = [&AT[..], &["--terraform", "plan.json"]].concat();
    let answer = folder.run(&[&of_plan[..], &["--format", "json"]].concat()).json();
    crate::answers::assert_valid("plan", &answer);
    (answer, folder.run(&[&of_plan[..], &["--fail-on", "replaces"]].concat()).status)
}

#[test]
fn a_node_pool_that_terraform_deletes_and_creates_again_loses_its_nodes() {
    const CAUSE: &str = "Terraform deletes NodePool default and creates it again";
    let of_kubectl = |team: &str| json!({"yaml_body": pool(team).to_string(), "yaml_body_parsed": pool(team).to_string(), "force_new": true});
    for changes in [
        vec![change("kubernetes_manifest.pool", &["delete", "create"], &kubernetes("a"), &kubernetes("a"))],
        vec![change("kubernetes_manifest.pool", &["create", "delete"], &kubernetes("a"), &kubernetes("a"))],
        // The provider replaces a resource with `force_new` whenever its body changes.
        vec![change("kubectl_manifest.pool", &["delete", "create"], &of_kubectl("a"), &of_kubectl("b"))],
        // The same object at another address.
        vec![
            change("kubernetes_manifest.old", &["delete"], &kubernetes("a"), &Value::Null),
            change("kubernetes_manifest.new", &["create"], &Value::Null, &kubernetes("a")),
        ],
    ] {
        let (answer, status) = planned(&changes);
        assert_eq!(answer["verdict"], format!("removes the nodes of 1 NodePool (default): {CAUSE}"));
        assert_eq!((&answer["effect"], status), (&json!("removes-nodes"), 1), "{answer:#}");
        let one = &answer["changes"][0];
        assert_eq!((&one["change"], &one["effect"]), (&json!("changed"), &json!("removes-nodes")), "{one}");
        assert!(one["message"].as_str().unwrap().starts_with(&format!("{CAUSE}: Karpenter drains")), "{one}");
        let rules: Vec<&Value> =
            answer["findings"].as_array().unwrap().iter().map(|one| &one["rule"]).collect();
        assert!(rules.contains(&&json!("deletion-removes-nodes")), "{answer:#}");
    }
}

#[test]
fn a_sensitive_body_that_changes_may_replace_nodes() {
    // Older versions of the provider have no `yaml_body_parsed`.
    let hidden = |profile: &str| json!({"yaml_body": class(profile)});
    let other = json!({"manifest": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}});
    let beside = change("kubernetes_manifest.config", &["no-op"], &other, &other);
    let (none, one) = (Value::Null, hidden("x"));
    for (actions, before, after, may) in [
        (&["update"][..], &one, &hidden("y"), true),
        (&["delete", "create"], &one, &hidden("y"), true),
        (&["delete"], &one, &none, true),
        (&["no-op"], &one, &one, false),
        (&["create"], &none, &one, false),
    ] {
        let (answer, status) =
            planned(&[change("kubectl_manifest.class", actions, before, after), beside.clone()]);
        assert_eq!((&answer["effect"] == "unknown", status == 1), (may, may), "{actions:?} {answer:#}");
        let verdict = answer["verdict"].as_str().unwrap();
        let expected =
            "may replace nodes: plan.json: `kubectl_manifest.class`, not checked: `yaml_body` is sensitive";
        assert_eq!(verdict == expected, may, "{verdict}");
    }
}

#[test]
fn a_node_pool_that_terraform_only_deletes_is_removed_and_one_that_it_forgets_stays() {
    const REMOVED: &str = "removes the nodes of 1 NodePool (default)";
    let (none, class) = (
        Value::Null,
        json!({"manifest": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}}),
    );
    let of_kubectl = json!({"yaml_body": pool("a").to_string(), "yaml_body_parsed": pool("a").to_string()});
    let beside = change("kubernetes_manifest.config", &["no-op"], &class, &class);
    for before in [&kubernetes("a"), &of_kubectl] {
        let address =
            if before.get("manifest").is_some() { "kubernetes_manifest.a" } else { "kubectl_manifest.a" };
        let (answer, status) = planned(&[change(address, &["delete"], before, &none), beside.clone()]);
        assert_eq!((&answer["verdict"], status), (&json!(REMOVED), 1), "{answer:#}");
        assert_eq!(answer["changes"][0]["change"], "removed", "{answer:#}");
        let (answer, status) = planned(&[change(address, &["forget"], before, &none), beside.clone()]);
        assert_eq!((&answer["effect"], status), (&json!("none"), 0), "{answer:#}");
    }
    // A body that is hidden stays as well.
    let hidden = json!({"yaml_body": pool("a").to_string()});
    let (answer, status) = planned(&[change("kubectl_manifest.a", &["forget"], &hidden, &none), beside]);
    assert_eq!((&answer["effect"], status), (&json!("none"), 0), "{answer:#}");
    // Without an instance, a resource of a configuration makes no object.
    let [old, new] = ["count = 1", "count = 0"].map(|count| resource(count, &pool("a").to_string()));
    assert_eq!(verdict(&old, &new), REMOVED);
}

#[test]
fn a_node_class_that_terraform_deletes_and_creates_again_waits_for_its_nodes() {
    let changes = [
        change("kubectl_manifest.class", &["delete", "create"], &kubectl("x"), &kubectl("x")),
        change("kubernetes_manifest.pool", &["no-op"], &kubernetes("a"), &kubernetes("a")),
    ];
    let (answer, _) = planned(&changes);
    let one = &answer["changes"][0];
    assert_eq!((&one["change"], &one["effect"]), (&json!("changed"), &json!("acts-at-once")), "{one}");
    let message = one["message"].as_str().unwrap();
    assert!(
        message.starts_with("Terraform deletes EC2NodeClass default and creates it again: "),
        "{message}"
    );
    assert!(message.ends_with("until then NodePool default launches no nodes"), "{message}");
}

#[test]
fn only_a_plan_has_two_sides() {
    let changes = [change("kubernetes_manifest.pool", &["no-op"], &kubernetes("a"), &kubernetes("a"))];
    let folder =
        Folder::with(&[("plan.json", &plan(&changes)), ("state.json", "{\"format_version\":\"1.0\"}")]);
    let run = folder.run(&[&AT[..], &["--terraform", "state.json"]].concat());
    assert!(run.status == 2 && run.stderr.contains("`state.json` is no plan"), "{run:?}");
    let run = folder.run(&[&AT[..], &["--terraform", "plan.json", "--base"]].concat());
    assert_eq!(run.status, 2, "{run:?}");
}

fn git(folder: &Folder, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let run =
        Command::new("git").arg("-C").arg(folder.path("")).args(identity).args(arguments).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {run:?}");
}

fn base(folder: &Folder, further: &[&str]) -> Run {
    folder.run(&[&AT[..], &["--base"], further].concat())
}

#[test]
fn configurations_are_compared_with_those_of_a_commit() {
    let main = "variable \"team\" {}\nresource \"kubectl_manifest\" \"pool\" {\n  yaml_body = templatefile(\"pool.yaml.tftpl\", { team = var.team })\n}\nmodule \"class\" {\n  source  = \"../modules/class\"\n  profile = \"x\"\n}\n";
    let template = pool("TEAM").to_string().replace("TEAM", "${team}");
    let module = format!(
        "variable \"profile\" {{}}\nresource \"kubectl_manifest\" \"class\" {{\n  yaml_body = <<-EOT\n    {}\n  EOT\n}}\n",
        class("\"${var.profile}\"").lines().collect::<Vec<_>>().join("\n    ")
    );
    let folder = Folder::with(&[
        ("live/main.tf", main),
        ("live/terraform.tfvars", "team = \"a\"\n"),
        ("live/pool.yaml.tftpl", &template),
        ("modules/class/main.tf", &module),
    ]);
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "a"]);
    let run = base(&folder, &["--", "live"]);
    assert!(run.stdout.starts_with("no node is replaced"), "{run:?}");
    folder.write("live/terraform.tfvars", b"team = \"b\"\n");
    let run = base(&folder, &["--", "live"]);
    assert!(
        run.stdout
            .starts_with("replaces every node of 1 NodePool (default): spec.template.metadata.labels.team\n"),
        "{run:?}"
    );
    folder.write("live/terraform.tfvars", b"team = \"a\"\n");
    folder.write("modules/class/main.tf", module.replace("v20250807", "v20250920").as_bytes());
    let run = base(&folder, &["--", "live"]);
    assert!(
        run.stdout.starts_with("replaces every node of 1 NodePool (default): spec.amiSelectorTerms\n"),
        "{run:?}"
    );
    let answer = base(&folder, &["--format", "json", "--", "."]);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["effect"], "replaces-all", "{answer:#}");
}

#[test]
fn a_committed_plan_without_configuration_is_evaluated_too() {
    let changes =
        |team: &str| [change("kubernetes_manifest.pool", &["create"], &Value::Null, &kubernetes(team))];
    let folder = Folder::with(&[("live/plan.json", &plan(&changes("a")))]);
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "a"]);
    folder.write("live/plan.json", plan(&changes("b")).as_bytes());
    let run = base(&folder, &["--", "live"]);
    let verdict = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team\n";
    assert!(run.stdout.starts_with(verdict), "{run:?}");
}

/// A `kubectl_manifest` of a NodePool, with further arguments.
fn resource(arguments: &str, body: &str) -> String {
    let body = body.lines().collect::<Vec<_>>().join("\n    ");
    format!(
        "resource \"kubectl_manifest\" \"pool\" {{\n  {arguments}\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n"
    )
}

/// The first line of the plan between two configurations in folders.
fn verdict(old: &str, new: &str) -> String {
    let folder = Folder::with(&[("old/a/main.tf", old), ("new/a/main.tf", new)]);
    let run = folder.run(&[&AT[..], &["old", "new"]].concat());
    run.stdout.lines().next().unwrap_or(&run.stderr).to_owned()
}

const RECREATED: &str =
    "removes the nodes of 1 NodePool (default): Terraform deletes NodePool default and creates it again";
const REPLACED: &str = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team";

#[test]
fn a_body_that_changes_under_force_new_is_deleted_and_created_again() {
    let (one, other) = (pool("a").to_string(), pool("b").to_string());
    let commented = format!("# a comment\n{one}");
    for (arguments, old, new, expected) in [
        ("force_new = true", &one, &other, RECREATED),
        // The provider compares the texts.
        ("force_new = true", &one, &commented, RECREATED),
        ("force_new = false", &one, &other, REPLACED),
        ("", &one, &other, REPLACED),
        ("force_new = var.force", &one, &other, REPLACED),
        ("force_new = true\n  apply_only = true", &one, &other, REPLACED),
        ("", &one, &commented, "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes"),
    ] {
        let found = verdict(&resource(arguments, old), &resource(arguments, new));
        assert_eq!(found, expected, "{arguments} {new}");
    }
    // The new configuration decides about `force_new`.
    let (before, after) = (resource("", &one), resource("force_new = true", &other));
    assert_eq!(verdict(&before, &after), RECREATED);
    assert_eq!(verdict(&after, &before), REPLACED);
    let folder = Folder::with(&[("live/main.tf", &resource("force_new = true", &one))]);
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "a"]);
    folder.write("live/main.tf", resource("force_new = true", &other).as_bytes());
    assert_eq!(base(&folder, &["--", "live"]).stdout.lines().next(), Some(RECREATED));
}

#[test]
fn a_changed_part_that_feeds_a_value_which_only_terraform_knows_may_replace_nodes() {
    const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";
    let body = pool("${team}").to_string();
    let main = |team: &str, further: &str| {
        format!(
            "resource \"kubectl_manifest\" \"pool\" {{\n  yaml_body = templatefile(\"pool.yaml.tftpl\", {{ team = {team} }})\n}}\n{further}"
        )
    };
    let variable = main("var.team", "variable \"team\" {}\n");
    let data = |name: &str| {
        main(
            "data.aws_ssm_parameter.a.value",
            &format!("data \"aws_ssm_parameter\" \"a\" {{\n  name = {name}\n}}\n"),
        )
    };
    let local =
        |name: &str| data("local.name") + &format!("locals {{\n  name  = \"{name}\"\n  other = 1\n}}\n");
    // A here-document in the configuration.
    let inline = |name: &str| {
        let body = pool("${data.aws_ssm_parameter.a.value}");
        format!(
            "resource \"kubectl_manifest\" \"pool\" {{\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n\
             data \"aws_ssm_parameter\" \"a\" {{\n  name = \"{name}\"\n}}\n"
        )
    };
    let verdict_of = |files: &[(&str, &str, &str)]| {
        let folder = Folder::with(&[]);
        for (name, old, new) in files.iter().chain(&[("pool.yaml.tftpl", body.as_str(), body.as_str())]) {
            folder.write(&format!("old/{name}"), old.as_bytes());
            folder.write(&format!("new/{name}"), new.as_bytes());
        }
        let run = folder.run(&[&AT[..], &["old", "new", "--format", "json"]].concat()).json();
        let message = run["changes"][0]["message"].as_str().unwrap_or_default().to_owned();
        (run["verdict"].as_str().unwrap().to_owned(), message)
    };
    let may = "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team";
    for (files, message) in [
        (
            &[("main.tf", &*data("\"/a\""), &*data("\"/b\""))][..],
            "main.tf:4 changes `data.aws_ssm_parameter.a`",
        ),
        (&[("main.tf", &local("/a"), &local("/b"))], "main.tf:8 changes `local.name`"),
    ] {
        assert_eq!(verdict_of(files), (may.to_owned(), message.to_owned()));
    }
    // A command may name a file of variables, whose values are then known.
    let same = ("main.tf", variable.as_str(), variable.as_str());
    let named = [same, ("env/prod.tfvars", "team = \"a\"\n", "team = \"b\"\n")];
    assert_eq!(verdict_of(&named).0, may.replace("may replace nodes", "replaces every node"));
    let (verdict, message) = verdict_of(&[("main.tf", &inline("/a"), &inline("/b"))]);
    assert_eq!(verdict.replace(" in main.tf", ""), may);
    assert_eq!(message, "main.tf:6 changes `data.aws_ssm_parameter.a`");
    let unrelated = local("/a").replace("other = 1", "other = 2") + "# a\n";
    for files in [
        &[("main.tf", variable.as_str(), variable.as_str()), ("prod.tfvars", "a = 1\n", "a = 2\n")][..],
        &[("main.tf", &local("/a"), &unrelated)],
        &[("main.tf", &data("\"/a\""), &data("\"/a\"").replace("  name", "\n  # same\n  name"))],
        &[("main.tf", &data("\"/a\""), &data("\"/a\"").replace("name =", "name    ="))],
    ] {
        assert_eq!(verdict_of(files).0, NONE);
    }
    // Tags and add-ons feed no other output of a module, and comments and layout feed nothing.
    let module = |team: &str| {
        main(
            team,
            "module \"eks\" {\n  source = \"terraform-aws-modules/eks/aws\"\n  cluster_name = \"a\"\n  subnet_ids = [\"s\"]\n  cluster_addons = { coredns = { version = \"1\" } }\n  tags = local.tags\n}\n\
             locals {\n  tags = { team = \"a\" }\n}\nresource \"aws_iam_role\" \"a\" {\n  count = 1\n  depends_on = [module.eks]\n  tags = local.tags\n}\n",
        )
    };
    let outputs = ["cluster_name", "cluster_tags", "subnet_ids", "node_security_group_id"];
    let [name, tags, subnets, group] = outputs.map(|output| module(&format!("module.eks.{output}")));
    let role = module("aws_iam_role.a[0].name");
    let instance = main(
        "aws_iam_role.b[\"x\"].name",
        "resource \"aws_iam_role\" \"b\" {\n  for_each = { x = \"a\" }\n  name = each.value\n}\n",
    );
    let security = main(
        "aws_security_group.a.id",
        "resource \"aws_security_group\" \"a\" {\n  name = \"a\"\n  description = \"a\"\n}\n",
    );
    for (old, from, to, expected) in [
        (&group, "team = \"a\"", "team = \"b\"", NONE),
        (&group, "version = \"1\"", "version = \"2\"", NONE),
        (
            &group,
            "\"a\"\n  subnet_ids = [\"s\"]",
            "\"a\" # the cluster\n  subnet_ids = [\n    \"s\",\n  ]",
            NONE,
        ),
        (&group, "[\"s\"]", "[\"s\", \"t\"]", may),
        (&name, "[\"s\"]", "[\"s\", \"t\"]", NONE),
        (&name, "cluster_name = \"a\"", "cluster_name = \"b\"", may),
        // An output may be made of other arguments than the one of the same name.
        (&subnets, "cluster_name = \"a\"", "cluster_name = \"b\"", may),
        (&tags, "team = \"a\"", "team = \"b\"", may),
        (&role, "team = \"a\"", "team = \"b\"", NONE),
        (&role, "cluster_name = \"a\"", "cluster_name = \"b\"", NONE),
        (&role, "count = 1", "count = 2", may),
        (&instance, "x = \"a\"", "x = \"b\"", may),
        (&security, "description = \"a\"", "description = \"b\"", may),
    ] {
        assert!(old.contains(from), "{from}");
        assert_eq!(verdict_of(&[("main.tf", old, &old.replace(from, to))]).0, expected, "{from} {to}");
    }
}

#[test]
fn a_changed_directive_may_replace_nodes_also_if_it_hides_a_list() {
    const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";
    let main = "variable \"a\" {}\nvariable \"b\" {}\nresource \"kubectl_manifest\" \"pool\" {\n  yaml_body = templatefile(\"pool.yaml.tftpl\", { a = var.a, b = var.b })\n}\n";
    let pool = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      requirements:
%{ if a ~}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
%{ else ~}
      - {key: kubernetes.io/arch, operator: In, values: [arm64]}
%{ endif ~}
";
    for (from, to, expected) in [
        (
            "values: [amd64]",
            "values: [amd64, arm64]",
            "may replace nodes of 1 NodePool (default): spec.template.spec.requirements",
        ),
        (
            "%{ if a ~}",
            "%{ if b ~}",
            "may replace nodes of 1 NodePool (default): spec.template.spec.requirements",
        ),
        ("%{ if a ~}", "%{ if a ~}\n# spot", NONE),
    ] {
        let folder =
            Folder::with(&[("old/main.tf", main), ("new/main.tf", main), ("old/pool.yaml.tftpl", pool)]);
        assert!(pool.contains(from));
        folder.write("new/pool.yaml.tftpl", pool.replace(from, to).as_bytes());
        let run = folder.run(&[&AT[..], &["old", "new", "--format", "json"]].concat()).json();
        let verdict = run["verdict"].as_str().unwrap();
        assert_eq!(verdict.split(" in ").next(), Some(expected), "{to}");
    }
}

#[test]
fn security_groups_and_subnets_that_selector_terms_find_replace_nodes() {
    let class: Value = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"role": "r", "amiSelectorTerms": [{"alias": "al2023@v20250807"}],
            "subnetSelectorTerms": [{"tags": {"a": "b"}}], "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]},
    });
    let of = |body: &Value| json!({"manifest": body});
    let beside = [
        change("kubernetes_manifest.class", &["no-op"], &of(&class), &of(&class)),
        change("kubernetes_manifest.pool", &["no-op"], &kubernetes("a"), &kubernetes("a")),
    ];
    let effect = |changed: Value| {
        let (answer, _) = planned(&[&[changed][..], &beside].concat());
        answer["effect"].as_str().unwrap().to_owned()
    };
    let (none, tagged) =
        (Value::Null, |value: &str| json!({"id": "x-1", "tags": {"a": value, "other": "c"}}));
    let open = {
        let mut open = change("aws_security_group.a", &["create"], &none, &json!({"tags": {"c": "d"}}));
        open["change"]["after_unknown"] = json!({"tags": {"a": true}});
        open
    };
    for (changed, expected) in [
        (change("aws_security_group.a", &["create"], &none, &tagged("b")), "replaces-all"),
        (change("aws_security_group.a", &["delete"], &tagged("b"), &none), "replaces-all"),
        (change("aws_security_group.a", &["create"], &none, &tagged("c")), "none"),
        (change("aws_security_group.a", &["update"], &tagged("b"), &tagged("b")), "none"),
        (open, "unknown"),
        (change("aws_subnet.a", &["update"], &tagged("b"), &tagged("c")), "replaces-some"),
        (change("aws_subnet.a", &["create"], &none, &tagged("b")), "none"),
    ] {
        assert_eq!(effect(changed.clone()), expected, "{changed}");
    }
    // The same in configurations.
    let manifests = format!("{class}\n---\n{}\n", pool("a"));
    let group = |value: &str| {
        format!("resource \"aws_security_group\" \"a\" {{\n  tags = {{ a = \"{value}\" }}\n}}\n")
    };
    let folder = Folder::with(&[("old/network.tf", &group("c")), ("new/network.tf", &group("b"))]);
    for side in ["old", "new"] {
        folder.write(&format!("{side}/nodes.yaml"), manifests.as_bytes());
    }
    let run = folder.run(&[&AT[..], &["old", "new"]].concat());
    let expected = "may replace nodes of 1 NodePool (default): spec.securityGroupSelectorTerms";
    assert_eq!(run.stdout.lines().next(), Some(expected), "{run:?}");
    // A module may create none.
    let module = |value: &str| {
        format!(
            "module \"eks\" {{\n  source = \"terraform-aws-modules/eks/aws\"\n  node_security_group_tags = {{ \"karpenter.sh/discovery\" = \"{value}\" }}\n}}\n"
        )
    };
    let folder_of_module = Folder::with(&[("old/eks.tf", &module("x")), ("new/eks.tf", &module("y"))]);
    for side in ["old", "new"] {
        let manifests = manifests.replace(r#"{"a":"b"}"#, r#"{"karpenter.sh/discovery":"x"}"#);
        folder_of_module.write(&format!("{side}/nodes.yaml"), manifests.as_bytes());
    }
    let run = folder_of_module.run(&[&AT[..], &["old", "new"]].concat());
    let expected = "may replace nodes of 1 NodePool (default): spec.securityGroupSelectorTerms";
    assert_eq!(run.stdout.lines().next(), Some(expected), "{run:?}");
    folder.write("old/network.tf", group("b").as_bytes());
    assert!(folder.run(&[&AT[..], &["old", "new"]].concat()).stdout.starts_with("no node is replaced"));
}

#[test]
fn modules_and_charts_outside_of_the_input_may_replace_nodes() {
    let module = |team: &str, source: &str| {
        format!("module \"pools\" {{\n  source = \"{source}\"\n  team   = \"{team}\"\n}}\n")
    };
    let outside = |team: &str| module(team, "git::https://example.com/a/karpenter-node-pools?ref=v1");
    let may = verdict(&outside("a"), &outside("b"));
    assert!(may.starts_with("may replace nodes: a/main.tf changes `module.pools`, whose source"), "{may}");
    // This module makes roles and a queue.
    let roles = |team: &str| module(team, "terraform-aws-modules/eks/aws//modules/karpenter");
    assert!(verdict(&roles("a"), &roles("b")).starts_with("no node is replaced"));
    // A module for anything is given NodePools.
    let given = |size: &str, version: &str| {
        format!(
            "module \"data_addons\" {{\n  source = \"aws-ia/eks-data-addons/aws\"\n  enable_volcano = {version}\n  labels = [\"karpenter.sh/nodepool\"]\n  karpenter_resources_helm_config = {{\n    gpu = {{\n      values = [<<-EOT\n        nodePool:\n          size: {size}\n      EOT\n      ]\n    }}\n  }}\n}}\n"
        )
    };
    let may = verdict(&given("large", "true"), &given("xlarge", "true"));
    assert!(
        may.starts_with("may replace nodes: a/main.tf changes `module.data_addons`, whose source"),
        "{may}"
    );
    assert!(verdict(&given("large", "true"), &given("large", "false")).starts_with("no node is replaced"));
    let release = |chart: &str, team: &str| json!({"name": "a", "chart": chart, "set": [{"name": "team", "value": team}]});
    for (chart, is_open) in [("./charts/karpenter-nodes", true), ("node-pools", true), ("podinfo", false)] {
        let (old, new) = (release(chart, "a"), release(chart, "b"));
        let (answer, status) = planned(&[change("helm_release.nodes", &["update"], &old, &new)]);
        assert_eq!((answer["effect"] == "unknown", status == 1), (is_open, is_open), "{answer:#}");
        let (answer, _) = planned(&[change("helm_release.nodes", &["no-op"], &old, &old)]);
        assert_eq!(answer["effect"], "none", "{answer:#}");
    }
    // The chart is in the input, and the release sets its values.
    let template = pool("TEAM").to_string().replace("\"TEAM\"", "{{ .Values.team }}");
    let main = |team: &str| {
        format!(
            "resource \"helm_release\" \"nodes\" {{\n  name  = \"nodes\"\n  chart = \"${{path.module}}/charts/nodes\"\n  set {{\n    name  = \"team\"\n    value = \"{team}\"\n  }}\n}}\n"
        )
    };
    let folder = Folder::with(&[("old/main.tf", &main("a")), ("new/main.tf", &main("b"))]);
    for side in ["old", "new"] {
        folder.write(&format!("{side}/charts/nodes/templates/pool.yaml"), template.as_bytes());
    }
    let run = folder.run(&[&AT[..], &["old", "new"]].concat());
    assert!(run.stdout.starts_with("may replace nodes: "), "{run:?}");
    folder.write("new/main.tf", main("a").as_bytes());
    assert!(folder.run(&[&AT[..], &["old", "new"]].concat()).stdout.starts_with("no node is replaced"));
}

#[test]
fn a_value_that_is_not_known_may_be_the_same_under_force_new() {
    let [old, new] =
        ["a", "b"].map(|name| resource("force_new = true", &pool(&format!("${{var.{name}}}")).to_string()));
    assert!(verdict(&old, &new).starts_with("may replace nodes"), "{}", verdict(&old, &new));
    assert!(verdict(&old, &old).starts_with("no node is replaced"), "{}", verdict(&old, &old));
}

#[test]
fn each_instance_is_created_again_by_itself() {
    let main = |team: &str| {
        format!(
            "resource \"kubectl_manifest\" \"pool\" {{\n  for_each  = {{ one = \"a\", two = \"{team}\" }}\n  force_new = true\n  yaml_body = templatefile(\"pool.yaml.tftpl\", {{ name = each.key, team = each.value }})\n}}\n"
        )
    };
    let template = pool("${team}").to_string().replace("\"default\"},\"spec\"", "\"${name}\"},\"spec\"");
    assert!(template.contains("${name}"), "{template}");
    let folder = Folder::with(&[("old/main.tf", &main("a")), ("new/main.tf", &main("b"))]);
    for side in ["old", "new"] {
        folder.write(&format!("{side}/pool.yaml.tftpl"), template.as_bytes());
    }
    let run = folder.run(&[&AT[..], &["old", "new"]].concat());
    let expected =
        "removes the nodes of 1 NodePool (two): Terraform deletes NodePool two and creates it again";
    assert_eq!(run.stdout.lines().next(), Some(expected), "{run:?}");
}

#[test]
fn another_version_of_the_api_is_created_again() {
    let new = pool("a").to_string();
    let old = new.replace("karpenter.sh/v1", "karpenter.sh/v1beta1");
    assert_eq!(verdict(&resource("", &old), &resource("", &new)), RECREATED);
    let upgraded = verdict(&resource("", &old), &resource("upgrade_api_version = true", &new));
    assert!(upgraded.starts_with("may replace nodes"), "{upgraded}");
    let [old, new] = [old, new].map(|body| {
        format!("resource \"kubernetes_manifest\" \"pool\" {{\n  manifest = jsondecode(<<-EOT\n{body}\nEOT\n  )\n}}\n")
    });
    assert_eq!(verdict(&old, &new), RECREATED);
}
