//! JSON as Go's `json.Marshal` writes it: without blanks, with the keys in the order of their bytes.

use core::fmt::Write as _;

use manifest::tree::{Node, Value};

/// The text of a value.
pub(crate) fn text(node: Node<'_>) -> String {
    let mut out = String::new();
    write_value(node, &mut out);
    out
}

fn write_value(node: Node<'_>, out: &mut String) {
    match node.value() {
        Value::Null => out.push_str("null"),
        Value::Mapping => {
            out.push('{');
            for (index, (key, value)) in node.sorted_members().into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        Value::Sequence => {
            out.push('[');
            for (index, item) in node.items().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        Value::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => write_float(number, out),
    }
}

/// Go writes very large and very small numbers with an exponent (`encoding/json` encode.go, `floatEncoder`).
fn write_float(number: f64, out: &mut String) {
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let _ = write!(out, "{number}");
        return;
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    let _ = write!(out, "{digits}e{sign}{exponent}");
}

/// Go escapes `<`, `>`, `&` and the line separators of JavaScript too.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    #[test]
    fn writes_what_go_writes() {
        for (given, expected) in [
            ("{b: 1, a: [true, null, 1.5]}", r#"{"a":[true,null,1.5],"b":1}"#),
            (r#"{a: "\"\\\n\t\x01\u2028é"}"#, r#"{"a":"\"\\\n\t\u0001\u2028é"}"#),
            ("{a: 'x < y && z > 1'}", r#"{"a":"x \u003c y \u0026\u0026 z \u003e 1"}"#),
            ("[0x6e, 1_000, 0.50, 1.0, 1e21, 2.5e-7, 1e3]", "[110,1000,0.5,1,1e+21,2.5e-7,1000]"),
            ("{}", "{}"),
        ] {
            let file = File::read("-", given.to_owned(), &Limits::DEFAULT);
            let [Document::Read(document)] = file.documents.as_slice() else { panic!("{file:?}") };
            assert_eq!(text(document.root()), expected, "{given}");
        }
    }
}
