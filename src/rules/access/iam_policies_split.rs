use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::{Form, Object};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds the policy `KarpenterControllerPolicy` of the getting started guide: in its CloudFormation template, and in an
    /// eksctl configuration that attaches the policy.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.9 the guide's template creates five policies instead of one, and since 1.12 six. An update of the stack
    /// deletes the old policy. The controller's role loses its permissions, or the update fails because the policy is
    /// attached, unless all new policies are attached first. The permissions are the same.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.8 to 1.9
    /// apiVersion: eksctl.io/v1alpha5
    /// kind: ClusterConfig
    /// metadata:
    ///   name: prod
    ///   region: eu-west-1
    /// iam:
    ///   podIdentityAssociations:
    ///     - namespace: kube-system
    ///       serviceAccountName: karpenter
    ///       permissionPolicyARNs: ["arn:aws:iam::111122223333:policy/KarpenterControllerPolicy-prod"]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.8 to 1.9
    /// apiVersion: eksctl.io/v1alpha5
    /// kind: ClusterConfig
    /// metadata:
    ///   name: prod
    ///   region: eu-west-1
    /// iam:
    ///   podIdentityAssociations:
    ///     - namespace: kube-system
    ///       serviceAccountName: karpenter
    ///       permissionPolicyARNs:
    ///         - arn:aws:iam::111122223333:policy/KarpenterControllerNodeLifecyclePolicy-prod
    ///         - arn:aws:iam::111122223333:policy/KarpenterControllerIAMIntegrationPolicy-prod
    ///         - arn:aws:iam::111122223333:policy/KarpenterControllerEKSIntegrationPolicy-prod
    ///         - arn:aws:iam::111122223333:policy/KarpenterControllerInterruptionPolicy-prod
    ///         - arn:aws:iam::111122223333:policy/KarpenterControllerResourceDiscoveryPolicy-prod
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.9.0; aws/karpenter-provider-aws#7874, #8690
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(9),
        summary: "the guide's template has several controller policies instead of one",
        runs: Runs::OnUpgrade,
        on: &[On::IamPolicy, On::Kind(Kind::of("eksctl.io", "v1alpha5", "ClusterConfig"))],
        inventory: &[],
        check: check,
    }
}

/// The name of the policy until 1.8, without the name of the cluster.
const POLICY: &str = "KarpenterControllerPolicy";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let node = match object.form() {
        Form::StackResource => (object.name() == POLICY).then(|| object.root()),
        Form::Api if object.kind() == "ClusterConfig" => reference(object.root()),
        _ => None,
    };
    let Some(node) = node else { return };
    let message = "the template of the getting started guide has five controller policies instead of `KarpenterControllerPolicy`; updating the stack deletes this policy";
    let help = "attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need";
    let place = if node.is_mapping() { Place::key(node) } else { Place::value(node) };
    findings.push(Finding::new(&RULE, place, message).help(help));
}

/// The first string that refers to the policy.
fn reference(node: Node<'_>) -> Option<Node<'_>> {
    let refers = |text: &str| text.contains(&format!("policy/{POLICY}"));
    if node.as_str().is_some_and(refers) { Some(node) } else { node.children().find_map(reference) }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const STACK: &str = r"Resources:
  KarpenterControllerPolicy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument: {Statement: []}
";

    #[test]
    fn reports_the_single_policy_since_1_9() {
        insta::assert_snapshot!(begins(&super::RULE, "1.8", "1.9.0", STACK), @"
        from 1.9 on
          2 |   KarpenterControllerPolicy:
            |   ^^^^^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerPolicy  [since 1.9]
          the template of the getting started guide has five controller policies instead of `KarpenterControllerPolicy`; updating the stack deletes this policy
          help: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need
        ");
        begins_nothing(&super::RULE, "1.0", "1.8", STACK);
        begins_nothing(&super::RULE, "1.9", "1.15", STACK);
        begins_nothing(
            &super::RULE,
            "1.8",
            "1.9",
            &STACK.replace("ControllerPolicy", "ControllerNodeLifecyclePolicy"),
        );
        let config = r"apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a}
iam: {serviceAccounts: [{attachPolicyARNs: ['arn:aws:iam::1:policy/KarpenterControllerPolicy-a']}]}
";
        assert!(begins(&super::RULE, "1.8", "1.9", config).contains("iam.serviceAccounts[0]"));
        // The guide has no objects of ACK.
        let role = r#"apiVersion: iam.services.k8s.aws/v1alpha1
kind: Role
metadata: {name: karpenter}
spec: {policies: ['arn:aws:iam::1:policy/KarpenterControllerPolicy-a'], inlinePolicies: {a: '{"Statement": []}'}}
"#;
        begins_nothing(&super::RULE, "1.8", "1.9", role);
    }
}
