//! A baseline: the findings there were when somebody began, so that only new ones are reported.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use lint::report::Report;
use report::fingerprint::fingerprints;
use serde::{Deserialize, Serialize};

/// The findings of a file, by what stays of them when lines move.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    schema: u8,
    /// Fingerprint → for people: rule, file and object.
    findings: BTreeMap<String, String>,
}

impl Baseline {
    /// Reads a file that [`write`] made.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = fs::read(path).map_err(|error| format!("cannot read the baseline `{shown}`: {error}"))?;
        let baseline: Self = serde_json::from_slice(&bytes)
            .map_err(|error| format!("`{shown}` is no baseline: {error}; --write-baseline makes one"))?;
        if baseline.schema == 1 {
            return Ok(baseline);
        }
        Err(format!("the baseline `{shown}` is of a newer karpwarden; write it anew"))
    }

    /// Takes what is listed out of a report. Gives how many of the list are no longer there.
    pub(crate) fn apply(&self, report: &mut Report) -> usize {
        let prints = fingerprints(&report.findings);
        let is_new = |index: usize| prints.get(index).is_none_or(|print| !self.findings.contains_key(print));
        let before = report.findings.len();
        report.keep(|index, _| is_new(index));
        self.findings.len().saturating_sub(before - report.findings.len())
    }
}

/// Lists the findings of a report in a file, and takes them out of it. Gives how many there were.
pub(crate) fn write(path: &Path, report: &mut Report) -> io::Result<usize> {
    let prints = fingerprints(&report.findings);
    let described = report.findings.iter().map(|finding| {
        let at = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
        format!("{} in {}: {}/{}{at}", finding.rule, finding.file, finding.kind, finding.name)
    });
    let baseline = Baseline { schema: 1, findings: prints.into_iter().zip(described).collect() };
    let text = serde_json::to_string_pretty(&baseline)? + "\n";
    let shown = path.display();
    fs::write(path, text).map_err(|error| io::Error::other(format!("cannot write `{shown}`: {error}")))?;
    report.keep(|_, _| false);
    Ok(baseline.findings.len())
}
