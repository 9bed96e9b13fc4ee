//! Catalog of rules and symptoms: the answer of `rules --format json`.

use rule::Fixes;
use rule::finding::{CaughtBy, Family, Severity};
use serde::Serialize;

/// Rule or symptom in the catalog.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Rule", rename_all = "camelCase")]
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
    /// Whether the rule runs only where the settings select it.
    pub enabled: Enabled,
    /// The strongest fix that it offers.
    pub fix: Fixes,
    /// The problem in one line.
    pub summary: &'static str,
    /// URL of its documentation.
    pub url: String,
}

/// Whether a rule runs unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Enabled {
    /// The rule runs unless the settings switch it off.
    Default,
    /// The rule runs only where the settings select it.
    OptIn,
}
