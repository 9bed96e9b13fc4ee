use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use objects::pod::metadata_service;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Pods;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses whose nodes let pods ask the metadata service: `httpTokens: optional`, or an
    /// `httpPutResponseHopLimit` of 2 and more. The rule is off by default, because some clusters have pods that need the
    /// metadata service.
    ///
    /// A hop limit above 1 is not reported if the input has an AWS Load Balancer Controller that needs it: without
    /// `--aws-vpc-id` the controller does not start on nodes with a hop limit of 1.
    ///
    /// ## Why it is bad
    ///
    /// With the credentials of the node's role a pod can read every image repository and change the network interfaces of
    /// the cluster. With `optional`, a request that an attacker makes a web server send is enough to get them.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   metadataOptions:
    ///     httpTokens: optional
    ///     httpPutResponseHopLimit: 2
    /// ```
    ///
    /// ## Use instead
    ///
    /// The defaults of Karpenter since 1.0, and IAM roles for service accounts or EKS Pod Identity for pods:
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   metadataOptions:
    ///     httpTokens: required
    ///     httpPutResponseHopLimit: 1
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/v1/ec2nodeclass.go (`MetadataOptions`) of aws/karpenter-provider-aws at v1.0.0 and v1.14.1
    /// - Amazon EKS Best Practices Guide, "Restrict access to the instance profile assigned to the worker node"
    /// - aws/karpenter-provider-aws#6346, terraform-aws-modules/terraform-aws-eks#3333
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        opt_in: true,
        summary: "pods can get the credentials of their node from the metadata service",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    if let Some(tokens) = class.http_tokens().filter(|node| node.as_str() == Some("optional")) {
        let message = "the metadata service answers requests without a token (IMDSv1), which an attacker can make a pod send";
        findings.push(
            Finding::new(&RULE, Place::value(tokens), message).help("write `required`, or remove the field"),
        );
    }
    let Some(node) = class.hop_limit() else { return };
    let Some(hops) = Node::as_int(node).filter(|hops| *hops > 1) else { return };
    if *context.inventory.index::<AnyMetadataConsumer>() {
        return;
    }
    let message = format!(
        "with a hop limit of {hops} pods can get the credentials of their node from the metadata service"
    );
    findings.push(Finding::new(&RULE, Place::value(node), message).help(
        "write 1, and give pods their own roles with IAM roles for service accounts or EKS Pod Identity",
    ));
}

/// Whether any pod needs the metadata service of its instance.
struct AnyMetadataConsumer;

impl Index for AnyMetadataConsumer {
    type Value<'d> = bool;

    fn compute(inventory: &Inventory<'_>) -> bool {
        inventory.index::<Pods>().iter().any(|pod| metadata_service::consumer(*pod).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(options: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{metadataOptions: {{{options}}}}}
"
        )
    }

    #[test]
    fn reports_nodes_that_answer_pods() {
        insta::assert_snapshot!(findings(&RULE, &class("httpTokens: optional, httpPutResponseHopLimit: 2")), @"
          4 | spec: {metadataOptions: {httpTokens: optional, httpPutResponseHopLimit: 2}}
            |                                      ^^^^^^^^
        info EC2NodeClass/a spec.metadataOptions.httpTokens [all]
          the metadata service answers requests without a token (IMDSv1), which an attacker can make a pod send
          help: write `required`, or remove the field
          4 | spec: {metadataOptions: {httpTokens: optional, httpPutResponseHopLimit: 2}}
            |                                                                         ^
        info EC2NodeClass/a spec.metadataOptions.httpPutResponseHopLimit [all]
          with a hop limit of 2 pods can get the credentials of their node from the metadata service
          help: write 1, and give pods their own roles with IAM roles for service accounts or EKS Pod Identity
        ");
        silent(&RULE, &class("httpTokens: required, httpPutResponseHopLimit: 1"));
        silent(&RULE, &class("httpTokens: '${TOKENS}', httpPutResponseHopLimit: '${HOPS}'"));
        silent(&RULE, &class(""));
    }

    #[test]
    fn a_controller_that_needs_two_hops_may_have_them() {
        let controller = |args: &str| {
            format!(
                r"---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: lbc}}
spec: {{template: {{spec: {{containers: [{{image: eks/aws-load-balancer-controller, args: [{args}]}}]}}}}}}
"
            )
        };
        let two = class("httpPutResponseHopLimit: 2");
        silent(&RULE, &(two.clone() + &controller("")));
        assert!(!findings(&RULE, &(two + &controller("--aws-vpc-id=vpc-1"))).is_empty());
    }
}
