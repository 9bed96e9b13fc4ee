//! YAML examples in the documentation are valid.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use karpwarden::lint::check::Cluster;
use karpwarden::lint::settings::{Settings, keys};
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File};
use karpwarden_generate::{home, yaml};
use kubewarden_policy_sdk::crd::policies::ClusterAdmissionPolicy;
use serde_json::Value;

/// The settings in a text, or the problems in them.
fn settings(text: &str) -> Result<Settings, String> {
    let file = File::read("settings.yaml", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
    Settings::parse(tree.root(), &karpwarden::REGISTRY)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Whether a document is meant to be settings: it has one of their keys.
fn is_settings(document: &Value) -> bool {
    document.as_object().is_some_and(|fields| {
        !fields.contains_key("apiVersion") && fields.keys().any(|key| keys::NAMES.contains(&key.as_str()))
    })
}

fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "policies/karpenter/README.md".to_owned()];
    if let Ok(entries) = fs::read_dir(home::path("docs")) {
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let texts =
            names.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
        pages.extend(texts.map(|name| format!("docs/{name}")));
    }
    pages.sort();
    pages
}

#[test]
fn settings_and_policies_in_the_documentation_are_valid() {
    let mut all_settings = 0;
    for page in pages() {
        for block in yaml::blocks(&home::text(&page).unwrap()) {
            let documents =
                yaml::documents(&block).unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
            for document in documents {
                if document["kind"] == "ClusterAdmissionPolicy" {
                    let policy: ClusterAdmissionPolicy = serde_json::from_value(document.clone())
                        .unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
                    let spec = policy.spec.unwrap();
                    assert_eq!(spec.module, home::module(), "{page}");
                    settings(&spec.settings.0.to_string()).unwrap_or_else(|error| panic!("{page}: {error}"));
                } else if is_settings(&document) {
                    settings(&block).unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
                    all_settings += 1;
                }
            }
        }
    }
    assert!(all_settings >= 2, "{all_settings} settings only");
}

#[test]
fn readme_example_is_rejected_and_its_fix_accepted() {
    let blocks = yaml::blocks(&home::text("policies/karpenter/README.md").unwrap());
    let class = blocks
        .iter()
        .find(|block| block.contains("kind: EC2NodeClass") && block.contains("arn:aws"))
        .unwrap();
    let errors = |text: &str| {
        let files = vec![File::read("-", text, &Limits::DEFAULT)];
        let report = karpwarden::check(&[Cluster { name: String::new(), files }], &Settings::default());
        report.summary.errors
    };
    assert_eq!(errors(class), 1);
    let fixed = class.replace("arn:aws:iam::111122223333:instance-profile/", "");
    assert_eq!(errors(&fixed), 0);
}

/// The documentation names the current version everywhere.
#[test]
fn documentation_names_the_current_version() {
    for page in pages() {
        let text = home::text(&page).unwrap();
        for (before, after) in
            [("policies/karpenter:v", home::VERSION), ("raw/v", home::VERSION), ("download/v", home::VERSION)]
        {
            for rest in text.split(before).skip(1) {
                assert!(
                    rest.starts_with(after),
                    "{page}: {before}{}",
                    rest.lines().next().unwrap_or_default()
                );
            }
        }
    }
}
