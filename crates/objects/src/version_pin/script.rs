//! Versions in commands: scripts, here-documents, Makefiles, Markdown, CI files, and Terraform as text.
//!
//! A command pins the version of the chart that it installs (`helm upgrade … --version`), of the files that it applies, and of
//! the image that it names. A variable whose name says so, such as `KARPENTER_VERSION`, pins the version that it sets.
//!
//! Sources: website/content/en/docs/getting-started/getting-started-with-karpenter of aws/karpenter-provider-aws at v0.13.2 to
//! v1.14.1; `docs/helm/helm_upgrade.md` of helm/helm-www; docs/resources/release.md of hashicorp/terraform-provider-helm.

use std::collections::BTreeMap;

use karpenter::release::PinnedVersion;
use values::placeholder::{has_placeholder, with_defaults};

use super::terraform::Blocks;
use super::{PinnedPart, part_of_chart, version_in_address};
use crate::controller::{controller_tag, is_of_other_cloud};

/// A version of Karpenter in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPin {
    /// The version.
    pub version: PinnedVersion,
    /// The byte at which the line with the pin starts.
    pub at: usize,
    /// The part of Karpenter that has the version.
    pub part: PinnedPart,
}

/// Text without which no line pins a version. Most manifests have none of them.
const MARKS: [&str; 9] = [
    "helm",
    "kubectl",
    "curl",
    "wget",
    "KARPENTER",
    "karpenter_",
    "karpenterVersion",
    "karpenterChartVersion",
    "chart_version",
];

/// Returns the pins in the commands and assignments of a text.
pub fn pins_in_text(text: &str) -> Vec<TextPin> {
    reader_of(text).pins
}

/// Returns the pins of a text if one of its commands installs Karpenter's chart.
pub(super) fn pins_of_installation(text: &str) -> Vec<TextPin> {
    let reader = reader_of(text);
    if reader.installs { reader.pins } else { Vec::new() }
}

/// The reader after the last line of a text.
fn reader_of(text: &str) -> Reader<'_> {
    let mut reader = Reader::default();
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return reader;
    }
    let (mut at, mut start) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let is_comment = is_comment(line);
        if !is_comment && line.trim_end().ends_with('\\') {
            continue;
        }
        let command = text.get(start..at).unwrap_or_default();
        if !is_comment {
            reader.read(command, start);
        }
        start = at;
    }
    reader.read(text.get(start..).unwrap_or_default(), start);
    reader
}

/// Whether a line is a comment of a shell, of YAML or of HCL.
fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(['#']) || line.trim_start().starts_with("//")
}

/// The pins that were found so far, and what the text has set.
#[derive(Default)]
struct Reader<'t> {
    pins: Vec<TextPin>,
    /// The value of each variable that the text sets.
    variables: BTreeMap<&'t str, &'t str>,
    terraform: Blocks<'t>,
    /// Whether a command installs one of Karpenter's charts.
    installs: bool,
}

impl<'t> Reader<'t> {
    fn read(&mut self, command: &'t str, at: usize) {
        if let Some(pin) = self.terraform.read(command, at) {
            self.add(pin.part, pin.version, pin.at);
        }
        let mentions = |word: &str| command.contains(word);
        let may_assign = mentions("ersion") || mentions("ERSION") || mentions("=");
        if may_assign {
            for (name, value) in assignments(command) {
                if let Some(part) = part_of_variable(name) {
                    self.add(part, value, at);
                }
                self.variables.insert(name, value);
            }
        }
        if !mentions("arpenter") {
            return;
        }
        let words: Vec<&str> =
            command.split([' ', '\t', '\r', '\n', '\\']).filter(|word| !word.is_empty()).collect();
        self.helm(&words, at);
        // The words after a command are its arguments. Prose names commands after an address as well.
        let is_command = |word: &&&str| {
            ["kubectl", "curl", "wget", "helm"].iter().any(|name| word.rsplit('/').next() == Some(name))
        };
        for word in words.iter().skip_while(|word| !is_command(word)) {
            let word = unquoted(word);
            let image = word.rsplit('=').next().and_then(controller_tag);
            self.add_known(PinnedPart::Controller, image, at);
            self.add_known(PinnedPart::Definitions, version_in_address(word), at);
            self.add_known(PinnedPart::Controller, version_in_site(word), at);
        }
    }

    /// Reads `helm upgrade … --version …`. The chart is the word with a path, or else the word `karpenter`.
    fn helm(&mut self, words: &[&'t str], at: usize) {
        let mut rest = words.iter().skip_while(|word| unquoted(word).rsplit('/').next() != Some("helm"));
        if rest.next().is_none() {
            return;
        }
        let words: Vec<&str> = rest.copied().collect();
        let does = |verbs: &[&str]| words.iter().any(|word| verbs.contains(word));
        if !does(&["upgrade", "install", "template", "pull", "fetch"]) {
            return;
        }
        let words = || words.iter().map(|word| unquoted(word));
        if words().any(is_of_other_cloud) {
            return;
        }
        let is_path = |word: &&str| !word.starts_with('-') && !word.contains('=') && word.contains('/');
        let mut paths = words().filter(is_path).peekable();
        let chart = match paths.peek() {
            Some(_) => paths.find_map(part_of_chart),
            None => words().find_map(part_of_chart),
        };
        // `--repo` names the address of a repository, and the chart is a word without a path.
        let is_in_repository = words().any(|word| word == "--repo" || word.starts_with("--repo="));
        let chart = chart.or_else(|| words().filter(|_| is_in_repository).find_map(part_of_chart));
        let Some(part) = chart else { return };
        self.installs |= does(&["upgrade", "install"]);
        let after = words().skip_while(|word| *word != "--version").nth(1);
        let joined = words().find_map(|word| word.strip_prefix("--version="));
        if let Some(version) = after.or(joined) {
            self.add(part, unquoted(version), at);
        }
    }

    /// Adds a version, which may be a variable that the text sets.
    fn add(&mut self, part: PinnedPart, version: &'t str, at: usize) {
        let version = self.resolved(version);
        self.add_known(part, version.as_deref(), at);
    }

    fn add_known(&mut self, part: PinnedPart, version: Option<&str>, at: usize) {
        let version = version.filter(|version| version.contains('.')).and_then(PinnedVersion::parse);
        self.pins.extend(version.map(|version| TextPin { version, at, part }));
    }

    /// The text of a version: the default in `${A:-1.6.2}`, or the value of `$A`, `${A}` or `v${A}`.
    fn resolved(&self, version: &'t str) -> Option<String> {
        if !has_placeholder(version) {
            return Some(version.to_owned());
        }
        if let Some(text) = with_defaults(version) {
            return Some(text);
        }
        let name = version.trim_start_matches('v').strip_prefix('$')?;
        let name = name.strip_prefix('{').map_or(Some(name), |name| name.strip_suffix('}'))?;
        // A variable that names Karpenter's version is a pin already.
        let value = self.variables.get(name).filter(|_| part_of_variable(name).is_none())?;
        (!has_placeholder(value)).then(|| (*value).to_owned())
    }
}

/// The part of Karpenter whose version a variable sets, such as `KARPENTER_VERSION` or `karpenter_chart_version`.
pub(super) fn part_of_variable(name: &str) -> Option<PinnedPart> {
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
    match letters.strip_prefix("karpenter")?.strip_suffix("version")? {
        "" | "chart" | "helm" | "helmchart" | "image" | "controller" | "app" | "release" => {
            Some(PinnedPart::Controller)
        }
        "crd" | "crds" | "crdchart" => Some(PinnedPart::Definitions),
        _ => None,
    }
}

/// The names and values that a line sets: `NAME=value`, `NAME: value`, `NAME ?= value`, `ENV NAME value`, `set -x NAME value`.
fn assignments(command: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let words: Vec<&str> = command.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        let word = word.trim_start_matches(['`', '\'', '"', '-', '{', '[']);
        let word = word.strip_prefix("$env:").unwrap_or(word);
        let length = word
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let (Some(name), Some(rest)) = (word.get(..length), word.get(length..)) else { continue };
        if name.is_empty() || !name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
            continue;
        }
        let rest = rest.trim_start_matches(['"', '\'']);
        let next = || words.get(index + 1).copied();
        let value = match rest {
            "" => match next() {
                Some("=" | ":=" | "?=" | "::=" | ":") => words.get(index + 2).copied(),
                // `ENV NAME value` of a Dockerfile, `set -x NAME value` of fish.
                Some(value) if part_of_variable(name).is_some() => Some(value),
                _ => None,
            },
            ":" | "=" | ":=" | "?=" => next(),
            rest => {
                rest.strip_prefix(":=").or_else(|| rest.strip_prefix("?=")).or_else(|| rest.strip_prefix('='))
            }
        };
        found.extend(value.map(|value| (name, unquoted(value))));
    }
    found
}

/// A word without quotes, and without the separators after it.
pub(super) fn unquoted(word: &str) -> &str {
    // The braces of `${NAME}` belong to the word.
    let word = if word.contains('{') { word } else { word.trim_end_matches(['}', ']']) };
    let word = word.trim_end_matches([';', ',', ')', '`', '&', '|']);
    word.trim_matches(['"', '\'', '`'])
}

/// The version in the address of a page of Karpenter's documentation whose files are applied:
/// `https://karpenter.sh/v0.13.2/getting-started/…/cloudformation.yaml`.
fn version_in_site(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("karpenter.sh/")?;
    let rest = rest.strip_prefix("docs/").unwrap_or(rest);
    rest.split('/').next().filter(|version| version.starts_with('v'))
}

#[cfg(test)]
mod tests {
    use super::{PinnedPart, pins_in_text};

    /// The pins of a text, such as `1.6.2@0` for a line that starts at the first byte.
    fn found(text: &str) -> Vec<String> {
        let show = |pin: super::TextPin| {
            let line = text.get(..pin.at).unwrap_or_default().matches('\n').count() + 1;
            let part = if pin.part == PinnedPart::Definitions { " crds" } else { "" };
            format!("{}:{line}{part}", pin.version)
        };
        pins_in_text(text).into_iter().map(show).collect()
    }

    #[test]
    fn variables_that_name_karpenter_pin_its_version() {
        for text in [
            "export KARPENTER_VERSION=v0.13.2",
            "KARPENTER_VERSION=0.13.2 ./install.sh",
            "export KARPENTER_VERSION=\"0.13.2\"",
            "export AWS_REGION=a KARPENTER_VERSION='v0.13.2';",
            "KARPENTER_VERSION ?= v0.13.2",
            "KARPENTER_VERSION := 0.13.2",
            "ENV KARPENTER_VERSION v0.13.2",
            "set -x KARPENTER_VERSION v0.13.2",
            "$env:KARPENTER_VERSION = \"0.13.2\"",
            "  KARPENTER_VERSION: v0.13.2",
            "karpenter_version = \"0.13.2\"",
            "karpenterVersion: 0.13.2",
            "export KARPENTER_VERSION=${KARPENTER_VERSION:-v0.13.2}",
            "KARPENTER_CHART_VERSION=0.13.2",
            "- export KARPENTER_VERSION=v0.13.2",
            "variables: {KARPENTER_VERSION: \"v0.13.2\"}",
            "env: {A: b, KARPENTER_VERSION: v0.13.2, C: d}",
        ] {
            assert_eq!(found(text), ["0.13.2:1"], "{text}");
        }
        assert_eq!(found("KARPENTER_CRD_VERSION=1.6.2"), ["1.6.2:1 crds"]);
        for text in [
            "# export KARPENTER_VERSION=v0.13.2",
            "export KARPENTER_VERSION=$1",
            "export KARPENTER_VERSION=latest",
            "export KARPENTER_NODEPOOL_VERSION=1.6.2",
            "export KUBERNETES_VERSION=1.31",
            "echo Installing KARPENTER_VERSION now",
            "export KARPENTER_VERSION=",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn helm_commands_pin_the_version_of_the_chart() {
        for text in [
            "helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version v0.13.2 --wait",
            "helm install karpenter karpenter/karpenter --version=0.13.2",
            "helm upgrade --install --namespace karpenter \\\n  karpenter karpenter/karpenter \\\n  --version 0.13.2 \\\n  --set serviceAccount.annotations.\"eks\\.amazonaws\\.com/role-arn\"=arn:aws:iam::1:role/a",
            "helm template karpenter --repo https://charts.karpenter.sh karpenter --version \"0.13.2\"",
            "sudo helm pull oci://public.ecr.aws/karpenter/karpenter --version '0.13.2'",
            "      run: helm upgrade karpenter karpenter/karpenter --version 0.13.2 | tee log",
        ] {
            assert_eq!(found(text), ["0.13.2:1"], "{text}");
        }
        assert_eq!(
            found("V=0.13.2\nhelm upgrade karpenter karpenter/karpenter --version ${V}\n"),
            ["0.13.2:2"]
        );
        assert_eq!(
            found("helm upgrade crds oci://public.ecr.aws/karpenter/karpenter-crd --version 1.6.2"),
            ["1.6.2:1 crds"]
        );
        for text in [
            "helm upgrade karpenter ./charts/karpenter --version 1.6.2",
            "helm upgrade karpenter oci://mcr.microsoft.com/aks/karpenter/karpenter --version 1.6.2",
            "helm upgrade ingress ingress-nginx/ingress-nginx --version 1.6.2",
            "helm upgrade karpenter karpenter/karpenter --version $1",
            "helm upgrade karpenter karpenter/karpenter",
            "helm uninstall karpenter --version 1.6.2",
            "helm upgrade pools example/karpenter-nodepools --version 1.6.2",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn commands_pin_the_version_of_files_and_images() {
        for (text, expected) in [
            (
                "kubectl apply -f https://raw.githubusercontent.com/aws/karpenter/v0.13.2/pkg/apis/crds/a.yaml",
                "0.13.2:1 crds",
            ),
            (
                "curl -fsSL https://karpenter.sh/v0.13.2/getting-started/getting-started-with-eksctl/cloudformation.yaml > $TEMPOUT",
                "0.13.2:1",
            ),
            (
                "kubectl set image deploy/karpenter controller=public.ecr.aws/karpenter/controller:v0.13.2",
                "0.13.2:1",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert!(found("See https://karpenter.sh/v0.13.2/concepts for helm and kubectl").is_empty());
    }
}
