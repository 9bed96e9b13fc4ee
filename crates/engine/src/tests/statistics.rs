//! Counts of findings for each rule.

use cluster::Cluster;
use manifest::File;
use manifest::limits::Limits;
use rule::settings::{RuleLevel, RuleSelector, Settings};
use rule::testing::{ARN, REGISTRY};

use crate::check::check;

#[test]
fn counts_the_findings_of_a_rule_by_severity() {
    let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec: {instanceProfile: 'arn:a/b'}
";
    let file = File::read("a.yaml", [class; 2].join("---\n"), &Limits::DEFAULT);
    let clusters = [Cluster { name: String::new(), files: vec![file] }];
    for (level, expected) in
        [(RuleLevel::Deny, (2, 0, 0)), (RuleLevel::Warn, (0, 2, 0)), (RuleLevel::Info, (0, 0, 2))]
    {
        let levels = vec![(RuleSelector::One(ARN.names()), level)];
        let mut report = check(&REGISTRY, &clusters, &Settings { levels, ..Settings::default() });
        report.count_rules();
        let counts = report.statistics.unwrap();
        let count = counts[0];
        assert_eq!((counts.len(), count.rule, count.fixable), (1, ARN.name, 2), "{level:?}");
        assert_eq!((count.errors, count.warnings, count.infos), expected, "{level:?}");
        assert_eq!(count.findings(), 2, "{level:?}");
    }
}
