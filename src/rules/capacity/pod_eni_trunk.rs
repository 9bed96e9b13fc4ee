use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Agents;

rule! {
    /// ## What it does
    ///
    /// Finds SecurityGroupPolicies where the VPC CNI plugin in the input has security groups for pods off: `ENABLE_POD_ENI` is `false`.
    ///
    /// ## Why it is bad
    ///
    /// Each pod that the SecurityGroupPolicy selects gets a request for `vpc.amazonaws.com/pod-eni`. Without `ENABLE_POD_ENI` no node
    /// has the resource. Karpenter does not know this, and counts the resource for every instance type that supports it: it launches nodes for
    /// the pods, and the pods stay Pending with `Insufficient vpc.amazonaws.com/pod-eni`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: vpcresources.k8s.aws/v1beta1
    /// kind: SecurityGroupPolicy
    /// metadata:
    ///   name: db-clients
    ///   namespace: web
    /// spec:
    ///   podSelector: {matchLabels: {db: "true"}}
    ///   securityGroups: {groupIds: [sg-0a1b2c3d4e5f67890]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: aws-node
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: aws-node
    ///           image: 602401143452.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.2
    ///           env:
    ///             - {name: ENABLE_POD_ENI, value: "false"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: vpcresources.k8s.aws/v1beta1
    /// kind: SecurityGroupPolicy
    /// metadata:
    ///   name: db-clients
    ///   namespace: web
    /// spec:
    ///   podSelector: {matchLabels: {db: "true"}}
    ///   securityGroups: {groupIds: [sg-0a1b2c3d4e5f67890]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: aws-node
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: aws-node
    ///           image: 602401143452.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.2
    ///           env:
    ///             - {name: ENABLE_POD_ENI, value: "true"}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the SecurityGroupPolicy and the DaemonSet of the VPC CNI plugin or its add-on with settings. The policy looks up no DaemonSets, so the finding is
    /// only in the report of files.
    ///
    /// ## References
    ///
    /// - docs/sgp/workflow.md of aws/amazon-vpc-resource-controller-k8s at 184022f5, and aws/amazon-vpc-resource-controller-k8s#434
    /// - `awsPodENI` in `pkg/providers/instancetype/types.go` of aws/karpenter-provider-aws at v1.0.0 and v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "pods need a network interface that no node offers, because the VPC CNI plugin has the feature off",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::of("vpcresources.k8s.aws", "v1beta1", "SecurityGroupPolicy"))],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let enabled = context.inventory.index::<Agents>().vpc_cni_variable("ENABLE_POD_ENI");
    let Some(off) = enabled.filter(|value| value.as_str() == Some("false")) else { return };
    let message = "the pods that this SecurityGroupPolicy selects request `vpc.amazonaws.com/pod-eni`, which no node has: Karpenter launches nodes for them, and the pods stay Pending";
    findings.push(
        Finding::new(&RULE, Place::value(object.kind_node().unwrap_or(object.root())), message)
            .help(
                "set `ENABLE_POD_ENI` of the VPC CNI plugin to `\"true\"`, or remove the SecurityGroupPolicy",
            )
            .related(Place::value(off), "security groups for pods are off"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(variables: &str) -> String {
        format!(
            r"apiVersion: vpcresources.k8s.aws/v1beta1
kind: SecurityGroupPolicy
metadata: {{name: a}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: aws-node}}
spec:
  template:
    spec:
      containers:
      - name: aws-node
        image: example.com/amazon-k8s-cni:v1.19.2
        env: [{variables}]
"
        )
    }

    #[test]
    fn reports_policies_where_the_plugin_has_the_feature_off() {
        insta::assert_snapshot!(findings(&RULE, &text("{name: ENABLE_POD_ENI, value: 'false'}")), @r#"
          2 | kind: SecurityGroupPolicy
            |       ^^^^^^^^^^^^^^^^^^^
        warning SecurityGroupPolicy/a kind [all]
          the pods that this SecurityGroupPolicy selects request `vpc.amazonaws.com/pod-eni`, which no node has: Karpenter launches nodes for them, and the pods stay Pending
          help: set `ENABLE_POD_ENI` of the VPC CNI plugin to `"true"`, or remove the SecurityGroupPolicy
          see line 14 spec.template.spec.containers[0].env[0].value: security groups for pods are off
        "#);
    }

    #[test]
    fn accepts_the_feature_on_or_unknown() {
        for variables in [
            "{name: ENABLE_POD_ENI, value: 'true'}",
            "{name: ENABLE_POD_ENI, value: '${ENI}'}",
            "{name: ENABLE_POD_ENI, value: 'false'}, {name: ENABLE_POD_ENI, value: 'true'}",
            "",
        ] {
            silent(&RULE, &text(variables));
        }
        let other = text("{name: ENABLE_POD_ENI, value: 'false'}").replace("amazon-k8s-cni", "cilium");
        silent(&RULE, &other);
    }
}
