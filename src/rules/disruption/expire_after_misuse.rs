use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::{Disruption, NodePool};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::duration::NillableDuration;

rule! {
    /// ## What it does
    ///
    /// Finds an `expireAfter` that is shorter than an hour, or not longer than `consolidateAfter`.
    ///
    /// ## Why it is bad
    ///
    /// `expireAfter` is the longest life of a node, not the shortest: when it is over, Karpenter drains the node
    /// whether its pods agree or not, and budgets do not count. A short time restarts every pod again and again. If a
    /// node expires before `consolidateAfter` is over, Karpenter never consolidates it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidateAfter: 5m}
    ///   template:
    ///     spec:
    ///       expireAfter: 10m
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
    ///   disruption: {consolidateAfter: 5m}
    ///   template:
    ///     spec:
    ///       expireAfter: 336h
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2530; aws/karpenter-provider-aws#8803, #6862
    /// - `pkg/controllers/nodeclaim/expiration/controller.go` of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nodes expire so soon that their pods restart all the time, or before they can be consolidated",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// An hour in nanoseconds.
const HOUR: i64 = 3_600_000_000_000;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some((node, life)) = pool.claim_spec().and_then(NodeClaimSpec::expire_after).and_then(time) else {
        return;
    };
    let help = "write how long a node may live at most, such as `336h`, or `Never`";
    if life < HOUR {
        let message = "Karpenter replaces each node of this NodePool at this age, and all its pods restart: `expireAfter` is the longest life of a node, not the shortest";
        findings.push(Finding::at(&RULE, node, message).help(help));
        return;
    }
    let after = pool.disruption().and_then(Disruption::consolidate_after).and_then(time);
    if let Some((after, _)) = after.filter(|(_, wait)| *wait >= life) {
        let message =
            "each node expires before `consolidateAfter` is over, so Karpenter never consolidates it";
        findings.push(
            Finding::at(&RULE, node, message)
                .related(
                    Place::value(after),
                    "the time without a change of pods that consolidation waits for",
                )
                .help(help),
        );
    }
}

/// A time with its node, in nanoseconds. Placeholders and `Never` are no times.
fn time(node: Node<'_>) -> Option<(Node<'_>, i64)> {
    match NillableDuration::parse(node.as_str()?) {
        Ok(NillableDuration::After(time)) if time.nanoseconds() >= 0 => Some((node, time.nanoseconds())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(after: &str, expiry: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption: {{consolidateAfter: {after}}}
  template: {{spec: {{expireAfter: {expiry}}}}}
"
        )
    }

    #[test]
    fn reports_short_lives() {
        insta::assert_snapshot!(findings(&RULE, &pool("5m", "59m")), @"
          6 |   template: {spec: {expireAfter: 59m}}
            |                                  ^^^
        warning NodePool/a spec.template.spec.expireAfter [all]
          Karpenter replaces each node of this NodePool at this age, and all its pods restart: `expireAfter` is the longest life of a node, not the shortest
          help: write how long a node may live at most, such as `336h`, or `Never`
        ");
    }

    #[test]
    fn reports_nodes_that_expire_at_once() {
        for none in ["0s", "0h", "0m"] {
            assert!(
                findings(&RULE, &pool("5m", none))
                    .contains("replaces each node of this NodePool at this age")
            );
        }
    }

    #[test]
    fn reports_nodes_that_expire_before_consolidation() {
        insta::assert_snapshot!(findings(&RULE, &pool("2h", "2h")), @"
          6 |   template: {spec: {expireAfter: 2h}}
            |                                  ^^
        warning NodePool/a spec.template.spec.expireAfter [all]
          each node expires before `consolidateAfter` is over, so Karpenter never consolidates it
          help: write how long a node may live at most, such as `336h`, or `Never`
          see line 5 spec.disruption.consolidateAfter: the time without a change of pods that consolidation waits for
        ");
    }

    #[test]
    fn accepts_long_lives() {
        for (after, expiry) in
            [("5m", "1h"), ("Never", "1h"), ("2h", "Never"), ("2h", "121m"), ("5m", "'${LIFE}'")]
        {
            silent(&RULE, &pool(after, expiry));
        }
        // The API server refuses a negative duration.
        silent(&RULE, &pool("5m", "-1h"));
    }
}
