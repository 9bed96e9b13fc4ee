//! Modules, instances, variables and outputs.

use karpwarden_terraform::{EvaluatedConfiguration, InstanceKey, Knowledge, to_json};

use crate::{addresses, evaluate, folder, placeholder, v, value};

#[test]
fn instances_have_the_addresses_that_terraform_prints() {
    let configuration = evaluate([
        (
            "main.tf",
            r#"
resource "a" "one" {}
resource "a" "many" { count = 2 }
resource "a" "each" { for_each = { "x/y" = 1, "q\"" = 2 } }
resource "a" "set" { for_each = toset(["z"]) }
resource "a" "none" { count = 0 }
resource "a" "unknown" { for_each = module.far.names }
data "d" "e" {}
module "far" { source = "terraform-aws-modules/eks/aws" }
module "near" {
  source   = "./near"
  for_each = toset(["p"])
  in       = each.key
}
"#,
        ),
        (
            "near/main.tf",
            r#"
variable "in" {}
resource "a" "inner" { name = var.in }
module "deep" {
  source = "./deep"
  count  = 1
}
"#,
        ),
        ("near/deep/main.tf", r#"resource "a" "deepest" {}"#),
    ]);
    assert_eq!(
        addresses(&configuration),
        [
            "a.one",
            "a.many[0]",
            "a.many[1]",
            r#"a.each["q\""]"#,
            r#"a.each["x/y"]"#,
            r#"a.set["z"]"#,
            "a.unknown",
            "data.d.e",
            "module.far",
            r#"module.near["p"].a.inner"#,
            r#"module.near["p"].module.deep[0].a.deepest"#,
        ]
    );
    assert_eq!(value(&configuration, r#"module.near["p"].a.inner"#, "name").as_str(), Some("p"));
    let unknown = configuration.blocks.iter().find(|block| block.address == "a.unknown").unwrap();
    assert_eq!(unknown.key, InstanceKey::Unknown);
}

#[test]
fn variables_have_the_values_of_the_last_file_that_sets_them() {
    let configuration = EvaluatedConfiguration::evaluate(
        "env",
        &folder([
            (
                "env/main.tf",
                r#"
variable "a" { default = 1 }
variable "b" { default = 1 }
variable "c" { default = 1 }
variable "d" { default = 1 }
variable "e" {}
resource "a" "b" { v = [var.a, var.b, var.c, var.d, "${var.e}"] }
"#,
            ),
            ("env/terraform.tfvars", "b = 2\nc = 2\nd = 2"),
            ("env/x.auto.tfvars.json", r#"{"c": 3, "d": 3}"#),
            ("env/prod.tfvars", "d = 4"),
            ("env/other.tfvars", "a = 5"),
        ]),
        &["env/prod.tfvars".to_owned()],
    );
    let value = value(&configuration, "a.b", "v");
    let items: Vec<String> = value.items().unwrap().iter().map(|item| to_json(&item.spelled())).collect();
    assert_eq!(items, ["1", "2", "3", "4", r#""${var.e}""#]);
}

#[test]
fn optional_attributes_have_their_defaults() {
    let typed = r#"
variable "pools" {
  type = map(object({
    cpu   = number
    types = optional(list(string), ["m5.large"])
    spot  = optional(object({ max = optional(number, 2) }), {})
  }))
  default = { a = { cpu = "1" }, b = { cpu = 2, types = [], spot = { max = 3 } } }
}
resource "a" "b" { v = var.pools }
"#;
    assert_eq!(
        v(typed),
        r#"{"a":{"cpu":1,"spot":{"max":2},"types":["m5.large"]},"b":{"cpu":2,"spot":{"max":3},"types":[]}}"#
    );
}

#[test]
fn outputs_of_modules_are_values_of_the_caller() {
    let configuration = evaluate([
        (
            "main.tf",
            r#"
module "a" {
  source = "./m"
  name   = "x"
}
module "b" {
  source = "./m"
  name   = module.a.full
}
resource "a" "b" { v = [module.b.full, module.b.id] }
"#,
        ),
        (
            "m/main.tf",
            r#"
variable "name" { type = string }
output "full" { value = "${var.name}-full" }
output "id" { value = aws_thing.x.id }
"#,
        ),
    ]);
    let items = value(&configuration, "a.b", "v").items().unwrap();
    assert_eq!(items[0].as_str(), Some("x-full-full"));
    assert_eq!(items[1].as_unknown().unwrap().text.as_str(), "${aws_thing.x.id}");
}

#[test]
fn an_output_is_known_however_its_instance_is_named() {
    // Answers of `terraform console` 1.11.4.
    let main = r#"
module "keyed" {
  source   = "./m"
  for_each = toset(["a", "b"])
  in       = each.key
}
module "counted" {
  source = "./m"
  count  = 2
  in     = "c"
}
module "one" {
  source = "./m"
  in     = "n"
}
resource "a" "b" {
  v = [
    module.keyed.a.arn, module.keyed["a"].arn, module.keyed.b.a.arn, module.keyed.*.a.arn, values(module.keyed)[*].arn,
    module.counted[0].arn, module.counted.0.arn, module.counted[*].a.arn, module.counted.*.arn,
    module.one["arn"], module.one["a"].arn, module.one.a["arn"], module.one[*].arn,
  ]
}
"#;
    let module = "variable \"in\" {}\noutput \"arn\" { value = \"arn-${var.in}\" }\noutput \"a\" { value = { arn = \"x\" } }\n";
    let configuration = evaluate([("main.tf", main), ("m/main.tf", module)]);
    assert_eq!(
        to_json(value(&configuration, "a.b", "v")),
        r#"["arn-a","arn-a","x",["arn-a"],["arn-a","arn-b"],"arn-c","arn-c",["x","x"],["arn-c","arn-c"],"arn-n","x","x",["arn-n"]]"#
    );
}

#[test]
fn modules_use_outputs_of_each_other() {
    let module = |other: &str| {
        format!(
            "variable \"in\" {{ default = \"\" }}\noutput \"own\" {{ value = \"{other}\" }}\noutput \"both\" {{ value = \"{other}-${{var.in}}\" }}\n"
        )
    };
    let main = r#"
module "a" {
  source = "./a"
  in     = module.b["k"].own
}
module "b" {
  source   = "./b"
  for_each = toset(["k"])
  in       = module.a.own
}
resource "a" "b" { v = [module.a.both, module.b["k"].both, values(module.b)[*].both] }
"#;
    let configuration =
        evaluate([("main.tf", main), ("a/main.tf", &module("one")), ("b/main.tf", &module("two"))]);
    let value = value(&configuration, "a.b", "v");
    assert_eq!(value.knowledge(), Knowledge::Known);
    assert_eq!(to_json(value), r#"["one-two","two-one",["two-one"]]"#);
}

#[test]
fn an_output_that_needs_itself_is_not_known() {
    let configuration = evaluate([
        (
            "main.tf",
            "module \"a\" {\n  source = \"./a\"\n  in = module.a.out\n}\nresource \"a\" \"b\" { v = module.a.out }\n",
        ),
        ("a/main.tf", "variable \"in\" {}\noutput \"out\" { value = var.in }\n"),
    ]);
    assert_eq!(value(&configuration, "a.b", "v").knowledge(), Knowledge::Unknown);
}

#[test]
fn dynamic_blocks_are_repeated() {
    let configuration = evaluate([(
        "main.tf",
        r#"
resource "a" "b" {
  plain { x = 1 }
  dynamic "set" {
    for_each = { k = "v", l = "w" }
    content {
      name = "${set.key}=${set.value}"
      dynamic "inner" {
        for_each = [1, 2]
        iterator = it
        content { n = it.value + it.key }
      }
    }
  }
  dynamic "later" {
    for_each = module.m.all
    content { x = later.value.name }
  }
}
"#,
    )]);
    let blocks = &configuration.blocks[0].body.blocks;
    let kinds: Vec<&str> = blocks.iter().map(|block| block.kind.as_str()).collect();
    assert_eq!(kinds, ["plain", "set", "set", "later"]);
    assert_eq!(blocks[2].body.get("name").unwrap().as_str(), Some("l=w"));
    let inner: Vec<String> =
        blocks[1].body.blocks.iter().map(|block| to_json(block.body.get("n").unwrap())).collect();
    assert_eq!(inner, ["1", "3"]);
    assert!(!blocks[3].is_counted);
    let name = blocks[3].body.get("x").unwrap().as_unknown().unwrap();
    assert_eq!(name.text.as_str(), "${later.value.name}");
}

#[test]
fn hidden_values_are_placeholders() {
    for (declaration, value, expected) in [
        ("variable \"x\" {\n  default = \"secret\"\n  sensitive = true\n}", "var.x", "${var.x}"),
        ("variable \"x\" {\n  default = \"secret\"\n  ephemeral = true\n}", "\"a-${var.x}\"", "a-${var.x}"),
        ("locals { x = sensitive(\"secret\") }", "local.x", "${sensitive}"),
        ("locals { x = sensitive(\"secret\") }", "\"a-${local.x}\"", "a-${sensitive}"),
    ] {
        let text = format!("{declaration}\nresource \"a\" \"b\" {{ v = {value} }}\n");
        assert_eq!(placeholder(&text), (expected.to_owned(), None));
    }
    let configuration = evaluate([
        ("main.tf", "module \"m\" { source = \"./m\" }\nresource \"a\" \"b\" { v = module.m.key }\n"),
        ("m/main.tf", "output \"key\" {\n  value = \"secret\"\n  sensitive = true\n}\n"),
    ]);
    let unknown = value(&configuration, "a.b", "v").as_unknown().unwrap();
    assert_eq!(unknown.text.as_str(), "${module.m.key}");
}
