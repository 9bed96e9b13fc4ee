//! `karpwarden plan` where overlays, bases and folders tell clusters apart.

use serde_json::Value;

use crate::folder::{Folder, Run};
use crate::plan::{CLASS, POOL};

pub(crate) const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";

/// A patch of every NodePool, for the kustomization of another cluster.
const PATCH: &str = "patches:\n- target: {kind: NodePool}\n  patch: |\n    - {op: replace, path: /spec/template/metadata/labels/team, value: z}\n";

const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./production}\n";

const ARGO: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: production}}\n";

pub(crate) fn plan(old: &[(&str, &str)], new: &[(&str, &str)]) -> Value {
    let folder = Folder::with(&[]);
    for (side, files) in [("old", old), ("new", new)] {
        for (file, text) in files {
            folder.write(&format!("{side}/{file}"), text.as_bytes());
        }
    }
    let arguments =
        ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14", "--format", "json"];
    let run: Run = folder.run(&[&arguments[..], &["old", "new"]].concat());
    run.json()
}

/// The text of a NodePool with a name and a label.
pub(crate) fn pool(name: &str, team: &str) -> String {
    POOL.replacen("{name: default}", &format!("{{name: {name}}}"), 1)
        .replace("team: a", &format!("team: {team}"))
}

#[test]
fn a_base_that_is_applied_itself_is_planned_beside_its_overlays() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    let of_folder = format!("resources: [../production]\n{PATCH}");
    let of_file = format!("resources: [../production/a/pool.yaml]\n{PATCH}");
    let (certain, may) = ("replaces every node", "may replace nodes");
    for (is_built, further, expected) in [
        (true, FLUX, certain),
        (true, ARGO, certain),
        (true, "a: b\n", may),
        (false, FLUX, certain),
        (false, "a: b\n", may),
    ] {
        let sides = ["a", "b"].map(|team| pool("a", team));
        let [old, new] = sides.each_ref().map(|pool| {
            let mut files = vec![("production/class.yaml", CLASS), ("production/a/pool.yaml", pool.as_str())];
            files.push(("staging/kustomization.yaml", if is_built { &of_folder } else { &of_file }));
            if is_built {
                files.push(("production/kustomization.yaml", "resources: [a/pool.yaml, class.yaml]\n"));
            }
            files.push(("x.yaml", further));
            files
        });
        let answer = plan(&old, &new);
        assert_eq!(answer["verdict"], format!("{expected} of 1 NodePool (a in production): {LABEL}"));
        let is_assumed = answer["assumptions"].to_string().contains("`production` may be applied itself");
        assert_eq!(is_assumed, expected == may, "{answer}");
        assert_eq!(plan(&old, &old)["verdict"], NONE);
    }
}

#[test]
fn a_removed_object_of_a_folder_that_may_be_applied_may_remove_nodes() {
    let (a, b) = (pool("a", "a"), pool("b", "a"));
    let staging = ("staging/kustomization.yaml", &*format!("resources: [../production/a.yaml]\n{PATCH}"));
    let both = [("production/a.yaml", a.as_str()), ("production/b.yaml", &b), staging];
    let answer = plan(&both, &[both[0], staging]);
    assert_eq!(answer["verdict"], "may replace nodes of 1 NodePool (b in production)");
}

#[test]
fn an_object_that_an_overlay_takes_from_another_cluster_is_added() {
    let (a, b) = (pool("a", "a"), pool("b", "a"));
    let staging = |resources: &str| format!("resources: [{resources}]\n{PATCH}");
    let (one, two) = (staging("../production/a.yaml"), staging("../production/a.yaml, ../production/b.yaml"));
    let production =
        [("production/a.yaml", a.as_str()), ("production/b.yaml", &b), ("production/class.yaml", CLASS)];
    let with = |text| [&production[..], &[("staging/kustomization.yaml", text)]].concat();
    let answer = plan(&with(&one), &with(&two));
    assert_eq!(answer["verdict"], "no node is replaced");
    let change = &answer["changes"][0];
    assert_eq!(
        [&change["name"], &change["change"], &change["cluster"]],
        ["b", "added", "staging"],
        "{answer}"
    );
    assert_eq!(answer["changes"].as_array().unwrap().len(), 1, "{answer}");
}

#[test]
fn a_kustomization_whose_base_is_outside_of_the_input_may_replace_nodes() {
    let staging = |base: &str, kind: &str, time: &str| {
        format!(
            "resources: [{base}]\npatches:\n- target: {{kind: {kind}}}\n  patch: |\n    - {{op: replace, path: /spec/template/spec/expireAfter, value: {time}}}\n"
        )
    };
    let verdict = |old: &str, new: &str| {
        let file = "staging/kustomization.yaml";
        plan(&[(file, old)], &[(file, new)])["verdict"].as_str().unwrap().to_owned()
    };
    let (pools, day) =
        ("../../production/nodepools.yaml", staging("../../production/nodepools.yaml", "NodePool", "24h"));
    assert_eq!(
        verdict(&day, &staging(pools, "NodePool", "48h")),
        "may replace nodes: new/staging/kustomization.yaml has changed, and its base `../../production/nodepools.yaml` is not in the input; \
         compare the output of `kustomize build`"
    );
    let remote =
        |version: &str| format!("resources: ['https://github.com/a/karpenter-nodes?ref={version}']\n");
    assert!(verdict(&remote("v1"), &remote("v2")).starts_with("may replace nodes: "));
    for (old, new) in [
        (day.clone(), format!("# the same\n{day}")),
        (staging("../web.yaml", "Deployment", "1h"), staging("../web.yaml", "Deployment", "2h")),
        (staging(pools, "Deployment", "1h"), staging(pools, "Deployment", "2h")),
        (remote("v1").replace("karpenter-nodes", "web"), remote("v2").replace("karpenter-nodes", "web")),
    ] {
        assert_eq!(verdict(&old, &new), NONE, "{old} {new}");
    }
}

#[test]
fn an_object_that_several_clusters_share_counts_once() {
    let with_class = |name: &str| {
        let class =
            CLASS.replace("{name: default}", "{name: shared}").replace("role: r", &format!("role: {name}"));
        let pool = pool(name, "a").replace("EC2NodeClass, name: default", "EC2NodeClass, name: shared");
        format!("{pool}---\n{class}")
    };
    let [b, c] = ["b", "c"].map(with_class);
    let (before, after) = (pool("p", "a"), pool("p", "b"));
    let with = |pool| [("b.yaml", b.as_str()), ("c.yaml", &c), ("p.yaml", pool)];
    let label = "spec.template.metadata.labels.team";
    assert_eq!(
        plan(&with(&before), &with(&after))["verdict"],
        format!("replaces every node of 1 NodePool (p): {label}")
    );
    assert_eq!(plan(&with(&before), &with(&before)[..2])["verdict"], "removes the nodes of 1 NodePool (p)");
    // Each overlay has its own.
    let overlay = "resources: [../base]\n";
    let files = |pool| {
        [
            ("base/kustomization.yaml", "resources: [pool.yaml]\n"),
            ("base/pool.yaml", pool),
            ("one/kustomization.yaml", overlay),
            ("two/kustomization.yaml", overlay),
        ]
    };
    assert_eq!(
        plan(&files(&before), &files(&after))["verdict"],
        format!("replaces every node of 2 NodePools (p in one, p in two): {label}")
    );
}

#[test]
fn zones_of_another_region_say_nothing_about_instance_types() {
    let in_zones = |name: &str, zones: &str| {
        let zone = format!(
            "- {{key: topology.kubernetes.io/zone, operator: In, values: [{zones}]}}\n      nodeClassRef"
        );
        pool(name, "a").replace("nodeClassRef", &zone)
    };
    let west = in_zones("west", "us-west-2a, us-west-2b");
    let types = |before: &str, after: &str| {
        let (old, new) = (in_zones("east", before), in_zones("east", after));
        let with = |east| [("class.yaml", CLASS), ("west/p.yaml", west.as_str()), ("east/p.yaml", east)];
        let answer = plan(&with(&old), &with(&new));
        let pool = &answer["nodePools"][0];
        assert_eq!(pool["name"], "east", "{answer}");
        [&pool["instanceTypesBefore"], &pool["instanceTypesAfter"]].map(Value::as_u64)
    };
    assert_eq!(types("us-east-1a", "us-east-1a, us-east-1b"), [None, None]);
    assert_eq!(types("us-east-1a", "us-west-2a"), [None, None]);
    assert_eq!(types("us-west-2a", "us-west-2a, us-west-2b"), [Some(2), Some(2)]);
}

/// A configuration of Terraform with a NodePool at an address.
fn configuration(label: &str, further: &str) -> String {
    let body = POOL.trim_end().replace('\n', "\n    ");
    format!(
        "resource \"kubectl_manifest\" \"{label}\" {{\n  yaml_body = <<-YAML\n    {body}\n  YAML\n}}\n{further}"
    )
}

#[test]
fn a_resource_of_terraform_with_another_address_is_deleted_and_created_again() {
    let verdict = |label: &str, further: &str| {
        let (old, new) = (configuration("a", ""), configuration(label, further));
        plan(&[("main.tf", &old)], &[("main.tf", &new)])["verdict"].as_str().unwrap().to_owned()
    };
    assert!(
        verdict("b", "").starts_with("removes the nodes of 1 NodePool (default)"),
        "{}",
        verdict("b", "")
    );
    let moved = |from: &str, to: &str| {
        format!("moved {{\n  from = kubectl_manifest.{from}\n  to   = kubectl_manifest.{to}\n}}\n")
    };
    assert_eq!(verdict("b", &moved("a", "b")), NONE);
    assert_eq!(verdict("c", &(moved("a", "b") + &moved("b", "c"))), NONE);
    assert!(verdict("b", &moved("x", "b")).starts_with("removes the nodes"));
    assert_eq!(verdict("a", ""), NONE);
}

#[test]
fn an_object_that_moves_from_terraform_to_a_file_may_go() {
    let (old, rest) = (configuration("a", ""), "locals { a = 1 }\n");
    let verdict = |new: &str| {
        let new = [("main.tf", new), ("gitops/pool.yaml", POOL)];
        plan(&[("main.tf", &old)], &new)["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        verdict(rest),
        "may replace nodes of 1 NodePool (default): new/gitops/pool.yaml takes the NodePool over from Terraform, which deletes it and its nodes \
         if it runs last, unless a block `removed` makes it forget the resource"
    );
    let removed = "removed {\n  from = kubectl_manifest.a\n  lifecycle { destroy = false }\n}\n";
    assert_eq!(verdict(removed), NONE);
}

#[test]
fn a_file_in_the_folder_of_an_overlay_belongs_to_no_other_overlay() {
    let (one, extra) = (pool("one", "a"), pool("extra", "a"));
    let overlays = ["overlays/dev", "overlays/stage", "overlays/prod"];
    let names: Vec<[String; 2]> = overlays
        .iter()
        .map(|folder| ["kustomization.yaml", "extra.yaml"].map(|name| format!("{folder}/{name}")))
        .collect();
    let mut old = vec![
        ("base/class.yaml", CLASS),
        ("base/one.yaml", one.as_str()),
        ("base/kustomization.yaml", "resources: [class.yaml, one.yaml]\n"),
    ];
    for [kustomization, file] in &names {
        old.extend([(kustomization.as_str(), "resources: [../../base]\n"), (file, &extra)]);
    }
    let without = |gone: &[&str]| -> Vec<(&str, &str)> {
        old.iter().copied().filter(|(name, _)| !gone.contains(name)).collect()
    };
    let kustomization = "overlays/prod/kustomization.yaml";
    let whole = plan(&old, &without(&[kustomization, "overlays/prod/extra.yaml"]));
    let expected = "removes the nodes of 2 NodePools (extra in overlays/prod, one in overlays/prod)";
    assert_eq!(whole["verdict"], expected, "{whole}");
    let part = plan(&old, &without(&[kustomization]));
    assert_eq!(part["verdict"], "removes the nodes of 1 NodePool (one in overlays/prod)", "{part}");
    let file = plan(&old, &without(&["overlays/prod/extra.yaml"]));
    assert_eq!(file["verdict"], "removes the nodes of 1 NodePool (extra in overlays/prod)", "{file}");
}

/// A Kustomization of Flux with a value for the label of the NodePools in `./pools`.
fn flux(team: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: pools, namespace: flux-system}}\nspec:\n  \
         interval: 10m\n  path: ./pools\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  \
         postBuild: {{substitute: {{team: {team}}}}}\n"
    )
}

#[test]
fn kustomizations_of_flux_with_one_name_are_of_their_clusters() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    let (one, a, b) = (pool("one", "\"${team}\""), flux("a"), flux("b"));
    let verdict = |names: [&str; 3], old: [&str; 3], new: [&str; 3]| {
        let [old, new] = [old, new].map(|texts| {
            let mut files = vec![("pools/one.yaml", one.as_str()), ("pools/class.yaml", CLASS)];
            files.extend(names.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()));
            files
        });
        plan(&old, &new)["verdict"].as_str().unwrap().to_owned()
    };
    let folders = ["clusters/dev/pools.yaml", "clusters/prod/pools.yaml", "clusters/test/pools.yaml"];
    let of = |old, new| verdict(folders, old, new);
    let dev = format!("replaces every node of 1 NodePool (one in pools (clusters/dev/pools)): {LABEL}");
    assert_eq!(of([&a, &b, ""], [&b, &b, ""]), dev);
    assert_eq!(of([&b, &a, &a], [&b, &a, &b]), dev.replace("dev", "test"));
    assert_eq!(of([&a, &b, ""], [&a, &a, ""]), dev.replace("dev", "prod"));
    // A cluster comes, and another one goes.
    for (old, new) in [([&*a, "", ""], [&*a, &b, ""]), ([&a, &b, ""], [&a, &b, &b])] {
        let verdict = of(old, new);
        assert!(verdict.starts_with("no node is replaced"), "{verdict}");
        let verdict = of(new, old);
        assert!(verdict.starts_with("removes the nodes of 1 NodePool (one in pools (clusters/"), "{verdict}");
    }
    let interval = a.replace("10m", "5m");
    assert_eq!(of([&a, &b, ""], [&interval, &b, ""]), NONE);
    // The Kustomization of the other cluster deletes nothing of this one.
    let kept = a.replace("prune: true", "prune: false");
    let start =
        "may replace nodes of 1 NodePool (one in pools (clusters/dev/pools)): it may stay in the cluster: ";
    let elsewhere = a.replace("./pools", "./elsewhere");
    for (old, new) in [(kept.as_str(), ""), (a.as_str(), elsewhere.as_str())] {
        let verdict = of([old, &b, ""], [new, &b, ""]);
        assert!(verdict.starts_with(start), "{verdict}");
    }
    // Another folder of the same cluster, and a Kustomization that no longer has variables.
    let moved = ["clusters/dev/pools.yaml", "clusters/prod/pools.yaml", "clusters/dev/apps/pools.yaml"];
    assert_eq!(verdict(moved, [&a, &b, ""], ["", &b, &a]), NONE);
    let plain = a.lines().filter(|line| !line.contains("postBuild")).collect::<Vec<_>>().join("\n");
    let literal = of([&a, &b, ""], [&plain, &b, ""]);
    assert!(literal.contains("1 NodePool (one in pools (clusters/dev/pools)): spec"), "{literal}");
    // The files of one folder.
    let files = ["clusters/dev.yaml", "clusters/prod.yaml", "clusters/test.yaml"];
    let dev = format!("replaces every node of 1 NodePool (one in pools (clusters/dev.yaml/pools)): {LABEL}");
    assert_eq!(verdict(files, [&a, &b, &b], [&b, &b, &b]), dev);
    // The name of the only one stays short.
    let single = verdict(folders, [&a, "", ""], [&b, "", ""]);
    assert_eq!(single, format!("replaces every node of 1 NodePool (one): {LABEL}"));
}

#[test]
fn overlays_count_by_themselves_beside_many_other_objects() {
    // Together, the overlays have more than 200,000 objects.
    let (one, maps) = (
        pool("one", "a"),
        (0..2000)
            .map(|at| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{at}}}\n"))
            .collect::<Vec<_>>()
            .concat(),
    );
    let overlay = |team: &str| {
        format!(
            "resources: [../../base]\npatches:\n- target: {{kind: NodePool}}\n  patch: |\n    - {{op: replace, path: /spec/template/metadata/labels/team, \
             value: {team}}}\n"
        )
    };
    let names: Vec<String> = (100..205).map(|at| format!("overlays/c{at}/kustomization.yaml")).collect();
    let (before, after) = (overlay("a"), overlay("b"));
    let files = |last: &'static str, changed: bool| {
        let mut files =
            vec![("base/one.yaml", one.as_str()), ("base/class.yaml", CLASS), ("maps.yaml", &maps)];
        files.push(("base/kustomization.yaml", "resources: [one.yaml, class.yaml]\n"));
        files.extend(names.iter().map(|name| {
            (name.as_str(), if changed && name.contains(last) { after.as_str() } else { before.as_str() })
        }));
        files
    };
    let answer = plan(&files("c204", false), &files("c204", true));
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (one in overlays/c204): spec.template.metadata.labels.team"
    );
}

/// Two overlays of one base, of which `prod` has further fields.
fn beside_plain_overlay<'t>(prod: &'t str, files: &[(&'t str, &'t str)]) -> Vec<(&'t str, &'t str)> {
    let base = [
        ("base/kustomization.yaml", "resources: [pool.yaml, class.yaml]\n"),
        ("base/pool.yaml", POOL),
        ("base/class.yaml", CLASS),
        ("dev/kustomization.yaml", "resources: [../base]\n"),
        ("prod/kustomization.yaml", prod),
    ];
    [&base[..], files].concat()
}

#[test]
fn an_overlay_that_is_not_built_for_certain_is_a_cluster_beside_the_others() {
    let transformer =
        |kind: &str, rest: &str| format!("apiVersion: builtin\nkind: {kind}\nmetadata: {{name: t}}\n{rest}");
    let patch = |kind: &str, team: &str| {
        let patch = format!("[{{op: replace, path: /spec/template/metadata/labels/team, value: {team}}}]");
        transformer("PatchTransformer", &format!("target: {{kind: {kind}}}\npatch: '{patch}'\n"))
    };
    let plain = "resources: [../base]\n";
    let with = |field: &str| format!("{plain}{field}: [t.yaml]\n");
    let may = |file: &str, field: &str| {
        format!(
            "may replace nodes of 1 NodePool (default in prod): the object is not built for certain: `prod` uses `{field}`; {file} has changed"
        )
    };
    let verdict = |old: (&str, &str), new: (&str, &str)| {
        let [old, new] = [old, new].map(|(prod, file)| beside_plain_overlay(prod, &[("prod/t.yaml", file)]));
        plan(&old, &new)["verdict"].as_str().unwrap().to_owned()
    };
    let (transformers, configurations) = (with("transformers"), with("configurations"));
    let (a, b) = (patch("NodePool", "a"), patch("NodePool", "b"));
    let kustomization = "prod/kustomization.yaml";
    assert_eq!(verdict((&transformers, &a), (&transformers, &b)), may("prod/t.yaml", "transformers"));
    assert_eq!(verdict((plain, &a), (&transformers, &a)), may(kustomization, "transformers"));
    assert_eq!(verdict((&transformers, &a), (plain, &a)), may(kustomization, "transformers"));
    let prefix = |prefix: &str| {
        transformer(
            "PrefixTransformer",
            &format!("prefix: {prefix}\nfieldSpecs: [{{path: metadata/name}}]\n"),
        )
    };
    assert_eq!(
        verdict((&transformers, &prefix("a-")), (&transformers, &prefix("b-"))),
        may("prod/t.yaml", "transformers")
    );
    // A transformer that names only other objects changes no NodePool.
    let image =
        |tag: &str| transformer("ImageTagTransformer", &format!("imageTag: {{name: a, newTag: {tag}}}\n"));
    let reference = |path: &str| {
        format!("nameReference:\n- kind: ConfigMap\n  fieldSpecs: [{{kind: HelmRelease, path: {path}}}]\n")
    };
    for (prod, old, new) in [
        (&transformers, patch("Deployment", "a"), patch("Deployment", "b")),
        (&transformers, image("1"), image("2")),
        (&configurations, reference("spec/a"), reference("spec/b")),
    ] {
        assert_eq!(verdict((prod, &old), (prod, &new)), NONE, "{new}");
        assert_eq!(verdict((plain, &old), (prod, &old)), NONE, "{old}");
    }
    let (old, new) = (reference("spec/a"), reference("spec/a"));
    let patched =
        |team: &str| format!("{configurations}{}", PATCH.replace("value: z", &format!("value: {team}")));
    assert_eq!(
        verdict((&patched("a"), &old), (&patched("b"), &new)),
        "replaces every node of 1 NodePool (default in prod): spec.template.metadata.labels.team"
    );
}

#[test]
fn a_variable_of_a_kustomization_counts_where_it_is_used() {
    let map = |team: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{team: {team}}}\n")
    };
    let kustomization = "resources: [pool.yaml, map.yaml]\nvars: [{name: TEAM, objref: {kind: ConfigMap, name: c, apiVersion: v1}, fieldref: {fieldpath: data.team}}]\n";
    let verdict = |team: &str| {
        let pool = POOL.replace("team: a", &format!("team: {team}"));
        let [old, new] = ["a", "b"].map(map);
        let files = |map| [("kustomization.yaml", kustomization), ("pool.yaml", &*pool), ("map.yaml", map)];
        plan(&files(&old), &files(&new))["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        verdict("$(TEAM)"),
        "may replace nodes of 1 NodePool (default): the object is not built for certain: `.` uses `vars`; map.yaml has changed"
    );
    assert_eq!(verdict("a"), NONE);
    assert_eq!(verdict("$(OTHER)"), NONE);
    // The variables of a base count in the objects that an overlay adds, and in its patches.
    let base = kustomization.replace("pool.yaml, map.yaml", "map.yaml");
    let of_overlay = |team: &str, other: &str| {
        let pool = POOL.replace("team: a", &format!("team: {team}"));
        let [old, new] = ["a", other].map(map);
        let files = |map| {
            let overlay = [("overlay/kustomization.yaml", "resources: [../base, pool.yaml]\n")];
            let own = [("base/kustomization.yaml", base.as_str()), ("base/map.yaml", map)];
            own.into_iter().chain(overlay).chain([("overlay/pool.yaml", &*pool)]).collect::<Vec<_>>()
        };
        plan(&files(&old), &files(&new))["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        of_overlay("$(TEAM)", "b"),
        "may replace nodes of 1 NodePool (default): the object is not built for certain: `base` uses `vars`; base/map.yaml has changed"
    );
    assert_eq!(of_overlay("$(TEAM)", "a"), NONE);
    assert_eq!(of_overlay("a", "b"), NONE);
    let pools = ["a", "$(TEAM)"].map(|team| POOL.replace("team: a", &format!("team: {team}")));
    let maps = ["a", "b"].map(map);
    let patched = |map| {
        [
            ("base/kustomization.yaml", kustomization),
            ("base/pool.yaml", pools[0].as_str()),
            ("base/map.yaml", map),
            ("overlay/kustomization.yaml", "resources: [../base]\npatches: [{path: pool.yaml}]\n"),
            ("overlay/pool.yaml", pools[1].as_str()),
        ]
    };
    let answer = plan(&patched(&maps[0]), &patched(&maps[1]));
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("may replace nodes of 1 NodePool (default)"), "{verdict}");
}

#[test]
fn an_application_that_takes_the_overlay_of_another_cluster_may_replace_nodes() {
    let one = pool("one", "a");
    let overlay = |team: &str| {
        format!("resources: [../../base]\n{}", PATCH.replace("value: z", &format!("value: {team}")))
    };
    let app = |path: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: pools}}\nspec: {{source: {{repoURL: 'https://example.com/a', \
             path: overlays/{path}}}}}\n"
        )
    };
    let ([dev, prod], [of_dev, of_prod]) = (["x", "y"].map(overlay), ["dev", "prod"].map(app));
    let files = |dev_app: &'static str| {
        vec![
            ("base/one.yaml", one.as_str()),
            ("base/kustomization.yaml", "resources: [one.yaml]\n"),
            ("overlays/dev/kustomization.yaml", &dev),
            ("overlays/prod/kustomization.yaml", &prod),
            ("clusters/dev/app.yaml", if dev_app == "dev" { &of_dev } else { &of_prod }),
            ("clusters/prod/app.yaml", &of_prod),
        ]
    };
    assert_eq!(plan(&files("dev"), &files("dev"))["verdict"], NONE);
    let answer = plan(&files("dev"), &files("prod"));
    assert_eq!(
        answer["verdict"],
        "may replace nodes: Application/pools has another `path`, which changes what it applies of Karpenter"
    );
}

#[test]
fn an_overlay_that_takes_another_base_is_compared_with_itself() {
    type Files<'f> = Vec<(&'f str, &'f str)>;
    let ([one, two], built) = (["a", "b"].map(|team| pool("one", team)), "resources: [one.yaml]\n");
    let overlay = |base: &str| format!("resources: [../../{base}]\n");
    let (of_one, of_two) = (overlay("v1"), overlay("v2"));
    let files = |[dev, prod]: [&'static str; 2], text: &'static str| {
        let of = |base: &str| if base == "v1" { of_one.as_str() } else { of_two.as_str() };
        vec![
            ("v1/one.yaml", one.as_str()),
            ("v1/kustomization.yaml", built),
            ("v2/one.yaml", if text == "b" { &two } else { &one }),
            ("v2/kustomization.yaml", built),
            ("overlays/dev/kustomization.yaml", of(dev)),
            ("overlays/prod/kustomization.yaml", of(prod)),
        ]
    };
    let verdict = |old: Files<'_>, new: Files<'_>| plan(&old, &new)["verdict"].as_str().unwrap().to_owned();
    let label = "spec.template.metadata.labels.team";
    let dev = format!("replaces every node of 1 NodePool (one in overlays/dev): {label}");
    // Each overlay has another base, or nothing used the second base before.
    assert_eq!(verdict(files(["v1", "v2"], "b"), files(["v2", "v2"], "b")), dev);
    assert_eq!(verdict(files(["v1", "v2"], "a"), files(["v1", "v2"], "b")), dev.replace("dev", "prod"));
    let first = verdict(files(["v1", "v1"], "b"), files(["v2", "v1"], "b"));
    assert!(first.starts_with(&dev.replace(&format!(": {label}"), "")), "{first}");
    assert!(!first.contains("removes"), "{first}");
}
