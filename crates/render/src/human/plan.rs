//! The plan of an upgrade, at the start of its report.

use std::io::{self, Write};

use super::printer::{BOLD, GOOD, Printer};
use super::words::{count, printable};
use crate::plan::{UpgradePlan, UpgradeStep};

/// Number of places that are listed for a step.
const MAX_PLACES: usize = 3;

pub(super) fn write(printer: &Printer<'_>, out: &mut dyn Write, plan: &UpgradePlan<'_>) -> io::Result<()> {
    writeln!(out, "{}", printer.styled(BOLD, &plan.title()))?;
    let mut last = String::new();
    for step in &plan.steps {
        let release = step.boundary.release();
        if release != last {
            writeln!(out, "  {}", printer.styled(BOLD, &release))?;
            last = release;
        }
        let (phase, action) = (step.phase.name(), printable(step.action()));
        writeln!(out, "    {phase}: {action} [{}: {}]", step.rule(), places(step))?;
    }
    if plan.steps.is_empty() {
        writeln!(out, "  {}", printer.styled(GOOD, "nothing to do in these manifests"))?;
    }
    if let Some(action) = plan.always() {
        writeln!(out, "  each release: {action}")?;
    }
    let nodes = plan.nodes();
    if !nodes.is_empty() {
        writeln!(out, "  nodes:")?;
    }
    for line in nodes {
        writeln!(out, "    {}", printable(&line))?;
    }
    writeln!(out, "  {}\n", plan.basis())
}

/// The first places of a step, such as `pool.yaml:4, pool.yaml:9 and 2 more`.
fn places(step: &UpgradeStep<'_>) -> String {
    let place = |line: Option<usize>| line.map(|line| format!(":{line}")).unwrap_or_default();
    let shown = step.findings.iter().take(MAX_PLACES);
    let shown = shown.map(|finding| format!("{}{}", printable(&finding.file), place(finding.position.line)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match step.findings.len().saturating_sub(MAX_PLACES) {
        0 => shown,
        more => format!("{shown} and {}", count(more, "more place")),
    }
}
