//! Scalars of the types that the schema of an object has.
//!
//! The provider `kubernetes` converts the values of `kubernetes_manifest` to the types of the API before it applies them.
//!
//! Source: `manifest/morph/morph.go` of hashicorp/terraform-provider-kubernetes, `ValueToType`: `morphBoolToType` and `morphNumberToType` make
//! strings, `morphStringToType` makes numbers and booleans with `ParseFloat` and `ParseBool` of Go.

use karpenter::api::{FieldSchema, METADATA, Schema, SchemaType, kind_schema};
use manifest::tree::Value;
use terraform::{Data, EvaluatedValue};

/// Digits of `String` of Go's `big.Float`, with which the provider writes a number as a string.
const DIGITS: usize = 10;

/// The schema of a value that the provider adapts, as far as it is known here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Adaptation {
    /// A whole object of Karpenter, with the schema of its `spec`.
    Object(Option<&'static Schema>),
    /// A value with a schema.
    Within(SchemaType),
    /// A value with a schema in some releases. In the others it has any type, as in `spec.kubelet` of an EC2NodeClass since 1.15, and the provider
    /// keeps it.
    WithinSome(SchemaType),
    /// A value without a known schema. Its `metadata` is the one of every object.
    Unknown,
}

/// A scalar of another type than the configuration has.
#[derive(Debug)]
pub(crate) enum AdaptedScalar {
    Text(String),
    Number(Value<'static>, String),
    Bool(bool),
    /// A scalar of another type in some releases only, with its text in the configuration.
    InSome(String),
}

impl Adaptation {
    /// The adaptation of an object.
    pub(crate) fn of(object: &EvaluatedValue) -> Self {
        let text = |key: &str| object.get(key).and_then(EvaluatedValue::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
        Self::Object(kind_schema(group, version, text("kind")).map(|kind| &kind.spec.schema))
    }

    /// The adaptation of a member.
    pub(crate) fn member(self, key: &str) -> Self {
        let field = |fields: &'static [FieldSchema]| {
            // A field that has several schemas was not open in the first releases.
            let mut schemas = fields.iter().filter(|field| field.name == key).map(|field| field.schema.shape);
            let Some(first) = schemas.next() else { return Self::Unknown };
            if schemas.any(is_open) { Self::WithinSome(first) } else { Self::Within(first) }
        };
        match self {
            Self::Object(Some(spec)) if key == "spec" => Self::Within(spec.shape),
            Self::Object(_) | Self::Unknown if key == "metadata" => {
                Self::Within(SchemaType::Object(METADATA))
            }
            Self::Within(SchemaType::Object(fields)) => field(fields),
            Self::Within(SchemaType::Map(values)) => Self::Within(values.shape),
            Self::WithinSome(shape) => Self::Within(shape).member(key).in_some(),
            Self::Object(_) | Self::Within(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The adaptation of an item.
    pub(crate) fn item(self) -> Self {
        match self {
            Self::Within(SchemaType::List(items)) => Self::Within(items.shape),
            Self::WithinSome(shape) => Self::Within(shape).item().in_some(),
            Self::Object(_) | Self::Within(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The same adaptation in some releases only.
    fn in_some(self) -> Self {
        if let Self::Within(shape) = self { Self::WithinSome(shape) } else { self }
    }

    /// The scalar that the provider makes of a value. `None` if it keeps the value, or refuses it.
    pub(crate) fn scalar(self, value: &EvaluatedValue) -> Option<AdaptedScalar> {
        if let Self::WithinSome(shape) = self {
            let written = match &value.data {
                Data::Bool(known) => known.to_string(),
                Data::Number(number) => number.text(),
                _ => value.as_str()?.to_owned(),
            };
            return Self::Within(shape).scalar(value).map(|_| AdaptedScalar::InSome(written));
        }
        let Self::Within(shape) = self else { return None };
        match (shape, &value.data) {
            (SchemaType::Text, Data::Bool(known)) => Some(AdaptedScalar::Text(known.to_string())),
            (SchemaType::Text, Data::Number(number)) => Some(AdaptedScalar::Text(number.general(DIGITS))),
            (SchemaType::Integer, Data::String(text)) => number(text.as_str()),
            (SchemaType::Boolean, Data::String(text)) => boolean(text.as_str()).map(AdaptedScalar::Bool),
            _ => None,
        }
    }
}

/// Whether members of any type are allowed.
fn is_open(shape: SchemaType) -> bool {
    matches!(shape, SchemaType::Map(Schema { shape: SchemaType::Any, .. }))
}

/// The number in a string that has no more than a decimal number in it.
fn number(text: &str) -> Option<AdaptedScalar> {
    let number = terraform::Number::parse(text)?;
    let text = number.text();
    let value = match number.as_int() {
        Some(whole) => Value::Int(whole),
        None => Value::Float(text.parse().ok()?),
    };
    Some(AdaptedScalar::Number(value, text))
}

/// The boolean in a string: golang/go `src/strconv/atob.go`, `ParseBool`.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
