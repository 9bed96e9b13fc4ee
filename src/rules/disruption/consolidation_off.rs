use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools with `consolidateAfter: Never`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter then never consolidates, and it does not remove empty nodes either: a node stays until it drifts or
    /// expires. After a peak the cluster keeps the nodes of the peak, and pays for them.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidateAfter: Never}
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
    ///   disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "Consolidation"
    /// - `pkg/controllers/nodeclaim/disruption/consolidation.go` of kubernetes-sigs/karpenter at v1.14.1: with
    ///   `Never` the NodeClaim is never Consolidatable
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "`consolidateAfter: Never` keeps empty nodes too",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // A static NodePool keeps its nodes on purpose.
    let Some(pool) = NodePool::of(object).filter(|pool| pool.replicas().is_none()) else { return };
    let after = pool.disruption().and_then(objects::node_pool::Disruption::consolidate_after);
    let Some(node) = after.filter(|node| node.as_str() == Some("Never")) else { return };
    let message = "Karpenter never consolidates the nodes of this NodePool, and keeps empty nodes until they drift or expire";
    findings.push(
        Finding::at(&RULE, node, message).help(
            "to remove only empty nodes, write `consolidationPolicy: WhenEmpty` with a time such as `5m`",
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
    fn reports_never() {
        insta::assert_snapshot!(findings(&RULE, &pool("disruption: {consolidateAfter: Never}")), @"
          4 | spec: {disruption: {consolidateAfter: Never}}
            |                                       ^^^^^
        info NodePool/a spec.disruption.consolidateAfter [all]
          Karpenter never consolidates the nodes of this NodePool, and keeps empty nodes until they drift or expire
          help: to remove only empty nodes, write `consolidationPolicy: WhenEmpty` with a time such as `5m`
        ");
    }

    #[test]
    fn accepts_times_and_static_pools() {
        for spec in [
            "disruption: {consolidateAfter: 5m}",
            "disruption: {}",
            "",
            "replicas: 2, disruption: {consolidateAfter: Never}",
        ] {
            silent(&RULE, &pool(spec));
        }
    }
}
