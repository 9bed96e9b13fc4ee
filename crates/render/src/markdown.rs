//! Markdown: a checklist for the description of a pull request.

use core::fmt::Write as _;

use answers::report::{Report, ReportedFinding};
use cluster::Cluster;
use rule::finding::Severity;

use crate::human::{printable, summary};
use crate::plan::UpgradePlan;

/// Renders a report as a checklist: the steps of an upgrade, or the findings of a check.
pub fn markdown(report: &Report, clusters: &[Cluster]) -> String {
    let mut text = String::new();
    match UpgradePlan::of(report, clusters) {
        Some(plan) => upgrade(&mut text, report, &plan),
        None => check(&mut text, report),
    }
    let _ = writeln!(text, "\n{}.", inline(&summary(report)));
    text
}

fn upgrade(text: &mut String, report: &Report, plan: &UpgradePlan<'_>) {
    let title = plan.title();
    let (first, rest) = title.split_at_checked(1).unwrap_or_default();
    let _ = writeln!(text, "## {}{rest}\n", first.to_uppercase());
    let mut last = String::new();
    for step in &plan.steps {
        let release = step.boundary.release();
        if release != last {
            let _ = writeln!(text, "{}### {release}\n", if last.is_empty() { "" } else { "\n" });
            last = release;
        }
        let places: Vec<_> = step.findings.iter().map(|finding| place(finding)).collect();
        let _ = writeln!(
            text,
            "- [ ] **{}**: {} ({}; {})",
            step.phase.name(),
            inline(step.action()),
            link(step.findings.first().copied()),
            places.join(", ")
        );
    }
    if plan.steps.is_empty() {
        let _ = writeln!(text, "Nothing to do in these manifests.");
    }
    if let Some(action) = plan.always() {
        let _ = writeln!(text, "\n### Every release\n\n- [ ] **before**: {}", inline(action));
    }
    text.push('\n');
    let infos = report.findings.iter().filter(|finding| finding.severity == Severity::Info);
    let notes: Vec<_> = infos.map(|finding| format!("- {}", note(finding))).collect();
    if !notes.is_empty() {
        let _ = writeln!(text, "### Good to know\n\n{}\n", notes.join("\n"));
    }
    let lines: Vec<_> = plan.nodes().iter().map(|line| format!("- {}", inline(line))).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "### Nodes\n\n{}\n", lines.join("\n"));
    }
    let _ = writeln!(text, "Karpwarden {}.", inline(&plan.basis()));
}

fn check(text: &mut String, report: &Report) {
    text.push_str("## Karpenter manifests\n\n");
    for finding in &report.findings {
        let _ = writeln!(text, "- [ ] **{}**: {}", finding.severity, note(finding));
    }
}

fn note(finding: &ReportedFinding) -> String {
    let message = inline(&finding.message);
    format!("{message} ({}; {})", link(Some(finding)), place(finding))
}

fn link(finding: Option<&ReportedFinding>) -> String {
    finding.map_or(String::new(), |finding| match finding.url.as_str() {
        "" => format!("`{}`", finding.rule),
        url => format!("[{}]({url})", finding.rule),
    })
}

/// `file.yaml:12` as code.
fn place(finding: &ReportedFinding) -> String {
    let file = printable(&finding.file).replace('`', "'");
    finding.position.line.map_or_else(|| format!("`{file}`"), |line| format!("`{file}:{line}`"))
}

/// A text in one line, without HTML outside code.
pub(crate) fn inline(text: &str) -> String {
    let text = printable(text);
    let parts: Vec<&str> = text.split('`').collect();
    // With an unpaired back-tick, nothing is certain to be code.
    let is_paired = parts.len() % 2 == 1;
    let escaped = parts.iter().enumerate().map(|(index, part)| {
        let is_code = is_paired && index % 2 == 1;
        if is_code { (*part).to_owned() } else { part.replace('&', "&amp;").replace('<', "&lt;") }
    });
    escaped.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::inline;

    #[test]
    fn escapes_html_outside_code_only() {
        assert_eq!(inline("a <b> & `c <d>`"), "a &lt;b> &amp; `c <d>`");
        assert_eq!(inline("`<img>"), "`&lt;img>");
        assert!(!inline("a\n- [x] b").contains('\n'));
    }
}
