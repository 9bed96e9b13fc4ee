use karpenter::release::Releases;
use objects::iam_policy::{IamRole, OwnedPolicy, PermissionsBoundary, PolicyOwner};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Iam;

rule! {
    /// ## What it does
    ///
    /// Checks that neither Karpenter's controller nor its nodes may do everything in the account:
    ///
    /// - a statement allows `Action: "*"`, or all actions but the ones in `NotAction`, on `Resource: "*"` without a
    ///   condition,
    /// - a role has the managed policy `AdministratorAccess` or `PowerUserAccess`.
    ///
    /// Policies and roles are read from JSON and YAML files, from CloudFormation templates, and from ACK and Crossplane
    /// objects. They belong to Karpenter if their names, their trust policy, their statements or the policies of the same
    /// role show it; others are ignored, and so are roles with a permissions boundary.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter needs few actions, and its policy limits most of them to resources with the tags of its cluster. With
    /// everything allowed, a stolen token of the controller's service account controls the account. A node's credentials
    /// are available to each process on the node that reaches the instance metadata service.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Resources:
    ///   KarpenterNodeRole:
    ///     Type: AWS::IAM::Role
    ///     Properties:
    ///       AssumeRolePolicyDocument:
    ///         Statement:
    ///         - Effect: Allow
    ///           Principal: {Service: ec2.amazonaws.com}
    ///           Action: sts:AssumeRole
    ///       ManagedPolicyArns:
    ///       - arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy
    ///       - arn:aws:iam::aws:policy/AdministratorAccess
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Resources:
    ///   KarpenterNodeRole:
    ///     Type: AWS::IAM::Role
    ///     Properties:
    ///       AssumeRolePolicyDocument:
    ///         Statement:
    ///         - Effect: Allow
    ///           Principal: {Service: ec2.amazonaws.com}
    ///           Action: sts:AssumeRole
    ///       ManagedPolicyArns:
    ///       - arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy
    ///       - arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy
    ///       - arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/docs/reference/threat-model.md and website/content/en/docs/reference/cloudformation.md at v1.14.1
    /// - "AdministratorAccess" and "PowerUserAccess" in the AWS Managed Policy Reference Guide
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter's controller or nodes may do everything in the AWS account",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let access = context.inventory.index::<Iam>();
    for owned in access.policies_of(object).filter(|owned| owned.boundary == PermissionsBoundary::None) {
        findings.extend(check_policy(owned));
    }
    if let Some((role, owner)) = access.role(object).filter(|(role, _)| role.boundary.is_none()) {
        findings.extend(check_role(role, owner));
    }
}

/// The words of a message and its help for an owner.
struct Words {
    who: &'static str,
    risk: &'static str,
    help: &'static str,
}

fn words(owner: PolicyOwner) -> Option<Words> {
    match owner {
        PolicyOwner::Controller => Some(Words {
            who: "Karpenter's controller",
            risk: "whoever gets the token of its service account may do the same",
            help: "allow the actions of the controller policy in the getting started guide",
        }),
        PolicyOwner::Nodes => Some(Words {
            who: "the nodes that Karpenter starts",
            risk: "each process on a node that reaches the instance metadata service may do the same",
            help: "attach `AmazonEKSWorkerNodePolicy`, `AmazonEKS_CNI_Policy` and `AmazonEC2ContainerRegistryPullOnly`, and give pods that need more a role of their own",
        }),
        PolicyOwner::Other => None,
    }
}

/// Reports the statements of a policy in one finding.
fn check_policy<'d>(owned: &OwnedPolicy<'d>) -> Option<Finding<'d>> {
    let Words { who, risk, help } = words(owned.owner)?;
    let mut statements = owned.policy.statements.iter().filter(|one| one.allows_everything().is_some());
    let first = statements.next()?;
    let word = first.allows_everything()?;
    let message = if first.not_actions {
        let excluded: Vec<_> = first.actions.iter().map(|word| word.text.as_str()).collect();
        format!(
            "the policy allows {who} every action except `{}` on every resource; {risk}",
            excluded.join("`, `")
        )
    } else {
        format!("the policy allows {who} every action on every resource; {risk}")
    };
    let finding = Finding::new(&RULE, Place::of_policy(word.at), message).help(help);
    let others = statements.filter_map(|statement| statement.allows_everything());
    Some(others.fold(finding, |finding, word| finding.related(Place::of_policy(word.at), "also here")))
}

/// Reports the managed policies of a role in one finding.
fn check_role<'d>(role: &IamRole<'d>, owner: PolicyOwner) -> Option<Finding<'d>> {
    let Words { who, risk, help } = words(owner)?;
    let mut broad = role.broad_policies();
    let (name, word) = broad.next()?;
    let every = if name == "PowerUserAccess" { "almost every action" } else { "every action" };
    let message = format!("`{name}` allows {who} {every} on every resource; {risk}");
    let finding = Finding::new(&RULE, Place::of_policy(word.at), message).help(help);
    Some(broad.fold(finding, |finding, (_, word)| finding.related(Place::of_policy(word.at), "also here")))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    /// A role of a template.
    fn role(key: &str, principal: &str, properties: &str) -> String {
        format!(
            r"Resources:
  {key}:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Statement: {{Effect: Allow, Principal: {principal}, Action: 'sts:AssumeRole'}}
      {properties}
"
        )
    }

    const EC2: &str = "{Service: ec2.amazonaws.com}";
    const POD: &str = "{Service: pods.eks.amazonaws.com}";
    const ADMIN: &str = "ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess']";

    #[test]
    fn reports_administrators_policy_on_roles_of_karpenter() {
        insta::assert_snapshot!(findings(&super::RULE, &role("KarpenterNodeRole", EC2, ADMIN)), @"
          7 |       ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess']
            |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterNodeRole Properties.ManagedPolicyArns[0] [all]
          `AdministratorAccess` allows the nodes that Karpenter starts every action on every resource; each process on a node that reaches the instance metadata service may do the same
          help: attach `AmazonEKSWorkerNodePolicy`, `AmazonEKS_CNI_Policy` and `AmazonEC2ContainerRegistryPullOnly`, and give pods that need more a role of their own
        ");
        insta::assert_snapshot!(findings(&super::RULE, &role("KarpenterRole", POD, ADMIN)), @"
          7 |       ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess']
            |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterRole Properties.ManagedPolicyArns[0] [all]
          `AdministratorAccess` allows Karpenter's controller every action on every resource; whoever gets the token of its service account may do the same
          help: allow the actions of the controller policy in the getting started guide
        ");
        let joined = "ManagedPolicyArns: [{'Fn::Join': ['', ['arn:', {Ref: 'AWS::Partition'}, ':iam::aws:policy/PowerUserAccess']]}]";
        assert!(
            findings(&super::RULE, &role("KarpenterNodeRole", EC2, joined)).contains("almost every action")
        );
        let account = "{Federated: x}, Condition: {StringEquals: {'x:sub': 'system:serviceaccount:kube-system:karpenter'}}";
        assert!(findings(&super::RULE, &role("R", account, ADMIN)).contains("Karpenter's controller"));
    }

    #[test]
    fn accepts_roles_of_others_and_narrow_policies() {
        silent(&super::RULE, &role("NodeRole", EC2, ADMIN));
        silent(&super::RULE, &role("KarpenterBuildRole", "{Service: codebuild.amazonaws.com}", ADMIN));
        silent(
            &super::RULE,
            &role(
                "KarpenterNodeRole",
                EC2,
                "ManagedPolicyArns: ['arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy']",
            ),
        );
        silent(
            &super::RULE,
            &role(
                "KarpenterNodeRole",
                EC2,
                "ManagedPolicyArns: ['arn:aws:iam::111122223333:policy/AdministratorAccess']",
            ),
        );
        let bounded = format!("PermissionsBoundary: arn:aws:iam::111122223333:policy/limit\n      {ADMIN}");
        silent(&super::RULE, &role("KarpenterNodeRole", EC2, &bounded));
        let other =
            "{Federated: x}, Condition: {StringEquals: {'x:sub': 'system:serviceaccount:ci:karpenter-ci'}}";
        silent(&super::RULE, &role("KarpenterCi", other, ADMIN));
        let federated = |issuer: &str| {
            let provider = format!("{{Federated: 'arn:aws:iam::111122223333:oidc-provider/{issuer}'}}");
            role("KarpenterDeploy", &provider, ADMIN)
                .replace("sts:AssumeRole", "sts:AssumeRoleWithWebIdentity")
        };
        silent(&super::RULE, &federated("token.actions.githubusercontent.com"));
        assert!(!findings(&super::RULE, &federated("oidc.eks.eu-west-1.amazonaws.com/id/A")).is_empty());
        assert!(!findings(&super::RULE, &federated("${OidcProvider}")).is_empty());
    }

    #[test]
    fn reports_role_that_an_ec2nodeclass_names() {
        let text = role("R", EC2, &format!("RoleName: prod-nodes\n      {ADMIN}"));
        let class = r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {role: prod-nodes}
";
        silent(&super::RULE, &text);
        assert!(!findings(&super::RULE, &format!("{text}{class}")).is_empty());
    }

    /// A controller's policy with a further statement.
    fn policy(statement: &str) -> String {
        format!(
            r"Statement:
- {{Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts], Resource: '*'}}
- {statement}
"
        )
    }

    #[test]
    fn reports_statement_that_allows_every_action() {
        insta::assert_snapshot!(findings(&super::RULE, &policy("{Effect: Allow, Action: '*', Resource: '*'}")), @"
          3 | - {Effect: Allow, Action: '*', Resource: '*'}
            |                           ^^^
        warning / Statement[1].Action [all]
          the policy allows Karpenter's controller every action on every resource; whoever gets the token of its service account may do the same
          help: allow the actions of the controller policy in the getting started guide
        ");
        insta::assert_snapshot!(findings(&super::RULE, &policy("{Effect: Allow, NotAction: ['iam:*', 'organizations:*'], Resource: '*'}")), @"
          3 | - {Effect: Allow, NotAction: ['iam:*', 'organizations:*'], Resource: '*'}
            |                               ^^^^^^^
        warning / Statement[1].NotAction[0] [all]
          the policy allows Karpenter's controller every action except `iam:*`, `organizations:*` on every resource; whoever gets the token of its service account may do the same
          help: allow the actions of the controller policy in the getting started guide
        ");
        for statement in [
            "{Effect: Deny, Action: '*', Resource: '*'}",
            "{Effect: Allow, Action: 'ec2:*', Resource: '*'}",
            "{Effect: Allow, Action: '*', Resource: 'arn:aws:sqs:*:*:karpenter'}",
            "{Effect: Allow, Action: '*', NotResource: '*'}",
            "{Effect: Allow, Action: '*', Resource: '*', Condition: {StringEquals: {'aws:ResourceTag/eks:eks-cluster-name': prod}}}",
        ] {
            silent(&super::RULE, &policy(statement));
        }
    }

    #[test]
    fn ignores_administrators_policy_alone_and_boundaries() {
        silent(&super::RULE, "Statement: {Effect: Allow, Action: '*', Resource: '*'}\n");
        let policy = |name: &str| {
            format!(
                r#"apiVersion: iam.services.k8s.aws/v1alpha1
kind: Policy
metadata: {{name: {name}}}
spec:
  policyDocument: '{{"Statement": {{"Effect": "Allow", "Action": "*", "Resource": "*"}}}}'
"#
            )
        };
        silent(&super::RULE, &policy("karpenter-boundary"));
        assert!(!findings(&super::RULE, &policy("karpenter")).is_empty());
    }

    #[test]
    fn reads_attachment_of_crossplane() {
        let text = r"apiVersion: iam.aws.upbound.io/v1beta1
kind: RolePolicyAttachment
metadata: {name: a}
spec:
  forProvider:
    policyArn: arn:aws:iam::aws:policy/AdministratorAccess
    role: karpenter-controller
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          6 |     policyArn: arn:aws:iam::aws:policy/AdministratorAccess
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning RolePolicyAttachment/a spec.forProvider.policyArn [all]
          `AdministratorAccess` allows Karpenter's controller every action on every resource; whoever gets the token of its service account may do the same
          help: allow the actions of the controller policy in the getting started guide
        ");
        silent(&super::RULE, &text.replace("karpenter-controller", "ci"));
    }
}
