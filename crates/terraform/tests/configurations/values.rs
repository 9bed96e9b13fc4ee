//! Values, placeholders, and the places of both.

use karpwarden_terraform::{ConfigurationInput, EvaluatedConfiguration, EvaluatedValue};

use crate::{evaluate, folder, placeholder, v, value};

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
fn the_last_value_of_a_key_that_is_an_expression_counts() {
    let main = r#"
locals {
  n = "k"
  all = {
    "x${1}" = 1
    "x${1}" = 2
    "${local.n}" = 3
    "${local.n}" = 4
    (local.n == "k" ? "a\")" : "b") = 5
    (local.n == "k" ? "a\")" : "b") = 6
    "y${join("}", ["\"", "z"])}" = 7
    "y${join("}", ["\"", "z"])}" = 8
  }
}
resource "a" "b" { v = local.all }
"#;
    // `terraform console` 1.11.4 says the same.
    assert_eq!(v(main), r#"{"a\")":6,"k":4,"x1":2,"y\"}z":8}"#);
}

#[test]
fn names_for_a_comparison_show_the_contents_that_an_expression_does_not() {
    let name = |script: &str, v: &str| {
        let main = format!(
            "locals {{\n  a = \"x\"\n  b = module.m.b\n  list = [module.m.b, \"y\"]\n}}\nresource \"a\" \"b\" {{ v = {v} }}\n"
        );
        let folder = folder([("main.tf", main.as_str()), ("script.tftpl", script)]);
        let input = ConfigurationInput::new(&folder, 0).with_contents_in_names();
        let configuration = EvaluatedConfiguration::evaluate_within("", &input, &[]);
        value(&configuration, "a.b", "v").as_unknown().unwrap().text.as_str().to_owned()
    };
    let (old, new) = ("echo\n%{ if c }a%{ endif }\n", "echo\n%{ if c }b%{ endif }\n");
    for v in [
        r#"base64encode(templatefile("script.tftpl", { c = module.m.c }))"#,
        r#"module.m.c ? templatefile("script.tftpl", { c = module.m.c }) : "x""#,
        r#"[templatefile("script.tftpl", { c = module.m.c })][module.m.c]"#,
        r#""${upper(templatefile("script.tftpl", { c = module.m.c }))}-x""#,
        r#"csvdecode(templatefile("script.tftpl", { c = module.m.c }))"#,
    ] {
        assert_eq!(name(old, v), name(old, v), "{v}");
        assert_ne!(name(old, v), name(new, v), "{v}");
    }
    // The condition of a template is a parameter.
    let call = |c: &str| format!(r#"templatefile("script.tftpl", {{ c = {c} }})"#);
    assert_ne!(name(old, &call("module.m.c")), name(old, &call("!module.m.c")));
    // The expression shows the value, so that its name needs no fingerprint.
    assert_eq!(name("", "upper(module.m.c)"), "${upper(module.m.c)}");
    assert_eq!(name("", r#"format("%s", upper("a-${module.m.c}"))"#), r#"${upper("a-${module.m.c}")}"#);
    assert_ne!(name("", "upper(local.b)"), "${upper(local.b)}");
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
fn an_alias_has_the_text_of_its_own_anchor() {
    let yaml = r#"<<Y
a: &x 10
# was: &x 500
b: *x
c: &y [*x, yes, "yes"]
# &x 7
d: *y
e: &x !!str 5
Y"#;
    let decoded = |yaml: &str| v_of(&format!("yamldecode({yaml}\n)"));
    assert_eq!(
        decoded(&yaml.replace("!!str 5", "|\n  5\nf: *x")),
        r#"{"a":10,"b":10,"c":[10,true,"yes"],"d":[10,true,"yes"],"e":"5\n","f":"5\n"}"#
    );
    // Terraform may know what a tag makes of a scalar.
    let tagged = yaml.replace("!!str 5", "!!str 5\nf: *x");
    let text = format!("resource \"a\" \"b\" {{\n  v = yamldecode({tagged}\n)\n}}");
    assert_eq!(placeholder(&text).1, None);
}

/// A string that got too long is not a part of the strings that refer to it: each of them would hold its megabytes.
#[test]
fn a_string_that_is_too_long_has_only_the_name_of_its_end() {
    let doubled: Vec<_> =
        (1..100).map(|n| format!("l{n} = \"${{local.l{0}}}${{local.l{0}}}\"", n - 1)).collect();
    let text = format!(
        "locals {{\n  l0 = \"0123456789\"\n{}\n}}\nresource \"a\" \"b\" {{\n  v = \"${{local.l90}}-${{local.l40}}\"\n}}\n",
        doubled.join("\n")
    );
    let (text, reason) = placeholder(&text);
    assert!(text.len() < 100 && text.contains("${local.l"), "{} bytes", text.len());
    assert_eq!(reason.as_deref(), Some("The string is too long."));
}

/// All instances share the value of `for_each`. If each of them evaluated it, the steps would not suffice.
#[test]
fn each_of_many_instances_is_evaluated() {
    let names: Vec<_> = (0..1000).map(|n| format!("\"name-${{1000 + {n}}}\"")).collect();
    let text =
        format!("resource \"a\" \"b\" {{\n  for_each = toset([{}])\n  v = each.key\n}}\n", names.join(", "));
    let configuration = evaluate([("main.tf", &text)]);
    let last = configuration.blocks.last().unwrap();
    assert_eq!(last.body.get("v").and_then(EvaluatedValue::as_str), Some("name-1999"));
    assert_eq!(configuration.blocks.len(), 1000);
}

#[test]
fn tables_and_instants_are_values() {
    assert_eq!(
        v_of("csvdecode(\"name,cpu\\na,\\\"1,5\\\"\\n\\nb,\\n\")"),
        r#"[{"cpu":"1,5","name":"a"},{"cpu":"","name":"b"}]"#
    );
    assert_eq!(v_of("csvdecode(\"a,b\")"), "[]");
    assert_eq!(v_of("timeadd(\"2026-01-01T00:00:00Z\", \"36h\")"), "\"2026-01-02T12:00:00Z\"");
    let names: Vec<String> = (0..15_000).map(|column| format!("c{column}")).collect();
    let (header, row) = (names.join(","), vec!["x"; names.len()].join(","));
    assert_eq!(v_of(&format!("csvdecode(\"{header}\\n{row}\")[0].c14999")), "\"x\"");
    let failure = |v: &str| placeholder(&format!("resource \"a\" \"b\" {{\n  v = {v}\n}}")).1;
    let twice = failure(&format!("csvdecode(\"{header},c14999,c1\\n\")"));
    assert_eq!(twice.as_deref(), Some("csvdecode: Two columns have the name \"c14999\"."));
    for v in [
        "csvdecode(\"a,a\\n1,2\")",
        "csvdecode(\"a\\n1,2\")",
        "csvdecode(\"a\\nx\\\"y\")",
        "timeadd(\"2026-01-01T00:00:00Z\", \"1d\")",
    ] {
        assert!(failure(v).is_some(), "{v}");
    }
    // Only Terraform knows how it writes an instant with an offset.
    assert_eq!(failure("timeadd(\"2026-01-01T00:00:00+01:00\", \"1h\")"), None);
}

fn v_of(value: &str) -> String {
    v(&format!("resource \"a\" \"b\" {{\n  v = {value}\n}}"))
}
