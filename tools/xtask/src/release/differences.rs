//! Differences between published files and the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use karpenter::api::outline::outline;
use karpenter::api::relations::keys::AWS_KEYS;
use karpenter::chart::{AWS_GATES, GATES, KEYS, REMOVED_KEYS, SETTINGS};
use karpenter::release::Release;

use super::record::ReleaseRecord;
use super::source;

/// Keywords that the tables do not have as text: the digests of rules are compared with the release before.
const OF_RECORD: [&str; 2] = ["rule", "key"];

/// Lines that only the published files or only the tables have.
#[derive(Default)]
pub(super) struct Differences {
    /// Lines of the files that the tables lack.
    added: BTreeSet<String>,
    /// Lines of the tables that the files lack.
    removed: BTreeSet<String>,
    /// The texts of messages, by their lines.
    texts: BTreeMap<String, String>,
}

impl Differences {
    /// Compares the lines of the definitions with the tables of a release.
    pub(super) fn of_tables(&mut self, found: &BTreeSet<String>, release: Release) {
        let known = outline(release);
        let of_schema = |line: &&String| !OF_RECORD.contains(&keyword(line));
        self.added.extend(found.iter().filter(of_schema).filter(|line| !known.contains(*line)).cloned());
        self.removed.extend(known.difference(found).cloned());
        // The keys of labels that the rule for the requirements of NodePools names.
        let holder = "NodePool spec.template.spec.requirements[].key key karpenter.k8s.aws/";
        let keys: BTreeSet<_> = found.iter().filter_map(|line| line.strip_prefix(holder)).collect();
        for (key, releases) in AWS_KEYS {
            if releases.contains(release) && !keys.contains(key) {
                self.removed.insert(format!("{holder}{key}"));
            }
        }
        let is_known =
            |key: &str| AWS_KEYS.iter().any(|(known, releases)| *known == key && releases.contains(release));
        self.added.extend(keys.iter().filter(|key| !is_known(key)).map(|key| format!("{holder}{key}")));
    }

    /// Compares the keys of the chart's values with the tables of a release.
    pub(super) fn of_chart(&mut self, found: &BTreeSet<String>, release: Release) {
        let mut known = BTreeSet::new();
        let top = KEYS.iter().filter(|(_, releases)| releases.contains(release));
        known.extend(top.map(|(key, _)| (*key).to_owned()));
        let settings = SETTINGS.iter().filter(|(_, releases)| releases.contains(release));
        known.extend(settings.map(|(key, _)| format!("settings.{key}")));
        let holders = [("featureGates", &GATES[..]), ("awsFeatureGates", &AWS_GATES[..])];
        for (holder, gates) in holders {
            let gates = gates.iter().filter(|gate| gate.releases.contains(release));
            known.extend(gates.map(|gate| format!("settings.{holder}.{}", gate.key)));
        }
        // A removed key is in the tables because the later releases ignore it.
        let removed = REMOVED_KEYS.iter().filter(|key| !key.releases.contains(release));
        known.extend(removed.map(|key| key.path.join(".")).filter(|key| found.contains(key)));
        let line = |key: &String| format!("Chart . value {key}");
        self.added.extend(found.difference(&known).map(line));
        self.removed.extend(known.difference(found).map(line));
    }

    /// Compares what the tables do not have as text with the record: of the same release if it is known, and otherwise of the
    /// release before. Nothing is compared with an empty record. A new metric changes nothing for alerts and dashboards.
    pub(super) fn of_record(&mut self, found: &BTreeSet<String>, record: &ReleaseRecord, minor: u8) {
        let is_compared = |line: &str| {
            let kind = line.split(' ').next().unwrap_or_default();
            OF_RECORD.contains(&keyword(line)) || matches!(kind, "CloudFormation" | "Metrics")
        };
        let kinds: BTreeSet<&str> = found.iter().filter_map(|line| line.split(' ').next()).collect();
        let Some(recorded) = record.lines(minor) else { return };
        let new = found.iter().filter(|line| is_compared(line) && !recorded.contains(line.as_str()));
        self.added.extend(new.filter(|line| !line.starts_with("Metrics ")).cloned());
        let is_given = |line: &&str| line.split(' ').next().is_some_and(|kind| kinds.contains(kind));
        let gone = recorded.iter().copied().filter(|line| is_compared(line) && !found.contains(*line));
        self.removed.extend(gone.filter(is_given).map(str::to_owned));
    }

    /// Compares the messages of the source with the record, and a new message with the vocabulary of `diagnose`. Without recorded
    /// messages, the vocabulary is not compared either: it has no entry for most of the messages of normal work.
    pub(super) fn of_messages(
        &mut self,
        found: &BTreeMap<String, String>,
        record: &ReleaseRecord,
        minor: u8,
    ) {
        let recorded = record.messages_of(minor);
        if recorded.is_empty() {
            return;
        }
        let new = found
            .iter()
            .filter(|(line, text)| !recorded.contains(line.as_str()) && !source::is_known(line, text));
        for (line, text) in new {
            self.added.insert(line.clone());
            self.texts.insert(line.clone(), text.clone());
        }
    }

    /// Leaves out the lines of a list.
    pub(super) fn without(&mut self, lines: &BTreeSet<String>) {
        self.added.retain(|line| !lines.contains(line));
        self.removed.retain(|line| !lines.contains(line));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// The differences as rows to add to the tables, and where.
    pub(super) fn describe(&self, minor: u8) -> String {
        let mut text = String::new();
        for line in &self.added {
            let message = self.texts.get(line).map(|message| format!(" {message:?}")).unwrap_or_default();
            let _ = writeln!(text, "+ {line}{message}\n    {}", row(line, minor, true));
        }
        for line in &self.removed {
            let _ = writeln!(text, "- {line}\n    {}", row(line, minor, false));
        }
        let count = self.added.len() + self.removed.len();
        let _ = writeln!(
            text,
            "{count} differences: enter each in the tables (a rule, an action or a metric that is entered also goes into tests/releases/reviewed.txt), or list its line in tests/releases/irrelevant.txt with the reason"
        );
        text
    }
}

/// The third word of a line.
fn keyword(line: &str) -> &str {
    line.split(' ').nth(2).unwrap_or_default()
}

/// The row of a table for a difference, and its file.
fn row(line: &str, minor: u8, is_new: bool) -> String {
    let mut words = line.splitn(4, ' ');
    let (kind, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (keyword, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let file = match kind {
        "Chart" => "crates/karpenter/src/chart.rs".to_owned(),
        "CloudFormation" => "crates/karpenter/src/iam.rs".to_owned(),
        "Metrics" => "crates/karpenter/src/metrics.rs".to_owned(),
        "Messages" => "crates/symptoms/src/vocabulary".to_owned(),
        _ => format!("crates/karpenter/src/api/{}.rs", kind.to_ascii_lowercase()),
    };
    let last = minor.saturating_sub(1);
    let name = path.rsplit('.').next().unwrap_or_default();
    let entry = match (keyword, is_new) {
        _ if kind == "Messages" => {
            format!("a message with `only_in(Releases::since({minor}))`, or a line in irrelevant.txt")
        }
        ("type", true) => format!("optional(\"{name}\", …).since({minor})   // {value}"),
        ("type", false) => format!("`{name}`: .until({last})"),
        ("enum", true) => format!("value_since({minor}, \"{value}\")"),
        ("required", true) => format!("required(\"{value}\", …), at first optional(…).until({last})"),
        ("required", false) => {
            format!("required(\"{value}\", …).until({last}), then optional(…).since({minor})")
        }
        ("key", true) => format!(
            "(\"{}\", Releases::since({minor})) in api/relations/keys.rs and labels.rs",
            value.trim_start_matches("karpenter.k8s.aws/")
        ),
        ("rule", true) => {
            "a relation in api/relations, with its tests; record a changed rule after the review".to_owned()
        }
        ("rule", false) => format!("the relation: .until({last})"),
        ("value", true) => {
            format!("(\"{}\", Releases::since({minor}))", value.rsplit('.').next().unwrap_or(value))
        }
        ("default", true) => format!(".or_in(Releases::since({minor}), {value})"),
        (_, true) => format!("{keyword} {value}: .since({minor})"),
        (_, false) => format!("{keyword} {value}: .until({last})"),
    };
    format!("{file}: {entry}")
}
