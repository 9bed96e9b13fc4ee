//! `karpwarden plan` about removed custom resource definitions: of one of several clusters, and definitions that may stay.

use crate::plan::CLASS;
use crate::plan_appliers::{Change, argo, flux, pool, verdict};

/// The start of a verdict without an effect.
const NONE: &str = "no node is replaced";

/// A verdict, of which only the start counts if no node is replaced.
fn shown(verdict: &str) -> &str {
    if verdict.starts_with(NONE) { NONE } else { verdict }
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: nodepools.karpenter.sh}\n";

fn release(chart: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: crds, namespace: karpenter}}\n\
         spec: {{interval: 1h, {chart}}}\n"
    )
}

const CHART: &str =
    "chart: {spec: {chart: karpenter-crd, version: 1.14.0, sourceRef: {kind: HelmRepository, name: k}}}";

#[test]
fn one_of_several_clusters_loses_a_definition() {
    let (one, release) = (format!("{}---\n{CLASS}", pool("one")), release(CHART));
    let files = [("clusters/dev/pool.yaml", one.as_str()), ("clusters/prod/pool.yaml", &one)];
    for (definition, what) in [(DEFINITION, "nodepools.karpenter.sh"), (&*release, "chart karpenter-crd")] {
        let of = |changes: &[Change<'_>]| shown(&verdict(&files, changes)).to_owned();
        let removed = format!("removes the nodes of 1 NodePool (one in clusters/prod): {what} is removed");
        let (dev, prod) = ("clusters/dev/crd.yaml", "clusters/prod/crd.yaml");
        assert_eq!(of(&[(dev, definition, definition), (prod, definition, "")]), removed);
        assert_eq!(of(&[(dev, definition, ""), (prod, definition, ""), ("crd.yaml", "", definition)]), NONE);
        // A definition outside of the clusters is there for all.
        assert_eq!(of(&[("crd.yaml", definition, definition), (prod, definition, "")]), NONE);
        let both = of(&[(dev, definition, ""), (prod, definition, "")]);
        assert!(both.starts_with("removes the nodes of 2 NodePools"), "{both}");
    }
    // Overlays share a base.
    let base = [
        ("base/pool.yaml", one.as_str()),
        ("base/kustomization.yaml", "resources: [pool.yaml]"),
        ("crds/crd.yaml", DEFINITION),
        ("crds/kustomization.yaml", "resources: [crd.yaml]"),
        ("dev/kustomization.yaml", "resources: [../base, ../crds]"),
    ];
    let prod = |old, new| shown(&verdict(&base, &[("prod/kustomization.yaml", old, new)])).to_owned();
    let expected = "removes the nodes of 1 NodePool (one in prod): nodepools.karpenter.sh is removed";
    assert_eq!(prod("resources: [../base, ../crds]", "resources: [../base]"), expected);
    assert_eq!(prod("resources: [../base, ../crds]", "resources: [../crds, ../base]"), NONE);
}

#[test]
fn a_definition_in_a_folder_beside_the_pools_is_of_the_cluster_with_the_name() {
    let (one, release) = (format!("{}---\n{CLASS}", pool("one")), release(CHART));
    let patch = "resources: [../base]\npatches: [{target: {kind: NodePool}, patch: '[{op: add, path: /spec/weight, value: 3}]'}]\n";
    let plain = [("pools/dev/one.yaml", one.as_str()), ("pools/prod/one.yaml", &one)];
    let built = [
        ("pools/base/one.yaml", one.as_str()),
        ("pools/base/kustomization.yaml", "resources: [one.yaml]\n"),
        ("pools/dev/kustomization.yaml", "resources: [../base]\n"),
        ("pools/prod/kustomization.yaml", patch),
    ];
    let may = "may replace nodes of 1 NodePool (one in pools/prod): ";
    for (files, definition, what) in [
        (&plain[..], DEFINITION, "nodepools.karpenter.sh is removed"),
        (&plain, &*release, "chart karpenter-crd is removed"),
        (&built, DEFINITION, "nodepools.karpenter.sh is removed"),
        (&built, &release, "chart karpenter-crd is removed"),
    ] {
        let of = |changes: &[Change<'_>]| shown(&verdict(files, changes)).to_owned();
        let (dev, prod) = ("clusters/dev/crd.yaml", "clusters/prod/crd.yaml");
        assert_eq!(of(&[(dev, definition, definition), (prod, definition, "")]), format!("{may}{what}"));
        let both = of(&[(dev, definition, ""), (prod, definition, "")]);
        assert!(both.starts_with("removes the nodes of 2 NodePools"), "{both}");
        // It moves to another folder of the cluster, or to one of all clusters.
        for place in ["platform/prod.yaml", "platform/crd.yaml", "pools/prod/crd.yaml"] {
            let moved = [(dev, definition, definition), (prod, definition, ""), (place, "", definition)];
            assert_eq!(of(&moved), NONE, "{place}");
        }
        let edited = format!("{definition}# a\n");
        assert_eq!(of(&[(dev, definition, definition), (prod, definition, &edited)]), NONE);
    }
}

#[test]
fn a_definition_goes_with_what_applies_it() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("pools/one.yaml", one.as_str()), ("crds/crd.yaml", DEFINITION)];
    let verdict = |old: &str, new: &str| shown(&verdict(&files, &[("apps/crds.yaml", old, new)])).to_owned();
    let (applied, rest) = (flux("crds"), "a: b\n");
    let removes = "removes the nodes of 1 NodePool (one): nodepools.karpenter.sh is removed";
    assert_eq!(verdict(&applied, rest), removes);
    let kept = applied.replace("prune: true", "prune: false");
    assert_eq!(verdict(&kept, rest), removes.replace("removes the nodes", "may replace nodes"));
    assert_eq!(verdict(&applied, &applied.replace("interval: 10m", "interval: 5m")), NONE);
    assert_eq!(verdict(rest, &applied), NONE);
    assert_eq!(verdict(rest, "a: c\n"), NONE);
}

#[test]
fn a_definition_stays_if_what_applies_it_deletes_nothing() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let may = "may replace nodes of 1 NodePool (one): nodepools.karpenter.sh is removed";
    let removes = "removes the nodes of 1 NodePool (one): nodepools.karpenter.sh is removed";
    for (applier, expected) in [
        (flux("crds"), removes),
        (flux("crds").replace("prune: true", "prune: false"), may),
        (argo("crds"), removes),
        (argo("crds").replace("  syncPolicy: {automated: {prune: true}}\n", ""), may),
    ] {
        let files =
            [("pools/one.yaml", one.as_str()), ("apps/crds.yaml", &applier), ("crds/a.yaml", "a: b\n")];
        assert_eq!(verdict(&files, &[("crds/crd.yaml", DEFINITION, "")]), expected, "{applier}");
    }
}

#[test]
fn the_same_chart_from_elsewhere_keeps_its_definitions() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("pools/one.yaml", one.as_str())];
    let repository = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: other, namespace: karpenter}\n\
         spec: {interval: 5m, url: 'oci://public.ecr.aws/karpenter/karpenter-crd', ref: {tag: 1.14.0}}\n";
    let of = |new: &str, repository: &str| {
        let changes = [("crds.yaml", &*release(CHART), new), ("repository.yaml", "", repository)];
        shown(&verdict(&files, &changes)).to_owned()
    };
    let reference = release("chartRef: {kind: OCIRepository, name: other}");
    assert_eq!(of(&reference, repository), NONE);
    let may = "may replace nodes of 1 NodePool (one): chart karpenter-crd is removed";
    assert_eq!(of(&reference, &repository.replace("/karpenter-crd", "/others")), may);
    // Flux removes the release first if the chart in the folder has another name.
    let vendored =
        "chart: {spec: {chart: ./vendor/crds-of-karpenter, sourceRef: {kind: GitRepository, name: a}}}";
    assert_eq!(of(&release(vendored), ""), may);
    assert_eq!(of(&release(&vendored.replace("crds-of-karpenter", "karpenter-crd")), ""), NONE);
    let source = |source: &str| argo("x").replace("{repoURL: 'https://example.com/a', path: x}", source);
    let change = |new: &str| {
        let old = source("{repoURL: public.ecr.aws/karpenter, chart: karpenter-crd, targetRevision: 1.14.0}");
        shown(&verdict(&files, &[("crds.yaml", &old, &source(new))])).to_owned()
    };
    assert_eq!(
        change("{repoURL: 'oci://public.ecr.aws/karpenter/karpenter-crd', path: ., targetRevision: 1.14.0}"),
        NONE
    );
    assert_eq!(change("{repoURL: 'https://example.com/charts', chart: others, targetRevision: 1.14.0}"), may);
}

#[test]
fn an_archive_of_the_chart_is_the_chart() {
    let main = |chart: &str| {
        format!(
            "resource \"helm_release\" \"crds\" {{\n  name = \"crds\"\n  chart = \"{chart}\"\n  version = \"1.8.0\"\n}}\n"
        )
    };
    let one = pool("one");
    let of = |new: &str| {
        let files = [("pools/one.yaml", one.as_str())];
        shown(&verdict(&files, &[("tf/main.tf", &main("karpenter-crd"), new)])).to_owned()
    };
    assert_eq!(of(&main("${path.module}/charts/karpenter-crd-1.8.0.tgz")), NONE);
    assert_eq!(of(&main("others")), "removes the nodes of 1 NodePool (one): chart karpenter-crd is removed");
}
