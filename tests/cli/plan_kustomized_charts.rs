//! `karpwarden plan` about charts that kustomizations render, and about objects that install charts and that overlays change.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, argo, flux, verdict};

const UNREAD: &str =
    "may replace nodes: new/charts/np/templates/pool.yaml may render in another way because of";

/// A chart in a folder, whose template reads a value.
fn chart() -> Vec<(&'static str, String)> {
    vec![
        ("charts/np/Chart.yaml", "name: np\nversion: 1.0.0\n".to_owned()),
        ("charts/np/templates/pool.yaml", POOL.replace("team: a", "team: {{ .Values.team }}")),
        ("class.yaml", CLASS.to_owned()),
    ]
}

fn of(files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    let chart = chart();
    let all: Vec<(&str, &str)> = chart.iter().map(|(name, text)| (*name, text.as_str())).collect();
    verdict(&[&all[..], files].concat(), changes)
}

fn without_chart(files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    verdict(&[&[("class.yaml", CLASS)], files].concat(), changes)
}

fn feeds(file: &str) -> String {
    format!("{UNREAD} {file}; compare the output of `helm template` or `kustomize build`")
}

#[test]
fn a_chart_of_the_input_that_a_kustomization_renders_gets_its_values() {
    let list = |rest: &str| {
        format!(
            "helmGlobals: {{chartHome: ../charts}}\nhelmCharts:\n- {{name: np, releaseName: np, {rest}}}\n"
        )
    };
    let generator = |rest: &str| {
        format!(
            "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {{name: x}}\nname: np\n{rest}\n"
        )
    };
    let (kustomization, file) = ("prod/kustomization.yaml", "prod/generator.yaml");
    let rendering = ("prod/kustomization.yaml", "generators: [generator.yaml]\n");
    let inline = |value: &str| list(&format!("valuesInline: {{team: {value}, x: 1}}"));
    assert_eq!(of(&[], &[(kustomization, &inline("a"), &inline("b"))]), feeds(kustomization));
    assert_eq!(of(&[], &[(kustomization, &inline("a"), &inline("a").replace("x: 1", "x: 2"))]), NONE);
    let other = inline("b").replace("name: np", "name: shop");
    assert_eq!(of(&[], &[(kustomization, &other.replace("team: b", "team: a"), &other)]), NONE);
    let file_of = |name: &str| list(&format!("valuesFile: {name}"));
    assert_eq!(of(&[], &[(kustomization, &file_of("a.yaml"), &file_of("b.yaml"))]), feeds(kustomization));
    let named = [(kustomization, &*file_of("v.yaml"))];
    assert_eq!(of(&named, &[("prod/v.yaml", "team: a\n", "team: b\n")]), feeds("prod/v.yaml"));
    assert_eq!(of(&[], &[(kustomization, &inline("a"), "resources: []\n")]), feeds(kustomization));
    let [a, b] = ["a", "b"].map(|value| generator(&format!("valuesInline: {{team: {value}}}")));
    assert_eq!(of(&[rendering], &[(file, &a, &b)]), feeds(file));
}

#[test]
fn a_chart_outside_of_the_input_that_a_kustomization_renders_or_no_longer_renders_may_replace_nodes() {
    let generator = |chart: &str, value: &str| {
        format!(
            "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {{name: x}}\nname: {chart}\nrepo: 'https://example.com'\nversion: 1.0.0\nvaluesInline: {{team: {value}}}\n"
        )
    };
    let may =
        |what: &str| format!("may replace nodes: {what}; the objects of the chart are not in the input");
    let list = [("prod/kustomization.yaml", "generators: [g.yaml]\n")];
    let change = |chart: &str| {
        let [old, new] = ["a", "b"].map(|value| generator(chart, value));
        without_chart(&list, &[("prod/g.yaml", &old, &new)])
    };
    assert_eq!(
        change("karpenter-nodepools"),
        may("prod/g.yaml installs the chart `karpenter-nodepools` in another way")
    );
    assert_eq!(change("shop"), NONE);
    let charts =
        |name: &str| format!("helmCharts: [{{name: {name}, repo: 'https://example.com', version: 1.0.0}}]\n");
    let removed =
        |name: &str| without_chart(&[], &[("k/kustomization.yaml", &charts(name), "resources: []\n")]);
    assert_eq!(
        removed("karpenter-nodepools"),
        may("k/kustomization.yaml no longer installs the chart `karpenter-nodepools`")
    );
    assert_eq!(removed("shop"), NONE);
    let definition = |rest: &str| format!("name: all\nversion: 1.0.0\n{rest}");
    let dependency = definition(
        "dependencies: [{name: karpenter-nodepools, version: 1.0.0, repository: 'https://example.com'}]\n",
    );
    assert_eq!(
        without_chart(&[], &[("all/Chart.yaml", &dependency, &definition(""))]),
        may("all/Chart.yaml no longer installs the chart `karpenter-nodepools`")
    );
}

/// A HelmRelease with values.
fn release(chart: &str, values: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: pools, namespace: flux-system}}\n\
         spec:\n  interval: 5m\n  chart: {{spec: {{chart: {chart}, sourceRef: {{kind: GitRepository, name: flux-system}}}}}}\n  values: {values}\n"
    )
}

/// The kustomization of an overlay that changes a value of all objects of a kind.
fn patched(kind: &str, path: &str, value: &str) -> String {
    format!(
        "resources: [../base]\npatches:\n- target: {{kind: {kind}}}\n  patch: |-\n    - {{op: replace, path: {path}, value: {value}}}\n"
    )
}

#[test]
fn overlays_change_the_objects_that_install_charts() {
    let base = ("base/kustomization.yaml", "resources: [r.yaml]\n");
    let (prod, dev) = ("prod/kustomization.yaml", "dev/kustomization.yaml");
    let local = release("./charts/np", "{team: a, x: a}");
    let app = argo("charts/np")
        .replace("path: charts/np", "path: charts/np, helm: {parameters: [{name: team, value: a}]}");
    for (object, kind, path) in [
        (&local, "HelmRelease", "/spec/values/team"),
        (&app, "Application", "/spec/source/helm/parameters/0/value"),
    ] {
        let [a, b] = ["a", "b"].map(|value| patched(kind, path, value));
        let files = [base, ("base/r.yaml", object), (dev, &a)];
        assert_eq!(of(&files, &[(prod, &a, &b)]), feeds(prod), "{kind}");
        assert_eq!(of(&files, &[(prod, &a, &format!("# the same\n{a}"))]), NONE);
        // One overlay of several leaves its base as it is.
        assert_eq!(of(&files[..2], &[(prod, "resources: [../base]\n", &b)]), feeds(prod), "{kind}");
    }
    let [a, b] = ["a", "b"].map(|value| patched("HelmRelease", "/spec/values/x", value));
    assert_eq!(of(&[base, ("base/r.yaml", &local)], &[(prod, &a, &b)]), NONE);
    // A patch in a file names the object too, but is no object.
    let patch = |team: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: pools, namespace: flux-system}}\nspec:\n  values: {{team: {team}}}\n"
        )
    };
    let overlay = "resources: [../base]\npatches: [{path: v.yaml}]\n";
    let outside = release("karpenter-nodepools", "{team: a}").replace("GitRepository", "HelmRepository");
    let may = "may replace nodes: HelmRelease/pools has another `values`, which changes what it applies of Karpenter";
    let (a, b) = (patch("a"), patch("b"));
    let files =
        [base, ("base/r.yaml", outside.as_str()), (prod, overlay), (dev, overlay), ("dev/v.yaml", &a)];
    assert_eq!(without_chart(&files, &[("prod/v.yaml", &a, &b)]), may);
    let files = [base, ("base/r.yaml", local.as_str()), (prod, overlay), (dev, overlay), ("dev/v.yaml", &a)];
    assert_eq!(of(&files, &[("prod/v.yaml", &a, &b)]), feeds("prod/v.yaml"));
    // An environment that goes takes its release along.
    assert_eq!(
        of(
            &files[..2],
            &[(dev, overlay, overlay), ("dev/v.yaml", &a, &a), (prod, overlay, ""), ("prod/v.yaml", &a, "")]
        ),
        "may replace nodes: HelmRelease/pools is removed, which changes what it applies of Karpenter"
    );
    // A kustomization that others now use, or one of one folder, changes nothing.
    assert_eq!(of(&files[..2], &[(prod, "", "resources: [../base]\n")]), NONE);
    assert_eq!(of(&files[1..2], &[(base.0, "", base.1)]), NONE);
    assert_eq!(of(&files[1..2], &[(base.0, base.1, "")]), NONE);
}

#[test]
fn a_release_that_an_overlay_builds_in_an_unknown_way_may_have_other_values() {
    let transformer = |kind: &str, team: &str| {
        format!(
            "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: t}}\ntarget: {{kind: {kind}}}\npatch: '[{{op: replace, path: /spec/values/team, value: {team}}}]'\n"
        )
    };
    let local = release("./charts/np", "{team: a}");
    let files = [
        ("base/kustomization.yaml", "resources: [r.yaml]\n"),
        ("base/r.yaml", local.as_str()),
        ("dev/kustomization.yaml", "resources: [../base]\n"),
        ("prod/kustomization.yaml", "resources: [../base]\ntransformers: [t.yaml]\n"),
    ];
    let verdict = |kind: &str| {
        let [old, new] = ["a", "b"].map(|team| transformer(kind, team));
        of(&files, &[("prod/t.yaml", &old, &new)])
    };
    assert_eq!(
        verdict("HelmRelease"),
        "may replace nodes: HelmRelease/pools is not built for certain (`new/prod` uses `transformers`, and prod/t.yaml has changed), which changes what it applies of Karpenter"
    );
    assert_eq!(verdict("Deployment"), NONE);
}

#[test]
fn variables_of_flux_reach_the_values_of_a_release() {
    let kustomization = |team: &str, shop: &str| {
        flux("infra") + &format!("  postBuild: {{substitute: {{team: {team}, shop: {shop}}}}}\n")
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '${shop}'}\n";
    let (a, b, shop) = (kustomization("a", "a"), kustomization("b", "a"), kustomization("a", "b"));
    let file = "clusters/prod/k.yaml";
    let local = release("./charts/np", "{team: '${team}'}");
    let files = [("infra/r.yaml", local.as_str()), ("infra/map.yaml", map)];
    assert_eq!(of(&files, &[(file, &a, &b)]), feeds("infra/r.yaml"));
    assert_eq!(of(&files, &[(file, &a, &shop)]), NONE);
    let outside =
        release("karpenter-nodepools", "{team: '${team}'}").replace("GitRepository", "HelmRepository");
    let files = [("infra/r.yaml", outside.as_str()), ("infra/map.yaml", map)];
    assert_eq!(
        without_chart(&files, &[(file, &a, &b)]),
        "may replace nodes: HelmRelease/pools has another `values`, which changes what it applies of Karpenter"
    );
    assert_eq!(without_chart(&files, &[(file, &a, &shop)]), NONE);
}
