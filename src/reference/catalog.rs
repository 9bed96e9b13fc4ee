//! Catalog of rules for `rules --format json`, the index of the reference and the playground.

use engine::report::url;
use rule::Rule;
use rule::finding::{CaughtBy, Family, Severity};
use serde::Serialize;

use crate::rules::REGISTRY;

/// Rule or symptom in the catalog.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogEntry {
    /// Name of the rule.
    pub name: &'static str,
    /// Family of the rule.
    pub family: Family,
    /// Severity of its findings, unless a finding sets another.
    pub severity: Severity,
    /// Component that would otherwise report the problem.
    pub caught_by: CaughtBy,
    /// First release in which its findings hold; empty if every release has the problem.
    pub since: String,
    /// Last release in which its findings hold; empty if no release has ended the problem.
    pub until: String,
    /// The releases with the problem, as they are printed.
    #[serde(skip)]
    pub releases: String,
    /// `default` or `opt-in`: whether the rule runs only where the settings select it.
    pub enabled: &'static str,
    /// `none`, `safe` or `unsafe`.
    pub fix: &'static str,
    /// The problem in one line.
    pub summary: &'static str,
    /// URL of its documentation.
    pub url: String,
}

impl CatalogEntry {
    /// Entry of a rule.
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
            enabled: if rule.opt_in { "opt-in" } else { "default" },
            fix: rule.fix.name(),
            summary: rule.summary,
            url: url(rule.name),
        }
    }
}

/// All rules, sorted by family, then by name.
pub fn catalog() -> Vec<CatalogEntry> {
    let mut entries: Vec<CatalogEntry> = REGISTRY.rules().map(CatalogEntry::of).collect();
    entries.sort_by_key(|entry| (entry.family, entry.name));
    entries
}
