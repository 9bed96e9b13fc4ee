use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use objects::iam_policy::{Condition, Policy, Statement, policies};
use karpenter::release::Releases;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policy of Karpenter's controller lets it end instances and delete launch templates of its own
    /// cluster only: `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` under a condition on a tag of the resource
    /// that names the cluster.
    ///
    /// Policies are read as JSON or YAML of their own, in CloudFormation, and in the objects of ACK and Crossplane.
    /// Conditions count, names of statements do not. Policies that have nothing of Karpenter are left alone.
    ///
    /// ## Why it is bad
    ///
    /// A controller terminates instances that carry its cluster's name and that it knows no NodeClaim for. If it is given
    /// another cluster's name by mistake, this condition is what keeps it from that cluster's nodes, and it bounds the
    /// damage of a stolen token. A condition on `karpenter.sh/nodepool: "*"` alone fits the nodes of every cluster.
    ///
    /// It does not help two clusters that share a name and a policy; see `cluster-name-shared`.
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
        summary: "the controller may end instances of every cluster in the account",
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

/// The actions, with a resource of each.
const DELETIONS: [(&str, &str); 2] = [
    ("ec2:TerminateInstances", "instance/i-0123456789abcdef0"),
    ("ec2:DeleteLaunchTemplate", "launch-template/lt-0123456789abcdef0"),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
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
            let message = format!("{actions} {are} allowed whatever cluster the resource belongs to");
            let help = "add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster";
            drafts.push(Draft::new(&RULE, Place::of_policy(word.at), message).help(help));
        }
    }
}

/// Whether a statement is bound to some resources by what they carry.
fn is_scoped(statement: &Statement<'_>) -> bool {
    statement.conditions.iter().any(scopes)
}

fn scopes(condition: &Condition<'_>) -> bool {
    /// Tags that instances of every cluster carry.
    const GENERIC: [&str; 6] = [
        "Name",
        "karpenter.sh/nodepool",
        "karpenter.sh/nodeclaim",
        "karpenter.sh/provisioner-name",
        "karpenter.k8s.aws/ec2nodeclass",
        "karpenter.k8s.aws/ec2nodetemplate",
    ];
    /// Where an instance lives.
    const PLACES: [&str; 3] = ["ec2:vpc", "ec2:subnet", "ec2:instanceprofile"];
    if !condition.is_positive() || condition.if_exists() {
        return false;
    }
    let any = condition.values.iter().any(|word| word.text == "*");
    match (condition.tag(), condition.resource_tag()) {
        // A deletion asks for no tags, so that the statement does not allow it at all.
        (Some(_), None) => true,
        (_, Some(tag)) if tag.starts_with("kubernetes.io/cluster/") => !tag.ends_with("/*"),
        (_, Some(tag)) if GENERIC.contains(&tag) => !condition.values.iter().any(|word| word.text.contains('*')),
        (_, Some(_)) => !any,
        (None, None) => PLACES.iter().any(|place| condition.key.text.eq_ignore_ascii_case(place)) && !any,
    }
}

/// Whether another statement takes the action away from resources that lack a tag.
fn is_denied(policy: &Policy<'_>, action: &str) -> bool {
    policy.statements.iter().any(|one| {
        let tagged = one.conditions.iter().any(|condition| condition.resource_tag().is_some());
        !one.allows && tagged && one.action(action).is_some()
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    /// A controller's policy with a condition on its deletions.
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
    fn deletions_without_a_condition_are_found() {
        insta::assert_snapshot!(findings(&super::RULE, &policy("")), @r#"
          6 |      "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[1].Action[0] [1.0-1.14]
          `ec2:TerminateInstances` and `ec2:DeleteLaunchTemplate` are allowed whatever cluster the resource belongs to
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        "#);
    }

    #[test]
    fn a_tag_that_every_cluster_has_does_not_tell_them_apart() {
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
    fn a_condition_on_the_cluster_is_enough_however_it_is_written() {
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
    fn a_stack_is_read_in_its_string_and_in_its_mapping() {
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
        warning /Policy Properties.PolicyDocument [1.0-1.14]
          `ec2:TerminateInstances` is allowed whatever cluster the resource belongs to
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
        warning /Role Properties.Policies[0].PolicyDocument.Statement[1].Action [1.0-1.14]
          `ec2:TerminateInstances` is allowed whatever cluster the resource belongs to
          help: add the condition `StringEquals: {aws:ResourceTag/kubernetes.io/cluster/<name>: owned}`, with the name of this cluster
        ");
    }

    #[test]
    fn objects_of_operators_are_read() {
        let statement = r#"{"Statement": {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}}"#;
        for (head, path) in [
            ("apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Policy", "policyDocument: "),
            ("apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role", "inlinePolicies: {a: X}"),
            ("apiVersion: iam.aws.upbound.io/v1beta1\nkind: Policy", "forProvider: {policy: X}"),
            ("apiVersion: iam.aws.crossplane.io/v1beta1\nkind: Policy", "forProvider: {document: X}"),
        ] {
            let value = if path.contains('X') { path.replace('X', &format!("'{statement}'")) } else { format!("{path}'{statement}'") };
            let text = format!("{head}\nmetadata: {{name: karpenter}}\nspec:\n  {value}\n");
            let said = findings(&super::RULE, &text);
            assert!(said.contains("`ec2:TerminateInstances` is allowed"), "{text}{said}");
        }
    }

    #[test]
    fn policies_that_have_nothing_of_karpenter_are_left_alone() {
        for statement in [
            r#"{"Effect": "Allow", "Action": "*", "Resource": "*"}"#,
            r#"{"Effect": "Allow", "Action": ["ec2:RunInstances", "ec2:TerminateInstances"], "Resource": "*"}"#,
            r#"{"Effect": "Deny", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"}"#,
        ] {
            silent(&super::RULE, &format!(r#"{{"Statement": [{statement}]}}"#));
        }
    }

    #[test]
    fn what_another_statement_denies_is_not_allowed() {
        let deny = r#"{"Statement": [
            {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:TerminateInstances"], "Resource": "*"},
            {"Effect": "Deny", "Action": "ec2:TerminateInstances", "Resource": "*",
             "Condition": {"StringNotEquals": {"aws:ResourceTag/eks:eks-cluster-name": "prod"}}}]}"#;
        silent(&super::RULE, deny);
    }
}
