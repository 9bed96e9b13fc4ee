use karpenter::iam::{ALWAYS, NEEDED};
use karpenter::kind::Kind;
use karpenter::release::{Release, Releases};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::settings::Target;
use rule::{Fixes, LookUp, On, Runs};

use crate::rules::access::iam_permission_needed::missing;
use crate::rules::indexes::is_before_v1;

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policies of Karpenter's controller have the permissions that the release needs. All policies of the
    /// input count together, as the documents that a policy is split into do.
    ///
    /// The rule reports a permission only if the policies have another action of the same statement in the template of the
    /// getting started guide, because the input may lack a policy. A permission for a feature is reported only if an object of
    /// the input uses the feature. Service control policies and permissions that a policy in AWS grants are not visible.
    ///
    /// A permission that earlier releases do not use is reported only if the settings name a release, or the input
    /// pins another one than the newest. Otherwise the release is a guess. Under `karpwarden upgrade` the rule
    /// `iam-permission-needed` reports what a release starts to need.
    ///
    /// ## Why it is bad
    ///
    /// AWS refuses the request (`UnauthorizedOperation`, `AccessDenied`), and the controller repeats it: no nodes start,
    /// instance profiles and launch templates stay behind, or interruptions go unnoticed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": ["sqs:ReceiveMessage", "sqs:GetQueueUrl"], "Resource": "*"}]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": ["sqs:ReceiveMessage", "sqs:GetQueueUrl", "sqs:DeleteMessage"], "Resource": "*"}]}
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml of
    ///   aws/karpenter-provider-aws at v1.0.0 to v1.14.1
    /// - kubernetes-sigs/karpenter#2813, aws/karpenter-provider-aws#7544
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller's IAM policies lack a permission that the release needs",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[LookUp::InFiles(Kind::NODE_CLASS)],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // Releases before 1.0 need other permissions.
    if context.settings.karpenter.upgrade_path().is_some() || is_before_v1(context) {
        return;
    }
    // The newest release may be a guess. Pins of the input change only the release.
    let settings = context.settings;
    let is_newest = settings.karpenter == Target::only(Release::NEWEST);
    let is_known = settings.is_karpenter_version_set || !is_newest;
    let of_release = NEEDED.iter().filter(|_| is_known);
    let all = ALWAYS.iter().chain(of_release);
    findings.extend(all.filter_map(|needed| missing(&RULE, needed, object, context)));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, on_upgrade_path, silent};
    use rule::settings::{Settings, Target};

    fn policy(actions: &str) -> String {
        format!(
            r"Resources:
  KarpenterControllerPolicy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement:
        - {{Effect: Allow, Action: [{actions}], Resource: '*'}}
"
        )
    }

    const LAUNCH: &str = "ec2:CreateFleet, ec2:RunInstances, ec2:CreateLaunchTemplate, ec2:TerminateInstances, ec2:DeleteLaunchTemplate";
    const READ: &str = "'ec2:Describe*', 'iam:*InstanceProfile*'";
    const QUEUE: &str = "sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueUrl";

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_actions_of_a_statement_that_is_not_whole() {
        let text = policy(&format!("{LAUNCH}, {READ}, sqs:ReceiveMessage, sqs:GetQueueUrl"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |         - {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:CreateLaunchTemplate, ec2:TerminateInstances, ec2:DeleteLaunchTemplate, 'ec2:Describe*', 'iam:*InstanceProfile*', sqs:ReceiveMessage, sqs:GetQueueUrl], Resource: '*'}
            |                                                                                                                                                                                             ^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerPolicy Properties.PolicyDocument.Statement[0].Action[7] [all]
          Karpenter needs `sqs:DeleteMessage`, which no IAM policy in the input allows
          help: allow the controller `sqs:DeleteMessage`
        ");
        silent(&RULE, &policy(&format!("{LAUNCH}, {READ}, {QUEUE}")));
        silent(&RULE, &policy(&format!("{LAUNCH}, {READ}")));
        silent(&RULE, &policy(&format!("{LAUNCH}, {READ}, 'sqs:*'")));
    }

    #[test]
    fn ignores_policies_beside_objects_of_old_releases() {
        let text = policy(&format!("{LAUNCH}, ec2:DescribeInstances"));
        assert!(!findings(&RULE, &text).is_empty());
        let old = "---\napiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\n";
        silent(&RULE, &format!("{text}{old}"));
        assert!(!findings_with(&RULE, &format!("{text}{old}"), &at("1.8")).is_empty());
    }

    #[test]
    fn permissions_of_a_release_are_needed_since_it() {
        let read = "ec2:DescribeImages, ec2:DescribeInstances, ec2:DescribeInstanceTypeOfferings, ec2:DescribeInstanceTypes, ec2:DescribeLaunchTemplates, ec2:DescribeSecurityGroups, ec2:DescribeSpotPriceHistory, ec2:DescribeSubnets";
        let text = policy(&format!("{LAUNCH}, {read}"));
        assert_eq!(findings_with(&RULE, &text, &at("1.11")), "");
        silent(&RULE, &text);
        let found = findings_with(&RULE, &text, &at("1.12"));
        assert!(
            found.contains("Karpenter needs `ec2:DescribeInstanceStatus`") && found.contains("[since 1.12]"),
            "{found}"
        );
    }

    #[test]
    fn ignores_policies_of_others_and_upgrades() {
        silent(&RULE, &policy("sqs:ReceiveMessage").replace("KarpenterController", "Worker"));
        let text = policy(&format!("{LAUNCH}, {READ}, sqs:ReceiveMessage"));
        assert_eq!(findings_with(&RULE, &text, &on_upgrade_path("1.0", "1.14")), "");
    }
}
