//! `karpwarden plan` about what the templates of a chart do not read.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, argo, verdict};

const UNREAD: &str = "may replace nodes: new/pools/templates/pool.yaml may render in another way because of";

fn feeds(file: &str) -> String {
    format!("{UNREAD} {file}; compare the output of `helm template` or `kustomize build`")
}

/// The template of a NodePool that reads a value.
fn template(action: &str) -> String {
    POOL.replace("team: a", &format!("team: {{{{ {action} }}}}"))
}

/// A chart whose NodePool reads a value.
fn of_chart(action: &str, files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    let template = template(action);
    let own = [
        ("pools/Chart.yaml", "name: pools\nversion: 1.0.0\n"),
        ("pools/templates/pool.yaml", template.as_str()),
        ("class.yaml", CLASS),
    ];
    verdict(&[&own[..], files].concat(), changes)
}

#[test]
fn how_terraform_installs_a_chart_changes_no_node() {
    let release = |chart: &str, rest: &str| {
        format!(
            "resource \"helm_release\" \"pools\" {{\n  name = \"pools\"\n  chart = \"{chart}\"\n{rest}}}\n"
        )
    };
    let set =
        |key: &str, value: &str| format!("  set {{\n    name  = \"{key}\"\n    value = \"{value}\"\n  }}\n");
    let (local, outside) = ("${path.module}/../pools", "karpenter-nodepools");
    let of = |chart: &str, old: &str, new: &str| {
        of_chart(".Values.team", &[], &[("tf/main.tf", &release(chart, old), &release(chart, new))])
    };
    for chart in [local, outside] {
        for (old, new) in [
            ("  timeout = 300\n", "  timeout = 600\n"),
            ("  wait = false\n", "  wait = true\n  atomic = true\n"),
        ] {
            assert_eq!(of(chart, old, new), NONE, "{chart} {new}");
        }
        assert!(of(chart, &set("team", "a"), &set("team", "b")).starts_with("may replace nodes"), "{chart}");
    }
    assert_eq!(of(local, &set("other", "a"), &set("other", "b")), NONE);
    assert_eq!(of(local, &set("other.team", "a"), &set("other.team", "b")), NONE);
    assert!(of(local, &set("team[0]", "a"), &set("team[0]", "b")).starts_with("may replace nodes"));
}

#[test]
fn files_with_values_that_no_release_of_a_chart_names_change_no_node() {
    let app = argo("pools").replace("path: pools", "path: pools, helm: {valueFiles: [values-prod.yaml]}");
    let named = [("apps/pools.yaml", app.as_str())];
    let of = |files: &[(&str, &str)], file: &str| {
        of_chart(".Values.team", files, &[(file, "team: a\n", "team: b\n")])
    };
    for file in ["pools/values-prod.yaml", "pools/values.yaml"] {
        assert_eq!(of(&named, file), feeds(file));
    }
    for file in ["pools/values-dev.yaml", "docs/x.yaml", "mkdocs.yml"] {
        assert_eq!(of(&named, file), NONE, "{file}");
        assert_eq!(of(&[], file), feeds(file));
    }
    // Terraform and templates of a helmfile may install the chart too, and a pattern may mean the file.
    let terraform = ("tf/main.tf", "resource \"helm_release\" \"a\" {\n  chart = \"../pools\"\n}\n");
    assert_eq!(of(&[named[0], terraform], "pools/values-dev.yaml"), feeds("pools/values-dev.yaml"));
    let pattern = app.replace("values-prod.yaml", "'values-*.yaml'");
    let pattern = [("apps/pools.yaml", pattern.as_str())];
    assert_eq!(of(&pattern, "pools/values-dev.yaml"), feeds("pools/values-dev.yaml"));
    // A text that a template reads.
    let change = ("pools/files/a.yaml", "team: a\n", "team: b\n");
    assert_eq!(of_chart(".Files.Get \"files/a.yaml\"", &named, &[change]), feeds(change.0));
    // Values for the tests of the chart.
    assert_eq!(of(&[], "pools/ci/a-values.yaml"), NONE);
}

#[test]
fn comments_and_labels_of_a_template_change_no_node() {
    let template = template(".Values.team");
    let of = |old: &str, new: &str| {
        let files = [("pools/Chart.yaml", "name: pools\n"), ("class.yaml", CLASS)];
        verdict(&files, &[("pools/templates/pool.yaml", old, new)])
    };
    let labelled =
        template.replacen("metadata: {name: default}", "metadata:\n  labels: {a: b}\n  name: default", 1);
    assert_ne!(labelled, template);
    let plain = template.replacen("metadata: {name: default}", "metadata:\n  name: default", 1);
    for (old, new) in [
        (&template, format!("{{{{/* a comment */}}}}\n{template}")),
        (&template, format!("# a comment\n\n{template}")),
        (&plain, labelled),
    ] {
        assert_eq!(of(old, &new), NONE, "{new}");
    }
    let edited = template.replace(".Values.team", ".Values.other");
    assert!(of(&template, &edited).starts_with("may replace nodes"));
    // A comment of a script is a part of it.
    let role = CLASS.replace("role: r", "role: {{ .Values.role }}");
    let class = |comment: &str| format!("{role}  userData: |\n    # {comment}\n    echo a\n");
    assert!(of(&class("a"), &class("b")).starts_with("may replace nodes"), "{}", class("a"));
}

#[test]
fn values_that_only_look_like_node_pools_make_none() {
    let release = |values: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: scylla}}\nspec: {{chart: {{spec: {{chart: scylla, version: 1.2.3}}}}, values: {values}}}\n"
        )
    };
    let of = |old: &str, new: &str| verdict(&[], &[("apps/a.yaml", &release(old), &release(new))]);
    assert_eq!(of("{nodepool: {enabled: true}, image: a}", "{nodepool: {enabled: true}, image: b}"), NONE);
    for values in
        ["{nodePool: {weight: 1}, image: X}", "{nodePools: {a: {team: X}}}", "{nodePools: [{name: X}]}"]
    {
        let answer = of(&values.replace('X', "a"), &values.replace('X', "b"));
        assert!(answer.starts_with("may replace nodes: HelmRelease/scylla has another `values`"), "{answer}");
    }
}
