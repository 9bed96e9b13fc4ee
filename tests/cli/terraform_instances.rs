//! Plans of configurations in which only Terraform knows which instances a block has, which result a condition has, or what a value is.

use crate::folder::Folder;

const AT: [&str; 5] = ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14"];

const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";

/// A NodePool as an expression of Terraform.
fn pool(name: &str, label: &str) -> String {
    format!(
        "{{ apiVersion = \"karpenter.sh/v1\", kind = \"NodePool\", metadata = {{ name = {name} }}, spec = {{ template = {{ metadata = {{ labels = {{ x = {label} }} }}, spec = {{ nodeClassRef = {{ group = \"karpenter.k8s.aws\", kind = \"EC2NodeClass\", name = \"d\" }}, requirements = [] }} }} }} }}"
    )
}

/// A resource with arguments and a NodePool.
fn resource(arguments: &str, name: &str, label: &str) -> String {
    let body = pool(name, label);
    format!(
        "variable \"on\" {{}}\nvariable \"more\" {{}}\nresource \"kubectl_manifest\" \"pool\" {{\n  {arguments}\n  yaml_body = yamlencode({body})\n}}\n"
    )
}

fn verdict_of(old: &[(&str, &str)], new: &[(&str, &str)]) -> String {
    let folder = Folder::with(&[]);
    for (side, files) in [("old", old), ("new", new)] {
        for (name, text) in files {
            folder.write(&format!("{side}/{name}"), text.as_bytes());
        }
    }
    let run = folder.run(&[&AT[..], &["old", "new", "--format", "json"]].concat()).json();
    run["verdict"].as_str().unwrap().to_owned()
}

fn verdict(old: &str, new: &str) -> String {
    verdict_of(&[("main.tf", old)], &[("main.tf", new)])
}

#[test]
fn an_element_that_may_be_there_has_the_effect_of_its_change() {
    let replaces = "replaces every node of 1 NodePool (a): spec.template.metadata.labels.x";
    let local = "locals { pools = { a = { l = \"z1\" } } }\n";
    for for_each in [
        "{ for k, v in local.pools : k => v if var.on }",
        "var.on ? local.pools : {}",
        "merge({ b = { l = \"q\" } }, var.on ? local.pools : {})",
        "{ for k, v in (var.on ? local.pools : {}) : k => merge(v, { m = 1 }) }",
        "var.on ? local.pools : merge(local.pools, { c = { l = \"q\" } })",
    ] {
        let old = local.to_owned() + &resource(&format!("for_each = {for_each}"), "each.key", "each.value.l");
        assert_eq!(verdict(&old, &old.replace("z1", "z2")), replaces, "{for_each}");
        assert_eq!(verdict(&old, &(old.clone() + "# a comment\nlocals { other = 1 }\n")), NONE, "{for_each}");
    }
    let named = |for_each: &str| resource(&format!("for_each = toset({for_each})"), "each.key", "\"z1\"");
    let old = named("var.on ? [\"a\"] : []");
    assert_eq!(verdict(&old, &old.replace("z1", "z2")), replaces);
    let goes = verdict(&old, &named("var.on ? [\"b\"] : []"));
    assert!(
        goes.starts_with(
            "may replace nodes of 1 NodePool (a): it may never have been in the cluster: a `count` or"
        ),
        "{goes}"
    );
    // In a module.
    let call = "variable \"on\" {}\nlocals { pools = { a = \"z1\" } }\nmodule \"m\" {\n  source = \"./m\"\n  for_each = var.on ? local.pools : {}\n  l = each.value\n}\n";
    let module = resource("", "\"a\"", "var.l") + "variable \"l\" {}\n";
    let files = |main: &str| {
        verdict_of(&[("main.tf", call), ("m/main.tf", &module)], &[("main.tf", main), ("m/main.tf", &module)])
    };
    assert_eq!(files(&call.replace("z1", "z2")), replaces);
    assert_eq!(files(&(call.to_owned() + "locals { other = 1 }\n")), NONE);
}

#[test]
fn an_instance_of_an_unknown_collection_may_change() {
    let local = "locals { pools = { a = { l = \"z1\" } } }\n";
    let old =
        local.to_owned() + &resource("for_each = merge(local.pools, var.more)", "each.key", "each.value.l");
    assert!(
        verdict(&old, &old.replace("z1", "z2")).starts_with("may replace nodes of 1 NodePool (${each.key})")
    );
    assert_eq!(verdict(&old, &(old.clone() + "# a comment\n")), NONE);
    // The result of a `for` expression over elements that are not known.
    let list = "locals { v = \"z1\" }\n".to_owned()
        + &resource("", "\"a\"", "join(\"\", [for z in var.more : \"${z}${local.v}\"])");
    assert!(verdict(&list, &list.replace("z1", "z2")).starts_with("may replace nodes of 1 NodePool (a)"));
    let tried = "locals { v = \"z1\" }\n".to_owned() + &resource("", "\"a\"", "try(var.more.x, local.v)");
    assert!(verdict(&tried, &tried.replace("z1", "z2")).starts_with("may replace nodes of 1 NodePool (a)"));
    assert_eq!(verdict(&tried, &(tried.clone() + "locals { other = 1 }\n")), NONE);
}

#[test]
fn a_resource_with_another_unknown_count_may_go() {
    let with = |arguments: &str| resource(arguments, "\"a\"", "\"z\"");
    let may = "may replace nodes of 1 NodePool (a): another `count` or `for_each` decides whether";
    for (old, new) in [
        ("count = 1", "count = var.on"),
        ("", "count = var.on"),
        ("count = var.on ? 1 : 0", "count = var.on ? 0 : 1"),
        ("count = var.on", "count = var.more"),
        ("for_each = var.on ? { a = 1 } : {}", "for_each = var.on ? {} : { a = 1 }"),
        ("for_each = { a = 1 }", "for_each = var.on ? { a = 1 } : {}"),
    ] {
        let found = verdict(&with(old), &with(new));
        assert!(found.starts_with(may), "{old} {new} {found}");
    }
    for (old, new) in [
        ("count = var.on", "count = var.on # the same"),
        ("count = var.on ? 1 : 0", "count = (\n    var.on ? 1:0)"),
        ("count = var.on", ""),
        ("apply_only = true", "apply_only = true\n  count = var.on"),
        ("for_each = var.on ? { a = 1 } : {}", "for_each = { a = 1 }"),
    ] {
        assert_eq!(verdict(&with(old), &with(new)), NONE, "{old} {new}");
    }
    // The `count` of a module.
    let call = "variable \"on\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n";
    let module = with("");
    let counted = call.replace("\"./m\"", "\"./m\"\n  count = var.on");
    let found = verdict_of(
        &[("main.tf", call), ("m/main.tf", &module)],
        &[("main.tf", &counted), ("m/main.tf", &module)],
    );
    assert!(found.starts_with(may), "{found}");
}

#[test]
fn nodes_of_a_resource_that_goes_may_never_have_existed() {
    let local = "locals { m = { a = 1, b = 2 } }\n".to_owned();
    let with = |arguments: &str| {
        let name = if arguments.starts_with("count") { "\"c\"" } else { "each.key" };
        local.clone() + &resource(arguments, name, "\"z\"")
    };
    let merged = "for_each = var.on ? merge(local.m, { c = local.m.a }) : local.m";
    let may = "may replace nodes of 1 NodePool (c): it may never have been in the cluster: a `count` or a `for_each` decides";
    for (old, new) in [
        (with(merged), with("for_each = local.m")),
        (with("count = var.on ? 1 : 0"), local.clone()),
        (with("count = var.on"), local.clone()),
    ] {
        let found = verdict(&old, &new);
        assert!(found.starts_with(may), "{old} {found}");
    }
    assert_eq!(
        verdict(&with("for_each = merge(local.m, { c = 3 })"), &with("for_each = local.m")),
        "removes the nodes of 1 NodePool (c)"
    );
}

#[test]
fn a_sensitive_value_that_changes_may_replace_nodes_and_is_not_shown() {
    let may = "may replace nodes of 1 NodePool (a): spec.template.metadata.labels.x";
    let variable = "variable \"s\" {\n  sensitive = true\n  default = \"z1\"\n}\n";
    for text in [
        variable.to_owned() + &resource("", "\"a\"", "var.s"),
        "locals { s = sensitive(\"z1\") }\n".to_owned() + &resource("", "\"a\"", "upper(local.s)"),
        variable.to_owned() + &resource("", "\"a\"", "\"x-${var.s}\""),
    ] {
        let new = text.replace("z1", "z2");
        assert_eq!(verdict(&text, &new), may, "{text}");
        assert_eq!(verdict(&text, &(text.clone() + "# a comment\n")), NONE, "{text}");
        assert_no_fingerprint(&text, &new);
    }
    let text = variable.to_owned() + &resource("", "\"pool-${var.s}\"", "\"a\"");
    assert_no_fingerprint(&text, &text.replace("z1", "z2"));
}

/// Fails if a plan prints the short name by which a comparison tells values apart: it would be a hash of the value.
fn assert_no_fingerprint(old: &str, new: &str) {
    let folder = Folder::with(&[("old/main.tf", old), ("new/main.tf", new)]);
    for format in ["human", "json", "markdown", "github", "sarif"] {
        let run = folder.run(&[&AT[..], &["old", "new", "--format", format]].concat());
        let names = run.stdout.split("${").skip(1);
        let mut words =
            names.filter_map(|name| name.split_once('}')).flat_map(|(name, _)| name.split_whitespace());
        let is_hash = |word: &&str| word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert_eq!(words.find(is_hash), None, "{}", run.stdout);
        assert_eq!(run.status, 0, "{run:?}");
    }
}

#[test]
fn a_file_that_a_condition_may_choose_may_replace_nodes() {
    let yaml = |name: &str, label: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec: {{template: {{metadata: {{labels: {{x: {label}}}}}, spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}}, requirements: []}}}}}}\n"
        )
    };
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {x: z1}\n";
    let text = "variable \"on\" {}\nresource \"kubectl_manifest\" \"m\" {\n  yaml_body = var.on ? file(\"${path.module}/a.txt\") : file(\"${path.module}/b.txt\")\n}\n";
    let object = "variable \"on\" {}\nresource \"kubernetes_manifest\" \"m\" {\n  manifest = var.on ? yamldecode(file(\"${path.module}/a.txt\")) : yamldecode(file(\"${path.module}/b.txt\"))\n}\n";
    for main in [text, object] {
        let plan = |old: [&str; 2], new: [&str; 2]| {
            verdict_of(
                &[("main.tf", main), ("a.txt", old[0]), ("b.txt", old[1])],
                &[("main.tf", main), ("a.txt", new[0]), ("b.txt", new[1])],
            )
        };
        let (old, new) = (yaml("a", "z1"), yaml("a", "z2"));
        // Both results have the object.
        assert_eq!(
            plan([&old, &old], [&new, &new]),
            "replaces every node of 1 NodePool (a): spec.template.metadata.labels.x",
            "{main}"
        );
        assert!(
            plan([&old, &old], [&new, &old]).starts_with("may replace nodes of 1 NodePool (a)"),
            "{main}"
        );
        assert!(
            plan([&old, &yaml("b", "z1")], [&new, &yaml("b", "z1")]).starts_with("may replace nodes"),
            "{main}"
        );
        // Terraform refuses objects of types that do not convert to each other.
        let is_refused = main == object;
        assert!(is_refused || plan([&old, other], [&new, other]).starts_with("may replace nodes"), "{main}");
        assert_eq!(plan([&old, other], [&old, other]), NONE, "{main}");
        // An object of another kind.
        assert_eq!(plan([other, other], [&other.replace("z1", "z2"), other]), NONE, "{main}");
    }
}
