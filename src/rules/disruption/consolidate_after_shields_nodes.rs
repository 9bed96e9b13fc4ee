use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Phase, Runs};
use values::duration::NillableDuration;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose `consolidateAfter` is longer than zero, except with the policy `WhenEmpty`.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.14 Karpenter does not move pods to a node that is still within its `consolidateAfter` when it simulates a
    /// consolidation. In a busy cluster most nodes are within that time, so fewer nodes are consolidated, and the cluster
    /// costs more; one report has 78 % fewer consolidations. Drift and node repair are not affected, nor are `0s` and
    /// `Never`.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.13 to 1.14
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 15m}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.13 to 1.14
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
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#3225, #3006; `IsUnderConsolidateAfter` in pkg/utils/disruption/disruption.go at v1.14.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(14),
        summary: "`consolidateAfter` also keeps other nodes' pods from moving to a node",
        phase: Phase::After,
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let pool = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode());
    let Some(disruption) = pool.and_then(NodePool::disruption) else { return };
    // Empty nodes have no pods to move.
    if disruption.consolidation_policy().and_then(Node::as_str) == Some("WhenEmpty") {
        return;
    }
    let after = disruption.consolidate_after();
    let Some((node, text)) = after.and_then(|node| Some((node, node.as_str()?))) else { return };
    let Ok(NillableDuration::After(duration)) = NillableDuration::parse(text) else { return };
    if duration.nanoseconds() <= 0 {
        return;
    }
    let message = format!(
        "for `{text}` after a pod comes or goes, Karpenter also moves no pods to the node when it consolidates others: fewer nodes are consolidated"
    );
    findings.push(
        Finding::new(&RULE, Place::value(node), message)
            .help("compare the number of consolidations after the upgrade, and write a shorter time if the cluster grows"),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pool(after: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption: {{consolidateAfter: {after}}}
"
        )
    }

    #[test]
    fn nodes_are_shielded_since_1_14() {
        insta::assert_snapshot!(begins(&super::RULE, "1.13", "1.14.0", &pool("5m")), @"
        from 1.14 on
          5 |   disruption: {consolidateAfter: 5m}
            |                                  ^^
        info NodePool/a spec.disruption.consolidateAfter [since 1.14]
          for `5m` after a pod comes or goes, Karpenter also moves no pods to the node when it consolidates others: fewer nodes are consolidated
          help: compare the number of consolidations after the upgrade, and write a shorter time if the cluster grows
        ");
        begins_nothing(&super::RULE, "1.0", "1.13", &pool("5m"));
        begins_nothing(&super::RULE, "1.14", "1.15", &pool("5m"));
        let class =
            "  template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}}}\n";
        begins_nothing(&super::RULE, "1.13", "1.14.0", &(pool("5m") + class));
        begins_nothing(&super::RULE, "1.13", "1.14", &pool("5m, consolidationPolicy: WhenEmpty"));
        for after in ["0s", "Never", "'${AFTER}'"] {
            begins_nothing(&super::RULE, "1.0", "1.15", &pool(after));
        }
    }
}
