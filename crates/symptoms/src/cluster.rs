//! Everything that was read of one cluster.

use super::correlations;
use super::entry::{At, Entry, EntryOrigin, LogFileId, LogLevel, Time};
use super::history::History;
use super::reader::LineCounts;
use super::recognise::Recogniser;
use super::story::{StoryTarget, StoryTeller};
use super::tally::Tally;
use ids::IdVec;
use manifest::File;
use objects::object::Object;

/// Everything that was read of one cluster.
#[derive(Debug, Default)]
pub(super) struct DiagnosedCluster {
    /// The name of the cluster; empty if there is only one.
    pub(super) name: String,
    /// Names of the files.
    pub(super) files: IdVec<LogFileId, String>,
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
    /// Whether a log line names a build as Karpenter's lines do.
    names_commit: bool,
    recogniser: Recogniser,
    /// The steps of the story that the caller asks for.
    pub(super) story: Option<StoryTeller>,
}

impl DiagnosedCluster {
    /// Creates a cluster without input.
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Collects the story of an object.
    pub(super) fn about(mut self, target: Option<StoryTarget>) -> Self {
        self.story = target.map(StoryTeller::new);
        self
    }

    /// Recognises an entry, counts it, and adds it to the history.
    pub(super) fn observe(&mut self, entry: &Entry<'_>) {
        if entry.origin == EntryOrigin::Log {
            self.level = Some(self.level.map_or(entry.level, |level| level.min(entry.level)));
            self.names_commit |= !self.names_commit && entry.fields.raw("commit").is_some();
            if let Some(time) = entry.time {
                self.first = Some(self.first.map_or(time, |first| first.min(time)));
                self.last = Some(self.last.map_or(time, |last| last.max(time)));
            }
        }
        let recognised = self.recogniser.recognise(entry);
        self.tally.observe(recognised);
        self.history.observe(recognised);
        if let Some(story) = &mut self.story {
            story.observe(recognised);
        }
        self.bound();
    }

    /// Adds an object to the history.
    pub(super) fn object(&mut self, object: Object<'_>, at: At) {
        self.history.object(object, at);
        if let Some(story) = &mut self.story {
            story.object(object, at);
        }
        self.bound();
    }

    /// Keeps the history within its bounds, without the evidence of what happened so far.
    fn bound(&mut self) {
        if self.history.is_full() {
            let evidence = correlations::evidence(&self.history);
            self.history.forget(&evidence);
        }
    }

    /// Whether any of the input is known to come from Karpenter, or to be about it.
    pub(super) fn is_of_karpenter(&self) -> bool {
        self.names_commit || self.tally.understood > 0 || self.counts.documents > 0
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use manifest::limits::Limits;

    use super::*;
    use crate::diagnosis::Diagnosis;
    use crate::reader::FileReader;

    fn read(text: &str) -> DiagnosedCluster {
        let mut input = DiagnosedCluster::new("");
        let mut reader = FileReader::new("karpenter.log", LogFileId::default(), Limits::DEFAULT);
        reader.feed(text.as_bytes(), &mut |entry| input.observe(entry));
        reader.finish(&mut |entry| input.observe(entry));
        input
    }

    /// Diagnoses of correlations.
    fn diagnoses(input: &DiagnosedCluster) -> Vec<Diagnosis> {
        let mut found = Vec::new();
        for correlation in correlations::ALL {
            (correlation.find)(std::slice::from_ref(&input.history), &mut found);
        }
        found
    }

    /// NodeClaims that are launched and deleted one after another, some days later.
    fn lifecycles(number: i64) -> String {
        let mut text = String::new();
        for claim in 0..number {
            let at = |second: i64| Time(1_790_000_000_000 + claim * 60_000 + second * 1000);
            for (second, message) in [(0, "launched nodeclaim"), (55, "deleted nodeclaim")] {
                let _ = writeln!(
                    text,
                    r#"{{"level":"INFO","time":"{}","message":"{message}","controller":"nodeclaim.lifecycle","NodeClaim":{{"name":"web-{claim}"}},"provider-id":"aws:///eu-west-1a/i-{claim}"}}"#,
                    at(second)
                );
            }
        }
        text
    }

    #[test]
    fn completed_evidence_survives_thousands_of_nodeclaims() {
        let example = include_str!("../../../examples/symptoms/foreign-collection/karpenter.log");
        let alone = diagnoses(&read(example));
        assert_eq!(
            (alone.len(), alone[0].symptom.name, alone[0].is_lower_bound),
            (1, "foreign-collection", false)
        );
        let input = read(&format!("{example}{}", lifecycles(21_000)));
        assert!(input.history.forgotten > 0);
        let later = diagnoses(&input);
        assert_eq!(
            (later.len(), later[0].symptom.name, later[0].is_lower_bound),
            (1, "foreign-collection", true)
        );
        assert_eq!((later[0].count, &later[0].evidence), (alone[0].count, &alone[0].evidence));
        assert!(later[0].message.starts_with("at least "), "{}", later[0].message);
    }

    #[test]
    fn forgotten_nodeclaims_still_own_their_instances() {
        let collected = |id: &str| {
            format!(
                r#"{{"level":"DEBUG","time":"2026-09-22T00:00:00.000Z","message":"garbage collected cloudprovider instance","provider-id":"aws:///eu-west-1a/{id}"}}"#
            )
        };
        let own = format!("{}\n{}\n", collected("i-1"), collected("i-2"));
        assert!(diagnoses(&read(&format!("{own}{}", lifecycles(21_000)))).is_empty());
        assert_eq!(diagnoses(&read(&format!("{}{}", own.replace("i-", "i-x"), lifecycles(3)))).len(), 1);
    }
}
