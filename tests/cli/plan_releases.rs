//! `karpwarden plan` about what Flux and Argo CD pass to charts and kustomizations: values, parameters, revisions, generated `ConfigMaps`.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, argo, flux, plan, pool, verdict};

/// Parameters of a generator.
const A: &str = "{\"cluster\": {\"team\": \"a\"}}";
/// Other parameters.
const B: &str = "{\"cluster\": {\"team\": \"b\"}}";

/// A NodePool whose label is a value of its chart, in a template that is no YAML.
fn template() -> String {
    POOL.replace("team: a", "team: {{ .Values.team }}")
}

/// A chart with such a template.
fn chart(template: &str) -> [(&str, &str); 3] {
    [
        ("charts/np/Chart.yaml", "name: np\nversion: 1.0.0\n"),
        ("charts/np/values.yaml", "team: a\n"),
        ("charts/np/templates/pool.yaml", template),
    ]
}

fn application(spec: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: np, namespace: argocd}}\nspec:\n  project: a\n  \
         destination: {{name: prod, namespace: x}}\n  source: {{repoURL: 'https://example.com/a', {spec}}}\n"
    )
}

fn release(chart: &str, rest: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: np, namespace: a}}\n\
         spec:\n  interval: 1h\n  chart: {{spec: {{chart: {chart}, sourceRef: {{kind: GitRepository, name: flux-system}}}}}}\n{rest}"
    )
}

fn may(what: &str) -> String {
    format!("may replace nodes: {what}, which changes what it applies of Karpenter")
}

#[test]
fn only_what_an_object_passes_to_a_chart_of_the_input_counts() {
    let template = template();
    let of = |old: &str, new: &str| verdict(&chart(&template), &[("apps/np.yaml", old, new)]);
    let app =
        application("path: charts/np, targetRevision: v1, helm: {parameters: [{name: team, value: a}]}");
    let helm = release("./charts/np", "  values: {team: a}\n");
    let another = format!("{app}---\n{}", application("path: shop").replace("name: np", "name: shop"));
    for (old, new) in [
        (&app, format!("# comment\n{app}")),
        (&app, another),
        (&app, app.replace("name: np,", "name: np, annotations: {a: b},")),
        (&app, app.replace("namespace: x", "namespace: y")),
        (&app, app.replace("spec:\n", "spec:\n  syncPolicy: {automated: {selfHeal: true}}\n")),
        (&helm, helm.replace("1h", "2h")),
    ] {
        assert_eq!(of(old, &new), NONE, "{new}");
    }
    assert_eq!(of("", &app), NONE);
    for (old, new, expected) in [
        (&app, app.replace("v1", "v2"), "Application/np has another `targetRevision`"),
        (&app, app.replace("name: prod", "name: dev"), "Application/np has another `destination.name`"),
        (&app, String::new(), "Application/np is removed"),
        (&helm, String::new(), "HelmRelease/np is removed"),
    ] {
        assert_eq!(of(old, &new), may(expected), "{new}");
    }
    let feeds = "because of apps/np.yaml; compare the output of `helm template` or `kustomize build`";
    for (old, new) in
        [(&app, app.replace("value: a", "value: b")), (&helm, helm.replace("team: a", "team: b"))]
    {
        let found = of(old, &new);
        assert!(found.starts_with("may replace nodes") && found.ends_with(feeds), "{found}");
    }
    // The template does not read these values.
    assert_eq!(of(&helm, &helm.replace("{team: a}", "{team: a, x: b}")), NONE);
    // Another file with the object is no change, and another folder with the same chart neither.
    let moved = [("apps/np.yaml", &*app, ""), ("apps/prod/np.yaml", "", &*app)];
    assert_eq!(verdict(&chart(&template), &moved), NONE);
}

#[test]
fn a_chart_on_which_the_applied_chart_depends_counts_too() {
    let template = template();
    let mut files = chart(&template).to_vec();
    let parent =
        "name: all\nversion: 1.0.0\ndependencies: [{name: np, version: 1.0.0, repository: 'file://../np'}]\n";
    files.push(("charts/all/Chart.yaml", parent));
    let app = application("path: charts/all, helm: {parameters: [{name: np.team, value: a}]}");
    let changed = app.replace("value: a", "value: b");
    let found = verdict(&files, &[("apps/np.yaml", &app, &changed)]);
    assert!(found.starts_with("may replace nodes") && found.contains("because of apps/np.yaml"), "{found}");
    // A moved object with other values is a change too.
    let moved = [("apps/np.yaml", app.as_str(), ""), ("apps/prod/np.yaml", "", changed.as_str())];
    assert!(verdict(&files, &moved).starts_with("may replace nodes"));
}

#[test]
fn the_values_of_another_chart_feed_a_template_only_if_something_names_them() {
    let template = template();
    let shop = ("charts/shop/Chart.yaml", "name: shop\nversion: 1.0.0\n");
    let of = |app: &str, values: (&str, &str)| {
        let mut files = chart(&template).to_vec();
        files.extend([shop, ("apps/np.yaml", app)]);
        verdict(&files, &[("charts/shop/values.yaml", values.0, values.1)])
    };
    let values = ("team: a\n", "team: b\n");
    assert_eq!(of(&application("path: charts/np"), values), NONE);
    assert_eq!(of(&application("path: charts/np"), ("global: {a: b}\n", "global: {a: c}\n")), NONE);
    let named = application("path: charts/np, helm: {valueFiles: [../shop/values.yaml]}");
    assert!(of(&named, values).starts_with("may replace nodes"));
}

#[test]
fn generated_config_maps_feed_releases() {
    let release = |chart: &str| release(chart, "  valuesFrom: [{kind: ConfigMap, name: values}]\n");
    let generator = "resources: [np.yaml]\nconfigMapGenerator: [{name: values, files: [values.yaml=prod.yaml]}]\nconfigurations: [names.yaml]\n";
    let other = generator.replace("name: values", "name: others");
    let template = template();
    for (chart_name, is_there) in [("karpenter-nodepools", false), ("./charts/np", true)] {
        let release = release(chart_name);
        let of = |generator: &str, change: Change<'_>| {
            let mut files = vec![("flux/np.yaml", release.as_str()), ("flux/kustomization.yaml", generator)];
            files.extend(chart(&template).into_iter().filter(|_| is_there));
            verdict(&files, &[change])
        };
        let change = ("flux/prod.yaml", "nodes: a\n", "nodes: b\n");
        let found = of(generator, change);
        assert!(found.starts_with("may replace nodes: flux/prod.yaml feeds HelmRelease/np"), "{found}");
        assert_eq!(of(&other, change), NONE, "{chart_name}");
        assert_eq!(of(generator, ("flux/dev.yaml", "nodes: a\n", "nodes: b\n")), NONE, "{chart_name}");
    }
}

#[test]
fn generated_config_maps_have_variables_of_flux() {
    let nodes =
        format!("{}  postBuild: {{substituteFrom: [{{kind: ConfigMap, name: vars}}]}}\n", flux("infra"));
    let team = format!("{}---\n{CLASS}", POOL.replace("team: a", "team: '${team}'"));
    let generated = |source: &str| {
        format!(
            "resources: [nodes.yaml]\nconfigMapGenerator: [{{name: vars, namespace: flux-system, {source}}}]\n"
        )
    };
    let (env, literal) = (generated("envs: [vars.env]"), generated("literals: [team=one]"));
    let files = [("infra/pool.yaml", team.as_str()), ("clusters/nodes.yaml", &nodes)];
    let replaces = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team";
    let with_env = [files[0], files[1], ("clusters/kustomization.yaml", &env)];
    let change = ("clusters/vars.env", "team=one\nother=a\n", "team=two\nother=a\n");
    assert_eq!(verdict(&with_env, &[change]), replaces);
    let change = ("clusters/vars.env", "team=one\nother=a\n", "team=one\nother=b\n");
    assert_eq!(verdict(&with_env, &[change]), NONE);
    let change = ("clusters/kustomization.yaml", literal.as_str(), &*literal.replace("one", "two"));
    assert_eq!(verdict(&files, &[change]), replaces);
    // A Secret may have the variable too.
    let secret = env.replace("configMapGenerator", "secretGenerator");
    let nodes = nodes.replace("kind: ConfigMap", "kind: Secret");
    let with_secret = [files[0], ("clusters/nodes.yaml", &nodes), ("clusters/kustomization.yaml", &secret)];
    let change = ("clusters/vars.env", "team=one\n", "team=two\n");
    let may = "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team";
    assert_eq!(verdict(&with_secret, &[change]), may);
}

#[test]
fn replacements_copy_from_generated_config_maps() {
    let one = format!("{POOL}---\n{CLASS}");
    let kustomization = |generator: &str| {
        format!(
            "resources: [pool.yaml]\n{generator}\nreplacements:\n- source: {{kind: ConfigMap, name: s, fieldPath: data.team}}\n  \
             targets: [{{select: {{kind: NodePool}}, fieldPaths: [spec.template.metadata.labels.team]}}]\n"
        )
    };
    let replaces = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team";
    let literal =
        |team: &str| kustomization(&format!("configMapGenerator: [{{name: s, literals: [team={team}]}}]"));
    let files = [("base/pool.yaml", one.as_str())];
    let change = ("base/kustomization.yaml", &*literal("x"), &*literal("y"));
    assert_eq!(verdict(&files, &[change]), replaces);
    let of_file = kustomization("configMapGenerator: [{name: s, envs: [s.env]}]");
    let files = [files[0], ("base/kustomization.yaml", &of_file)];
    assert_eq!(verdict(&files, &[("base/s.env", "team=x\n", "team=y\n")]), replaces);
    let of_secret = of_file.replace("configMapGenerator", "secretGenerator");
    let files = [files[0], ("base/kustomization.yaml", &of_secret)];
    let found = verdict(&files, &[("base/s.env", "team=x\n", "team=y\n")]);
    assert!(found.starts_with("may replace nodes of 1 NodePool (default)"), "{found}");
}

#[test]
fn another_revision_of_a_repository_of_flux_may_have_other_node_pools() {
    let repository = |kind: &str, reference: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: {kind}\nmetadata: {{name: platform, namespace: flux-system}}\n\
             spec:\n  interval: 5m\n  url: https://example.com/platform\n  ref: {{{reference}}}\n"
        )
    };
    let nodes = |path: &str, kind: &str| {
        flux(path).replace("{kind: GitRepository, name: a}", &format!("{{kind: {kind}, name: platform}}"))
    };
    let chart = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: karpenter-nodepools, namespace: flux-system}\n\
         spec: {interval: 5m, chartRef: {kind: OCIRepository, name: platform}}\n";
    let own = chart.replace("karpenter-nodepools", "karpenter").replace("name: platform", "name: karpenter");
    for (object, kind, old, new, is_change) in [
        (nodes("karpenter/nodepools", "GitRepository"), "GitRepository", "tag: v1", "tag: v2", true),
        (nodes("karpenter/nodepools", "OCIRepository"), "OCIRepository", "tag: v1", "digest: x", true),
        (chart.to_owned(), "OCIRepository", "semver: 1.x", "semver: 2.x", true),
        (nodes("karpenter/nodepools", "GitRepository"), "OCIRepository", "tag: v1", "tag: v2", false),
        (nodes("monitoring", "GitRepository"), "GitRepository", "tag: v1", "tag: v2", false),
        (own, "OCIRepository", "tag: v1", "tag: v2", false),
        // The input has the folder: the repository is the input itself, in another revision.
        (nodes("karpenter/here", "GitRepository"), "GitRepository", "branch: a", "branch: b", true),
    ] {
        let files = [("flux/nodes.yaml", object.as_str()), ("karpenter/here/a.yaml", CLASS)];
        let change = ("flux/platform.yaml", &*repository(kind, old), &*repository(kind, new));
        let answer = plan(&files, &[change]);
        let verdict = answer["verdict"].as_str().unwrap();
        let expected = format!("may replace nodes: {kind}/platform has another `ref`, which changes what ");
        assert_eq!(verdict.starts_with(&expected), is_change, "{object}{verdict}");
        assert_eq!(verdict == NONE, !is_change, "{object}{verdict}");
        if is_change {
            assert_eq!(answer["changes"][0]["file"], "new/flux/platform.yaml", "{answer}");
            assert_eq!(answer["changes"][0]["line"], 7, "{answer}");
        }
    }
}

#[test]
fn generators_within_others_count() {
    let set = |generators: &str, path: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: nodes}}\nspec:\n  generators:\n  {generators}\n  \
             template:\n    spec: {{source: {{path: '{path}', repoURL: 'https://example.com/a', helm: {{parameters: [{{name: team, value: '{{{{cluster.team}}}}'}}]}}}}}}\n"
        )
    };
    let template = template();
    let files = |set: &str| -> Vec<(String, String)> {
        let own = chart(&template).into_iter().chain([("apps/nodes.yaml", set)]);
        own.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    };
    let of = |set: &str, change: Change<'_>| {
        let files = files(set);
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        verdict(&files, &[change])
    };
    let matrix = set(
        "- matrix: {generators: [{git: {files: [{path: 'clusters/*/config.json'}]}}, {clusters: {}}]}",
        "charts/np",
    );
    let merge = matrix.replace("matrix:", "merge:");
    let plain = set("- git: {files: [{path: 'clusters/**/config.json'}]}", "charts/np");
    let may = may("ApplicationSet/nodes has another `git.files`");
    for set in [&matrix, &merge, &plain] {
        assert_eq!(of(set, ("clusters/a/config.json", A, B)), may);
        assert_eq!(of(set, ("clusters/a/config.json", A, "")), may);
        assert_eq!(of(set, ("clusters/a/config.json", "", A)), NONE);
        assert_eq!(of(set, ("clusters/a/other.json", A, B)), NONE);
    }
    // The folders of a matrix are the applied ones.
    let one = format!("{}---\n{CLASS}", pool("one"));
    let folders = set(
        "- matrix: {generators: [{git: {directories: [{path: 'addons/*'}]}}, {clusters: {}}]}",
        "{{path}}",
    );
    let files = [("addons/np/pool.yaml", one.as_str())];
    let newer = folders.replace("repoURL", "targetRevision: v2, repoURL");
    let of = |old: &str, new: &str| verdict(&files, &[("apps/nodes.yaml", old, new)]);
    assert_eq!(of(&folders, ""), self::may("ApplicationSet/nodes is removed"));
    assert_eq!(of(&folders, &newer), self::may("ApplicationSet/nodes has another `targetRevision`"));
    // A further generator or element makes further Applications.
    let further = folders.replace("{clusters: {}}", "{list: {elements: [{a: b}]}}");
    let more = further.replace("{a: b}", "{a: b}, {a: c}");
    assert_eq!(of(&further, &more), NONE);
    assert_eq!(of(&more, &further), self::may("ApplicationSet/nodes has another `generators`"));
}

#[test]
fn the_root_of_a_repository_is_applied() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let patch = "[{op: add, path: /spec/weight, value: 1}]";
    let patched = argo(".").replace(
        "path: .",
        &format!("path: ., kustomize: {{patches: [{{target: {{kind: NodePool}}, patch: '{patch}'}}]}}"),
    );
    let of = |files: &[(&str, &str)], old: &str, new: &str| {
        let mut files = files.to_vec();
        files.push(("pool.yaml", one.as_str()));
        verdict(&files, &[("apps/nodes.yaml", old, new)])
    };
    assert_eq!(of(&[], &argo("."), ""), may("Application/nodes is removed"));
    assert_eq!(of(&[], &argo("."), &patched), may("Application/nodes has another `kustomize`"));
    let kustomization = [("kustomization.yaml", "resources: [pool.yaml]\n")];
    for path in ["", "."] {
        let nodes = flux(path).replace("name: a}", "name: flux-system}");
        assert_eq!(of(&kustomization, &nodes, ""), may("Kustomization/nodes is removed"), "{path}");
    }
    assert_eq!(of(&kustomization, &flux(""), ""), NONE);
    // The other object shows which repository the input is.
    let elsewhere =
        argo("charts").replace("example.com/a", "example.com/b").replace("name: nodes", "name: b");
    let others = [("apps/b.yaml", elsewhere.as_str()), ("charts/a.yaml", "a: b\n")];
    assert_eq!(of(&others, &argo("."), ""), NONE);
}

#[test]
fn values_files_with_a_parameter_in_their_path_count() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: np}\nspec:\n  generators: [{clusters: {}}]\n  \
         template:\n    spec:\n      sources:\n      - {repoURL: example.com, chart: karpenter-nodepools, targetRevision: 1.0.0, helm: {valueFiles: [\"$values/envs/{{name}}/np.yaml\"]}}\n      \
         - {repoURL: 'https://example.com/a', ref: values}\n";
    let of = |file| verdict(&[("apps/np.yaml", set)], &[(file, "team: a\n", "team: b\n")]);
    assert!(of("envs/prod/np.yaml").starts_with("may replace nodes: envs/prod/np.yaml feeds "));
    for other in ["envs/prod/shop.yaml", "other/prod/np.yaml", "envs/np.yaml"] {
        assert_eq!(of(other), NONE, "{other}");
    }
}

#[test]
fn values_that_describe_node_pools_tell_what_a_chart_makes() {
    let helm = |values: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: addons}}\n\
             spec: {{interval: 1h, chart: {{spec: {{chart: addons, version: 1.2.3}}}}, values: {values}}}\n"
        )
    };
    let of = |old: &str, new: &str| verdict(&[], &[("apps/addons.yaml", &helm(old), &helm(new))]);
    let expected = may("HelmRelease/addons has another `values`");
    for values in [
        "{nodePools: {spot: {team: X}}}",
        "{karpenter: {node_pools: [{name: X}]}}",
        "{ec2NodeClasses: [{role: X}]}",
    ] {
        assert_eq!(of(&values.replace('X', "a"), &values.replace('X', "b")), expected, "{values}");
    }
    for values in [
        "{nodePool: X}",
        "{nodeSelector: {karpenter.sh/nodepool: X}}",
        "{nodePools: [X]}",
        "{nodePools: [{component: X, roles: [data]}]}",
    ] {
        assert_eq!(of(&values.replace('X', "a"), &values.replace('X', "b")), NONE, "{values}");
    }
}

#[test]
fn what_argo_passes_to_a_kustomization_counts_only_if_it_changes_objects_of_karpenter() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("infra/pool.yaml", one.as_str()), ("infra/kustomization.yaml", "resources: [pool.yaml]\n")];
    let with = |kustomize: &str| {
        argo("infra").replace("path: infra", &format!("path: infra, kustomize: {{{kustomize}}}"))
    };
    let of = |old: &str, new: &str| verdict(&files, &[("apps/nodes.yaml", &with(old), &with(new))]);
    for (old, new) in [
        ("images: [a=b:1]", "images: [a=b:2]"),
        ("commonLabels: {a: b}", "commonLabels: {a: c}"),
        ("", "replicas: [{name: a, count: 2}]"),
        ("", "patches: [{target: {kind: Deployment}, patch: '[{op: remove, path: /spec/replicas}]'}]"),
    ] {
        assert_eq!(of(old, new), NONE, "{old} {new}");
    }
    for new in [
        "namePrefix: x-",
        "components: [../a]",
        "patches: [{target: {kind: NodePool}, patch: '[{op: add, path: /spec/weight, value: 1}]'}]",
    ] {
        assert_eq!(of("images: [a=b:1]", new), may("Application/nodes has another `kustomize`"), "{new}");
    }
}
