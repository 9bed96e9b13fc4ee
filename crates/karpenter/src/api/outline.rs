//! The tables of a release as lines, one for each fact, to compare them with the custom resource definitions.
//!
//! A line has a kind, a path, a keyword and a value: `NodePool spec.weight maximum 100`. In a path, `[]` means the items
//! of a list and `{}` the values of a map. `cargo xtask release` writes the lines of a custom resource definition in
//! the same form.

use core::fmt::Write as _;
use std::collections::BTreeSet;

use super::schema::{FieldSchema, KindSchema, Limit, Schema, SchemaType};
use super::stored::DefaultValue;
use crate::api::KIND_SCHEMAS;
use crate::release::Release;

/// The lines of a release. Relations between fields have no line: [`related_paths`] lists where they are.
pub fn outline(release: Release) -> BTreeSet<String> {
    let mut outline = Outline { release, lines: BTreeSet::new(), related: BTreeSet::new() };
    outline.kinds();
    outline.lines
}

/// The kinds and paths with relations between fields, such as `NodePool spec.disruption.budgets`.
pub fn related_paths(release: Release) -> BTreeSet<String> {
    let mut outline = Outline { release, lines: BTreeSet::new(), related: BTreeSet::new() };
    outline.kinds();
    outline.related
}

struct Outline {
    release: Release,
    lines: BTreeSet<String>,
    related: BTreeSet<String>,
}

impl Outline {
    fn kinds(&mut self) {
        let release = self.release;
        for root in KIND_SCHEMAS.into_iter().filter(|root| root.releases.contains(release)) {
            self.kind(root);
        }
    }

    fn kind(&mut self, root: &'static KindSchema) {
        let kind = root.kind.name;
        self.field(&root.spec, kind, "", false);
        if !root.status.is_empty() {
            self.line(kind, "status", "type", "object");
        }
        let release = self.release;
        for field in root.status.iter().filter(|field| field.releases.contains(release)) {
            self.schema(&field.schema, kind, &format!("status.{}", field.name), true);
        }
    }

    fn line(&mut self, kind: &str, path: &str, keyword: &str, value: &str) {
        self.lines.insert(format!("{kind} {path} {keyword} {value}"));
    }

    /// A field of the object at a path; the path of the whole object is empty.
    fn field(&mut self, field: &'static FieldSchema, kind: &str, holder: &str, is_status: bool) {
        if !field.releases.contains(self.release) {
            return;
        }
        let path = if holder.is_empty() { field.name.to_owned() } else { format!("{holder}.{}", field.name) };
        if field.required && !is_status {
            self.line(kind, if holder.is_empty() { "." } else { holder }, "required", field.name);
        }
        if let Some((value, releases)) = &field.default
            && releases.contains(self.release)
        {
            self.line(kind, &path, "default", &json(value));
        }
        self.schema(&field.schema, kind, &path, is_status);
    }

    fn schema(&mut self, schema: &'static Schema, kind: &str, path: &str, is_status: bool) {
        self.line(kind, path, "type", type_name(schema.shape));
        if !is_status {
            let release = self.release;
            for constraint in schema.constraints.iter().filter(|one| one.releases.contains(release)) {
                self.limit(constraint.limit, kind, path);
            }
            if schema.relations.iter().any(|relation| relation.releases.contains(self.release)) {
                self.related.insert(format!("{kind} {path}"));
            }
        }
        match schema.shape {
            SchemaType::Object(fields) => {
                for field in fields {
                    self.field(field, kind, path, is_status);
                }
            }
            SchemaType::Map(values) => self.schema(values, kind, &format!("{path}{{}}"), is_status),
            SchemaType::List(items) => self.schema(items, kind, &format!("{path}[]"), is_status),
            _ => {}
        }
    }

    fn limit(&mut self, limit: Limit, kind: &str, path: &str) {
        let (keyword, value) = match limit {
            Limit::OneOf(values) => {
                let release = self.release;
                for value in values.iter().filter(|value| value.releases.contains(release)) {
                    self.line(kind, path, "enum", value.text);
                }
                return;
            }
            Limit::Pattern(pattern) => ("pattern", pattern.expression.to_owned()),
            Limit::Minimum(bound) => ("minimum", bound.to_string()),
            Limit::Maximum(bound) => ("maximum", bound.to_string()),
            Limit::MinLength(bound) => ("minLength", bound.to_string()),
            Limit::MaxLength(bound) => ("maxLength", bound.to_string()),
            Limit::MinItems(bound) => ("minItems", bound.to_string()),
            Limit::MaxItems(bound) => ("maxItems", bound.to_string()),
            Limit::MaxProperties(bound) => ("maxProperties", bound.to_string()),
            Limit::UniqueItems => ("list-type", "set".to_owned()),
            Limit::DateTime => ("format", "date-time".to_owned()),
        };
        self.line(kind, path, keyword, &value);
    }
}

const fn type_name(shape: SchemaType) -> &'static str {
    match shape {
        SchemaType::Object(_) | SchemaType::Map(_) => "object",
        SchemaType::List(_) => "array",
        SchemaType::Text => "string",
        SchemaType::Integer => "integer",
        SchemaType::Boolean => "boolean",
        SchemaType::IntOrText => "int-or-string",
        SchemaType::Any => "any",
    }
}

/// A default as JSON, with the keys of objects in alphabetical order.
fn json(value: &DefaultValue) -> String {
    match value {
        DefaultValue::Text(text) => format!("\"{text}\""),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::List(items) => {
            format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(","))
        }
        DefaultValue::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            let mut text = String::from("{");
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                let _ = write!(text, "{comma}\"{key}\":{}", json(value));
            }
            text + "}"
        }
    }
}
