//! SARIF 2.1.0, for code scanning: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.
//!
//! Every result has a location with a region: GitHub refuses a file with a result that has none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use answers::report::{Report, ReportedEdit, ReportedFinding, ReportedFix, TextRange, Unreadable, url};
use cluster::Cluster;
use manifest::source::Source;
use rule::Rule;
use rule::finding::{CaughtBy, Family, Severity};
use rule::registry::Registry;

use crate::fingerprint::{NAME, fingerprints};

/// Renders a report as SARIF. `clusters` are the checked files: SARIF needs their text to express a fix in lines and columns.
///
/// `documentation` returns a rule's documentation as Markdown. It is a parameter so that a WebAssembly module does not have
/// to link the documentation of every rule.
pub fn sarif(
    registry: &Registry,
    report: &Report,
    clusters: &[Cluster],
    documentation: impl Fn(&Rule) -> String,
) -> Value {
    sarif_with(registry, report, clusters, documentation, Vec::new())
}

/// Description of a rule or a symptom in a SARIF report.
#[derive(Debug)]
pub struct Described {
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
}

/// Renders a report with diagnoses as SARIF. `symptoms` describes the diagnoses, which the registry does not know.
pub fn sarif_with(
    registry: &Registry,
    report: &Report,
    clusters: &[Cluster],
    documentation: impl Fn(&Rule) -> String,
    symptoms: Vec<Described>,
) -> Value {
    let files = clusters.iter().flat_map(|cluster| &cluster.files);
    let texts = Texts { sources: files.map(|file| (file.source.name(), file.source.as_ref())).collect() };
    let rules = registry
        .rules()
        .filter(|rule| report.findings.iter().any(|finding| finding.rule == rule.name))
        .map(|rule| Described {
            name: rule.name,
            family: rule.family,
            severity: rule.severity,
            caught_by: rule.caught_by,
            summary: rule.summary,
            documentation: documentation(rule),
        });
    let found: Vec<Described> = rules.chain(symptoms).collect();
    let results = report.findings.iter().zip(fingerprints(&report.findings)).map(|(finding, fingerprint)| {
        let index = found.iter().position(|rule| rule.name == finding.rule);
        result(finding, index, &fingerprint, &texts)
    });
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "karpwarden",
                "semanticVersion": report.version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": found.iter().map(descriptor).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
            "invocations": [{
                "executionSuccessful": !report.unreadable.iter().any(|one| one.concerns_karpenter),
                "toolExecutionNotifications": report.unreadable.iter().map(notification).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn descriptor(rule: &Described) -> Value {
    let documentation = &rule.documentation;
    json!({
        "id": rule.name,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": documentation, "markdown": documentation},
        "helpUri": url(rule.name),
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": ["karpenter", rule.family.name()], "caughtBy": rule.caught_by.name()},
    })
}

fn result(finding: &ReportedFinding, index: Option<usize>, fingerprint: &str, texts: &Texts<'_>) -> Value {
    let help = if finding.help.is_empty() { String::new() } else { format!("\n{}", finding.help) };
    let mut fields = Map::new();
    fields.insert("ruleId".to_owned(), finding.rule.into());
    if let Some(index) = index {
        fields.insert("ruleIndex".to_owned(), index.into());
    }
    fields.insert("level".to_owned(), level(finding.severity).into());
    fields.insert("message".to_owned(), json!({"text": format!("{}{help}", finding.message)}));
    let object = [&finding.kind, "/", &finding.name].concat();
    // A diagnosis of a log may be about no object.
    let name = match (finding.kind.as_str(), finding.path.as_str()) {
        ("", _) => finding.rule.to_owned(),
        (_, "") => object,
        (_, path) => format!("{object}, {path}"),
    };
    let mut location = location(&finding.file, region(&finding.position));
    if let Some(fields) = location.as_object_mut() {
        let logical = json!([{"fullyQualifiedName": name, "kind": "resource"}]);
        fields.insert("logicalLocations".to_owned(), logical);
    }
    fields.insert("locations".to_owned(), json!([location]));
    let evidence = finding
        .evidence
        .iter()
        .flatten()
        .map(|evidence| (&evidence.file, evidence.line, None, &evidence.text));
    let related = finding.related.iter().map(|one| (&one.file, one.line, one.column, &one.message));
    let related: Vec<Value> = related
        .chain(evidence)
        .enumerate()
        .map(|(index, (file, line, column, message))| related_location(index, file, line, column, message))
        .collect();
    if !related.is_empty() {
        fields.insert("relatedLocations".to_owned(), related.into());
    }
    fields.insert("partialFingerprints".to_owned(), json!({NAME: fingerprint}));
    if let Some(fix) = finding.fix.as_ref().and_then(|fix| texts.fix(fix)) {
        fields.insert("fixes".to_owned(), json!([fix]));
    }
    fields.insert(
        "properties".to_owned(),
        json!({"releases": finding.releases, "caughtBy": finding.caught_by}),
    );
    Value::Object(fields)
}

fn related_location(
    index: usize,
    file: &str,
    line: Option<usize>,
    column: Option<usize>,
    message: &str,
) -> Value {
    let region = json!({"startLine": line.unwrap_or(1), "startColumn": column.unwrap_or(1)});
    let mut location = location(file, region);
    if let Some(fields) = location.as_object_mut() {
        fields.insert("id".to_owned(), index.into());
        fields.insert("message".to_owned(), json!({"text": message}));
    }
    location
}

fn location(file: &str, region: Value) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(file)}});
    if let Some(fields) = physical.as_object_mut() {
        fields.insert("region".to_owned(), region);
    }
    json!({"physicalLocation": physical})
}

/// Renders a range, which covers at least one column: SARIF has no empty region.
fn region(range: &TextRange) -> Value {
    let line = range.line.unwrap_or(1);
    let column = range.column.unwrap_or(1);
    json!({
        "startLine": line,
        "startColumn": column,
        "endLine": range.end_line.unwrap_or(line),
        "endColumn": range.end_column.unwrap_or(column + 1),
    })
}

fn notification(unreadable: &Unreadable) -> Value {
    let region = json!({"startLine": unreadable.line.max(1), "startColumn": unreadable.column.max(1)});
    json!({
        "level": if unreadable.concerns_karpenter { "error" } else { "note" },
        "message": {"text": unreadable.message},
        "locations": [location(&unreadable.file, region)],
    })
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
    fn fix(&self, fix: &ReportedFix) -> Option<Value> {
        let mut changes: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for edit in &fix.edits {
            changes.entry(edit.file.as_str()).or_default().push(self.replacement(edit)?);
        }
        let changes = changes.into_iter().map(|(file, replacements)| {
            json!({"artifactLocation": {"uri": uri(file)}, "replacements": replacements})
        });
        Some(json!({"description": {"text": fix.title}, "artifactChanges": changes.collect::<Vec<_>>()}))
    }

    fn replacement(&self, edit: &ReportedEdit) -> Option<Value> {
        let source = self.sources.get(edit.file.as_str())?;
        let position = |offset| source.position(source.byte_at(offset));
        let (from, to) = (position(edit.offset), position(edit.end_offset));
        Some(json!({
            "deletedRegion": {
                "startLine": from.line, "startColumn": from.column, "endLine": to.line, "endColumn": to.column,
            },
            "insertedContent": {"text": edit.text},
        }))
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
