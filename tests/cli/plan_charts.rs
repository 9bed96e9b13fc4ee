//! `karpwarden plan` about charts whose templates have NodePools: values, named templates and texts.

use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{Change, NONE, verdict};

const MAY: &str = "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team";

const UNREAD: &str = "may replace nodes: new/c/templates/pool.yaml may render in another way because of";

/// A NodePool whose label is an action of a template, in quotes or not.
fn template(action: &str, is_quoted: bool) -> String {
    let mark = format!("{{{{ {action} }}}}");
    POOL.replace("team: a", &if is_quoted { format!("team: '{mark}'") } else { format!("team: {mark}") })
}

fn of(action: &str, is_quoted: bool, change: Change<'_>) -> String {
    let files = [
        ("c/templates/pool.yaml", &*template(action, is_quoted)),
        ("class.yaml", CLASS),
        ("c/Chart.yaml", "name: c\nversion: 1.0.0\n"),
    ];
    verdict(&files, &[change])
}

#[test]
fn a_named_template_feeds_the_templates_that_include_others() {
    let (old, new) = ("{{- define \"c.team\" -}}a{{- end -}}\n", "{{- define \"c.team\" -}}b{{- end -}}\n");
    for name in ["c/templates/_helpers.tpl", "c/templates/helpers/_team.txt", "c/templates/team.tpl"] {
        let change = (name, old, new);
        for action in ["include \"c.team\" .", "template \"c.team\" .", "block \"c.team\" . }}x{{ end"] {
            assert_eq!(of(action, true, change), MAY, "{name} {action}");
            let unread = of(action, false, change);
            assert_eq!(
                unread,
                format!("{UNREAD} {name}; compare the output of `helm template` or `kustomize build`")
            );
        }
        assert_eq!(of(".Values.team", true, change), NONE, "{name}");
    }
    assert_eq!(of("include \"c.team\" .", true, ("c/templates/NOTES.txt", "a", "b")), NONE);
    assert_eq!(of("include \"c.team\" .", true, ("d/templates/_helpers.tpl", old, new)), NONE);
}

#[test]
fn values_need_no_name_that_says_so() {
    for name in ["c/prod.yaml", "environments/prod.yaml", "c/values.yaml", "c/ci/prod.yml"] {
        for is_quoted in [true, false] {
            let answer = of(".Values.team", is_quoted, (name, "team: a\n", "team: b\n"));
            assert!(answer.starts_with(if is_quoted { MAY } else { UNREAD }), "{name}: {answer}");
            assert_eq!(of(".Values.team", is_quoted, (name, "other: a\n", "other: b\n")), NONE, "{name}");
        }
    }
    // An object is no file of values.
    let map = |team: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nteam: {team}\n");
    assert_eq!(of(".Values.team", true, ("apps/map.yaml", &map("a"), &map("b"))), NONE);
}

#[test]
fn comments_of_a_template_are_rendered() {
    let template = format!("# {{{{- if .Values.isOn }}}}\n{POOL}# {{{{- end }}}}\n");
    let files =
        [("c/templates/pool.yaml", template.as_str()), ("class.yaml", CLASS), ("c/Chart.yaml", "name: c\n")];
    let of = |old: &str, new: &str| verdict(&files, &[("c/values.yaml", old, new)]);
    let may = "may replace nodes of 1 NodePool (default): c/values.yaml feeds the template around the object";
    assert_eq!(of("isOn: true\n", "isOn: false\n"), may);
    assert_eq!(of("other: true\n", "other: false\n"), NONE);
}

#[test]
fn a_text_feeds_the_templates_that_read_files() {
    let change = ("c/files/userdata.sh", "a", "b");
    assert_eq!(of(".Files.Get \"files/userdata.sh\"", true, change), MAY);
    assert_eq!(of(".Values.team", true, change), NONE);
    assert_eq!(of(".Files.Get \"files/userdata.sh\"", true, ("c/README.md", "a", "b")), NONE);
    assert_eq!(of(".Files.Get \"files/userdata.sh\"", true, ("scripts/a.sh", "a", "b")), NONE);
}

#[test]
fn a_loop_over_values_has_the_documents_behind_a_separator() {
    let pool = POOL.replace("name: default", "name: {{ $name }}");
    let template = format!("{{{{- range $name, $pool := .Values.pools }}}}\n---\n{pool}{{{{- end }}}}\n");
    let other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.map }}}\n";
    let template = format!("{template}{other}");
    let files = [("c/templates/pool.yaml", template.as_str()), ("c/Chart.yaml", "name: c\nversion: 1.0.0\n")];
    let of = |old: &str, new: &str| verdict(&files, &[("clusters/prod.yaml", old, new)]);
    let may = format!("{UNREAD} clusters/prod.yaml");
    assert!(of("pools: {a: {}}\n", "pools: {b: {}}\n").starts_with(&may));
    assert_eq!(of("map: a\n", "map: b\n"), NONE);
}

/// Writes a file about a team.
type Text<'t> = &'t dyn Fn(&str) -> String;

#[test]
fn values_of_a_chart_outside_of_the_input_may_replace_nodes_if_its_name_says_that_it_makes_node_pools() {
    let release = |chart: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a}}\nspec: {{interval: 1h, chart: {{spec: {{chart: {chart}}}}}, valuesFrom: [{{kind: ConfigMap, name: v}}]}}\n"
        )
    };
    let application = |chart: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  sources:\n  - {{repoURL: 'https://example.com', chart: {chart}, helm: {{valueFiles: [$values/envs/v.yaml]}}}}\n  - {{repoURL: 'https://example.com/a', ref: values}}\n"
        )
    };
    let dependency = |chart: &str| {
        format!(
            "name: a\nversion: 1.0.0\ndependencies:\n- {{name: {chart}, version: 1.0.0, repository: 'https://example.com'}}\n"
        )
    };
    let rendered = |chart: &str| {
        format!(
            "helmCharts:\n- {{name: {chart}, version: 1.0.0, repo: 'https://example.com', valuesFile: v.yaml}}\n"
        )
    };
    let terraform = |chart: &str| {
        format!(
            "resource \"helm_release\" \"a\" {{\n  chart = \"{chart}\"\n  repository = \"https://example.com\"\n  version = \"1.0.0\"\n  values = [file(\"${{path.module}}/v.yaml\")]\n}}\n"
        )
    };
    let map = |team: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: v}}\ndata: {{values.yaml: 'team: {team}'}}\n"
        )
    };
    let plain = |team: &str| format!("team: {team}\n");
    // A chart gives a dependency the values below its name.
    let nested = |team: &str| format!("node-pools: {{team: {team}}}\n");
    let cases: [(&str, Text<'_>, &str, Text<'_>); 5] = [
        ("apps/a.yaml", &release, "apps/v.yaml", &map),
        ("apps/a.yaml", &application, "envs/v.yaml", &plain),
        ("a/Chart.yaml", &dependency, "a/values.yaml", &nested),
        ("a/kustomization.yaml", &rendered, "a/v.yaml", &plain),
        ("a/main.tf", &terraform, "a/v.yaml", &plain),
    ];
    for (file, text, values, value) in cases {
        let of = |chart: &str| verdict(&[(file, &text(chart))], &[(values, &value("a"), &value("b"))]);
        let answer = of("node-pools");
        assert!(answer.starts_with(&format!("may replace nodes: {values} ")), "{file}: {answer}");
        for other in ["grafana", "karpenter"] {
            assert_eq!(of(other), NONE, "{file} {other}");
        }
        let newer =
            verdict(&[], &[(file, &text("node-pools"), &text("node-pools").replace("1.0.0", "2.0.0"))]);
        assert_eq!(newer.starts_with("may replace nodes: "), text("x").contains("1.0.0"), "{file}: {newer}");
    }
}

/// Text of a `helm_release` that gives a value under a key.
type ReleaseValue<'v> = dyn Fn(&str, &str) -> String + 'v;

#[test]
fn a_release_of_terraform_gives_values_to_a_chart_within_its_chart() {
    let files = [
        ("charts/umbrella/charts/pools/templates/pool.yaml", &*template(".Values.team", false)),
        ("charts/umbrella/charts/pools/Chart.yaml", "name: pools\nversion: 1.0.0\n"),
        (
            "charts/umbrella/Chart.yaml",
            "name: umbrella\nversion: 1.0.0\ndependencies:\n- {name: pools, version: 1.0.0}\n",
        ),
        ("live/v.tftpl", "a: b\n"),
    ];
    let release = |values: &str| {
        format!(
            "resource \"helm_release\" \"x\" {{\n  chart = \"${{path.module}}/../charts/umbrella\"\n  {values}\n}}\n"
        )
    };
    let of = |old: &str, new: &str| verdict(&files, &[("live/main.tf", &release(old), &release(new))]);
    let set = |key: &str, value: &str| format!("set {{\n    name = \"{key}\"\n    value = \"{value}\"\n  }}");
    let list = |key: &str, value: &str| {
        format!(
            "set = [\n    {{ name = \"x\", value = \"y\" }},\n    {{ name = \"{key}\", value = \"{value}\" }}\n  ]"
        )
    };
    let values = |key: &str, value: &str| {
        format!("values = [yamlencode({{ {key} = {{ team = \"{value}\" }}, x = \"y\" }})]")
    };
    let may = "may replace nodes: new/charts/umbrella/charts/pools/templates/pool.yaml may render in another way because of live/main.tf";
    let local = |key: &str, value: &str| {
        let members = format!("{{ {key} = {{ team = \"{value}\" }}, x = \"y\" }}");
        format!("values = [yamlencode(local.all)]\n}}\nlocals {{\n  all = {members}")
    };
    let document = |key: &str, value: &str| {
        format!("values = [<<-EOT\n    x: y\n    {key}:\n      team: {value}\n    EOT\n  ]")
    };
    let forms: [&ReleaseValue<'_>; 5] = [
        &local,
        &document,
        &|key, value| set(&format!("{key}.team"), value),
        &|key, value| list(&format!("{key}.team"), value),
        &values,
    ];
    for form in forms {
        let answer = of(&form("pools", "a"), &form("pools", "b"));
        assert!(answer.starts_with(may), "{answer}");
        assert!(of(&form("global", "a"), &form("global", "b")).starts_with(may));
        assert_eq!(of(&form("other", "a"), &form("other", "b")), NONE);
    }
    let text = release("values = [templatefile(\"${path.module}/v.tftpl\", {})]");
    let read = |key: &str| {
        let [old, new] = ["a", "b"].map(|team| format!("{key}:\n  team: {team}\n"));
        let files = [&files[..3], &[("live/main.tf", &*text)]].concat();
        verdict(&files, &[("live/v.tftpl", &old, &new)])
    };
    assert!(read("pools").starts_with("may replace nodes"), "{}", read("pools"));
    assert_eq!(read("other"), NONE);
}

#[test]
fn values_of_a_release_of_terraform_come_from_variables_and_calls_of_modules() {
    let files = [
        ("charts/pools/templates/pool.yaml", &*template(".Values.team", false)),
        ("charts/pools/Chart.yaml", "name: pools\nversion: 1.0.0\n"),
    ];
    let variable = |default: &str| format!("variable \"team\" {{\n  default = \"{default}\"\n}}\n");
    let release = |values: &str| {
        format!("resource \"helm_release\" \"x\" {{\n  chart = \"../charts/pools\"\n  {values}\n}}\n")
    };
    let may = "may replace nodes: new/charts/pools/templates/pool.yaml may render in another way because of live/main.tf";
    let set = "set {\n    name = \"team\"\n    value = var.team\n  }";
    let dynamic = "dynamic \"set\" {\n    for_each = { team = var.team }\n    content {\n      name = set.key\n      value = set.value\n    }\n  }";
    for (values, expected) in [
        ("values = [yamlencode({ team = var.team })]", may),
        (set, may),
        (dynamic, may),
        ("values = [yamlencode({ other = var.team })]", NONE),
        ("description = var.team", NONE),
    ] {
        let release = release(values);
        let of_default = |default: &str| variable(default) + &release;
        let (own, other) = (of_default("a"), of_default("b"));
        let answer = verdict(&files, &[("live/main.tf", &own, &other)]);
        assert!(answer.starts_with(expected), "{values}: {answer}");
        // A file of variables in another folder counts as before.
        let main = [&files[..], &[("live/main.tf", &*own)]].concat();
        let given = verdict(&main, &[("vars/p.tfvars", "team = \"a\"\n", "team = \"b\"\n")]);
        assert_eq!(given == NONE, expected == NONE, "{values}: {given}");
        let always = [&files[..], &[("live/terraform.tfvars", "team = \"c\"\n")]].concat();
        assert_eq!(verdict(&always, &[("live/main.tf", &own, &other)]), NONE);
        // The module that has the release is called.
        let inner =
            format!("{release}variable \"team\" {{\n  default = \"d\"\n}}\nvariable \"unused\" {{}}\n");
        let inner = inner.replace("../charts", "${path.module}/../../charts");
        let called = [&files[..], &[("modules/k/main.tf", &*inner)]].concat();
        let call =
            |arguments: &str| format!("module \"k\" {{\n  source = \"../modules/k\"\n  {arguments}\n}}\n");
        let of_call = |old: &str, new: &str| verdict(&called, &[("live/main.tf", &call(old), &call(new))]);
        for (old, new) in [
            ("team = \"a\"", "team = \"b\""),
            ("team = \"a\"", "unused = \"a\""),
            (
                "for_each = { x = \"a\" }\n  team = each.value",
                "for_each = { x = \"b\" }\n  team = each.value",
            ),
        ] {
            assert!(of_call(old, new).starts_with(expected), "{values}: {}", of_call(old, new));
        }
        assert_eq!(of_call("unused = 1\n  team = \"a\"", "unused = 2\n  team = \"a\""), NONE);
        // An argument that is a variable itself, and a default that no call leaves.
        let call = call("team = var.team");
        let of_root = |default: &str| variable(default) + &call;
        let (root, other) = (of_root("a"), of_root("b"));
        let through = verdict(&called, &[("live/main.tf", &root, &other)]);
        assert!(through.starts_with(expected), "{values}: {through}");
        let root = [&files[..], &[("live/main.tf", &*root)]].concat();
        let changed = inner.replace("\"d\"", "\"e\"");
        assert_eq!(verdict(&root, &[("modules/k/main.tf", &inner, &changed)]), NONE, "{values}");
    }
}

#[test]
fn a_release_of_terraform_names_its_chart_in_several_ways() {
    let files = [
        ("charts/pools/templates/pool.yaml", &*template(".Values.team", false)),
        ("charts/pools/Chart.yaml", "name: pools\nversion: 1.0.0\n"),
    ];
    let local = "locals {\n  chart = \"${path.module}/../charts/pools\"\n  name = \"pools\"\n}\n";
    for (chart, is_it) in [
        ("chart = \"pools\"\n  repository = \"${path.module}/../charts\"", true),
        ("chart = local.chart", true),
        ("chart = \"${local.chart}\"", true),
        ("chart = \"${path.module}/../charts/${local.name}\"", true),
        ("for_each = { a = \"../charts/pools\" }\n  chart = each.value", true),
        ("chart = \"pools\"\n  repository = \"https://example.com/charts\"", false),
        ("chart = \"${path.module}/../charts/other\"", false),
    ] {
        let release = |team: &str| {
            let set = format!("set {{\n    name = \"team\"\n    value = \"{team}\"\n  }}");
            format!("{local}resource \"helm_release\" \"x\" {{\n  {chart}\n  {set}\n}}\n")
        };
        let answer = verdict(&files, &[("live/main.tf", &release("a"), &release("b"))]);
        assert_eq!(answer.starts_with("may replace nodes"), is_it, "{chart}: {answer}");
        assert!(is_it || answer == NONE, "{chart}: {answer}");
    }
}

#[test]
fn variables_feed_charts_and_data_sources_outside_of_the_input() {
    let outside = "resource \"helm_release\" \"x\" {\n  repository = \"https://example.com\"\n  chart = \"karpenter-nodepools\"\n  values = [yamlencode({ team = var.team })]\n}\n";
    let pool =
        POOL.replace("team: a", "team: ${data.aws_ssm_parameter.p.value}").trim_end().replace('\n', "\n    ");
    let inside = format!(
        "data \"aws_ssm_parameter\" \"p\" {{\n  name = var.team\n}}\nresource \"kubectl_manifest\" \"x\" {{\n  yaml_body = <<-YAML\n    {pool}\n  YAML\n}}\n"
    );
    for (main, what) in [(outside, "a chart"), (&*inside, "a data source")] {
        let of_default =
            |default: &str| format!("{main}variable \"team\" {{\n  default = \"{default}\"\n}}\n");
        let own = verdict(&[], &[("live/main.tf", &of_default("/a"), &of_default("/b"))]);
        assert!(own.starts_with("may replace nodes"), "{what}: {own}");
        let call =
            |team: &str| format!("module \"k\" {{\n  source = \"../modules/k\"\n  team = \"{team}\"\n}}\n");
        let module = of_default("/a");
        let called =
            verdict(&[("modules/k/main.tf", &*module)], &[("live/main.tf", &call("/a"), &call("/b"))]);
        assert!(called.starts_with("may replace nodes"), "{what}: {called}");
    }
}
