//! Symptoms: what can be diagnosed, and how certain a diagnosis is.

use super::vocabulary::message::{Message, When};
use answers::report::Confidence;
use karpenter::release::ReleaseSet;
use rule::finding::Severity;

/// A known problem: its name, its meaning and the remedy. Symptoms and rules share one set of names.
#[derive(Debug)]
pub struct Symptom {
    /// The name: kebab-case, states the problem, never changes.
    pub name: &'static str,
    /// The severity: an error or a warning.
    pub severity: Severity,
    /// The problem in one line.
    pub summary: &'static str,
    /// The message of a diagnosis: one sentence without a full stop. `{a label}` is replaced by the detail of a message, and
    /// loses its braces if the message has none.
    pub says: &'static str,
    /// The remedy, in one or two sentences.
    pub remedy: &'static str,
    /// The explanation, as Markdown.
    pub cause: &'static str,
    /// The rules that find the cause in a manifest.
    pub rules: &'static [&'static str],
    /// The messages that tell it; empty if only a correlation finds it.
    pub messages: &'static [Message],
    /// The number of messages from which it is worth a diagnosis.
    pub when: When,
    /// The confidence of a diagnosis from its messages alone.
    pub confidence: Confidence,
    /// The sources, as Markdown: source files at a release, issues.
    pub references: &'static [&'static str],
}

impl Symptom {
    /// The releases in which it occurs.
    pub fn releases(&self) -> ReleaseSet {
        let all = self.messages.iter().fold(ReleaseSet::none(), |all, message| all.or(message.releases));
        if all.is_empty() { ReleaseSet::all() } else { all }
    }
}
