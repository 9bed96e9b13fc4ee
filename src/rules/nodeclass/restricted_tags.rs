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
    /// Checks that `spec.tags` of an EC2NodeClass does not set the tags that Karpenter sets itself
    /// (`eks:eks-cluster-name`, `kubernetes.io/cluster/…`, `karpenter.sh/nodepool`, `karpenter.sh/nodeclaim` and
    /// `karpenter.k8s.aws/ec2nodeclass`), and that no key is empty.
    ///
    /// ## Why it is bad
    ///
    /// Controllers use these tags to tell their own instances from the instances of other clusters. The API server
    /// refuses the EC2NodeClass. If the installed custom resource definition is older, the API server accepts it, but
    /// from 1.2 on the EC2NodeClass is not Ready: `TagValidationFailed`.
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
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   tags:
    ///     kubernetes.io/cluster/prod: owned
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
    ///   tags:
    ///     team: platform
    /// ```
    ///
    /// ## References
    ///
    /// - `pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml` at v1.0.0 to v1.14.1
    /// - pkg/controllers/nodeclass/validation.go at v1.2.0 and v1.14.1
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        supersedes: &["api-rule"],
        summary: "an EC2NodeClass sets tags that Karpenter sets itself",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for (key, node) in class.tags() {
        let message = match key {
            "" => "a tag in `spec.tags` has an empty key".to_owned(),
            key if is_restricted(key) => {
                format!("Karpenter sets the tag `{key}` itself, and the API server refuses it in `spec.tags`")
            }
            _ => continue,
        };
        findings.push(Finding::new(&RULE, Place::key_of_map(node), message).help("remove the tag"));
    }
}

fn is_restricted(key: &str) -> bool {
    const KEYS: [&str; 4] = [
        "eks:eks-cluster-name",
        "karpenter.sh/nodepool",
        "karpenter.sh/nodeclaim",
        "karpenter.k8s.aws/ec2nodeclass",
    ];
    KEYS.contains(&key) || key.starts_with("kubernetes.io/cluster")
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn class(tags: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  tags: {{{tags}}}
"
        )
    }

    #[test]
    fn reports_path_of_the_map_and_position_of_the_key() {
        insta::assert_snapshot!(findings(&super::RULE, &class("team: a, kubernetes.io/cluster/prod: owned")), @"
          5 |   tags: {team: a, kubernetes.io/cluster/prod: owned}
            |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.tags [all]
          Karpenter sets the tag `kubernetes.io/cluster/prod` itself, and the API server refuses it in `spec.tags`
          help: remove the tag
        ");
    }

    #[test]
    fn reports_every_tag_of_karpenter() {
        for key in [
            "eks:eks-cluster-name",
            "karpenter.sh/nodepool",
            "karpenter.sh/nodeclaim",
            "karpenter.k8s.aws/ec2nodeclass",
            "",
        ] {
            assert!(!findings(&super::RULE, &class(&format!("'{key}': a"))).is_empty(), "{key}");
        }
    }

    #[test]
    fn ignores_other_tags() {
        silent(
            &super::RULE,
            &class(
                "Name: a, karpenter.sh/discovery: prod, karpenter.sh/capacity-type: spot, kubernetes.io/role/elb: '1'",
            ),
        );
    }
}
