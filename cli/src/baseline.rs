//! Baselines: files that list known findings, so that a run reports only new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use answers::report::{Report, ReportedFinding};
use render::fingerprint::fingerprints_of;
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use super::input::{BaseFolder, read_regular};
use super::whole_file::WholeFile;

/// Newest version of the format of baseline files.
const SCHEMA: u8 = 2;

/// Bytes of a file that show whether it is a baseline.
const START: u64 = 64;

/// Description of each finding for people, by its fingerprint.
type Entries = BTreeMap<String, String>;

/// Content of a baseline file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: u8,
    /// Entries of each file, by its name from the folder of the baseline.
    #[serde(default)]
    files: BTreeMap<String, Entries>,
    /// Entries in the format of schema 1, which does not name the files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    findings: Entries,
}

/// Names of files from the folder of the baseline, which do not depend on the working directory and on the config file.
#[derive(Debug)]
struct Names {
    report: BaseFolder,
    baseline: BaseFolder,
}

/// Known findings.
#[derive(Debug)]
pub(crate) struct Baseline {
    stored: Stored,
    names: Names,
}

impl Names {
    fn new(path: &Path, report: BaseFolder) -> Self {
        Self { report, baseline: BaseFolder::of_file(path) }
    }

    /// Name of a file or folder, from its name in the report.
    fn name_in_baseline(&self, name: &str) -> String {
        let is_path = !matches!(name, "" | "-");
        if is_path { self.baseline.name(&self.report.path(Path::new(name))) } else { name.to_owned() }
    }

    /// Whether a file was deleted since the baseline was written.
    fn is_gone(&self, name: &str) -> bool {
        name != "-" && !self.baseline.path(Path::new(name)).exists()
    }

    fn fingerprints(&self, findings: &[ReportedFinding]) -> Vec<String> {
        fingerprints_of(findings, |name| self.name_in_baseline(name))
    }
}

/// Whether a file starts as [`write`] writes it. The file may be large, so only its start is read.
pub(crate) fn is_baseline(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    let start: Vec<u8> = start.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let Some(rest) = start.strip_prefix(b"{\"schema\":") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let keys: [&[u8]; 2] = [b",\"files\":{", b",\"findings\":{"];
    read.is_ok()
        && digits > 0
        && keys.iter().any(|key| rest.get(digits..).is_some_and(|rest| rest.starts_with(key)))
}

/// Refuses to overwrite a file that is not a baseline.
pub(crate) fn refuse_other(path: &Path) -> Result<(), CommandError> {
    let is_other =
        fs::metadata(path).is_ok_and(|file| !file.is_file() || (file.len() > 0 && !is_baseline(path)));
    if is_other {
        let text =
            format!("--write-baseline: `{}` exists and is not a baseline; not overwritten", path.display());
        return Err(CommandError::Usage(text));
    }
    Ok(())
}

impl Baseline {
    /// Reads a file that [`write`] has written. `report` is the base of the names in the report.
    pub(crate) fn read(path: &Path, report: BaseFolder) -> Result<Self, CommandError> {
        let shown = path.display();
        let unreadable = |error| CommandError::Usage(format!("cannot read the baseline `{shown}`: {error}"));
        let not_one = |reason: &dyn Display| {
            let text = format!("`{shown}` is not a baseline: {reason}; write one with `--write-baseline`");
            CommandError::Usage(text)
        };
        let bytes = read_regular(path).map_err(unreadable)?;
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| not_one(&error))?;
        match stored.schema {
            0 => Err(not_one(&"there is no schema 0")),
            1..=SCHEMA => Ok(Self { stored, names: Names::new(path, report) }),
            _ => Err(CommandError::Usage(format!(
                "the baseline `{shown}` comes from a newer version of karpwarden; regenerate it with `--write-baseline`"
            ))),
        }
    }

    /// Removes the listed findings from a report. Returns the number of entries that match no finding of the checked files,
    /// or whose file is gone.
    pub(crate) fn apply<'n>(&self, report: &mut Report, checked: impl Iterator<Item = &'n str>) -> usize {
        let keys = self.names.fingerprints(&report.findings);
        let known: BTreeSet<&String> =
            self.stored.files.values().flat_map(Entries::keys).chain(self.stored.findings.keys()).collect();
        report.keep(|index, _| keys.get(index).is_none_or(|key| !known.contains(key)));
        let found: BTreeSet<&String> = keys.iter().collect();
        let checked: BTreeSet<String> = checked.map(|name| self.names.name_in_baseline(name)).collect();
        let is_decided = |file: &str| checked.contains(file) || self.names.is_gone(file);
        let decided = self.stored.files.iter().filter(|(file, _)| is_decided(file));
        decided.flat_map(|(_, entries)| entries.keys()).filter(|key| !found.contains(key)).count()
    }
}

/// Writes the findings of a report to a baseline file and removes them from the report. Returns their number.
pub(crate) fn write(path: &Path, report: &mut Report, base: BaseFolder) -> io::Result<usize> {
    let names = Names::new(path, base);
    let mut stored = Stored { schema: SCHEMA, files: BTreeMap::new(), findings: Entries::new() };
    for (finding, key) in report.findings.iter().zip(names.fingerprints(&report.findings)) {
        let at = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
        let described = format!("{}: {}/{}{at}", finding.rule, finding.kind, finding.name);
        stored.files.entry(names.name_in_baseline(&finding.file)).or_default().insert(key, described);
    }
    let text = serde_json::to_string_pretty(&stored)? + "\n";
    let written = WholeFile::create(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.finish()
    });
    let shown = path.display();
    written.map_err(|error| io::Error::other(format!("cannot write `{shown}`: {error}")))?;
    let count = report.findings.len();
    report.keep(|_, _| false);
    Ok(count)
}
