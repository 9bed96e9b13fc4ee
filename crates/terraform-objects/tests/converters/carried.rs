//! Objects in the values of charts.

use insta::assert_snapshot;

use crate::shown;

fn release(chart: &str, arguments: &str) -> String {
    shown(
        &[(
            "main.tf",
            &format!("resource \"helm_release\" \"r\" {{\n  chart = \"{chart}\"\n{arguments}}}\n"),
        )],
        &[],
    )
}

#[test]
fn each_object_of_a_raw_chart_is_read_or_named() {
    let values = r#"  values = [<<-Y
    resources:
    - {apiVersion: a/v1, kind: A}
    - ${module.m.object}
    - {apiVersion: a/v1, kind: B, x: "${module.m.x}"}
    templates:
    - |
      apiVersion: a/v1
      kind: C
      ---
      apiVersion: a/v1
      kind: D
    - |
      apiVersion: a/v1
      kind: E
      {{- if .Values.x }}
      x: y
      {{- end }}
  Y
  ]
"#;
    assert_snapshot!(release("raw", values), @r#"
    --- main.tf:5
    .apiVersion = "a/v1" @5:20
    .kind = "A" @5:32
    --- main.tf:6
    `helm_release.r`, not checked: `resources[1]` is known only after Terraform applies `${module.m.object}`
    --- main.tf:7
    .apiVersion = "a/v1" @7:20
    .kind = "B" @7:32
    .x = "${module.m.x}" @7:38
    --- main.tf:10
    .apiVersion = "a/v1" @10:19
    .kind = "C" @11:13
    --- main.tf:13
    .apiVersion = "a/v1" @13:19
    .kind = "D" @14:13
    --- main.tf:18
    Template(Span { start: 349, end: 351 })
    "#);
    let list = "  values = [yamlencode({ resources = concat([{ kind = \"A\" }], module.m.list), templates = [module.m.text] })]\n";
    assert_snapshot!(release("raw", list), @r#"
    --- main.tf:3
    `helm_release.r`, not checked: `resources` is known only after Terraform applies `${concat([{ kind = "A" }], module.m.list)}`
    --- main.tf:3
    `helm_release.r`, not checked: `templates[0]` is known only after Terraform applies `${module.m.text}`
    "#);
    let directive = "  values = [<<-Y\n    resources:\n    %{ if module.m.a ~}\n    - {apiVersion: a/v1, kind: A}\n    %{ endif ~}\n  Y\n  , module.m.values]\n";
    assert_snapshot!(release("raw", directive), @r#"
    --- main.tf:6
    .apiVersion = "a/v1" @6:20
    .kind = "A" @6:32
    --- main.tf:9
    `helm_release.r`, not checked: `values` is known only after Terraform applies `${module.m.values}`
    "#);
}

#[test]
fn objects_of_other_charts_are_in_lists_maps_texts_and_charts_within() {
    let values = r#"  values = [yamlencode({
    extraObjects   = { one = { apiVersion = "a/v1", kind = "A" }, two = "apiVersion: a/v1\nkind: B\n" }
    extraManifests = "apiVersion: a/v1\nkind: C\n"
    extraResources = { cpu = 1 }
    grafana        = { extraObjects = [{ apiVersion = "a/v1", kind = "D" }], sidecar = { extraDeploy = module.m.more } }
    raw            = { resources = [{ apiVersion = "a/v1", kind = "E" }] }
    resources      = { requests = { cpu = 1 } }
  }), module.m.values]
"#;
    assert_snapshot!(release("monitoring", values), @r#"
    --- main.tf:4
    .apiVersion = "a/v1" @4:45
    .kind = "A" @4:60
    --- main.tf:4
    .apiVersion = "a/v1" @4:86
    .kind = "B" @4:98
    --- main.tf:5
    .apiVersion = "a/v1" @5:35
    .kind = "C" @5:47
    --- main.tf:7
    .apiVersion = "a/v1" @7:55
    .kind = "D" @7:70
    --- main.tf:7
    `helm_release.r`, not checked: `grafana.sidecar.extraDeploy` is known only after Terraform applies `${module.m.more}`
    --- main.tf:8
    .apiVersion = "a/v1" @8:52
    .kind = "E" @8:67
    "#);
    assert_eq!(release("nginx", "  values = [module.m.values]\n"), "");
}

#[test]
fn defaults_without_a_name_are_no_object() {
    let defaults =
        r#"{ apiVersion = "a/v1", kind = "A", metadata = { labels = { a = "b" } }, spec = { x = 5 } }"#;
    let named = r#"{ apiVersion = "a/v1", kind = "B", metadata = { name = "b" } }"#;
    let values = |values: &str| release("pools", &format!("  values = [yamlencode({values})]\n"));
    assert_eq!(values(&format!("{{ defaults = {defaults}, all = [{defaults}] }}")), "");
    assert_snapshot!(values(&format!("{{ pools = {{ defaults = {defaults}, one = {named} }} }}")), @r#"
    --- main.tf:3
    .apiVersion = "a/v1" @3:160
    .kind = "B" @3:175
    .metadata.name = "b" @3:200
    "#);
    let unknown = r#"[{ apiVersion = "a/v1", kind = "B", metadata = module.m.metadata }]"#;
    assert!(values(&format!("{{ pools = {unknown} }}")).contains(".kind = \"B\""));
    assert!(values(&format!("{{ extraObjects = [{defaults}] }}")).contains(".spec.x = 5"));
}

#[test]
fn parameters_change_the_objects_of_a_chart() {
    let values = r#"  values = [yamlencode({ resources = [{ apiVersion = "a/v1", kind = "A", spec = { weight = 1000, "x.y" = 1 } }] })]
  set {
    name  = "resources[0].spec.weight"
    value = "10"
  }
  set {
    name  = "resources[0].spec.text"
    value = "10"
    type  = "string"
  }
  set {
    name  = "resources[0].spec.x\\.y"
    value = module.m.x
  }
  set {
    name  = "resources[3].spec.weight"
    value = "10"
  }
  set {
    name  = "other"
    value = "10"
  }
"#;
    assert_snapshot!(release("raw", values), @r#"
    --- main.tf:3
    .apiVersion = "a/v1" @3:54
    .kind = "A" @3:69
    .spec.weight = 10 @6:13
    .spec.x.y = "${module.m.x}" @15:13 from "module.m.x"
    .spec.text = "10" @10:13
    --- main.tf:17
    `helm_release.r`, not checked: what `set` does to its objects at `resources[3].spec.weight` is not known
    "#);
}

#[test]
fn objects_that_parameters_change_in_an_unknown_way_are_not_read() {
    let of = |set: &str| {
        let values = "  values = [yamlencode({ resources = [{ apiVersion = \"a/v1\", kind = \"A\", spec = { weight = 1000 } }] })]\n";
        release("raw", &format!("{values}{set}"))
    };
    let at = "resources[0].spec.weight";
    for set in [
        format!("  set {{\n    name = \"{at}\"\n    value = \"1,2\"\n  }}\n"),
        "  set {\n    name = module.m.x\n    value = 5\n  }\n".to_owned(),
        format!("  set = [for one in module.m.all : {{ name = \"{at}\", value = one }}]\n"),
        format!(
            "  dynamic \"set\" {{\n    for_each = module.m.all\n    content {{\n      name = \"{at}\"\n      value = 5\n    }}\n  }}\n"
        ),
    ] {
        let found = of(&set);
        assert!(found.contains("what `set` does") && !found.contains("1000"), "{set}{found}");
    }
    // The provider takes the name of a literal as one key.
    let literal = format!("  set {{\n    name = \"{at}\"\n    value = \"5\"\n    type = \"literal\"\n  }}\n");
    assert!(of(&literal).contains(".spec.weight = 1000"));
    let truth = of("  set {\n    name = \"resources[0].spec.on\"\n    value = \"True\"\n  }\n");
    assert!(truth.contains(".spec.on = true"), "{truth}");
}
