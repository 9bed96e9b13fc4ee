//! SARIF 2.1.0, for code scanning: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.
//!
//! Every result has a location with a region: GitHub refuses a file with a result that has none.

mod log;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use answers::report::{Report, ReportedEdit, ReportedFinding, ReportedFix, TextRange, Unreadable, url};
use cluster::Cluster;
use manifest::source::Source;
use rule::Rule;
use rule::finding::{CaughtBy, Family, Severity};
use rule::registry::Registry;

use crate::fingerprint::{NAME, fingerprints};

use log::{
    ArtifactChange, ArtifactLocation, Configuration, HelpMessage, Location, LogicalLocation, Notification,
    PhysicalLocation, Region, ReportingDescriptor, ResultProperties, RuleProperties, SarifFix,
    SarifInvocation, SarifLevel, SarifReplacement, SarifResult, SarifRun, Tool, ToolComponent,
};

pub use log::SarifLog;

/// Renders a report as SARIF. `clusters` are the checked files: SARIF needs their text to express a fix in lines and columns.
///
/// `documentation` returns a rule's documentation as Markdown. It is a parameter so that a WebAssembly module does not have
/// to link the documentation of every rule.
pub fn sarif(
    registry: &Registry,
    report: &Report,
    clusters: &[Cluster],
    documentation: impl Fn(&Rule) -> String,
) -> SarifLog {
    sarif_with(registry, report, clusters, documentation, Vec::new())
}

/// Description of a rule or a symptom in a SARIF report.
#[derive(Debug)]
pub struct RuleDescription {
    /// The name.
    pub name: &'static str,
    /// The family.
    pub family: Family,
    /// The default severity.
    pub severity: Severity,
    /// The component that would otherwise report it.
    pub caught_by: CaughtBy,
    /// The problem in one line.
    pub summary: &'static str,
    /// The page of the reference, as Markdown.
    pub documentation: String,
    /// Whether the page is published.
    pub has_page: bool,
}

/// Renders a report with diagnoses as SARIF. `symptoms` describes the diagnoses, which the registry does not know.
pub fn sarif_with(
    registry: &Registry,
    report: &Report,
    clusters: &[Cluster],
    documentation: impl Fn(&Rule) -> String,
    symptoms: Vec<RuleDescription>,
) -> SarifLog {
    let files = clusters.iter().flat_map(|cluster| &cluster.files);
    let texts = Texts { sources: files.map(|file| (file.source.name(), file.source.as_ref())).collect() };
    let rules = registry
        .rules()
        .filter(|rule| report.findings.iter().any(|finding| finding.rule == rule.name))
        .map(|rule| RuleDescription {
            name: rule.name,
            family: rule.family,
            severity: rule.severity,
            caught_by: rule.caught_by,
            summary: rule.summary,
            documentation: documentation(rule),
            has_page: true,
        });
    let found: Vec<RuleDescription> = rules.chain(symptoms).collect();
    let results = report.findings.iter().zip(fingerprints(&report.findings)).map(|(finding, fingerprint)| {
        let index = found.iter().position(|rule| rule.name == finding.rule);
        result(finding, index, fingerprint, &texts)
    });
    SarifLog {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [SarifRun {
            tool: Tool {
                driver: ToolComponent {
                    name: "karpwarden",
                    semantic_version: report.version,
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules: found.iter().map(descriptor).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: results.collect(),
            invocations: [SarifInvocation {
                execution_successful: !report.unreadable.iter().any(|one| one.concerns_karpenter),
                tool_execution_notifications: report.unreadable.iter().map(notification).collect(),
            }],
        }],
    }
}

fn descriptor(rule: &RuleDescription) -> ReportingDescriptor {
    ReportingDescriptor {
        id: rule.name,
        name: rule.name,
        short_description: rule.summary.into(),
        help: HelpMessage { text: rule.documentation.clone(), markdown: rule.documentation.clone() },
        help_uri: rule.has_page.then(|| url(rule.name)).filter(|url| !url.is_empty()),
        default_configuration: Configuration { level: rule.severity.into() },
        properties: RuleProperties { tags: ["karpenter", rule.family.name()], caught_by: rule.caught_by },
    }
}

fn result(
    finding: &ReportedFinding,
    rule_index: Option<usize>,
    fingerprint: String,
    texts: &Texts<'_>,
) -> SarifResult {
    let help = if finding.help.is_empty() { String::new() } else { format!("\n{}", finding.help) };
    let object = [&finding.kind, "/", &finding.name].concat();
    // A diagnosis of a log may be about no object.
    let name = match (finding.kind.as_str(), finding.path.as_str()) {
        ("", _) => finding.rule.to_owned(),
        (_, "") => object,
        (_, path) => format!("{object}, {path}"),
    };
    let logical = LogicalLocation { fully_qualified_name: name, kind: "resource" };
    let evidence = finding
        .evidence
        .iter()
        .flatten()
        .map(|evidence| (&evidence.file, evidence.line, None, &evidence.text));
    let related = finding.related.iter().map(|one| (&one.file, one.line, one.column, &one.message));
    let related = related.chain(evidence).enumerate();
    let related = related.map(|(index, (file, line, column, message))| Location {
        id: Some(index),
        message: Some(message.as_str().into()),
        ..location(file, point(line.unwrap_or(1), column.unwrap_or(1)))
    });
    SarifResult {
        rule_id: finding.rule,
        rule_index,
        level: finding.severity.into(),
        message: format!("{}{help}", finding.message).into(),
        locations: [Location {
            logical_locations: Some([logical]),
            ..location(&finding.file, region(&finding.position))
        }],
        related_locations: related.collect(),
        partial_fingerprints: BTreeMap::from([(NAME, fingerprint)]),
        fixes: finding.fix.as_ref().and_then(|fix| texts.fix(fix)).map(|fix| [fix]),
        properties: ResultProperties { releases: finding.releases.clone(), caught_by: finding.caught_by },
    }
}

fn location(file: &str, region: Region) -> Location {
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(file) },
            region,
        },
        logical_locations: None,
        id: None,
        message: None,
    }
}

const fn point(line: usize, column: usize) -> Region {
    Region { start_line: line, start_column: column, end_line: None, end_column: None }
}

/// Renders a range, which covers at least one column: SARIF has no empty region.
fn region(range: &TextRange) -> Region {
    let line = range.line.unwrap_or(1);
    let column = range.column.unwrap_or(1);
    Region {
        start_line: line,
        start_column: column,
        end_line: Some(range.end_line.unwrap_or(line)),
        end_column: Some(range.end_column.unwrap_or(column + 1)),
    }
}

fn notification(unreadable: &Unreadable) -> Notification {
    Notification {
        level: if unreadable.concerns_karpenter { SarifLevel::Error } else { SarifLevel::Note },
        message: unreadable.message.as_str().into(),
        locations: [location(&unreadable.file, point(unreadable.line.max(1), unreadable.column.max(1)))],
    }
}

/// Encodes a file name as a URI reference (RFC 3986), with everything but unreserved characters percent-encoded.
fn uri(file: &str) -> String {
    let mut text = String::new();
    // A drive letter would otherwise be the scheme of the URI.
    let is_drive = file.get(1..3) == Some(":/");
    if file.starts_with('/') || is_drive {
        text.push_str(if is_drive { "file:///" } else { "file://" });
    }
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) || (is_drive && byte == b':') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Texts of the checked files, by file name.
struct Texts<'c> {
    sources: BTreeMap<&'c str, &'c Source>,
}

impl Texts<'_> {
    /// Renders a fix with lines and columns; `None` if the text of a file is missing.
    fn fix(&self, fix: &ReportedFix) -> Option<SarifFix> {
        let mut changes: BTreeMap<&str, Vec<SarifReplacement>> = BTreeMap::new();
        for edit in &fix.edits {
            changes.entry(edit.file.as_str()).or_default().push(self.replacement(edit)?);
        }
        let changes = changes.into_iter().map(|(file, replacements)| ArtifactChange {
            artifact_location: ArtifactLocation { uri: uri(file) },
            replacements,
        });
        Some(SarifFix { description: fix.title.as_str().into(), artifact_changes: changes.collect() })
    }

    fn replacement(&self, edit: &ReportedEdit) -> Option<SarifReplacement> {
        let source = self.sources.get(edit.file.as_str())?;
        let position = |offset| source.position(source.byte_at(offset));
        let (from, to) = (position(edit.offset), position(edit.end_offset));
        Some(SarifReplacement {
            deleted_region: Region {
                start_line: from.line,
                start_column: from.column,
                end_line: Some(to.line),
                end_column: Some(to.column),
            },
            inserted_content: edit.text.as_str().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn encodes_file_names_as_uri_references() {
        for (file, expected) in [
            ("a/b c.yaml", "a/b%20c.yaml"),
            ("/tmp/é.yaml", "file:///tmp/%C3%A9.yaml"),
            ("C:/a.yaml", "file:///C:/a.yaml"),
            ("-", "-"),
            ("ab:c#d.yaml", "ab%3Ac%23d.yaml"),
        ] {
            assert_eq!(uri(file), expected);
        }
    }
}
