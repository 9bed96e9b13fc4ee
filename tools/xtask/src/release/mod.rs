//! `cargo xtask release`: compares the published files of a release with the tables, and records them for the tests.

mod chart;
mod crd;
mod differences;
mod record;
mod source;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use karpenter::release::{NearestRelease, Release};

use differences::Differences;
use record::ReleaseRecord;

/// Arguments of the task.
struct Arguments {
    release: String,
    crds: PathBuf,
    chart: Option<PathBuf>,
    cloudformation: Option<PathBuf>,
    metrics: Option<PathBuf>,
    sources: Vec<PathBuf>,
}

/// Compares, and prints each difference as the row of a table to add or to end. An error if a difference is neither entered
/// nor listed as irrelevant. Otherwise the files are recorded.
pub(crate) fn run(root: &Path, arguments: impl Iterator<Item = OsString>) -> Result<String> {
    let arguments = parse(arguments)?;
    let minor = minor_of(&arguments.release)?;
    let folder = root.join("tests/releases");
    let mut record = ReleaseRecord::read(&folder)?;
    // A release that the tables do not know yet is compared with their newest one: open intervals hold there, too.
    let tables = Release::parse(&format!("1.{minor}")).unwrap_or(Release::NEWEST);
    let mut found = crd::lines(&arguments.crds)?;
    let mut differences = Differences::default();
    differences.of_tables(&found, tables);
    if let Some(chart) = &arguments.chart {
        differences.of_chart(&chart::keys(chart)?, tables);
    }
    if let Some(file) = &arguments.cloudformation {
        found.extend(template::lines(file)?);
    }
    if let Some(file) = &arguments.metrics {
        found.extend(template::metrics(file)?);
    }
    let mut texts = BTreeMap::new();
    for folder in &arguments.sources {
        texts.extend(source::lines(folder)?);
    }
    found.extend(texts.keys().cloned());
    differences.of_record(&found, &record, minor);
    differences.of_messages(&texts, &record, minor);
    differences.without(&listed(&folder.join("irrelevant.txt"), minor)?);
    differences.without(&listed(&folder.join("reviewed.txt"), minor)?);
    if !differences.is_empty() {
        bail!(differences.describe(minor));
    }
    record.set(minor, found);
    record.write(&folder)?;
    Ok(format!("1.{minor} agrees with the tables, and is recorded in tests/releases"))
}

/// The tags, one a line, of releases that the tables do not know yet.
pub(crate) fn unknown_tags(tags: &str) -> impl Iterator<Item = &str> {
    tags.lines().filter(|tag| {
        let nearest = tag.starts_with('v').then(|| NearestRelease::parse(tag));
        matches!(nearest, Some(Ok(NearestRelease::NewerPatch(_) | NearestRelease::Newer)))
    })
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Arguments> {
    let release = arguments.next().map(|word| word.to_string_lossy().into_owned());
    let (mut crds, mut chart, mut cloudformation, mut metrics) = (None, None, None, None);
    let mut sources = Vec::new();
    while let Some(flag) = arguments.next() {
        let value = arguments.next().map(PathBuf::from);
        match flag.to_str() {
            Some("--crds") => crds = value,
            Some("--chart") => chart = value,
            Some("--cloudformation") => cloudformation = value,
            Some("--metrics") => metrics = value,
            Some("--source") => sources.extend(value),
            _ => bail!("unknown option `{}`", flag.to_string_lossy()),
        }
    }
    let (Some(release), Some(crds)) = (release, crds) else {
        bail!("name the release and the folder of its definitions: `cargo xtask release 1.16 --crds DIR`");
    };
    Ok(Arguments { release, crds, chart, cloudformation, metrics, sources })
}

/// The number of a minor release: 16 for `1.16` and `v1.16.2`.
fn minor_of(release: &str) -> Result<u8> {
    let mut parts = release.trim_start_matches('v').split('.');
    let minor = parts.next().filter(|major| *major == "1").and_then(|_| parts.next()?.parse().ok());
    minor.with_context(|| format!("`{release}` is not a release such as 1.16"))
}

/// The lines of a list, without its comments. A line that starts with a release, such as `1.8: `, is for this release only.
fn listed(file: &Path, minor: u8) -> Result<BTreeSet<String>> {
    let text = crate::text(file)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let of_release = format!("1.{minor}: ");
    Ok(lines.map(|line| line.strip_prefix(&of_release).unwrap_or(line).to_owned()).collect())
}

#[cfg(test)]
mod tests;
