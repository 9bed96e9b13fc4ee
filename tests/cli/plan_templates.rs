//! `karpwarden plan` about templates of other programs, templates of values, and what a chart does not read.

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
fn templates_of_other_programs_with_node_pools_may_replace_nodes() {
    let jsonnet = |team: &str| {
        format!(
            "{{apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: {{name: 'a'}}, spec: {{team: '{team}'}}}}\n"
        )
    };
    for (file, old, new) in [
        ("k/pool.yaml.j2", POOL.to_owned(), POOL.replace("team: a", "team: b")),
        ("k/pool.yaml.erb", POOL.to_owned(), POOL.replace("team: a", "team: <%= team %>")),
        ("k/pool.yaml.tmpl", POOL.to_owned(), POOL.replace("team: a", "team: b")),
        ("k/pool.yaml.envsubst", POOL.to_owned(), POOL.replace("team: a", "team: b")),
        ("k/pools.jsonnet", jsonnet("a"), jsonnet("b")),
    ] {
        let of = |old: &str, new: &str| verdict(&[("class.yaml", CLASS)], &[(file, old, new)]);
        let rendered = "a template with objects of Karpenter that is not rendered";
        assert_eq!(of(&old, &new), format!("may replace nodes: new/{file} has changed, {rendered}"));
        assert_eq!(of(&old, ""), format!("may replace nodes: old/{file} is removed, {rendered}"));
        assert_eq!(of("", &new), NONE, "{file}");
        assert_eq!(of("kind: Deployment\nname: a\n", "kind: Deployment\nname: b\n"), NONE, "{file}");
    }
    let set = |team: &str| {
        let pool = POOL.replace("team: a", &format!("team: {team}"));
        let text: Vec<String> = pool.lines().map(|line| format!("    {line}")).collect();
        let text = text.join("\n");
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: pools}}\nspec:\n  resourcesTemplate: |\n{text}\n"
        )
    };
    let of = |old: &str, new: &str| verdict(&[("class.yaml", CLASS)], &[("pools.yaml", old, new)]);
    assert!(
        of(&set("a"), &set("b")).starts_with("may replace nodes: new/pools.yaml has changed, a template")
    );
    assert_eq!(of(&set("a"), &format!("# the same\n{}", set("a"))), NONE);
}

#[test]
fn values_are_in_templates_too() {
    let (old, new, other) = ("team: a\nx: {{ .y }}\n", "team: b\nx: {{ .y }}\n", "team: a\nx: {{ .z }}\n");
    let release = |chart: &str| {
        format!("releases:\n- name: nodes\n  chart: {chart}\n  values: [values/p.yaml.gotmpl]\n")
    };
    let local = [("helmfile.yaml", &*release("./pools"))];
    let file = "values/p.yaml.gotmpl";
    assert_eq!(of_chart(".Values.team", &local, &[(file, old, new)]), feeds(file));
    assert_eq!(of_chart(".Values.team", &local, &[(file, old, other)]), NONE);
    let outside = [("helmfile.yaml", &*release("acme/karpenter-nodepools"))];
    assert_eq!(
        verdict(&outside, &[(file, old, new)]),
        format!(
            "may replace nodes: {file} feeds the release `nodes`, and has changed; the objects of the chart are not in the input"
        )
    );
    // The template of Terraform.
    let terraform = "resource \"helm_release\" \"pools\" {\n  name  = \"pools\"\n  chart = \"${path.module}/../pools\"\n  values = [templatefile(\"${path.module}/v.tftpl\", {})]\n}\n";
    let files = [("tf/main.tf", terraform)];
    let file = "tf/v.tftpl";
    assert_eq!(
        of_chart(".Values.team", &files, &[(file, "team: a\nx: 1\n", "team: b\nx: 1\n")]),
        feeds(file)
    );
    assert_eq!(of_chart(".Values.team", &files, &[(file, "team: a\nx: 1\n", "team: a\nx: 2\n")]), NONE);
}

#[test]
fn a_file_that_argo_gives_to_a_value_counts_if_the_value_is_read() {
    let app = |path: &str| {
        argo("pools").replace(
            "path: pools",
            &format!("path: pools, helm: {{fileParameters: [{{name: script, path: {path}}}]}}"),
        )
    };
    for (path, file) in [("files/u.sh", "pools/files/u.sh"), ("../scripts/u.sh", "scripts/u.sh")] {
        let app = app(path);
        let files = [("apps/pools.yaml", app.as_str())];
        let change = (file, "echo a\n", "echo b\n");
        assert_eq!(of_chart(".Values.script", &files, &[change]), feeds(file));
        assert_eq!(of_chart(".Values.team", &files, &[change]), NONE);
        assert_eq!(of_chart(".Values.script", &[], &[change]), NONE);
    }
}

#[test]
fn values_of_environments_reach_the_releases_of_a_helmfile() {
    let helmfile = |chart: &str, rest: &str| {
        format!(
            "environments:\n  prod:\n    values:\n    - env/prod.yaml\n---\nreleases:\n- name: pools\n  chart: {chart}\n  wait: {{{{ .Values.wait }}}}\n{rest}"
        )
    };
    let reading = "  values:\n  - team: {{ .Values.team }}\n";
    let of = |chart: &str, rest: &str, old: &str, new: &str| {
        verdict(&[("helmfile.yaml.gotmpl", &helmfile(chart, rest))], &[("env/prod.yaml", old, new)])
    };
    let may = "may replace nodes: env/prod.yaml feeds the release `pools`, and has changed; the objects of the chart are not in the input";
    let outside = "acme/karpenter-nodepools";
    assert_eq!(of(outside, reading, "team: a\nx: 1\n", "team: b\nx: 1\n"), may);
    assert_eq!(of(outside, reading, "team: a\nx: 1\n", "team: a\nx: 2\n"), NONE);
    assert_eq!(of(outside, reading, "team: a\nwait: 1\n", "team: a\nwait: 2\n"), NONE);
    assert_eq!(of("acme/shop", reading, "team: a\n", "team: b\n"), NONE);
    // A value has the name of a field of a release.
    let nested = "  values:\n  - pools:\n      wait: {{ .Values.team }}\n";
    assert_eq!(of(outside, nested, "team: a\n", "team: b\n"), may);
    // A template of values reads them.
    let named = helmfile(outside, "  values: [v.yaml.gotmpl]\n");
    let files = [("helmfile.yaml.gotmpl", named.as_str()), ("v.yaml.gotmpl", "team: {{ .Values.team }}\n")];
    assert_eq!(verdict(&files, &[("env/prod.yaml", "team: a\n", "team: b\n")]), may);
    // Fields that a release inherits.
    let inherited = |version: &str| {
        format!(
            "templates:\n  default: {{version: {version}}}\nreleases:\n- {{name: pools, chart: {outside}, inherit: [{{template: default}}]}}\n- {{name: shop, chart: acme/shop}}\n"
        )
    };
    assert_eq!(
        verdict(&[], &[("helmfile.yaml", &inherited("1.0.0"), &inherited("1.1.0"))]),
        "may replace nodes: helmfile.yaml installs the release `pools` in another way; the objects of the chart are not in the input"
    );
    // A chart of the input.
    let local = |value: &str| {
        format!(
            "releases:\n- name: nodes\n  chart: ./pools\n  wait: true\n  values:\n  - team: {{{{ {value} }}}}\n"
        )
    };
    let change =
        |new: &str| of_chart(".Values.team", &[], &[("helmfile.yaml.gotmpl", &local("env \"A\""), new)]);
    assert_eq!(
        change(&local("env \"B\"")),
        "may replace nodes: helmfile.yaml.gotmpl installs the release `nodes` in another way; compare the output of `helmfile template`"
    );
    assert_eq!(change(&local("env \"A\"").replace("wait: true", "wait: false")), NONE);
}

#[test]
fn a_template_that_terraform_renders_is_an_object_and_no_text() {
    let main = "resource \"kubectl_manifest\" \"p\" {\n  yaml_body = templatefile(\"${path.module}/pool.yaml.tmpl\", {})\n}\n";
    let of = |main: &str, new: &str| verdict(&[("tf/main.tf", main)], &[("tf/pool.yaml.tmpl", POOL, new)]);
    let limits = POOL.replace("cpu: 100", "cpu: 200");
    let answer = of(main, &limits);
    assert!(answer.starts_with("no node is replaced"), "{answer}");
    assert_eq!(
        of(main, &POOL.replace("team: a", "team: b")),
        "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team"
    );
    let unused = of("locals { a = 1 }\n", &limits);
    assert!(unused.ends_with("a template with objects of Karpenter that is not rendered"), "{unused}");
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
    // The release of another chart of this name.
    let elsewhere = app.replace("path: pools", "path: others/pools");
    let elsewhere = [("apps/pools.yaml", elsewhere.as_str()), ("others/pools/Chart.yaml", "name: pools\n")];
    assert_eq!(of(&elsewhere, "pools/values-dev.yaml"), feeds("pools/values-dev.yaml"));
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

#[test]
fn folders_without_manifests_are_planned() {
    let template = "local v = import 'lib/vars.libsonnet';\n{apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: {name: 'a'}, spec: {team: v.team}}\n";
    let reads = |file: &str, read: &str| {
        format!(
            "may replace nodes: new/{file}, a template with objects of Karpenter that is not rendered, reads {read}, which has changed"
        )
    };
    let file = "pools.jsonnet";
    let answer = verdict(&[], &[(file, template, &template.replace("v.team", "'c'"))]);
    assert!(answer.starts_with("may replace nodes: new/pools.jsonnet has changed"), "{answer}");
    let vars = |team: &str| format!("(import 'names.libsonnet') + {{team: '{team}'}}\n");
    let (a, b, none) = (vars("a"), vars("b"), "{}\n");
    let of = |name: &str, old: &str, new: &str| {
        let files = [(file, template), ("lib/vars.libsonnet", &a), ("lib/names.libsonnet", none)];
        let others: Vec<_> = files.into_iter().filter(|(other, _)| *other != name).collect();
        verdict(&others, &[(name, old, new)])
    };
    assert_eq!(of("lib/vars.libsonnet", &a, &b), reads(file, "lib/vars.libsonnet"));
    assert_eq!(of("lib/names.libsonnet", none, "{x: 1}\n"), reads(file, "lib/names.libsonnet"));
    assert_eq!(of("lib/other.libsonnet", none, "{x: 1}\n"), NONE);
    // Most other templates are YAML before they are rendered.
    let answer = verdict(&[], &[("pool.yaml.tmpl", POOL, &POOL.replace("team: a", "team: b"))]);
    assert!(answer.starts_with("replaces every node of 1 NodePool (default)"), "{answer}");
}

#[test]
fn variables_of_ansible_count_where_a_template_reads_them() {
    let template = POOL.replace("team: a", "team: {{ team }}");
    let file = "roles/pools/templates/pool.yaml.j2";
    let of = |name: &str, old: &str, new: &str| verdict(&[(file, template.as_str())], &[(name, old, new)]);
    for name in ["group_vars/all.yaml", "inventory/host_vars/a.yaml", "roles/pools/defaults/main.yml"] {
        assert_eq!(
            of(name, "team: a\nx: 1\n", "team: b\nx: 1\n"),
            format!(
                "may replace nodes: new/{file}, a template with objects of Karpenter that is not rendered, reads {name}, which has changed"
            )
        );
        assert_eq!(of(name, "team: a\nx: 1\n", "team: a\nx: 2\n"), NONE, "{name}");
    }
    for name in ["roles/other/defaults/main.yml", "other/all.yaml"] {
        assert_eq!(of(name, "team: a\n", "team: b\n"), NONE, "{name}");
    }
}

#[test]
fn texts_of_jsonnet_give_arguments_to_the_templates_that_they_import() {
    const LIBRARY: &str = "{pool(team):: {apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: {name: 'a'}, spec: {team: team}}}\n";
    let gives = |file: &str, change: &str| {
        format!(
            "may replace nodes: new/{file}, which imports lib/karpenter.libsonnet, a template with objects of Karpenter that is not rendered, {change}"
        )
    };
    let main = |team: &str| {
        format!(
            "local k = import 'karpenter.libsonnet';\nlocal params = import 'params.libsonnet';\n[k.pool('{team}'), import 'web.libsonnet']\n"
        )
    };
    let (a, file) = (main("a"), "environments/prod/main.jsonnet");
    let of = |name: &str, old: &str, new: &str| {
        let all = [
            ("lib/karpenter.libsonnet", LIBRARY),
            (file, a.as_str()),
            ("environments/prod/params.libsonnet", "{team: 'a'}\n"),
            ("lib/web.libsonnet", "{kind: 'Deployment'}\n"),
            ("environments/dev/main.jsonnet", "import 'web.libsonnet'\n"),
        ];
        let others: Vec<_> = all.into_iter().filter(|(other, _)| *other != name).collect();
        verdict(&others, &[(name, old, new)])
    };
    assert_eq!(of(file, &a, &main("b")), gives(file, "has changed"));
    let params = "environments/prod/params.libsonnet";
    assert_eq!(
        of(params, "{team: 'a'}\n", "{team: 'b'}\n"),
        gives(file, &format!("reads {params}, which has changed"))
    );
    assert_eq!(of("lib/web.libsonnet", "{kind: 'Deployment'}\n", "{kind: 'Deployment', x: 1}\n"), NONE);
    assert_eq!(
        of("environments/dev/main.jsonnet", "import 'web.libsonnet'\n", "[import 'web.libsonnet']\n"),
        NONE
    );
    assert_eq!(of("environments/new/main.jsonnet", "", &a), NONE);
    // A text of any kind, and each file of several that a path in a library may mean.
    let class = "{apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: {name: 'x'}, spec: {userData: importstr 'userdata.sh', params: import 'p.libsonnet'}}\n";
    let other = "{a: 1}\n";
    for (name, new) in [("lib/userdata.sh", "echo b\n"), ("prod/p.libsonnet", "{a: 2}\n")] {
        let files = [("lib/nc.jsonnet", class), ("dev/p.libsonnet", other)];
        let old = if name.ends_with("sh") { "echo a\n" } else { other };
        assert_eq!(
            verdict(&files, &[(name, old, new)]),
            format!(
                "may replace nodes: new/lib/nc.jsonnet, a template with objects of Karpenter that is not rendered, reads {name}, which has changed"
            )
        );
    }
}

#[test]
fn variables_of_ansible_reach_a_template_through_others() {
    let file = "roles/pools/templates/pool.yaml.j2";
    let of = |text: &str, files: &[(&str, &str)], (name, old, new): (&str, &str, &str)| {
        let template = POOL.replace("team: a", &format!("team: {{{{ {text} }}}}"));
        verdict(&[&[(file, template.as_str())], files].concat(), &[(name, old, new)])
    };
    let reads = |name: &str| {
        format!(
            "may replace nodes: new/{file}, a template with objects of Karpenter that is not rendered, reads {name}, which has changed"
        )
    };
    let base = ("group_vars/all.yaml", "base_team: a\n", "base_team: b\n");
    let own = [("roles/pools/defaults/main.yml", "team: \"{{ base_team }}-x\"\nother: a\n")];
    assert_eq!(of("team", &own, base), reads("group_vars/all.yaml"));
    assert_eq!(of("other", &own, base), NONE);
    let plain = ("group_vars/all", "team: a\n", "team: b\n");
    assert_eq!(of("team", &[], plain), reads("group_vars/all"));
    // The element of a loop, in the task of the template.
    let tasks = |template: &str| {
        format!(
            "- ansible.builtin.template: {{src: {template}, dest: /tmp/a}}\n  loop: \"{{{{ pools }}}}\"\n"
        )
    };
    let pools = ("roles/pools/vars/main.yml", "pools: [{team: a}]\n", "pools: [{team: b}]\n");
    for (template, expected) in
        [("pool.yaml.j2", reads("roles/pools/vars/main.yml")), ("other.j2", NONE.to_owned())]
    {
        assert_eq!(of("item.team", &[("roles/pools/tasks/main.yml", &tasks(template))], pools), expected);
    }
}
