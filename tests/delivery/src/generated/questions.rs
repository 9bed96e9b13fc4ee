//! `questions-ui.yml`: the form that Rancher shows for the settings.
//!
//! Types and fields: the questions of kubewarden/policies, and rancher/kubewarden-ui for `sequence[`.

use karpwarden::lint::finding::Family;
use karpwarden::lint::settings::keys::{self, Key, Scope, Shape};
use serde_json::{Value, json};
use serde_yaml_ng::{Mapping, Value as Yaml};

use crate::home;

/// The text of `questions-ui.yml`.
pub(super) fn text() -> Result<String, String> {
    let description = json!({
        "variable": "description", "type": "string", "label": "Description", "default": "", "required": false,
        "description": format!("{}. Errors reject the request, warnings are returned to whoever made it.", home::DESCRIPTION),
        "tooltip": home::DESCRIPTION, "group": "Settings", "hide_input": true,
    });
    let of_policy = keys::ALL.iter().filter(|key| key.scope != Scope::Terminal);
    let questions = core::iter::once(description).chain(of_policy.map(question));
    let questions = questions.map(|question| ordered(&question)).collect::<Result<Vec<_>, _>>()?;
    let form = Mapping::from_iter([("questions".into(), Yaml::Sequence(questions))]);
    let text = serde_yaml_ng::to_string(&form).map_err(|error| error.to_string())?;
    Ok(format!("# Made by `make generate` from the keys of the settings.\n{text}"))
}

fn question(key: &Key) -> Value {
    let (kind, default) = match key.shape {
        // An empty release is the newest known one, which the form does not name.
        Shape::Releases | Shape::Kubernetes | Shape::Text => ("string", Value::Null),
        Shape::Truth => ("boolean", json!(false)),
        Shape::Levels => ("map[", json!({})),
        Shape::Exceptions => ("sequence[", json!([])),
        Shape::Paths | Shape::Overrides => ("array[", json!([])),
    };
    let mut question = json!({
        "variable": key.name, "type": kind, "label": key.title, "tooltip": first_sentence(&description(key)),
        "description": description(key), "group": group(key), "required": false,
    });
    if let Some(fields) = question.as_object_mut() {
        if !default.is_null() {
            fields.insert("default".to_owned(), default);
        }
        if key.shape == Shape::Exceptions {
            fields.insert("sequence_questions".to_owned(), parts(key));
        }
    }
    question
}

fn description(key: &Key) -> String {
    if key.shape != Shape::Levels {
        // A form writes the quotes itself.
        return key.description.replace(", in quotes", "");
    }
    let families: Vec<&str> = Family::ALL.into_iter().map(Family::name).collect();
    format!(
        "{} The families are {}; the rules are listed at {}.",
        key.description,
        families.join(", "),
        home::rules()
    )
}

fn group(key: &Key) -> &'static str {
    match key.shape {
        Shape::Levels | Shape::Exceptions => "Rules",
        _ if key.scope == Scope::Cluster => "Rules",
        _ => "Settings",
    }
}

/// The questions of one exception.
fn parts(key: &Key) -> Value {
    let part = |(name, description, is_needed): &(&str, &str, bool)| {
        // No default: an empty text would be a value, and not a valid one.
        json!({
            "variable": name, "type": "string", "label": name, "tooltip": first_sentence(description),
            "description": description, "group": group(key), "required": is_needed,
        })
    };
    keys::EXCEPTION.iter().map(part).collect()
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}

/// The fields in the order in which people write them.
fn ordered(question: &Value) -> Result<Yaml, String> {
    const ORDER: [&str; 10] = [
        "variable",
        "type",
        "label",
        "description",
        "tooltip",
        "default",
        "group",
        "required",
        "hide_input",
        "sequence_questions",
    ];
    let mut fields = Mapping::new();
    for name in ORDER {
        let Some(value) = question.get(name) else { continue };
        let value = match value.as_array().filter(|_| name == "sequence_questions") {
            Some(parts) => Yaml::Sequence(parts.iter().map(ordered).collect::<Result<_, _>>()?),
            None => serde_yaml_ng::to_value(value).map_err(|error| error.to_string())?,
        };
        fields.insert(name.into(), value);
    }
    Ok(Yaml::Mapping(fields))
}
