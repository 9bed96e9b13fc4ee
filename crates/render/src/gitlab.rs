//! Code Quality reports of GitLab, which a merge request shows beside its changes:
//! <https://docs.gitlab.com/ci/testing/code_quality/>, "Code Quality report format".

use answers::report::{Report, ReportedFinding, Unreadable};
use rule::finding::Severity;
use serde::Serialize;

use crate::fingerprint::fingerprints;

/// Name of the check that unreadable documents fail.
const UNREADABLE: &str = "unreadable";

/// A violation of the report.
#[derive(Serialize)]
struct Violation<'r> {
    description: String,
    check_name: &'r str,
    /// Unique in the report, and the same in the report of the target branch if the line moves.
    fingerprint: String,
    severity: &'static str,
    location: ViolationLocation<'r>,
}

#[derive(Serialize)]
struct ViolationLocation<'r> {
    /// Relative to the root of the repository, without `./`.
    path: &'r str,
    lines: ViolationLines,
}

#[derive(Serialize)]
struct ViolationLines {
    begin: usize,
}

/// Renders a JSON array with a violation for each finding and for each unreadable document.
pub fn gitlab(report: &Report) -> String {
    let findings = report.findings.iter().zip(fingerprints(&report.findings));
    let findings = findings.map(|(finding, fingerprint)| of_finding(finding, fingerprint));
    let violations: Vec<Violation<'_>> =
        findings.chain(report.unreadable.iter().map(of_unreadable)).collect();
    serde_json::to_string(&violations).unwrap_or_default()
}

fn of_finding(finding: &ReportedFinding, fingerprint: String) -> Violation<'_> {
    let help = if finding.help.is_empty() { String::new() } else { format!("; {}", finding.help) };
    Violation {
        description: format!("{}{help}", finding.message),
        check_name: finding.rule,
        fingerprint,
        severity: match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Info => "info",
        },
        location: location(&finding.file, finding.position.line),
    }
}

fn of_unreadable(unreadable: &Unreadable) -> Violation<'_> {
    Violation {
        description: unreadable.message.clone(),
        check_name: UNREADABLE,
        fingerprint: format!("{UNREADABLE}:{}:{}", unreadable.file, unreadable.document),
        severity: if unreadable.concerns_karpenter { "major" } else { "info" },
        location: location(&unreadable.file, Some(unreadable.line)),
    }
}

/// Location of a violation. A finding about no line is shown at the first one, because the format requires a line.
fn location(file: &str, line: Option<usize>) -> ViolationLocation<'_> {
    ViolationLocation { path: file, lines: ViolationLines { begin: line.unwrap_or(1) } }
}
