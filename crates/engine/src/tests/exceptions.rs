//! Exceptions of the settings.

use cluster::Cluster;
use manifest::File;
use objects::embedded::READ_OPTIONS;
use rule::settings::{Exception, RuleSelector, Settings};
use rule::testing::REGISTRY;

use crate::check::check;

#[test]
fn accepts_findings_of_the_named_object_only() {
    let text = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {instanceProfile: x/y}
";
    let findings = |name: &str| {
        let files = vec![File::read("a.yaml", text, READ_OPTIONS)];
        let exceptions = vec![Exception {
            rule: RuleSelector::All,
            kind: Some("EC2NodeClass".to_owned()),
            namespace: None,
            name: Some(name.to_owned()),
            reason: String::new(),
            until: None,
        }];
        let settings = Settings { exceptions, ..Settings::default() };
        check(&REGISTRY, &[Cluster { name: String::new(), files }], &settings).findings.len()
    };
    assert_eq!((findings("a"), findings("b")), (0, 1));
}
