//! `karpwarden plan` about objects of Flux and Argo CD in the templates of a chart, charts that depend on others, and objects within others.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, argo, pool, verdict};

const UNREAD: &str = "may replace nodes: new/pools/templates/pool.yaml may render in another way because of";

fn feeds(file: &str) -> String {
    format!("{UNREAD} {file}; compare the output of `helm template` or `kustomize build`")
}

/// A chart whose NodePool has an action as its label.
fn of_chart(action: &str, files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    let template = POOL.replace("team: a", &format!("team: {{{{ {action} }}}}"));
    let own = [
        ("pools/Chart.yaml", "name: pools\nversion: 1.0.0\n"),
        ("pools/templates/pool.yaml", template.as_str()),
        ("class.yaml", CLASS),
    ];
    verdict(&[&own[..], files].concat(), changes)
}

/// The definition of a chart around others.
fn around(dependencies: &str) -> String {
    format!("name: plat\nversion: 1.0.0\ndependencies:\n{dependencies}")
}

const POOLS: &str = "- {name: pools, version: 1.0.0, repository: 'file://../pools'}\n";

#[test]
fn a_dependency_that_a_chart_no_longer_has_may_remove_nodes() {
    let file = "plat/Chart.yaml";
    let of = |old: &str, new: &str| of_chart(".Values.team", &[], &[(file, &around(old), &around(new))]);
    let shop = "- {name: shop, version: 1.0.0, repository: 'https://example.com'}\n";
    let both = format!("{POOLS}{shop}");
    assert_eq!(of(&both, shop), feeds(file));
    assert_eq!(of(POOLS, &POOLS.replace("file://../pools", "https://example.com")), feeds(file));
    assert_eq!(
        of(POOLS, &POOLS.replace("name: pools,", "name: pools, condition: pools.enabled,")),
        feeds(file)
    );
    assert_eq!(of(POOLS, &both), NONE);
    assert_eq!(of(&both, POOLS), NONE);
    assert_eq!(of(POOLS, &POOLS.replace("1.0.0", "1.1.0")), NONE);
}

#[test]
fn values_that_a_chart_imports_from_one_dependency_reach_another() {
    let defaults = ("defs/Chart.yaml", "name: defs\nversion: 1.0.0\n");
    let of = |imports: &str, old: &str, new: &str| {
        let plat = around(&format!(
            "- {{name: defs, version: 1.0.0, repository: 'file://../defs', import-values: [{imports}]}}\n{POOLS}"
        ));
        of_chart(".Values.team", &[defaults, ("plat/Chart.yaml", &plat)], &[("defs/values.yaml", old, new)])
    };
    let (a, b) = ("d: {team: a}\n", "d: {team: b}\n");
    assert_eq!(of("{child: d, parent: pools}", a, b), feeds("defs/values.yaml"));
    assert_eq!(of("{child: d, parent: shop}", a, b), NONE);
    assert_eq!(of("{child: e, parent: pools}", a, b), NONE);
    let (a, b) = ("exports: {x: {pools: {team: a}}}\n", "exports: {x: {pools: {team: b}}}\n");
    assert_eq!(of("x", a, b), feeds("defs/values.yaml"));
}

#[test]
fn the_dependencies_of_a_chart_share_their_named_templates() {
    let library = ("common/Chart.yaml", "name: common\ntype: library\nversion: 1.0.0\n");
    let plat =
        around(&format!("- {{name: common, version: 1.0.0, repository: 'file://../common'}}\n{POOLS}"));
    let [a, b] = ["a", "b"].map(|team| format!("{{{{- define \"common.team\" -}}}}{team}{{{{- end }}}}\n"));
    let file = "common/templates/_team.tpl";
    let of = |plat: &str| {
        let files = [library, ("plat/Chart.yaml", plat)];
        of_chart("include \"common.team\" .", &files, &[(file, &a, &b)])
    };
    assert_eq!(of(&plat), feeds(file));
    assert_eq!(of(&around(POOLS)), NONE);
}

#[test]
fn a_value_that_is_rendered_may_read_all_values() {
    let of = |action: &str| {
        let values = |team: &str| format!("text: '{{{{ .Values.team }}}}'\nteam: {team}\n");
        of_chart(action, &[], &[("pools/values.yaml", &values("a"), &values("b"))])
    };
    assert_eq!(of("tpl .Values.text $"), feeds("pools/values.yaml"));
    assert_eq!(of(".Values.text"), NONE);
}

/// An Application in the template of a chart of Applications.
fn of_apps(application: &str, changes: &[Change<'_>]) -> String {
    let (pool, file) = (pool("a"), "apps/templates/pools.yaml");
    let own = [
        ("infra/pools/pool.yaml", pool.as_str()),
        ("infra/pools/class.yaml", CLASS),
        ("apps/Chart.yaml", "name: apps\nversion: 1.0.0\n"),
    ];
    let mut files = own.to_vec();
    files.extend((!application.is_empty()).then_some((file, application)));
    verdict(&files, changes)
}

#[test]
fn an_application_of_a_chart_changes_with_the_values_that_it_reads() {
    let may = |what: &str| {
        format!(
            "may replace nodes: Application/nodes of a template {what}, which may change what it applies of Karpenter; compare the output of `helm template`"
        )
    };
    let values = "apps/values.yaml";
    let reads = may("reads other values because of apps/values.yaml");
    let of_pools = argo("infra/pools")
        .replace("path: infra/pools", "path: infra/pools, targetRevision: {{ .Values.revision }}");
    let (one, two, other) = ("revision: v1\nx: 1\n", "revision: v2\nx: 1\n", "revision: v1\nx: 2\n");
    assert_eq!(of_apps(&of_pools, &[(values, one, two)]), reads);
    assert_eq!(of_apps(&of_pools, &[(values, one, other)]), NONE);
    let of_shop = of_pools.replace("infra/pools", "shop").replace("name: nodes", "name: shop");
    assert_eq!(of_apps(&of_shop, &[(values, one, two)]), NONE);
    // Quotes make it YAML.
    let quoted = of_pools.replace("{{ .Values.revision }}", "'{{ .Values.revision }}'");
    assert_eq!(of_apps(&quoted, &[(values, one, two)]), reads);
    let file = "apps/templates/pools.yaml";
    assert_eq!(
        of_apps("", &[(file, &of_pools, "")]),
        "may replace nodes: Application/nodes of a template is removed, which changes what it applies of Karpenter"
    );
    // Another one of the name stays, in another namespace.
    let in_namespace =
        |name: &str| of_pools.replace("{name: nodes", &format!("{{name: nodes, namespace: {name}")) + "---\n";
    let both = in_namespace("a") + &in_namespace("b");
    assert_eq!(
        of_apps("", &[(file, &both, &in_namespace("a"))]),
        "may replace nodes: Application/nodes of a template is removed, which changes what it applies of Karpenter"
    );
    assert_eq!(of_apps("", &[(file, &both, &(in_namespace("b") + &in_namespace("a")))]), NONE);
    assert_eq!(of_apps("", &[(file, &of_pools, &of_pools.replace("v }", "v | quote }"))]), NONE);
    let edited = of_pools.replace(".Values.revision", ".Values.version");
    assert_eq!(of_apps("", &[(file, &of_pools, &edited)]), may("has changed"));
    assert_eq!(of_apps("", &[(file, &of_pools, &format!("# a comment\n{of_pools}"))]), NONE);
    // The path is a value.
    let by_value = of_pools.replace("path: infra/pools", "path: {{ .Values.path }}");
    let with = |path: &str, revision: &str| format!("path: {path}\nrevision: {revision}\n");
    assert_eq!(
        of_apps(&by_value, &[(values, &with("infra/pools", "v1"), &with("infra/pools", "v2"))]),
        reads
    );
    assert_eq!(of_apps(&by_value, &[(values, &with("infra/pools", "v1"), &with("shop", "v1"))]), reads);
    assert_eq!(of_apps(&by_value, &[(values, &with("shop", "v1"), &with("shop", "v2"))]), NONE);
}

#[test]
fn of_a_template_for_many_applications_the_elements_of_pools_count() {
    let application = argo("x")
        .replace("path: x", "path: {{ .path }}, targetRevision: {{ .revision }}")
        .replace("name: nodes", "name: {{ .name }}");
    let template = format!("{{{{- range .Values.apps }}}}\n---\n{application}{{{{- end }}}}\n");
    let list = |pools: &str, shop: &str| {
        format!(
            "apps:\n- {{name: pools, path: infra/pools, revision: {pools}}}\n- {{name: shop, path: shop, revision: {shop}}}\n"
        )
    };
    let of = |old: &str, new: &str| of_apps(&template, &[("apps/values.yaml", old, new)]);
    assert!(
        of(&list("v1", "v1"), &list("v2", "v1")).starts_with("may replace nodes: Application/{{ .name }} of")
    );
    assert_eq!(of(&list("v1", "v1"), &list("v1", "v2")), NONE);
    let map = |pools: &str, shop: &str| {
        format!(
            "apps:\n  pools: {{path: infra/pools, revision: {pools}}}\n  shop: {{path: shop, revision: {shop}}}\n"
        )
    };
    assert!(of(&map("v1", "v1"), &map("v2", "v1")).starts_with("may replace nodes"));
    assert_eq!(of(&map("v1", "v1"), &map("v1", "v2")), NONE);
}

/// A NodePool with a label, indented.
fn indented(team: &str, spaces: usize) -> String {
    let text = POOL.replace("team: a", &format!("team: {team}"));
    let lines: Vec<String> = text.lines().map(|line| format!("{}{line}", " ".repeat(spaces))).collect();
    lines.join("\n") + "\n"
}

#[test]
fn objects_within_the_objects_of_other_controllers_are_planned() {
    let replaces = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team";
    let set = |input: &str, team: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: pools}}\nspec:\n  inputs: [{{tenant: {input}}}]\n  resources:\n  -\n{}",
            indented(team, 4)
        )
    };
    let crossplane = |team: &str| {
        format!(
            "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {{name: pool}}\nspec:\n  forProvider:\n    manifest:\n{}",
            indented(team, 6)
        )
    };
    let work = |team: &str| {
        format!(
            "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {{name: pool}}\nspec:\n  workload:\n    manifests:\n    -\n{}",
            indented(team, 6)
        )
    };
    let of = |old: &str, new: &str| verdict(&[("class.yaml", CLASS)], &[("pools.yaml", old, new)]);
    assert_eq!(of(&set("a", "a"), &set("a", "b")), replaces);
    assert_eq!(of(&crossplane("a"), &crossplane("b")), replaces);
    assert!(of(&crossplane("a"), "").starts_with("removes the nodes"));
    let kept = [
        ("deletionPolicy: Orphan", "may replace"),
        ("managementPolicies: [Observe]", "may replace"),
        ("managementPolicies: ['*']", "removes"),
    ];
    for (field, start) in kept {
        let answer = of(&crossplane("a").replace("spec:\n  for", &format!("spec:\n  {field}\n  for")), "");
        assert!(answer.starts_with(start), "{answer}");
    }
    assert_eq!(of(&work("a"), &work("b")), replaces);
    let by_input = "<< inputs.tenant >>";
    assert_eq!(
        of(&set("a", by_input), &set("b", by_input)),
        "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team"
    );
    assert_eq!(of(&set("a", "a"), &set("b", "a")), NONE);
    // The values of a chart that makes objects as they are, too, and only once.
    let raw = |team: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: extras}}\nspec:\n  chart: {{spec: {{chart: raw, version: 2.0.0}}}}\n  values:\n    resources:\n    -\n{}",
            indented(team, 6)
        )
    };
    assert_eq!(of(&raw("a"), &raw("b")), replaces);
}

#[test]
fn another_revision_of_the_repository_of_the_input_may_have_other_node_pools() {
    let kustomization = crate::plan_appliers::flux("infra");
    let repository = |rest: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: a, namespace: flux-system}}\nspec:\n  url: https://example.com/a\n{rest}"
        )
    };
    let pool = pool("a");
    let of = |old: &str, new: &str| {
        let files = [
            ("infra/pool.yaml", pool.as_str()),
            ("infra/class.yaml", CLASS),
            ("clusters/prod/nodes.yaml", &kustomization),
        ];
        verdict(&files, &[("clusters/prod/source.yaml", &repository(old), &repository(new))])
    };
    let may = |field: &str| {
        format!(
            "may replace nodes: GitRepository/a has another `{field}`, which changes what Kustomization/nodes applies of Karpenter"
        )
    };
    assert_eq!(of("  ref: {branch: main}\n", "  ref: {branch: release}\n"), may("ref"));
    assert_eq!(of("  ref: {tag: v1}\n", "  ref: {tag: v2}\n"), may("ref"));
    assert_eq!(of("", "  ignore: /infra/pool.yaml\n"), may("ignore"));
    assert_eq!(of("  interval: 1m\n", "  interval: 5m\n"), NONE);
}
