//! Files that cannot be read, bounds, JSON, and override files.

use std::sync::Arc;

use karpwarden_terraform::{
    ConfigurationInput, EvaluatedConfiguration, EvaluatedValue, Knowledge, root_folders, to_json,
};
use manifest::Encoding;
use manifest::source::Source;

use crate::{addresses, evaluate, folder, value};

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
fn functions_of_files_have_their_bytes() {
    let main = r#"resource "a" "b" { v = [
  filesha256("marked.txt"), filesha256("wide.txt"), filebase64("wide.txt"), base64encode(file("marked.txt")),
  yamldecode(file("marked.txt")), try(file("wide.txt"), "refused"), try(templatefile("wide.txt", {}), "refused"),
] }
"#;
    let mut folder = folder([("main.tf", main)]);
    for (name, encoding) in [("marked.txt", Encoding::MarkedUtf8), ("wide.txt", Encoding::Utf16Le)] {
        folder.0.insert(name, Arc::new(Source::new(name, "a: 1\n").encoded(encoding)));
    }
    let configuration = EvaluatedConfiguration::evaluate("", &folder, &[]);
    // `terraform console` 1.11.4 says the same.
    let expected = r#"["a2251b91194014d42d50b16b68de4f25014caa6d9f3c6c3c5a0f3c240080cf6a","50092536f24efd32917c2ab553ede38c205545416e2287a6c93fe9c9aab2bdd3","//5hADoAIAAxAAoA","77u/YTogMQo=",{"a":1},"refused","refused"]"#;
    assert_eq!(to_json(value(&configuration, "a.b", "v")), expected);
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
