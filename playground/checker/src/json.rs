//! Values of a document as JSON.

use karpwarden::manifest::tree::{Node, Value};
use serde_json::{Map, Value as Json};

/// Converts a value to JSON with sorted keys, as Go serialises maps.
pub fn value_of(node: Node<'_>) -> Json {
    match node.value() {
        Value::Null => Json::Null,
        Value::Bool(truth) => truth.into(),
        Value::Int(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::String(text) => text.into(),
        Value::Sequence => node.items().map(value_of).collect(),
        Value::Mapping => {
            let members = node.members().map(|(key, value)| (key.to_owned(), value_of(value)));
            Json::Object(members.collect::<Map<_, _>>())
        }
    }
}
