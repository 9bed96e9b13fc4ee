//! What logs, events and status tell: from symptoms back to causes.
//!
//! ```text
//! bytes ──▶ reader ──┬─▶ entries ──┬─▶ vocabulary ──▶ tallies ───────┐
//!                    │             └─▶ history ────▶ correlations ───┼──▶ diagnoses ──▶ report
//!                    └─▶ documents ──▶ check ──▶ findings ───────────┘
//! ```
//!
//! A log is read once, line by line, and what is kept of it is bounded. The [`vocabulary`] knows what single messages
//! mean; [`correlations`] look at what happened to a NodeClaim, a pod or an instance over time, which [`history`] keeps.
//! Both give diagnoses, which are findings of the family `symptoms` with evidence and a confidence.

mod answer;
mod consequences;
pub mod correlations;
pub mod diagnosis;
pub mod entry;
mod hashing;
pub mod history;
mod log;
mod object;
pub mod reader;
pub mod reading;
mod settling;
mod table;
pub mod tally;
mod time;
pub mod vocabulary;

use lint::finding::Severity;
use lint::report::Confidence;
use karpenter::release::ReleaseSet;

pub use diagnosis::Diagnosis;
pub use reading::{Diagnosed, Reading};

/// What can be diagnosed: its name, what it means and what to do. Names are in one space with those of the rules.
#[derive(Debug)]
pub struct Symptom {
    /// The name: kebab-case, says what is wrong, never changes.
    pub name: &'static str,
    /// How grave it is: an error or a warning.
    pub severity: Severity,
    /// One line: what is wrong.
    pub summary: &'static str,
    /// What a diagnosis says, in one sentence without a full stop; `{a label}` stands for the detail that a message names,
    /// and for the words between the braces where it names none.
    pub says: &'static str,
    /// What to do, in one sentence or two.
    pub remedy: &'static str,
    /// Why it comes to this, as Markdown.
    pub cause: &'static str,
    /// The rules that find the cause in a manifest.
    pub rules: &'static [&'static str],
    /// The messages that tell it; none where only a correlation does.
    pub messages: &'static [vocabulary::Message],
    /// From how many messages on it is worth a diagnosis.
    pub when: vocabulary::When,
    /// How sure it is from its messages alone.
    pub confidence: Confidence,
    /// Where it is known from, as Markdown: source files at a release, issues.
    pub references: &'static [&'static str],
}

/// Everything that can be diagnosed: correlations first, then the vocabulary.
pub fn all() -> impl Iterator<Item = &'static Symptom> {
    correlations::ALL.iter().map(|correlation| correlation.symptom).chain(vocabulary::symptoms())
}

/// The names of all symptoms.
pub fn names() -> Vec<&'static str> {
    all().map(|symptom| symptom.name).collect()
}

/// The symptom of a name.
pub fn find(name: &str) -> Option<&'static Symptom> {
    all().find(|symptom| symptom.name == name)
}

impl Symptom {
    /// The releases in which it is told.
    pub fn releases(&self) -> ReleaseSet {
        let all = self.messages.iter().fold(ReleaseSet::none(), |all, message| all.or(message.releases));
        if all.is_empty() { ReleaseSet::all() } else { all }
    }
}
