//! `karpwarden plan` about objects that may come from a source outside of the input, or that another object of Flux or Argo CD applies.

use crate::plan::CLASS;
use crate::plan_appliers::{Change, NONE, argo, flux, plan, pool, verdict};

const REMOVES: &str = "removes the nodes of 1 NodePool (extra)";

fn may_stay(reason: &str) -> String {
    format!("may replace nodes of 1 NodePool (extra): it may stay in the cluster: {reason}")
}

fn not_in_input(file: &str, source: &str) -> String {
    may_stay(&format!("{file} now uses `{source}`, which is not in the input"))
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: nodepools.karpenter.sh}\n";

#[test]
fn an_object_that_a_source_outside_of_the_input_replaces_may_stay() {
    let (one, extra) = (pool("one"), pool("extra"));
    let files = [("prod/class.yaml", CLASS), ("prod/one.yaml", one.as_str())];
    let list = |more: &str| format!("resources: [class.yaml, one.yaml{more}]\n");
    let of = |file_is_kept: bool, old: &str, new: &str| {
        let extra = ("prod/extra.yaml", extra.as_str(), if file_is_kept { &*extra } else { "" });
        verdict(&files, &[("prod/kustomization.yaml", &list(old), &list(new)), extra])
    };
    let url = "https://example.com/a/extra.yaml";
    for file_is_kept in [true, false] {
        for new in [url, "github.com/example/a?ref=v1", "../../elsewhere"] {
            let expected = not_in_input("new/prod/kustomization.yaml", new);
            assert_eq!(of(file_is_kept, ", extra.yaml", &format!(", '{new}'")), expected);
        }
        assert_eq!(of(file_is_kept, ", extra.yaml", ""), REMOVES);
        // The source was there before.
        let both = format!(", extra.yaml, '{url}'");
        assert_eq!(of(file_is_kept, &both, &format!(", '{url}'")), REMOVES);
    }
    let newer = of(false, ", extra.yaml, 'github.com/a/b?ref=v1'", ", 'github.com/a/b?ref=v2'");
    assert_eq!(newer, REMOVES);
}

#[test]
fn a_source_of_another_overlay_keeps_no_object() {
    let (one, extra) = (pool("one"), pool("extra"));
    let files = [("prod/class.yaml", CLASS), ("prod/one.yaml", one.as_str())];
    let overlay = |name: &'static str, old: &'static str, new: &'static str| (name, old, new);
    let removal = [
        overlay(
            "prod/kustomization.yaml",
            "resources: [class.yaml, one.yaml, extra.yaml]",
            "resources: [class.yaml, one.yaml]",
        ),
        ("prod/extra.yaml", &*extra, ""),
    ];
    let of = |further: &[Change<'_>]| verdict(&files, &[&removal[..], further].concat());
    let (less, more) = ("resources: [a.yaml]", "resources: [a.yaml, 'https://example.com/a.yaml']");
    assert_eq!(of(&[overlay("apps/kustomization.yaml", less, more)]), REMOVES);
    // The address says that it is of Karpenter.
    let nodes = "resources: [a.yaml, 'https://example.com/karpenter-nodes.yaml']";
    let expected = not_in_input("new/apps/kustomization.yaml", "https://example.com/karpenter-nodes.yaml");
    let answer = of(&[overlay("apps/kustomization.yaml", less, nodes)]);
    assert!(answer.starts_with(&expected), "{answer}");
    // The overlay uses the kustomization.
    let base = [
        ("prod/class.yaml", CLASS),
        ("prod/kustomization.yaml", "resources: [class.yaml, ../base]"),
        ("base/one.yaml", one.as_str()),
    ];
    let change = [
        (
            "base/kustomization.yaml",
            "resources: [one.yaml, extra.yaml]",
            "resources: [one.yaml, 'https://example.com/a.yaml']",
        ),
        ("base/extra.yaml", &*extra, ""),
    ];
    assert_eq!(
        verdict(&base, &change),
        not_in_input("new/base/kustomization.yaml", "https://example.com/a.yaml")
    );
}

#[test]
fn an_object_that_a_chart_or_a_release_replaces_may_stay() {
    let (one, extra) = (format!("{}---\n{CLASS}", pool("one")), pool("extra"));
    let files = [("c/templates/one.yaml", one.as_str())];
    let removal = ("c/templates/extra.yaml", &*extra, "");
    let of = |further: Change<'_>| verdict(&files, &[removal, further]);
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    let with = |name: &str, repository: &str| {
        format!("{chart}dependencies:\n- {{name: {name}, version: 1.0.0, repository: '{repository}'}}\n")
    };
    let remote = with("pools", "https://example.com/charts");
    assert_eq!(of(("c/Chart.yaml", chart, &remote)), not_in_input("new/c/Chart.yaml", "pools"));
    assert_eq!(of(("c/Chart.yaml", &remote, &remote)), REMOVES);
    assert_eq!(of(("c/Chart.yaml", chart, &with("other", "file://../other"))), REMOVES);
    assert_eq!(of(("d/Chart.yaml", chart, &remote)), REMOVES);
    let release = |chart: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a}}\nspec: {{interval: 1h, chart: {{spec: {{chart: {chart}}}}}}}\n"
        )
    };
    assert_eq!(of(("apps/a.yaml", "", &release("node-pools"))), may_stay("HelmRelease/a may have it too"));
    assert_eq!(of(("apps/a.yaml", "", &release("grafana"))), REMOVES);
    // A template that could not be read.
    let template = extra.replace("name: extra", "name: {{ .Values.name }}");
    let expected = may_stay(
        "new/d/templates/pool.yaml is new, and documents in it could not be read; compare the output of `helm template` or `kustomize build`",
    );
    assert_eq!(of(("d/templates/pool.yaml", "", &template)), expected);
    // The object that applied it now applies another source.
    let elsewhere = flux("elsewhere");
    let change = [("a/extra.yaml", &*extra, ""), ("apps/nodes.yaml", &*flux("a"), &*elsewhere)];
    assert_eq!(
        verdict(&[("b/one.yaml", &one)], &change),
        may_stay("Kustomization/nodes now applies what is not in the input")
    );
}

#[test]
fn a_definition_that_no_kustomization_lists_or_that_comes_from_elsewhere_is_told_apart() {
    let one = pool("one");
    let files = [("class.yaml", CLASS), ("one.yaml", one.as_str())];
    let list = |more: &str| format!("resources: [class.yaml, one.yaml{more}]\n");
    let of = |file_is_kept: bool, old: &str, new: &str, further: &[Change<'_>]| {
        let file = ("crd.yaml", DEFINITION, if file_is_kept { DEFINITION } else { "" });
        let (old, new) = (list(old), list(new));
        verdict(&files, &[&[("kustomization.yaml", &*old, &*new), file][..], further].concat())
    };
    let removes = "removes the nodes of 1 NodePool (one): nodepools.karpenter.sh is removed";
    let may = "may replace nodes of 1 NodePool (one): nodepools.karpenter.sh is removed";
    let release = "https://raw.githubusercontent.com/aws/karpenter-provider-aws/v1.14.1/pkg/apis/crds/karpenter.sh_nodepools.yaml";
    let remote = format!(", '{release}'");
    for file_is_kept in [true, false] {
        assert_eq!(of(file_is_kept, ", crd.yaml", "", &[]), removes);
        assert_eq!(of(file_is_kept, ", crd.yaml", ", 'https://example.com/a.yaml'", &[]), may);
        assert!(of(file_is_kept, ", crd.yaml", &remote, &[]).starts_with("no node is replaced"));
    }
    assert!(of(true, ", crd.yaml", ", crd.yaml", &[]).starts_with("no node is replaced"));
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {name: karpenter-crd, version: 1.14.1, repository: 'oci://public.ecr.aws/karpenter'}\n";
    assert!(of(false, ", crd.yaml", "", &[("c/Chart.yaml", "", chart)]).starts_with("no node is replaced"));
    assert!(verdict(&files, &[("kustomization.yaml", &list(&remote), &list(""))]).starts_with(removes));
}

#[test]
fn a_removed_release_of_the_definitions_in_terraform_removes_the_nodes() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let files = [("one.yaml", one.as_str())];
    let release = |more: &str| {
        format!(
            "resource \"helm_release\" \"crd\" {{\n  name = \"karpenter-crd\"\n  chart = \"karpenter-crd\"\n  repository = \"oci://public.ecr.aws/karpenter\"\n{more}}}\n"
        )
    };
    let of = |old: &str, new: &str| verdict(&files, &[("main.tf", old, new)]);
    let removes = "removes the nodes of 1 NodePool (one): chart karpenter-crd is removed";
    let may = "may replace nodes of 1 NodePool (one): chart karpenter-crd is removed";
    for more in ["  version = \"1.14.0\"\n", ""] {
        assert_eq!(of(&release(more), "# a\n"), removes, "{more}");
        assert_eq!(of(&release(more), &release(more).replace("crd\" {", "crds\" {")), NONE, "{more}");
    }
    let kept = release(
        "  values = [yamlencode({additionalAnnotations = {\"helm.sh/resource-policy\" = \"keep\"}})]\n",
    );
    assert_eq!(of(&kept, "# a\n"), may);
    let flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: crds}\nspec: {interval: 1h, chart: {spec: {chart: karpenter-crd}}}\n";
    let kept =
        flux.replace("}}}\n", "}}, values: {additionalAnnotations: {helm.sh/resource-policy: keep}}}\n");
    assert_eq!(verdict(&files, &[("a.yaml", flux, "")]), removes);
    assert_eq!(verdict(&files, &[("a.yaml", &kept, "")]), may);
}

#[test]
fn a_removed_nodepool_may_stay_with_helm_or_with_an_application_set_that_preserves_it() {
    let one = format!("{}---\n{CLASS}", pool("one"));
    let extra = pool("extra");
    let annotated = |annotation: &str| {
        extra.replacen("{name: extra}", &format!("{{name: extra, annotations: {{{annotation}}}}}"), 1)
    };
    for annotation in ["helm.sh/resource-policy: keep", "kustomize.toolkit.fluxcd.io/reconcile: disabled"] {
        let change = [("c/templates/extra.yaml", &*annotated(annotation), "")];
        assert_eq!(verdict(&[("one.yaml", &one)], &change), may_stay(&format!("`{annotation}`")));
    }
    let set = |policy: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: nodes}}\nspec:\n  syncPolicy: {{{policy}}}\n  generators:\n  \
             - git: {{directories: [{{path: pools/*}}]}}\n  template:\n    spec: {{syncPolicy: {{automated: {{prune: true}}}}, source: {{path: '{{{{path}}}}', repoURL: 'https://example.com/a'}}}}\n"
        )
    };
    let preserves = "preserveResourcesOnDeletion: true";
    let files = |policy: &str| {
        [("pools/one/pool.yaml".to_owned(), one.clone()), ("set.yaml".to_owned(), set(policy))]
    };
    let of = |policy: &str, changes: &[Change<'_>]| {
        let files = files(policy);
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        verdict(&files, changes)
    };
    let folder = [("pools/extra/pool.yaml", &*extra, "")];
    assert_eq!(of("", &folder), REMOVES);
    assert_eq!(of(preserves, &folder), may_stay(&format!("ApplicationSet/nodes has `{preserves}`")));
    let update = "applicationsSync: create-update";
    assert_eq!(of(update, &folder), may_stay(&format!("ApplicationSet/nodes has `{update}`")));
    // The Application stays, and prunes.
    assert_eq!(of(preserves, &[("pools/one/extra.yaml", &extra, "")]), REMOVES);
    let removed = [folder[0], ("set.yaml", &*set(preserves), "")];
    let answer = verdict(&[("pools/one/pool.yaml", &one)], &removed);
    assert!(answer.starts_with("may replace nodes of 1 NodePool (extra): "), "{answer}");
}

#[test]
fn an_element_of_an_application_set_takes_along_only_what_it_applies() {
    let set = |path: &str, elements: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: nodes}}\nspec:\n  generators:\n  - list: {{elements: [{elements}]}}\n  \
             template:\n    spec: {{syncPolicy: {{automated: {{prune: true}}}}, source: {{path: '{path}', repoURL: 'https://example.com/a'}}}}\n"
        )
    };
    let (a, b) = (format!("{}---\n{CLASS}", pool("a")), pool("b"));
    let files =
        [("charts/a/pool.yaml", a.as_str()), ("charts/b/pool.yaml", &b), ("charts/x/map.yaml", "a: b\n")];
    let of = |path: &str| {
        let (both, one) = (set(path, "{name: a}, {name: b}"), set(path, "{name: a}"));
        verdict(&files, &[("set.yaml", &both, &one)])
    };
    let may = "may replace nodes: ApplicationSet/nodes has another `generators`, which changes what it applies of Karpenter";
    assert_eq!(of("charts/{{name}}"), may);
    assert_eq!(of("monitoring"), NONE);
    assert_eq!(of("charts/x"), NONE);
    // A NodePool of another element.
    let both = set("charts/{{name}}", "{name: a}, {name: b}");
    let files = [("charts/a/pool.yaml", a.as_str()), ("set.yaml", &both)];
    let answer = verdict(&files, &[("charts/b/pool.yaml", &b, "")]);
    assert!(answer.starts_with("removes the nodes of"), "{answer}");
}

#[test]
fn a_folder_that_gets_its_own_kustomization_of_flux_may_lose_its_nodes() {
    let (one, extra) = (pool("one"), pool("extra"));
    let files = [
        ("infra/nodes/class.yaml", CLASS),
        ("infra/nodes/extra.yaml", extra.as_str()),
        ("infra/nodes/kustomization.yaml", "resources: [class.yaml, extra.yaml]"),
        ("infra/one.yaml", one.as_str()),
    ];
    let own = flux("infra/nodes");
    let parent = flux("infra").replace("name: nodes,", "name: infra,");
    let change = [
        ("infra/kustomization.yaml", "resources: [one.yaml, nodes]", "resources: [one.yaml]"),
        ("clusters/nodes.yaml", "", &*own),
    ];
    assert_eq!(verdict(&files, &change), NONE);
    let with = |parent: &str| {
        let files = [&files[..], &[("clusters/infra.yaml", parent)]].concat();
        plan(&files, &change)
    };
    let answer = with(&parent);
    let may = "may replace nodes: Kustomization/nodes takes over NodePool extra from Kustomization/infra, which removes it with the nodes if it comes first";
    assert_eq!(answer["verdict"], may);
    assert_eq!(
        (&answer["changes"][0]["file"], &answer["changes"][0]["line"]),
        (&"new/clusters/nodes.yaml".into(), &3.into())
    );
    assert_eq!(with(&parent.replace("prune: true", "prune: false"))["verdict"], NONE);
    // Of a folder that nothing applies any more, the NodePools go.
    let change = [change[0], ("apps/other.yaml", "", &*argo("elsewhere"))];
    assert!(verdict(&files, &change).starts_with("removes the nodes of 1 NodePool (extra"));
}
