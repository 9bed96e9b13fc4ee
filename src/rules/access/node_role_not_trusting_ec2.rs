use karpenter::release::Releases;
use objects::iam_policy::{IamStatement, PolicyOwner, Truth};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::{AccessOfNodes, Iam};

rule! {
    /// ## What it does
    ///
    /// Finds roles of nodes whose trust policy does not let EC2 assume them: roles in CloudFormation, of the AWS Controllers for
    /// Kubernetes and of Crossplane that an EC2NodeClass names in `spec.role`.
    ///
    /// ## Why it is bad
    ///
    /// EC2 assumes the role for the instance. If the trust policy names another service, the instance starts without
    /// credentials, kubelet cannot prove its identity to the API server, and Karpenter deletes the NodeClaim after 15 minutes
    /// (`Node not registered with cluster`).
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-nodes
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Role
    /// metadata:
    ///   name: prod-nodes
    /// spec:
    ///   name: prod-nodes
    ///   assumeRolePolicyDocument: |
    ///     {"Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
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
    ///   role: prod-nodes
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Role
    /// metadata:
    ///   name: prod-nodes
    /// spec:
    ///   name: prod-nodes
    ///   assumeRolePolicyDocument: |
    ///     {"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
    /// ```
    ///
    /// ## References
    ///
    /// - `KarpenterNodeRole` in website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml of aws/karpenter-provider-aws at v1.14.1
    /// - Amazon EKS User Guide, "Amazon EKS node IAM role"
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "EC2 may not assume the role of nodes",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((role, owner)) = context.inventory.index::<Iam>().role_of(object) else { return };
    let access = context.inventory.index::<AccessOfNodes>();
    let class = role.names.iter().find_map(|name| access.roles.get(name.as_str()));
    let is_of_nodes = class.is_some() || owner == Some(PolicyOwner::Nodes);
    let Some(first) = role.trusted.iter().find(|one| one.allows && !one.principals.is_empty()) else {
        return;
    };
    if !is_of_nodes || role.trusted.iter().any(may_trust_ec2) {
        return;
    }
    let Some(principal) = first.principals.first() else { return };
    let message = format!(
        "only `{}` may assume this role of nodes, and not EC2: instances get no credentials, and their kubelets never join",
        principal.name.text
    );
    let finding = Finding::new(&RULE, Place::of_policy(principal.name.at), message)
        .help("let the service `ec2.amazonaws.com` call `sts:AssumeRole`");
    findings.push(match class.and_then(|class| class.role()) {
        Some(node) => finding.related(Place::value(node), "the role of these nodes"),
        // The name alone shows that the role is for nodes.
        None => finding.severity(Severity::Warning),
    });
}

/// Whether a statement lets EC2 assume the role, or may.
fn may_trust_ec2(statement: &IamStatement<'_>) -> bool {
    let is_ec2 = |kind: &str, name: &str| {
        kind == "*"
            || name == "*"
            || has_placeholder(name)
            || (kind == "Service" && name.starts_with("ec2.amazonaws.com"))
    };
    statement.allows
        && statement.principals.iter().any(|one| is_ec2(&one.kind, &one.name.text))
        && statement.covers_action("sts:AssumeRole") != Truth::No
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn with(service: &str, action: &str) -> String {
        format!(
            r"Resources:
  NodeRole:
    Type: AWS::IAM::Role
    Properties:
      RoleName: karpenter-prod
      AssumeRolePolicyDocument:
        Statement:
        - Effect: Allow
          Principal: {{Service: {service}}}
          Action: {action}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{role: karpenter-prod}}
"
        )
    }

    #[test]
    fn reports_roles_that_trust_others() {
        insta::assert_snapshot!(findings(&super::RULE, &with("eks.amazonaws.com", "sts:AssumeRole")), @"
          9 |           Principal: {Service: eks.amazonaws.com}
            |                                ^^^^^^^^^^^^^^^^^
        error /NodeRole Properties.AssumeRolePolicyDocument.Statement[0].Principal.Service [all]
          only `eks.amazonaws.com` may assume this role of nodes, and not EC2: instances get no credentials, and their kubelets never join
          help: let the service `ec2.amazonaws.com` call `sts:AssumeRole`
          see line 15 spec.role: the role of these nodes
        ");
        assert!(
            findings(&super::RULE, &with("pods.eks.amazonaws.com", "[sts:AssumeRole, sts:TagSession]"))
                .contains("error ")
        );
        assert!(
            findings(&super::RULE, &with("ec2.amazonaws.com", "sts:AssumeRoleWithWebIdentity"))
                .contains("error ")
        );
    }

    #[test]
    fn accepts_roles_that_may_trust_ec2() {
        for service in [
            "ec2.amazonaws.com",
            "[eks.amazonaws.com, ec2.amazonaws.com]",
            "ec2.amazonaws.com.cn",
            "!Sub 'ec2.${AWS::URLSuffix}'",
            "'*'",
        ] {
            silent(&super::RULE, &with(service, "sts:AssumeRole"));
        }
        silent(&super::RULE, &with("ec2.amazonaws.com", "'sts:*'"));
        let other =
            with("eks.amazonaws.com", "sts:AssumeRole").replace("{role: karpenter-prod}", "{role: b}");
        silent(&super::RULE, &other.replace("NodeRole", "ClusterRole"));
    }
}
