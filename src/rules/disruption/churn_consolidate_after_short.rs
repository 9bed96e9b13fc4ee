use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::{Disruption, NodePool};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::duration::NillableDuration;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools with the policy `WhenEmptyOrUnderutilized` whose `consolidateAfter` is shorter than a minute.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter considers a node for consolidation that long after the last pod came or went. With a time that is
    /// shorter than the start of the pods, it moves pods again before the last move has settled: workloads restart more
    /// often than they need to, and nodes come and go.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}
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
    ///   disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7356, #8536; kubernetes-sigs/karpenter#2697
    /// - `pkg/apis/crds/karpenter.sh_nodepools.yaml` of kubernetes-sigs/karpenter at v1.14.1: the default of
    ///   `consolidateAfter` is `0s`
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "`consolidateAfter` is shorter than most pods take to start",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

/// A minute in nanoseconds.
const MINUTE: i64 = 60_000_000_000;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(disruption) = NodePool::of(object).and_then(NodePool::disruption) else { return };
    // An empty node has no pods to move.
    if disruption.consolidation_policy().and_then(Node::as_str) == Some("WhenEmpty") {
        return;
    }
    let Some(node) = Disruption::consolidate_after(disruption) else { return };
    let parsed = node.as_str().map(NillableDuration::parse);
    let Some(Ok(NillableDuration::After(after))) = parsed else { return };
    if after.nanoseconds() < MINUTE {
        let message = "Karpenter may move the pods of a node again before they have started";
        findings.push(
            Finding::at(&RULE, node, message)
                .help("write a longer time than your pods take to become ready, such as `5m`"),
        );
    }
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
    fn reports_times_below_a_minute() {
        insta::assert_snapshot!(findings(&RULE, &pool("disruption: {consolidateAfter: 0s}")), @"
          4 | spec: {disruption: {consolidateAfter: 0s}}
            |                                       ^^
        info NodePool/a spec.disruption.consolidateAfter [all]
          Karpenter may move the pods of a node again before they have started
          help: write a longer time than your pods take to become ready, such as `5m`
        ");
        assert!(
            !findings(
                &RULE,
                &pool("disruption: {consolidateAfter: 59s, consolidationPolicy: WhenEmptyOrUnderutilized}")
            )
            .is_empty()
        );
    }

    #[test]
    fn accepts_a_minute_never_and_empty_nodes() {
        for spec in [
            "consolidateAfter: 60s",
            "consolidateAfter: Never",
            "",
            "consolidateAfter: 0s, consolidationPolicy: WhenEmpty",
            "consolidateAfter: '${AFTER}'",
        ] {
            silent(&RULE, &pool(&format!("disruption: {{{spec}}}")));
        }
    }
}
