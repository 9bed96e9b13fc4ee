//! Blocks, modules and places of configurations.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::sync::Arc;

use karpwarden_terraform::{
    ConfigurationInput, EvaluatedConfiguration, EvaluatedValue, FolderFiles, InstanceKey, Knowledge,
    root_folders, to_json,
};
use manifest::source::Source;

struct Folder(BTreeMap<&'static str, Arc<Source>>);

impl FolderFiles for Folder {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        self.0.get(path).cloned()
    }

    fn paths(&self) -> Vec<String> {
        self.0.keys().map(|path| (*path).to_owned()).collect()
    }
}

fn folder<const N: usize>(files: [(&'static str, &str); N]) -> Folder {
    Folder(files.map(|(path, text)| (path, Arc::new(Source::new(path, text)))).into())
}

fn evaluate<const N: usize>(files: [(&'static str, &str); N]) -> EvaluatedConfiguration {
    EvaluatedConfiguration::evaluate("", &folder(files), &[])
}

fn addresses(configuration: &EvaluatedConfiguration) -> Vec<&str> {
    configuration.blocks.iter().map(|block| block.address.as_str()).collect()
}

/// The value of an attribute of a block.
fn value<'c>(
    configuration: &'c EvaluatedConfiguration,
    address: &str,
    attribute: &str,
) -> &'c EvaluatedValue {
    let block = configuration.blocks.iter().find(|block| block.address == address);
    let block = block.unwrap_or_else(|| panic!("no {address} in {:?}", addresses(configuration)));
    block.body.get(attribute).unwrap()
}

/// The values of attribute `v` of resource `a.b` in a configuration, as JSON.
fn v(text: &str) -> String {
    let configuration = evaluate([("main.tf", text)]);
    assert_eq!(configuration.problems, []);
    let value = value(&configuration, "a.b", "v");
    assert_eq!(value.knowledge(), Knowledge::Known, "{:?}", value.failure());
    to_json(value)
}

/// The placeholder of attribute `v` of resource `a.b`, and the reason if it failed.
fn placeholder(text: &str) -> (String, Option<String>) {
    let configuration = evaluate([("main.tf", text)]);
    let value = value(&configuration, "a.b", "v");
    let unknown = value.as_unknown().unwrap_or_else(|| panic!("known: {}", to_json(value)));
    let reason = value.failure().map(|failure| failure.message.clone());
    (unknown.text.as_str().to_owned(), reason)
}

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
fn a_local_that_needs_itself_is_a_failure_and_loses_nothing_else() {
    let (text, reason) = placeholder(
        r#"
locals {
  a = "x${local.b}"
  b = local.a
}
resource "a" "b" { v = { broken = local.a, fine = 1 }.broken }
"#,
    );
    assert_eq!(text, "x${local.b}");
    assert_eq!(reason.as_deref(), Some("The local value \"a\" needs itself."));
}

#[test]
fn placeholders_keep_their_names_within_strings() {
    let resource = |v: &str| placeholder(&format!("resource \"a\" \"b\" {{\n  v = {v}\n}}"));
    assert_eq!(resource(r#""role-${module.eks.name}-x""#), ("role-${module.eks.name}-x".to_owned(), None));
    assert_eq!(resource("aws_iam_role.x[0].arn").0, "${aws_iam_role.x[0].arn}");
    assert_eq!(resource(r#"join(",", ["a", data.x.y.z])"#).0, "a,${data.x.y.z}");
    assert_eq!(resource(r#"trimspace(" ${module.m.out} ")"#).0, "${module.m.out}");
    assert_eq!(resource("yamlencode({ a = [module.m.out] })").0, "\"a\":\n- \"${module.m.out}\"\n");
    assert_eq!(resource(r#"format("%s-%s", var.nope, "x")"#).0, "${var.nope}-x");
    let (text, reason) = resource(r#""a-${tonumber("x")}""#);
    assert_eq!(text, r#"a-${tonumber("x")}"#);
    assert!(reason.unwrap().contains("a number is required"));
}

#[test]
fn the_last_value_of_a_key_counts() {
    let configuration = evaluate([(
        "main.tf",
        r#"
locals {
  all = {
    a = 1
    b = 2
    a = 3
    "c" = 4
    "c" = { a = 5, a = 6 }
  }
}
resource "a" "b" { v = local.all }
"#,
    )]);
    assert!(configuration.problems.is_empty(), "{:?}", configuration.problems);
    let value = value(&configuration, "a.b", "v");
    let number = |value: Option<&EvaluatedValue>| value.and_then(|value| value.as_number()?.as_int());
    assert_eq!((number(value.get("a")), number(value.get("b"))), (Some(3), Some(2)));
    assert_eq!(number(value.get("c").and_then(|inner| inner.get("a"))), Some(6));
    assert_eq!(value.members().map(|members| members.as_map().len()), Some(3));
}

#[test]
fn functions_that_change_a_text_do_not_change_the_name_of_a_placeholder() {
    let resource = |v: &str| placeholder(&format!("resource \"a\" \"b\" {{\n  v = {v}\n}}"));
    for changed in [
        r"lower(var.x)",
        r#"upper("A-${var.x}")"#,
        r"title(var.x)",
        r#"trim(var.x, "{}$")"#,
        r#"trimprefix(var.x, "$")"#,
        r#"trimsuffix("https://${var.x}", "}")"#,
        r"basename(aws_iam_role.x.arn)",
        r#"dirname("${var.x}/y")"#,
        r#"replace(var.x, ".", "-")"#,
        r#"replace("a", var.x, "b")"#,
        r#"replace("NA${var.x}", "NAME", "b")"#,
        r#"replace("a ${var.x} b", "/a.*b/", "c")"#,
        r#"replace("a ${var.x}", "var", "c")"#,
        r#"trim("-${var.x}", "-")"#,
        r#"trimprefix("a${var.x}", "ab")"#,
        r#"replace("a", "/a/", var.x)"#,
        r#"format("%.3s", var.x)"#,
        r#"format("%-10s|", var.x)"#,
        r#"format("%5q", var.x)"#,
        r#"format("%03d", var.x)"#,
        r#"join(",", module.m.names)"#,
        r#"join("-", ["a"], module.m.names)"#,
        r#"join("-", [for az in var.azs : "${az}a"])"#,
    ] {
        assert_eq!(resource(changed), (format!("${{{changed}}}"), None));
    }
    for (around, text) in [
        (r#"replace("a-NAME-b", "NAME", var.x)"#, "a-${var.x}-b"),
        (r#"format("%5d%s%q %v", 7, var.x, var.y, var.z)"#, "    7${var.x}\"${var.y}\" ${var.z}"),
        (r#"indent(2, "a:\nb: ${var.x}")"#, "a:\n  b: ${var.x}"),
        (r"jsonencode({ a = var.x })", r#"{"a":"${var.x}"}"#),
        (r#"join("-", ["a"], ["b", var.x])"#, "a-b-${var.x}"),
        (r#"chomp("a: ${var.x}\n")"#, "a: ${var.x}"),
        (r#"trimsuffix("a: ${var.x}\n", "\n")"#, "a: ${var.x}"),
        (r#"trimprefix("---\na: ${var.x}", "---\n")"#, "a: ${var.x}"),
        (r#"trim("\na: ${var.x} b\n", "\n")"#, "a: ${var.x} b"),
        (r#"replace("a: NAME\nb: ${var.x}\n", "NAME", "c")"#, "a: c\nb: ${replace(var.x)}\n"),
        (r#"replace("a: \"7\"\nb: ${var.x}\n", "/\"([0-9]+)\"/", "$1")"#, "a: 7\nb: ${replace(var.x)}\n"),
    ] {
        assert_eq!(resource(around), (text.to_owned(), None));
    }
    let (_, reason) = resource(r#"join("-", ["a"], "b")"#);
    assert!(reason.unwrap().contains("a list is required"));
}

#[test]
fn lines_of_a_here_document_have_their_bytes() {
    let text = "resource \"a\" \"b\" {\n  v = <<-EOT\n    kind: é\n      role: ${var.r}!\n  EOT\n}\nvariable \"r\" { default = \"x\" }\n";
    let configuration = evaluate([("main.tf", text)]);
    let value = value(&configuration, "a.b", "v").as_text().unwrap();
    assert_eq!(value.as_str(), "kind: é\n  role: x!\n");
    let slice = |part: &str| {
        let start = value.as_str().find(part).unwrap();
        configuration.texts.slice(value.place_of(start, start + part.len()).unwrap())
    };
    assert_eq!(slice("é"), "é");
    assert_eq!(slice("role"), "role");
    assert_eq!(slice("x"), "${var.r}");
    assert_eq!(slice("role: x!"), "role: ${var.r}!");
    assert_eq!(slice("kind: é\n  role"), "kind: é\n      role");
}

#[test]
fn a_value_knows_its_use_and_its_literal() {
    let configuration = evaluate([(
        "main.tf",
        r#"
variable "cluster" { default = "prod" }
locals { name = var.cluster }
resource "a" "b" { v = local.name }
"#,
    )]);
    let value = value(&configuration, "a.b", "v");
    assert_eq!(configuration.texts.slice(value.place), "local.name");
    assert_eq!(configuration.texts.slice(value.origin), "\"prod\"");
}

#[test]
fn values_in_files_have_their_places_there() {
    let configuration = evaluate([
        (
            "main.tf",
            r#"resource "a" "b" {
  v = yamldecode(file("${path.module}/pool.yaml"))
  w = yamldecode(templatefile("t.tftpl", { name = "n" }))
}"#,
        ),
        ("pool.yaml", "spec:\n  limits: {cpu: 10}\n"),
        ("t.tftpl", "name: ${name}\nkind: NodePool\n"),
    ]);
    let cpu =
        value(&configuration, "a.b", "v").get("spec").unwrap().get("limits").unwrap().get("cpu").unwrap();
    assert_eq!(configuration.texts.get(cpu.place.text).unwrap().name(), "pool.yaml");
    assert_eq!(configuration.texts.slice(cpu.place), "10");
    let kind = value(&configuration, "a.b", "w").get("kind").unwrap();
    assert_eq!(configuration.texts.get(kind.place.text).unwrap().name(), "t.tftpl");
    assert_eq!(configuration.texts.slice(kind.place), "NodePool");
    let name = value(&configuration, "a.b", "w").get("name").unwrap();
    assert_eq!(configuration.texts.slice(name.place), "${name}");
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
fn a_file_that_is_not_valid_is_a_problem_and_others_are_read() {
    let configuration = evaluate([
        ("broken.tf", "resource \"a\" \"c\" {\n  x = = 1\n}\n"),
        (
            "main.tf",
            "locals {\n  e = <<EOT\nEOT\n  f = 1\n}\nresource \"a\" \"b\" { v = [local.e, local.f] }\n",
        ),
    ]);
    assert_eq!(addresses(&configuration), ["a.b"]);
    assert_eq!(to_json(value(&configuration, "a.b", "v")), r#"["",1]"#);
    let [problem] = configuration.problems.as_slice() else { panic!("{:?}", configuration.problems) };
    let source = configuration.texts.get(problem.place.text).unwrap();
    assert_eq!((source.name(), source.position(problem.place.span().start).line), ("broken.tf", 2));
}

#[test]
fn work_is_bounded() {
    let lines = |count: usize, line: fn(usize) -> String| (1..count).map(line).collect::<Vec<_>>().join("\n");
    let grown = lines(30, |n| format!("l{n} = [local.l{0}, local.l{0}]", n - 1));
    let deep = lines(5000, |n| format!("d{n} = [local.d{}]", n - 1));
    let text = format!(
        r#"
locals {{
  l0 = "0123456789"
  d0 = 1
  {grown}
  {deep}
  s = join("", [for i in range(1000) : join("", [for j in range(100) : "0123456789"])])
  t = join("", [for i in range(1000) : local.s])
}}
resource "a" "b" {{
  v = jsonencode(local.l29)
  w = local.d4999
  x = local.t
  y = can(local.t)
  count = 1000000
}}
"#
    );
    let configuration = evaluate([("main.tf", &text)]);
    for attribute in ["v", "w", "x", "y"] {
        assert!(value(&configuration, "a.b", attribute).knowledge() > Knowledge::Known, "{attribute}");
    }
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
fn json_is_read_as_terraform_reads_it() {
    let json = r#"
  {
  "//": "a comment",
  "locals": [{ "//": "a comment", "name": "${var.name}-x" }, { "literal": "$${a} \/ \ud83d\ude00 \u003e" }],
  "variable": {
    "name": { "type": "string", "default": "prod", "description": "${no template}" },
    "shape": [{ "type": "object({ a = number, b = optional(string, \"c\") })", "default": { "a": "1" } }],
    "raw": { "default": "${not.evaluated}" },
    "secret": { "default": "s", "sensitive": true }
  },
  "resource": {
    "a": {
      "b": [
        {
          "//": { "x": "a comment" },
          "v": ["${local.name}", "${var.shape.b}", "${local.literal}", "${{for k, v in {x = 1} : k => v}}", 1.5, true, null,
            { "${var.name}": "y", "//": "no comment" }, "%{ if var.name == \"prod\" }p%{ else }q%{ endif }"],
          "w": "${var.raw}-${var.secret}",
          "set": [{ "name": "one", "value": 1 }],
          "dynamic": {
            "set": { "for_each": { "k": "v" }, "iterator": "it", "content": { "name": "${it.key}", "inner": { "v": "${it.value}" } } }
          }
        }
      ],
      "none": null,
      "many": { "count": "${1 + 1}", "v": "${count.index}" }
    }
  },
  "module": { "m": { "source": "./m", "in": "${local.name}" } },
  "output": { "o": { "value": "${module.m.out}" } }
}
"#;
    let module = r#"{"variable": {"in": {}}, "output": {"out": {"value": "<${var.in}>"}}, "data": {"d": {"e": {"v": "${var.in}"}}}}"#;
    let files = folder([("main.tf.json", json), ("m/main.tofu.json", module), ("m/other.json", "{")]);
    let configuration = EvaluatedConfiguration::evaluate("", &files, &[]);
    assert_eq!(configuration.problems, []);
    assert_eq!(addresses(&configuration), ["a.b", "a.many[0]", "a.many[1]", "module.m.data.d.e"]);
    assert_eq!(root_folders(&ConfigurationInput::new(&files, 0)), [""]);
    assert_eq!(
        to_json(value(&configuration, "a.b", "v")),
        r#"["prod-x","c","${a} / 😀 \u003e",{"x":1},1.5,true,null,{"//":"no comment","prod":"y"},"p"]"#
    );
    let w = value(&configuration, "a.b", "w").as_unknown().unwrap();
    assert_eq!(w.text.as_str(), "${var.raw}-${var.secret}");
    assert_eq!(value(&configuration, "module.m.data.d.e", "v").as_str(), Some("prod-x"));
    let block = &configuration.blocks[0];
    assert_eq!(configuration.texts.slice(block.place), "\"b\"");
    let sets: Vec<&str> = block.body.blocks.iter().filter_map(|set| set.body.get("name")?.as_str()).collect();
    assert_eq!(sets, ["one", "k"]);
    assert_eq!(block.body.blocks[1].body.blocks[0].body.get("v").unwrap().as_str(), Some("v"));
    let v = value(&configuration, "a.b", "v").items().unwrap();
    assert_eq!(configuration.texts.slice(v[0].place), "local.name");
    let literal = v[2].as_text().unwrap();
    let slash = literal.as_str().find("/ ").unwrap();
    assert_eq!(configuration.texts.slice(literal.place_of(slash, slash + 1).unwrap()), "\\/");
}

#[test]
fn json_that_is_not_valid_has_a_place() {
    for (text, at, reason) in [
        ("{\"locals\": {\"a\": 1,}}", 19, "expected"),
        ("{\"locals\": {\"a\": \"${1 +}\"}}", 23, "invalid"),
        ("{} {}", 3, "more than one value"),
        ("{\"locals\": {\"a\": \"\\u0024{b}\"}}", 18, "an escape"),
    ] {
        let configuration = evaluate([("main.tf.json", text)]);
        let [problem] = configuration.problems.as_slice() else { panic!("{text}") };
        assert_eq!(problem.place.span().start, at, "{text}: {}", problem.message);
        assert!(problem.message.contains(reason), "{}", problem.message);
    }
}

#[test]
fn override_files_change_what_other_files_declare() {
    let main = r#"
variable "a" {
  type    = string
  default = 1
}
variable "b" { default = "b" }
locals {
  c = "c"
  d = "d"
}
output "o" { value = 1 }
module "m" {
  source = "./m"
  in     = "main"
}
resource "a" "b" {
  v = [var.a, var.b, local.c, local.d]
  w = "main"
  count = 2
  set { name = "one" }
  set { name = "two" }
  dynamic "tag" {
    for_each = [1]
    content { n = tag.value }
  }
  other { name = "kept" }
}
"#;
    let first = r#"
variable "a" { default = 2 }
variable "b" { sensitive = true }
locals { c = "override" }
resource "a" "b" {
  w     = "${local.c}-x"
  count = 1
  set { name = "three" }
  dynamic "tag" {
    for_each = []
    content {}
  }
}
resource "a" "absent" {}
"#;
    let second = r#"{"module": {"m": {"in": "json"}}, "resource": {"a": {"b": {"new": "${local.d}"}}}}"#;
    let module = "variable \"in\" {}\nresource \"a\" \"inner\" { v = var.in }\n";
    let configuration = evaluate([
        ("main.tf", main),
        ("override.tf", first),
        ("z_override.tf.json", second),
        ("m/main.tf", module),
    ]);
    assert_eq!(addresses(&configuration), ["a.b[0]", "module.m.a.inner"]);
    let v = value(&configuration, "a.b[0]", "v").items().unwrap();
    assert_eq!(v[0].as_str(), Some("2"));
    assert_eq!(v[1].as_unknown().unwrap().text.as_str(), "${var.b}");
    assert_eq!((v[2].as_str(), v[3].as_str()), (Some("override"), Some("d")));
    let w = value(&configuration, "a.b[0]", "w");
    assert_eq!(w.as_str(), Some("override-x"));
    assert_eq!(configuration.texts.get(w.place.text).unwrap().name(), "override.tf");
    assert_eq!(value(&configuration, "a.b[0]", "new").as_str(), Some("d"));
    assert_eq!(value(&configuration, "module.m.a.inner", "v").as_str(), Some("json"));
    let blocks = &configuration.blocks[0].body.blocks;
    let names: Vec<Option<&str>> =
        blocks.iter().map(|block| block.body.get("name").and_then(EvaluatedValue::as_str)).collect();
    assert_eq!(names, [Some("kept"), Some("three")]);
    let [problem] = configuration.problems.as_slice() else { panic!("{:?}", configuration.problems) };
    assert_eq!(problem.message, "The file overrides `resource.a.absent`, which no other file declares.");
}
