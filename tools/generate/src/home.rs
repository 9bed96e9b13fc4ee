//! The identity of the project, and access to its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Version of the workspace, and so of everything in a release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// URL of the repository, from the workspace's Cargo.toml.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// URL of the published site, from the workspace's Cargo.toml; may be empty.
pub const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");

/// Author, in the format of RFC 5322, from the workspace's Cargo.toml.
pub const AUTHOR: &str = env!("CARGO_PKG_AUTHORS");

/// The workspace's Cargo.toml.
const MANIFEST: &str = include_str!("../../../Cargo.toml");

/// The registry of the module and of the image, from the metadata of the workspace's Cargo.toml.
pub fn registry() -> &'static str {
    let (_, metadata) = MANIFEST.split_once("[workspace.metadata.karpwarden]").unwrap_or_default();
    metadata
        .lines()
        .find_map(|line| line.strip_prefix("registry = \"")?.strip_suffix('"'))
        .unwrap_or_default()
}

/// The module in its registry, without the tag.
pub fn module_name() -> String {
    format!("{}/policies/karpenter", registry())
}

/// The module as a ClusterAdmissionPolicy names it.
pub fn module() -> String {
    format!("registry://{}:v{VERSION}", module_name())
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

/// Keywords for Artifact Hub.
pub const KEYWORDS: [&str; 7] =
    ["karpenter", "kubewarden", "aws", "eks", "node", "autoscaling", "validation"];
