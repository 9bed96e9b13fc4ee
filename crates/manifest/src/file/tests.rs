use std::fmt::Write as _;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{Document, File};
use crate::encoding::Encoding;
use crate::error::ReadError;
use crate::limits::{Exceeded, Limits};
use crate::options::ReadOptions;
use crate::tree::Node;

/// Options for texts whose strings under `values` hold documents.
const EMBEDDED: ReadOptions =
    ReadOptions { holds_document: |string| string.key() == "values", ..ReadOptions::DEFAULT };

/// One line per document: its value as JSON, or the location and message of its error.
fn read(name: &str, text: &str) -> String {
    let file = File::read(name, text, &Limits::DEFAULT);
    let lines = file.documents.iter().map(|document| match document {
        Document::Read(tree) => tree.root().to_json().to_string(),
        Document::Template(span) => format!("line {}: template", file.source.position(span.start).line),
        Document::Script(span) => {
            format!("line {}: script", file.source.position(span.start).line)
        }
        Document::Unevaluated { span, reason } | Document::Absent { span, reason } => {
            format!("line {}: {reason}", file.source.position(span.start).line)
        }
        Document::Deleted(span) => format!("line {}: deleted", file.source.position(span.start).line),
        Document::Unreadable { at, error } => {
            let position = file.source.position(*at);
            format!("{}:{}: {error}", position.line, position.column)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn syntax_error_affects_one_document_only() {
    assert_snapshot!(read("-", "---\na: 1\n---\nb: [1\n---\n# nothing\n---\nc: 3\n...\n"), @r#"
    {"a":1}
    4:4: not valid YAML: this `[` is never closed; add `]`
    {"c":3}
    "#);
}

#[test]
fn directive_applies_to_next_document() {
    assert_snapshot!(read("-", "%YAML 1.1\n---\na: on\n"), @r#"{"a":true}"#);
}

#[test]
fn recognizes_templates() {
    let text = "a: {{ .Values.x }}\n---\n{{- if .Values.y }}\nb: 1\n{{- end }}\n---\nc: '{{ kept }}'\n---\nd: [ # {{\n";
    assert_snapshot!(read("-", text), @r#"
    line 1: template
    line 3: template
    {"c":"{{ kept }}"}
    9:4: not valid YAML: this `[` is never closed; add `]`
    "#);
}

#[test]
fn recognizes_templates_that_break_the_syntax() {
    for (text, expected) in [
        ("a: 1\n%{ if b ~}\nb: 2\n%{ endif ~}\n", "line 2: template"),
        ("a:\n  ${indent(2, yaml)}\nb: [1\n", "line 2: template"),
        ("{% if b %}\na: 1\n{% endif %}\n", "line 1: template"),
        ("a: 1\n<% if b %>\nb: 2\n<% end %>\n", "line 2: template"),
    ] {
        assert_eq!(read("-", text), expected, "{text}");
    }
    assert_snapshot!(read("-", "a: ${b}\nc: [d, '${e}']\n"), @r#"{"a":"${b}","c":["d","${e}"]}"#);
    // A syntax error far from a placeholder is not the template's.
    assert_snapshot!(read("-", "a: ${b}\nc: 1\nd: 2\ne: [1\n"), @"4:4: not valid YAML: this `[` is never closed; add `]`");
    assert_snapshot!(read("-", "# {% x %}\na: [1\n"), @"2:4: not valid YAML: this `[` is never closed; add `]`");
}

/// The forms of `modules/karpenter/templates/nodepool_runners.tpl` of minasaeedbasta/terraform-eks-karpenter, which has a list of one
/// expression, of nodepool.tftpl of shashimal/terraform-eks-karpenter, which has lines of expressions, and of modules/karpenter of
/// truemark/terraform-aws-eks, which has `jsonencode`.
#[test]
fn reads_expressions_as_values() {
    assert_snapshot!(read("-", "a: [${zones}a, \"${b}\"] # the zones\n"), @r#"{"a":["${zones}a","${b}"]}"#);
    assert_snapshot!(read("-", "a: ${jsonencode({b: 1, c = [\"d\"]})}\nb: [${x}]\nd: |\n  e ${f}\n  g\nh: \"i\\t${j}\"\n"), @r#"{"a":"${jsonencode({b: 1, c = [\"d\"]})}","b":["${x}"],"d":"e ${f}\ng\n","h":"i\t${j}"}"#);
    assert_snapshot!(read("-", "a:\n  ${indent(2, yaml)}\nb: [${c}, ${c}]\n${d}: {${e}: 1}\n"), @r#"{"${d}":{"${e}":1},"a":"${indent(2, yaml)}","b":["${c}","${c}"]}"#);
    assert_snapshot!(read("pool.sh", "kubectl apply -f - <<EOF\na: [${X}]\nEOF\n"), @r#"{"a":["${X}"]}"#);
    // With another mistake, or with a directive, the text stays a template.
    assert_snapshot!(read("-", "a: [${x}]\nb: [\n"), @"2:4: not valid YAML: this `[` is never closed; add `]`");
    assert_snapshot!(read("-", "a: [${x}]\n%{ if b }\nc: 1\n%{ endif }\n"), @"line 2: template");
    let file = File::read("-", "a: 1\n---\nb: [${zones}a]\n", &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.get(1) else { panic!("{:?}", file.documents) };
    let item = tree.root().get("b").and_then(|list| list.items().next()).unwrap();
    assert_eq!((item.as_str(), item.spelling()), (Some("${zones}a"), "${zones}a"));
    let edit = crate::edit::Change::Set(item, "c".to_owned()).edit().unwrap();
    assert_eq!(crate::edit::reparse(tree, &[edit]).unwrap().root().to_json().to_string(), r#"{"b":["c"]}"#);
}

#[test]
fn names_conflict_markers() {
    let conflict = "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> main\n";
    assert_snapshot!(read("-", &format!("c: 1\n---\n{conflict}---\nd: '{{{{ x }}}}'\n")), @r#"
    {"c":1}
    4:1: Git conflict marker `<<<<<<<`; resolve the conflict and remove the markers
    {"d":"{{ x }}"}
    "#);
    assert_snapshot!(read("a.json", "{\n<<<<<<< HEAD\n\"b\": 1\n=======\n\"b\": 2\n>>>>>>> main\n}\n"), @"2:1: Git conflict marker `<<<<<<<`; resolve the conflict and remove the markers");
    assert_snapshot!(read("-", "a: |\n  <<<<<<< HEAD\n  =======\n"), @r#"{"a":"<<<<<<< HEAD\n=======\n"}"#);
    assert_snapshot!(read("-", "a: [1\n========\n"), @"1:4: not valid YAML: this `[` is never closed; add `]`");
}

#[test]
fn reads_manifests_in_here_documents() {
    let script = "#!/bin/bash\nset -e\ncat <<EOF | kubectl apply -f -\na: ${X}\n---\nb: 2\nEOF\nkubectl get x\n\
                  kubectl apply -f - <<-'END'\nc: '$Y'\n\tEND\ncat > notes.txt <<EOF\nb: [ not yaml\nEOF\n";
    assert_snapshot!(read("apply.sh", script), @r#"
    {"a":"${X}"}
    {"b":2}
    {"c":"$Y"}
    line 13: script
    "#);
    assert_eq!(read("-", script), read("apply.sh", script));
    let file = File::read("-", script, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("the manifest is read") };
    assert_eq!(file.source.slice(tree.root().span()), "a: ${X}");
}

#[test]
fn here_document_of_kubectl_delete_is_no_manifest() {
    let script = r"#!/bin/bash
kubectl delete -f - <<EOF
a: 1
EOF
cat <<EOF | \
  kubectl delete -f -
b: 2
EOF
kubectl apply \
  -f - <<EOF
c: 3
EOF
";
    assert_snapshot!(read("cleanup.sh", script), @r#"
    line 3: deleted
    line 7: deleted
    {"c":3}
    "#);
}

#[test]
fn broken_here_document_is_reported_unless_the_shell_replaces_parts() {
    for (delimiter, body, expected) in [
        ("EOF", "a: [1", "2:4: not valid YAML"),
        ("'EOF'", "a: ${X}\nb: 1\nc: [1", "4:4: not valid YAML"),
        ("EOF", "a: ${X}\nb: 1\nc: [1", "line 4: template"),
        ("EOF", "a: \"\\$X\"", "line 2: template"),
        ("'EOF'", "a: [1", "2:4: not valid YAML"),
    ] {
        let said = read("-", &format!("kubectl apply -f - <<{delimiter}\n{body}\nEOF\n"));
        assert!(said.starts_with(expected), "{body}: {said}");
    }
}

#[test]
fn here_document_whose_tabs_the_shell_removes_is_not_checked() {
    let read_with = |opening: &str| {
        let script = format!("if true; then\n\t{opening}\n\tapiVersion: v1\n\ta:\n\t  b: 1\n\tEOF\nfi\n");
        File::read("apply.sh", script, &Limits::DEFAULT).documents
    };
    for opening in ["kubectl apply -f - <<-EOF", "show <<-'EOF'"] {
        let documents = read_with(opening);
        let [Document::Unevaluated { reason, .. }] = documents.as_slice() else { panic!("{documents:?}") };
        assert!(reason.contains("removes the tabs"), "{reason}");
    }
}

#[test]
fn here_document_of_terraform_with_tabs_is_told() {
    let text = "locals {\n  pool = <<-EOF\n\t\tapiVersion: v1\n\t\ta:\n\t\t  b: 1\n\tEOF\n}\n";
    assert_eq!(read("main.tf", text), "line 3: here-document, not checked: tabs indent its lines");
    assert_eq!(read("main.tf", &text.replace("apiVersion", "version")), "line 3: script");
}

#[test]
fn script_without_a_manifest_is_one_document() {
    for (name, text) in [
        ("-", "#!/usr/bin/env bash\nset -e\nif [ -z \"$X\" ]; then exit 1; fi\n"),
        ("a.sh", "echo a: b\n"),
        ("main.tf", "resource \"a\" \"b\" {\n  c = 1\n}\n"),
    ] {
        assert_eq!(read(name, text), "line 1: script", "{text}");
    }
    assert_snapshot!(read("-", "#!/bin/sh\na: 1\n"), @r#"{"a":1}"#);
    // A script within a manifest belongs to the manifest.
    assert_snapshot!(read("-", "a: |\n  #!/bin/sh\n  cat <<EOF\n  b: 1\n  EOF\n"), @r##"{"a":"#!/bin/sh\ncat <<EOF\nb: 1\nEOF\n"}"##);
    assert_snapshot!(read("-", "a: &x {b: 1}\nc:\n  <<: *x\n"), @r#"{"a":{"b":1},"c":{"b":1}}"#);
}

#[test]
fn reads_manifests_in_terraform() {
    let text = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-YAML\n    a: ${var.x}\n    b: 2\n  YAML\n}\n";
    assert_snapshot!(read("main.tf", text), @r#"{"a":"${var.x}","b":2}"#);
    assert_eq!(read("main.tf", &text.replace("b: 2", "%{ if x }")), "line 4: template");
}

/// The form of userdocs/src/usage/eksctl-karpenter.md of eksctl-io/eksctl, of `KARPENTER_README-starthere.md` of shlapolosa/idp, whose
/// shell blocks have here-documents, and of a block in a list.
const GUIDE: &str = r#"# Install

```yaml
a: ${CLUSTER_NAME}
---
b: 2
```

The part that matters:

```yaml
spec:
  ...
  c: 3
```

1. Apply it:

   ```bash
   cat <<EOF | kubectl apply -f -
   d: "${X}"
   ---
   e: [5]
   EOF
   kubectl get d
   ```
2. Or:

   ``` {.json}
   {"f": "6"}
   ```

```console
$ kubectl delete -f - <<EOF
g: 7
EOF
```

```hcl
h = 8
```
"#;

#[test]
fn reads_manifests_in_code_blocks_of_markdown() {
    assert_snapshot!(read("README.md", GUIDE), @r#"
    {"a":"${CLUSTER_NAME}"}
    {"b":2}
    line 14: code block, not checked: not valid YAML: a second `: ` in one value; quote the value
    {"d":"${X}"}
    {"e":[5]}
    {"f":"6"}
    line 35: deleted
    "#);
    assert_eq!(read("guide.MDX", GUIDE), read("README.md", GUIDE));
    let file = File::read("README.md", GUIDE, &Limits::DEFAULT);
    let places = file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => {
            tree.root().children().next().map(|node| file.source.position(node.span().start))
        }
        _ => None,
    });
    assert_eq!(
        places.map(|place| (place.line, place.column)).collect::<Vec<_>>(),
        [(4, 4), (6, 4), (21, 7), (23, 7), (30, 10)]
    );
    let options = ReadOptions { is_manifest: |root| root.get("e").is_some(), ..ReadOptions::DEFAULT };
    let file = File::read("README.md", GUIDE, options);
    assert_eq!(file.documents.iter().filter(|document| matches!(document, Document::Read(_))).count(), 1);
    assert_eq!(read("README.md", "# Title\n\n```sh\nls\n```\n```yaml\n- a\n```\n"), "");
}

#[test]
fn edits_in_a_code_block_stay_in_it() {
    let file = File::read("README.md", GUIDE, &Limits::DEFAULT);
    let fixed = file.documents.iter().filter_map(|document| {
        let Document::Read(tree) = document else { return None };
        let node = tree.root().children().next()?;
        let edit = crate::edit::Change::Set(node, "new".to_owned()).edit()?;
        Some(crate::edit::reparse(tree, &[edit])?.root().to_json().to_string())
    });
    assert_eq!(
        fixed.collect::<Vec<_>>(),
        [r#"{"a":"new"}"#, r#"{"b":"new"}"#, r#"{"d":"new"}"#, r#"{"e":"new"}"#, r#"{"f":"new"}"#]
    );
}

/// The form of test/infrastructure/tasks/karpenter of aws/karpenter-provider-aws, a Task of Tekton, and of
/// .github/actions/e2e/setup-cluster/action.yaml there, a step of a workflow.
#[test]
fn reads_manifests_that_scripts_in_strings_apply() {
    let text = r#"steps:
- run: |
    export A=1
    cat <<EOF | kubectl apply -f -
    a: "$A"
    ---
    b: ${{ inputs.b }}
    EOF
- script: |
    cat << EOF >> cluster.yaml
    c: 3
    EOF
    cat <<EOF > /etc/kubelet.yaml
    d: 4
    EOF
    eksctl create cluster -f cluster.yaml
    kubectl delete -f - <<EOF
    e: 5
    EOF
- run: "cat <<EOF | kubectl apply -f -\nf: 6\nEOF"
---
g: 7
"#;
    let found = read("workflow.yaml", text);
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(
        lines,
        [r#"{"a":"$A"}"#, r#"{"b":"${{ inputs.b }}"}"#, r#"{"c":3}"#, "line 18: deleted", r#"{"g":7}"#]
    );
    let file = File::read("workflow.yaml", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.get(2) else { panic!("{:?}", file.documents) };
    assert_eq!(file.source.slice(tree.root().span()), "b: ${{ inputs.b }}");
}

#[test]
fn expands_merge_keys_and_aliases() {
    let text = "base: &base {a: 1, b: 2}\nleft: &left {b: 3, c: 4}\none: {<<: *base, b: 9}\ntwo: {b: 9, <<: *base}\n\
                both:\n  <<: [*base, *left]\nsame: *base\n? on\n: key\n";
    assert_snapshot!(read("-", text), @r#"{"base":{"a":1,"b":2},"both":{"a":1,"b":2,"c":4},"left":{"b":3,"c":4},"one":{"a":1,"b":9},"same":{"a":1,"b":2},"true":"key","two":{"a":1,"b":2}}"#);
}

#[test]
fn aliases_copy_keys_and_are_keys() {
    assert_snapshot!(read("-", "&a key: &b 7\nc: *a\n*b : d\n"), @r#"{"7":"d","c":"key","key":7}"#);
}

#[test]
fn refuses_what_json_cannot_represent() {
    assert_snapshot!(read("-", "a: &a 1\nb:\n  <<: *a\n---\nc: &c\n  d: *c\n---\n[a]: b\n---\n~: b\n---\nx: .inf"), @"
    3:7: not valid in a manifest: `<<` takes a mapping or a list of mappings; write an alias of one
    6:6: not valid in a manifest: this alias is inside the value of its own anchor; write the value instead
    8:1: not valid in a manifest: this key is a list or an object; write a string
    10:1: not valid in a manifest: a key is missing before `:`; add the key
    12:4: not valid in a manifest: JSON has no infinite number and no NaN; quote the value if it is text
    ");
}

#[test]
fn records_duplicate_keys_except_merged_ones() {
    let text = "a: 1\nb: 2\na: 3\nm: &m {x: 1}\nn: {<<: *m, x: 2}\no: {<<: {x: 1}, x: 2}\np: 1\np: *m\n";
    let file = File::read("-", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
    let pairs: Vec<_> = tree
        .duplicate_keys()
        .iter()
        .map(|key| (tree.node(key.earlier), tree.node(key.later)))
        .map(|(one, two)| (one.key(), one.spelling(), two.spelling()))
        .collect();
    assert_eq!(pairs, [("a", "1", "3"), ("p", "1", "*m")]);
}

#[test]
fn span_ends_after_last_word_of_value() {
    let text = "a:\n  b: [1, 2]\n  c: |\n    text\n\n# comment\n\nd: e # f\n";
    let file = File::read("-", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
    let spelling = |path: &[&str]| tree.root().at_path(path).unwrap().spelling();
    assert_eq!(spelling(&["a", "b"]), "[1, 2]");
    assert_eq!(spelling(&["d"]), "e");
    let merged = File::read("-", "a: &a {b: c}\nd:\n  e: f\n  <<: *a\n", &Limits::DEFAULT);
    let Some(Document::Read(merged)) = merged.documents.first() else { panic!() };
    assert_eq!(merged.root().get("d").unwrap().spelling(), "e: f\n  <<: *a");
    assert!(spelling(&["a"]).starts_with("b: [1, 2]") && spelling(&["a"]).trim_end().ends_with("text"));
}

#[test]
fn parses_json_by_name_and_by_content() {
    assert_snapshot!(read("a.json", "{\"a\": 1.0}\n{\"b\": 1}"), @r#"
    {"a":1.0}
    {"b":1}
    "#);
    assert_snapshot!(read("a.jsonl", "{\"a\": 1}\n{\"b\"\n{\"c\": 1}\n"), @r#"
    {"a":1}
    2:1: not valid JSON: this `{` is never closed; add `}`
    {"c":1}
    "#);
    assert_snapshot!(read("-", "{a: 1.0, b: yes}"), @r#"{"a":1,"b":true}"#);
    assert_snapshot!(read("-", "\u{feff}{\"a\": 1.0}"), @r#"{"a":1.0}"#);
}

#[test]
fn tells_which_bound_is_exceeded() {
    let tight = Limits { file_bytes: 200, documents: 2, depth: 3, nodes: 5 };
    let exceeded_within = |text: &str, limits: &Limits| match File::read("-", text, limits).documents.pop() {
        Some(Document::Unreadable { error, .. }) => error.exceeded(),
        _ => None,
    };
    let exceeded = |text: &str| exceeded_within(text, &tight);
    assert_eq!(exceeded(&"a: b\n".repeat(99)), Some(Exceeded::FileBytes(200)));
    assert_eq!(exceeded("a: 1\n---\nb: 1\n---\nc: 1\n"), Some(Exceeded::Documents(2)));
    assert_eq!(exceeded("[[[[1]]]]"), Some(Exceeded::Depth(3)));
    assert_eq!(exceeded("- - - - 1"), Some(Exceeded::Depth(3)));
    assert_eq!(exceeded("a: {b: {c: {d: 1}}}"), Some(Exceeded::Depth(3)));
    assert_eq!(exceeded("[1,2,3,4,5,6]"), Some(Exceeded::Nodes(5)));
    assert_eq!(exceeded("a: &a [1,2]\nb: *a\nc: *a"), Some(Exceeded::Nodes(5)));
    let laughs = |n: usize| format!("a{n}: &a{n} [*a{0},*a{0},*a{0},*a{0}]\n", n - 1);
    let laughs: Vec<String> = (1..9).map(laughs).collect();
    let laughs = format!("a0: &a0 1\n{}", laughs.concat());
    assert_eq!(exceeded_within(&laughs, &Limits::DEFAULT), Some(Exceeded::Expansion));
    assert_eq!(exceeded("a: ["), None);
}

#[test]
fn parses_document_embedded_in_string() {
    let values = |text: &str| {
        let file = File::read("-", text, EMBEDDED);
        let Some(Document::Read(tree)) = file.documents.first() else { return "unread".to_owned() };
        let string = tree.root().at_path(&["spec", "values"]).unwrap();
        let inner = string.embedded().map(|inner| inner.to_json().to_string());
        let places = string
            .embedded()
            .into_iter()
            .flat_map(Node::members)
            .map(|(key, node)| format!(" {key}={}", file.source.slice(node.span())));
        inner.unwrap_or_default() + &places.collect::<String>()
    };
    let text = |values: &str| format!("spec:\n      values: {values}\n      after: &a {{b: c}}\n");
    assert_snapshot!(values(&text("|\n        a: &x 1 # one\n        b: *x")), @r#"{"a":1,"b":1} a=1 b=*x"#);
    assert_snapshot!(values(&text("|2-\n\n          a: é\n")), @r#"{"a":"é"} a=é"#);
    assert_snapshot!(values(&text("\"a: 1\\nb: [x]\"")), @r#"{"a":1,"b":["x"]} a="a: 1\nb: [x]" b="a: 1\nb: [x]""#);
    let json = |values: &str| format!(r#"{{"spec": {{"values": {values}, "x": 1}}}}"#);
    assert_snapshot!(values(&json(r#""a: 1\nb: [é]\n""#)), @r#"{"a":1,"b":["é"]} a="a: 1\nb: [é]\n" b="a: 1\nb: [é]\n""#);
    assert_snapshot!(values(&json(r#""{\"a\": 1}""#)), @r#"{"a":1} a="{\"a\": 1}""#);
    for plain in [r#""a: [""#, r#""a: {{ b }}: c""#, r#""""#, "1", "{}"] {
        assert_eq!(values(&json(plain)), "", "{plain}");
    }
    // A scalar, a text with a syntax error, a template and an unresolved alias stay strings.
    for plain in ["plain", "|\n        a: [", "|\n        a: {{ b }}: c", "''", "|\n        *a"] {
        assert_eq!(values(&text(plain)), "", "{plain}");
    }
    // Values of a template are placeholders, and lines with statements are not.
    let template = "|\n        a: {{ .b }} # one\n        c: [{{d}}, \"é{{ e }}\"]";
    assert_snapshot!(values(&text(template)), @r#"{"a":"{{ .b }}","c":["{{d}}","é{{ e }}"]} a={{ .b }} c=[{{d}}, "é{{ e }}"]"#);
    assert_snapshot!(values(&text("\"a: {{ b }}\"")), @r#"{"a":"{{ b }}"} a="a: {{ b }}""#);
    assert_eq!(values(&text("|\n        a: {{ b }}\n        {{- if .c }}\n        d: e")), "");
    let comments = |values: &str| {
        let file = File::read("-", text(values), EMBEDDED);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{values}") };
        tree.comments().len()
    };
    assert_eq!(comments("| # lint: one\n        a: b # lint: two\n        # lint: three"), 3);
    assert_eq!(comments("| # lint: one\n        a: b # lint: two\n        c: ["), 1);
    let twice = text("|\n        values: |\n          a: b");
    assert_snapshot!(values(&twice), @r#"
    {"values":"a: b\n"} values=a: b
    "#);
    let limits = Limits { nodes: 8, ..Limits::DEFAULT };
    let tight = ReadOptions { limits, ..EMBEDDED };
    let file = File::read("-", text("|\n        [1, 2, 3, 4, 5, 6, 7, 8]"), tight);
    assert!(matches!(file.documents.first(), Some(Document::Read(_))));
}

#[test]
fn reports_deep_nesting_and_alias_bombs() {
    for text in ["[".repeat(10_000), "- ".repeat(10_000), "{a: ".repeat(10_000), "{\"a\":".repeat(10_000)] {
        assert!(read("-", &text).contains("nested deeper than 128 levels"), "{}", read("-", &text));
    }
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{items}]");
    }
    assert!(read("-", &bomb).contains("aliases expand to more than 64 values for each byte"));
}

#[test]
fn refuses_bytes_that_are_not_text() {
    let message = |bytes: &[u8]| match File::from_bytes("-", bytes.to_vec(), &Limits::DEFAULT).documents.pop()
    {
        Some(Document::Unreadable { at, error }) => format!("{at}: {error}"),
        other => format!("{other:?}"),
    };
    assert_eq!(message(b"\x7fELF\0\0"), "0: a binary file, not read");
    assert_eq!(message(b"a: \xff"), "3: not UTF-8 from here on; save the file as UTF-8");
}

/// The documents in the string `text`, each with the spelling and the line of its scalars.
fn within(text: &str) -> String {
    let file = File::read("-", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
    let documents = Document::within(tree.root().get("text").unwrap(), &Limits::DEFAULT);
    let lines = documents.iter().map(|document| match document {
        Document::Read(tree) => {
            let scalars = tree.root().children().map(|node| {
                let position = node.source().position(node.span().start);
                format!("{}={}@{}", node.key(), node.spelling(), position.line)
            });
            scalars.collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn parses_documents_within_strings_in_their_places() {
    assert_snapshot!(within("a: 1\ntext: |-\n    b: 0x10 # why\n    c: 'd'\n    ---\n    e: f\n"), @"
    b=0x10@3 c='d'@4
    e=f@6
    ");
    // Quotes and folds: every value has the place of the string, but its own spelling.
    assert_snapshot!(within("a: 1\ntext: \"b: 0x10\\nc: d\\n---\\ne: f\"\n"), @"
    b=0x10@2 c=d@2
    e=f@2
    ");
    assert_snapshot!(within("text: >-\n  {b: 1,\n  c: d}\n"), @"b=1@2 c=d@2");
    assert_snapshot!(within("text: |\n  b: [\n"), @r#"Unreadable { at: 13, error: Yaml(Syntax("this `[` is never closed; add `]`")) }"#);
    assert_snapshot!(within("text: ''\n"), @"");
}

proptest! {
    #[test]
    fn parses_json_as_yaml_to_same_value(text in "[a-z0-9 .]{0,8}", number in any::<i64>(), truth in any::<bool>()) {
        let value = serde_json::json!({"s": text, "n": [number, truth, null], "o": {"k": {}}});
        prop_assert_eq!(read("a.yaml", &value.to_string()), read("a.json", &value.to_string()));
        prop_assert_eq!(read("-", &format!("# yaml\n{value}")), read("a.json", &value.to_string()));
    }

    #[test]
    fn never_panics(text in any::<String>(), lines in "([ a:\\-|>&*<{}\\[\\]'\"#!%\n\t\\\\]|---\n){0,60}") {
        read("-", &text);
        read("-", &lines);
        let text = serde_json::json!({"text": lines}).to_string();
        within(&text);
        within(&format!("text: |\n  x\n  {}\n", lines.replace('\n', "\n  ").replace('\t', " ")));
        let block = lines.replace('\n', "\n      ");
        File::read("-", format!("source:\n  helm:\n    values: |\n      {block}\n"), EMBEDDED);
        File::read("-", format!("source: {{values: {}}}\n", serde_json::Value::String(lines)), EMBEDDED);
    }
}

#[test]
fn reports_an_unclosed_bracket_where_it_opens() {
    for (text, at) in [
        ("a: 1\nb: [\n  - c: d\n    e: f\n", 8),
        ("a:\n  b: [\"c\", \"d\"\n  e: f\n  g: [1]\n", 8),
        ("a:\n  b: {c: 1, d: 2\n  e: f\n", 8),
        ("a:\n  b: [c,\n     d\n  e:\n    f: g\n", 8),
        ("a: [1, 2\n---\nb: c\n", 3),
    ] {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Unreadable { at: found, error }) = file.documents.first() else {
            panic!("{text}")
        };
        assert_eq!(*found, at, "{text}");
        assert!(error.to_string().contains("is never closed; add `"), "{text}: {error}");
    }
    // The bracket has its end; the error is elsewhere.
    for text in ["a: [\n  - b,\n  - c\n]\n", "a: {b: 1,\n    c: 2 d: 3}\n", "a: [b: c: d]\n"] {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Unreadable { error, .. }) = file.documents.first() else { panic!("{text}") };
        assert!(!error.to_string().contains("never closed"), "{text}: {error}");
    }
}

#[test]
fn reads_utf16_after_a_byte_order_mark() {
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        let file = File::from_bytes("-", encoding.encode("é: 😀\nb: c\n"), &Limits::DEFAULT);
        assert_eq!(file.source.text(), "é: 😀\nb: c\n");
        assert!(matches!(file.documents.as_slice(), [Document::Read(_)]));
        let mut half = encoding.encode("a: b\n");
        half.push(0);
        let file = File::from_bytes("-", half, &Limits::DEFAULT);
        let [Document::Unreadable { at, error }] = file.documents.as_slice() else { panic!("{file:?}") };
        assert_eq!((*at, error), (5, &ReadError::NotUtf16));
    }
}
