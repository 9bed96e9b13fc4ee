//! The recorded lines of all releases: `tests/releases/record.txt.gz`, each line with the minor releases that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const FILE: &str = "record.txt.gz";

/// Lines and the minor releases that have them.
#[derive(Default)]
pub(super) struct ReleaseRecord(BTreeMap<String, BTreeSet<u8>>);

impl ReleaseRecord {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        let mut text = String::new();
        let read = GzDecoder::new(&crate::bytes(&path)?[..]).read_to_string(&mut text);
        read.with_context(|| path.display().to_string())?;
        let mut record = Self::default();
        for line in text.lines() {
            let (minors, line) = line.split_once('\t').with_context(|| format!("{FILE}: `{line}`"))?;
            let minors = minors.split(',').filter_map(|minor| minor.parse().ok());
            record.0.insert(line.to_owned(), minors.collect());
        }
        Ok(record)
    }

    /// The lines of a minor release, or of the newest recorded release before it.
    pub(super) fn lines(&self, minor: u8) -> Option<BTreeSet<&str>> {
        let last = self.0.values().flatten().filter(|known| **known <= minor).max()?;
        let of_last = self.0.iter().filter(|(_, minors)| minors.contains(last));
        Some(of_last.map(|(line, _)| line.as_str()).collect())
    }

    /// The messages of the newest release up to a minor release whose source was recorded.
    pub(super) fn messages_of(&self, minor: u8) -> BTreeSet<&str> {
        let messages = || self.0.iter().filter(|(line, _)| line.starts_with("Messages "));
        let last = messages().flat_map(|(_, minors)| minors).filter(|known| **known <= minor).max();
        let of_last = messages().filter(|(_, minors)| last.is_some_and(|last| minors.contains(last)));
        of_last.map(|(line, _)| line.as_str()).collect()
    }

    /// Replaces the lines of a minor release, except lines of a kind that the new ones do not have: the template and the page
    /// of the metrics need not be given again.
    pub(super) fn set(&mut self, minor: u8, lines: BTreeSet<String>) {
        let kind = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let kinds: BTreeSet<String> = lines.iter().map(|line| kind(line)).collect();
        for (_, minors) in self.0.iter_mut().filter(|(line, _)| kinds.contains(&kind(line))) {
            minors.remove(&minor);
        }
        for line in lines {
            self.0.entry(line).or_default().insert(minor);
        }
        self.0.retain(|_, minors| !minors.is_empty());
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut text = String::new();
        for (line, minors) in &self.0 {
            let minors: Vec<_> = minors.iter().map(u8::to_string).collect();
            let _ = writeln!(text, "{}\t{line}", minors.join(","));
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        let bytes = packed.write_all(text.as_bytes()).and_then(|()| packed.finish())?;
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        crate::write(&folder.join(FILE), &bytes)
    }
}
