use std::sync::Arc;

use proptest::prelude::*;

use super::{JsonError, JsonProblem, quote, read};
use crate::limits::{Exceeded, Limits};
use crate::source::{Source, Span};
use crate::tree::{Node, Tree, Value};

fn read_one(text: &str) -> Result<Tree, JsonError> {
    let source = Arc::new(Source::new("-", text));
    let (tree, end) = read(&source, Span::new(0, source.text().len()), &Limits::DEFAULT)?.expect("a value");
    if text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t', '\n', '\r']).is_empty()) {
        Ok(tree)
    } else {
        Err(JsonError { at: end, problem: JsonProblem::Expected("the end") })
    }
}

#[test]
fn gives_each_value_its_span() {
    let text = "{\"a\": [1, 2.0, \"x\\n\"],\n \"b\": {}}";
    let tree = read_one(text).unwrap();
    let a = tree.root().get("a").unwrap();
    assert_eq!(a.spelling(), "[1, 2.0, \"x\\n\"]");
    assert_eq!(tree.source().slice(a.key_span()), "\"a\"");
    let values: Vec<_> = a.items().map(|node| (node.value(), node.spelling())).collect();
    assert_eq!(
        values,
        [(Value::Int(1), "1"), (Value::Float(2.0), "2.0"), (Value::String("x\n"), "\"x\\n\"")]
    );
    assert_eq!(tree.root().span(), Span::new(0, text.len()));
}

#[test]
fn takes_last_of_duplicate_keys_and_records_both() {
    let tree = read_one(r#"{"a":1,"b":2,"a":3}"#).unwrap();
    assert_eq!(tree.root().get("a").unwrap().as_int(), Some(3));
    assert_eq!(tree.root().members().count(), 2);
    let pairs: Vec<_> = tree
        .duplicate_keys()
        .iter()
        .map(|key| (tree.node(key.earlier), tree.node(key.later)))
        .map(|(one, two)| (one.spelling(), two.spelling()))
        .collect();
    assert_eq!(pairs, [("1", "3")]);
}

#[test]
fn reports_syntax_error_with_its_location() {
    for (text, at, message) in [
        ("{\"a\" 1}", 5, "not valid JSON: expected `:` after a key"),
        ("{a: 1}", 1, "not valid JSON: expected a key in double quotes"),
        ("[1,]", 3, "not valid JSON: expected a value"),
        ("[1 2]", 3, "not valid JSON: expected `,` or `]`"),
        ("{\"a\": \"b", 8, "not valid JSON: the text ends within a string; add `\"`"),
        ("[", 0, "not valid JSON: this `[` is never closed; add `]`"),
        ("{\"a\": [1, {\"b\": 2}\n, \"c\": 3}", 6, "not valid JSON: this `[` is never closed; add `]`"),
        ("{\"a\": {\"b\": [1]}, ", 0, "not valid JSON: this `{` is never closed; add `}`"),
        ("{\"a\": [1 \"b\": 3], \"c\": [1]}", 9, "not valid JSON: expected `,` or `]`"),
        ("{\"a\":}", 5, "not valid JSON: expected a value"),
        ("01", 1, "not valid JSON: expected the end"),
        ("-", 1, "not valid JSON: the text ends within a value"),
    ] {
        let error = read_one(text).unwrap_err();
        assert_eq!((error.at, error.problem.to_string().as_str()), (at, message), "{text}");
    }
}

#[test]
fn bounds_depth() {
    let text = "[".repeat(10_000);
    assert_eq!(read_one(&text).unwrap_err().problem, JsonProblem::Exceeded(Exceeded::Depth(128)));
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            proptest::collection::vec((any::<String>(), inner), 0..20)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value with the integer 0 for `-0`, as Kubernetes reads it; `serde_json` reads a double.
fn with_integer_zero(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.is_f64() && number.to_string() == "-0.0" => 0.into(),
        Value::Array(items) => items.into_iter().map(with_integer_zero).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, with_integer_zero(value))).collect())
        }
        other => other,
    }
}

proptest! {
    #[test]
    fn parses_what_serde_json_writes(value in json()) {
        prop_assert_eq!(read_one(&value.to_string()).unwrap().root().to_json(), value.clone());
        prop_assert_eq!(read_one(&serde_json::to_string_pretty(&value).unwrap()).unwrap().root().to_json(), value);
    }

    #[test]
    fn quotes_as_serde_json_does(text in any::<String>(), control in "[\\x00-\\x7f]{0,9}") {
        for text in [text, control] {
            let mut quoted = String::new();
            quote(&text, &mut quoted);
            prop_assert_eq!(quoted, serde_json::Value::from(text).to_string());
        }
    }

    #[test]
    fn accepts_and_refuses_what_serde_json_does(text in "[\\[\\]{},:\" 0-9.eE+\\-tfnulrase\\\\]{0,12}") {
        if !text.trim().is_empty() {
            // serde_json refuses numbers beyond the range of a double and unpaired surrogates; Go accepts the latter.
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                prop_assert_eq!(read_one(&text).unwrap().root().to_json(), with_integer_zero(value));
            } else if let Ok(tree) = read_one(&text) {
                prop_assert!(text.contains("\\u") || has_infinite(tree.root()), "{}", text);
            }
        }
    }

    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = read_one(&format!("\"{text}"));
        if !text.trim().is_empty() {
            let source = Arc::new(Source::new("-", text));
            let _ = read(&source, Span::new(0, source.text().len()), &Limits::DEFAULT);
        }
    }
}

fn has_infinite(node: Node<'_>) -> bool {
    matches!(node.value(), Value::Float(value) if !value.is_finite()) || node.children().any(has_infinite)
}
