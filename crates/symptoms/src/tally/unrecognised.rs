//! Log lines of level ERROR that the vocabulary does not know, each kind once.

use std::collections::BTreeMap;

use values::cropping::cropped;

use super::cause::MAX_QUOTE;
use crate::entry::{At, Entry, EntryOrigin, LogLevel};
use crate::recognise::mask::masked_entry;
use crate::time::TimeSpan;

/// Number of kinds that are remembered.
const MAX_KINDS: usize = 1_000;

/// Unknown errors of one cluster.
#[derive(Debug, Default)]
pub struct Unrecognised {
    kinds: BTreeMap<String, UnknownError>,
    /// Number of lines of kinds beyond the bound.
    pub more: u64,
}

/// Lines with the same message, apart from its variable parts.
#[derive(Debug)]
pub struct UnknownError {
    /// Number of lines.
    pub count: u64,
    /// Their times.
    pub span: TimeSpan,
    /// The location of the first line.
    pub at: At,
    /// The first line, cut if it is very long.
    pub text: String,
}

impl Unrecognised {
    /// Adds an entry that the vocabulary does not know, if it is an error.
    pub(super) fn observe(&mut self, entry: &Entry<'_>) {
        if entry.origin != EntryOrigin::Log || entry.level < LogLevel::Error {
            return;
        }
        let kind = masked_entry(entry);
        if !self.kinds.contains_key(&kind) && self.kinds.len() >= MAX_KINDS {
            self.more += 1;
            return;
        }
        let known = self.kinds.entry(kind).or_insert_with(|| UnknownError {
            count: 0,
            span: TimeSpan::default(),
            at: entry.at,
            text: cropped(&entry.text, MAX_QUOTE).into_owned(),
        });
        known.count += 1;
        if let Some(time) = entry.time {
            known.span.take(time);
        }
    }

    /// Returns the kinds with their messages, the most frequent first.
    pub fn by_count(&self) -> Vec<(&str, &UnknownError)> {
        let mut all: Vec<_> = self.kinds.iter().map(|(kind, error)| (kind.as_str(), error)).collect();
        all.sort_by_key(|(_, error)| (std::cmp::Reverse(error.count), error.at));
        all
    }
}
