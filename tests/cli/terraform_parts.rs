//! Known parts of values that only Terraform knows as a whole: suppressions, objects in the values of charts, and scalars of YAML.

use serde_json::Value;

use crate::folder::Folder;

fn check(files: &[(&str, &str)]) -> Value {
    Folder::with(files).run(&["check", ".", "--format", "json"]).json()
}

/// The rules with findings, each with its file and line.
fn findings(json: &Value) -> Vec<String> {
    let findings = json["findings"].as_array().unwrap().iter();
    let text = |one: &Value| {
        format!("{} {}:{}", one["rule"].as_str().unwrap(), one["file"].as_str().unwrap(), one["line"])
    };
    findings.map(text).collect()
}

fn reasons(json: &Value) -> Vec<&str> {
    json["skipped"].as_array().unwrap().iter().filter_map(|skipped| skipped["reason"].as_str()).collect()
}

/// An EC2NodeClass with a mistake, as an expression of Terraform.
fn class(metadata: &str) -> String {
    format!(
        r#"{{ apiVersion = "karpenter.k8s.aws/v1", kind = "EC2NodeClass", metadata = {metadata}, spec = {{
      instanceProfile            = "arn:aws:iam::1:instance-profile/x"
      amiSelectorTerms           = [{{ alias = "al2023@latest" }}]
      subnetSelectorTerms        = [{{ tags = {{ a = "b" }} }}]
      securityGroupSelectorTerms = [{{ tags = {{ a = "b" }} }}]
    }} }}"#
    )
}

/// The same in YAML, with a comment at the mistake.
fn yaml(indentation: &str, comment: &str) -> String {
    let text = format!(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: x}}\nspec:\n  instanceProfile: arn:aws:iam::1:instance-profile/x{comment}\n  amiSelectorTerms: [{{alias: al2023@latest}}]\n  subnetSelectorTerms: [{{tags: {{a: b}}}}]\n  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]\n"
    );
    text.split_inclusive('\n').flat_map(|line| [indentation, line]).collect()
}

const MISTAKE: &str = "instance-profile-is-arn";
const KNOWN: &str = r#"{ "karpwarden/ignore" = "instance-profile-is-arn -- a test" }"#;
const COMMENT: &str = " # karpwarden: ignore[instance-profile-is-arn] a test";

#[test]
fn an_annotation_accepts_findings_wherever_its_map_is_made() {
    let variables =
        "variable \"ann\" {}\nvariable \"on\" {}\nlocals {\n  known = KNOWN\n}\n".replace("KNOWN", KNOWN);
    let of = |resource: &str| {
        let json = check(&[("main.tf", &format!("{variables}{resource}"))]);
        (findings(&json), json["summary"]["checked"].as_u64().unwrap())
    };
    let manifest = |metadata: &str| {
        format!("resource \"kubernetes_manifest\" \"c\" {{\n  manifest = {}\n}}\n", class(metadata))
    };
    for annotations in [
        "merge(merge(local.known, var.ann), { a = \"b\" })",
        "merge([local.known, var.ann]...)",
        "merge(concat([local.known], var.ann)...)",
        "merge(local.known, var.ann...)",
        "try(merge(local.known, var.ann), {})",
        "var.on ? local.known : merge(local.known, { a = \"b\" })",
        "{ for k, v in merge(local.known, var.ann) : k => v }",
        "yamldecode(yamlencode(merge(local.known, var.ann)))",
        "jsondecode(jsonencode(merge(local.known, var.ann)))",
        "tomap(merge(local.known, var.ann))",
    ] {
        let metadata = format!("{{ name = \"x\", annotations = {annotations} }}");
        assert_eq!(of(&manifest(&metadata)), (Vec::new(), 1), "{annotations}");
        let list = format!(
            "resource \"kubectl_manifest\" \"c\" {{\n  yaml_body = yamlencode({{ apiVersion = \"v1\", kind = \"List\", items = [{}] }})\n}}\n",
            class(&metadata)
        );
        assert_eq!(of(&list), (Vec::new(), 1), "{annotations}");
        let text = yaml("    ", "")
            .replace("{name: x}", &format!("{{name: x, annotations: ${{jsonencode({annotations})}}}}"));
        let written = format!("resource \"kubectl_manifest\" \"c\" {{\n  yaml_body = <<-Y\n{text}  Y\n}}\n");
        assert_eq!(of(&written), (Vec::new(), 1), "{annotations}");
    }
    let metadata = "merge({ name = \"x\", annotations = local.known }, var.ann)";
    assert_eq!(of(&manifest(metadata)), (Vec::new(), 1));
    // A map that may lack the annotation.
    for annotations in [
        "var.on ? local.known : {}",
        "{ for k, v in local.known : k => v if var.on }",
        "merge({ a = \"b\" }, var.ann)",
    ] {
        let (found, _) = of(&manifest(&format!("{{ name = \"x\", annotations = {annotations} }}")));
        assert!(found.len() == 1 && found[0].starts_with(MISTAKE), "{annotations} {found:?}");
    }
}

#[test]
fn a_comment_accepts_findings_in_values_and_in_hcl() {
    let values = format!("extraObjects:\n  - |\n{}", yaml("    ", COMMENT));
    let listed = format!(
        "extraObjects:\n  - metadata: {{name: x}}\n{}",
        yaml("    ", COMMENT).replace("    metadata: {name: x}\n", "")
    );
    let decoded = format!(
        "resource \"kubernetes_manifest\" \"c\" {{\n  manifest = yamldecode(<<-Y\n{}    Y\n  )\n}}\n",
        yaml("    ", COMMENT)
    );
    let above = yaml("    ", "").replace("      instance", &format!("     {COMMENT}\n      instance"));
    let object = format!(
        "resource \"kubernetes_manifest\" \"c\" {{\n  manifest = {}\n}}\n",
        class("{ name = \"x\" }")
    );
    let release = |values: &str| {
        format!(
            "resource \"helm_release\" \"r\" {{\n  name = \"r\"\n  chart = \"grafana\"\n  values = [{values}]\n}}\n"
        )
    };
    let karpenter = |comment: &str| {
        format!(
            "resource \"helm_release\" \"k\" {{\n  name = \"k\"\n  chart = \"karpenter\"\n  version = \"1.5.0\"\n  values = [<<-Y\n    settings:\n      clusterNam: q{comment}\n    Y\n  ]\n}}\n"
        )
    };
    for (text, values) in [
        (release("file(\"${path.module}/v.yaml\")"), values.as_str()),
        (release("file(\"${path.module}/v.yaml\")"), listed.as_str()),
        (release(&format!("<<-Y\n{values}Y\n")), ""),
        (decoded.clone(), ""),
        (decoded.replace(&yaml("    ", COMMENT), &above), ""),
        (object.replace("profile/x\"", &format!("profile/x\"{COMMENT}")), ""),
        (object.replace("      instance", &format!("     {COMMENT}\n      instance")), ""),
        (karpenter(" # karpwarden: ignore[helm-values-removed-keys] a test"), ""),
    ] {
        let json = check(&[("main.tf", &text), ("v.yaml", values)]);
        assert_eq!(
            (findings(&json), json["summary"]["checked"].as_u64()),
            (Vec::new(), Some(1)),
            "{text}\n{values}"
        );
        let plain = |text: &str| text.replace("karpwarden:", "other:");
        let json = check(&[("main.tf", &plain(&text)), ("v.yaml", &plain(values))]);
        assert_eq!(findings(&json).len(), 1, "{text}\n{values} {json:#}");
    }
}

#[test]
fn objects_in_values_are_read_behind_functions_and_conditions() {
    let main = |values: &str| {
        format!(
            "variable \"x\" {{}}\nlocals {{\n  object = {}\n}}\nresource \"helm_release\" \"r\" {{\n  name = \"r\"\n  chart = \"grafana\"\n  values = {values}\n}}\n",
            class("{ name = \"x\" }")
        )
    };
    for values in [
        "[yamlencode(merge({ extraObjects = [local.object] }, var.x))]",
        "[yamlencode({ manifests = [local.object] })]",
        "[yamlencode({ rawResources = { a = local.object } })]",
        "[yamlencode({ extraManifests = concat([local.object], var.x) })]",
        "[yamlencode({ extraManifests = var.x ? [local.object] : [] })]",
        "[yamlencode(var.x ? { extraObjects = [local.object] } : {})]",
        "concat([yamlencode({ extraObjects = [local.object] })], var.x)",
        "[var.x ? file(\"${path.module}/v.yaml\") : \"\"]",
        "[<<-Y\n    %{ if var.x }\n    extraObjects: [${jsonencode(local.object)}]\n    %{ endif }\n    Y\n  ]",
    ] {
        let values_file = format!(
            "extraObjects:\n  - metadata: {{name: x}}\n{}",
            yaml("    ", "").replace("    metadata: {name: x}\n", "")
        );
        let json = check(&[("main.tf", &main(values)), ("v.yaml", &values_file)]);
        let found = findings(&json);
        assert!(found.len() == 1 && found[0].starts_with(MISTAKE), "{values} {found:?} {:?}", reasons(&json));
    }
    // A report names the parts that are not read.
    for (values, reason) in [
        (
            "[yamlencode({ extraObjects = var.x })]",
            "`helm_release.r`, not checked: `extraObjects` is known only after Terraform applies `${var.x}`",
        ),
        (
            "[yamlencode({ rawResources = { a = { apiVersion = \"karpenter.sh/v1\", kind = \"NodePool\", spec = { spec = {} } } } })]",
            "`helm_release.r`, not checked: the chart completes the object in `rawResources.a`, which has no `metadata`",
        ),
        (
            "[yamlencode({ extraObjects = concat([local.object], var.x) })]",
            "`helm_release.r`, not checked: `extraObjects` is known only after Terraform applies `${concat([local.object], var.x)}`",
        ),
    ] {
        let json = check(&[("main.tf", &main(values))]);
        assert!(reasons(&json).contains(&reason), "{values} {:?}", reasons(&json));
    }
    // Other values are no objects.
    let json = check(&[(
        "main.tf",
        &main(
            "[yamlencode({ resources = { limits = { cpu = 1 } }, target = { apiVersion = \"apps/v1\", kind = \"Deployment\", name = \"a\" } })]",
        ),
    )]);
    assert_eq!((findings(&json), reasons(&json)), (Vec::new(), Vec::new()));
}

#[test]
fn a_finding_in_a_text_of_the_values_is_on_its_line() {
    let values = format!("extraObjects:\n  - |\n{}", yaml("    ", ""));
    let main = "resource \"helm_release\" \"r\" {\n  name = \"r\"\n  chart = \"grafana\"\n  values = [file(\"${path.module}/v.yaml\")]\n}\n";
    assert_eq!(
        findings(&check(&[("main.tf", main), ("v.yaml", &values)])),
        ["instance-profile-is-arn v.yaml:7"]
    );
}

#[test]
fn an_alias_is_the_scalar_at_its_anchor() {
    let object = yaml("", "").replace("{name: x}", "{name: x, labels: {a: &n 5, b: &q \"7\", c: &t true}}");
    let text = object + "  tags: {a: *n, b: *q, c: *t}\n";
    let main = "resource \"kubernetes_manifest\" \"c\" {\n  manifest = yamldecode(file(\"${path.module}/c.txt\"))\n}\n\
                output \"x\" {\n  value = 1\n}\n";
    let json = check(&[("main.tf", main), ("c.txt", &text)]);
    assert_eq!(
        (findings(&json), reasons(&json)),
        (vec!["instance-profile-is-arn c.txt:5".to_owned()], Vec::new())
    );
}

#[test]
fn values_without_content_hide_nothing() {
    let main = |values: &str| {
        format!(
            "resource \"helm_release\" \"k\" {{\n  name = \"k\"\n  chart = \"karpenter\"\n  version = \"1.5.0\"\n  values = [{values}\"settings: {{clusterNam: q}}\"]\n}}\n"
        )
    };
    let with = |values: &str| findings(&check(&[("main.tf", &main(values))])).len();
    let alone = with("");
    assert!(alone > 0);
    assert_eq!([with("\"\", "), with("\"# nothing\\n\", "), with("null, ")], [alone; 3]);
}

#[test]
fn a_file_that_two_conditions_may_choose_has_a_mistake_once() {
    let main = "variable \"on\" {}\nresource \"kubectl_manifest\" \"a\" {\n  yaml_body = var.on ? file(\"${path.module}/a.txt\") : file(\"${path.module}/b.txt\")\n}\n\
                resource \"kubectl_manifest\" \"b\" {\n  yaml_body = \"%{ if var.on }${file(\"${path.module}/a.txt\")}%{ else }${file(\"${path.module}/b.txt\")}%{ endif }\"\n}\n";
    let text = yaml("", "");
    let files = [("main.tf", main), ("a.txt", text.as_str()), ("b.txt", text.as_str())];
    let json = check(&files);
    assert_eq!(findings(&json), ["instance-profile-is-arn a.txt:5"], "{json:#}");
    // A file that a configuration reads is read, whatever its extension is.
    let shown = Folder::with(&files).run(&["check", ".", "--verbose"]).stdout;
    assert!(!shown.contains("not read"), "{shown}");
}

#[test]
fn elements_that_exclude_each_other_are_one_object() {
    let checked = |for_each: &str| {
        let body = class("{ name = \"x-${each.key}\" }");
        let main = format!(
            "variable \"on\" {{}}\nresource \"kubernetes_manifest\" \"c\" {{\n  for_each = {for_each}\n  manifest = {body}\n}}\n"
        );
        check(&[("main.tf", &main)])["summary"]["checked"].as_u64().unwrap()
    };
    assert_eq!(checked("var.on ? { a = 1 } : { b = 1 }"), 1);
    assert_eq!(checked("var.on ? { a = 1, b = 1 } : { b = 1 }"), 2);
    assert_eq!(checked("{ for k, v in { a = 1, b = 1 } : k => v if var.on }"), 2);
}
