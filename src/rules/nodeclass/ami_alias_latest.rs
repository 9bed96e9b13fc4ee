use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds aliases that follow the newest image, such as `al2023@latest`. The rule is off by default, because many
    /// clusters want new images at once, and test clusters should.
    ///
    /// ## Why it is bad
    ///
    /// Every release of the image makes all nodes of the class drift. Karpenter replaces them as fast as the budgets of
    /// the NodePools allow, before anybody tested the image. Karpenter's documentation advises against `latest` in
    /// production.
    ///
    /// Windows has no other version, so its aliases are not reported.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@latest}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/docs/tasks/managing-amis.md of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#5959, #6862
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        opt_in: true,
        summary: "every release of the image makes all nodes of the class drift",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for alias in class.ami_aliases() {
        let Some((family, "latest")) = alias.as_str().and_then(|text| text.split_once('@')) else { continue };
        if family.starts_with("windows") {
            continue;
        }
        let message =
            "each new release of the image makes all nodes of this class drift, and Karpenter replaces them";
        findings.push(
            Finding::new(&RULE, Place::value(alias), message)
                .help(format!("pin the version that you tested, such as `{family}@v…`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(alias: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{amiSelectorTerms: [{{alias: '{alias}'}}]}}
"
        )
    }

    #[test]
    fn reports_aliases_that_follow_the_newest_image() {
        insta::assert_snapshot!(findings(&RULE, &class("al2023@latest")), @"
          4 | spec: {amiSelectorTerms: [{alias: 'al2023@latest'}]}
            |                                   ^^^^^^^^^^^^^^^
        info EC2NodeClass/a spec.amiSelectorTerms[0].alias [all]
          each new release of the image makes all nodes of this class drift, and Karpenter replaces them
          help: pin the version that you tested, such as `al2023@v…`
        ");
        assert!(findings(&RULE, &class("bottlerocket@latest")).contains("`bottlerocket@v…`"));
    }

    #[test]
    fn accepts_versions_templates_and_windows() {
        for alias in ["al2023@v20250807", "al2023@${VERSION}", "windows2022@latest", "al2023"] {
            silent(&RULE, &class(alias));
        }
    }
}
