use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Node, members_of};
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools without `spec.limits`.
    ///
    /// ## Why it is bad
    ///
    /// Nothing stops Karpenter from launching nodes for pods that are created by mistake: a loop that creates pods
    /// becomes a bill. Only quotas of the AWS account, which other workloads share, end it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits: {cpu: 1000, memory: 1000Gi}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7217
    /// - website/content/en/v1.14/concepts/nodepools.md of aws/karpenter-provider-aws, "spec.limits"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nothing limits how many nodes the NodePool launches",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // The number of nodes of a static NodePool is written in `replicas`.
    let Some(pool) = NodePool::of(object).filter(|pool| pool.replicas().is_none_or(Node::is_null)) else {
        return;
    };
    let limits = pool.limits().filter(|limits| !limits.is_null());
    // A placeholder may stand for limits.
    let place = match limits {
        None => object.at(&["spec"]).map(|spec| Place::missing(spec, "limits")),
        Some(limits) if limits.is_mapping() && members_of(Some(limits)).next().is_none() => {
            Some(Place::key(limits))
        }
        Some(_) => None,
    };
    let Some(place) = place else { return };
    let message = "nothing limits how many nodes Karpenter launches from this NodePool";
    findings.push(
        Finding::new(&RULE, place, message).help(
            "set `limits.cpu` and `limits.memory` to somewhat more than the NodePool needs at its peak",
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{{spec}}}
"
        )
    }

    #[test]
    fn reports_pools_without_limits() {
        insta::assert_snapshot!(findings(&RULE, &pool("template: {}")), @"
          4 | spec: {template: {}}
            | ^^^^
        info NodePool/a spec.limits [all]
          nothing limits how many nodes Karpenter launches from this NodePool
          help: set `limits.cpu` and `limits.memory` to somewhat more than the NodePool needs at its peak
        ");
    }

    #[test]
    fn reports_limits_that_limit_nothing() {
        for spec in ["limits: {}", "limits: null", "replicas: null"] {
            assert!(!findings(&RULE, &pool(spec)).is_empty(), "{spec}");
        }
    }

    #[test]
    fn accepts_limits_and_static_pools() {
        for spec in ["limits: {cpu: 1}", "limits: {nodes: 3}", "limits: '${LIMITS}'", "replicas: 2"] {
            silent(&RULE, &pool(spec));
        }
    }
}
