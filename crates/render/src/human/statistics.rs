//! Renders the number of findings of each rule.

use std::io::{self, Write};

use answers::statistics::RuleCount;
use rule::finding::Severity;

use super::printer::{BOLD, Printer};

pub(super) fn write(printer: &Printer<'_>, out: &mut dyn Write, counts: &[RuleCount]) -> io::Result<()> {
    let digits = |count: &RuleCount| count.findings().to_string().len();
    let width = counts.iter().map(digits).max().unwrap_or_default();
    let name_width = counts.iter().map(|count| count.rule.len()).max().unwrap_or_default();
    for count in counts {
        let number = printer.styled(BOLD, &format!("{:width$}", count.findings()));
        let fixable = match count.fixable {
            0 => String::new(),
            fixable => format!(", {fixable} with a safe fix"),
        };
        writeln!(out, "{number}  {:name_width$}  {}{fixable}", count.rule, severities(count))?;
    }
    if counts.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Numbers by severity, such as `2 error, 1 info`; only the severity if all findings have the same one.
fn severities(count: &RuleCount) -> String {
    let all =
        [(count.errors, Severity::Error), (count.warnings, Severity::Warning), (count.infos, Severity::Info)];
    let some: Vec<_> = all.into_iter().filter(|(number, _)| *number > 0).collect();
    if let [(_, severity)] = some.as_slice() {
        return severity.name().to_owned();
    }
    let words = some.iter().map(|(number, severity)| format!("{number} {}", severity.name()));
    words.collect::<Vec<_>>().join(", ")
}
