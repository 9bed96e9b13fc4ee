//! `karpwarden plan` where several root modules of Terraform, or several calls, have one module.

use crate::folder::Folder;
use crate::plan::{CLASS, POOL};
use crate::plan_clusters::{NONE, plan, pool};
use crate::plan_wrapped::indented;

/// A module with a NodePool and an EC2NodeClass.
fn module(pool: &str) -> String {
    let indented = |text: &str| text.trim_end().replace('\n', "\n    ");
    format!(
        "variable \"team\" {{}}\nvariable \"name\" {{ default = \"default\" }}\nvariable \"other\" {{ default = \"\" }}\n\
         variable \"enabled\" {{ default = true }}\nresource \"kubectl_manifest\" \"pool\" {{\n  count = var.enabled ? 1 : 0\n  \
         yaml_body = <<-YAML\n    {}\n  YAML\n}}\nresource \"kubectl_manifest\" \"class\" {{\n  yaml_body = <<-YAML\n    {}\n  YAML\n}}\n",
        indented(pool),
        indented(CLASS)
    )
}

fn of_team() -> String {
    module(
        &POOL.replace("team: a", "team: ${var.team}").replace("{name: default}", "{name: \"${var.name}\"}"),
    )
}

/// A root module that calls the module of the pools.
fn root(arguments: &str) -> String {
    format!("module \"pools\" {{\n  source = \"../../modules/pools\"\n  {arguments}\n}}\n")
}

/// The verdict for the texts of two root modules and of their module, before and after.
fn verdict([dev, prod]: [[&str; 2]; 2], module: [&str; 2]) -> String {
    let files = |side: usize| {
        let roots = [("envs/dev/main.tf", dev[side]), ("envs/prod/main.tf", prod[side])];
        let written = roots.into_iter().filter(|(_, text)| !text.is_empty());
        written.chain([("modules/pools/pools.tf", module[side])]).collect::<Vec<_>>()
    };
    plan(&files(0), &files(1))["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn each_root_module_that_calls_a_module_is_a_cluster() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    let text = of_team();
    let of = |roots: [[&str; 2]; 2]| verdict(roots, [&text, &text]);
    let [a, b] = ["a", "b"].map(|team| root(&format!("team = \"{team}\"")));
    let dev = format!("replaces every node of 1 NodePool (default in envs/dev): {LABEL}");
    let prod = dev.replace("dev", "prod");
    assert_eq!(of([[&a, &b], [&a, &a]]), dev);
    assert_eq!(of([[&b, &a], [&a, &a]]), dev);
    assert_eq!(of([[&a, &a], [&b, &a]]), prod);
    let both = of([[&a, &b], [&a, &b]]);
    assert_eq!(
        both,
        format!("replaces every node of 2 NodePools (default in envs/dev, default in envs/prod): {LABEL}")
    );
    // An edit of something else, and a file that moves.
    let other = root("team = \"a\"\n  other = \"x\"");
    assert_eq!(of([[&a, &other], [&b, &b]]), NONE);
    // The whole call goes, and comes.
    let (rest, removes) = ("locals { a = 1 }\n", "removes the nodes of 1 NodePool (default in envs/dev)");
    for gone in [rest, ""] {
        assert_eq!(of([[&a, gone], [&b, &b]]), removes);
        assert_eq!(of([[&a, gone], [&a, &a]]), removes);
        let added = of([[gone, &a], [&b, &b]]);
        assert!(added.starts_with("no node is replaced"), "{added}");
    }
    let counted = |enabled: bool| root(&format!("team = \"a\"\n  enabled = {enabled}"));
    assert_eq!(of([[&a, &counted(false)], [&b, &b]]), removes);
    assert_eq!(of([[&a, &counted(true)], [&b, &b]]), NONE);
    let named = |name: &str, team: &str| root(&format!("team = \"{team}\"\n  name = \"{name}-pool\""));
    let [dev, prod] = [["dev", "a"], ["prod", "a"]].map(|[env, team]| named(env, team));
    let edited = of([[&dev, &named("dev", "b")], [&prod, &prod]]);
    assert_eq!(edited, format!("replaces every node of 1 NodePool (dev-pool in envs/dev): {LABEL}"));
    assert_eq!(of([[&dev, rest], [&prod, &prod]]), "removes the nodes of 1 NodePool (dev-pool in envs/dev)");
}

#[test]
fn an_edit_of_a_module_concerns_each_root_module() {
    let (old, a) = (of_team(), root("team = \"a\""));
    let both = |text: &str| verdict([[&a, &a], [&a, &a]], [&old, text]);
    let edited = old.replace("team: ${var.team}", "team: x${var.team}");
    let expected = "2 NodePools (default in envs/dev, default in envs/prod)";
    assert_eq!(
        both(&edited),
        format!("replaces every node of {expected}: spec.template.metadata.labels.team")
    );
    // A text without variables, which is the document letter by letter.
    let plain = module(POOL);
    let verdict_of = |new: [&str; 2]| verdict([[&a, new[0]], [&a, &a]], [&plain, new[1]]);
    let edited = plain.replace("team: a", "team: b");
    assert_eq!(
        verdict_of([&a, &edited]),
        format!("replaces every node of {expected}: spec.template.metadata.labels.team")
    );
    assert_eq!(
        verdict_of(["locals { a = 1 }\n", &plain]),
        "removes the nodes of 1 NodePool (default in envs/dev)"
    );
    assert_eq!(verdict_of([&a, &format!("{plain}# comment\n")]), NONE);
}

#[test]
fn what_terraform_does_to_an_object_counts_for_its_root_module() {
    let (text, a) = (of_team(), root("team = \"a\""));
    let of = |dev: &str| verdict([[&a, dev], [&a, &a]], [&text, &text]);
    let removed = "removed {\n  from = module.pools\n  lifecycle { destroy = false }\n}\n";
    assert_eq!(of(removed), NONE);
    // The other root module does not forget its object.
    let both = verdict([[&a, removed], [&a, "locals { a = 1 }\n"]], [&text, &text]);
    assert_eq!(both, "removes the nodes of 1 NodePool (default in envs/prod)");
    let renamed = a.replace("\"pools\"", "\"nodes\"");
    let recreated = of(&renamed);
    assert!(recreated.starts_with("removes the nodes of 1 NodePool (default in envs/dev)"), "{recreated}");
    let moved = format!("{renamed}moved {{\n  from = module.pools\n  to   = module.nodes\n}}\n");
    assert_eq!(of(&moved), NONE);
}

#[test]
fn each_call_of_a_module_in_one_root_module_is_a_cluster() {
    let text = of_team();
    let call = |name: &str, arguments: &str| root(arguments).replace("\"pools\"", &format!("\"{name}\""));
    let [a, b] = ["a", "b"].map(|team| format!("team = \"{team}\""));
    let of = |old: &str, new: &str| {
        let files = |main| [("live/prod/main.tf", main), ("modules/pools/pools.tf", text.as_str())];
        plan(&files(old), &files(new))["verdict"].as_str().unwrap().to_owned()
    };
    let (old, new) = (call("blue", &a) + &call("green", &a), call("blue", &b) + &call("green", &a));
    let expected = "1 NodePool (default in live/prod/module.blue): spec.template.metadata.labels.team";
    assert_eq!(of(&old, &new), format!("replaces every node of {expected}"));
    assert_eq!(of(&old, &old.replace("  team", "  other = \"x\"\n  team")), NONE);
    assert_eq!(
        of(&old, &call("green", &a)),
        "removes the nodes of 1 NodePool (default in live/prod/module.blue)"
    );
    let each =
        |blue: &str| root(&format!("for_each = {{ blue = \"{blue}\", green = \"a\" }}\n  team = each.value"));
    assert_eq!(
        of(&each("a"), &each("b")),
        "replaces every node of 1 NodePool (default in live/prod/module.pools[\"blue\"]): spec.template.metadata.labels.team"
    );
    let gone = root("for_each = { green = \"a\" }\n  team = each.value");
    assert_eq!(
        of(&each("a"), &gone),
        "removes the nodes of 1 NodePool (default in live/prod/module.pools[\"blue\"])"
    );
}

#[test]
fn the_nodes_of_a_module_that_nothing_calls_any_more_go() {
    let (text, call) = (of_team(), root("team = \"a\""));
    let of = |new_call: &str, new_text: &str| {
        let files = |call, module| {
            let all = [
                ("envs/prod/pools.tf", call),
                ("envs/prod/z.tf", "locals { a = 1 }\n"),
                ("modules/pools/pools.tf", module),
            ];
            all.into_iter().filter(|(_, text): &(&str, &str)| !text.is_empty()).collect::<Vec<_>>()
        };
        plan(&files(&call, &text), &files(new_call, new_text))["verdict"].as_str().unwrap().to_owned()
    };
    let expected = "removes the nodes of 1 NodePool (default)";
    for gone in ["", "# nothing\n"] {
        assert_eq!(of(gone, &text), expected);
        assert_eq!(of(gone, ""), expected);
    }
    let removed = "removed {\n  from = module.pools\n  lifecycle { destroy = false }\n}\n";
    assert_eq!(of(removed, &text), NONE);
    // The module may become a root module, which takes the objects over.
    let of_root = format!("{text}terraform {{\n  backend \"s3\" {{}}\n}}\n");
    assert!(
        of("", &of_root).starts_with("may replace nodes of 1 NodePool (default)"),
        "{}",
        of("", &of_root)
    );
}

#[test]
fn each_file_of_variables_that_a_command_names_is_a_cluster() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    let text = of_team();
    let main = "variable \"team\" { default = \"d\" }\nvariable \"other\" { default = \"\" }\nvariable \"enabled\" { default = true }\n\
         module \"pools\" {\n  source  = \"./modules/pools\"\n  team    = var.team\n  enabled = var.enabled\n}\n";
    let verdict = |old: [(&str, &str); 2], new: [(&str, &str); 2]| {
        let [old, new] = [old, new].map(|variables| {
            let mut files = vec![("main.tf", main), ("modules/pools/pools.tf", text.as_str())];
            files.extend(variables.into_iter().filter(|(name, _)| !name.is_empty()));
            files
        });
        plan(&old, &new)["verdict"].as_str().unwrap().to_owned()
    };
    let none = ("", "");
    let prod = ("env/prod.tfvars", "team = \"b\"\n");
    let dev = |text| ("env/dev.tfvars", text);
    let expected = format!("replaces every node of 1 NodePool (default in env/dev.tfvars): {LABEL}");
    assert_eq!(verdict([dev("team = \"a\"\n"), prod], [dev("team = \"c\"\n"), prod]), expected);
    // The value of the other file, and a variable of nothing.
    assert_eq!(verdict([dev("team = \"a\"\n"), prod], [dev("team = \"b\"\n"), prod]), expected);
    assert_eq!(
        verdict([dev("team = \"a\"\nother = 1\n"), prod], [dev("team = \"a\"\nother = 2\n"), prod]),
        NONE
    );
    let gone = verdict([dev("team = \"a\"\n"), prod], [none, prod]);
    // Nobody destroys the resources of a file by deleting it.
    let may = "may replace nodes of 1 NodePool (default in env/dev.tfvars): it may stay in the cluster: the file of";
    assert!(gone.starts_with(may), "{gone}");
    // A variable that only the other file sets may have another value than its default.
    let common =
        |enabled: bool| ("common.tfvars", if enabled { "enabled = true\n" } else { "enabled = false\n" });
    let off = verdict([dev("team = \"a\"\n"), common(true)], [dev("team = \"a\"\n"), common(false)]);
    assert!(off.starts_with("removes the nodes of 1 NodePool (default in common.tfvars)"), "{off}");
    // Without files of variables on the other side, the values there are not known.
    let label = format!("may replace nodes of 1 NodePool (default): {LABEL}");
    let both = [dev("team = \"a\"\n"), prod];
    for one in [[dev("team = \"a\"\n"), none], both] {
        assert_eq!((verdict([none; 2], one), verdict(one, [none; 2])), (label.clone(), label.clone()));
    }
    let example = |text| ("example.tfvars", text);
    assert_eq!(verdict([example("team = \"a\"\n"), none], [example("team = \"b\"\n"), none]), NONE);
}

#[test]
fn a_value_that_only_terraform_knows_is_of_its_root_module() {
    let text = of_team();
    let of = |name: &str| {
        format!(
            "data \"aws_ssm_parameter\" \"t\" {{ name = \"{name}\" }}\n{}",
            root("team = data.aws_ssm_parameter.t.value")
        )
    };
    let (dev, prod) = (of("/dev"), of("/prod"));
    let verdict = |new: &str| verdict([[&dev, new], [&prod, &prod]], [&text, &text]);
    assert_eq!(
        verdict(&of("/other")),
        "may replace nodes of 1 NodePool (default in envs/dev): spec.template.metadata.labels.team"
    );
    assert_eq!(verdict(&format!("{dev}# comment\n")), NONE);
    // A module of another repository may have the objects, too.
    let remote = dev.replace("../../modules/pools", "git::https://example.com/karpenter-pools.git?ref=v1");
    assert!(
        verdict(&remote).starts_with("may replace nodes of 1 NodePool (default in envs/dev)"),
        "{}",
        verdict(&remote)
    );
}

#[test]
fn an_object_that_leaves_a_root_module_for_a_file_may_go() {
    let (text, call) = (of_team(), root("team = \"a\""));
    let files = |dev: &'static str| {
        let mut files = vec![("envs/prod/main.tf", call.as_str()), ("modules/pools/pools.tf", text.as_str())];
        if dev == "terraform" {
            files.push(("envs/dev/main.tf", &call));
        } else {
            files.extend([("gitops/dev/pool.yaml", POOL), ("gitops/dev/class.yaml", CLASS)]);
        }
        files
    };
    let verdict = plan(&files("terraform"), &files("gitops"))["verdict"].as_str().unwrap().to_owned();
    assert!(verdict.starts_with("may replace nodes of 1 NodePool (default in gitops)"), "{verdict}");
}

#[test]
fn a_snapshot_is_compared_with_the_root_module_of_its_cluster() {
    let [a, b] = ["a", "b"].map(|team| root(&format!("team = \"{team}\"")));
    let folder = Folder::with(&[
        ("snapshot/pool.yaml", POOL),
        ("snapshot/class.yaml", CLASS),
        ("tf/modules/pools/pools.tf", &of_team()),
        ("tf/envs/dev/main.tf", &a),
        ("tf/envs/prod/main.tf", &b),
    ]);
    let plan = |paths: &[&str]| {
        let at = ["--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14"];
        folder.run(&[&["plan", "--snapshot", "snapshot"][..], paths, &at].concat())
    };
    let both = plan(&["tf"]);
    let refused = "`tf/envs/dev/module.pools` and `tf/envs/prod/module.pools` both have NodePool/default: name the files of the cluster of the snapshot";
    assert!(both.stderr.contains(refused), "{both:?}");
    let verdict = |paths: &[&str]| plan(paths).stdout.lines().next().unwrap_or_default().to_owned();
    assert_eq!(verdict(&["tf/envs/dev", "tf/modules"]), NONE);
    let prod = verdict(&["tf/envs/prod", "tf/modules"]);
    assert!(prod.starts_with("replaces every node of 1 NodePool (default)"), "{prod}");
    // With equal values, both make the object of the snapshot.
    folder.write("tf/envs/prod/main.tf", a.as_bytes());
    assert_eq!(verdict(&["tf"]), NONE);
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[test]
fn overlays_and_root_modules_that_repeat_names_are_counted_apart() {
    let text = module(&pool("infra", "${var.team}"));
    let (base, overlay) = ("resources: [pool.yaml]\n", "resources: [../../base]\n");
    let of_team = |team: &str| root(&format!("team = \"{team}\""));
    let of = |roots: [&str; 2], pools: [&str; 2], team: &str| {
        let files = |side: usize| {
            let main = of_team(if side == 0 { "a" } else { team });
            let own = [
                ("base/kustomization.yaml".to_owned(), base.to_owned()),
                ("base/pool.yaml".to_owned(), pools[side].to_owned()),
                ("k8s/production/kustomization.yaml".to_owned(), overlay.to_owned()),
                ("k8s/staging/kustomization.yaml".to_owned(), overlay.to_owned()),
                (format!("terraform/{}/main.tf", roots[0]), main),
                (format!("terraform/{}/main.tf", roots[1]), of_team("a")),
                ("modules/pools/pools.tf".to_owned(), text.clone()),
            ];
            own.to_vec()
        };
        let [old, new] = [files(0), files(1)];
        plan(&borrowed(&old), &borrowed(&new))["verdict"].as_str().unwrap().to_owned()
    };
    let both = [pool("x", "a"), pool("glr", "a")].join("---\n");
    let (all, one) = (both.as_str(), both.split("---\n").next().unwrap());
    let (matched, open) = (["production", "staging"], ["main", "other"]);
    // The names of folders show which overlay and which root module are of one cluster.
    assert_eq!(
        of(matched, [all, one], "a"),
        "removes the nodes of 2 NodePools (glr in k8s/production (terraform/production), glr in k8s/staging (terraform/staging))"
    );
    assert_eq!(
        of(open, [all, one], "a"),
        "removes the nodes of 2 NodePools (glr in k8s/production, glr in k8s/staging)"
    );
    // A change of a root module is once for it, whatever the overlays.
    assert_eq!(
        of(matched, [all, all], "b"),
        "replaces every node of 1 NodePool (infra in k8s/production (terraform/production)): spec.template.metadata.labels.team"
    );
    assert_eq!(
        of(open, [all, all], "b"),
        "replaces every node of 1 NodePool (infra in terraform/main): spec.template.metadata.labels.team"
    );
}

#[test]
fn a_class_of_a_root_module_may_be_of_any_cluster_whose_overlay_has_no_common_name() {
    let class = |alias: &str| {
        let text = CLASS.replace("al2023@v20250807", alias);
        format!(
            "resource \"kubectl_manifest\" \"class\" {{\n  yaml_body = <<-YAML\n{}  YAML\n}}\n",
            indented(&text, 4)
        )
    };
    let of = |overlays: [&str; 2], roots: [&str; 2]| {
        let files = |alias: &str| {
            let mut own = vec![
                ("k8s/base/kustomization.yaml".to_owned(), "resources: [pool.yaml]\n".to_owned()),
                ("k8s/base/pool.yaml".to_owned(), POOL.to_owned()),
            ];
            for overlay in overlays {
                let up = "../".repeat(overlay.split('/').count());
                let text = format!("resources: [{up}base]\n");
                own.push((format!("k8s/{overlay}/kustomization.yaml"), text));
            }
            own.push((format!("terraform/{}/main.tf", roots[0]), class(alias)));
            own.push((format!("terraform/{}/main.tf", roots[1]), class("al2023@v20250807")));
            own
        };
        let (old, new) = (files("al2023@v20250807"), files("al2023@v20250920"));
        plan(&borrowed(&old), &borrowed(&new))["verdict"].as_str().unwrap().to_owned()
    };
    let open = of(["production", "staging"], ["prod", "stage"]);
    assert!(open.starts_with("may replace nodes of 2 NodePools"), "{open}");
    // An overlay that shares less with a root module than another one does.
    let less = of(["prod/eu", "prod/us"], ["prod-eu", "other"]);
    assert!(
        less.contains("replaces every node of 1 NodePool (default in k8s/prod/eu (terraform/prod-eu))"),
        "{less}"
    );
    let named = of(["prod/eu", "staging/eu"], ["prod-eu", "staging-eu"]);
    assert_eq!(
        named,
        "replaces every node of 1 NodePool (default in k8s/prod/eu (terraform/prod-eu)): spec.amiSelectorTerms"
    );
}
