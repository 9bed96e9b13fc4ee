//! The report of a run: the answer of `check`, `upgrade` and `diagnose` with `--format json`.

use std::collections::BTreeSet;

use karpenter::release::ReleaseSet;
use karpenter::upgrade_path::{Boundary, UpgradePath};
use manifest::limits::Exceeded;
use manifest::source::{Source, Span};
use rule::Phase;
use rule::classification::{CaughtBy, Family, Severity};
use rule::settings::{Settings, Target};
use serde::Serialize;

use crate::statistics::RuleCount;
use crate::story::Story;
use crate::{SCHEMA, VERSION};

/// Address of the published documentation of the rules.
pub const DOCUMENTATION: &str = "https://karpwarden.github.io/karpwarden/rules/";

/// The result of a check, in the shape of `--format json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of the JSON schema.
    pub schema: u8,
    /// The version of Karpwarden.
    pub version: &'static str,
    /// The release or range of the check.
    pub karpenter_version: String,
    /// Remarks on the settings, such as a release that is not known, and the release that is checked instead.
    pub notes: Vec<String>,
    /// Counts of documents and findings.
    pub summary: Summary,
    /// Counts of findings for each rule; absent unless the caller asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Vec<RuleCount>>,
    /// The findings in document order.
    pub findings: Vec<ReportedFinding>,
    /// The releases that accept each Karpenter document; absent unless the check is about a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Vec<Accepted>>,
    /// Summaries of the logs of each cluster; absent unless the report is of `diagnose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Vec<LogSummary>>,
    /// The story of one object, in each cluster; absent unless the caller asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stories: Option<Vec<Story>>,
    /// The versions of Karpenter that the input pins, by cluster and folder.
    pub pins: Vec<ReportedPin>,
    /// Folders that look like separate clusters, and whose objects are therefore not compared with each other.
    pub environments: Vec<ReportedEnvironments>,
    /// Documents that were not checked, with the reasons.
    pub skipped: Vec<Skipped>,
    /// Documents and files that could not be parsed.
    pub unreadable: Vec<Unreadable>,
    /// Whether findings beyond the maximum were left out. The summary counts all findings.
    #[serde(skip)]
    pub truncated: bool,
    /// Number of findings that are the same at both ends of the upgrade path. They are not in the report.
    #[serde(skip)]
    pub unchanged: usize,
    /// Number of skipped documents that concern Karpenter, but that no rule checks.
    #[serde(skip)]
    pub uncovered: usize,
    /// Indices of the exceptions of the settings that accept a finding.
    #[serde(skip)]
    pub used_exceptions: BTreeSet<usize>,
    /// The target of the check.
    #[serde(skip)]
    pub target: Target,
}

/// Counts of documents and findings.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// Documents in the input.
    pub documents: usize,
    /// Documents that rules read.
    pub checked: usize,
    /// Documents that no rule reads.
    pub skipped: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Findings that a suppression, an exception or the baseline accepts.
    pub suppressed: usize,
}

/// A finding with its location. `line` to `end_offset` and `fix` are null if the finding has no text.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report, described in the JSON schema")]
pub struct ReportedFinding {
    pub rule: &'static str,
    pub family: Family,
    pub severity: Severity,
    pub caught_by: CaughtBy,
    pub releases: String,
    /// The step of the upgrade path at which the finding begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
    /// The time to act on the finding in an upgrade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    pub cluster: String,
    pub file: String,
    pub document: usize,
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub path: String,
    #[serde(flatten)]
    pub position: TextRange,
    pub message: String,
    pub help: String,
    pub url: String,
    pub related: Vec<RelatedLocation>,
    pub fix: Option<ReportedFix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Evidence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Occurrences>,
}

/// Confidence of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// No other explanation fits the input.
    Certain,
    /// Another explanation is improbable.
    Likely,
    /// One of several explanations.
    Possible,
}

/// A line of the input that proves a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Evidence {
    pub file: String,
    pub line: Option<usize>,
    pub text: String,
}

/// Count and times of a symptom, and the first affected objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Occurrences {
    pub count: u64,
    /// Whether the count is a lower bound, because memory is bounded.
    pub at_least: bool,
    pub first: Option<String>,
    pub last: Option<String>,
    pub objects: Vec<String>,
    pub objects_in_all: usize,
}

/// Summary of a cluster's logs, events and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogSummary {
    /// The name of the cluster; empty if the check has only one cluster.
    pub cluster: String,
    /// Number of files.
    pub files: usize,
    /// Number of lines in all files.
    pub lines: u64,
    /// Number of log lines, events and conditions.
    pub entries: u64,
    /// Entries that match the vocabulary, including entries of normal operation.
    pub understood: u64,
    /// Entries that do not match the vocabulary.
    pub unknown: u64,
    /// Whether any of the input is known to come from Karpenter, or to be about it.
    pub is_of_karpenter: bool,
    /// Errors that do not match the vocabulary, each kind once, the most frequent first.
    pub not_recognised: Vec<UnrecognisedError>,
    /// Number of error lines of kinds that are not listed.
    pub not_recognised_more: u64,
    /// Log lines without their start or end.
    pub truncated: u64,
    /// Lines that are not valid UTF-8. Invalid bytes are replaced.
    pub not_utf8: u64,
    /// Skipped lines, by reason.
    pub skipped: Vec<SkippedLines>,
    /// Causes, batches and NodeClaim histories that were dropped because of memory limits.
    pub forgotten: u64,
    /// The lowest level of a line. A log without DEBUG lines lacks many messages.
    pub level: Option<&'static str>,
    /// DEBUG messages that would confirm or exclude an uncertain diagnosis.
    pub settling: Vec<String>,
    /// The releases that can have written the log; empty if no release matches.
    pub releases: String,
    /// The time of the first line.
    pub first: Option<String>,
    /// The time of the last line.
    pub last: Option<String>,
}

/// Error lines with the same message, apart from numbers, addresses and names, which are replaced by an ellipsis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct UnrecognisedError {
    pub message: String,
    pub count: u64,
    pub first: Option<String>,
    pub last: Option<String>,
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// Number of lines skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct SkippedLines {
    pub reason: String,
    pub count: u64,
    /// Whether the lines are beyond the bound on the size of a file, which a front end may let the user raise.
    #[serde(skip)]
    pub exceeds_file_bytes: bool,
}

/// A range of a text. Lines and columns start at 1, columns count code points, offsets count UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct TextRange {
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub end_line: Option<usize>,
    pub end_column: Option<usize>,
    pub offset: Option<usize>,
    pub end_offset: Option<usize>,
}

/// A related location of a finding.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct RelatedLocation {
    pub file: String,
    pub document: usize,
    pub path: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub offset: Option<usize>,
    pub end_offset: Option<usize>,
    pub message: String,
}

/// A fix as edits of the text.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct ReportedFix {
    pub title: String,
    pub safe: bool,
    pub edits: Vec<ReportedEdit>,
}

/// A range of a file, in UTF-16 code units, and its replacement.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct ReportedEdit {
    pub file: String,
    pub offset: usize,
    pub end_offset: usize,
    pub text: String,
}

/// Fix that was not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedFix {
    /// Name of the rule.
    pub rule: &'static str,
    /// Name of the file.
    pub file: String,
    /// Line of the finding.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// The releases that accept a document.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Accepted {
    pub file: String,
    pub document: usize,
    pub releases: String,
    /// The same as a set.
    #[serde(skip)]
    pub set: ReleaseSet,
}

/// Version of Karpenter that a folder or a file pins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedPin {
    /// The name of the cluster; empty if the check has only one cluster.
    pub cluster: String,
    /// The folder or file, which the version holds for; empty for the whole input.
    pub folder: String,
    /// The version; empty if the pins contradict each other.
    pub version: String,
    /// The release or range that the manifests are checked against.
    pub checked_as: String,
    /// The file with the first pin.
    pub file: String,
    /// The line of the first pin.
    pub line: usize,
    /// Remark on a version that is not checked exactly, or on pins that contradict each other; else empty.
    pub note: String,
}

/// Sibling folders that look like separate clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedEnvironments {
    /// The folders.
    pub folders: Vec<String>,
}

/// A document that was not checked.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Skipped {
    pub file: String,
    pub document: usize,
    pub reason: String,
}

/// A document, or the rest of a file, that could not be read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Unreadable {
    pub file: String,
    pub document: usize,
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// The bound of the reader that the document exceeds, if that is the reason.
    #[serde(skip)]
    pub exceeded: Option<Exceeded>,
    /// Whether the document may be about Karpenter: the user named its file, or the file contains the word `karpenter`, or
    /// its content is not known.
    pub concerns_karpenter: bool,
}

impl Report {
    /// A report without findings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            schema: SCHEMA,
            version: VERSION,
            karpenter_version: settings.karpenter.to_string(),
            notes: settings.unknown_releases.clone(),
            summary: Summary::default(),
            statistics: None,
            findings: Vec::new(),
            accepted: settings.karpenter.is_range().then(Vec::new),
            logs: None,
            stories: None,
            pins: Vec::new(),
            environments: Vec::new(),
            skipped: Vec::new(),
            unreadable: Vec::new(),
            truncated: false,
            unchanged: 0,
            uncovered: 0,
            used_exceptions: BTreeSet::new(),
            target: settings.karpenter,
        }
    }

    /// The upgrade path, if the report is about an upgrade.
    pub const fn upgrade_path(&self) -> Option<UpgradePath> {
        self.target.upgrade_path()
    }

    /// The report as JSON on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Keeps the findings that match; the others count as suppressed.
    pub fn keep(&mut self, mut matches: impl FnMut(usize, &ReportedFinding) -> bool) {
        let all = core::mem::take(&mut self.findings);
        for (index, finding) in all.into_iter().enumerate() {
            if matches(index, &finding) {
                self.findings.push(finding);
                continue;
            }
            let count = self.counted(finding.severity);
            *count = count.saturating_sub(1);
            self.summary.suppressed += 1;
        }
    }

    /// Leaves out the findings beyond a maximum. The summary still counts them.
    pub fn truncate(&mut self, max_findings: usize) {
        self.truncated |= self.findings.len() > max_findings;
        self.findings.truncate(max_findings);
    }

    /// Counts a finding.
    pub fn count(&mut self, severity: Severity) {
        *self.counted(severity) += 1;
    }

    /// Moves a finding from the count of one severity to the count of another.
    pub fn recount(&mut self, before: Severity, after: Severity) {
        let count = self.counted(before);
        *count = count.saturating_sub(1);
        self.count(after);
    }

    fn counted(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Error => &mut self.summary.errors,
            Severity::Warning => &mut self.summary.warnings,
            Severity::Info => &mut self.summary.infos,
        }
    }
}

/// Address of the page of a rule or symptom.
pub fn url(rule: &str) -> String {
    format!("{DOCUMENTATION}{rule}")
}

impl TextRange {
    /// The range of a span, without white space at its end.
    pub fn of(source: &Source, span: Span) -> Self {
        let text = source.slice(span);
        let end = span.start + text.trim_end().len().max(text.len().min(1));
        let (from, to) = (source.position(span.start), source.position(end));
        Self {
            line: Some(from.line),
            column: Some(from.column),
            end_line: Some(to.line),
            end_column: Some(to.column),
            offset: Some(from.offset),
            end_offset: Some(to.offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_finding_under_its_new_severity_only() {
        let mut report = Report::new(&Settings::default());
        report.count(Severity::Error);
        report.count(Severity::Error);
        report.recount(Severity::Error, Severity::Info);
        let summary = report.summary;
        assert_eq!((summary.errors, summary.warnings, summary.infos), (1, 0, 1));
    }
}
