//! JSON Schemas of Karpenter's objects in one release, from the tables of `karpenter`.
//!
//! They accept what the API server accepts, except for its rules in CEL, which JSON Schema cannot express. The server drops a
//! null where a field may be absent, so such a field may be null here too.

use karpenter::api::meaning::meaning;
use karpenter::api::stored::DefaultValue;
use karpenter::api::{FieldSchema, KindSchema, Limit, METADATA, Schema, SchemaType};
use karpenter::release::Release;
use serde_json::{Map, Value, json};

/// Draft that kubeconform, editors and other programs read.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

const COMMENT: &str =
    "Without the rules in CEL (x-kubernetes-validations) and without status; `karpwarden check` has both.";

/// Schema of the objects of a kind; `None` if the release does not serve the kind.
pub(super) fn schema(kind: &'static KindSchema, release: Release) -> Option<Value> {
    if !kind.releases.contains(release) {
        return None;
    }
    let definition = Definition { release };
    let names = kind.kind;
    let mut spec = definition.field(&kind.spec, "spec");
    if kind.scale.contains(release)
        && let Some(Value::Object(replicas)) = spec.pointer_mut("/properties/replicas")
    {
        // The scale subresource has a number of 32 bits.
        replicas.insert("maximum".to_owned(), i32::MAX.into());
    }
    let mut required = vec!["apiVersion", "kind"];
    required.extend(kind.spec.required.then_some("spec"));
    Some(json!({
        "$schema": DRAFT,
        "$comment": COMMENT,
        "title": format!("{} of Karpenter {release}", names.name),
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": {
            "apiVersion": {"type": "string", "enum": [format!("{}/{}", names.group, names.version)]},
            "kind": {"type": "string", "enum": [names.name]},
            "metadata": nullable(definition.object(METADATA, "metadata")),
            "spec": spec,
            // The server drops the status of an object that is applied.
            "status": {"description": "Written by Karpenter; ignored on apply."},
        },
    }))
}

struct Definition {
    release: Release,
}

impl Definition {
    /// Schema of a field, whose absence `null` means too, unless the field must be there.
    fn field(&self, field: &'static FieldSchema, path: &str) -> Value {
        let default = field.default.as_ref().filter(|(_, releases)| releases.contains(self.release));
        let own = self.value(&field.schema, path);
        let mut schema = if field.required && field.default.is_none() { own } else { nullable(own) };
        if let Value::Object(members) = &mut schema {
            if let Some(meaning) = meaning(path) {
                members.insert("description".to_owned(), meaning.into());
            }
            if let Some((value, _)) = default {
                members.insert("default".to_owned(), of_default(value));
            }
        }
        schema
    }

    fn value(&self, schema: &'static Schema, path: &str) -> Value {
        let mut value = match schema.shape {
            SchemaType::Object(fields) => self.object(fields, path),
            // A value of `metadata.managedFields` is a map of maps of any depth.
            SchemaType::Map(values) if core::ptr::eq(values, schema) => json!({"type": "object"}),
            SchemaType::Map(values) => {
                let values = nullable(self.value(values, &format!("{path}{{}}")));
                json!({"type": "object", "additionalProperties": values})
            }
            SchemaType::List(items) => {
                json!({"type": "array", "items": self.value(items, &format!("{path}[]"))})
            }
            SchemaType::Text => json!({"type": "string"}),
            SchemaType::Integer => json!({"type": "integer", "maximum": i64::MAX}),
            SchemaType::Boolean => json!({"type": "boolean"}),
            SchemaType::IntOrText => {
                json!({"type": ["integer", "string"], "x-kubernetes-int-or-string": true})
            }
            SchemaType::Any => json!({}),
        };
        if let Value::Object(members) = &mut value {
            let live = schema.constraints.iter().filter(|one| one.releases.contains(self.release));
            members.extend(live.map(|constraint| self.keyword(constraint.limit)));
        }
        value
    }

    fn object(&self, fields: &'static [FieldSchema], path: &str) -> Value {
        let live: Vec<&'static FieldSchema> =
            fields.iter().filter(|field| field.releases.contains(self.release)).collect();
        let properties: Map<String, Value> = live
            .iter()
            .map(|field| (field.name.to_owned(), self.field(field, &format!("{path}.{}", field.name))))
            .collect();
        let required = live.iter().filter(|field| field.required && field.default.is_none());
        let required: Vec<&str> = required.map(|field| field.name).collect();
        let mut object = json!({"type": "object", "additionalProperties": false, "properties": properties});
        if let Value::Object(members) = &mut object
            && !required.is_empty()
        {
            members.insert("required".to_owned(), required.into());
        }
        object
    }

    fn keyword(&self, limit: Limit) -> (String, Value) {
        let (keyword, value): (&str, Value) = match limit {
            Limit::OneOf(values) => {
                let live = values.iter().filter(|value| value.releases.contains(self.release));
                ("enum", live.map(|value| value.text).collect())
            }
            Limit::Pattern(pattern) => ("pattern", pattern.expression.into()),
            Limit::Minimum(bound) => ("minimum", bound.into()),
            Limit::Maximum(bound) => ("maximum", bound.into()),
            Limit::MinLength(bound) => ("minLength", bound.into()),
            Limit::MaxLength(bound) => ("maxLength", bound.into()),
            Limit::MinItems(bound) => ("minItems", bound.into()),
            Limit::MaxItems(bound) => ("maxItems", bound.into()),
            Limit::MaxProperties(bound) => ("maxProperties", bound.into()),
            Limit::UniqueItems => ("uniqueItems", true.into()),
            Limit::DateTime => ("format", "date-time".into()),
        };
        (keyword.to_owned(), value)
    }
}

/// The schema with `null` as a further value.
fn nullable(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        match members.get_mut("type") {
            Some(Value::Array(types)) => types.push("null".into()),
            Some(one) => *one = json!([one.take(), "null"]),
            None => {}
        }
        if let Some(Value::Array(values)) = members.get_mut("enum") {
            values.push(Value::Null);
        }
    }
    schema
}

fn of_default(value: &DefaultValue) -> Value {
    match value {
        DefaultValue::Text(text) => (*text).into(),
        DefaultValue::Int(number) => (*number).into(),
        DefaultValue::List(items) => items.iter().map(of_default).collect(),
        DefaultValue::Object(members) => {
            members.iter().map(|(key, value)| ((*key).to_owned(), of_default(value))).collect()
        }
    }
}
