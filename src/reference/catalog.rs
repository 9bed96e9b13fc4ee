//! The registry as doors print it: `rules --format json`, the index of the reference, the playground's list.

use serde::Serialize;

use lint::finding::{CaughtBy, Family, Severity};
use lint::report::url;
use lint::rule::Rule;

use crate::rules::REGISTRY;


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
    /// The first release with the problem; empty if it is in no release.
    pub since: String,
    /// The last release with the problem; empty if the newest release has it, too.
    pub until: String,
    /// The releases with the problem, as they are printed.
    #[serde(skip)]
    pub releases: String,
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
        let (since, until) = rule.releases.set().ends();
        Self {
            name: rule.name,
            family: rule.family,
            severity: rule.severity,
            caught_by: rule.caught_by,
            since,
            until,
            releases: rule.releases.to_string(),
            fix: rule.fix.name(),
            summary: rule.summary,
            url: url(rule.name),
        }
    }
}

/// All rules: by family, then by name.
pub fn catalog() -> Vec<Entry> {
    let mut entries: Vec<Entry> = REGISTRY.rules().map(Entry::of).collect();
    entries.sort_by_key(|entry| (entry.family, entry.name));
    entries
}
