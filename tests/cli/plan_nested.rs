//! `karpwarden plan` about charts that depend on others, and the repository of the input.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, pool, verdict};

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
