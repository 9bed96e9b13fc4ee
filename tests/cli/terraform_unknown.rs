//! Parts of configurations of Terraform that are not known: what is still checked, and what counts as possible.

use serde_json::Value;

use crate::folder::Folder;

/// An EC2NodeClass with a mistake, `metadata` and annotations of it.
fn class(metadata: &str) -> String {
    format!(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: default\n{metadata}spec:\n  instanceProfile: arn:aws:iam::111122223333:instance-profile/x\n  amiSelectorTerms: [{{alias: al2023@latest}}]\n  subnetSelectorTerms: [{{tags: {{a: b}}}}]\n  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]\n"
    )
}

const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n  template:\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]\n";

/// A resource whose body is a template with unknown variables.
fn call(name: &str) -> String {
    format!(
        "resource \"kubectl_manifest\" \"{name}\" {{\n  yaml_body = templatefile(\"${{path.module}}/{name}.tftpl\", {{ a = module.m.a, b = module.m.b, all = module.m.all }})\n}}\n"
    )
}

fn check(files: &[(&str, &str)], options: &[&str]) -> Value {
    let arguments: Vec<&str> = [&["check", ".", "--format", "json"], options].concat();
    Folder::with(files).run(&arguments).json()
}

/// The rules with findings and their severities.
fn rules(json: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = json["findings"].as_array().unwrap().iter();
    findings.map(|finding| format!("{} {}", text(finding, "severity"), text(finding, "rule"))).collect()
}

fn reasons(json: &Value) -> Vec<&str> {
    json["skipped"].as_array().unwrap().iter().filter_map(|skipped| skipped["reason"].as_str()).collect()
}

const ACCEPTED: &str = "    karpwarden/ignore: instance-profile-is-arn -- a test\n";
const REFUSED: [&str; 1] = ["error instance-profile-is-arn"];

#[test]
fn a_suppression_counts_beside_annotations_that_are_not_known() {
    for others in [
        "%{ for k in all ~}\n    ${k}: v\n%{ endfor ~}\n",
        "%{ if a ~}\n    x: v\n%{ endif ~}\n%{ if b ~}\n    y: v\n%{ endif ~}\n",
        "%{ if a ~}\n    x: v\n%{ else ~}\n    y: v\n%{ endif ~}\n",
        "    ${a}: v\n",
        "%{ if a ~}\n  labels: {x: y}\n%{ endif ~}\n%{ if b ~}\n  finalizers: [x/y]\n%{ endif ~}\n",
    ] {
        let rules_of = |annotations: &str| {
            let template = class(&format!("  annotations:\n    example.com/a: b\n{annotations}{others}"));
            rules(&check(&[("main.tf", &call("c")), ("c.tftpl", &template)], &[]))
        };
        assert_eq!(rules_of(""), REFUSED, "{others}");
        assert_eq!(rules_of(ACCEPTED), [""; 0], "{others}");
    }
    // A suppression that only one branch has does not count.
    let template = class(&format!("  annotations:\n    a: b\n%{{ if a ~}}\n{ACCEPTED}%{{ endif ~}}\n"));
    assert_eq!(rules(&check(&[("main.tf", &call("c")), ("c.tftpl", &template)], &[])), REFUSED);
}

#[test]
fn a_suppression_counts_in_annotations_that_merge_with_others() {
    let rules_of = |annotations: &str| {
        let main = format!(
            r#"variable "ann" {{}}
resource "RESOURCE" "c" {{
  BODY({{
    apiVersion = "karpenter.k8s.aws/v1"
    kind       = "EC2NodeClass"
    metadata   = {{ name = "x", annotations = {annotations} }}
    spec = {{
      instanceProfile            = "arn:aws:iam::1:instance-profile/x"
      amiSelectorTerms           = [{{ alias = "al2023@latest" }}]
      subnetSelectorTerms        = [{{ tags = {{ a = "b" }} }}]
      securityGroupSelectorTerms = [{{ tags = {{ a = "b" }} }}]
    }}
  }})
}}
"#
        );
        let of = |resource: &str, body: &str| {
            rules(&check(&[("main.tf", &main.replace("RESOURCE", resource).replace("BODY", body))], &[]))
        };
        [of("kubectl_manifest", "yaml_body = yamlencode"), of("kubernetes_manifest", "manifest = merge")]
    };
    let known = r#"{ "karpwarden/ignore" = "instance-profile-is-arn -- a test" }"#;
    for annotations in [
        known.to_owned(),
        format!("merge({known}, var.ann)"),
        format!("merge(var.ann, {known})"),
        format!("merge({{ a = \"b\" }}, {known}, {{ (var.ann) = \"x\" }})"),
    ] {
        assert_eq!(rules_of(&annotations), [[""; 0], [""; 0]], "{annotations}");
    }
    assert_eq!(rules_of("merge({ a = \"b\" }, var.ann)"), [REFUSED, REFUSED]);
}

#[test]
fn an_object_that_is_not_evaluated_may_be_there() {
    let pool = format!("resource \"kubectl_manifest\" \"p\" {{\n  yaml_body = <<-EOT\n{POOL}  EOT\n}}\n");
    let dangling = ["error nodeclass-ref-dangling"];
    let complete = |others: &str, template: &str| {
        let main = format!("variable \"x\" {{}}\n{pool}{others}");
        rules(&check(&[("main.tf", &main), ("c.tftpl", template)], &["--complete"]))
    };
    let class = class("").replace("arn:aws:iam::111122223333:instance-profile/", "");
    let within = |start: &str, end: &str| complete(&call("c"), &format!("{start}{class}{end}"));
    assert_eq!(within("%{ if a ~}\n", "%{ endif ~}\n"), [""; 0]);
    assert_eq!(within("%{ for k in all ~}\n---\n", "%{ endfor ~}\n"), [""; 0]);
    assert_eq!(within("kind: A\n%{ if a ~}\n---\n", "%{ endif ~}\n"), [""; 0]);
    let unknown = "resource \"kubectl_manifest\" \"c\" {\n  yaml_body = var.x\n}\n";
    assert_eq!(complete(unknown, "a: b\n"), [""; 0]);
    let counted = |count: &str| {
        let resource = format!(
            "resource \"kubectl_manifest\" \"c\" {{\n  count     = {count}\n  yaml_body = <<-EOT\n{class}  EOT\n}}\n"
        );
        complete(&resource, "a: b\n")
    };
    assert_eq!(counted("var.x ? 1 : 0"), [""; 0]);
    // A resource without an instance makes no object.
    assert_eq!(counted("0"), dangling);
    assert_eq!(complete("", "a: b\n"), dangling);
}

#[test]
fn fields_that_may_be_empty_do_not_exclude_each_other_in_a_template_without_a_call() {
    let template = |field: &str| {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  role: {field}\n  instanceProfile: ${{profile}}\n  amiSelectorTerms: [{{alias: al2023@latest}}]\n  subnetSelectorTerms:\n  - id: {field}\n    tags: ${{tags}}\n  securityGroupSelectorTerms:\n  - id: {field}\n    tags: {{a: b}}\n"
        )
    };
    let rules_of = |name: &str, field: &str| rules(&check(&[(name, &template(field))], &[]));
    assert_eq!(rules_of("a.yaml.tftpl", "${x}"), [""; 0]);
    assert_eq!(rules_of("a.yaml.tpl", "${x}"), [""; 0]);
    assert_eq!(rules_of("a.yaml.tftpl", "subnet-${x}"), ["error selector-term-id-mixed"]);
}

#[test]
fn a_template_that_an_unknown_text_is_made_of_is_listed_once() {
    let template = format!("{}---\nkind: A\n%{{ if a ~}}\nb: c\n%{{ endif ~}}\n", class(""));
    let listed = |body: &str| {
        let main = format!("resource \"kubectl_manifest\" \"c\" {{\n  yaml_body = {body}\n}}\n");
        let json = check(&[("main.tf", &main), ("c.tftpl", &template)], &[]);
        let reasons = reasons(&json).into_iter().map(str::to_owned).collect::<Vec<_>>();
        (rules(&json), json["summary"]["documents"].as_i64().unwrap(), reasons)
    };
    let call = r#"templatefile("${path.module}/c.tftpl", { a = module.m.a })"#;
    let (rules, documents, reasons) = listed(&format!(r#"replace({call}, "x", module.m.x)"#));
    assert_eq!((rules.len(), documents, reasons.len()), (0, 1, 1), "{reasons:?}");
    assert!(reasons[0].starts_with("`kubectl_manifest.c`, not checked: `yaml_body` is known only after"));
    let (_, documents, reasons) = listed(&format!("base64encode({call})"));
    assert_eq!((documents, reasons.len()), (1, 1), "{reasons:?}");
}

#[test]
fn an_instance_with_unknown_values_hides_no_other_instance() {
    let class = class("").replace("arn:aws:iam::111122223333:instance-profile/x", "${var.profile}");
    let module = format!(
        "variable \"profile\" {{}}\nresource \"kubectl_manifest\" \"c\" {{\n  yaml_body = <<-EOT\n{class}  EOT\n}}\n"
    );
    let call =
        |name: &str, argument: &str| format!("module \"{name}\" {{\n  source = \"./m\"\n  {argument}\n}}\n");
    let arn = "profile = \"arn:aws:iam::111122223333:instance-profile/x\"";
    let rules_of = |main: &str| rules(&check(&[("main.tf", main), ("m/main.tf", &module)], &[]));
    assert_eq!(rules_of(&call("b", arn)), REFUSED);
    assert_eq!(rules_of(&(call("a", "") + &call("b", arn))), REFUSED);
}

#[test]
fn each_object_that_is_not_read_has_a_reason() {
    let object =
        r#"yamlencode({ apiVersion = "karpenter.sh/v1", kind = "NodePool", metadata = { name = "a" } })"#;
    let file =
        format!("resource \"local_file\" \"pool\" {{\n  filename = \"a.yaml\"\n  content  = {object}\n}}\n");
    let reason = "`local_file.pool`, not checked: `local_file` applies no object, and `content` is only text";
    assert_eq!(reasons(&check(&[("main.tf", &file)], &[])), [reason]);
    let release =
        "resource \"helm_release\" \"karpenter\" {\n  name  = \"karpenter\"\n  chart = var.chart\n}\n";
    let reason =
        "`helm_release.karpenter`, not checked: `chart` is known only after Terraform applies `${var.chart}`";
    assert_eq!(reasons(&check(&[("main.tf", release)], &[])), [reason]);
    let policy = |name: &str| {
        format!("resource \"aws_iam_policy\" \"{name}\" {{\n  count  = 0\n  policy = jsonencode({{}})\n}}\n")
    };
    let json = check(&[("main.tf", &(policy("karpenter") + &policy("other"))), ("pool.yaml", POOL)], &[]);
    let reason = "`aws_iam_policy.karpenter` makes no object: `count` is 0";
    assert_eq!(reasons(&json), [reason]);
    let state = r#"{"version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "a", "resources": [{"type": "kubectl_manifest", "name": "karpenter"}]}"#;
    let named = Folder::with(&[("terraform.tfstate", state)]).run(&[
        "check",
        "terraform.tfstate",
        "--format",
        "json",
    ]);
    let reason = "state of Terraform, not checked: check the output of `terraform show -json`";
    assert_eq!(reasons(&named.json()), [reason]);
}

#[test]
fn objects_after_the_limit_of_steps_are_not_silently_lost() {
    let loop_of = "locals {\n  a = range(1000)\n  b = [for x in local.a : [for y in local.a : [for z in local.a : \"${x}${y}${z}\"]]]\n}\n";
    let pool = |name: &str, size: &str| {
        format!(
            "resource \"kubernetes_manifest\" \"{name}\" {{\n  manifest = {{ apiVersion = \"karpenter.sh/v1\", kind = \"NodePool\", metadata = {{ name = \"{name}\", labels = {{ x = {size} }} }} }}\n}}\n"
        )
    };
    let main = loop_of.to_owned() + &pool("a", "length(local.b)") + &pool("b", "1");
    let reason = "Terraform, not evaluated, only its here-documents are read: The configurations of the input take too many steps to evaluate";
    assert!(reasons(&check(&[("main.tf", &main)], &[])).contains(&reason));
}

#[test]
fn a_text_within_a_directive_is_named_with_its_line() {
    let main = r#"resource "kubectl_manifest" "c" {
  yaml_body = <<-EOT
    %{ if module.m.a ~}
    apiVersion: v1
    kind: A
    %{ endif ~}
  EOT
}
"#;
    let reason = "`kubectl_manifest.c`, not checked: a directive in `yaml_body` (main.tf:3) is known only after Terraform applies `${module.m.a}`";
    assert_eq!(reasons(&check(&[("main.tf", main)], &[])), [reason]);
    let json = check(&[("main.tf", &call("c")), ("c.tftpl", "%{ if a ~}\nkind: A\n%{ endif ~}\n")], &[]);
    let reason = "`kubectl_manifest.c`, not checked: a directive in `yaml_body` (c.tftpl:1) is known only after Terraform applies `${a}`";
    assert_eq!(reasons(&json), [reason]);
}

/// The effects of the changes between two templates.
fn effects(main: [&str; 2], template: [&str; 2]) -> Vec<String> {
    let files = [
        ("old/main.tf", main[0]),
        ("new/main.tf", main[1]),
        ("old/c.tftpl", template[0]),
        ("new/c.tftpl", template[1]),
    ];
    let json = Folder::with(&files).run(&["plan", "old", "new", "--format", "json"]).json();
    let changes = json["changes"].as_array().unwrap().iter();
    let effects = changes.map(|change| change["effect"].as_str().unwrap_or_default().to_owned());
    let mut effects: Vec<String> = effects.collect();
    effects.sort();
    effects
}

#[test]
fn a_plan_does_not_say_that_an_object_with_an_unknown_name_goes() {
    let main = call("c");
    let named = |name: &str| POOL.replace("name: default}\nspec", &format!("name: '{name}'}}\nspec"));
    let effects = |old: &str, new: &str| effects([&main, &main], [&named(old), &named(new)]);
    assert_eq!(
        effects("%{ if a }x%{ else }y%{ endif }", "%{ if a }x%{ else }z%{ endif }"),
        ["new-nodes", "unknown"]
    );
    assert_eq!(effects("x", "%{ if a }x%{ else }z%{ endif }"), ["new-nodes", "unknown"]);
    assert_eq!(effects("%{ if a }x%{ else }z%{ endif }", "x"), ["new-nodes", "unknown"]);
    assert_eq!(effects("x", "y"), ["new-nodes", "removes-nodes"]);
    assert_eq!(effects("%{ if a }x%{ endif }", "%{ if a }x%{ endif }"), [""; 0]);
}

#[test]
fn a_plan_sees_what_a_function_is_given() {
    let script = |line: &str| format!("#!/bin/bash\n%{{ if a ~}}\n{line}\n%{{ endif ~}}\n");
    let main = |argument: &str, value: &str| {
        format!(
            r#"locals {{
  script = templatefile("${{path.module}}/c.tftpl", {{ a = {argument} }})
}}
resource "kubectl_manifest" "m" {{
  yaml_body = yamlencode({{ apiVersion = "karpenter.k8s.aws/v1", kind = "EC2NodeClass", metadata = {{ name = "default" }}, spec = {{
    role = "r", amiSelectorTerms = [{{ alias = "al2023@latest" }}], subnetSelectorTerms = [{{ tags = {{ a = "b" }} }}],
    securityGroupSelectorTerms = [{{ tags = {{ a = "b" }} }}], userData = {value} }} }})
}}
"#
        )
    };
    for value in [
        "base64encode(local.script)",
        "local.script",
        "upper(local.script)",
        "\"x ${base64encode(local.script)}\"",
    ] {
        let main = main("module.m.a", value);
        assert_eq!(effects([&main, &main], [&script("a"), &script("b")]), ["unknown"], "{value}");
        assert_eq!(effects([&main, &main], [&script("a"), &script("a")]), [""; 0], "{value}");
    }
    // The parameter of the template is another condition.
    let (old, new) = (main("module.m.a", "local.script"), main("!module.m.a", "local.script"));
    assert_eq!(effects([&old, &new], [&script("a"), &script("a")]), ["unknown"]);
}
