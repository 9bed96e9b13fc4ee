//! Counts of findings for each rule.

use std::collections::BTreeMap;

use rule::classification::{Family, Severity};
use serde::Serialize;

use crate::report::{Report, ReportedFinding};

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
    fn of(finding: &ReportedFinding) -> Self {
        Self { rule: finding.rule, family: finding.family, errors: 0, warnings: 0, infos: 0, fixable: 0 }
    }

    fn add(&mut self, finding: &ReportedFinding) {
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
        self.fixable += usize::from(finding.fix.as_ref().is_some_and(|fix| fix.safe));
    }

    /// Number of all findings of the rule.
    pub const fn findings(&self) -> usize {
        self.errors + self.warnings + self.infos
    }
}

impl Report {
    /// Counts the findings in the report for each rule, most frequent rule first.
    pub fn count_rules(&mut self) {
        let mut counts: BTreeMap<&str, RuleCount> = BTreeMap::new();
        for finding in &self.findings {
            counts.entry(finding.rule).or_insert_with(|| RuleCount::of(finding)).add(finding);
        }
        let mut counts: Vec<RuleCount> = counts.into_values().collect();
        counts.sort_by_key(|count| core::cmp::Reverse(count.findings()));
        self.statistics = Some(counts);
    }
}
