//! JSON Schema and TypeScript of the settings, from the table of their keys.

use std::fmt::Write as _;

use karpwarden::REGISTRY;
use karpwarden::rule::Rule;
use karpwarden::rule::finding::{Family, Severity};
use karpwarden::rule::settings::RuleLevel;
use karpwarden::rule::settings::keys::{self, SettingKey, SettingScope, SettingShape};
use serde_json::{Map, Value, json};

use crate::schema::id;

/// Schema of the settings of the policy and of `karpwarden.yaml`.
pub fn schema() -> Value {
    let properties: Map<String, Value> =
        keys::ALL.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": id("settings"),
        "title": "Settings of Karpwarden",
        "description": "The settings of the Kubewarden policy and of karpwarden.yaml",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(key: &SettingKey) -> Value {
    let mut schema = match key.shape {
        SettingShape::Releases => {
            let release = r"(latest|v?1\.\d+(\.\d+)?)";
            let pattern = format!(r"^{release}(\.\.{release})?$");
            json!({"type": "string", "pattern": pattern, "examples": ["1.8", "1.8.3", "1.8..1.14", "latest"]})
        }
        SettingShape::Kubernetes => {
            json!({"type": "string", "pattern": r"^v?1\.\d+([.+-].*)?$", "examples": ["1.33"]})
        }
        SettingShape::Text => json!({"type": "string", "minLength": 1, "pattern": r"\S"}),
        SettingShape::Boolean => json!({"type": "boolean", "default": false}),
        // The form in Rancher sends every choice as a string.
        SettingShape::Automatic => json!({"enum": ["auto", true, false, "true", "false"], "default": "auto"}),
        SettingShape::Choice(names) => json!({"enum": names, "default": names.first()}),
        SettingShape::Levels => {
            json!({"type": "object", "additionalProperties": false, "properties": levels()})
        }
        SettingShape::Exceptions => json!({"type": "array", "items": exception()}),
        SettingShape::Paths => paths(),
        SettingShape::Overrides => json!({"type": "array", "items": one_override()}),
    };
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("title".to_owned(), key.title.into());
        fields.insert("description".to_owned(), description(key).into());
    }
    schema
}

fn description(key: &SettingKey) -> String {
    let only = match key.scope {
        SettingScope::Everywhere => "",
        SettingScope::Cluster => " In the cluster only.",
        SettingScope::Terminal => " On the command line only.",
    };
    format!("{}{only}", key.description)
}

/// Schema of the level of each family and rule, with the description and default of each rule.
fn levels() -> Map<String, Value> {
    let level = |description: String| {
        // YAML 1.1 reads `off` without quotes as `false`; the settings accept it as the level.
        let names = RuleLevel::NAMES.into_iter().map(Value::from).chain([Value::Bool(false)]);
        json!({"enum": names.collect::<Vec<_>>(), "description": description})
    };
    let is_present = |name: &str| Family::ALL.into_iter().any(|family| family.name() == name);
    let families = REGISTRY.families().into_iter().map(|name| {
        let of = if is_present(name) { "All rules of the family" } else { "All rules of the former family" };
        (name.to_owned(), level(format!("{of} {name}")))
    });
    let rules = sorted().into_iter().map(|rule| {
        let own = match rule.severity {
            Severity::Error => "deny",
            Severity::Warning => "warn",
            Severity::Info => "info",
        };
        let mut schema = level(rule.summary.to_owned());
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("default".to_owned(), own.into());
        }
        (rule.name.to_owned(), schema)
    });
    families.chain(rules).collect()
}

/// Rules sorted by family, then by name.
fn sorted() -> Vec<&'static Rule> {
    let mut rules: Vec<_> = REGISTRY.rules().collect();
    rules.sort_by_key(|rule| (rule.family, rule.name));
    rules
}

fn paths() -> Value {
    json!({"type": "array", "items": {"type": "string", "minLength": 1}})
}

fn one_override() -> Value {
    let overridden = keys::ALL.iter().filter(|key| keys::OVERRIDDEN.contains(&key.name));
    let properties: Map<String, Value> = core::iter::once(("paths".to_owned(), paths()))
        .chain(overridden.map(|key| (key.name.to_owned(), property(key))))
        .collect();
    json!({"type": "object", "additionalProperties": false, "required": ["paths"], "properties": properties})
}

fn exception() -> Value {
    let names: Vec<&str> =
        REGISTRY.families().into_iter().chain(REGISTRY.rules().map(|rule| rule.name)).collect();
    let property = |(name, description, _): &(&str, &str, bool)| {
        let mut schema = match *name {
            "rule" => json!({"enum": names}),
            "until" => json!({"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), (*description).into());
        }
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = keys::EXCEPTION.iter().map(property).collect();
    let required: Vec<&str> =
        keys::EXCEPTION.iter().filter(|(_, _, is_needed)| *is_needed).map(|(name, ..)| *name).collect();
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// TypeScript of the settings.
pub(crate) fn typescript() -> String {
    let mut text =
        format!("\n/** Level of a rule or family. */\nexport type Level = {};\n", words(&RuleLevel::NAMES));
    text.push_str("\n/** Accepted findings. */\nexport type Exception = {\n");
    for (name, description, is_needed) in keys::EXCEPTION {
        let mark = if is_needed { "" } else { "?" };
        let _ = writeln!(text, "  /** {description} */\n  {name}{mark}: string;");
    }
    text.push_str("};\n\n/** Settings for the files that match one of the paths. */\nexport type Override = {\n  paths: string[];\n");
    keys::ALL
        .iter()
        .filter(|key| keys::OVERRIDDEN.contains(&key.name))
        .for_each(|key| declare(key, &mut text));
    text.push_str("};\n\n/** The keys of `karpwarden.yaml` and of the policy's settings. */\nexport type Settings = {\n");
    for key in &keys::ALL {
        declare(key, &mut text);
    }
    text + "};\n"
}

fn declare(key: &SettingKey, text: &mut String) {
    let kind = match key.shape {
        SettingShape::Releases | SettingShape::Kubernetes | SettingShape::Text => "string".to_owned(),
        SettingShape::Boolean => "boolean".to_owned(),
        SettingShape::Automatic => "boolean | \"auto\"".to_owned(),
        SettingShape::Choice(names) => words(names),
        SettingShape::Levels => "Record<string, Level>".to_owned(),
        SettingShape::Exceptions => "Exception[]".to_owned(),
        SettingShape::Paths => "string[]".to_owned(),
        SettingShape::Overrides => "Override[]".to_owned(),
    };
    let _ = writeln!(text, "  /** {} */\n  {}?: {kind};", description(key), key.name);
}

fn words(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" | ")
}
