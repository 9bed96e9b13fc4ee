//! Catalog of rules for `rules --format json`, the index of the reference and the playground.

use answers::catalog::{CatalogEntry, Enabled};
use answers::report::url;
use rule::Rule;

use crate::rules::REGISTRY;

/// Entry of a rule.
pub fn entry(rule: &Rule) -> CatalogEntry {
    let (since, until) = rule.releases.set().ends();
    CatalogEntry {
        name: rule.name,
        family: rule.family,
        severity: rule.severity,
        caught_by: rule.caught_by,
        since,
        until,
        releases: rule.releases.to_string(),
        enabled: if rule.opt_in { Enabled::OptIn } else { Enabled::Default },
        fix: rule.fix,
        summary: rule.summary,
        url: url(rule.name),
    }
}

/// All rules, sorted by family, then by name.
pub fn catalog() -> Vec<CatalogEntry> {
    let mut entries: Vec<CatalogEntry> = REGISTRY.rules().map(entry).collect();
    entries.sort_by_key(|entry| (entry.family, entry.name));
    entries
}
