use karpenter::cluster_name::in_tag;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, SelectorTerm, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that every term that selects subnets or security groups has at least one tag that identifies this
    /// cluster, not only tags such as `kubernetes.io/role/internal-elb`, `Tier: private` or `Name: "*private*"`.
    ///
    /// ## Why it is bad
    ///
    /// In an account with a second cluster or network, such a term may also select the other cluster's or network's
    /// subnets and security groups, because they often have the same tags. Depending on which of them Karpenter picks, a launch succeeds or fails with
    /// `Security group X and subnet Y belong to different networks`.
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
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {kubernetes.io/role/internal-elb: "1"}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
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
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod, kubernetes.io/role/internal-elb: "1"}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// If the account will never have a second cluster or network, suppress the finding.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3007, #3390; aws/containers-roadmap#2529
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a selector may also match the subnets or security groups of other clusters",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Tag keys in lower case whose values describe the purpose of a resource, not its cluster.
const GENERIC: [&str; 12] = [
    "kubernetes.io/role/internal-elb",
    "kubernetes.io/role/elb",
    "kubernetes.io/role/cni",
    "tier",
    "type",
    "network",
    "subnet-type",
    "subnettype",
    "subnet_type",
    "visibility",
    "aws-cdk:subnet-type",
    "kubernetes.io/cluster/*",
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for (list, what) in
        [(SelectorField::Subnets, "subnets"), (SelectorField::SecurityGroups, "security groups")]
    {
        for term in class.terms(list).items() {
            let Some(node) = unspecific(term) else { continue };
            let message =
                format!("this term may also select {what} of other clusters or networks in the account");
            let help = "add a tag that only this cluster's resources carry, such as `karpenter.sh/discovery` with the cluster's name";
            findings.push(Finding::at(&RULE, node, message).help(help));
        }
    }
}

/// The value of a term's tag whose key comes first in the alphabet, if no tag of the term is specific.
fn unspecific(term: SelectorTerm<'_>) -> Option<Node<'_>> {
    if term.field(TermField::Id).is_some() {
        return None;
    }
    if let Some(name) = term.field(TermField::Name) {
        return name.as_str().is_some_and(|text| text.starts_with('*')).then_some(name);
    }
    let tags = term.field(TermField::Tags)?;
    let specific = |(key, node): (&str, Node<'_>)| is_specific(key, node.as_str().unwrap_or_default());
    if tags.members().any(specific) {
        return None;
    }
    tags.members().min_by_key(|(key, _)| *key).map(|(_, node)| node)
}

fn is_specific(key: &str, value: &str) -> bool {
    if in_tag(key, value).is_some() {
        return !key.ends_with("/*");
    }
    // Without a cluster's name the tag only marks the resources that Karpenter may use.
    let discovery = key == "karpenter.sh/discovery" && !value.contains(['*', '?']);
    let wide = value.starts_with('*') || value.is_empty();
    !(GENERIC.contains(&key.to_ascii_lowercase().as_str()) || wide || discovery)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn class(terms: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  subnetSelectorTerms: [{terms}]
"
        )
    }

    #[test]
    fn reports_the_first_tag_of_the_term_by_name() {
        let text = class("{tags: {Tier: private, Name: '*private*'}}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   subnetSelectorTerms: [{tags: {Tier: private, Name: '*private*'}}]
            |                                                      ^^^^^^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[0].tags.Name [all]
          this term may also select subnets of other clusters or networks in the account
          help: add a tag that only this cluster's resources carry, such as `karpenter.sh/discovery` with the cluster's name
        ");
    }

    #[test]
    fn reports_tags_that_resources_of_every_cluster_carry() {
        for tags in [
            "kubernetes.io/role/internal-elb: '1'",
            "Name: '*'",
            "karpenter.sh/discovery: 'true'",
            "karpenter.sh/discovery: '*'",
            "aws-cdk:subnet-type: Private",
        ] {
            assert!(!findings(&super::RULE, &class(&format!("{{tags: {{{tags}}}}}"))).is_empty(), "{tags}");
        }
        let groups =
            class("").replace("subnetSelectorTerms: []", "securityGroupSelectorTerms: [{name: '*node*'}]");
        assert!(!findings(&super::RULE, &groups).is_empty());
    }

    #[test]
    fn accepts_one_specific_tag() {
        for term in [
            "{tags: {karpenter.sh/discovery: prod}}",
            "{tags: {karpenter.sh/discovery: 'prod-*'}}",
            "{tags: {kubernetes.io/role/internal-elb: '1', karpenter.sh/discovery: prod}}",
            "{tags: {karpenter.sh/discovery/prod: '*'}}",
            "{tags: {kubernetes.io/cluster/prod: '*'}}",
            "{tags: {Name: 'prod-private-*'}}",
            "{tags: {Environment: prod}}",
            "{tags: {example.net/cluster: a}}",
            "{id: subnet-1}",
        ] {
            silent(&super::RULE, &class(term));
        }
    }
}
