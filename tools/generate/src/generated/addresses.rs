//! The version and the addresses of the project, in every file that names them.
//!
//! A record has what the files name now. Where Cargo.toml says something else, each file of the repository gets it. So a fork, or a
//! release, changes Cargo.toml and runs `make generate`.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use regex_lite::{Captures, Regex};
use serde::{Deserialize, Serialize};

use super::DerivedFile;
use crate::home;

/// Path of the record.
const RECORD: &str = "packaging/addresses.json";

/// Files that keep what they name: the source of the addresses, the record, and what past releases were.
const KEPT: [&str; 4] = ["Cargo.toml", "Cargo.lock", "CHANGELOG.md", RECORD];

/// Words of lines about another version: of the schema of winget's manifests, and of the program that the test of the packages installs.
const OTHERS: [&str; 3] = ["ManifestVersion:", "winget-manifest.", "maturin=="];

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Addresses {
    version: String,
    author: String,
    repository: String,
    homepage: String,
    registry: String,
}

/// The record, and every file that names something else.
pub(super) fn files() -> Result<Vec<DerivedFile>> {
    let old: Addresses = serde_json::from_str(&home::text(RECORD)?).context(RECORD)?;
    let new = Addresses::current(&old);
    let mut files = vec![(RECORD.to_owned(), format!("{}\n", serde_json::to_string_pretty(&new)?))];
    if new == old {
        return Ok(files);
    }
    let replacement = Replacement::new(&old, &new)?;
    for path in tracked()?.lines().filter(|path| !KEPT.contains(path)) {
        // Images are no text.
        let Ok(text) = home::text(path) else { continue };
        let changed = replacement.apply(path, &text);
        if changed != text {
            files.push((path.to_owned(), changed));
        }
    }
    Ok(files)
}

/// The files of the repository.
fn tracked() -> Result<String> {
    let output = Command::new("git").arg("ls-files").current_dir(home::path("")).output().context("git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("git ls-files")
}

impl Addresses {
    /// The addresses in Cargo.toml. Without a site, the documentation links to the former one.
    fn current(old: &Self) -> Self {
        let homepage = if home::HOMEPAGE.is_empty() { &old.homepage } else { home::HOMEPAGE };
        Self {
            version: home::VERSION.to_owned(),
            author: home::AUTHOR.to_owned(),
            repository: home::REPOSITORY.to_owned(),
            homepage: homepage.to_owned(),
            registry: home::registry().to_owned(),
        }
    }

    /// The addresses as files write them, an address before its parts.
    fn spellings(&self) -> Vec<String> {
        let mail = self.author.split_once(" <").map_or("", |(_, mail)| mail.trim_end_matches('>'));
        // `owner/name`, as actions and command lines have it.
        let name = self.repository.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
        let name = name.map_or("", |(_, name)| name);
        let mut spellings = [&self.author, mail, &self.homepage, &self.registry, &self.repository, name]
            .map(str::to_owned)
            .to_vec();
        if let Some((owner, name)) = name.split_once('/') {
            spellings.extend([format!("repo_owner: {owner}"), format!("repo_name: {name}")]);
            // The other repositories of the owner, and the owner as publisher.
            spellings.extend([
                format!("{owner}/tap/"),
                format!("{owner}/homebrew-tap"),
                format!("{owner}/scoop-bucket"),
                format!("install {owner}.karpwarden"),
                format!("PackageIdentifier: {owner}.karpwarden"),
                format!("\"publisher\": \"{owner}\""),
            ]);
        }
        spellings
    }
}

struct Replacement<'a> {
    addresses: Regex,
    /// Old and new spellings.
    spellings: Vec<(String, String)>,
    version: Regex,
    new_version: &'a str,
}

impl<'a> Replacement<'a> {
    fn new(old: &Addresses, new: &'a Addresses) -> Result<Self> {
        let spellings = old.spellings().into_iter().zip(new.spellings());
        let spellings: Vec<_> = spellings.filter(|(old, _)| !old.is_empty()).collect();
        let alternatives: Vec<String> = spellings.iter().map(|(old, _)| regex_lite::escape(old)).collect();
        Ok(Self {
            addresses: Regex::new(&alternatives.join("|"))?,
            spellings,
            version: Regex::new(&format!(r"(^|v|[^\w.]){}\b", regex_lite::escape(&old.version)))?,
            new_version: &new.version,
        })
    }

    /// A text with the new addresses. A version is replaced in a line with an address, after `rev:`, and anywhere in the files that exist for
    /// a release: another line may name a version of something else.
    fn apply(&self, path: &str, text: &str) -> String {
        let is_of_release = path.starts_with("packaging/") || path == "action.yml";
        let lines = text.split_inclusive('\n').map(|line| {
            let named = self.addresses.replace_all(line, |found: &Captures<'_>| {
                let found = found.get(0).map_or("", |found| found.as_str());
                let pair = self.spellings.iter().find(|(old, _)| old == found);
                pair.map_or_else(String::new, |(_, new)| new.clone())
            });
            let has_version =
                is_of_release || self.addresses.is_match(line) || line.trim_start().starts_with("rev: v");
            if !has_version || OTHERS.iter().any(|other| line.contains(other)) {
                return named.into_owned();
            }
            self.version.replace_all(&named, format!("${{1}}{}", self.new_version)).into_owned()
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(version: &str, owner: &str, site: &str) -> Addresses {
        Addresses {
            version: version.to_owned(),
            author: format!("The {owner} maintainers <mail@{site}>"),
            repository: format!("https://github.com/{owner}/tool"),
            homepage: format!("https://{site}/tool"),
            registry: format!("registry.example/{owner}"),
        }
    }

    #[test]
    fn replaces_addresses_and_versions() -> Result<()> {
        let (old, new) =
            (addresses("1.0.0", "ours", "ours.example"), addresses("1.2.0", "forks", "forks.example"));
        let replacement = Replacement::new(&old, &new)?;
        for (path, text, expected) in [
            ("a", "uses: ours/tool@v1.0.0\n", "uses: forks/tool@v1.2.0\n"),
            ("a", "image: registry.example/ours/tool:v1.0.0", "image: registry.example/forks/tool:v1.2.0"),
            (
                "a",
                "<https://github.com/ours/tool/raw/v1.0.0/a>",
                "<https://github.com/forks/tool/raw/v1.2.0/a>",
            ),
            (
                "a",
                "https://ours.example/tool/rules/a, mail@ours.example",
                "https://forks.example/tool/rules/a, mail@forks.example",
            ),
            ("a", "brew install ours/tap/karpwarden\n", "brew install forks/tap/karpwarden\n"),
            (
                "a",
                "repos/ours/homebrew-tap/a, ours/scoop-bucket",
                "repos/forks/homebrew-tap/a, forks/scoop-bucket",
            ),
            ("a", "winget install ours.karpwarden\n", "winget install forks.karpwarden\n"),
            ("a", "PackageIdentifier: ours.karpwarden\n", "PackageIdentifier: forks.karpwarden\n"),
            ("a", "  \"publisher\": \"ours\",\n", "  \"publisher\": \"forks\",\n"),
            ("a", "  rev: v1.0.0\n", "  rev: v1.2.0\n"),
            ("a", "karpenter: v1.0.0\n", "karpenter: v1.0.0\n"),
            ("packaging/a", "version: 1.0.0\nother: 21.0.0\n", "version: 1.2.0\nother: 21.0.0\n"),
            ("packaging/a", "ManifestVersion: 1.0.0\n", "ManifestVersion: 1.0.0\n"),
        ] {
            assert_eq!(replacement.apply(path, text), expected);
        }
        Ok(())
    }

    #[test]
    fn manifest_names_a_registry() {
        assert!(home::registry().contains('/'), "{}", home::registry());
    }
}
