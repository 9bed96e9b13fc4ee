//! Label and field selectors, as the API server reads them.
//!
//! Source: kubernetes/apimachinery `pkg/labels/selector.go` and `pkg/fields/selector.go`.

use anyhow::{Result, bail};
use serde_json::Value;

/// Whether an object's labels match a selector such as `team=a,tier in (web, db),!legacy`.
pub(super) fn labels_match(selector: &str, object: &Value) -> Result<bool> {
    let label = |key: &str| object.pointer("/metadata/labels")?.get(key)?.as_str();
    for requirement in split_outside_parentheses(selector) {
        if !label_matches(requirement.trim(), &label)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an object's fields match a selector such as `metadata.name=default`.
pub(super) fn fields_match(selector: &str, object: &Value) -> Result<bool> {
    let field = |path: &str| {
        let value = path.split('.').try_fold(object, |value, part| value.get(part));
        value.and_then(Value::as_str).unwrap_or_default()
    };
    for requirement in selector.split(',').filter(|requirement| !requirement.is_empty()) {
        let matches = if let Some((path, value)) = requirement.split_once("!=") {
            field(path) != value
        } else if let Some((path, value)) = equality(requirement) {
            field(path) == value
        } else {
            bail!("invalid selector: '{selector}'; can't understand '{requirement}'");
        };
        if !matches {
            return Ok(false);
        }
    }
    Ok(true)
}

fn label_matches<'a>(requirement: &str, label: &impl Fn(&str) -> Option<&'a str>) -> Result<bool> {
    if let Some((key, value)) = requirement.split_once("!=") {
        return Ok(label(key.trim()) != Some(value.trim()));
    }
    if let Some((key, value)) = equality(requirement) {
        return Ok(label(key.trim()) == Some(value.trim()));
    }
    if let Some(key) = requirement.strip_prefix('!') {
        return Ok(label(key.trim()).is_none());
    }
    let mut words = requirement.splitn(3, ' ');
    let (Some(key), operator, values) = (words.next(), words.next(), words.next()) else {
        bail!("unable to parse requirement: '{requirement}'");
    };
    let Some(operator) = operator else { return Ok(label(key).is_some()) };
    let values = values.and_then(|values| values.trim().strip_prefix('(')?.strip_suffix(')'));
    let listed = |values: &str| values.split(',').any(|value| label(key) == Some(value.trim()));
    match (operator, values) {
        ("in", Some(values)) => Ok(listed(values)),
        ("notin", Some(values)) => Ok(!listed(values)),
        _ => bail!("unable to parse requirement: '{requirement}'"),
    }
}

fn equality(requirement: &str) -> Option<(&str, &str)> {
    requirement.split_once("==").or_else(|| requirement.split_once('='))
}

fn split_outside_parentheses(selector: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let pieces = selector.split(move |character| {
        inside = (inside || character == '(') && character != ')';
        character == ',' && !inside
    });
    pieces.filter(|requirement| !requirement.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn label_selectors_compare_list_and_test_for_existence() {
        let object = json!({"metadata": {"labels": {"team": "a", "tier": "web"}}});
        for (selector, expected) in [
            ("", true),
            ("team=a", true),
            ("team==a,tier!=db", true),
            ("tier in (db, web),team", true),
            ("tier notin (db, web)", false),
            ("!legacy", true),
            ("legacy", false),
            ("!team", false),
        ] {
            assert_eq!(labels_match(selector, &object).unwrap(), expected, "{selector}");
        }
        assert!(labels_match("team like a", &object).is_err());
    }

    #[test]
    fn field_selectors_compare_values() {
        let object = json!({"metadata": {"name": "default"}});
        assert!(fields_match("metadata.name=default", &object).unwrap());
        assert!(!fields_match("metadata.name!=default", &object).unwrap());
        assert!(fields_match("metadata.name", &object).is_err());
    }
}
