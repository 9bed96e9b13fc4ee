//! Renders a ClusterAdmissionPolicy.

use std::fmt::Write as _;

use karpwarden::lint::settings::Settings;
use serde_json::Value as Json;

/// Metadata of the policy module, which names its rules and the kinds it reads.
const METADATA: &str = include_str!("../../policies/karpenter/metadata.yml");

/// Renders the manifest as YAML. The mode is `protect` or `monitor`.
pub(crate) fn manifest(settings: &Json, read: &Settings, mode: &str) -> String {
    let url = METADATA.lines().find_map(|line| line.trim().strip_prefix("io.kubewarden.policy.ociUrl: "));
    let mut yaml = format!(
        "apiVersion: policies.kubewarden.io/v1\n\
         kind: ClusterAdmissionPolicy\n\
         metadata:\n  name: karpenter\n\
         spec:\n  module: registry://{}:v{}\n  mode: {}\n  mutating: {}\n  backgroundAudit: true\n",
        url.unwrap_or_default(),
        env!("CARGO_PKG_VERSION"),
        if mode == "monitor" { "monitor" } else { "protect" },
        read.fix,
    );
    for block in ["rules:", "contextAwareResources:"] {
        for line in lines_of(block) {
            let _ = writeln!(yaml, "  {line}");
        }
    }
    yaml.push_str("  settings:");
    write(settings, 2, &mut yaml);
    yaml
}

/// Lines of a block of the metadata: the key and the lines indented below it.
fn lines_of(key: &str) -> impl Iterator<Item = &'static str> {
    let mut lines = METADATA.lines().skip_while(move |line| *line != key);
    lines.next().into_iter().chain(lines.take_while(|line| line.starts_with([' ', '-'])))
}

/// Writes the value of a key or list item: a scalar on the same line, or a collection on the following lines.
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
    value.to_string()
}

#[cfg(test)]
mod tests {
    use crate::{policy, settings};

    #[test]
    fn renders_settings_that_parse_back_unchanged() {
        let given = r#"{"karpenterVersion": "1.10", "rules": {"storage": "off", "restricted-label": "warn"},
            "exceptions": [{"rule": "storage", "reason": "it's \"fine\": # really", "name": "legacy-*"}], "fix": true}"#;
        let yaml = policy(given, "monitor").unwrap();
        assert!(yaml.contains("mode: monitor\n  mutating: true\n"), "{yaml}");
        assert!(yaml.contains("resources: [\"nodepools\", \"nodeclaims\"]"), "{yaml}");
        let block: Vec<&str> = yaml.lines().skip_while(|line| *line != "  settings:").skip(1).collect();
        let again = settings(&block.join("\n"));
        assert_eq!(again, settings(given), "{yaml}");
        assert!(again.contains("\"problems\":[]"), "{again}");
    }

    #[test]
    fn renders_empty_settings_as_an_empty_object() {
        assert!(policy("", "protect").unwrap().ends_with("  settings: {}\n"));
    }
}
