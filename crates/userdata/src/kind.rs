//! Which format a text is in, and which one Karpenter takes it for. The two differ more often than one would
//! like.

use manifest::source::Span;

/// What the text is, by its own marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but blanks.
    Empty,
    /// Only comments, which YAML reads as nothing at all.
    Comments,
    /// A MIME archive: it has the headers of one, perhaps after blank lines.
    Mime,
    /// `#!` and an interpreter.
    Script,
    /// `#cloud-config`.
    CloudConfig,
    /// Another of cloud-init's marks: `#include`, `#cloud-boothook`, `#part-handler`, `## template: jinja`.
    CloudInit,
    /// `<powershell>` or `<script>` tags around it, as EC2 expects on Windows.
    Tagged,
    /// TOML by its first line: `[table]`.
    Toml,
    /// YAML or JSON that names `node.eks.aws`. A hint: the text was not parsed.
    NodeConfig,
    /// Base64 of a text: it would be encoded twice.
    Base64,
    /// Base64 of a gzip stream.
    Base64Gzip,
    /// No mark: a script without its first line, PowerShell, YAML, anything.
    Unmarked,
}

/// The families that treat user data alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// AL2, and Ubuntu before v1.
    Al2,
    /// AL2023.
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Windows2019, Windows2022, Windows2025.
    Windows,
    /// Custom.
    Custom,
}

/// What Karpenter takes a text for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing was given.
    Nothing,
    /// An archive; its parts go before Karpenter's own.
    Mime,
    /// A shell script, wrapped as a part of type `text/x-shellscript`.
    Script,
    /// A NodeConfig, wrapped as a part of type `application/node.eks.aws`.
    NodeConfig,
    /// A NodeConfig if the whole text is a YAML mapping (or null), else a shell script. Only a YAML parser
    /// can tell.
    NodeConfigIfYaml,
    /// TOML, merged into Karpenter's settings.
    Toml,
    /// PowerShell, put between `<powershell>` tags before Karpenter's own lines.
    PowerShell,
    /// Whatever it is: it reaches the node as it stands.
    Verbatim,
}

/// Karpenter looks for these at the start of the trimmed text, case and all, and then parses the untrimmed
/// one (aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/eksbootstrap.go `mimeify` and nodeadm.go
/// `parseUserData`, the same from v1.0.0 to v1.14.1).
const MIME_PREFIXES: [&str; 2] = ["MIME-Version:", "Content-Type:"];

impl Family {
    /// What Karpenter takes the text for.
    pub fn takes(self, text: &str) -> Taken {
        let mime = MIME_PREFIXES.iter().any(|prefix| text.trim().starts_with(prefix));
        match self {
            _ if text.is_empty() => Taken::Nothing,
            Self::Custom => Taken::Verbatim,
            Self::Bottlerocket => Taken::Toml,
            Self::Windows => Taken::PowerShell,
            Self::Al2 | Self::Al2023 if mime => Taken::Mime,
            Self::Al2 => Taken::Script,
            // A text of comments is YAML's null, which unmarshals into a map without an error.
            Self::Al2023 if only_comments(text) => Taken::NodeConfig,
            Self::Al2023 => Taken::NodeConfigIfYaml,
        }
    }

    /// Whether Karpenter takes every carriage return away before the text reaches the node: AL2 and AL2023 do
    /// (eksbootstrap.go `Script`, mime/mime.go `Serialize`, the same from v1.0.0 to v1.14.1).
    pub const fn strips_carriage_returns(self) -> bool {
        matches!(self, Self::Al2 | Self::Al2023)
    }
}

impl Kind {
    /// What the text is.
    pub fn of(text: &str) -> Self {
        let trimmed = text.trim();
        let starts = |marks: &[&str]| marks.iter().any(|mark| trimmed.starts_with(mark));
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
            decoded_kind(trimmed).unwrap_or(Self::Unmarked)
        }
    }
}

/// The tag that opens Windows user data, where the text starts with one.
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

/// Looser than Karpenter: header names in any case, so that a misspelt one is still an archive.
fn is_mime(text: &str) -> bool {
    let Some((name, value)) = text.lines().next().and_then(|line| line.split_once(':')) else { return false };
    name.eq_ignore_ascii_case("mime-version")
        || (name.eq_ignore_ascii_case("content-type") && value.contains("multipart"))
}

fn significant(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

fn is_toml(text: &str) -> bool {
    let Some(first) = significant(text).next().map(str::trim) else { return false };
    let line = first.split('#').next().unwrap_or("").trim_end();
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

/// The fewest characters that are taken for Base64: shorter ones are words.
const MIN_ENCODED: usize = 16;

fn decoded_kind(text: &str) -> Option<Kind> {
    let bytes = decode_base64(text)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(Kind::Base64Gzip);
    }
    let decoded = core::str::from_utf8(&bytes).ok()?;
    let printable = |found: char| !found.is_control() || matches!(found, '\n' | '\r' | '\t');
    (decoded.chars().all(printable) && decoded.contains([' ', '\n'])).then_some(Kind::Base64)
}

/// Standard Base64 with its padding, line breaks allowed.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count, mut padding) = (0_u32, 0_usize, 0_usize);
    for byte in text.bytes() {
        let digit = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => continue,
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = (bits << 6 | u32::from(digit)) & 0xff_ffff;
        count += 1;
        if count % 4 == 0 {
            let [_, three @ ..] = bits.to_be_bytes();
            bytes.extend_from_slice(&three);
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => bytes.extend_from_slice((bits << 12).to_be_bytes().get(1..2)?),
        (3, 1) => bytes.extend_from_slice((bits << 6).to_be_bytes().get(1..3)?),
        _ => return None,
    }
    (count + padding >= MIN_ENCODED).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_its_marks() {
        let cases = [
            (" \n", Kind::Empty),
            ("# a\n\n# b", Kind::Comments),
            ("\nMIME-Version: 1.0\n", Kind::Mime),
            ("content-type: multipart/mixed; boundary=B\n\n", Kind::Mime),
            ("#!/bin/bash\n", Kind::Script),
            ("#cloud-config\na: b", Kind::CloudConfig),
            ("#cloud-boothook\n", Kind::CloudInit),
            ("<PowerShell>\nx", Kind::Tagged),
            ("# x\n[settings.kubernetes]\na = 1", Kind::Toml),
            ("settings.motd = 'x'", Kind::Toml),
            ("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig", Kind::NodeConfig),
            ("{\"apiVersion\": \"node.eks.aws/v1alpha1\"}", Kind::NodeConfig),
            ("IyEvYmluL2Jhc2gKZWNobyBoaQo=", Kind::Base64),
            ("H4sIAAAAAAAAA0vOSAUAAAA=", Kind::Base64Gzip),
            ("Write-Host x", Kind::Unmarked),
            ("ThisIsJustAWordOf32CharactersLong", Kind::Unmarked),
            ("[ -f x ] && y", Kind::Unmarked),
        ];
        for (text, kind) in cases {
            assert_eq!(Kind::of(text), kind, "{text:?}");
        }
    }

    #[test]
    fn karpenter_takes_it_for_what_the_family_boots_from() {
        let script = "#!/bin/bash\necho hi";
        assert_eq!(Family::Al2.takes(script), Taken::Script);
        assert_eq!(Family::Al2023.takes(script), Taken::NodeConfigIfYaml);
        assert_eq!(Family::Al2023.takes("#!/bin/bash\n# nothing yet\n"), Taken::NodeConfig);
        assert_eq!(Family::Bottlerocket.takes(script), Taken::Toml);
        assert_eq!(Family::Windows.takes(script), Taken::PowerShell);
        assert_eq!(Family::Custom.takes(script), Taken::Verbatim);
        assert_eq!(Family::Al2023.takes("\n\tContent-Type: x"), Taken::Mime);
        assert_eq!(Family::Al2.takes("mime-version: 1.0"), Taken::Script);
        assert_eq!(Family::Al2023.takes(""), Taken::Nothing);
    }
}
