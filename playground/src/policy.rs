//! The ClusterAdmissionPolicy that gives some settings to the policy.

use std::fmt::Write as _;

use karpwarden::lint::settings::Settings;
use serde_json::Value as Json;

/// What the module says of itself: the rules and the kinds it looks up come from here.
const METADATA: &str = include_str!("../../policies/karpenter/metadata.yml");

/// The manifest as YAML. The mode is `protect` or `monitor`.
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

/// The lines of a block of the metadata: its key, and what is indented below it.
fn lines_of(key: &str) -> impl Iterator<Item = &'static str> {
    let mut lines = METADATA.lines().skip_while(move |line| *line != key);
    lines.next().into_iter().chain(lines.take_while(|line| line.starts_with([' ', '-'])))
}

/// What follows a key or a dash: a scalar on the same line, or a collection on the next ones.
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
                // The first member stands behind the dash.
                let text = text.trim_start();
                let _ = write!(yaml, "{:indent$}    - {text}", "");
            }
        }
        other => {
            let _ = writeln!(yaml, " {}", scalar(other));
        }
    }
}

/// A scalar in JSON's spelling, which is YAML's too; a word that no YAML reader takes for something else stands bare.
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
    fn the_manifest_reads_back_as_the_same_settings() {
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
    fn no_settings_are_an_empty_object() {
        assert!(policy("", "protect").unwrap().ends_with("  settings: {}\n"));
    }
}
