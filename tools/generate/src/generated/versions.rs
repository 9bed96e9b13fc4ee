//! The versions of Kubewarden and Karpenter in the documentation and in the examples.

use anyhow::{Context as _, Result};
use karpwarden::karpenter::release::Release;
use regex_lite::Regex;
use serde_json::Value;

use super::DerivedFile;
use crate::home::{self, KUBEWARDEN};
use crate::yaml;

/// The manifest that names the image of the policy server.
const SERVER: &str = "policies/karpenter/kustomize/base/policy-server.yaml";

/// The files, and the text before each version in them.
const FILES: [(&str, &[(&str, Version)]); 5] = [
    (
        "README.md",
        &[("--karpenter-version 1.0..", Version::Karpenter), ("\nkarpenterVersion: \"", Version::Karpenter)],
    ),
    (
        "docs/troubleshooting.md",
        &[("\nUp to Kubewarden ", Version::Newest), ("--karpenter-version 1.0..", Version::Karpenter)],
    ),
    ("policies/karpenter/README.md", &[("quick-start.html) ", Version::Oldest)]),
    (
        "docs/install.md",
        &[
            ("The manifests apply to Kubewarden ", Version::Range),
            ("policy servers up to ", Version::Newest),
            ("/policy-server:v", Version::Image),
        ],
    ),
    ("policies/karpenter/examples/namespaced.yaml", &[("/policy-server:v", Version::Image)]),
];

#[derive(Clone, Copy)]
enum Version {
    /// The oldest minor version to which the manifests apply.
    Oldest,
    /// The oldest and the newest one.
    Range,
    /// The newest one.
    Newest,
    /// The newest minor version of Karpenter.
    Karpenter,
    /// The version of the image.
    Image,
}

/// The files with the versions in them.
pub(super) fn files() -> Result<Vec<DerivedFile>> {
    let image = image()?;
    let with_versions = |(path, places): &(&str, &[(&str, Version)])| -> Result<DerivedFile> {
        let mut text = home::text(path)?;
        for (before, version) in *places {
            let version = match version {
                Version::Oldest => KUBEWARDEN.0.to_owned(),
                Version::Range => format!("{} to {}", KUBEWARDEN.0, KUBEWARDEN.1),
                Version::Newest => KUBEWARDEN.1.to_owned(),
                Version::Karpenter => Release::NEWEST.name_of_minor(),
                Version::Image => image.clone(),
            };
            text = with_version(&text, before, &version).with_context(|| format!("{path}: no `{before}`"))?;
        }
        Ok(((*path).to_owned(), text))
    };
    FILES.iter().map(with_versions).collect()
}

/// The version of the image of the policy server.
fn image() -> Result<String> {
    let server: Vec<Value> = yaml::documents(&home::text(SERVER)?)?;
    let image = server.first().and_then(|server| server.pointer("/spec/image")?.as_str()).unwrap_or_default();
    let (_, version) = image.rsplit_once(":v").with_context(|| format!("{SERVER}: no version"))?;
    Ok(version.to_owned())
}

/// A text with a version after each occurrence of `before` that a version follows. `None` if the text has no such place.
fn with_version(text: &str, before: &str, version: &str) -> Option<String> {
    let place = Regex::new(&format!(r"({})\d[\d.]*\d( to \d[\d.]*\d)?", regex_lite::escape(before))).ok()?;
    place.is_match(text).then(|| place.replace_all(text, format!("${{1}}{version}")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_versions_and_ranges() {
        assert_eq!(
            with_version("with x 1.2 or x 1.2 to 1.3.", "x ", "4.5").as_deref(),
            Some("with x 4.5 or x 4.5.")
        );
        assert_eq!(with_version("with x of y", "x ", "4.5"), None);
    }

    #[test]
    fn image_has_the_newest_version() {
        let image = image().unwrap_or_default();
        assert_eq!(image.rsplit_once('.').map(|(minor, _)| minor), Some(KUBEWARDEN.1));
    }
}
