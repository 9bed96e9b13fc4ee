//! Directives of templates that only Terraform resolves.

use insta::assert_snapshot;

use crate::shown;

fn template(text: &'static str) -> String {
    let call = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = templatefile(\"${path.module}/a.tftpl\", { is_on = module.a.is_on, all = module.a.all })\n}\n";
    shown(&[("main.tf", call)], &[("a.tftpl", text)])
}

#[test]
fn other_documents_of_a_text_are_known() {
    let text = r"kind: A
name: a
---
apiVersion: v1
kind: B
spec:
  a: 1
%{ if is_on ~}
  role: x
%{ endif ~}
---
%{ for one in all ~}
kind: C
name: ${one}
---
%{ endfor ~}
---
kind: D
";
    assert_snapshot!(template(text), @r#"
    --- a.tftpl:1
    .kind = "A" @1:7
    .name = "a" @2:7
    --- a.tftpl:4
    .apiVersion = "v1" @4:13
    .kind = "B" @5:7
    .spec.a = 1 @7:6
    .spec.role = "${unknown}" @9:9 from "x"
    `kubectl_manifest.a`, not checked in `spec.role`: a directive in `yaml_body` (a.tftpl:8) is known only after Terraform applies `${is_on}`
    --- a.tftpl:12
    `kubectl_manifest.a`, not checked: a directive in `yaml_body` (a.tftpl:12) is known only after Terraform applies `${all}`
    --- a.tftpl:18
    .kind = "D" @18:7
    "#);
}

#[test]
fn a_document_has_what_all_branches_have() {
    let text = r#"apiVersion: v1
kind: A
metadata:
  name: ${is_on}
%{ if is_on ~}
  labels: {a: b}
%{ endif ~}
spec:
  size: %{ if is_on }1%{ else }2%{ endif }
  same: "%{ if is_on }x%{ else }x%{ endif }"
  known: [1]
---
apiVersion: v1
kind: B
list:
- 1
%{ for one in all ~}
- ${one}
%{ endfor ~}
items:
- {a: "%{ if is_on }b%{ endif }", c: d}
script: |
  echo
  %{ if is_on }exit%{ endif }
"#;
    assert_snapshot!(template(text), @r#"
    --- a.tftpl:1
    .apiVersion = "v1" @1:13
    .kind = "A" @2:7
    .metadata.name = "${module.a.is_on}" @4:9 from "${is_on}"
    .metadata.labels = "${unknown}" @6:11 from "{a: b}"
    .spec.size = "${unknown}" @9:22 from "1"
    .spec.same = "x" @10:9 from "\"%{ if is_on }x%{ else }x%{ endif }\""
    .spec.known.0 = 1 @11:11
    `kubectl_manifest.a`, not checked in `metadata.labels`, `spec.size`: directives in `yaml_body` (a.tftpl:5, a.tftpl:9, a.tftpl:10) are known only after Terraform applies `${is_on}`
    --- a.tftpl:13
    .apiVersion = "v1" @13:13
    .kind = "B" @14:7
    .list = "${unknown}" @16:3 from "1"
    .items.0.a = "${unknown}" @21:7 from "\"%{ if is_on }b%{ endif }\""
    .items.0.c = "d" @21:38
    .script = "${unknown}" @23:3 from "echo\n  %{ if is_on }exit%{ endif }\n"
    `kubectl_manifest.a`, not checked in `list`, `items[0].a`, `script`: directives in `yaml_body` (a.tftpl:17, a.tftpl:21, a.tftpl:24) are known only after Terraform applies `${all}`, `${is_on}`
    "#);
}

#[test]
fn an_object_is_a_placeholder_if_no_text_has_all_of_its_fields() {
    let spec = |lines: &str| {
        let shown = template(Box::leak(format!("apiVersion: v1\nkind: A\nspec:\n{lines}").into_boxed_str()));
        let spec = shown.lines().filter(|line| line.starts_with(".spec"));
        spec.map(|line| line.split(" @").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let (a, b) = ("  a: 1\n", "  b: 2\n");
    // One field or another.
    assert_eq!(
        spec(&format!("%{{ if is_on ~}}\n{a}%{{ else ~}}\n{b}%{{ endif ~}}\n")),
        [".spec = \"${unknown}\""]
    );
    // Two conditions, of which one may exclude the other.
    let both = format!("  c: 3\n%{{ if is_on ~}}\n{a}%{{ endif ~}}\n%{{ if !is_on ~}}\n{b}%{{ endif ~}}\n");
    assert_eq!(spec(&both), [".spec = \"${unknown}\""]);
    // A loop may write more fields than its first ones.
    let repeated = "  c: 3\n%{ for one in all ~}\n  ${one}: x\n%{ endfor ~}\n";
    assert_eq!(spec(repeated), [".spec = \"${unknown}\""]);
    // Fields that come together, in either branch.
    let more = format!("  c: 3\n%{{ if is_on ~}}\n%{{ else ~}}\n{a}{b}%{{ endif ~}}\n");
    assert_eq!(spec(&more), [".spec.c = 3", ".spec.a = \"${unknown}\"", ".spec.b = \"${unknown}\""]);
    // In another object than the other condition.
    let apart =
        "  c: {d: 1\n%{ if is_on ~}\n  , e: 2\n%{ endif ~}\n  }\n%{ if !is_on ~}\n  b: 2\n%{ endif ~}\n";
    assert_eq!(spec(apart), [".spec.c.d = 1", ".spec.c.e = \"${unknown}\"", ".spec.b = \"${unknown}\""]);
}

#[test]
fn a_document_is_unknown_if_a_branch_makes_another_object() {
    for text in [
        "apiVersion: v1\nkind: %{ if is_on }A%{ else }B%{ endif }\n",
        "apiVersion: v1\nkind: A\n%{ if is_on ~}\nspec: {}\n%{ endif ~}\n",
        "%{ if is_on ~}\napiVersion: v1\nkind: A\n%{ endif ~}\n",
        "apiVersion: v1\nkind: A\na: %{ if is_on }\"%{ endif }\n",
        "apiVersion: v1\nkind: A\na: 1%{ if is_on }\n---\napiVersion: v1\nkind: B%{ endif }\n",
        "apiVersion: v1\nkind: A\na: 1%{ if is_on }${nothing}%{ endif }\n",
    ] {
        let shown = template(text);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            matches!(lines.as_slice(), [_, reason] if reason.contains("known only after")),
            "{text}\n{shown}"
        );
    }
}

#[test]
fn a_text_within_another_keeps_its_directives() {
    let main = r#"resource "kubectl_manifest" "a" {
  yaml_body = <<-EOT
    apiVersion: v1
    kind: A
    ${indent(2, "x: y")}
    data: ${templatefile("a.tftpl", { is_on = module.a.is_on })}
  EOT
}
resource "kubernetes_manifest" "b" {
  manifest = yamldecode(templatefile("a.tftpl", { is_on = module.a.is_on }))
}
resource "kubectl_manifest" "c" {
  yaml_body = yamlencode({ kind = "A", data = templatefile("a.tftpl", { is_on = module.a.is_on }) })
}
"#;
    assert_snapshot!(shown(&[("main.tf", main)], &[("a.tftpl", "{a: %{ if is_on }1%{ else }2%{ endif }, b: c}")]), @r#"
    --- main.tf:3
    .apiVersion = "v1" @3:17
    .kind = "A" @4:11
    .x = y @5:5 from "${indent(2, \"x: y\")}"
    .data.a = "${unknown}" @6:11 from "${templatefile(\"a.tftpl\", { is_on = module.a.is_on })}"
    .data.b = "c" @6:11 from "${templatefile(\"a.tftpl\", { is_on = module.a.is_on })}"
    `kubectl_manifest.a`, not checked in `data.a`: a directive in `yaml_body` (a.tftpl:1) is known only after Terraform applies `${is_on}`
    --- main.tf:10
    `kubernetes_manifest.b`, not checked: `manifest` is known only after Terraform applies `${yamldecode(templatefile("a.tftpl", { is_on = module.a.is_on }))}`
    --- main.tf:13
    .data = "${unknown}" @13:47 from "templatefile(\"a.tftpl\", { is_on = module.a.is_on })"
    .kind = "A" @13:35
    "#);
}
