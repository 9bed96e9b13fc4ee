use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that an EC2NodeClass does not lack several of the fields that every EC2NodeClass needs: `amiSelectorTerms`,
    /// `subnetSelectorTerms`, `securityGroupSelectorTerms`, and `role` or `instanceProfile`. A single missing field is left
    /// to `api-required` and `api-rule`.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object. The manifest is usually an excerpt, from documentation or for another tool
    /// that adds the rest.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   kubelet:
    ///     maxPods: 58
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
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   kubelet:
    ///     maxPods: 58
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml at v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        supersedes: &["api-required", "api-rule"],
        summary: "an EC2NodeClass lacks several of the fields that it needs",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// The required lists.
const LISTS: [(SelectorField, &str); 3] = [
    (SelectorField::Amis, "amiSelectorTerms"),
    (SelectorField::Subnets, "subnetSelectorTerms"),
    (SelectorField::SecurityGroups, "securityGroupSelectorTerms"),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(spec) = object.at(&["spec"]).filter(|spec| spec.is_mapping()) else { return };
    let absent = |node: Option<Node<'d>>| node.is_none_or(Node::is_null);
    let lists = LISTS.iter().filter(|(field, _)| absent(class.terms(*field).node()));
    let mut missing: Vec<_> = lists.map(|(_, name)| format!("`{name}`")).collect();
    if absent(class.role()) && absent(class.instance_profile()) {
        missing.push("`role` or `instanceProfile`".to_owned());
    }
    let Some((last, others)) = missing.split_last().filter(|(_, others)| !others.is_empty()) else { return };
    let message = format!(
        "the EC2NodeClass lacks {} and {last}; the API server refuses the EC2NodeClass",
        others.join(", ")
    );
    let help = "write the missing fields; if this is an excerpt, check the whole object";
    findings.push(Finding::at(&RULE, spec, message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};
    use objects::embedded::READ_OPTIONS;

    fn class(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {spec}
"
        )
    }

    #[test]
    fn reports_excerpt_once() {
        insta::assert_snapshot!(findings(&super::RULE, &class("kubelet: {maxPods: 58}")), @"
          4 | spec:
            | ^^^^
        error EC2NodeClass/a spec [all]
          the EC2NodeClass lacks `amiSelectorTerms`, `subnetSelectorTerms`, `securityGroupSelectorTerms` and `role` or `instanceProfile`; the API server refuses the EC2NodeClass
          help: write the missing fields; if this is an excerpt, check the whole object
        ");
    }

    #[test]
    fn leaves_no_refusal_for_the_missing_fields() {
        let text = class("kubelet: {maxPods: 58}");
        let file = manifest::File::read("-", text.as_str(), READ_OPTIONS);
        let clusters = [cluster::Cluster { name: String::new(), files: vec![file] }];
        let report = crate::check(&clusters, &rule::settings::Settings::default());
        let rules: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["nodeclass-fields-missing"]);
    }

    #[test]
    fn leaves_single_fields_to_the_api_server() {
        let rest = "amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}]";
        silent(&super::RULE, &class("role: a").replace("\n  role: a", &format!(" {{{rest}, role: a}}")));
        let two = class("role: a").replace("\n  role: a", &format!(" {{{rest}}}"));
        assert!(findings(&super::RULE, &two).contains("lacks `securityGroupSelectorTerms` and `role` or"));
        silent(
            &super::RULE,
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
",
        );
    }
}
