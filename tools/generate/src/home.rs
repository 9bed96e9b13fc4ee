//! Where the project lives: read from the places that say it, so that no other file has to be trusted.

use std::fs;
use std::path::{Path, PathBuf};

/// The version of everything that is released together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The repository, as the workspace names it.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The module in its registry, without a tag.
pub const MODULE: &str = "ghcr.io/karpwarden/policies/karpenter";

/// The module as a policy names it.
pub fn module() -> String {
    format!("registry://{MODULE}:v{VERSION}")
}

/// A path of the repository.
pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}

/// The text of a file of the repository. A checkout may have made CRLF of it.
pub fn text(relative: &str) -> Result<String, String> {
    let text = fs::read_to_string(path(relative)).map_err(|error| format!("{relative}: {error}"))?;
    Ok(text.replace("\r\n", "\n"))
}

/// Where the schemas are published: beside the documentation.
pub fn schemas() -> String {
    format!("{}schemas/", pages())
}

/// What the policy does, in a line.
pub const DESCRIPTION: &str =
    "Catches Karpenter (AWS) misconfigurations before they stop, double or terminate nodes";

/// Who answers for it, as RFC 5322 has it.
pub const AUTHOR: &str = "The Karpwarden maintainers <maintainers@karpwarden.github.io>";

/// The words by which it is found.
pub const KEYWORDS: [&str; 7] =
    ["karpenter", "kubewarden", "aws", "eks", "node", "autoscaling", "validation"];

/// Where the rules are documented.
pub fn rules() -> &'static str {
    karpwarden::report::DOCUMENTATION
}

/// Where the pages are: the playground, with the documentation below it.
pub fn pages() -> &'static str {
    let rules = rules();
    rules.strip_suffix("rules/").unwrap_or(rules)
}
