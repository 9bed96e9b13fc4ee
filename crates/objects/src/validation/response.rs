//! The API server's response to an object in its own words, as `kubectl` receives it.
//!
//! Sources: k8s.io/apimachinery v0.35 pkg/util/validation/field/errors.go for the form of an error; kube-openapi
//! pkg/validation/errors and k8s.io/apiextensions-apiserver v0.35 pkg/apiserver/validation/validation.go for the details;
//! pkg/registry/customresource/strategy.go there for the order. The conformance cases compare the details.

use core::fmt;

use karpenter::api::{Limit, SchemaType};
use karpenter::release::Release;
use manifest::tree::{Node, Value};

use super::{Refusal, What, refusals};
use crate::object::Object;

/// Response of the API server to a manifest, before any admission webhook of type "validating".
#[derive(Debug, PartialEq)]
pub enum ApiServerResponse {
    /// The object is valid.
    Accepted,
    /// The release does not serve the kind in this version.
    NotServed,
    /// The server cannot decode the object; the reason.
    Undecodable(String),
    /// The object has these errors.
    Invalid(Vec<FieldError>),
}

/// An error of the API server about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The path; `None` where the server names no field.
    pub path: Option<String>,
    /// The type in words: `Invalid value`.
    pub kind: &'static str,
    /// The value as the server prints it; `None` if it prints no value.
    pub value: Option<String>,
    /// The detail. May be empty.
    pub detail: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.as_deref().unwrap_or("<nil>"), self.kind)?;
        if let Some(value) = &self.value {
            write!(f, ": {value}")?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

const INVALID: &str = "Invalid value";

/// Returns the response of the API server of a release to an object of a manifest.
///
/// Only kinds with a table are validated. Names and labels of the object itself are not checked.
pub fn response(object: Object<'_>, release: Release) -> ApiServerResponse {
    let all = refusals(object, true, super::keeps_unchanged_faults(None));
    let refused: Vec<&Refusal<'_>> =
        all.iter().filter(|refusal| refusal.releases.contains(release)).collect();
    if refused.iter().any(|refusal| matches!(refusal.what, What::NotServed)) {
        return ApiServerResponse::NotServed;
    }
    if let Some(reason) = undecodable(object, &refused) {
        return ApiServerResponse::Undecodable(reason);
    }
    let writer = Writer { root: object.root(), release };
    let mut errors = Vec::new();
    // The server stops at the first fault of a string: the length comes before the pattern.
    let is_length_wrong = |node: Node<'_>| {
        refused.iter().any(|one| matches!(one.what, What::Length(..)) && one.place.node() == node)
    };
    for refusal in refused.iter().filter(|refusal| !is_of_several_fields(refusal)) {
        if !matches!(refusal.what, What::Form(_)) || !is_length_wrong(refusal.place.node()) {
            writer.structure(refusal, &mut errors);
        }
    }
    if refused.iter().any(|refusal| stops_validation(refusal)) {
        errors.push(FieldError {
            path: None,
            kind: INVALID,
            value: Some("null".to_owned()),
            detail: "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation".to_owned(),
        });
    } else {
        errors.extend(refused.iter().filter_map(|refusal| writer.relation(refusal)));
    }
    let mut distinct: Vec<FieldError> = Vec::new();
    for error in errors {
        if !distinct.contains(&error) {
            distinct.push(error);
        }
    }
    if distinct.is_empty() { ApiServerResponse::Accepted } else { ApiServerResponse::Invalid(distinct) }
}

fn is_of_several_fields(refusal: &Refusal<'_>) -> bool {
    matches!(refusal.what, What::Relation(_) | What::Change(_))
}

/// Whether the server does not check the rules about several fields. Source: `hasBlockingErr` in strategy.go.
fn stops_validation(refusal: &Refusal<'_>) -> bool {
    matches!(
        refusal.what,
        What::Type(_)
            | What::Required(_)
            | What::OneOf(_)
            | What::DateTime
            | What::Length(Limit::MaxLength(_) | Limit::MaxItems(_) | Limit::MaxProperties(_), _)
    )
}

/// The reason for which the server cannot decode an object: a wrong type in `metadata`, or unknown fields, which
/// `kubectl` asks the server to refuse.
fn undecodable(object: Object<'_>, refused: &[&Refusal<'_>]) -> Option<String> {
    let root = object.root();
    let in_metadata = |refusal: &&&Refusal<'_>| {
        matches!(refusal.what, What::Type(_)) && refusal.place.path(root).is_empty()
    };
    if let Some(refusal) = refused.iter().find(in_metadata)
        && let What::Type(expected) = refusal.what
    {
        let node = refusal.place.node();
        let field = member_of_metadata(node).map(|field| format!("struct field ObjectMeta.{field}"));
        return Some(format!(
            "json: cannot unmarshal {} into Go {} of type {}",
            json_type_in_go(node),
            field.unwrap_or_else(|| "value".to_owned()),
            go_type(expected)
        ));
    }
    let mut unknown: Vec<String> = refused
        .iter()
        .filter(|refusal| matches!(refusal.what, What::Unknown(..)))
        .map(|refusal| format!("unknown field \"{}\"", refusal.place.path(root)))
        .collect();
    unknown.sort();
    (!unknown.is_empty()).then(|| format!("strict decoding error: {}", unknown.join(", ")))
}

/// The field of `metadata` that contains a node.
fn member_of_metadata(node: Node<'_>) -> Option<&str> {
    let mut at = node;
    loop {
        let parent = at.parent()?;
        if parent.key() == "metadata" {
            return Some(at.key());
        }
        at = parent;
    }
}

fn go_type(expected: SchemaType) -> &'static str {
    match expected {
        SchemaType::Object(_) => "v1.ObjectMeta",
        SchemaType::Map(_) => "map[string]string",
        SchemaType::List(_) => "[]string",
        SchemaType::Text | SchemaType::IntOrText => "string",
        SchemaType::Integer => "int64",
        SchemaType::Boolean => "bool",
        SchemaType::Any => "interface {}",
    }
}

fn json_type_in_go(node: Node<'_>) -> &'static str {
    match node.value() {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        _ => json_type(node),
    }
}

/// The JSON type of a value, as validation names it.
fn json_type(node: Node<'_>) -> &'static str {
    match node.value() {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Sequence => "array",
        Value::Mapping => "object",
    }
}

fn schema_type(expected: SchemaType) -> &'static str {
    match expected {
        SchemaType::Object(_) | SchemaType::Map(_) | SchemaType::Any => "object",
        SchemaType::List(_) => "array",
        SchemaType::Text => "string",
        SchemaType::Integer => "integer",
        SchemaType::Boolean => "boolean",
        SchemaType::IntOrText => "integer,string",
    }
}

/// The value as the server prints it in an error; `None` for an object or a list.
fn printed(node: Node<'_>) -> Option<String> {
    match node.value() {
        Value::Null => Some("null".to_owned()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::String(text) => Some(format!("{text:?}")),
        Value::Sequence | Value::Mapping => None,
    }
}

/// Words of a release's API server for the refusals of an object.
struct Writer<'d> {
    root: Node<'d>,
    release: Release,
}

impl<'d> Writer<'d> {
    /// Adds the errors about one field.
    fn structure(&self, refusal: &Refusal<'d>, errors: &mut Vec<FieldError>) {
        let path = refusal.place.path(self.root);
        let node = refusal.place.node();
        let body = |rest: String| format!("{path} in body {rest}");
        let mut add = |kind: &'static str, value: Option<String>, detail: String| {
            errors.push(FieldError { path: Some(path.clone()), kind, value, detail });
        };
        match &refusal.what {
            What::Type(expected) => {
                let given = json_type(node);
                let wrong = |wanted: &str| body(format!("must be of type {wanted}: \"{given}\""));
                add(INVALID, Some(format!("\"{given}\"")), wrong(schema_type(*expected)));
                if matches!(expected, SchemaType::IntOrText) {
                    let detail = format!("\"{path}\" must validate at least one schema (anyOf)");
                    errors.push(FieldError {
                        path: None,
                        kind: INVALID,
                        value: Some("\"\"".to_owned()),
                        detail,
                    });
                    let (value, detail) = (Some(format!("\"{given}\"")), wrong("integer"));
                    errors.push(FieldError { path: Some(path.clone()), kind: INVALID, value, detail });
                }
            }
            What::DateTime => {
                let text = node.as_str().unwrap_or_default();
                add(INVALID, printed(node), body(format!("must be of type date-time: \"{text}\"")));
            }
            What::Required(_) => add("Required value", None, String::new()),
            What::Duplicate => add("Duplicate value", printed(node), String::new()),
            What::OneOf(words) => {
                let known = words.iter().filter(|word| word.releases.contains(self.release));
                let known: Vec<String> = known.map(|word| format!("\"{}\"", word.text)).collect();
                add("Unsupported value", printed(node), format!("supported values: {}", known.join(", ")));
            }
            What::Form(pattern) => {
                add(INVALID, printed(node), body(format!("should match '{}'", pattern.expression)));
            }
            What::Range(limit) => {
                let side = match limit {
                    Limit::Minimum(bound) => format!("greater than or equal to {bound}"),
                    Limit::Maximum(bound) => format!("less than or equal to {bound}"),
                    _ => return,
                };
                add(INVALID, printed(node), body(format!("should be {side}")));
            }
            What::Length(limit, size) => match limit {
                Limit::MinLength(bound) => {
                    add(INVALID, printed(node), body(format!("should be at least {bound} chars long")));
                }
                Limit::MinItems(bound) => {
                    add(INVALID, Some(size.to_string()), body(format!("should have at least {bound} items")));
                }
                Limit::MaxLength(bound) => {
                    add("Too long", None, format!("may not be more than {bound} bytes"));
                }
                Limit::MaxItems(bound) | Limit::MaxProperties(bound) => {
                    add("Too many", Some(size.to_string()), format!("must have at most {bound} items"));
                }
                _ => {}
            },
            What::Scale => {
                let negative = matches!(node.value(), Value::Int(number) if number < 0);
                let detail = if negative {
                    "should be a non-negative integer"
                } else {
                    "should be less than or equal to 2147483647"
                };
                add(INVALID, printed(node), detail.to_owned());
            }
            What::ScaleType => {
                let detail = format!("{path} accessor error: {}, expected int64", in_go(node));
                add(INVALID, Some("0".to_owned()), detail);
            }
            What::Unknown(..) | What::Relation(_) | What::Change(_) | What::NotServed => {}
        }
    }

    /// The error about several fields.
    fn relation(&self, refusal: &Refusal<'d>) -> Option<FieldError> {
        let (What::Relation(explanation) | What::Change(explanation)) = &refusal.what else { return None };
        let path = refusal.place.path(self.root);
        let value = refusal.place.holder().and_then(printed);
        let detail = explanation.server.text_in(self.release);
        Some(FieldError { path: Some(path), kind: INVALID, value, detail })
    }
}

/// A value and its type as Go prints them.
fn in_go(node: Node<'_>) -> String {
    match node.value() {
        Value::Bool(truth) => format!("{truth} is of the type bool"),
        Value::Float(number) => format!("{number} is of the type float64"),
        Value::String(text) => format!("{text} is of the type string"),
        Value::Sequence => "[] is of the type []interface {}".to_owned(),
        Value::Mapping => "map[] is of the type map[string]interface {}".to_owned(),
        Value::Null | Value::Int(_) => "<nil> is of the type <nil>".to_owned(),
    }
}
