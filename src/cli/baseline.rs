//! Baselines: files that list known findings, so that a run reports only new ones.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use lint::report::Report;
use report::fingerprint::fingerprints;
use serde::{Deserialize, Serialize};

/// Content of a baseline file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    schema: u8,
    /// Fingerprint of each finding, with a description for people.
    findings: BTreeMap<String, String>,
}

impl Baseline {
    /// Reads a file that [`write`] has written.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = fs::read(path).map_err(|error| format!("cannot read the baseline `{shown}`: {error}"))?;
        let baseline: Self = serde_json::from_slice(&bytes).map_err(|error| {
            format!("`{shown}` is not a baseline: {error}; write one with `--write-baseline`")
        })?;
        if baseline.schema == 1 {
            return Ok(baseline);
        }
        Err(format!(
            "the baseline `{shown}` comes from a newer version of karpwarden; regenerate it with `--write-baseline`"
        ))
    }

    /// Removes the listed findings from a report. Returns the number of entries that match no finding.
    pub(crate) fn apply(&self, report: &mut Report) -> usize {
        let keys = fingerprints(&report.findings);
        let is_new = |index: usize| keys.get(index).is_none_or(|key| !self.findings.contains_key(key));
        let before = report.findings.len();
        report.keep(|index, _| is_new(index));
        self.findings.len().saturating_sub(before - report.findings.len())
    }
}

/// Writes the findings of a report to a baseline file and removes them from the report. Returns their number.
pub(crate) fn write(path: &Path, report: &mut Report) -> io::Result<usize> {
    let keys = fingerprints(&report.findings);
    let described = report.findings.iter().map(|finding| {
        let at = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
        format!("{} in {}: {}/{}{at}", finding.rule, finding.file, finding.kind, finding.name)
    });
    let baseline = Baseline { schema: 1, findings: keys.into_iter().zip(described).collect() };
    let text = serde_json::to_string_pretty(&baseline)? + "\n";
    let shown = path.display();
    fs::write(path, text).map_err(|error| io::Error::other(format!("cannot write `{shown}`: {error}")))?;
    report.keep(|_, _| false);
    Ok(baseline.findings.len())
}
