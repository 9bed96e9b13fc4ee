//! `karpwarden plan` where a command names files of variables of Terraform.

use serde_json::Value;

use crate::plan::POOL;
use crate::plan_clusters::{NONE, plan};

const LABEL: &str = "spec.template.metadata.labels.team";

/// A root module with a NodePool whose label is a variable.
fn root(name: &str, variable: &str) -> String {
    let body =
        POOL.replace("team: a", "team: ${var.team}").replace("name: default", &format!("name: {name}"));
    let body = body.trim_end().replace('\n', "\n    ");
    format!(
        "{variable}\nresource \"kubectl_manifest\" \"pool\" {{\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n"
    )
}

const VARIABLE: &str = "variable \"team\" { default = \"x\" }";

/// The plan of a file of variables with two values beside some files that do not change.
fn given(files: &[(&str, &str)], name: &str, old: &str, new: &str) -> Value {
    let side = |text| [files, &[(name, text)]].concat();
    plan(&side(old), &side(new))
}

fn verdict(answer: &Value) -> &str {
    answer["verdict"].as_str().unwrap()
}

#[test]
fn a_file_of_variables_that_several_root_modules_can_use_may_replace_nodes_of_each() {
    let (live, other) = (root("live", VARIABLE), root("other", VARIABLE));
    let files = [("stacks/live/main.tf", live.as_str()), ("stacks/other/main.tf", other.as_str())];
    let may = format!("may replace nodes of 2 NodePools (live, other): {LABEL}");
    let [old, new] = ["a", "b"].map(|team| format!("# team = 1\nteam = \"{team}\"\n"));
    for name in ["vars/prod.tfvars", "prod.tfvars", "stacks/prod.tfvars", "stacks/env/terraform.tfvars"] {
        let answer = given(&files, name, &old, &new);
        assert_eq!(verdict(&answer), may, "{name}");
        assert_eq!(answer["changes"][0]["message"], format!("{name}:2 changes `var.team`"));
        // The same value in another spelling, and a variable of no root module.
        assert_eq!(verdict(&given(&files, name, &old, "team=\"a\"")), NONE, "{name}");
        assert_eq!(verdict(&given(&files, name, &old, &(old.clone() + "zone = 1\n"))), NONE, "{name}");
    }
    let json = given(&files, "vars/prod.tfvars.json", "{\n\"team\": \"a\"}", "{\n\"team\": \"b\"}");
    assert_eq!(verdict(&json), may);
    assert_eq!(json["changes"][0]["message"], "vars/prod.tfvars.json:2 changes `var.team`");
    // A command may give other values than the file that Terraform reads anyway.
    let always = [&files[..], &[("stacks/live/terraform.tfvars", "team = \"c\"\n")]].concat();
    assert_eq!(verdict(&given(&always, "vars/prod.tfvars", &old, &new)), may);
    // The file comes or goes.
    let with = |text: &'static str| [&files[..], &[("vars/prod.tfvars", text)]].concat();
    assert_eq!(verdict(&plan(&files, &with("team = \"a\"\n"))), may);
    assert_eq!(verdict(&plan(&with("team = \"a\"\n"), &files)), may);
    // Only one of them declares the variable, or is near.
    let without = other.replace("${var.team}", "o").replace(VARIABLE, "variable \"o\" {}");
    let one = [("stacks/live/main.tf", live.as_str()), ("stacks/other/main.tf", without.as_str())];
    let replaces = format!("replaces every node of 1 NodePool (live): {LABEL}");
    assert_eq!(verdict(&given(&one, "vars/prod.tfvars", &old, &new)), replaces);
    let apart = [("a/live/main.tf", live.as_str()), ("b/other/main.tf", other.as_str())];
    let near = given(&apart, "a/vars/prod.tfvars", &old, &new);
    assert_eq!(verdict(&near), format!("may replace nodes of 1 NodePool (live): {LABEL}"));
}

#[test]
fn a_file_of_variables_of_one_root_module_has_its_effect_in_any_spelling() {
    let replaces = format!("replaces every node of 1 NodePool (live): {LABEL}");
    let quoted = root("live", VARIABLE);
    for (main, name, text) in [
        (quoted.clone(), "live/prod.tfvars", "  team = \"a\"\n"),
        (quoted.clone(), "live/prod.tfvars.json", "{\"team\": \"a\"}"),
        (quoted.clone(), "live/node-template.tfvars", "team = \"a\"\n"),
        (quoted.clone(), "prod.tfvars", "team = \"a\"\n"),
        (root("live", "variable team {\n  default = \"x\"\n}"), "live/prod.tfvars", "team = \"a\"\n"),
        (root("live", "variable  \"team\" { default = \"x\" }"), "live/prod.tfvars", "team = \"a\"\n"),
    ] {
        let files = [("live/main.tf", main.as_str()), ("versions.tf", "terraform {}\n")];
        let answer = given(&files, name, text, &text.replace("\"a\"", "\"b\""));
        assert_eq!(verdict(&answer), replaces, "{name} {text}");
    }
    let files = [("live/main.tf", quoted.as_str()), ("network/main.tf", "variable \"zone\" {}\n")];
    for name in ["live/example.tfvars", "live/terraform.example.tfvars", "network/prod.tfvars"] {
        assert_eq!(verdict(&given(&files, name, "team = \"a\"\n", "team = \"b\"\n")), NONE, "{name}");
    }
    // The variable that chooses the instances.
    let counted = root("live", "variable \"on\" { default = true }\nvariable \"team\" { default = \"x\" }")
        .replace("{\n  yaml_body", "{\n  count = var.on ? 1 : 0\n  yaml_body");
    let other = counted.replace("name: live", "name: other");
    let files = [("live/main.tf", counted.as_str()), ("other/main.tf", other.as_str())];
    let off = given(&files, "vars/prod.tfvars", "on = true\n", "on = false\n");
    assert!(verdict(&off).starts_with("may replace nodes of 2 NodePools (live, other)"), "{off}");
}

#[test]
fn a_file_of_variables_may_be_for_a_root_module_without_node_pools() {
    let live = root("live", &format!("{VARIABLE}\nvariable \"pools\" {{ default = 1 }}"));
    let network = "variable \"team\" {}\nresource \"aws_vpc\" \"v\" {\n  tags = { team = var.team }\n}\n";
    let files = [("live/main.tf", live.as_str()), ("network/main.tf", network)];
    let answer = given(&files, "vars/network.tfvars", "team = \"a\"\n", "team = \"b\"\n");
    assert_eq!(verdict(&answer), format!("may replace nodes of 1 NodePool (live): {LABEL}"));
    // The file sets a variable that only one of them declares.
    let of_live = |team: &str| format!("pools = 2\nteam = \"{team}\"\n");
    let answer = given(&files, "vars/live.tfvars", &of_live("a"), &of_live("b"));
    assert_eq!(verdict(&answer), format!("replaces every node of 1 NodePool (live): {LABEL}"));
    // The name of a root module is the real path of its file.
    let two = [&files[..1], &[("vars/dev.tfvars", "team = \"d\"\n")]].concat();
    let answer = given(&two, "vars/prod.tfvars", "team = \"a\"\n", "team = \"b\"\n");
    let expected = format!("replaces every node of 1 NodePool (live in vars/prod.tfvars): {LABEL}");
    assert_eq!(verdict(&answer), expected);
}

#[test]
fn values_that_another_file_of_variables_may_set_may_replace_nodes() {
    let main = root("live", VARIABLE);
    let may = |file: &str| format!("may replace nodes of 1 NodePool (live in {file}): {LABEL}");
    // The file of one cluster is named behind the common one.
    for common in ["live/common.tfvars", "live/base-eu.tfvars"] {
        let files = [("live/main.tf", main.as_str()), ("live/prod.tfvars", "team = \"p\"\n")];
        let answer = given(&files, common, "team = \"a\"\n", "team = \"b\"\n");
        assert_eq!(verdict(&answer), may(common));
        let files = [files[0], (common, "team = \"p\"\n")];
        let answer = given(&files, "live/prod.tfvars", "team = \"a\"\n", "team = \"b\"\n");
        let expected = format!("replaces every node of 1 NodePool (live in live/prod.tfvars): {LABEL}");
        assert_eq!(verdict(&answer), expected, "{common}");
    }
    // One file does not set the variable, whose default changes.
    let files = [("live/dev.tfvars", "region = \"x\"\n"), ("live/prod.tfvars", "team = \"p\"\n")];
    let [old, new] = ["x", "z"].map(|default| {
        let variables = format!("variable \"region\" {{}}\nvariable \"team\" {{ default = \"{default}\" }}");
        root("live", &variables)
    });
    assert_eq!(verdict(&given(&files, "live/main.tf", &old, &new)), may("live/dev.tfvars"));
    assert_eq!(verdict(&given(&files[1..], "live/main.tf", &old, &new)), NONE);
}

#[test]
fn the_nodes_of_a_file_of_variables_that_goes_may_stay() {
    let main = root("live", VARIABLE);
    let files = |names: &[&'static str]| -> Vec<(&str, &str)> {
        let variables = names.iter().map(|name| (*name, "team = \"a\"\n"));
        core::iter::once(("live/main.tf", main.as_str())).chain(variables).collect()
    };
    let both = files(&["live/dev.tfvars", "live/prod.tfvars"]);
    let gone = plan(&both, &files(&["live/dev.tfvars"]));
    assert_eq!(
        verdict(&gone),
        "may replace nodes of 1 NodePool (live in live/prod.tfvars): it may stay in the cluster: the file of variables with which old/live/main.tf had the NodePool is gone, and Terraform deletes it and its nodes only if a command destroys the resources of that file"
    );
    // The root module itself goes with its resources.
    let rest = [("live/main.tf", "locals { a = 1 }\n"), ("live/dev.tfvars", "team = \"a\"\n")];
    let one = files(&["live/dev.tfvars"]);
    assert_eq!(verdict(&plan(&one, &rest)), "removes the nodes of 1 NodePool (live)");
}
