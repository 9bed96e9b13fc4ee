//! `karpwarden plan` about values that reach NodePools from around them: named templates, charts around a chart, modules of Terraform,
//! Terragrunt and helmfile.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, plan, verdict};

/// A NodePool whose label is an action of a template.
fn template(action: &str) -> String {
    POOL.replace("team: a", &format!("team: {{{{ {action} }}}}"))
}

fn assert_may(answer: &str, parts: &[&str]) {
    assert!(answer.starts_with("may replace nodes"), "{answer}");
    assert!(parts.iter().all(|part| answer.contains(part)), "{answer}: {parts:?}");
}

#[test]
fn the_version_of_a_chart_counts_where_a_named_template_of_the_spec_reads_it() {
    let helpers = "{{- define \"c.label\" -}}\n{{ include \"c.chart\" . }}\n{{- end }}\n\
                   {{- define \"c.chart\" }}{{ .Chart.Name }}-{{ .Chart.Version }}{{ end }}\n{{ define \"c.other\" }}{{ .Values.other }}{{ end }}";
    let of = |pool: &str, change| {
        let files = [("c/templates/pool.yaml", pool), ("c/templates/_helpers.tpl", helpers)];
        verdict(&files, &[change])
    };
    let version = ("c/Chart.yaml", "name: c\nversion: 1.0.0\n", "name: c\nversion: 1.0.1\n");
    let used = template("include \"c.label\" .");
    assert_may(&of(&used, version), &["because of c/Chart.yaml"]);
    // Another field of the chart, another named template, and the labels of the object itself.
    assert_eq!(of(&used, ("c/Chart.yaml", "name: c\nappVersion: 1\n", "name: c\nappVersion: 2\n")), NONE);
    assert_eq!(of(&template("include \"c.other\" ."), version), NONE);
    assert_eq!(of(&template(".Values.team"), version), NONE);
    let labels = template(".Values.team").replace(
        "metadata: {name: default}",
        "metadata:\n  name: default\n  labels:\n    {{- include \"c.label\" . | nindent 4 }}",
    );
    assert_eq!(of(&labels, version), NONE);
    // The values count that a named template reads.
    let files = ("c/values.yaml", "other: a\n", "other: b\n");
    let definition = ("c/Chart.yaml", "name: c\n", "name: c\n");
    let pools = [template("include \"c.other\" ."), used];
    let [read, not_read] = pools.map(|pool| {
        let all = [("c/templates/pool.yaml", pool.as_str()), ("c/templates/_helpers.tpl", helpers)];
        verdict(&all, &[files, definition])
    });
    assert_may(&read, &["because of c/values.yaml"]);
    assert_eq!(not_read, NONE);
}

/// An Application with the chart in a folder.
fn application(folder: &str, helm: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  project: p\n  source: {{repoURL: r, targetRevision: main, path: {folder}, helm: {helm}}}\n"
    )
}

/// A HelmRelease with the chart in a folder.
fn release(folder: &str, values: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a}}\nspec: {{interval: 1h, chart: {{spec: {{chart: ./{folder}}}}}, values: {values}}}\n"
    )
}

/// Writes a file with a value under a key.
type Writes<'w> = &'w dyn Fn(&str, &str) -> String;

#[test]
fn a_chart_around_a_chart_gives_it_values_under_its_alias() {
    let around = |address: &str| {
        format!(
            "name: around\nversion: 1.0.0\ndependencies:\n- {{name: node-pools, alias: pools, version: 1.0.0, repository: '{address}'}}\n"
        )
    };
    let pool = template(".Values.team");
    let (inside, outside) = (around("file://../node-pools"), around("https://example.com"));
    let of_inside = |change: Change<'_>| {
        let chart = ("charts/node-pools/Chart.yaml", "name: node-pools\n");
        let files = [
            chart,
            ("charts/node-pools/templates/pool.yaml", pool.as_str()),
            ("charts/around/Chart.yaml", &inside),
        ];
        verdict(&files, &[change])
    };
    let of_outside =
        |change: Change<'_>| verdict(&[("charts/around/Chart.yaml", outside.as_str())], &[change]);
    let values = |key: &str, value: &str| format!("{key}: {{team: {value}}}\n");
    let parameter = |name: &str, value: &str| {
        application("charts/around", &format!("{{parameters: [{{name: {name}, value: {value}}}]}}"))
    };
    let text = |key: &str, value: &str| {
        application("charts/around", &format!("{{values: \"{key}:\\n  team: {value}\\n\"}}"))
    };
    let object = |key: &str, value: &str| release("charts/around", &format!("{{{key}: {{team: {value}}}}}"));
    let cases: [(&str, Writes<'_>, &str, &str); 4] = [
        ("charts/around/values.yaml", &values, "pools", "shop"),
        ("apps/a.yaml", &parameter, "pools.team", "shop.team"),
        ("apps/a.yaml", &text, "pools", "shop"),
        ("apps/a.yaml", &object, "pools", "shop"),
    ];
    for (file, write, key, other) in cases {
        let [meant, not_meant] = [key, other].map(|key| (write(key, "a"), write(key, "b")));
        for of in [&of_inside as &dyn Fn(Change<'_>) -> String, &of_outside] {
            assert_may(&of((file, &meant.0, &meant.1)), &[file]);
            assert_eq!(of((file, &not_meant.0, &not_meant.1)), NONE, "{file} {other}");
        }
    }
    // The default values of another chart, also with a key that both read.
    let beside = [
        ("charts/node-pools/Chart.yaml", "name: node-pools\n"),
        ("charts/node-pools/templates/pool.yaml", pool.as_str()),
        ("charts/shop/Chart.yaml", "name: shop\n"),
    ];
    assert_eq!(verdict(&beside, &[("charts/shop/values.yaml", "team: a\n", "team: b\n")]), NONE);
    // A file that the Application names.
    let app = application("charts/around", "{valueFiles: [../../env/prod.yaml]}");
    let named = [("charts/around/Chart.yaml", outside.as_str()), ("apps/a.yaml", &app)];
    let of = |key: &str| verdict(&named, &[("env/prod.yaml", &values(key, "a"), &values(key, "b"))]);
    assert_may(&of("pools"), &["env/prod.yaml feeds the chart `node-pools`"]);
    assert_eq!(of("shop"), NONE);
    let newer = outside.replacen("version: 1.0.0", "version: 1.0.1", 1);
    assert_eq!(verdict(&[], &[("charts/around/Chart.yaml", &outside, &newer)]), NONE);
}

#[test]
fn what_an_application_says_beside_its_chart_changes_no_node() {
    let pool = template(".Values.team");
    let files = [("charts/c/Chart.yaml", "name: c\n"), ("charts/c/templates/pool.yaml", pool.as_str())];
    let old = application("charts/c", "{parameters: [{name: team, value: a}]}");
    for (from, to, is_none) in [
        ("project: p", "project: q", true),
        ("{name: a}", "{name: a, annotations: {x: y}}", true),
        ("value: a", "value: b", false),
        ("name: team", "name: other", false),
        ("targetRevision: main", "targetRevision: next", false),
    ] {
        let answer = verdict(&files, &[("apps/a.yaml", &old, &old.replacen(from, to, 1))]);
        assert_eq!(answer == NONE, is_none, "{from} {to}: {answer}");
    }
}

const RESOURCE: &str = "resource \"kubectl_manifest\" \"pool\" {\n  yaml_body = <<-YAML\n";

/// A resource of Terraform with an object.
fn resource(text: &str) -> String {
    format!("{RESOURCE}{text}YAML\n}}\n")
}

#[test]
fn objects_that_terraform_forgets_stay() {
    let (pool, class) = (resource(POOL), resource(CLASS).replace("\"pool\"", "\"class\""));
    let removed = |from: &str, destroy: &str| {
        format!("removed {{\n  from = {from}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n")
    };
    let all = format!("{pool}{class}");
    let of = |old: &str, new: &str| verdict(&[], &[("main.tf", old, new)]);
    let gone = "removes the nodes of 1 NodePool (default)";
    for (block, expected) in [
        (removed("kubectl_manifest.pool", "false"), NONE),
        (removed("kubectl_manifest.pool", "true"), gone),
        (removed("kubectl_manifest.other", "false"), gone),
    ] {
        assert_eq!(of(&all, &format!("{class}{block}")), expected, "{block}");
    }
    let both = removed("kubectl_manifest.pool", "false") + &removed("kubectl_manifest.class", "false");
    assert_eq!(of(&all, &both), NONE);
    // The resource says it itself.
    let kept = all.replacen("YAML\n}\n", "YAML\n  lifecycle {\n    destroy = false\n  }\n}\n", 1);
    assert_eq!(of(&kept, &class), NONE);
    // A module, and the definitions of a release.
    let call = "module \"m\" {\n  source = \"./m\"\n}\n";
    let (forgotten, module) = (removed("module.m", "false"), [("m/main.tf", all.as_str())]);
    assert_eq!(verdict(&module, &[("main.tf", call, &forgotten)]), NONE);
    let release = "resource \"helm_release\" \"crd\" {\n  name = \"karpenter-crd\"\n  chart = \"karpenter-crd\"\n  repository = \"oci://public.ecr.aws/karpenter\"\n  version = \"1.8.0\"\n}\n";
    let with_release = format!("{release}{all}");
    assert!(
        of(&with_release, &all).starts_with("removes the nodes of 1 NodePool"),
        "{}",
        of(&with_release, &all)
    );
    let forgotten = removed("helm_release.crd", "false");
    assert_eq!(of(&with_release, &format!("{all}{forgotten}")), NONE);
}

#[test]
fn what_reaches_the_node_pools_of_a_module_outside_of_the_input_counts() {
    let module = |argument: &str| {
        format!(
            "module \"a\" {{\n  source = \"aws-ia/eks-data-addons/aws\"\n  version = \"1.37\"\n  enable_karpenter_resources = true\n  {argument}\n}}\n"
        )
    };
    let local = |team: &str| {
        format!(
            "locals {{\n  pools = {{\n    default = {{ values = [\"nodePool: {{team: {team}}}\"] }}\n  }}\n  other = \"{team}\"\n}}\n"
        )
    };
    let by_local = module("karpenter_resources_helm_config = local.pools");
    let of = |old: &str, new: &str| verdict(&[("x.yaml", POOL)], &[("tf/main.tf", old, new)]);
    let [old, new] = ["a", "b"].map(|team| by_local.clone() + &local(team));
    assert_may(&of(&old, &new), &["tf/main.tf changes `module.a`"]);
    assert_may(&of(&old, &old.replace("1.37", "1.38")), &["`aws-ia/eks-data-addons/aws`"]);
    let other = new.replace("team: b", "team: a");
    assert_eq!(of(&old, &other), NONE);
    // Files that the module gets, or finds in a folder.
    for argument in [
        "karpenter_resources_helm_config = { default = { values = [file(\"${path.module}/values/np.yaml\")] } }",
        "karpenter_resources_path = \"${path.module}/values\"",
        "karpenter_resources = fileset(path.module, \"values/*.yaml\")",
    ] {
        let text = module(argument);
        let files = [("tf/main.tf", text.as_str()), ("x.yaml", POOL)];
        let of = |file: &str| verdict(&files, &[(file, "team: a\n", "team: b\n")]);
        assert_may(&of("tf/values/np.yaml"), &["tf/values/np.yaml changes `module.a`"]);
        assert_eq!(of("tf/other/np.yaml"), NONE, "{argument}");
    }
    let plain = module("enable_metrics = local.other").replace("enable_karpenter_resources = true", "x = 1");
    assert_eq!(of(&(plain.clone() + &local("a")), &(plain + &local("b"))), NONE);
}

#[test]
fn a_unit_of_terragrunt_changes_what_its_module_makes_of_its_inputs() {
    let pool = POOL.replace("team: a", "team: '${var.team}'");
    let module = format!(
        "variable \"team\" {{\n  default = \"x\"\n}}\nvariable \"other\" {{}}\n{}{}resource \"aws_s3_bucket\" \"a\" {{\n  bucket = var.other\n}}\n",
        resource(&pool),
        resource(CLASS).replace("\"pool\"", "\"class\"")
    );
    let unit = |source: &str, inputs: &str| format!("terraform {{\n  source = \"{source}\"\n}}\n{inputs}\n");
    let inputs =
        |team: &str, other: &str| format!("inputs = {{\n  team = \"{team}\"\n  other = \"{other}\"\n}}");
    let files = [("modules/nodes/main.tf", module.as_str())];
    let file = "live/prod/terragrunt.hcl";
    let of = |old: &str, new: &str| verdict(&files, &[(file, old, new)]);
    let local = "../../modules//nodes";
    let old = unit(local, &inputs("a", "a"));
    assert_may(
        &of(&old, &unit(local, &inputs("b", "a"))),
        &["live/prod/terragrunt.hcl changes the input `team`"],
    );
    assert_eq!(of(&old, &unit(local, &inputs("a", "b"))), NONE);
    assert_eq!(of(&old, &format!("# comment\n{old}")), NONE);
    let line = plan(&files, &[(file, &old, &unit(local, &inputs("b", "a")))])["changes"][0].clone();
    assert_eq!(
        (line["file"].as_str(), line["line"].as_u64()),
        (Some("new/live/prod/terragrunt.hcl"), Some(5))
    );
    // Locals, another file, and a configuration that the unit includes.
    let by_local = |team: &str| {
        unit(
            local,
            &format!(
                "locals {{\n  team = \"{team}\"\n}}\ninputs = {{\n  team = local.team\n  other = \"a\"\n}}"
            ),
        )
    };
    assert_may(&of(&by_local("a"), &by_local("b")), &["changes the input `team`"]);
    let reading = unit(
        local,
        "locals {\n  env = read_terragrunt_config(find_in_parent_folders(\"env.hcl\"))\n}\ninputs = {\n  team = local.env.locals.team\n}",
    );
    let env = |team: &str| format!("locals {{\n  team = \"{team}\"\n}}\n");
    let beside = [files[0], (file, reading.as_str())];
    assert_may(
        &verdict(&beside, &[("live/env.hcl", &env("a"), &env("b"))]),
        &["live/env.hcl changes the input `team`"],
    );
    let including = unit(
        local,
        "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\ninputs = {\n  other = \"a\"\n}",
    );
    let beside = [files[0], (file, including.as_str())];
    let root = |team: &str, other: &str| inputs(team, other) + "\n";
    assert_may(
        &verdict(&beside, &[("live/root.hcl", &root("a", "a"), &root("b", "a"))]),
        &["live/root.hcl changes"],
    );
    assert_eq!(verdict(&beside, &[("live/root.hcl", &root("a", "a"), &root("a", "b"))]), NONE);
    // A module outside of the input.
    let remote = |name: &str, version: &str| {
        unit(&format!("git::https://example.com/tf.git//{name}?ref={version}"), "inputs = {}")
    };
    assert_may(
        &of(&remote("karpenter-nodes", "v1"), &remote("karpenter-nodes", "v2")),
        &["changes the module of the unit"],
    );
    assert_eq!(of(&remote("vpc", "v1"), &remote("vpc", "v2")), NONE);
    let of_controller = "tfr:///terraform-aws-modules/eks/aws//modules/karpenter?version=";
    assert_eq!(
        of(&unit(&format!("{of_controller}20.0.0"), ""), &unit(&format!("{of_controller}21.0.0"), "")),
        NONE
    );
}

#[test]
fn a_helmfile_installs_charts_outside_of_the_input() {
    let text = |edits: &[(&str, &str)]| {
        let text = "repositories: [{name: acme, url: 'https://example.com'}]\nreleases:\n\
                    - name: pools\n  chart: acme/node-pools\n  version: 1.0.0\n  values: [values/np.yaml, {team: a}]\n  timeout: 5\n\
                    - name: shop\n  chart: acme/shop\n  version: 2.0.0\n  values: [values/shop.yaml]\n";
        edits.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    for file in ["helmfile.yaml", "helmfile.yaml.gotmpl", "helmfile.d/a.yaml"] {
        let of = |edit| verdict(&[("pool.yaml", POOL)], &[(file, &text(&[]), &text(&[edit]))]);
        for edit in
            [("1.0.0", "1.1.0"), ("team: a", "team: b"), ("node-pools\n", "node-pools\n  installed: false\n")]
        {
            assert_may(&of(edit), &[&format!("{file} installs the release `pools` in another way")]);
        }
        for edit in [("2.0.0", "2.1.0"), ("timeout: 5", "timeout: 9"), ("values/shop", "values/other")] {
            assert_eq!(of(edit), NONE, "{file} {edit:?}");
        }
    }
    let helmfile = text(&[]);
    let files = [("helmfile.yaml", helmfile.as_str()), ("pool.yaml", POOL)];
    let of = |file: &str| verdict(&files, &[(file, "team: a\n", "team: b\n")]);
    assert_may(&of("values/np.yaml"), &["values/np.yaml feeds the release `pools`"]);
    assert_eq!(of("values/shop.yaml"), NONE);
    // A template that is no YAML.
    let rendered = helmfile.replace("timeout: 5", "timeout: {{ .Values.timeout }} {{- if .x }}{{ end }}");
    let of = |from, to| verdict(&[], &[("helmfile.yaml", &rendered, &rendered.replace(from, to))]);
    assert_may(&of("1.0.0", "1.1.0"), &["helmfile.yaml installs the release `pools` in another way"]);
    assert_eq!(of("2.0.0", "2.1.0"), NONE);
    // A chart of the input.
    let local = text(&[("acme/node-pools", "./charts/c")]);
    let pool = template(".Values.team");
    let files = [("charts/c/templates/pool.yaml", pool.as_str()), ("charts/c/Chart.yaml", "name: c\n")];
    let of = |from, to| verdict(&files, &[("helmfile.yaml", &local, &local.replace(from, to))]);
    assert_may(&of("team: a", "team: b"), &["because of helmfile.yaml"]);
    assert_eq!(of("timeout: 5", "timeout: 9"), NONE);
}

#[cfg(unix)]
#[test]
fn a_link_that_becomes_a_file_is_compared_with_the_file_behind_it() {
    use crate::folder::Folder;

    let folder = Folder::with(&[
        ("file/base/pool.yaml", POOL),
        ("file/base/class.yaml", CLASS),
        ("file/prod/kustomization.yaml", "resources: [pool.yaml]\n"),
        ("file/prod/pool.yaml", &POOL.replace("team: a", "team: b")),
        ("link/base/pool.yaml", POOL),
        ("link/base/class.yaml", CLASS),
        ("link/prod/kustomization.yaml", "resources: [pool.yaml]\n"),
    ]);
    std::os::unix::fs::symlink("../base/pool.yaml", folder.path("link/prod/pool.yaml")).unwrap();
    for (old, new) in [("link", "file"), ("file", "link")] {
        let run = folder.run(&["plan", "--karpenter-version", "1.14", old, new]);
        let verdict = run.stdout.lines().next().unwrap_or_default();
        assert_eq!(
            verdict,
            "replaces every node of 1 NodePool (default in prod): spec.template.metadata.labels.team"
        );
    }
}

#[test]
fn a_new_workload_without_a_place_is_told_although_no_node_pool_changes() {
    let deployment = |family: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n      nodeSelector: {{karpenter.k8s.aws/instance-family: {family}}}\n      containers: [{{name: a, image: {image}, resources: {{requests: {{cpu: '1'}}}}}}]\n"
        )
    };
    let files = [("pool.yaml", POOL), ("class.yaml", CLASS)];
    let of = |old: &str, new: &str| verdict(&files, &[("web.yaml", old, new)]);
    let lost = of(&deployment("m5", "a"), &deployment("p5", "a"));
    assert!(lost.ends_with("; 1 pod loses its place"), "{lost}");
    assert!(of("", &deployment("p5", "a")).ends_with("; 1 new pod finds no place"));
    assert_eq!(of("", &deployment("m5", "a")), NONE);
    assert_eq!(of(&deployment("p5", "a"), &deployment("p5", "b")), NONE);
    // The pods may have a place on the nodes of a managed node group.
    let of_group =
        deployment("p5", "a").replace("karpenter.k8s.aws/instance-family", "eks.amazonaws.com/nodegroup");
    assert_eq!(of("", &of_group), NONE);
}
