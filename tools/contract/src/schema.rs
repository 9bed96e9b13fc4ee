//! JSON Schemas (draft 2020-12) of the answers.

use answers::catalog::CatalogEntry;
use answers::disruption::DisruptionAnswer;
use answers::hash::HashAnswer;
use answers::plan::PlanAnswer;
use answers::report::{HOMEPAGE, Report};
use answers::simulation::SimulationAnswer;
use answers::why::WhyAnswer;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// URL of a published schema, or its path without a published site.
pub(crate) fn id(name: &str) -> String {
    format!("{HOMEPAGE}/schemas/{name}.schema.json")
}

/// The schemas of the answers, by name.
pub fn all() -> [(&'static str, Value); 7] {
    [
        schema::<Report>("report", "A report of Karpwarden"),
        schema::<SimulationAnswer>("simulation", "A simulation of Karpwarden"),
        schema::<DisruptionAnswer>("disruption", "Disruption in a cluster, as Karpwarden judges it"),
        schema::<HashAnswer>("hash", "Static hashes of NodePools and EC2NodeClasses"),
        schema::<PlanAnswer>("plan", "Effect of a change on nodes, as Karpwarden forecasts it"),
        schema::<WhyAnswer>("why", "A pod or a node of a cluster, explained by Karpwarden"),
        schema::<Vec<CatalogEntry>>("rules", "The rules and symptoms of Karpwarden"),
    ]
}

fn schema<T: JsonSchema>(name: &'static str, title: &str) -> (&'static str, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.with_transform(RecursiveTransform(simplify)).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), id(name).into());
    schema.insert("title".to_owned(), title.into());
    (name, schema.into())
}

/// Removes what the answers do not need: the sizes of Rust's numbers, which validators do not know, and null for an optional key,
/// which is absent instead.
fn simplify(schema: &mut Schema) {
    let is_number = schema.get("format").and_then(Value::as_str).is_some_and(|format| {
        matches!(format, "double") || format.starts_with("uint") || format.starts_with("int")
    });
    if is_number {
        schema.remove("format");
        schema.remove("maximum");
    }
    let required: Vec<String> = match schema.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
        remove_null(property);
    }
}

fn remove_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only);
        }
    }
}
