//! `JUnit` XML for GitLab, Jenkins and Azure Pipelines: a test suite for each file, a test case for each finding.

use std::collections::BTreeMap;

use answers::report::{Report, ReportedFinding, Unreadable};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};
use rule::finding::Severity;

/// Findings and unreadable documents of one file.
#[derive(Default)]
struct Suite<'r> {
    findings: Vec<&'r ReportedFinding>,
    unreadable: Vec<&'r Unreadable>,
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
    let mut junit = quick_junit::Report::new("karpwarden");
    for (file, suite) in &suites {
        let mut test_suite = TestSuite::new(xml(file));
        if suite.findings.is_empty() && suite.unreadable.is_empty() {
            test_suite.add_test_case(case(file, "no findings", TestCaseStatus::success()));
        }
        test_suite.add_test_cases(suite.findings.iter().map(|finding| finding_case(file, finding)));
        test_suite
            .add_test_cases(suite.unreadable.iter().map(|unreadable| unreadable_case(file, unreadable)));
        junit.add_test_suite(test_suite);
    }
    junit.to_string().unwrap_or_default()
}

/// A text of XML 1.0, which forbids most control characters.
fn xml(text: &str) -> XmlString {
    let is_forbidden =
        |char: char| (char < ' ' && !matches!(char, '\n' | '\t')) || matches!(char, '\u{fffe}' | '\u{ffff}');
    // quick-junit would drop a tab.
    XmlString::new(text.replace(is_forbidden, "\u{fffd}").replace('\t', " "))
}

fn case(file: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(xml(name), status);
    case.set_classname(xml(file));
    case
}

fn finding_case(file: &str, finding: &ReportedFinding) -> TestCase {
    let at = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
    // A diagnosis of a log may be about no object.
    let object = match finding.kind.as_str() {
        "" => String::new(),
        kind => format!(" on {kind}/{}", finding.name),
    };
    let line = finding.position.line.unwrap_or(1);
    let text = format!("{file}:{line}: {}\n{}\n{}", finding.message, finding.help, finding.reference());
    let name = format!("{}{object}{at}", finding.rule);
    let mut case = if finding.severity == Severity::Error {
        let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
        failure.set_message(xml(&finding.message)).set_type(finding.rule).set_description(xml(&text));
        self::case(file, &name, failure)
    } else {
        let mut case = self::case(file, &name, TestCaseStatus::success());
        case.set_system_out(xml(&format!("{}: {text}", finding.severity)));
        case
    };
    case.extra.insert("file".into(), xml(file));
    case.extra.insert("line".into(), line.to_string().into());
    case
}

fn unreadable_case(file: &str, unreadable: &Unreadable) -> TestCase {
    let message = format!("{}:{}: {}", unreadable.line, unreadable.column, unreadable.message);
    let name = format!("document {} can be read", unreadable.document);
    if unreadable.concerns_karpenter {
        let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
        error.set_message(xml(&message));
        return case(file, &name, error);
    }
    let mut case = case(file, &name, TestCaseStatus::success());
    case.set_system_out(xml(&format!("unreadable: {message}")));
    case
}
