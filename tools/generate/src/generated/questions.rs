//! `questions-ui.yml`: the form that Rancher shows for the settings.
//!
//! Types and fields: the questions of kubewarden/policies, and rancher/kubewarden-ui for `sequence[`.

use anyhow::Result;
use karpwarden::rule::finding::Family;
use karpwarden::rule::settings::keys::{self, SettingKey, SettingScope, SettingShape};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{home, yaml};

/// The form. Fields are in the order in which the questions of kubewarden/policies have them.
#[derive(Serialize)]
struct Form {
    questions: Vec<Question>,
}

#[derive(Serialize)]
struct Question {
    variable: &'static str,
    r#type: &'static str,
    label: &'static str,
    description: String,
    tooltip: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    group: &'static str,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hide_input: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    options: &'static [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sequence_questions: Vec<Question>,
}

/// The text of `questions-ui.yml`.
pub(super) fn text() -> Result<String> {
    let description = Question {
        variable: "description",
        r#type: "string",
        label: "Description",
        description: format!(
            "{}. Errors reject the request, warnings are returned to the user who made it.",
            home::DESCRIPTION
        ),
        tooltip: home::DESCRIPTION.to_owned(),
        default: Some(json!("")),
        group: "Settings",
        required: false,
        hide_input: Some(true),
        options: &[],
        sequence_questions: Vec::new(),
    };
    let questions = core::iter::once(description).chain(keys::of_policy().map(question)).collect();
    let text = yaml::text(&Form { questions })?;
    Ok(format!("# Written by `make generate` from the keys of the settings.\n{text}"))
}

fn question(key: &SettingKey) -> Question {
    let (kind, default) = match key.shape {
        // An empty release is the newest known one, which the form does not name.
        SettingShape::Releases | SettingShape::Kubernetes | SettingShape::Text => ("string", None),
        SettingShape::Boolean => ("boolean", Some(json!(false))),
        SettingShape::Automatic => ("enum", Some(json!("auto"))),
        SettingShape::Choice(names) => ("enum", names.first().map(|name| json!(name))),
        SettingShape::Levels => ("map[", Some(json!({}))),
        SettingShape::Exceptions => ("sequence[", Some(json!([]))),
        SettingShape::Paths | SettingShape::Overrides => ("array[", Some(json!([]))),
    };
    let description = description(key);
    Question {
        variable: key.name,
        r#type: kind,
        label: key.title,
        tooltip: first_sentence(&description).to_owned(),
        description,
        default,
        group: group(key),
        required: false,
        hide_input: None,
        options: match key.shape {
            SettingShape::Choice(names) => names,
            SettingShape::Automatic => &["auto", "true", "false"],
            _ => &[],
        },
        sequence_questions: if key.shape == SettingShape::Exceptions { exception(key) } else { Vec::new() },
    }
}

fn description(key: &SettingKey) -> String {
    if key.shape != SettingShape::Levels {
        // The form itself adds the quotes.
        return key.description.replace(", in quotes", "");
    }
    let families: Vec<&str> = Family::ALL.into_iter().map(Family::name).collect();
    let list = match home::HOMEPAGE {
        "" => "`karpwarden rules` lists the rules".to_owned(),
        homepage => format!("the rules are listed at {homepage}/rules/"),
    };
    format!("{} The families are {}; {list}.", key.description, families.join(", "))
}

fn group(key: &SettingKey) -> &'static str {
    match key.shape {
        SettingShape::Levels | SettingShape::Exceptions => "Rules",
        _ if key.scope == SettingScope::Cluster => "Rules",
        _ => "Settings",
    }
}

/// The questions of one exception.
fn exception(key: &SettingKey) -> Vec<Question> {
    let question = |(name, description, required): &(&'static str, &str, bool)| Question {
        variable: name,
        r#type: "string",
        label: name,
        description: (*description).to_owned(),
        tooltip: first_sentence(description).to_owned(),
        // No default: the form would send an empty string, which is not a valid value.
        default: None,
        group: group(key),
        required: *required,
        hide_input: None,
        options: &[],
        sequence_questions: Vec::new(),
    };
    keys::EXCEPTION.iter().map(question).collect()
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}
