//! `karpwarden plan` about units of Terragrunt: files that they generate, outputs of other units, stacks, and modules beside them.

use crate::plan::POOL;
use crate::plan_appliers::{NONE, verdict};

const REMOTE: &str = "git::https://example.com/tf.git//karpenter-nodepools?ref=v1";

fn module() -> String {
    let pool = POOL.replace("team: a", "team: '${var.team}'");
    let body = pool.lines().collect::<Vec<_>>().join("\n    ");
    format!(
        "variable \"team\" {{}}\nvariable \"other\" {{}}\nresource \"kubectl_manifest\" \"pool\" {{\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n"
    )
}

fn unit(source: &str, rest: &str) -> String {
    format!("terraform {{\n  source = \"{source}\"\n}}\n{rest}\n")
}

fn assert_may(answer: &str, part: &str) {
    assert!(answer.starts_with("may replace nodes") && answer.contains(part), "{answer}: {part}");
}

#[test]
fn a_file_that_a_unit_generates_makes_node_pools() {
    let file = "live/prod/terragrunt.hcl";
    let generate = |name: &str, contents: &str| {
        unit(
            "git::https://example.com/tf.git//empty?ref=v1",
            &format!(
                "generate \"{name}\" {{\n  path = \"{name}.tf\"\n  contents = <<EOF\n{contents}\nEOF\n}}"
            ),
        )
    };
    let pool = |team: &str| generate("pools", &module().replace("${var.team}", team));
    let of = |old: &str, new: &str| verdict(&[], &[(file, old, new)]);
    assert_may(
        &of(&pool("a"), &pool("b")),
        "live/prod/terragrunt.hcl changes a file that the unit generates",
    );
    assert_may(&of(&pool("a"), &generate("other", "locals {}")), "changes a file that the unit generates");
    assert_eq!(of(&pool("a"), &(pool("a") + "# a comment\n")), NONE);
    assert_eq!(
        of(&generate("provider", "provider \"aws\" {}"), &generate("provider", "provider \"gcp\" {}")),
        NONE
    );
    // A file that the block reads, in a configuration that the unit includes.
    let root = "generate \"pools\" {\n  path = \"pools.tf\"\n  contents = file(\"${get_parent_terragrunt_dir()}/pools.tftpl\")\n}\n";
    let own = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n";
    let files = [("live/root.hcl", root), (file, own)];
    let [old, new] = ["a", "b"].map(|team| module().replace("${var.team}", team));
    assert_may(&verdict(&files, &[("live/pools.tftpl", &old, &new)]), "(and 1 more)");
    assert_eq!(verdict(&files, &[("live/other.tftpl", "locals {}\n", "locals { a = 1 }\n")]), NONE);
}

#[test]
fn the_nodes_of_a_removed_unit_may_go() {
    let module = module();
    let pools = unit("../../modules/pools", "inputs = { team = \"a\" }");
    let files = [("modules/pools/main.tf", module.as_str()), ("live/prod/terragrunt.hcl", &*pools)];
    let vpc = unit("git::https://example.com/tf.git//vpc?ref=v1", "");
    let [dev, network] = ["live/dev/terragrunt.hcl", "live/vpc/terragrunt.hcl"];
    assert_may(&verdict(&files, &[(dev, &pools, "")]), "live/dev/terragrunt.hcl is removed");
    assert_eq!(verdict(&files, &[(dev, "", &pools)]), NONE);
    assert_eq!(verdict(&files, &[(network, &vpc, "")]), NONE);
}

#[test]
fn the_outputs_of_another_unit_are_inputs() {
    let module = module();
    let pools = unit(
        "../../modules/pools",
        "dependency \"iam\" {\n  config_path = \"../iam\"\n}\ndependency \"vpc\" {\n  config_path = \"../vpc\"\n}\ninputs = {\n  team = dependency.iam.outputs.name\n  other = dependency.vpc.outputs.id\n}",
    );
    let files = [("modules/pools/main.tf", module.as_str()), ("live/pools/terragrunt.hcl", pools.as_str())];
    let other = |name: &str, version: &str| {
        unit(
            &format!("git::https://example.com/tf.git//iam?ref={version}"),
            &format!("inputs = {{\n  name = \"{name}\"\n}}"),
        )
    };
    let of = |file: &str, old: &str, new: &str| verdict(&files, &[(file, old, new)]);
    let (old, new) = (other("a", "v1"), other("b", "v1"));
    assert_may(
        &of("live/iam/terragrunt.hcl", &old, &new),
        "live/iam/terragrunt.hcl changes the input `team`",
    );
    assert_may(
        &of("live/iam/terragrunt.hcl", &old, &other("a", "v2")),
        "live/iam/terragrunt.hcl changes the input `team`",
    );
    // The nodes do not depend on `other`, and not on a unit without a dependency.
    assert_eq!(of("live/vpc/terragrunt.hcl", &old, &new), NONE);
    assert_eq!(of("live/sqs/terragrunt.hcl", &old, &new), NONE);
    assert_eq!(of("live/iam/terragrunt.hcl", &old, &(old.clone() + "# a comment\n")), NONE);
}

#[test]
fn a_module_beside_a_unit_and_a_file_in_a_folder_around_it() {
    let module = module();
    let inputs =
        |team: &str, other: &str| format!("inputs = {{\n  team = \"{team}\"\n  other = \"{other}\"\n}}\n");
    let of = |old: &str, new: &str| {
        verdict(&[("live/pools/main.tf", &module)], &[("live/pools/terragrunt.hcl", old, new)])
    };
    assert_may(
        &of(&inputs("a", "a"), &inputs("b", "a")),
        "live/pools/terragrunt.hcl changes the input `team`",
    );
    assert_eq!(of(&inputs("a", "a"), &inputs("a", "b")), NONE);
    let reading =
        unit("../../modules/pools", "inputs = yamldecode(file(find_in_parent_folders(\"env.yaml\")))");
    let files = [("modules/pools/main.tf", module.as_str()), ("live/pools/terragrunt.hcl", reading.as_str())];
    let change = |file| (file, "team: a\n", "team: b\n");
    assert_may(&verdict(&files, &[change("live/env.yaml")]), "live/env.yaml changes the inputs");
    assert_eq!(verdict(&files, &[change("live/other.yaml")]), NONE);
    // The nearest file counts.
    let nearer = [files[0], files[1], ("live/env.yaml", "team: a\n")];
    assert_eq!(verdict(&nearer, &[change("env.yaml")]), NONE);
}

#[test]
fn the_units_of_a_stack_have_values() {
    let file = "live/prod/terragrunt.stack.hcl";
    let stack = |kind: &str, source: &str, team: &str, other: &str| {
        format!(
            "{kind} \"pools\" {{\n  source = \"{source}\"\n  path   = \"pools\"\n  values = {{\n    team  = {team}\n    other = {other}\n  }}\n}}\n"
        )
    };
    let remote = |team: &str, source: &str| stack("unit", source, team, "1");
    let of = |old: &str, new: &str| verdict(&[], &[(file, old, new)]);
    let old = remote("\"a\"", REMOTE);
    assert_may(
        &of(&old, &remote("\"b\"", REMOTE)),
        "live/prod/terragrunt.stack.hcl changes the value `team` of `pools`",
    );
    assert_may(
        &of(&old, &old.replace("v1", "v2")),
        "changes the source `git::https://example.com/tf.git//karpenter-nodepools?ref=v2`",
    );
    assert_may(
        &of(&old, "unit \"a\" {\n  source = \"git::https://example.com/tf.git//vpc\"\n}\n"),
        "changes the units of the stack",
    );
    assert_eq!(of(&old, &format!("# a comment\n{old}")), NONE);
    let other = |team: &str| remote(team, "git::https://example.com/tf.git//vpc?ref=v1");
    assert_eq!(of(&other("\"a\""), &other("\"b\"")), NONE);
    let local = |team: &str| format!("locals {{\n  team = \"{team}\"\n}}\n") + &remote("local.team", REMOTE);
    assert_may(&of(&local("a"), &local("b")), "changes the value `team` of `pools`");
    // A unit of the repository, and a stack with the unit.
    let module = module();
    let pools = unit("../../modules/pools", "inputs = {\n  team = values.team\n  other = values.other\n}");
    let inner = stack("unit", "../../units/pools", "values.team", "values.other");
    let files = [
        ("modules/pools/main.tf", module.as_str()),
        ("units/pools/terragrunt.hcl", pools.as_str()),
        ("stacks/pools/terragrunt.stack.hcl", inner.as_str()),
    ];
    for (kind, source) in [("unit", "../../units/pools"), ("stack", "${get_repo_root()}/stacks/pools")] {
        let with = |team: &str, other: &str| stack(kind, source, team, other);
        let of = |old: &str, new: &str| verdict(&files, &[(file, old, new)]);
        let old = with("\"a\"", "\"a\"");
        assert_may(&of(&old, &with("\"b\"", "\"a\"")), "changes the value `team` of `pools`");
        assert_eq!(of(&old, &with("\"a\"", "\"b\"")), NONE, "{kind}");
    }
}

#[test]
fn the_outputs_of_a_unit_reach_the_last_unit_of_a_long_chain() {
    let inputs = |value: &dyn Fn(usize) -> String| {
        let all: Vec<String> = (0..5).map(|input| format!("  i{input} = {}\n", value(input))).collect();
        format!("inputs = {{\n{}}}\n", all.concat())
    };
    let outputs = inputs(&|input| format!("dependency.n.outputs.o{input}"));
    let units: Vec<(String, String)> = (0..12)
        .map(|number| {
            let own = format!("dependency \"n\" {{\n  config_path = \"../u{}\"\n}}\n{outputs}", number + 1);
            let own = if number == 0 { unit(REMOTE, &own) } else { own };
            (format!("u{number}/terragrunt.hcl"), own)
        })
        .collect();
    let files: Vec<(&str, &str)> = units.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let last = |value: &str| inputs(&|_| value.to_owned());
    let of = |old: &str, new: &str| verdict(&files, &[("u12/terragrunt.hcl", old, new)]);
    assert_may(&of(&last("1"), &last("2")), "u12/terragrunt.hcl changes the input `i0`");
    assert_eq!(of(&last("1"), &(last("1") + "# a comment\n")), NONE);
    let circle = format!("dependency \"n\" {{\n  config_path = \"../u1\"\n}}\n{outputs}");
    assert_eq!(of(&circle, &(circle.clone() + "# a comment\n")), NONE);
}
