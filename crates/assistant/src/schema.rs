//! JSON Schemas of the arguments and of the answers.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::bounded::{AnswerPart, Continuation};

/// The argument that continues an answer.
const CURSOR: &str = "Cursor of an earlier answer of this tool, to read the rest of it. The other arguments are not read then.";

/// The schema of arguments, with the cursor.
pub(crate) fn input<Q: JsonSchema>() -> Map<String, Value> {
    let mut schema = derived::<Q>(SchemaSettings::draft2020_12());
    simplify_input(&mut schema);
    let Value::Object(mut schema) = schema else { return Map::new() };
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("cursor".to_owned(), json!({"type": "string", "description": CURSOR}));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// Leaves out what only Rust needs: null for an absent argument, and the default of a list.
fn simplify_input(schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        property.remove("default");
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|one| one != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                property.insert("type".to_owned(), only);
            }
        }
    }
}

/// The schema of a bounded answer. `answer` is the published schema of the whole answer.
pub(crate) fn output(answer: Value) -> Map<String, Value> {
    let mut definitions = Map::new();
    let answer = adopt(answer, &mut definitions);
    definitions.insert("Answer".to_owned(), answer);
    for (name, schema) in
        [("Part", derived_output::<AnswerPart>()), ("More", derived_output::<Continuation>())]
    {
        let schema = adopt(schema, &mut definitions);
        definitions.insert(name.to_owned(), schema);
    }
    let or_null = |name: &str| json!({"anyOf": [{"$ref": format!("#/$defs/{name}")}, {"type": "null"}]});
    let schema = json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "answer": or_null("Answer"),
            "part": or_null("Part"),
            "more": {"type": "array", "items": {"$ref": "#/$defs/More"}},
            "moreLeftOut": {"type": "integer", "minimum": 0},
        },
        "required": ["summary", "notes", "answer", "part", "more", "moreLeftOut"],
        "additionalProperties": false,
        "$defs": definitions,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn derived_output<A: JsonSchema>() -> Value {
    derived::<A>(SchemaSettings::draft2020_12().for_serialize())
}

/// The schema of a type of this crate.
pub(crate) fn derived<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// A schema as a part of another one: its definitions move there. Descriptions go, because the published schemas have them, and so do the
/// sizes of Rust's numbers, which validators do not know. Some clients accept neither `true` nor a list of types as a schema: both have
/// another spelling.
fn adopt(mut schema: Value, definitions: &mut Map<String, Value>) -> Value {
    simplify_output(&mut schema);
    if let Value::Object(fields) = &mut schema {
        for key in ["$schema", "$id", "title"] {
            fields.remove(key);
        }
        if let Some(Value::Object(own)) = fields.remove("$defs") {
            definitions.extend(own);
        }
    }
    schema
}

fn simplify_output(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // A property may have the name `description`, and its schema is an object.
            if fields.get("description").is_some_and(Value::is_string) {
                fields.remove("description");
            }
            if fields.get("format").and_then(Value::as_str).is_some_and(|format| format.contains("int")) {
                fields.remove("format");
            }
            if let Some(types) = fields.get("type").and_then(Value::as_array) {
                let any: Vec<Value> = types.iter().map(|one| json!({"type": one})).collect();
                fields.remove("type");
                fields.insert("anyOf".to_owned(), any.into());
            }
            if let Some(items) = fields.get_mut("items").filter(|items| **items == Value::Bool(true)) {
                *items = json!({});
            }
            fields.values_mut().for_each(simplify_output);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify_output),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_schemas_so_that_every_client_reads_them() {
        let mut schema = json!({"properties": {
            "line": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
            "items": {"type": "array", "items": true},
            "type": {"type": "string"}}});
        simplify_output(&mut schema);
        assert_eq!(
            schema,
            json!({"properties": {
                "line": {"anyOf": [{"type": "integer"}, {"type": "null"}], "minimum": 0},
                "items": {"type": "array", "items": {}},
                "type": {"type": "string"}}})
        );
    }
}
