use std::collections::BTreeMap;

use karpenter::release::Releases;
use objects::iam_policy::{IamPolicy, PolicyOwner, PolicyText};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Iam;

rule! {
    /// ## What it does
    ///
    /// Checks that no two statements of one policy document have the same `Sid`, in the policies of Karpenter's controller
    /// and of its nodes. An empty `Sid` counts as none.
    ///
    /// ## Why it is bad
    ///
    /// IAM refuses the whole document: `Statement IDs (SID) in a single policy must be unique`. The policy keeps its old
    /// content or is not created, and a CloudFormation stack rolls back.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Sid: Karpenter
    ///   Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts]
    ///   Resource: "*"
    /// - Sid: Karpenter
    ///   Effect: Allow
    ///   Action: eks:DescribeCluster
    ///   Resource: "*"
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Sid: Karpenter
    ///   Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts]
    ///   Resource: "*"
    /// - Sid: KarpenterCluster
    ///   Effect: Allow
    ///   Action: eks:DescribeCluster
    ///   Resource: "*"
    /// ```
    ///
    /// ## References
    ///
    /// - "IAM JSON policy elements: Sid" in the IAM User Guide
    /// - kubernetes/kops#4951; aws-cloudformation/cfn-lint#3973
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "two statements of an IAM policy have the same `Sid`",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for owned in context.inventory.index::<Iam>().policies_of(object) {
        if owned.owner != PolicyOwner::Other {
            check_policy(&owned.policy, findings);
        }
    }
}

/// Reports each repeated identifier once, at its second statement.
fn check_policy<'d>(policy: &IamPolicy<'d>, findings: &mut Vec<Finding<'d>>) {
    let mut statements = BTreeMap::<&str, Vec<&PolicyText<'d>>>::new();
    for sid in policy.statements.iter().filter_map(|statement| statement.sid.as_ref()) {
        if !sid.text.is_empty() && !has_placeholder(&sid.text) {
            statements.entry(&sid.text).or_default().push(sid);
        }
    }
    for (sid, places) in statements {
        let [first, second, others @ ..] = places.as_slice() else { continue };
        let message = format!(
            "{} statements of this policy have the `Sid` `{sid}`; IAM refuses the whole policy",
            places.len()
        );
        let finding = Finding::new(&RULE, Place::of_policy(second.at), message)
            .help("give each statement its own `Sid`, or leave the `Sid` out")
            .related(Place::of_policy(first.at), "the first statement with this `Sid`");
        findings.push(
            others
                .iter()
                .fold(finding, |finding, sid| finding.related(Place::of_policy(sid.at), "also here")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    /// A controller's policy with three identifiers.
    fn policy(sids: [&str; 3]) -> String {
        let [first, second, third] = sids;
        format!(
            r"Statement:
- Sid: '{first}'
  Effect: Allow
  Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts]
  Resource: '*'
- Sid: '{second}'
  Effect: Allow
  Action: eks:DescribeCluster
  Resource: '*'
- Sid: '{third}'
  Effect: Deny
  Action: iam:*
  Resource: '*'
"
        )
    }

    #[test]
    fn reports_repeated_sid_once() {
        insta::assert_snapshot!(findings(&super::RULE, &policy(["A", "B", "A"])), @"
         10 | - Sid: 'A'
            |        ^^^
        error / Statement[2].Sid [all]
          2 statements of this policy have the `Sid` `A`; IAM refuses the whole policy
          help: give each statement its own `Sid`, or leave the `Sid` out
          see line 2 Statement[0].Sid: the first statement with this `Sid`
        ");
        assert!(findings(&super::RULE, &policy(["A", "A", "A"])).contains("3 statements"));
    }

    #[test]
    fn accepts_different_empty_and_templated_sids() {
        for sids in [["A", "B", "C"], ["A", "a", "AA"], ["", "", ""], ["${X}", "${X}", "<sid>"]] {
            silent(&super::RULE, &policy(sids));
        }
    }

    #[test]
    fn reads_values_with_tags_of_yaml_but_not_of_cloudformation() {
        let tagged = |tag: &str| policy(["A", "B", "A"]).replace("'A'", &format!("{tag} A"));
        for tag in ["", "!", "!!str"] {
            assert!(findings(&super::RULE, &tagged(tag)).contains("2 statements"), "{tag}");
        }
        silent(&super::RULE, &tagged("!Ref"));
    }

    #[test]
    fn ignores_policies_of_other_software() {
        silent(&super::RULE, &policy(["A", "A", "A"]).replace("ec2:CreateFleet", "ec2:StopInstances"));
    }

    #[test]
    fn reads_inline_policies_of_the_node_role_separately() {
        let role = |second: &str| {
            format!(
                r"Resources:
  KarpenterNodeRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
      - PolicyName: a
        PolicyDocument: {{Statement: [{{Sid: A, Effect: Allow, Action: 's3:*', Resource: '*'}}, {{Sid: {second}, Effect: Allow, Action: 'sqs:*', Resource: '*'}}]}}
      - PolicyName: b
        PolicyDocument: {{Statement: [{{Sid: A, Effect: Allow, Action: 'sns:*', Resource: '*'}}]}}
"
            )
        };
        assert!(findings(&super::RULE, &role("A")).contains("2 statements"));
        silent(&super::RULE, &role("B"));
    }
}
