//! `karpwarden plan` about what applies objects: kustomizations, Flux, Argo CD and Helm.

use serde_json::Value;

use crate::folder::Folder;
use crate::plan::{CLASS, POOL};

pub(crate) const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";

/// A file of a change: its name, and its text before and after; an empty text is no file.
pub(crate) type Change<'t> = (&'t str, &'t str, &'t str);

pub(crate) fn plan(files: &[(&str, &str)], changes: &[Change<'_>]) -> Value {
    let folder = Folder::with(&[("old/README.md", "a"), ("new/README.md", "a")]);
    let both = files.iter().map(|(name, text)| (*name, *text, *text)).chain(changes.iter().copied());
    for (name, old, new) in both {
        for (side, text) in [("old", old), ("new", new)] {
            if !text.is_empty() {
                folder.write(&format!("{side}/{name}"), text.as_bytes());
            }
        }
    }
    let arguments =
        ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14", "--format", "json"];
    let answer = folder.run(&[&arguments[..], &["old", "new"]].concat()).json();
    crate::answers::assert_valid("plan", &answer);
    answer
}

pub(crate) fn verdict(files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    plan(files, changes)["verdict"].as_str().unwrap().to_owned()
}

/// A NodePool with a name.
pub(crate) fn pool(name: &str) -> String {
    POOL.replacen("{name: default}", &format!("{{name: {name}}}"), 1)
}

pub(crate) fn flux(path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: nodes, namespace: flux-system}}\n\
         spec:\n  path: ./{path}\n  prune: true\n  interval: 10m\n  sourceRef: {{kind: GitRepository, name: a}}\n"
    )
}

pub(crate) fn argo(path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
         metadata: {{name: nodes, finalizers: [resources-finalizer.argocd.argoproj.io]}}\n\
         spec:\n  syncPolicy: {{automated: {{prune: true}}}}\n  source: {{repoURL: 'https://example.com/a', path: {path}}}\n"
    )
}

#[test]
fn a_file_that_a_kustomization_no_longer_lists_is_removed_unless_something_else_applies_it() {
    let (one, extra) = (pool("one"), pool("extra"));
    let flat = [("class.yaml", CLASS), ("one.yaml", one.as_str()), ("extra.yaml", &extra)];
    let removed = "removes the nodes of 1 NodePool (extra)";
    let (all, less) = ("resources: [class.yaml, one.yaml, extra.yaml]", "resources: [class.yaml, one.yaml]");
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, less)]), removed);
    assert_eq!(
        verdict(&flat, &[("kustomization.yaml", all, "resources: [extra.yaml, class.yaml, one.yaml]")]),
        NONE
    );
    // Without a kustomization, all files of a folder may be applied.
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, "")]), NONE);
    // The object is in another file.
    let moved = format!("{one}---\n{extra}");
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, less), ("one.yaml", &one, &moved)]), NONE);
    // A folder with its own kustomization, and one without.
    let extra_in = |name: &'static str| (name, extra.as_str());
    let base = [("prod/class.yaml", CLASS), ("prod/one.yaml", one.as_str())];
    for (own, list, applied_by, expected) in [
        (true, "nodes", "", removed),
        (true, "nodes", "prod", removed),
        (false, "nodes/extra.yaml", "", removed),
        (false, "nodes/extra.yaml", "nodes", NONE),
        (false, "nodes/extra.yaml", "prod", removed),
    ] {
        for apply in [&flux as &dyn Fn(&str) -> String, &argo] {
            let applied = match applied_by {
                "nodes" => apply("prod/nodes"),
                "prod" => apply("prod"),
                _ => String::new(),
            };
            let mut files = base.to_vec();
            files.push(extra_in("prod/nodes/extra.yaml"));
            files.push(("apps/nodes.yaml", &applied));
            files.extend(own.then_some(("prod/nodes/kustomization.yaml", "resources: [extra.yaml]")));
            let list = format!("resources: [class.yaml, one.yaml, {list}]");
            let change = ("prod/kustomization.yaml", list.as_str(), less);
            let answer = plan(&files, &[change]);
            let shown = answer["verdict"].as_str().unwrap().replace(" in prod)", ")");
            assert_eq!(shown, expected, "{own} {list} {applied_by}: {answer}");
        }
    }
}

#[test]
fn what_applies_nodepools_in_another_way_or_no_longer_may_replace_nodes() {
    let (one, other) = (format!("{}---\n{CLASS}", pool("one")), format!("{}---\n{CLASS}", pool("other")));
    let files = [("a/pool.yaml", one.as_str()), ("b/pool.yaml", &other), ("c/pool.yaml", &one)];
    let patched = |team: &str| {
        format!(
            "{}  patches:\n  - target: {{kind: NodePool}}\n    patch: '[{{op: replace, path: /spec/weight, value: {team}}}]'\n",
            flux("a")
        )
    };
    let image = format!(
        "{}  patches:\n  - target: {{kind: Deployment}}\n    patch: '[{{op: remove, path: /spec/replicas}}]'\n",
        flux("a")
    );
    let helm = |chart: &str, team: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: nodes}}\n\
             spec: {{interval: 1h, chart: {{spec: {{chart: {chart}, version: 1.2.3}}}}, values: {{pools: {{one: {team}}}}}}}\n"
        )
    };
    let may = |what: &str| format!("may replace nodes: {what}, which changes what it applies of Karpenter");
    let revision = |name: &str| argo("a").replace("path: a", &format!("path: a, targetRevision: {name}"));
    for (old, new, expected) in [
        (flux("a"), String::new(), may("Kustomization/nodes is removed")),
        (flux("a"), flux("b"), may("Kustomization/nodes has another `path`")),
        (patched("1"), patched("2"), may("Kustomization/nodes has another `patches`")),
        (argo("a"), argo("b"), may("Application/nodes has another `path`")),
        (revision("v1"), revision("v2"), may("Application/nodes has another `targetRevision`")),
        (helm("node-pools", "a"), helm("node-pools", "b"), may("HelmRelease/nodes has another `values`")),
        // These changes matter to no node.
        (flux("a"), flux("c"), NONE.to_owned()),
        (flux("a"), image, NONE.to_owned()),
        (flux("a"), flux("a").replace("10m", "20m"), NONE.to_owned()),
        (flux("other"), String::new(), NONE.to_owned()),
        (argo("a"), argo("a").replace("{name: nodes", "{labels: {a: b}, name: nodes"), NONE.to_owned()),
        (argo("monitoring"), argo("logging"), NONE.to_owned()),
        (helm("grafana", "a"), helm("grafana", "b"), NONE.to_owned()),
        (helm("karpenter", "a"), String::new(), NONE.to_owned()),
    ] {
        let answer = plan(&files, &[("apps/nodes.yaml", &old, &new)]);
        assert_eq!(answer["verdict"], *expected, "{old}{new}{answer}");
        if expected != NONE {
            let side = if new.is_empty() { "old" } else { "new" };
            assert_eq!(answer["changes"][0]["file"], format!("{side}/apps/nodes.yaml"), "{answer}");
            assert_eq!(answer["changes"][0]["line"], 3, "{answer}");
        }
    }
    // The NodePools go with it, or to another folder: they are compared by themselves.
    let change = [("apps/nodes.yaml", &*flux("a"), ""), ("a/pool.yaml", &one, "")];
    assert_eq!(verdict(&[], &change), "removes the nodes of 1 NodePool (one)");
    let edited = one.replace("team: a", "team: b");
    let moved = [
        ("apps/nodes.yaml", &*flux("a"), &*flux("d")),
        ("a/pool.yaml", &one, ""),
        ("d/pool.yaml", "", &edited),
    ];
    let expected = "replaces every node of 1 NodePool (one): spec.template.metadata.labels.team";
    assert_eq!(verdict(&[], &moved), expected);
}

#[test]
fn only_the_sources_of_an_application_that_may_have_objects_of_karpenter_count() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("a/pool.yaml", one.as_str())];
    let app = |sources: &[&str]| {
        let sources: Vec<_> = sources.iter().map(|source| format!("  - {source}\n")).collect();
        let sources = sources.concat();
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: platform}}\n\
             spec:\n  destination: {{name: prod, namespace: x}}\n  sources:\n{sources}"
        )
    };
    let nodes = "{repoURL: 'https://example.com/a', path: a}";
    let grafana = "{repoURL: 'https://example.com/charts', chart: grafana, targetRevision: 1.2.3}";
    let chart = "{repoURL: 'https://example.com/charts', chart: node-pools, targetRevision: 1.2.3, helm: {valueFiles: [$v/a.yaml]}}";
    let values = "{repoURL: 'https://example.com/v', ref: v, targetRevision: main}";
    let may = |field: &str| {
        format!(
            "may replace nodes: Application/platform has another `{field}`, which changes what it applies of Karpenter"
        )
    };
    let of = |old: &str, new: &str| verdict(&files, &[("apps/nodes.yaml", old, new)]);
    let newer = |source: &str| source.replace("1.2.3", "2.0.0");
    let both = app(&[nodes, grafana]);
    for (old, new) in [
        (both.clone(), app(&[grafana, nodes])),
        (both.clone(), app(&[nodes, &newer(grafana)])),
        (both.clone(), app(&[nodes])),
        (app(&[nodes]), both.clone()),
        (app(&[nodes]), app(&[chart, nodes])),
        (both.clone(), both.replace("namespace: x", "namespace: y")),
        (app(&[nodes, values]), app(&[nodes, &values.replace("main", "other")])),
    ] {
        assert_eq!(of(&old, &new), NONE, "{old}{new}");
    }
    for (old, new, field) in [
        (both.clone(), both.replace("name: prod", "name: dev"), "destination.name"),
        (app(&[nodes, chart]), app(&[&newer(chart), nodes]), "targetRevision"),
        (app(&[nodes, chart]), app(&[nodes]), "sources"),
        (
            app(&[nodes, chart, values]),
            app(&[nodes, chart, &values.replace("main", "other")]),
            "targetRevision",
        ),
        (both.clone(), both.replace("example.com/a", "example.com/b"), "repoURL"),
    ] {
        assert_eq!(of(&old, &new), may(field), "{old}{new}");
    }
}

#[test]
fn an_application_set_that_leaves_out_a_cluster_or_takes_another_one_is_told_apart() {
    let set = |elements: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: nodes}}\nspec:\n  generators:\n  \
             - git: {{directories: [{elements}]}}\n  template:\n    spec: {{source: {{path: '{{{{path}}}}', repoURL: 'https://example.com/a'}}}}\n"
        )
    };
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("clusters/dev/pool.yaml", one.as_str())];
    let of = |old: &str, new: &str| verdict(&files, &[("apps/nodes.yaml", &set(old), &set(new))]);
    let may = "may replace nodes: ApplicationSet/nodes has another `generators`, which changes what it applies of Karpenter";
    assert_eq!(of("{path: clusters/*}", "{path: clusters/*}, {path: other/*}"), NONE);
    assert_eq!(of("{path: clusters/*}", "{path: clusters/*}, {path: clusters/dev, exclude: true}"), may);
    assert_eq!(of("{path: clusters/*}, {path: other/*}", "{path: other/*}"), may);
    assert_eq!(of("{path: apps/*}, {path: other/*}", "{path: other/*}"), NONE);
}

#[test]
fn an_application_set_generates_otherwise_from_other_files() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: nodes}\nspec:\n  generators:\n  \
         - git: {files: [{path: clusters/*/config.json}]}\n  template:\n    spec: {source: {path: 'clusters/{{cluster}}', repoURL: 'https://example.com/a'}}\n";
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("clusters/dev/pool.yaml", one.as_str()), ("set.yaml", set)];
    let of = |file, old, new| verdict(&files, &[(file, old, new)]);
    let may = "may replace nodes: ApplicationSet/nodes has another `git.files`, which changes what it applies of Karpenter";
    let (dev, other) = ("{\"cluster\": \"dev\"}", "{\"cluster\": \"other\"}");
    assert_eq!(of("clusters/dev/config.json", dev, ""), may);
    assert_eq!(of("clusters/dev/config.json", dev, other), may);
    assert_eq!(of("clusters/new/config.json", "", other), NONE);
    assert_eq!(of("apps/dev/config.json", dev, ""), NONE);
    assert_eq!(of("clusters/dev/map.json", dev, ""), NONE);
}

#[test]
fn a_removed_definition_removes_the_nodes_of_all_nodepools() {
    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: nodepools.karpenter.sh}\n";
    const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: crds}\n\
        spec: {interval: 1h, chart: {spec: {chart: karpenter-crd, version: 1.14.0}}}\n";
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("pool.yaml", one.as_str())];
    let of = |old: &str, new: &str| verdict(&files, &[("a.yaml", old, ""), ("b.yaml", "", new)]);
    let removes = |what: &str| format!("removes the nodes of 1 NodePool (one): {what} is removed");
    assert_eq!(of(DEFINITION, ""), removes("nodepools.karpenter.sh"));
    assert_eq!(of(RELEASE, ""), removes("chart karpenter-crd"));
    assert_eq!(
        verdict(&[], &[("a.yaml", DEFINITION, "")]),
        "removes nodes: nodepools.karpenter.sh is removed"
    );
    for (old, new) in [
        (DEFINITION, DEFINITION),
        (DEFINITION, RELEASE),
        (RELEASE, RELEASE),
        (&DEFINITION.replace("nodepools.karpenter.sh", "others.example.com"), ""),
    ] {
        assert!(of(old, new).starts_with("no node is replaced"), "{old}{new}");
    }
    // The definition takes its NodePools along, whatever else changes in them.
    let edited = one.replace("team: a", "team: b");
    let changes = [("pool.yaml", one.as_str(), edited.as_str()), ("a.yaml", DEFINITION, "")];
    assert_eq!(verdict(&[], &changes), removes("nodepools.karpenter.sh"));
    let suspended = RELEASE.replace("interval: 1h", "suspend: true");
    let changes = [("pool.yaml", one.as_str(), edited.as_str()), ("a.yaml", &suspended, "")];
    assert_eq!(
        verdict(&[], &changes),
        "replaces every node of 1 NodePool (one): spec.template.metadata.labels.team; may remove nodes: chart karpenter-crd is removed"
    );
    let may = "may replace nodes of 1 NodePool (one): ";
    assert_eq!(of(&suspended, ""), format!("{may}chart karpenter-crd is removed"));
    // Helm never deletes what is in the folder `crds` of a chart.
    let chart = ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    let answer = verdict(&[files[0], chart], &[("c/crds/a.yaml", DEFINITION, "")]);
    assert!(answer.starts_with("no node is replaced"), "{answer}");
}

#[test]
fn a_removed_nodepool_may_stay_if_nothing_deletes_it() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let extra = pool("extra");
    let with = |from: &str, to: &str| extra.replacen(from, to, 1);
    let automated = |policy: &str| argo("a").replace("{automated: {prune: true}}", policy);
    let removes = "removes the nodes of 1 NodePool (extra)";
    let may = |reason: &str| {
        format!("may replace nodes of 1 NodePool (extra): it may stay in the cluster: {reason}")
    };
    for (applier, extra, expected) in [
        (flux("a"), extra.clone(), removes.to_owned()),
        (argo("a"), extra.clone(), removes.to_owned()),
        (
            argo("a").replace("  syncPolicy: {automated: {prune: true}}\n", ""),
            extra.clone(),
            may("Application/nodes is synchronised without `prune: true`"),
        ),
        (flux("other"), extra.clone(), removes.to_owned()),
        (
            flux("a").replace("prune: true", "prune: false"),
            extra.clone(),
            may("Kustomization/nodes has `prune: false`"),
        ),
        (
            flux("a").replace("interval: 10m", "suspend: true"),
            extra.clone(),
            may("Kustomization/nodes is suspended"),
        ),
        (
            automated("{automated: {}}"),
            extra.clone(),
            may("Application/nodes is synchronised without `prune: true`"),
        ),
        (
            automated("{syncOptions: [Prune=false]}"),
            extra.clone(),
            may("Application/nodes has the option `Prune=false`"),
        ),
        (
            String::new(),
            with("{name: extra}", "{name: extra, labels: {kustomize.toolkit.fluxcd.io/prune: disabled}}"),
            may("`kustomize.toolkit.fluxcd.io/prune: disabled`"),
        ),
        (
            String::new(),
            with(
                "{name: extra}",
                "{name: extra, annotations: {argocd.argoproj.io/sync-options: Prune=false}}",
            ),
            may("`argocd.argoproj.io/sync-options: Prune=false`"),
        ),
    ] {
        let files = [("a/one.yaml", one.as_str()), ("apps/nodes.yaml", &applier)];
        let answer = plan(&files, &[("a/extra.yaml", &extra, "")]);
        assert_eq!(answer["verdict"], *expected, "{applier}{extra}{answer}");
    }
    // The Kustomization or Application is removed with the NodePool.
    for (applier, expected) in [
        (flux("a"), removes.to_owned()),
        (argo("a"), removes.to_owned()),
        (
            flux("a").replace("interval: 10m", "deletionPolicy: Orphan"),
            may("Kustomization/nodes is removed with `deletionPolicy: Orphan`"),
        ),
        (
            argo("a").replace(", finalizers: [resources-finalizer.argocd.argoproj.io]", ""),
            may("Application/nodes is removed without the finalizer of Argo CD"),
        ),
    ] {
        let files = [("b/one.yaml", one.as_str())];
        let change = [("a/extra.yaml", &*extra, ""), ("apps/nodes.yaml", &applier, "")];
        assert_eq!(verdict(&files, &change), expected, "{applier}");
    }
}

#[test]
fn clusters_may_have_kustomizations_of_one_name() {
    let (dev, prod) = (flux("nodes/dev"), flux("nodes/prod").replace("prune: true", "prune: false"));
    let (class, extra) = (format!("{}---\n{CLASS}", pool("one")), pool("extra"));
    let files = [
        ("clusters/dev/nodes.yaml", dev.as_str()),
        ("clusters/prod/nodes.yaml", &prod),
        ("nodes/dev/one.yaml", &class),
        ("nodes/prod/one.yaml", &class),
    ];
    let changed = plan(&files, &[("README.md", "a", "b")]);
    assert_eq!((&changed["effect"], &changed["changes"]), (&"none".into(), &Value::Array(Vec::new())));
    let removed = plan(&files, &[("nodes/dev/extra.yaml", &extra, "")]);
    assert_eq!(removed["effect"], "removes-nodes", "{removed}");
}

#[test]
fn the_values_of_a_chart_feed_texts_in_quotes() {
    let template = |text: &str| POOL.replace("team: a", &format!("team: \"{{{{ {text} }}}}\""));
    let (values, include) = (template(".Values.team"), template("include `c.team` ."));
    let change = |old: &'static str, new: &'static str| ("c/values.yaml", old, new);
    let of = |template: &str, changes: &[Change<'_>]| {
        let files = [
            ("c/templates/pool.yaml", template),
            ("class.yaml", CLASS),
            ("c/Chart.yaml", "name: c\nversion: 1.0.0\n"),
        ];
        verdict(&files, changes)
    };
    let may = "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team";
    assert_eq!(of(&values, &[change("team: a\n", "team: b\n")]), may);
    assert_eq!(of(&values, &[change("other: a\n", "other: b\n")]), NONE);
    assert_eq!(of(&include, &[("README.md", "a", "b")]), NONE);
}

#[test]
fn an_overlay_has_its_base_elsewhere() {
    let one = pool("one");
    let files = [
        ("infra/base/class.yaml", CLASS),
        ("infra/base/pool.yaml", one.as_str()),
        ("infra/base/kustomization.yaml", "resources: [class.yaml, pool.yaml]"),
        ("infra/prod/kustomization.yaml", "resources: [../base]"),
    ];
    let patched = format!(
        "{}  patches: [{{target: {{kind: NodePool}}, patch: '[{{op: add, path: /spec/weight, value: 1}}]'}}]\n",
        flux("infra/prod")
    );
    let newer = argo("infra/prod").replace("path: infra", "targetRevision: v2, path: infra");
    for (before, after, field) in [
        (flux("infra/prod"), patched, "Kustomization/nodes has another `patches`"),
        (argo("infra/prod"), newer, "Application/nodes has another `targetRevision`"),
        (flux("infra/prod"), String::new(), "Kustomization/nodes is removed"),
        (argo("infra/prod"), String::new(), "Application/nodes is removed"),
    ] {
        let found = verdict(&files, &[("clusters/prod/nodes.yaml", &before, &after)]);
        assert!(found.starts_with("may replace nodes") && found.contains(field), "{found}");
    }
}

#[test]
fn a_node_pool_that_goes_to_a_folder_that_nothing_applies_is_removed() {
    let (one, extra) = (pool("one"), pool("extra"));
    let moved = [("infra/extra.yaml", extra.as_str(), ""), ("archive/extra.yaml", "", extra.as_str())];
    for (applier, expected) in [
        (
            flux("infra"),
            "Kustomization/nodes no longer applies NodePool extra, and removes it with the nodes",
        ),
        (argo("infra"), "Application/nodes no longer applies NodePool extra, and removes it with the nodes"),
        (flux("infra").replace("prune: true", "prune: false"), ""),
    ] {
        let files =
            [("infra/class.yaml", CLASS), ("infra/one.yaml", one.as_str()), ("clusters/a.yaml", &applier)];
        let found = verdict(&files, &moved);
        if expected.is_empty() {
            assert_eq!(found, NONE);
        } else {
            assert!(found.starts_with("may replace nodes") && found.contains(expected), "{found}");
        }
    }
}

#[test]
fn an_object_of_flux_that_no_kustomization_lists_any_more_is_removed() {
    let (one, nodes) = (pool("one"), flux("infra"));
    let files =
        [("infra/class.yaml", CLASS), ("infra/one.yaml", one.as_str()), ("clusters/nodes.yaml", &nodes)];
    let list = ("clusters/kustomization.yaml", "resources: [nodes.yaml]", "resources: []");
    let found = verdict(&files, &[list]);
    assert!(found.starts_with("may replace nodes: Kustomization/nodes is removed"), "{found}");
}
