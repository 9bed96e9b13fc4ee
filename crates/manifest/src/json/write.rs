//! JSON text and `serde_json` values from strings and trees.

use core::fmt::Write as _;

use crate::tree::{Node, Value};

/// Appends a string as JSON, with its quotes.
pub fn quote(text: &str, into: &mut String) {
    into.push('"');
    for char in text.chars() {
        match char {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\u{8}' => into.push_str("\\b"),
            '\u{c}' => into.push_str("\\f"),
            '\0'..' ' => {
                let _ = write!(into, "\\u{:04x}", u32::from(char));
            }
            _ => into.push(char),
        }
    }
    into.push('"');
}

impl Node<'_> {
    /// Converts the value to a `serde_json` value, which has no spans. Of duplicate keys it has the last.
    pub fn to_json(self) -> serde_json::Value {
        match self.value() {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Int(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::String(text) => text.into(),
            Value::Sequence => self.items().map(Node::to_json).collect(),
            Value::Mapping => {
                let members = self.members().map(|(key, node)| (key.to_owned(), node.to_json()));
                serde_json::Value::Object(members.collect())
            }
        }
    }
}
