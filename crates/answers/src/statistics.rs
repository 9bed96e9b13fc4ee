//! Counts of findings for each rule.

use rule::classification::{Family, Severity};
use serde::Serialize;

/// Number of findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RuleCount {
    /// Name of the rule.
    pub rule: &'static str,
    /// Family of the rule.
    pub family: Family,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Findings with a safe fix.
    pub fixable: usize,
}

impl RuleCount {
    /// No findings of a rule.
    pub(crate) const fn new(rule: &'static str, family: Family) -> Self {
        Self { rule, family, errors: 0, warnings: 0, infos: 0, fixable: 0 }
    }

    /// Counts a finding.
    pub(crate) fn add(&mut self, severity: Severity, is_fixable: bool) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
        self.fixable += usize::from(is_fixable);
    }

    /// Number of all findings of the rule.
    pub const fn findings(&self) -> usize {
        self.errors + self.warnings + self.infos
    }
}
