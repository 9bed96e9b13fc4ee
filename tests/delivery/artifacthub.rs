//! Artifact Hub's files are complete and agree with the policy's metadata.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use karpwarden_generate::{changelog, home};
use serde_json::Value;

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&home::text(path).unwrap()).unwrap()
}

#[test]
fn package_is_complete_and_agrees_with_the_metadata() {
    let (package, metadata) =
        (yaml("artifacthub/artifacthub-pkg.yml"), yaml("policies/karpenter/metadata.yml"));
    // Required by Artifact Hub: docs/metadata/artifacthub-pkg.yml.
    for key in ["version", "name", "displayName", "createdAt", "description"] {
        assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let annotation = |name: &str| &metadata["annotations"][name];
    assert_eq!(&package["version"], annotation("io.kubewarden.policy.version"));
    assert_eq!(package["version"], home::VERSION);
    let image = &package["containersImages"][0];
    assert_eq!(image["name"], "policy", "Artifact Hub requires an image of this name");
    let module = annotation("io.kubewarden.policy.ociUrl").as_str().unwrap();
    assert_eq!(image["image"], format!("{module}:v{}", home::VERSION));
    assert_eq!(package["annotations"]["kubewarden/mutation"], "false");
    for (key, of_policy) in
        [("kubewarden/rules", "rules"), ("kubewarden/contextAwareResources", "contextAwareResources")]
    {
        let parsed: Value = serde_saphyr::from_str(package["annotations"][key].as_str().unwrap()).unwrap();
        assert_eq!(parsed, metadata[of_policy]);
    }
    for key in [
        "install",
        "links",
        "maintainers",
        "provider",
        "recommendations",
        "screenshots",
        "changes",
        "readme",
        "keywords",
    ] {
        assert!(!package[key].is_null(), "{key}");
    }
    for screenshot in package["screenshots"].as_array().unwrap() {
        let url = screenshot["url"].as_str().unwrap();
        let path = url.split_once(&format!("/raw/v{}/", home::VERSION)).unwrap().1;
        assert!(home::path(path).is_file(), "{path}");
    }
}

#[test]
fn owner_is_the_author() {
    let owner = &yaml("artifacthub/artifacthub-repo.yml")["owners"][0];
    assert_eq!(
        format!("{} <{}>", owner["name"].as_str().unwrap(), owner["email"].as_str().unwrap()),
        home::AUTHOR
    );
}

#[test]
fn rejects_a_changelog_of_another_version() {
    let changes =
        |text: &str| changelog::newest(text).map(|section| (section.created_at(), section.changes.len()));
    let released = format!(
        r"# Changelog

## [{}] - 2027-01-02

### Added

- one
  and more
- two

### Fixed

- three

## [0.1.0]

### Added

- old
",
        home::VERSION
    );
    assert_eq!(changes(&released).unwrap(), ("2027-01-02T00:00:00Z".to_owned(), 3));
    let error = |text| changes(text).unwrap_err().to_string();
    assert!(error("# Changelog\n\n## [0.0.1] - 2027-01-02\n").contains("newest version is 0.0.1"));
    assert!(error("# Changelog\n\n## [Unreleased]\n\n### Improved\n\n- one\n").contains("unknown kind"));
}
