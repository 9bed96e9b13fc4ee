use karpenter::release::Releases;
use objects::iam_policy::{
    ContextValue, IamAccess, IamCondition, IamRequest, IamStatement, OwnedPolicy, PolicyText, Truth,
};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::identity::UNSET_TAGS;
use crate::rules::indexes::Iam;

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policy of Karpenter's controller limits `ec2:TerminateInstances` and
    /// `ec2:DeleteLaunchTemplate` to the controller's own cluster, with a condition on a resource tag that names the
    /// cluster.
    ///
    /// Policies are read from JSON and YAML files, from CloudFormation templates, and from ACK and Crossplane objects.
    /// The statements are evaluated as IAM does, for an instance of another cluster: actions and resources with their
    /// wildcards, `NotAction` and `NotResource`, the operators of the conditions, `Deny` statements, and a permissions
    /// boundary in the same template. Policies that are unrelated to Karpenter are ignored, and a statement that allows
    /// every action is reported by `iam-allows-everything`.
    ///
    /// ## Why it is bad
    ///
    /// A controller terminates instances that carry its cluster's name and for which it has no NodeClaim. If the
    /// controller is configured with another cluster's name by mistake, this condition keeps it from terminating that
    /// cluster's nodes. The condition also limits the damage that a stolen token can do. A condition on
    /// `karpenter.sh/nodepool: "*"` alone matches the nodes of every cluster, and `ForAllValues` on a key that the request lacks,
    /// such as `aws:TagKeys`, is always true.
    ///
    /// The condition does not help two clusters that share a name and a policy; see `cluster-name-shared`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances, ec2:DeleteLaunchTemplate, pricing:GetProducts]
    ///   Resource: "*"
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts]
    ///   Resource: "*"
    /// - Effect: Allow
    ///   Action: [ec2:TerminateInstances, ec2:DeleteLaunchTemplate]
    ///   Resource: ["arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:*:*:launch-template/*"]
    ///   Condition:
    ///     StringEquals:
    ///       aws:ResourceTag/kubernetes.io/cluster/prod: owned
    ///     StringLike:
    ///       aws:ResourceTag/karpenter.sh/nodepool: "*"
    /// ```
    ///
    /// ## References
    ///
    /// - `AllowScopedDeletion` in website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1
    /// - "Policy evaluation logic" and "IAM JSON policy elements: Condition operators" in the IAM User Guide
    /// - pkg/controllers/nodeclaim/garbagecollection/controller.go and pkg/providers/launchtemplate/launchtemplate.go at v1.14.1
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller may terminate instances of every cluster in the account",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

/// The delete actions, each with an example resource.
const DELETIONS: [(&str, &str); 2] = [
    ("ec2:TerminateInstances", "instance/i-0123456789abcdef0"),
    ("ec2:DeleteLaunchTemplate", "launch-template/lt-0123456789abcdef0"),
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let access = context.inventory.index::<Iam>();
    for owned in access.controller_policies(object) {
        findings.extend(check_policy(access, owned));
    }
}

/// Reports a policy once, at its first statement without a limit.
fn check_policy<'d>(access: &IamAccess<'d>, owned: &OwnedPolicy<'d>) -> Option<Finding<'d>> {
    let mut unscoped: Vec<(&PolicyText<'d>, Vec<&str>)> = Vec::new();
    let mut are_alone = true;
    for statement in owned.policy.allowing().filter(|one| one.allows_everything().is_none()) {
        let deletes = |(action, resource): &(&str, &str)| {
            let request = IamRequest { action, resource, context: &value_in_other_cluster };
            access.allows(owned, statement, &request) == Truth::Yes
        };
        let actions: Vec<_> =
            DELETIONS.iter().filter(|one| deletes(one)).map(|(action, _)| *action).collect();
        let word = actions.first().and_then(|action| statement.action(action));
        are_alone &= word.is_none() || only_deletes(statement);
        unscoped.extend(word.map(|word| (word, actions)));
    }
    let ((first, _), others) = unscoped.split_first()?;
    let named = |action: &&str| unscoped.iter().any(|(_, actions)| actions.contains(action));
    let actions: Vec<_> = DELETIONS.iter().map(|(action, _)| *action).filter(named).collect();
    let are = if actions.len() == 1 { "is" } else { "are" };
    let message = format!(
        "`{}` {are} allowed on the resources of every cluster in the account",
        actions.join("` and `")
    );
    let condition = "the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster";
    // Requests of other actions, such as `ec2:DescribeImages`, have no resource with this tag.
    let help = if are_alone && others.is_empty() {
        format!("add {condition}")
    } else {
        format!("allow `{}` only in a statement with {condition}", actions.join("` and `"))
    };
    let finding = Finding::new(&RULE, Place::of_policy(first.at), message).help(help);
    Some(others.iter().fold(finding, |finding, (word, actions)| {
        finding.related(Place::of_policy(word.at), format!("this allows `{}`", actions.join("` and `")))
    }))
}

/// Whether a statement allows only deletions.
fn only_deletes(statement: &IamStatement<'_>) -> bool {
    let is_deletion = |word: &PolicyText<'_>| {
        let word = word.text.to_ascii_lowercase();
        ["ec2:terminate", "ec2:deletelaunchtemplate"].iter().any(|action| word.starts_with(action))
    };
    !statement.not_actions && statement.actions.iter().all(is_deletion)
}

/// The value of a condition key when the controller deletes an instance or a launch template of another cluster, which
/// that cluster's Karpenter has tagged. The request itself has no tags.
fn value_in_other_cluster(condition: &IamCondition<'_>) -> ContextValue {
    /// Keys whose values are the same for every cluster of the account and region.
    const SHARED: [&str; 4] =
        ["aws:RequestedRegion", "ec2:Region", "aws:ResourceAccount", "aws:PrincipalAccount"];
    /// Keys that a delete request lacks: it sets no tags, and the controller calls EC2 itself.
    const LACKING: [&str; 4] = ["aws:TagKeys", "aws:CalledVia", "aws:CalledViaFirst", "aws:CalledViaLast"];
    if SHARED.iter().any(|key| condition.is_on(key)) {
        return ContextValue::Suitable;
    }
    if LACKING.iter().any(|key| condition.is_on(key)) {
        return ContextValue::Absent;
    }
    match (condition.tag(), condition.resource_tag()) {
        (Some(_), None) => ContextValue::Absent,
        (
            _,
            Some(
                "karpenter.sh/nodepool"
                | "karpenter.sh/nodeclaim"
                | "karpenter.k8s.aws/ec2nodeclass"
                | "Name",
            ),
        ) => ContextValue::Name,
        (_, Some("eks:eks-cluster-name")) => ContextValue::OtherCluster,
        (_, Some(tag)) if tag.starts_with("kubernetes.io/cluster/") || UNSET_TAGS.contains(&tag) => {
            ContextValue::Absent
        }
        _ => ContextValue::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    /// A controller's policy with a condition on its delete actions.
    fn policy(condition: &str) -> String {
        format!(
            r#"{{
  "Version": "2012-10-17",
  "Statement": [
    {{"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "pricing:GetProducts"], "Resource": "*"}},
    {{"Effect": "Allow",
     "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
     "Resource": ["arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:*:*:launch-template/*"],
     "Condition": {{{condition}}}}}
  ]
}}
"#
        )
    }

    #[test]
    fn reports_delete_actions_without_condition() {
        insta::assert_snapshot!(findings(&super::RULE, &policy("")), @r#"
          6 |      "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[1].Action[0] [all]
          `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` are allowed on the resources of every cluster in the account
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        "#);
    }

    #[test]
    fn advises_a_statement_for_the_deletions_beside_other_actions() {
        const OF_THEIR_OWN: &str = "help: allow `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` only in a statement with the condition";
        let mixed = policy("")
            .replace("\"ec2:TerminateInstances\",", "\"ec2:TerminateInstances\", \"ec2:DescribeImages\",");
        assert!(findings(&super::RULE, &mixed).contains(OF_THEIR_OWN));
        assert!(
            findings(&super::RULE, &policy("").replace("ec2:DeleteLaunchTemplate", "ec2:*"))
                .contains(OF_THEIR_OWN)
        );
        let apart = policy("")
            .replace("\"pricing:GetProducts\"", "\"pricing:GetProducts\", \"ec2:DeleteLaunchTemplate\"");
        assert!(findings(&super::RULE, &apart).contains(OF_THEIR_OWN));
        let exclusive = policy("").replace("ec2:DeleteLaunchTemplate", "ec2:DeleteLaunchTemplate*");
        assert!(findings(&super::RULE, &exclusive).contains("help: add the condition"));
    }

    #[test]
    fn reports_conditions_that_match_every_cluster() {
        for condition in [
            r#""StringLike": {"ec2:ResourceTag/karpenter.sh/nodepool": "*"}"#,
            r#""StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": ["default", "*"], "ec2:ResourceTag/Name": "*"}"#,
            r#""StringEqualsIfExists": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            r#""StringNotEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            r#""StringEquals": {"aws:RequestedRegion": "eu-west-1"}"#,
            r#""StringNotEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}"#,
            r#""Null": {"aws:ResourceTag/karpenter.sh/nodepool": "false"}"#,
            r#""ForAllValues:StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            // A delete request has no tags.
            r#""StringNotEquals": {"aws:RequestTag/team": "a"}"#,
            r#""ForAllValues:StringEquals": {"aws:TagKeys": ["karpenter.sh/nodepool", "Name"]}"#,
            r#""ForAllValues:StringLike": {"aws:RequestTag/kubernetes.io/cluster/prod": "owned"}"#,
        ] {
            assert!(!findings(&super::RULE, &policy(condition)).is_empty(), "{condition}");
        }
    }

    #[test]
    fn accepts_every_form_of_condition_on_the_cluster() {
        for condition in [
            r#""StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            r#""StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/${ClusterName}": "owned"}"#,
            r#""StringEquals": {"aws:ResourceTag/eks:eks-cluster-name": "${aws:PrincipalTag/eks-cluster-name}"}"#,
            r#""StringLike": {"ec2:ResourceTag/karpenter.sh/discovery": "prod"}"#,
            r#""ArnEquals": {"ec2:Vpc": "arn:aws:ec2:eu-west-1:111122223333:vpc/vpc-1"}"#,
        ] {
            silent(&super::RULE, &policy(condition));
        }
    }

    #[test]
    fn accepts_conditions_that_are_never_true_or_that_cannot_be_decided() {
        for condition in [
            // `iam-tag-condition-mismatch` reports the first four: no instance has such a tag or value.
            r#""StringEquals": {"aws:ResourceTag/karpenter.sh/nodepool": "*"}"#,
            r#""StringLike": {"aws:ResourceTag/karpenter.sh/provisioner-name": "*"}"#,
            r#""StringLike": {"aws:ResourceTag/Name": "*karpenter*"}"#,
            r#""StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/*": "owned"}"#,
            // A delete request has no tags.
            r#""StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"}"#,
            r#""ForAnyValue:StringEquals": {"aws:TagKeys": ["karpenter.sh/nodepool"]}"#,
            r#""StringEquals": {"aws:ResourceTag/karpenter.sh/nodepool": "default"}"#,
            r#""StringLike": {"aws:ResourceTag/eks:eks-cluster-name": "prod-*"}"#,
            r#""Null": {"aws:ResourceTag/karpenter.sh/nodepool": "true"}"#,
            // The instances may have any tags of the company.
            r#""StringNotEquals": {"aws:ResourceTag/team": "a"}"#,
            r#""StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"}, "StringEquals": {"aws:ResourceTag/team": "a"}"#,
        ] {
            silent(&super::RULE, &policy(condition));
        }
    }

    #[test]
    fn reports_several_statements_of_a_policy_once() {
        let text = policy(r#""StringLike": {"ec2:ResourceTag/karpenter.sh/nodepool": "*"}"#)
            .replace("\"pricing:GetProducts\"", "\"pricing:GetProducts\", \"ec2:DeleteLaunchTemplate\"");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          4 |     {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "pricing:GetProducts", "ec2:DeleteLaunchTemplate"], "Resource": "*"},
            |                                                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[0].Action[3] [all]
          `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` are allowed on the resources of every cluster in the account
          help: allow `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` only in a statement with the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
          see line 6 Statement[1].Action[0]: this allows `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate`
        "#);
    }

    #[test]
    fn evaluates_exclusions_wildcards_and_resources() {
        let allows = |statement: &str| {
            let text = policy("").replace(
                r#""Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
     "Resource": ["arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:*:*:launch-template/*"],
     "Condition": {}"#,
                statement,
            );
            !findings(&super::RULE, &text).is_empty()
        };
        for (statement, expected) in [
            (r#""NotAction": "iam:*", "Resource": "arn:aws:ec2:*:*:*""#, true),
            (r#""NotAction": ["ec2:Terminate*", "ec2:Delete*"], "Resource": "*""#, false),
            (r#""Action": "EC2:terminateinstances", "NotResource": "arn:aws:ec2:*:*:volume/*""#, true),
            (r#""Action": "ec2:*", "NotResource": ["arn:aws:ec2:*:*:*"]"#, false),
            (r#""Action": "ec2:*", "Resource": "arn:aws:s3:::*""#, false),
            (r#""Action": "ec2:TerminateInstances", "Resource": "arn:aws:ec2:*:*:volume/*""#, false),
            (r#""Action": "ec2:TerminateInstances", "Resource": "${Instance}""#, false),
        ] {
            assert_eq!(allows(statement), expected, "{statement}");
        }
    }

    #[test]
    fn reads_cloudformation_policy_as_string_and_as_mapping() {
        let text = "\
Resources:
  Policy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument: !Sub |
        {
          \"Statement\": [
            {
              \"Effect\": \"Allow\",
              \"Action\": [\"eks:DescribeCluster\", \"ec2:CreateFleet\", \"ec2:TerminateInstances\"],
              \"Resource\": \"arn:${AWS::Partition}:ec2:${AWS::Region}:*:*\"
            }
          ]
        }
";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
         10 |               "Action": ["eks:DescribeCluster", "ec2:CreateFleet", "ec2:TerminateInstances"],
            |                                                                    ^^^^^^^^^^^^^^^^^^^^^^^^
        warning /Policy Properties.PolicyDocument [all]
          `ec2:TerminateInstances` is allowed on the resources of every cluster in the account
          help: allow `ec2:TerminateInstances` only in a statement with the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        "#);
        let text = "\
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      Policies:
      - PolicyName: karpenter
        PolicyDocument:
          Statement:
          - Effect: Allow
            Action: ['ec2:CreateFleet', 'ec2:RunInstances']
            Resource: !Ref Anything
          - Effect: Allow
            Action: 'ec2:Terminate*'
            Resource: !Sub 'arn:${AWS::Partition}:ec2:*:*:instance/*'
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
         13 |             Action: 'ec2:Terminate*'
            |                     ^^^^^^^^^^^^^^^^
        warning /Role Properties.Policies[0].PolicyDocument.Statement[1].Action [all]
          `ec2:TerminateInstances` is allowed on the resources of every cluster in the account
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        ");
    }

    #[test]
    fn reads_policies_of_ack_and_crossplane() {
        let statement = r#"{"Statement": {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}}"#;
        for (head, path) in [
            ("apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Policy", "policyDocument: "),
            ("apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role", "inlinePolicies: {a: X}"),
            ("apiVersion: iam.aws.upbound.io/v1beta1\nkind: Policy", "forProvider: {policy: X}"),
            ("apiVersion: iam.aws.crossplane.io/v1beta1\nkind: Policy", "forProvider: {document: X}"),
        ] {
            let value = if path.contains('X') {
                path.replace('X', &format!("'{statement}'"))
            } else {
                format!("{path}'{statement}'")
            };
            let text = format!("{head}\nmetadata: {{name: karpenter}}\nspec:\n  {value}\n");
            let said = findings(&super::RULE, &text);
            assert!(said.contains("`ec2:TerminateInstances` is allowed"), "{text}{said}");
        }
    }

    #[test]
    fn ignores_policies_unrelated_to_karpenter() {
        for statement in [
            r#"{"Effect": "Allow", "Action": "*", "Resource": "*"}"#,
            r#"{"Effect": "Allow", "Action": ["ec2:RunInstances", "ec2:TerminateInstances"], "Resource": "*"}"#,
            r#"{"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:TerminateInstances"], "Resource": "*"}"#,
            r#"{"Effect": "Allow", "Action": "ec2:TerminateInstances", "Resource": "*", "Condition": {"StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"}}}"#,
            r#"{"Effect": "Deny", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}"#,
        ] {
            silent(&super::RULE, &format!(r#"{{"Statement": [{statement}]}}"#));
        }
    }

    #[test]
    fn respects_deny_statement() {
        let policy = |denied: &str| {
            format!(
                r#"{{"Statement": [
            {{"Effect": "Allow", "Action": ["eks:DescribeCluster", "ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}},
            {{"Effect": "Deny", {denied}}}]}}"#
            )
        };
        let other = r#""Condition": {"StringNotEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}}"#;
        silent(
            &super::RULE,
            &policy(&format!(r#""Action": "ec2:TerminateInstances", "Resource": "*", {other}"#)),
        );
        silent(&super::RULE, &policy(&format!(r#""NotAction": "ec2:Describe*", "Resource": "*", {other}"#)));
        for denied in [
            r#""Action": "ec2:StopInstances", "Resource": "*""#,
            r#""Action": "ec2:TerminateInstances", "Resource": "arn:aws:ec2:*:*:volume/*""#,
            r#""Action": "ec2:TerminateInstances", "Resource": "*", "Condition": {"StringEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}}"#,
        ] {
            assert!(!findings(&super::RULE, &policy(denied)).is_empty(), "{denied}");
        }
    }

    /// A template with a controller's role, whose policies are in three resources.
    const TEMPLATE: &str = "\
Resources:
  ControllerRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Statement:
        - Effect: Allow
          Principal: {Service: pods.eks.amazonaws.com}
          Action: [sts:AssumeRole, sts:TagSession]
      ManagedPolicyArns: [!Ref Launching]
  Launching:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      Roles: [!Ref ControllerRole]
      PolicyDocument:
        Statement: {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts], Resource: '*'}
  Deleting:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      Roles: [{Ref: ControllerRole}]
      PolicyDocument:
        Statement: {Effect: Allow, Action: ec2:TerminateInstances, Resource: '*'}
";

    #[test]
    fn recognises_policy_of_karpenters_role_by_its_companions() {
        insta::assert_snapshot!(findings(&super::RULE, TEMPLATE), @"
         22 |         Statement: {Effect: Allow, Action: ec2:TerminateInstances, Resource: '*'}
            |                                            ^^^^^^^^^^^^^^^^^^^^^^
        warning /Deleting Properties.PolicyDocument.Statement.Action [all]
          `ec2:TerminateInstances` is allowed on the resources of every cluster in the account
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        ");
        silent(&super::RULE, &TEMPLATE.replace("{Ref: ControllerRole}", "{Ref: OtherRole}"));
        // A companion denies what this policy allows.
        let denies = "  Guard:
    Type: AWS::IAM::Policy
    Properties:
      PolicyName: guard
      Roles: [!Ref ControllerRole]
      PolicyDocument:
        Statement: {Effect: Deny, Action: 'ec2:*', NotResource: 'arn:aws:ec2:*:*:volume/*', Condition: {StringNotEquals: {'aws:ResourceTag/eks:eks-cluster-name': !Ref Name}}}
";
        silent(&super::RULE, &format!("{TEMPLATE}{denies}"));
    }

    #[test]
    fn respects_permissions_boundary_in_the_template() {
        let text = TEMPLATE.replace(
            "      ManagedPolicyArns:",
            "      PermissionsBoundary: !Ref Limit\n      ManagedPolicyArns:",
        );
        let limit = |condition: &str| {
            format!(
                "{text}  Limit:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement: {{Effect: Allow, Action: '*', Resource: '*', Condition: {{{condition}}}}}
"
            )
        };
        silent(&super::RULE, &limit("StringEquals: {'aws:ResourceTag/eks:eks-cluster-name': prod}"));
        assert!(!findings(&super::RULE, &limit("")).is_empty());
        assert!(
            !findings(&super::RULE, &text).is_empty(),
            "a boundary that is not visible may limit something else"
        );
    }
}
