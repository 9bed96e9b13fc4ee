//! Renders the manifests that install the policies, with the visitor's settings.
//!
//! The text comes from `policies/karpenter`, so that the page never offers a policy without a policy server, match
//! conditions or `failurePolicy: Ignore`.

use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File};
use karpwarden::rule::settings::keys;
use serde_json::{Map, Value as Json};

use crate::yaml;

/// Everything to install, in mode `monitor`.
const INSTALL: &str = include_str!("../../policies/karpenter/monitor.yaml");

/// The policy that applies the safe fixes and rejects nothing.
const FIX: &str = include_str!("../../policies/karpenter/kustomize/components/fix/fix.yaml");

const SEPARATOR: &str = "---\n";
const MODE: &str = "\n  mode: monitor\n";
const SETTINGS: &str = "\n  settings:";

/// Settings of a policy in mode `monitor`, and in mode `protect`.
const ANNOUNCED: &str = "    # In mode `monitor` Kubewarden drops the reason of a rejection, so the errors are returned as warnings.\n    announceErrors: true\n";
const NOT_ANNOUNCED: &str = "    # The rejection has the errors already.\n    announceErrors: false\n";

/// Renders the manifests as YAML. The mode is `protect` or `monitor`.
pub(crate) fn manifests(settings: &Map<String, Json>, mode: &str) -> String {
    let install = without_comment(INSTALL);
    let protecting = || install.replace(MODE, "\n  mode: protect\n").replace(ANNOUNCED, NOT_ANNOUNCED);
    let install = if mode == "protect" { protecting() } else { install.to_owned() };
    let fix = settings.get("fix").and_then(Json::as_bool).filter(|fix| *fix).map(|_| FIX);
    let documents = install.split(SEPARATOR).chain(fix);
    let documents: Vec<String> = documents.map(|document| with_settings(document, settings)).collect();
    format!("{}{}", head(mode), documents.join(SEPARATOR))
}

fn head(mode: &str) -> String {
    let effect = if mode == "monitor" {
        "Mode `monitor` rejects nothing: read the warnings and the reports before you write `mode: protect`."
    } else {
        "Mode `protect` rejects objects with errors: apply these manifests in mode `monitor` first."
    };
    format!(
        "# kubectl apply -f karpwarden.yaml\n#\n# The manifests of policies/karpenter with your settings.\n# {effect}\n\
         # Each step: {}/blob/v{}/docs/install.md\n",
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_VERSION"),
    )
}

/// Drops the comment at the top, which describes the file.
fn without_comment(text: &str) -> &str {
    text.find("apiVersion:").and_then(|at| text.get(at..)).unwrap_or(text)
}

/// Adds the settings to a policy, whose last key is `settings`. Other documents stay as they are.
fn with_settings(document: &str, settings: &Map<String, Json>) -> String {
    let Some((before, own)) = document.split_once(SETTINGS).filter(|_| !settings.is_empty()) else {
        return document.to_owned();
    };
    let merged = Json::Object(merged(own_settings(own), settings));
    format!("{before}{SETTINGS}{}", yaml::value(&merged, 2))
}

/// The settings that a policy already has.
fn own_settings(text: &str) -> Map<String, Json> {
    let file = File::read("settings.yaml", text, &Limits::DEFAULT);
    match file.documents.first() {
        Some(Document::Read(tree)) => match tree.root().to_json() {
            Json::Object(own) => own,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// The settings of a policy together with the settings of the visitor.
///
/// Only the policy that applies fixes has `fix`: another policy may not change objects, so Kubewarden would reject each
/// object with a fix. That policy rejects nothing, so a level may only become lower there.
fn merged(own: Map<String, Json>, settings: &Map<String, Json>) -> Map<String, Json> {
    let mut merged = own;
    // The manifest knows its mode.
    let is_automatic = |key: &str, value: &Json| key == "announceErrors" && value == "auto";
    // The policy refuses settings of the command line.
    let is_known = |key: &str| keys::of_policy().any(|known| known.name == key);
    let is_kept = |key: &str, value: &Json| key != "fix" && is_known(key) && !is_automatic(key, value);
    for (key, value) in settings.iter().filter(|(key, value)| is_kept(key, value)) {
        match (merged.get_mut(key), value) {
            (Some(Json::Object(own)), Json::Object(levels)) => {
                let lower = levels.iter().filter(|(_, level)| *level == "info" || *level == "off");
                own.extend(lower.map(|(name, level)| (name.clone(), level.clone())));
            }
            // The policy that applies fixes leaves an object beyond a bound to the others.
            (Some(_), _) if key == "onExceededBound" => {}
            _ => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::{ANNOUNCED, FIX, INSTALL, NOT_ANNOUNCED, SEPARATOR, SETTINGS};
    use crate::{policy, settings};

    const GIVEN: &str = r#"{"karpenterVersion": "1.10", "rules": {"storage": "off", "restricted-label": "deny"},
        "exceptions": [{"rule": "storage", "reason": "it's \"fine\": # really", "name": "legacy-*"}]}"#;

    fn documents(text: &str) -> Vec<&str> {
        super::without_comment(text).split(SEPARATOR).collect()
    }

    fn before_settings(document: &str) -> &str {
        document.split_once(SETTINGS).map_or(document, |(before, _)| before)
    }

    #[test]
    fn renders_the_install_manifests_unchanged_without_settings() {
        let rendered = policy("", "monitor").unwrap();
        assert_eq!(documents(&rendered), documents(INSTALL));
    }

    #[test]
    fn changes_only_the_settings_of_the_install_manifests() {
        let rendered = policy(GIVEN, "monitor").unwrap();
        let (rendered, install) = (documents(&rendered), documents(INSTALL));
        assert_eq!(rendered.len(), install.len());
        for (one, other) in rendered.iter().zip(install) {
            assert_eq!(before_settings(one), before_settings(other));
        }
    }

    #[test]
    fn changes_only_the_mode_and_the_announcement_to_protect() {
        let rendered = policy("", "protect").unwrap();
        let expected =
            INSTALL.replace("\n  mode: monitor\n", "\n  mode: protect\n").replace(ANNOUNCED, NOT_ANNOUNCED);
        assert_eq!(documents(&rendered), documents(&expected));
    }

    #[test]
    fn an_automatic_announcement_depends_on_the_mode() {
        for (mode, announced, other) in [("monitor", true, false), ("protect", false, true)] {
            let rendered = policy(r#"{"announceErrors": "auto"}"#, mode).unwrap();
            assert!(rendered.contains(&format!("announceErrors: {announced}")), "{mode}");
            assert!(!rendered.contains(&format!("announceErrors: {other}")), "{mode}");
        }
    }

    #[test]
    fn renders_settings_that_parse_back_unchanged_in_every_policy() {
        let rendered = policy(GIVEN, "monitor").unwrap();
        let policies: Vec<&str> = documents(&rendered)
            .iter()
            .filter_map(|one| one.split_once(SETTINGS))
            .map(|(_, own)| own)
            .collect();
        assert_eq!(policies.len(), 5);
        for own in policies {
            let own = own
                .lines()
                .map(|line| line.strip_prefix("    ").unwrap_or(line))
                .collect::<Vec<_>>()
                .join("\n");
            for (key, value) in super::own_settings(GIVEN) {
                assert_eq!(super::own_settings(&own).get(&key), Some(&value), "{own}");
            }
            assert!(settings(&own).unwrap().contains("\"problems\":[]"), "{own}");
        }
    }

    #[test]
    fn leaves_out_settings_of_the_command_line() {
        let given = r#"{"strictUpdates": true, "exclude": ["old/"], "overrides": [{"paths": ["dev/"], "clusterName": "dev"}]}"#;
        let rendered = policy(given, "monitor").unwrap();
        assert!(rendered.contains("strictUpdates: true"), "{rendered}");
        assert!(!rendered.contains("exclude:") && !rendered.contains("overrides:"), "{rendered}");
    }

    #[test]
    fn leaves_fixes_to_the_policy_that_rejects_nothing() {
        let rendered = policy(
            r#"{"fix": true, "clusterName": "a", "rules": {"storage": "deny", "labels": "off"}}"#,
            "monitor",
        )
        .unwrap();
        let (fix, others) =
            documents(&rendered).split_last().map(|(fix, others)| (*fix, others.to_vec())).unwrap();
        assert_eq!(before_settings(fix), before_settings(FIX));
        for part in ["fix: true\n", "clusterName: a\n", "storage: info\n", "labels: \"off\"\n"] {
            assert!(fix.contains(part), "{fix}");
        }
        for other in others {
            assert!(!other.contains("fix: true"), "{other}");
        }
    }
}
