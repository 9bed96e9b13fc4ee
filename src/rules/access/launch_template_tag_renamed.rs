use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

use crate::rules::indexes::Iam;

rule! {
    /// ## What it does
    ///
    /// Finds conditions on the tag `karpenter.k8s.aws/cluster` in the IAM policies of Karpenter's controller.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.1 Karpenter tags launch templates with `eks:eks-cluster-name` instead of `karpenter.k8s.aws/cluster`. A
    /// condition on the old tag allows nothing any more: launch templates cannot be created or deleted.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:DeleteLaunchTemplate", "Resource": "*",
    ///       "Condition": {"StringEquals": {"aws:ResourceTag/karpenter.k8s.aws/cluster": "prod"}}}]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:DeleteLaunchTemplate", "Resource": "*",
    ///       "Condition": {"StringEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}}}]}
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.1.0; aws/karpenter-provider-aws#7379
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(1),
        summary: "an IAM condition requires a tag that launch templates no longer have",
        runs: Runs::OnUpgrade,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

/// The tag until 1.0.
const TAG: &str = "karpenter.k8s.aws/cluster";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for owned in context.inventory.index::<Iam>().controller_policies(object) {
        let conditions = owned.policy.allowing().flat_map(|statement| &statement.conditions);
        for condition in conditions.filter(|condition| condition.tag() == Some(TAG)) {
            let message = "Karpenter tags launch templates with `eks:eks-cluster-name` instead of `karpenter.k8s.aws/cluster`: the statement does not apply to them";
            findings.push(
                Finding::new(&RULE, Place::of_policy(condition.key.at), message)
                    .help("write a second statement with `eks:eks-cluster-name` before the upgrade, and remove this one after it"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn policy(tag: &str) -> String {
        format!(
            r"Statement:
- Effect: Allow
  Action: ec2:DeleteLaunchTemplate
  Resource: '*'
  Condition: {{StringEquals: {{'aws:ResourceTag/{tag}': prod}}}}
"
        )
    }

    #[test]
    fn reports_the_old_tag_since_1_1() {
        let old = policy("karpenter.k8s.aws/cluster");
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.1.0", &old), @"
        from 1.1 on
          5 |   Condition: {StringEquals: {'aws:ResourceTag/karpenter.k8s.aws/cluster': prod}}
            |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[0].Condition.StringEquals.aws:ResourceTag/karpenter.k8s.aws/cluster [since 1.1]
          Karpenter tags launch templates with `eks:eks-cluster-name` instead of `karpenter.k8s.aws/cluster`: the statement does not apply to them
          help: write a second statement with `eks:eks-cluster-name` before the upgrade, and remove this one after it
        ");
        begins_nothing(&super::RULE, "1.1", "1.15", &old);
        begins_nothing(&super::RULE, "1.0", "1.1", &policy("karpenter.sh/nodepool"));
    }
}
