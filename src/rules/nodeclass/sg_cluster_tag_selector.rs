use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Reports terms that select security groups only by the tag `kubernetes.io/cluster/<name>`.
    ///
    /// ## Why it is bad
    ///
    /// EKS and its controllers may put this tag on several security groups of a cluster: the cluster security group, the
    /// node security group and the security groups of load balancers. Karpenter attaches all of them to every node. The
    /// AWS Load Balancer Controller then fails with `expect exactly one securityGroup tagged with
    /// kubernetes.io/cluster/…`. When the security group of a load balancer is added or removed, Karpenter replaces
    /// every node: `SecurityGroupDrift`.
    ///
    /// The selector does no harm if only one security group carries the tag. Manifests cannot show how many do, so the
    /// severity is `info`.
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
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/prod: owned}}]
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
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/aws-load-balancer-controller#2367, #1897; terraform-aws-modules/terraform-aws-eks#1986, #2468
    /// - aws/karpenter-provider-aws#8257, #6211
    RULE {
        formerly: &["identity"],
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "security groups are selected by a tag that several security groups of a cluster may carry",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for term in class.terms(SelectorField::SecurityGroups).items() {
        // Another tag in the term narrows the selection down.
        let single = |tags: &Node<'_>| tags.len() == 1 && term.field(TermField::Id).is_none();
        let Some(tags) = term.field(TermField::Tags).filter(single) else { continue };
        let Some((key, node)) = tags.members().find(|(key, _)| key.starts_with("kubernetes.io/cluster/"))
        else {
            continue;
        };
        let message = format!(
            "if more than one security group carries `{key}`, Karpenter attaches each of them to every node, and the AWS Load Balancer Controller cannot choose between them"
        );
        let help = "tag the security group that nodes need, for example with `karpenter.sh/discovery`, and select it by this tag";
        findings.push(Finding::new(&RULE, Place::key(node), message).help(help));
    }
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
  securityGroupSelectorTerms: [{terms}]
"
        )
    }

    #[test]
    fn reports_the_key_of_the_tag() {
        insta::assert_snapshot!(findings(&super::RULE, &class("{tags: {kubernetes.io/cluster/prod: owned}}")), @"
          5 |   securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/prod: owned}}]
            |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^
        info EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.kubernetes.io/cluster/prod [all]
          if more than one security group carries `kubernetes.io/cluster/prod`, Karpenter attaches each of them to every node, and the AWS Load Balancer Controller cannot choose between them
          help: tag the security group that nodes need, for example with `karpenter.sh/discovery`, and select it by this tag
        ");
    }

    #[test]
    fn ignores_term_with_another_tag() {
        silent(&super::RULE, &class("{tags: {kubernetes.io/cluster/prod: owned, Name: prod-node}}"));
        silent(&super::RULE, &class("{tags: {karpenter.sh/discovery: prod}}"));
        silent(&super::RULE, &class("{id: sg-1}"));
        let subnets =
            class("{tags: {kubernetes.io/cluster/prod: shared}}").replace("securityGroup", "subnet");
        silent(&super::RULE, &subnets);
    }
}
