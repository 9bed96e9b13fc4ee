use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::members_of;
use objects::node_overlay::NodeOverlay;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodeOverlays that set the capacity of a resource that Karpenter's AWS provider sets itself.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses `cpu`, `memory`, `ephemeral-storage` and `pods`. Karpenter has a longer list: it sets
    /// `ValidationSucceeded=False` with the reason `RuntimeValidation` and ignores the whole NodeOverlay, including its
    /// prices and its other resources. A NodeOverlay may set `nvidia.com/gpu` and `amd.com/gpu`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: neuron
    /// spec:
    ///   requirements:
    ///     - {key: karpenter.k8s.aws/instance-family, operator: In, values: [inf2]}
    ///   capacity:
    ///     aws.amazon.com/neuroncore: "2"
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: neuron
    /// spec:
    ///   requirements:
    ///     - {key: karpenter.k8s.aws/instance-family, operator: In, values: [inf2]}
    ///   capacity:
    ///     example.com/neuron-slice: "2"
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1alpha1/nodeoverlay_validation.go` `validateCapacity`, 1.7-1.14
    /// - aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, additions to `WellKnownResources`, 1.7-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(7),
        fix: Fixes::None,
        summary: "a NodeOverlay sets a resource that only Karpenter may set, so Karpenter ignores the NodeOverlay",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

/// Resources that the provider adds to the four that the CRD refuses.
const KNOWN: [&str; 5] = [
    "vpc.amazonaws.com/pod-eni",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let capacity = NodeOverlay::of(object).and_then(NodeOverlay::capacity);
    for (key, node) in members_of(capacity).filter(|(key, _)| KNOWN.contains(key)) {
        let message = format!(
            "Karpenter takes `{key}` only from the instance type; the NodeOverlay fails Karpenter's validation, and Karpenter \
             ignores it"
        );
        findings.push(Finding::new(&RULE, Place::key(node), message).help("remove the line"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn overlay(capacity: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {{name: a}}
spec:
  capacity: {capacity}
"
        )
    }

    #[test]
    fn reports_resources_of_the_aws_provider() {
        insta::assert_snapshot!(findings(&RULE, &overlay("{vpc.amazonaws.com/efa: 1}")), @"
          5 |   capacity: {vpc.amazonaws.com/efa: 1}
            |              ^^^^^^^^^^^^^^^^^^^^^
        error NodeOverlay/a spec.capacity.vpc.amazonaws.com/efa [since 1.7]
          Karpenter takes `vpc.amazonaws.com/efa` only from the instance type; the NodeOverlay fails Karpenter's validation, and Karpenter ignores it
          help: remove the line
        ");
    }

    #[test]
    fn ignores_other_resources_and_what_the_api_server_refuses() {
        silent(
            &RULE,
            &overlay(
                "{nvidia.com/gpu: 4, amd.com/gpu: 1, smarter-devices/fuse: 20, vpc.amazonaws.com/PrivateIPv4Address: 3}",
            ),
        );
        silent(&RULE, &overlay("{cpu: 4}"));
    }
}
