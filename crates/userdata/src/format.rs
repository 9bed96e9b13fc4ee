//! Detection of the format of user data.

use manifest::source::Span;

use crate::base64::decode_base64;

/// Format of user data, detected from its first lines. The text is not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserDataFormat {
    /// Only whitespace.
    Empty,
    /// Only comments, which YAML parses as null.
    Comments,
    /// MIME archive: starts with MIME headers, possibly after blank lines.
    Mime,
    /// Script that starts with `#!` and an interpreter.
    Script,
    /// Cloud-config: starts with `#cloud-config`.
    CloudConfig,
    /// Starts with another marker of cloud-init: `#include`, `#cloud-boothook`, `#part-handler`, `## template: jinja`.
    CloudInit,
    /// Script in `<powershell>` or `<script>` tags, as EC2 expects on Windows.
    Tagged,
    /// TOML: the first line is a table header or sets a key below `settings`.
    Toml,
    /// NodeConfig: YAML or JSON that contains `node.eks.aws`.
    NodeConfig,
    /// Base64-encoded text, which Karpenter would encode a second time.
    Base64,
    /// Base64-encoded gzip stream.
    Base64Gzip,
    /// No marker: for example PowerShell, YAML or a script without `#!`.
    Unmarked,
}

impl UserDataFormat {
    /// Detects the format of a text.
    pub fn detect(text: &str) -> Self {
        let trimmed = text.trim();
        let starts = |markers: &[&str]| markers.iter().any(|marker| trimmed.starts_with(marker));
        if trimmed.is_empty() {
            Self::Empty
        } else if starts(&["#!"]) {
            Self::Script
        } else if starts(&[
            "#cloud-config-archive",
            "#cloud-boothook",
            "#include",
            "#part-handler",
            "#upstart-job",
            "## template:",
        ]) {
            Self::CloudInit
        } else if starts(&["#cloud-config"]) {
            Self::CloudConfig
        } else if is_mime(trimmed) {
            Self::Mime
        } else if tag(text).is_some() {
            Self::Tagged
        } else if only_comments(text) {
            Self::Comments
        } else if is_toml(trimmed) {
            Self::Toml
        } else if is_node_config(trimmed) {
            Self::NodeConfig
        } else {
            decoded_format(trimmed).unwrap_or(Self::Unmarked)
        }
    }
}

/// Opening tag of Windows user data, if the text starts with one.
pub fn tag(text: &str) -> Option<Span> {
    let start = text.len() - text.trim_start().len();
    ["<powershell>", "<script>"].iter().find_map(|tag| {
        let end = start + tag.len();
        text.get(start..end).filter(|found| found.eq_ignore_ascii_case(tag)).map(|_| Span::new(start, end))
    })
}

/// Whether every line is blank or a comment.
pub fn only_comments(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'))
}

/// Whether a text is a MIME archive. Unlike Karpenter, accepts header names in any case: a text with
/// `mime-version:` is meant to be an archive.
fn is_mime(text: &str) -> bool {
    let Some((name, value)) = text.lines().next().and_then(|line| line.split_once(':')) else { return false };
    name.eq_ignore_ascii_case("mime-version")
        || (name.eq_ignore_ascii_case("content-type") && value.contains("multipart"))
}

/// Lines that are neither blank nor comments.
fn significant(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

fn is_toml(text: &str) -> bool {
    let Some(first) = significant(text).next().map(str::trim) else { return false };
    let line = first.split_once('#').map_or(first, |(code, _)| code).trim_end();
    let header =
        line.starts_with('[') && !line.starts_with("[ ") && line.ends_with(']') && !line.contains(' ');
    let dotted = line.split_once('=').is_some_and(|(key, _)| key.trim().starts_with("settings."));
    header || dotted || line.starts_with("[settings")
}

fn is_node_config(text: &str) -> bool {
    let mut lines = significant(text);
    if text.starts_with('{') {
        return text.contains("node.eks.aws/");
    }
    lines.any(|line| {
        let Some((key, value)) = line.split_once(':') else { return false };
        let value = value.trim().trim_matches(['"', '\'']);
        (key == "apiVersion" && value.starts_with("node.eks.aws/"))
            || (key == "kind" && value == "NodeConfig")
    })
}

/// Format of a text that is Base64, if it decodes to gzip or to printable text.
fn decoded_format(text: &str) -> Option<UserDataFormat> {
    let bytes = decode_base64(text)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(UserDataFormat::Base64Gzip);
    }
    let decoded = core::str::from_utf8(&bytes).ok()?;
    let printable = |found: char| !found.is_control() || matches!(found, '\n' | '\r' | '\t');
    (decoded.chars().all(printable) && decoded.contains([' ', '\n'])).then_some(UserDataFormat::Base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_the_format_from_the_first_lines() {
        let cases = [
            (" \n", UserDataFormat::Empty),
            ("# a\n\n# b", UserDataFormat::Comments),
            ("\nMIME-Version: 1.0\n", UserDataFormat::Mime),
            ("content-type: multipart/mixed; boundary=B\n\n", UserDataFormat::Mime),
            ("#!/bin/bash\n", UserDataFormat::Script),
            ("#cloud-config\na: b", UserDataFormat::CloudConfig),
            ("#cloud-boothook\n", UserDataFormat::CloudInit),
            ("<PowerShell>\nx", UserDataFormat::Tagged),
            ("# x\n[settings.kubernetes]\na = 1", UserDataFormat::Toml),
            ("settings.motd = 'x'", UserDataFormat::Toml),
            ("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig", UserDataFormat::NodeConfig),
            ("{\"apiVersion\": \"node.eks.aws/v1alpha1\"}", UserDataFormat::NodeConfig),
            ("IyEvYmluL2Jhc2gKZWNobyBoaQo=", UserDataFormat::Base64),
            ("H4sIAAAAAAAAA0vOSAUAAAA=", UserDataFormat::Base64Gzip),
            ("Write-Host x", UserDataFormat::Unmarked),
            ("ThisIsJustAWordOf32CharactersLong", UserDataFormat::Unmarked),
            ("[ -f x ] && y", UserDataFormat::Unmarked),
        ];
        for (text, format) in cases {
            assert_eq!(UserDataFormat::detect(text), format, "{text:?}");
        }
    }
}
