//! The newest section of the changelog, in the form of Artifact Hub.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::home;

/// A section of the changelog.
#[derive(Debug)]
pub struct Section {
    date: Option<String>,
    /// Objects of Artifact Hub: `{kind, description}`.
    pub changes: Vec<Value>,
}

impl Section {
    /// Time of the release. An unreleased section has the project's first day.
    pub fn created_at(&self) -> String {
        format!("{}T00:00:00Z", self.date.as_deref().unwrap_or("2026-11-20"))
    }
}

/// Artifact Hub's kinds of changes.
const KINDS: [&str; 6] = ["added", "changed", "deprecated", "removed", "fixed", "security"];

/// Parses the first section: `## [Unreleased]`, or the current version as in `## [1.0.0] - 2026-11-20`.
pub fn newest(text: &str) -> Result<Section> {
    let (_, rest) = text.split_once("\n## [").context("the changelog has no section")?;
    let (heading, body) = rest.split_once('\n').context("the changelog's section is empty")?;
    let body = body.split("\n## [").next().unwrap_or_default();
    let (name, date) = heading.split_once(']').context("the changelog's heading has no bracket")?;
    if name != "Unreleased" && name != home::VERSION {
        bail!("the changelog's newest version is {name}, but the workspace has {}", home::VERSION);
    }
    let date = date.strip_prefix(" - ").map(str::to_owned);
    let (mut kind, mut changes, mut change) = (String::new(), Vec::new(), String::new());
    for line in body.lines().chain(["### "]) {
        let starts = line.starts_with("- ") || line.starts_with("### ") || line.trim().is_empty();
        if starts && !change.is_empty() {
            changes.push(json!({"kind": kind, "description": core::mem::take(&mut change)}));
        }
        if let Some(heading) = line.strip_prefix("### ") {
            kind = heading.to_ascii_lowercase();
        } else if let Some(first) = line.strip_prefix("- ") {
            first.clone_into(&mut change);
        } else if !change.is_empty() {
            change = format!("{change} {}", line.trim());
        }
    }
    match changes.iter().find(|change| !KINDS.iter().any(|kind| change["kind"] == *kind)) {
        Some(change) => bail!("unknown kind of change in the changelog: {change}"),
        None => Ok(Section { date, changes }),
    }
}
