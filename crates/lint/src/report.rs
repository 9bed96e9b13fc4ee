//! The report of a run: findings with their positions as plain data, in the shape of the JSON report.

use serde::Serialize;

use crate::finding::{CaughtBy, Family, Finding, Severity};
use crate::settings::{Settings, Target};
use karpenter::release::ReleaseSet;
use karpenter::upgrade_path::{Boundary, UpgradePath};
use manifest::tree::Node;
use objects::object::Object;

/// Where the documentation is published; a rule's page is below it.
pub const DOCUMENTATION: &str = "https://karpwarden.github.io/karpwarden/rules/";

/// What a run found, as `--format json` prints it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of this shape.
    pub schema: u8,
    /// The version of this program.
    pub version: &'static str,
    /// The release or range that was checked against.
    pub karpenter_version: String,
    /// How much of what.
    pub summary: Summary,
    /// What is wrong, in document order.
    pub findings: Vec<ReportedFinding>,
    /// With a range: which releases accept each Karpenter document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Vec<Accepted>>,
    /// Of a diagnosis: what was read of each cluster, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Vec<LogSummary>>,
    /// What was not checked, and why.
    pub skipped: Vec<Skipped>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// There were more findings than the bound; the summary counts them all.
    #[serde(skip)]
    pub truncated: bool,
    /// On the way from one release to another: findings that hold at its start already, and are not shown.
    #[serde(skip)]
    pub unchanged: usize,
    #[serde(skip)]
    target: Target,
}

/// Counts.
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
    /// Findings that an exception covers.
    pub suppressed: usize,
}

/// One finding. `line` to `end_offset` and `fix` are absent where there is no text.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report, described in the design of its schema")]
pub struct ReportedFinding {
    pub rule: &'static str,
    pub family: Family,
    pub severity: Severity,
    pub caught_by: CaughtBy,
    pub releases: String,
    /// On the way from one release to another: the release at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
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
    /// Nothing else explains the input.
    Certain,
    /// Another explanation would be a surprise.
    Likely,
    /// One of several explanations.
    Possible,
}

/// A line that tells of what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Evidence {
    pub file: String,
    pub line: Option<usize>,
    pub text: String,
}

/// How often and when something was seen, and the first few of the objects that it happened to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Occurrences {
    pub count: u64,
    pub first: Option<String>,
    pub last: Option<String>,
    pub objects: Vec<String>,
    pub objects_in_all: usize,
}

/// What was read of a cluster's logs, events and status, and how much of it was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogSummary {
    /// The cluster's name; empty where there is only one.
    pub cluster: String,
    /// Files.
    pub files: usize,
    /// Lines of all files.
    pub lines: u64,
    /// Lines of logs, events and conditions.
    pub entries: u64,
    /// Entries that are known, those of normal work among them.
    pub understood: u64,
    /// Entries that are not.
    pub unknown: u64,
    /// Lines of logs whose start or end is missing.
    pub truncated: u64,
    /// Lines that are not UTF-8, and were read as well as they can be.
    pub not_utf8: u64,
    /// Lines that were passed over, by reason.
    pub skipped: Vec<SkippedLines>,
    /// Causes, batches and lives of NodeClaims that had to be forgotten to stay within bounds.
    pub forgotten: u64,
    /// The lowest level of a line: a log that has none at DEBUG is silent on much.
    pub level: Option<&'static str>,
    /// The messages at DEBUG that would settle what is not certain.
    pub settling: Vec<String>,
    /// The releases that could have written the log; empty where there is none.
    pub releases: String,
    /// The time of the first line.
    pub first: Option<String>,
    /// The time of the last line.
    pub last: Option<String>,
}

/// Lines that were passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct SkippedLines {
    pub reason: String,
    pub count: u64,
}

/// A range of a text: lines and columns from 1 (columns in code points), offsets in UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "see the sentence above")]
pub struct TextRange {
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub end_line: Option<usize>,
    pub end_column: Option<usize>,
    pub offset: Option<usize>,
    pub end_offset: Option<usize>,
}

/// Another place that has to do with a finding.
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

/// A range of a file, in UTF-16 code units, and what to write there.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct ReportedEdit {
    pub file: String,
    pub offset: usize,
    pub end_offset: usize,
    pub text: String,
}

/// The releases that accept a document.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Accepted {
    pub file: String,
    pub document: usize,
    pub releases: String,
    #[serde(skip)]
    set: ReleaseSet,
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
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Unreadable {
    pub file: String,
    pub document: usize,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Where a document stands among the inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentLocation<'d> {
    /// The cluster's name, where there are several.
    pub cluster: &'d str,
    /// The file's name.
    pub file: &'d str,
    /// The position of the document in its file.
    pub document: usize,
}

impl Report {
    /// A report without findings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            karpenter_version: settings.karpenter.to_string(),
            summary: Summary::default(),
            findings: Vec::new(),
            accepted: settings.karpenter.is_range().then(Vec::new),
            logs: None,
            skipped: Vec::new(),
            unreadable: Vec::new(),
            truncated: false,
            unchanged: 0,
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

    /// Keeps the findings that fit; the others count as suppressed.
    pub fn keep(&mut self, mut fits: impl FnMut(usize, &ReportedFinding) -> bool) {
        let all = core::mem::take(&mut self.findings);
        for (index, finding) in all.into_iter().enumerate() {
            if fits(index, &finding) {
                self.findings.push(finding);
                continue;
            }
            let count = self.counted(finding.severity);
            *count = count.saturating_sub(1);
            self.summary.suppressed += 1;
        }
    }

    /// Records which releases accept a document.
    pub fn accept(&mut self, place: DocumentLocation<'_>, refused: &ReleaseSet, object: Object<'_>) {
        let karpenter = matches!(object.group(), "karpenter.sh" | "karpenter.k8s.aws");
        let (true, Some(accepted)) = (karpenter, self.accepted.as_mut()) else { return };
        let set = ReleaseSet::all().without(refused);
        let is_same = |last: &&mut Accepted| last.file == place.file && last.document == place.document;
        if let Some(last) = accepted.last_mut().filter(is_same) {
            last.set = last.set.and(set);
            last.releases = self.target.ranges_of(&last.set);
            return;
        }
        accepted.push(Accepted {
            file: place.file.to_owned(),
            document: place.document,
            releases: self.target.ranges_of(&set),
            set,
        });
    }

    /// Counts a finding.
    pub fn count(&mut self, severity: Severity) {
        *self.counted(severity) += 1;
    }

    /// A finding that was counted under one severity is of another.
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

    /// Adds a finding; `find` returns the document and object of a related node.
    pub fn add<'d>(
        &mut self,
        finding: &Finding<'d>,
        object: Object<'d>,
        place: &DocumentLocation<'d>,
        find: impl Fn(Node<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)>,
    ) {
        let related = finding.related.iter().filter_map(|(at, message)| {
            let (place, object) = find(at.node())?;
            let range = TextRange::of(at);
            Some(RelatedLocation {
                file: place.file.to_owned(),
                document: place.document,
                path: at.path(object.root()),
                line: range.line,
                column: range.column,
                offset: range.offset,
                end_offset: range.end_offset,
                message: message.clone(),
            })
        });
        self.findings.push(ReportedFinding {
            rule: finding.rule.name,
            family: finding.rule.family,
            severity: finding.severity,
            caught_by: finding.caught_by,
            releases: finding.releases.to_string(),
            boundary: self.target.upgrade_path().and_then(|path| path.boundary(&finding.releases)),
            cluster: place.cluster.to_owned(),
            file: place.file.to_owned(),
            document: place.document,
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            path: finding.place.path(object.root()),
            position: TextRange::of(&finding.place),
            message: finding.message.clone(),
            help: finding.help.clone(),
            url: url(finding.rule.name),
            related: related.collect(),
            fix: finding.fix.as_ref().and_then(|fix| ReportedFix::of(fix, place.file)),
            confidence: None,
            evidence: None,
            seen: None,
        });
    }
}

/// The page of a rule.
pub fn url(rule: &str) -> String {
    format!("{DOCUMENTATION}{rule}")
}

impl TextRange {
    fn of(place: &crate::finding::Place<'_>) -> Self {
        let (source, span) = (place.node().tree().source(), place.span());
        let text = source.slice(span);
        // A place is marked up to the last word of it.
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

impl ReportedFix {
    fn of(fix: &crate::fix::Fix<'_>, file: &str) -> Option<Self> {
        let edits = fix.changes.iter().map(|change| {
            let edit = change.edit()?;
            let source = change.node().tree().source();
            Some(ReportedEdit {
                file: file.to_owned(),
                offset: source.position(edit.span.start).offset,
                end_offset: source.position(edit.span.end).offset,
                text: edit.text,
            })
        });
        Some(Self { title: fix.title.clone(), safe: fix.safe, edits: edits.collect::<Option<_>>()? })
    }
}
