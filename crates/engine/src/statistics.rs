//! Counts of findings for each rule.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::{Report, ReportedFinding};
use rule::classification::{Family, Severity};

/// Number of findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the keys of the JSON report, described in the JSON schema")]
pub struct RuleCount {
    pub rule: &'static str,
    pub family: Family,
    pub errors: usize,
    pub warnings: usize,
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

#[cfg(test)]
mod tests {
    use crate::check::check;
    use crate::testing::{ARN, REGISTRY};
    use cluster::Cluster;
    use manifest::File;
    use manifest::limits::Limits;
    use rule::settings::{RuleLevel, Selector, Settings};

    #[test]
    fn counts_the_findings_of_a_rule_by_severity() {
        let class =
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec: {instanceProfile: 'arn:a/b'}\n";
        let file = File::read("a.yaml", [class; 2].join("---\n"), &Limits::DEFAULT);
        let clusters = [Cluster { name: String::new(), files: vec![file] }];
        for (level, expected) in
            [(RuleLevel::Deny, (2, 0, 0)), (RuleLevel::Warn, (0, 2, 0)), (RuleLevel::Info, (0, 0, 2))]
        {
            let levels = vec![(Selector::One(ARN.name, ARN.family), level)];
            let mut report = check(&REGISTRY, &clusters, &Settings { levels, ..Settings::default() });
            report.count_rules();
            let counts = report.statistics.unwrap();
            let count = counts[0];
            assert_eq!((counts.len(), count.rule, count.fixable), (1, ARN.name, 2), "{level:?}");
            assert_eq!((count.errors, count.warnings, count.infos), expected, "{level:?}");
            assert_eq!(count.findings(), 2, "{level:?}");
        }
    }
}
