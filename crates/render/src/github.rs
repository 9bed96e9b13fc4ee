//! Workflow commands of GitHub Actions, which GitHub shows as annotations of a pull request:
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>.

use core::fmt::Write as _;

use answers::report::{Report, ReportedFinding};
use rule::finding::Severity;

/// Renders one workflow command for each finding and for each unreadable document.
pub fn github(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let _ = writeln!(text, "::{command} {}::{}", properties(finding), data(&message(finding)));
    }
    for unreadable in &report.unreadable {
        let (line, column) = (unreadable.line, unreadable.column);
        let file = property(&unreadable.file);
        let command = if unreadable.concerns_karpenter { "error" } else { "notice" };
        let message = data(&unreadable.message);
        let _ = writeln!(text, "::{command} file={file},line={line},col={column}::{message}");
    }
    text
}

fn properties(finding: &ReportedFinding) -> String {
    let mut properties = format!("file={}", property(&finding.file));
    let range = &finding.position;
    for (key, value) in [
        ("line", range.line),
        ("endLine", range.end_line),
        ("col", range.column),
        ("endColumn", range.end_column),
    ] {
        // GitHub drops an annotation with columns if it covers several lines.
        let is_column = key.to_ascii_lowercase().contains("col");
        if let (Some(value), false) = (value, is_column && range.line != range.end_line) {
            let _ = write!(properties, ",{key}={value}");
        }
    }
    let _ = write!(properties, ",title={}", property(finding.rule));
    properties
}

fn message(finding: &ReportedFinding) -> String {
    let help = if finding.help.is_empty() { String::new() } else { format!("\n{}", finding.help) };
    // A diagnosis of a log may be about no object.
    let object =
        if finding.kind.is_empty() { String::new() } else { format!(" ({}/{})", finding.kind, finding.name) };
    let reference = match finding.reference() {
        reference if reference.is_empty() => reference,
        reference => format!("\n{reference}"),
    };
    format!("{}{object}{help}{reference}", finding.message)
}

/// Escapes a message, as `escapeData` in actions/toolkit `packages/core/src/command.ts`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, as `escapeProperty` in the same file.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
