//! Writes JSON values as YAML.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// Renders the value of a key whose column is `indent`: a scalar on the same line, or a collection on the following lines.
pub(crate) fn value(value: &Json, indent: usize) -> String {
    let mut yaml = String::new();
    write(value, indent, &mut yaml);
    yaml
}

/// Renders settings as the text of `karpwarden.yaml`. No settings give an empty text.
pub(crate) fn document(settings: &Json) -> String {
    let text = value(settings, 0);
    let lines = text.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap_or(line));
    let mut document = lines.collect::<Vec<_>>().join("\n");
    if !document.is_empty() {
        document.push('\n');
    }
    document
}

fn write(value: &Json, indent: usize, yaml: &mut String) {
    match value {
        Json::Object(members) if !members.is_empty() => {
            yaml.push('\n');
            for (key, value) in members {
                let _ = write!(yaml, "{:indent$}  {}:", "", scalar(&Json::String(key.clone())));
                write(value, indent + 2, yaml);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            yaml.push('\n');
            for item in items {
                let mut text = String::new();
                write(item, indent + 4, &mut text);
                // The first key is on the line of the dash.
                let text = text.trim_start();
                let _ = write!(yaml, "{:indent$}    - {text}", "");
            }
        }
        other => {
            let _ = writeln!(yaml, " {}", scalar(other));
        }
    }
}

/// Formats a scalar. JSON is valid YAML; a word that YAML reads only as a string needs no quotes.
fn scalar(value: &Json) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let bare = first && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    let word = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if bare && !word.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    value.to_string().chars().map(escaped).collect()
}

/// Escapes the characters that JSON allows in a string, but that YAML forbids (`c-printable` of YAML 1.2), or that kubectl
/// reads as line breaks (go-yaml v2.4 `is_break` in `yamlprivateh.go`).
fn escaped(char: char) -> String {
    match char {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
            format!("\\u{:04x}", u32::from(char))
        }
        _ => char.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::settings;

    #[test]
    fn renders_settings_that_parse_back_unchanged() {
        let given = r#"{"karpenterVersion": "1.10", "rules": {"storage": "off", "restricted-label": "warn"},
            "exceptions": [{"rule": "storage", "reason": "it's \"fine\": # really", "name": "legacy-*"}], "fix": true}"#;
        let text = crate::settings_as_yaml(given).unwrap();
        assert_eq!(settings(&text), settings(given), "{text}");
        assert_eq!(crate::settings_as_yaml("").unwrap(), "");
    }

    #[test]
    fn escapes_characters_that_yaml_forbids_or_folds() {
        let given = r#"{"exceptions": [{"rule": "storage", "reason": "a\u0080\u0085\u007f\u2028\ufeff\uffffé😀\u0007"}]}"#;
        let text = crate::settings_as_yaml(given).unwrap();
        assert!(text.contains(r"a\u0080\u0085\u007f\u2028\ufeff\uffffé😀\u0007"), "{text}");
        assert_eq!(settings(&text), settings(given), "{text}");
    }
}
