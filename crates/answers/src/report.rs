//! The report of a run: the answer of `check`, `upgrade` and `diagnose` with `--format json`.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::ReleaseSet;
use karpenter::upgrade_path::{Boundary, UpgradePath};
use manifest::limits::Exceeded;
use manifest::source::{Source, Span};
use rule::Phase;
use rule::classification::{CaughtBy, Family, Severity};
use rule::settings::{ExceptionId, Settings, Target};
use serde::Serialize;

use crate::plan::ControllerChange;
use crate::statistics::RuleCount;
use crate::story::Story;
use crate::{SCHEMA, VERSION};

/// Address of the published site, without a slash at its end: `homepage` in the workspace's Cargo.toml. Empty where nobody publishes one.
pub const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");

/// The result of a check, in the shape of `--format json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of the JSON schema.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
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
    #[cfg_attr(feature = "schema", ts(optional))]
    pub statistics: Option<Vec<RuleCount>>,
    /// The findings in document order.
    pub findings: Vec<ReportedFinding>,
    /// The releases that accept each Karpenter document; absent unless the check is about a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub accepted: Option<Vec<Accepted>>,
    /// The effect of the release at the end of the upgrade on nodes, as in `plan`: hashes whose version changes, and aliases of images;
    /// absent unless the report is of `upgrade`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub controller: Option<Vec<ControllerChange>>,
    /// Summaries of the logs of each cluster; absent unless the report is of `diagnose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub logs: Option<Vec<LogSummary>>,
    /// The story of one object, in each cluster; absent unless the caller asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub stories: Option<Vec<Story>>,
    /// The versions of Karpenter that the input pins, by cluster and folder.
    pub pins: Vec<ReportedPin>,
    /// Folders that look like separate clusters, and whose objects are therefore not compared with each other.
    pub environments: Vec<ReportedEnvironments>,
    /// Documents that were not checked, with the reasons. Of a document of which some fields are not known, the reason names the fields.
    pub skipped: Vec<Skipped>,
    /// Documents and files that could not be parsed.
    pub unreadable: Vec<Unreadable>,
    /// Counts for the files outside of the input to which kustomizations refer. Their findings are not in the report.
    #[serde(skip)]
    pub outside: Outside,
    /// Files of folders that were not read, because their extension is not the extension of a manifest.
    #[serde(skip)]
    pub unread: Vec<String>,
    /// Whether findings beyond the maximum were left out. The summary counts all findings.
    #[serde(skip)]
    pub truncated: bool,
    /// Number of findings that are the same at both ends of the upgrade path. They are not in the report.
    #[serde(skip)]
    pub unchanged: usize,
    /// Number of skipped documents that concern Karpenter, but that no rule checks.
    #[serde(skip)]
    pub uncovered: usize,
    /// Number of checked documents of which some fields are not known.
    #[serde(skip)]
    pub partial: usize,
    /// The exceptions of the settings that accept a finding.
    #[serde(skip)]
    pub used_exceptions: BTreeSet<ExceptionId>,
    /// The target of the check.
    #[serde(skip)]
    pub target: Target,
}

/// Counts for files outside of the input, to which kustomizations refer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Documents that rules read.
    pub checked: usize,
    /// Findings, which are not in the report.
    pub findings: usize,
}

/// Counts of documents and findings.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Finding", rename_all = "camelCase")]
pub struct ReportedFinding {
    /// Name of the rule or symptom.
    pub rule: &'static str,
    /// Family of the rule.
    pub family: Family,
    /// Severity.
    pub severity: Severity,
    /// Component that would otherwise report the problem.
    pub caught_by: CaughtBy,
    /// Releases in which the finding occurs.
    pub releases: String,
    /// The step of the upgrade path at which the finding begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"), ts(optional, as = "Option<String>"))]
    pub boundary: Option<Boundary>,
    /// The time to act on the finding in an upgrade.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub phase: Option<Phase>,
    /// Name of the cluster; empty if the check has only one cluster.
    pub cluster: String,
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// API version of the object.
    pub api_version: String,
    /// Kind of the object; may be empty.
    pub kind: String,
    /// Namespace of the object; may be empty.
    pub namespace: String,
    /// Name of the object; may be empty.
    pub name: String,
    /// Field path in the API server's notation; empty for the whole object.
    pub path: String,
    /// The key or item.
    #[serde(flatten)]
    pub position: TextRange,
    /// Consequence in the cluster.
    pub message: String,
    /// Remedy; may be empty.
    pub help: String,
    /// URL of the documentation of the rule; empty without a published site.
    pub url: String,
    /// Whether `karpwarden explain` knows the rule, as it knows all but one name that `plan` uses.
    #[serde(skip)]
    pub has_page: bool,
    /// Places that have to do with the finding.
    pub related: Vec<RelatedLocation>,
    /// Fix that works, if there is one.
    pub fix: Option<ReportedFix>,
    /// Confidence of a diagnosis; only from `diagnose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub confidence: Option<Confidence>,
    /// Lines that prove a diagnosis; only from `diagnose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub evidence: Option<Vec<Evidence>>,
    /// Count and times of a symptom; only from `diagnose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub seen: Option<Occurrences>,
}

/// Confidence of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// No other explanation fits the input.
    Certain,
    /// Another explanation is improbable.
    Likely,
    /// One of several explanations.
    Possible,
}

impl Confidence {
    /// The word for the confidence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

/// A line of the input that proves a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Evidence {
    /// Name of the file.
    pub file: String,
    /// The line; null for evidence from several lines.
    pub line: Option<usize>,
    /// Text of the line.
    pub text: String,
}

/// Count and times of a symptom, and the first affected objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Occurrences {
    /// Number of times.
    pub count: u64,
    /// Whether the count is a lower bound, because memory is bounded.
    pub at_least: bool,
    /// Time of the first one.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub first: Option<String>,
    /// Time of the last one.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last: Option<String>,
    /// Names of the first affected objects.
    pub objects: Vec<String>,
    /// Number of affected objects.
    pub objects_in_all: usize,
}

/// Summary of a cluster's logs, events and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
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
    /// Reports of Kubewarden's audit scanner, or of other programs that write such reports.
    pub audit_reports: usize,
    /// Errors of Karpwarden's policy in the reports, including errors that another finding repeats or an exception accepts.
    pub audit_errors: usize,
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
    pub level: Option<LogLevel>,
    /// DEBUG messages that would confirm or exclude an uncertain diagnosis.
    pub settling: Vec<String>,
    /// The releases that can have written the log; empty if no release matches.
    pub releases: String,
    /// The time of the first line.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub first: Option<String>,
    /// The time of the last line.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last: Option<String>,
}

/// Level of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "UPPERCASE")]
pub enum LogLevel {
    /// `DEBUG`: off by default.
    Debug,
    /// `INFO`, a Normal event, a condition.
    #[default]
    Info,
    /// `WARN`, a Warning event.
    Warn,
    /// `ERROR`.
    Error,
    /// `PANIC`, `FATAL`.
    Panic,
}

impl LogLevel {
    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Panic => "PANIC",
        }
    }
}

/// Error lines with the same message, apart from numbers, addresses and names, which are replaced by an ellipsis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct UnrecognisedError {
    /// The message, with an ellipsis for what differs.
    pub message: String,
    /// Number of lines.
    pub count: u64,
    /// Time of the first line.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub first: Option<String>,
    /// Time of the last line.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last: Option<String>,
    /// File of the first line.
    pub file: String,
    /// Number of the first line.
    pub line: usize,
    /// Text of the first line.
    pub text: String,
}

/// Number of lines skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SkippedLines {
    /// The reason.
    pub reason: String,
    /// Number of lines.
    pub count: u64,
    /// Whether the lines are beyond the bound on the size of a file, which a front end may let the user raise.
    #[serde(skip)]
    pub exceeds_file_bytes: bool,
}

/// A range of a text. Lines and columns start at 1, columns count code points, offsets count UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Range", rename_all = "camelCase")]
pub struct TextRange {
    /// Line of the first character.
    pub line: Option<usize>,
    /// Column of the first character.
    pub column: Option<usize>,
    /// Line of the end.
    pub end_line: Option<usize>,
    /// Column after the last character.
    pub end_column: Option<usize>,
    /// Offset of the first character.
    pub offset: Option<usize>,
    /// Offset after the last character.
    pub end_offset: Option<usize>,
}

/// A related location of a finding.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Related", rename_all = "camelCase")]
pub struct RelatedLocation {
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// Field path; may be empty.
    pub path: String,
    /// Line of the first character.
    pub line: Option<usize>,
    /// Column of the first character.
    pub column: Option<usize>,
    /// Offset of the first character.
    pub offset: Option<usize>,
    /// Offset after the last character.
    pub end_offset: Option<usize>,
    /// Relation of the place to the finding.
    pub message: String,
}

/// A fix as edits of the text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Fix", rename_all = "camelCase")]
pub struct ReportedFix {
    /// Effect of the fix.
    pub title: String,
    /// Whether the fix keeps the intent of the author.
    pub safe: bool,
    /// The edits, which belong together.
    pub edits: Vec<ReportedEdit>,
}

/// A range of a file, in UTF-16 code units, and its replacement.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Edit", rename_all = "camelCase")]
pub struct ReportedEdit {
    /// Name of the file.
    pub file: String,
    /// Offset of the first replaced character.
    pub offset: usize,
    /// Offset after the last replaced character.
    pub end_offset: usize,
    /// The replacement.
    pub text: String,
}

/// Fix that was not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Accepted {
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// The releases.
    pub releases: String,
    /// The same as a set.
    #[serde(skip)]
    pub set: ReleaseSet,
}

/// Version of Karpenter that a folder or a file pins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Pin", rename_all = "camelCase")]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Environments")]
pub struct ReportedEnvironments {
    /// The folders.
    pub folders: Vec<String>,
}

/// A document that was not checked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Skipped {
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// The reason.
    pub reason: String,
}

/// A document, or the rest of a file, that could not be read.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// Line of the mistake.
    pub line: usize,
    /// Column of the mistake.
    pub column: usize,
    /// The mistake.
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
            controller: None,
            logs: None,
            stories: None,
            pins: Vec::new(),
            environments: Vec::new(),
            skipped: Vec::new(),
            unreadable: Vec::new(),
            outside: Outside::default(),
            partial: 0,
            unread: Vec::new(),
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

    /// Counts the findings in the report for each rule, most frequent rule first.
    pub fn count_rules(&mut self) {
        let mut counts: BTreeMap<&str, RuleCount> = BTreeMap::new();
        for finding in &self.findings {
            let count =
                counts.entry(finding.rule).or_insert_with(|| RuleCount::new(finding.rule, finding.family));
            count.add(finding.severity, finding.fix.as_ref().is_some_and(|fix| fix.safe));
        }
        let mut counts: Vec<RuleCount> = counts.into_values().collect();
        counts.sort_by_key(|count| core::cmp::Reverse(count.findings()));
        self.statistics = Some(counts);
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

/// Address of the page of a rule or symptom; empty without a published site.
pub fn url(rule: &str) -> String {
    page_on(HOMEPAGE, rule)
}

fn page_on(homepage: &str, rule: &str) -> String {
    if homepage.is_empty() { String::new() } else { format!("{homepage}/rules/{rule}") }
}

impl ReportedFinding {
    /// The description of the rule: the address of its page, else the command that prints the page, else nothing.
    pub fn reference(&self) -> String {
        match self.url.as_str() {
            "" if self.has_page => format!("karpwarden explain {}", self.rule),
            url => url.to_owned(),
        }
    }
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
    fn names_a_page_only_on_a_published_site() {
        assert_eq!(page_on("", "some-rule"), "");
        assert_eq!(page_on("https://rules.example", "some-rule"), "https://rules.example/rules/some-rule");
    }

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
