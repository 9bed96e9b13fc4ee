//! `JUnit` XML for GitLab, Jenkins and Azure Pipelines: a test suite for each file, a test case for each finding.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use answers::report::{Report, ReportedFinding, Unreadable};
use rule::finding::Severity;

/// Findings and unreadable documents of one file.
#[derive(Default)]
struct Suite<'r> {
    findings: Vec<&'r ReportedFinding>,
    unreadable: Vec<&'r Unreadable>,
}

impl Suite<'_> {
    /// Number of unreadable documents that may concern Karpenter.
    fn errors(&self) -> usize {
        self.unreadable.iter().filter(|unreadable| unreadable.concerns_karpenter).count()
    }
}

/// Renders a report as XML. A finding of severity `error` is a failure and an unreadable document is an error. A warning or
/// an info passes, with its message in the output of the test case. A file without findings is one passed test case.
pub fn junit<'r>(report: &'r Report, files: impl IntoIterator<Item = &'r str>) -> String {
    let mut suites: BTreeMap<&str, Suite<'_>> =
        files.into_iter().map(|file| (file, Suite::default())).collect();
    for finding in &report.findings {
        suites.entry(&finding.file).or_default().findings.push(finding);
    }
    for unreadable in &report.unreadable {
        suites.entry(&unreadable.file).or_default().unreadable.push(unreadable);
    }
    let mut body = String::new();
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for (file, suite) in &suites {
        let failed = suite.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let cases = (suite.findings.len() + suite.unreadable.len()).max(1);
        (tests, failures) = (tests + cases, failures + failed);
        let _ = writeln!(
            body,
            "  <testsuite name=\"{}\" tests=\"{cases}\" failures=\"{failed}\" errors=\"{}\">",
            escaped(file),
            suite.errors()
        );
        errors += suite.errors();
        write_cases(&mut body, file, suite);
        body.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"karpwarden\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n{body}</testsuites>\n"
    )
}

fn write_cases(body: &mut String, file: &str, suite: &Suite<'_>) {
    let class = escaped(file);
    if suite.findings.is_empty() && suite.unreadable.is_empty() {
        let _ = writeln!(body, "    <testcase name=\"no findings\" classname=\"{class}\"/>");
    }
    for finding in &suite.findings {
        let at = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
        // A diagnosis of a log may be about no object.
        let object = match finding.kind.as_str() {
            "" => String::new(),
            kind => format!(" on {kind}/{}", finding.name),
        };
        let name = escaped(&format!("{}{object}{at}", finding.rule));
        let line = finding.position.line.unwrap_or(1);
        let text = escaped(&format!("{file}:{line}: {}\n{}\n{}", finding.message, finding.help, finding.url));
        let _ = writeln!(
            body,
            "    <testcase name=\"{name}\" classname=\"{class}\" file=\"{class}\" line=\"{line}\">"
        );
        if finding.severity == Severity::Error {
            let message = escaped(&finding.message);
            let _ = writeln!(
                body,
                "      <failure message=\"{message}\" type=\"{}\">{text}</failure>",
                finding.rule
            );
        } else {
            let _ = writeln!(body, "      <system-out>{}: {text}</system-out>", finding.severity);
        }
        body.push_str("    </testcase>\n");
    }
    for unreadable in &suite.unreadable {
        let message = escaped(&format!("{}:{}: {}", unreadable.line, unreadable.column, unreadable.message));
        let result = if unreadable.concerns_karpenter {
            format!("<error message=\"{message}\"/>")
        } else {
            format!("<system-out>unreadable: {message}</system-out>")
        };
        let _ = writeln!(
            body,
            "    <testcase name=\"document {} can be read\" classname=\"{class}\">\n      {result}\n    </testcase>",
            unreadable.document
        );
    }
}

/// Escapes text for XML 1.0, which forbids most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control < ' ' => escaped.push('\u{fffd}'),
            char => escaped.push(char),
        }
    }
    escaped
}
