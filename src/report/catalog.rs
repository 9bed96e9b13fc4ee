//! The registry as doors print it: `rules --format json`, the index of the reference, the playground's list.

use serde::Serialize;

use crate::finding::{CaughtBy, Family, Severity};
use crate::report::url;
use crate::rules::{self, Rule};
#[cfg(feature = "symptoms")]
use crate::symptoms::{self, Symptom};

/// What is said of a rule in a list of rules.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The rule's name.
    pub name: &'static str,
    /// Its family.
    pub family: Family,
    /// The severity of its findings, where a finding says no other.
    pub severity: Severity,
    /// Who else would have told.
    pub caught_by: CaughtBy,
    /// The first release in which what it finds is wrong.
    pub since: String,
    /// The last one.
    pub until: String,
    /// `none`, `safe` or `unsafe`.
    pub fix: &'static str,
    /// One line: what is wrong.
    pub summary: &'static str,
    /// The page of its documentation.
    pub url: String,
}

impl Entry {
    /// What is said of a rule.
    pub fn of(rule: &Rule) -> Self {
        let (since, until) = rule.releases.ends();
        Self {
            name: rule.name,
            family: rule.family,
            severity: rule.severity,
            caught_by: rule.caught_by,
            since,
            until,
            fix: rule.fix.name(),
            summary: rules::summary(rule),
            url: url(rule.name),
        }
    }
}

#[cfg(feature = "symptoms")]
impl Entry {
    /// What is said of a symptom.
    pub fn of_symptom(symptom: &Symptom) -> Self {
        let (since, until) = symptom.releases().ends();
        Self {
            name: symptom.name,
            family: Family::Symptoms,
            severity: symptom.severity,
            // What several lines tell together nobody says.
            caught_by: if symptom.messages.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller },
            since,
            until,
            fix: rules::Fixes::None.name(),
            summary: symptom.summary,
            url: url(symptom.name),
        }
    }
}

/// All rules and symptoms: by family, then by name.
#[cfg(feature = "symptoms")]
pub fn with_symptoms() -> Vec<Entry> {
    let mut symptoms: Vec<Entry> = symptoms::all().map(Entry::of_symptom).collect();
    symptoms.sort_by_key(|entry| entry.name);
    let mut entries = catalog();
    entries.extend(symptoms);
    entries
}

/// All rules: by family, then by name.
pub fn catalog() -> Vec<Entry> {
    let mut entries: Vec<Entry> = rules::all().map(Entry::of).collect();
    entries.sort_by_key(|entry| (entry.family, entry.name));
    entries
}
