use karpenter::kind::Kind;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::{Fixes, On};
use objects::iam_policy::{IamCondition, PASS_ROLE, policies};
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use values::arn;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policy of Karpenter's controller allows it to pass the `spec.role` of each EC2NodeClass to
    /// instances, and that the condition `iam:PassedToService` names EC2. The role is checked if the input contains
    /// both the policy and the EC2NodeClass.
    ///
    /// Roles are compared by name only, because an EC2NodeClass does not state the path of its role.
    ///
    /// ## Why it is bad
    ///
    /// AWS refuses the request with `is not authorized to perform: iam:PassRole`. The instance profile gets no role, no
    /// node starts, and Karpenter creates and deletes NodeClaims in a loop.
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
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/KarpenterNodeRole-prod"}]}
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-karpenter-node
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
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
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/prod-karpenter-node"}]}
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-karpenter-node
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6036, #2519; terraform-aws-modules/terraform-aws-eks#3064, #3146
    /// - `AllowPassingInstanceRole` in website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1
    RULE {
        name: "iam-passrole-mismatch",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller's IAM policy does not allow passing the role of an EC2NodeClass",
        on: &[On::Kind(Kind::NODE_CLASS), On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(class) = Ec2NodeClass::of(object) {
        findings.extend(check_role(class, context));
    } else {
        check_service(object, findings);
    }
}

/// Reports a role that no policy in the input allows to pass. A policy outside the input may allow it, so the severity
/// is a warning.
fn check_role<'d>(class: Ec2NodeClass<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let node = class.role()?;
    let name =
        node.as_str()?.rsplit('/').next().filter(|name| arn::is_name(name) && !has_placeholder(name))?;
    let passed = context.inventory.passed_roles().leaves_out(name)?;
    let message = format!(
        "the controller's IAM policy allows passing other roles, but not `{name}`; no node of this EC2NodeClass starts"
    );
    let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
    let finding = finding.help(format!(
        "use a role that the policy allows, or add the ARN of `{name}` to the `{PASS_ROLE}` statement of the policy"
    ));
    Some(finding.related(Place::of_policy(passed.at), format!("this allows passing `{}`", passed.text)))
}

/// Reports a condition that allows passing roles only to services other than EC2.
fn check_service<'d>(object: Object<'d>, findings: &mut Vec<Finding<'d>>) {
    for policy in policies(object).iter().filter(|policy| policy.is_karpenter()) {
        let (mut wrong, mut right) = (None, false);
        for statement in &policy.statements {
            if !statement.allows || !statement.names(PASS_ROLE) {
                continue;
            }
            let condition = statement.conditions.iter().find(|condition| {
                condition.key.text.eq_ignore_ascii_case("iam:PassedToService") && condition.is_positive()
            });
            match condition {
                Some(condition) if !takes_ec2(condition) => wrong = wrong.or(condition.values.first()),
                _ => right = true,
            }
        }
        if let Some(word) = wrong.filter(|_| !right) {
            let message = format!(
                "the policy allows passing roles only to `{}`, but Karpenter passes them to EC2",
                word.text
            );
            let finding = Finding::new(&RULE, Place::of_policy(word.at), message);
            findings.push(
                finding.help("write `ec2.amazonaws.com`; in the China regions, add `ec2.amazonaws.com.cn`"),
            );
        }
    }
}

fn takes_ec2(condition: &IamCondition<'_>) -> bool {
    ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"].iter().any(|service| condition.takes(service))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::Settings;

    /// An EC2NodeClass, and a controller's policy that allows passing a role.
    fn with(resource: &str, role: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  role: {role}\n---\nVersion: '2012-10-17'\nStatement:\n- {{Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances], Resource: '*'}}\n- Effect: Allow\n  Action: iam:PassRole\n  Resource: '{resource}'\n"
        )
    }

    #[test]
    fn reports_role_that_no_policy_allows() {
        let text = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   role: prod-node
            |         ^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          the controller's IAM policy allows passing other roles, but not `prod-node`; no node of this EC2NodeClass starts
          help: use a role that the policy allows, or add the ARN of `prod-node` to the `iam:PassRole` statement of the policy
          see line 12 Statement[1].Resource: this allows passing `arn:aws:iam::111122223333:role/KarpenterNodeRole-prod`
        ");
        // A complete inventory has every NodePool and EC2NodeClass, but not every policy.
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("warning EC2NodeClass"));
    }

    #[test]
    fn accepts_role_that_a_policy_may_allow() {
        for resource in [
            "arn:aws:iam::111122223333:role/prod-node",
            "arn:aws:iam::111122223333:role/karpenter/prod-node",
            "arn:aws:iam::*:role/*-node",
            "arn:aws:iam::111122223333:role/karpenter/*",
            "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/${Role}",
            "${KarpenterNodeRole.Arn}",
            "*",
        ] {
            silent(&super::RULE, &with(resource, "prod-node"));
        }
        let other = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        // Another policy may allow the role, an EC2NodeClass may name a profile instead, and a placeholder is not a role yet.
        let more = "---\nStatement: {Effect: Allow, Action: 'iam:*', Resource: '*'}\n";
        silent(&super::RULE, &format!("{other}{more}"));
        silent(&super::RULE, &other.replace("role: prod-node", "instanceProfile: prod-node"));
        for role in ["${ROLE}", "$ROLE", "<role>", "__ROLE__", "YOUR_ROLE", "'{{ .Values.role }}'"] {
            silent(&super::RULE, &other.replace("role: prod-node", &format!("role: {role}")));
        }
    }

    #[test]
    fn ignores_policies_of_other_software() {
        let text = with("arn:aws:iam::111122223333:role/ci", "prod-node")
            .replace("ec2:CreateFleet, ec2:RunInstances", "s3:GetObject");
        silent(&super::RULE, &text);
    }

    #[test]
    fn reports_condition_that_excludes_ec2() {
        let policy = |service: &str| {
            format!(
                "{}  Condition:\n    StringEquals: {{iam:PassedToService: {service}}}\n",
                with("*", "prod-node").split_once("---\n").unwrap().1
            )
        };
        insta::assert_snapshot!(findings(&super::RULE, &policy("eks.amazonaws.com")), @"
          8 |     StringEquals: {iam:PassedToService: eks.amazonaws.com}
            |                                         ^^^^^^^^^^^^^^^^^
        error / Statement[1].Condition.StringEquals.iam:PassedToService [all]
          the policy allows passing roles only to `eks.amazonaws.com`, but Karpenter passes them to EC2
          help: write `ec2.amazonaws.com`; in the China regions, add `ec2.amazonaws.com.cn`
        ");
        for service in [
            "ec2.amazonaws.com",
            "ec2.amazonaws.com.cn",
            "[eks.amazonaws.com, ec2.amazonaws.com]",
            "'ec2.${AWS::URLSuffix}'",
            "'*'",
        ] {
            silent(&super::RULE, &policy(service));
        }
    }
}
