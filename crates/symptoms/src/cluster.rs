//! Everything that was read of one cluster.

use super::entry::{Entry, LogLevel, Origin, Time};
use super::history::History;
use super::reader::LineCounts;
use super::recognise::Recogniser;
use super::tally::Tally;
use manifest::File;

/// Everything that was read of one cluster.
#[derive(Debug, Default)]
pub(super) struct ClusterInput {
    /// The name of the cluster; empty if there is only one.
    pub(super) name: String,
    /// Names of the files.
    pub(super) files: Vec<String>,
    /// The manifests among the files.
    pub(super) manifests: Vec<File>,
    /// Names of the binary files, which are not read.
    pub(super) binary: Vec<String>,
    pub(super) tally: Tally,
    pub(super) history: History,
    pub(super) counts: LineCounts,
    /// The lowest level of its log.
    pub(super) level: Option<LogLevel>,
    /// The time of the first log line.
    pub(super) first: Option<Time>,
    /// The time of the last log line.
    pub(super) last: Option<Time>,
    recogniser: Recogniser,
}

impl ClusterInput {
    /// Creates a cluster without input.
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Recognises an entry, counts it, and adds it to the history.
    pub(super) fn observe(&mut self, entry: &Entry<'_>) {
        if entry.origin == Origin::Log {
            self.level = Some(self.level.map_or(entry.level, |level| level.min(entry.level)));
            if let Some(time) = entry.time {
                self.first = Some(self.first.map_or(time, |first| first.min(time)));
                self.last = Some(self.last.map_or(time, |last| last.max(time)));
            }
        }
        let recognised = self.recogniser.recognise(entry);
        self.tally.observe(recognised);
        self.history.observe(recognised);
    }
}
