//! The identity of the project, and access to its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Version of the workspace, and so of everything in a release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// URL of the repository, from the workspace's Cargo.toml.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The module in its registry, without the tag.
pub const MODULE: &str = "ghcr.io/karpwarden/policies/karpenter";

/// The module as a ClusterAdmissionPolicy names it.
pub fn module() -> String {
    format!("registry://{MODULE}:v{VERSION}")
}

/// The oldest and the newest minor version of Kubewarden to which the manifests apply.
pub const KUBEWARDEN: (&str, &str) = ("1.36", "1.38");

/// The path of a file of the repository.
pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}

/// The text of a file of the repository, with line feeds: a checkout may contain CRLF.
pub fn text(relative: &str) -> Result<String> {
    let text = fs::read_to_string(path(relative)).with_context(|| relative.to_owned())?;
    Ok(text.replace("\r\n", "\n"))
}

/// Description of the policy in one line.
pub const DESCRIPTION: &str =
    "Catches Karpenter (AWS) misconfigurations before they stop, double or terminate nodes";

/// Author, in the format of RFC 5322.
pub const AUTHOR: &str = "The Karpwarden maintainers <maintainers@karpwarden.github.io>";

/// Keywords for Artifact Hub.
pub const KEYWORDS: [&str; 7] =
    ["karpenter", "kubewarden", "aws", "eks", "node", "autoscaling", "validation"];

/// URL of the rule reference.
pub fn rules() -> &'static str {
    karpwarden::answers::report::DOCUMENTATION
}

/// URL of the playground, above the documentation.
pub fn pages() -> &'static str {
    let rules = rules();
    rules.strip_suffix("rules/").unwrap_or(rules)
}
