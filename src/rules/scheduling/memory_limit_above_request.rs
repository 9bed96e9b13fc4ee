use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::quantity::Quantity;

rule! {
    /// ## What it does
    ///
    /// Finds containers whose memory limit is above their memory request.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter packs nodes by requests, and consolidation packs them tightly. If several containers use more memory
    /// than they request at the same time, the kernel kills one of them, or the kubelet evicts pods.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 2
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {requests: {cpu: 100m, memory: 256Mi}, limits: {memory: 1Gi}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 2
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {memory: 1Gi}}
    /// ```
    ///
    /// ## References
    ///
    /// - EKS best practices guide (aws/aws-eks-best-practices), chapter Karpenter: equal requests and limits for memory where
    ///   consolidation is on
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a container may use more memory than Karpenter reserves for it",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    for container in pod.spec().containers() {
        let (Some(limit), Some(request)) = (container.limit("memory"), container.request("memory")) else {
            continue;
        };
        if amount(limit).zip(amount(request)).is_some_and(|(limit, request)| limit > request) {
            let message = "Karpenter packs nodes by requests: containers that use more memory than they request can run the node out of memory";
            findings.push(
                Finding::at(&RULE, limit, message)
                    .related(Place::value(request), "Karpenter reserves this much")
                    .help("request as much memory as the limit allows"),
            );
        }
    }
}

/// The bytes of a quantity; `None` for a placeholder.
fn amount(node: Node<'_>) -> Option<i64> {
    let text = node.as_str().unwrap_or_else(|| node.spelling());
    Quantity::parse(text).ok().map(Quantity::units)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pod(resources: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: [{{name: a, resources: {{{resources}}}}}]
"
        )
    }

    #[test]
    fn reports_limits_above_requests() {
        insta::assert_snapshot!(findings(&RULE, &pod("requests: {memory: 1Gi}, limits: {memory: 1025Mi}")), @"
          5 |   containers: [{name: a, resources: {requests: {memory: 1Gi}, limits: {memory: 1025Mi}}}]
            |                                                                                ^^^^^^
        info Pod/a spec.containers[0].resources.limits.memory [all]
          Karpenter packs nodes by requests: containers that use more memory than they request can run the node out of memory
          help: request as much memory as the limit allows
          see line 5 spec.containers[0].resources.requests.memory: Karpenter reserves this much
        ");
    }

    #[test]
    fn accepts_equal_memory_missing_values_and_placeholders() {
        for resources in [
            "requests: {memory: 1Gi}, limits: {memory: 1024Mi}",
            "limits: {memory: 1Gi}",
            "requests: {cpu: 1}, limits: {cpu: 2}",
            "requests: {memory: '${A}'}, limits: {memory: 1Gi}",
        ] {
            silent(&RULE, &pod(resources));
        }
    }
}
