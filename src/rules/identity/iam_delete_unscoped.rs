use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::{Fixes, On};
use objects::iam_policy::{IamCondition, IamPolicy, IamStatement, policies};
use objects::object::Object;

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policy of Karpenter's controller limits `ec2:TerminateInstances` and
    /// `ec2:DeleteLaunchTemplate` to the controller's own cluster, with a condition on a resource tag that names the
    /// cluster.
    ///
    /// Policies are read from JSON and YAML files, from CloudFormation templates, and from ACK and Crossplane objects.
    /// Only the conditions matter, not the names of the statements. Policies that are unrelated to Karpenter are
    /// ignored.
    ///
    /// ## Why it is bad
    ///
    /// A controller terminates instances that carry its cluster's name and for which it has no NodeClaim. If the
    /// controller is configured with another cluster's name by mistake, this condition keeps it from terminating that
    /// cluster's nodes. The condition also limits the damage that a stolen token can do. A condition on
    /// `karpenter.sh/nodepool: "*"` alone matches the nodes of every cluster.
    ///
    /// The condition does not help two clusters that share a name and a policy; see `cluster-name-shared`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances, ec2:DeleteLaunchTemplate]
    ///   Resource: "*"
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:CreateFleet, ec2:RunInstances]
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
    /// - pkg/controllers/nodeclaim/garbagecollection/controller.go and pkg/providers/launchtemplate/launchtemplate.go at v1.14.1
    RULE {
        name: "iam-delete-unscoped",
        family: Family::Identity,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller may terminate instances of every cluster in the account",
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

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for policy in policies(object).iter().filter(|policy| policy.is_karpenter()) {
        for statement in policy.statements.iter().filter(|one| one.allows && !is_scoped(one)) {
            let (mut actions, mut are, mut first) = (String::new(), "is", None);
            for (action, resource) in DELETIONS {
                let named = statement.action(action).filter(|_| statement.reaches(resource));
                let Some(word) = named.filter(|_| !is_denied(policy, action)) else { continue };
                if first.is_some() {
                    actions.push_str(" and ");
                    are = "are";
                }
                actions.push('`');
                actions.push_str(action);
                actions.push('`');
                first = first.or(Some(word));
            }
            let Some(word) = first else { continue };
            let message = format!("{actions} {are} allowed on the resources of every cluster in the account");
            let help = "add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster";
            findings.push(Finding::new(&RULE, Place::of_policy(word.at), message).help(help));
        }
    }
}

/// Whether a condition limits a statement to certain resources.
fn is_scoped(statement: &IamStatement<'_>) -> bool {
    statement.conditions.iter().any(scopes)
}

fn scopes(condition: &IamCondition<'_>) -> bool {
    /// Tags that instances of every cluster carry.
    const GENERIC: [&str; 6] = [
        "Name",
        "karpenter.sh/nodepool",
        "karpenter.sh/nodeclaim",
        "karpenter.sh/provisioner-name",
        "karpenter.k8s.aws/ec2nodeclass",
        "karpenter.k8s.aws/ec2nodetemplate",
    ];
    /// Condition keys for the network and the instance profile of an instance.
    const LOCATION_KEYS: [&str; 3] = ["ec2:vpc", "ec2:subnet", "ec2:instanceprofile"];
    if !condition.is_positive() || condition.if_exists() {
        return false;
    }
    let any = condition.values.iter().any(|word| word.text == "*");
    match (condition.tag(), condition.resource_tag()) {
        // A delete request has no request tags, so a statement with this condition never allows it.
        (Some(_), None) => true,
        (_, Some(tag)) if tag.starts_with("kubernetes.io/cluster/") => !tag.ends_with("/*"),
        (_, Some(tag)) if GENERIC.contains(&tag) => {
            !condition.values.iter().any(|word| word.text.contains('*'))
        }
        (_, Some(_)) => !any,
        (None, None) => LOCATION_KEYS.iter().any(|key| condition.key.text.eq_ignore_ascii_case(key)) && !any,
    }
}

/// Whether a Deny statement with a condition on a resource tag covers the action.
fn is_denied(policy: &IamPolicy<'_>, action: &str) -> bool {
    policy.statements.iter().any(|one| {
        let tagged = one.conditions.iter().any(|condition| condition.resource_tag().is_some());
        !one.allows && tagged && one.action(action).is_some()
    })
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
    {{"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"}},
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
    fn reports_conditions_that_match_every_cluster() {
        for condition in [
            r#""StringLike": {"ec2:ResourceTag/karpenter.sh/nodepool": "*"}"#,
            r#""StringLike": {"aws:ResourceTag/Name": "*karpenter*"}"#,
            r#""StringEqualsIfExists": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            r#""StringNotEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}"#,
            r#""StringEquals": {"aws:RequestedRegion": "eu-west-1"}"#,
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
              \"Action\": [\"ec2:CreateFleet\", \"ec2:RunInstances\", \"ec2:TerminateInstances\"],
              \"Resource\": \"arn:${AWS::Partition}:ec2:${AWS::Region}:*:*\"
            }
          ]
        }
";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
         10 |               "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:TerminateInstances"],
            |                                                                 ^^^^^^^^^^^^^^^^^^^^^^^^
        warning /Policy Properties.PolicyDocument [all]
          `ec2:TerminateInstances` is allowed on the resources of every cluster in the account
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
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
            r#"{"Effect": "Deny", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}"#,
        ] {
            silent(&super::RULE, &format!(r#"{{"Statement": [{statement}]}}"#));
        }
    }

    #[test]
    fn respects_deny_statement() {
        let deny = r#"{"Statement": [
            {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"},
            {"Effect": "Deny", "Action": "ec2:TerminateInstances", "Resource": "*",
             "Condition": {"StringNotEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}}}]}"#;
        silent(&super::RULE, deny);
    }
}
