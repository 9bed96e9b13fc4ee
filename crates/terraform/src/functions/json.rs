//! JSON.
//!
//! Reference: zclconf/go-cty `cty/json`, which reads and writes with `encoding/json` of Go.

use core::fmt::Write as _;
use std::sync::Arc;

use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::{Node, Value as Scalar};

use super::{Answer, Call};
use crate::number::Number;
use crate::place::TextPlace;
use crate::text::EvaluatedText;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue};

pub(super) fn jsonencode(call: &Call<'_>) -> Answer {
    let value = call.argument(0)?;
    let mut json = String::new();
    write(&value.without_directives(), &mut json);
    call.spend_text(json.len())?;
    Ok(EvaluatedValue::text(
        EvaluatedText::computed(json, call.place).with_encoded(value.clone()),
        call.place,
    ))
}

/// Writes a known value as JSON.
pub(crate) fn write(value: &EvaluatedValue, into: &mut String) {
    match &value.data {
        Data::Null(_) | Data::Unknown(_) => into.push_str("null"),
        Data::Bool(value) => into.push_str(if *value { "true" } else { "false" }),
        Data::Number(number) => into.push_str(&number.text()),
        Data::String(text) => quote(text.as_str(), into),
        Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
            into.push('[');
            for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write(item, into);
            }
            into.push(']');
        }
        Data::Map(_, members) | Data::Object(members) => {
            into.push('{');
            for (index, (name, member)) in members.as_map().iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                quote(name, into);
                into.push(':');
                write(&member.value, into);
            }
            into.push('}');
        }
    }
}

/// Writes a string as `encoding/json` does, which escapes what HTML would read.
pub(super) fn quote(text: &str, into: &mut String) {
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
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(into, "\\u{:04x}", u32::from(char));
            }
            _ => into.push(char),
        }
    }
    into.push('"');
}

pub(super) fn jsondecode(call: &Call<'_>) -> Answer {
    let text = call.argument(0)?.as_text().ok_or("The argument must be a string.")?;
    if !text.directives().is_empty() {
        return call.unknown(Type::Dynamic);
    }
    // What `jsonencode` wrote with placeholders has its value.
    if let Some(encoded) = text.encoded().filter(|_| !call.is_known(0)) {
        return Ok(encoded.clone().at(call.place));
    }
    call.spend_text(text.as_str().len().saturating_mul(4))?;
    match decode(text, call.place)? {
        Some(value) => Ok(value),
        None => call.unknown(Type::Dynamic),
    }
}

/// The value of a JSON text; none if only Terraform may know it.
pub(crate) fn decode(text: &EvaluatedText, place: TextPlace) -> Result<Option<EvaluatedValue>, String> {
    let source = Arc::new(Source::new("json", text.as_str()));
    let tree = manifest::json::read(&source, Span::whole(text.as_str()), &Limits::DEFAULT);
    let tree = tree.map_err(|error| format!("The string is not JSON: {error}."))?;
    let (tree, end) = tree.ok_or("The string is empty.")?;
    if text.as_str().get(end..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
        return Err("The JSON has more than one value.".to_owned());
    }
    if !is_strict(text.as_str()) {
        return Ok(None);
    }
    decoded(tree.root(), text, place).map(Some)
}

/// Whether the text has nothing that one of the two readers refuses.
fn is_strict(text: &str) -> bool {
    !text.contains("\\ud") && !text.contains("\\uD")
}

fn decoded(node: Node<'_>, text: &EvaluatedText, call: TextPlace) -> Answer {
    let place = |span: Span| text.place_of(span.start, span.end).unwrap_or(call);
    let at = place(node.span());
    Ok(match node.value() {
        Scalar::Null => EvaluatedValue::null(Type::Dynamic, at),
        Scalar::Bool(value) => EvaluatedValue::bool(value, at),
        Scalar::Int(_) | Scalar::Float(_) => {
            let number = Number::parse(node.spelling()).ok_or("The JSON has a number that is too large.")?;
            EvaluatedValue::number(number, at)
        }
        Scalar::String(string) => EvaluatedValue::string(string, at),
        Scalar::Sequence => EvaluatedValue::tuple(
            node.children().map(|item| decoded(item, text, call)).collect::<Result<Vec<_>, _>>()?,
            at,
        ),
        Scalar::Mapping => {
            let member = |child: Node<'_>| {
                let value = decoded(child, text, call)?;
                Ok((Arc::from(child.key()), EvaluatedMember { key: place(child.key_span()), value }))
            };
            let members = node.children().map(member).collect::<Result<Vec<_>, String>>()?;
            EvaluatedValue::object(members, at)
        }
    })
}
