//! YAML examples in the documentation are valid.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use karpwarden::cluster::Cluster;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::{Settings, keys};
use karpwarden_admit::kinds::plural;
use karpwarden_generate::{home, yaml};
use karpwarden_policy::admission::validate;
use karpwarden_policy::host::Wapc;
use kubewarden_policy_sdk::crd::policies::ClusterAdmissionPolicy;
use serde_json::{Value, json};

/// The settings in a text, or the problems in them.
fn settings(text: &str) -> Result<Settings, String> {
    let file = File::read("settings.yaml", text, READ_OPTIONS);
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
        let files = vec![File::read("-", text, READ_OPTIONS)];
        let report = karpwarden::check(&[Cluster { name: String::new(), files }], &Settings::default());
        report.summary.errors
    };
    assert_eq!(errors(class), 1);
    let fixed = class.replace("arn:aws:iam::111122223333:instance-profile/", "");
    assert_eq!(errors(&fixed), 0);
}

/// The documentation shows the output of `kubectl` in each mode, up to the dots.
#[test]
fn documented_output_of_kubectl_is_the_answer_of_the_policy() {
    let blocks = yaml::blocks(&home::text("policies/karpenter/README.md").unwrap());
    let class = blocks.iter().find(|block| block.contains("instanceProfile: arn:aws")).unwrap();
    let class = yaml::documents(class).unwrap().remove(0);
    let settings = json!({"karpenterVersion": "1.8", "announceErrors": true});
    let payload = json!({"request": {"operation": "CREATE", "object": class}, "settings": settings});
    let answer = validate(payload.to_string().as_bytes(), &Wapc);
    let (message, [warning]) = (answer.message.unwrap(), &answer.warnings[..]) else {
        panic!("{:?}", answer.warnings)
    };
    for page in ["README.md", "docs/install.md"] {
        let text = home::text(page).unwrap();
        let up_to_dots = |line: &str| line.split('…').next().unwrap().to_owned();
        let warned = text.lines().find_map(|line| line.strip_prefix("Warning: ")).map(up_to_dots).unwrap();
        assert!(warned.len() > 20 && warning.starts_with(&warned), "{page}: {warned}");
        let mut lines = text.lines().skip_while(|line| !line.starts_with("Error from server: "));
        let (_, first) = lines.next().unwrap().split_once(" denied the request: ").unwrap();
        let second = lines.next().unwrap();
        assert!(message.starts_with(&up_to_dots(first)), "{page}: {first}");
        assert_eq!(message.lines().nth(1), Some(second), "{page}");
    }
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

/// Whoever has only a checkout can do every step: a page that names a published address says what takes its place.
#[test]
fn published_addresses_have_a_local_step() {
    let (repository, registry) = (home::REPOSITORY, home::registry());
    let action = repository.trim_start_matches("https://github.com/");
    let steps = [
        (format!("{}/)", home::HOMEPAGE), &["make playground"][..]),
        (format!("{}/schemas/", home::HOMEPAGE), &["(../schemas/", "(https://"]),
        (format!("{registry}/policies/"), &["make publish"]),
        (format!("{registry}/karpwarden:"), &["make image"]),
        (format!("{action}@v"), &["uses: ./"]),
        (format!("repo: {repository}"), &["try-repo ../karpwarden"]),
        (format!("{repository}/releases/download/"), &["cargo install --locked --path cli"]),
        (format!("--git {repository}"), &["cargo install --locked --path cli"]),
        (format!("{repository}\", tag"), &["path = \"../karpwarden\""]),
        (format!("{repository}//"), &["From a checkout", "From a checkout](", "make publish"]),
        (format!("{repository}/raw/"), &["From a checkout", "from a checkout", "In a checkout"]),
    ];
    let mut named = 0;
    for page in pages() {
        let text = home::text(&page).unwrap();
        for (address, local) in steps.iter().filter(|(address, _)| text.contains(address)) {
            assert!(local.iter().any(|step| text.contains(step)), "{page}: {address} without a local step");
            named += 1;
        }
    }
    assert!(named > 15, "{named} only");
}

#[test]
fn documentation_names_the_kinds_that_the_policies_look_up() {
    let kinds: Vec<String> =
        karpwarden::ADMISSION.looked_up().iter().map(|(kind, _)| plural(kind.name)).collect();
    let (last, others) = kinds.split_last().unwrap();
    let named = format!("{} and {last}", others.join(", "));
    for path in ["README.md", "docs/install.md", "docs/security.md", "policies/karpenter/README.md"] {
        let text = home::text(path).unwrap().to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&named), "{path} does not name {named}");
    }
}
