use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::budget as budgets;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Phase, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose budgets always forbid node repair, in a cluster whose controller has the feature gate
    /// `NodeRepair`.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.14 node repair deletes an unhealthy node regardless of budgets. Since 1.15 it starts a replacement first,
    /// and obeys the budgets under the reason `Unhealthy`. A budget of 0 without reasons keeps unhealthy nodes in the
    /// cluster. The setting `legacyNodeRepair` keeps the old behaviour. The change comes from the upgrade guide of the main
    /// branch shortly before 1.15.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidateAfter: 1m, budgets: [{nodes: "0"}]}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ---
    /// settings:
    ///   clusterName: prod
    ///   featureGates: {nodeRepair: true}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidateAfter: 1m, budgets: [{nodes: "0", reasons: [Drifted, Underutilized]}]}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ---
    /// settings:
    ///   clusterName: prod
    ///   featureGates: {nodeRepair: true}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#3311; aws/karpenter-provider-aws#9680; upgrade guide, 1.15.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "budgets forbid the repair of nodes at all times",
        phase: Phase::With,
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let gates = context.inventory.index::<Gates>();
    if gates.get("NodeRepair") != Some(true) || gates.is_node_repair_legacy() {
        return;
    }
    if NodePool::of(object).is_none_or(NodePool::is_of_auto_mode) {
        return;
    }
    let Some(all) = context.budgets() else { return };
    let blocking = budgets::blocking_always(all, "Unhealthy");
    let Some(first) = blocking.first() else { return };
    let message =
        "this budget of 0 also forbids node repair: Karpenter leaves unhealthy nodes in the cluster";
    findings.push(
        Finding::new(&RULE, first.place(), message)
            .releases(Releases::since(15))
            .help("name the `reasons` of the budget, and write a budget for `Unhealthy`, or set `settings.legacyNodeRepair: true`"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, on_upgrade_path, silent};
    use rule::settings::{Settings, Target};

    fn with(budgets: &str, settings: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption: {{consolidateAfter: 0s, budgets: [{budgets}]}}
---
settings: {{clusterName: a, interruptionQueue: a, {settings}}}
"
        )
    }

    const ON: &str = "featureGates: {nodeRepair: true}";

    #[test]
    fn reports_budgets_that_forbid_node_repair_since_1_15() {
        let text = with("{nodes: '0'}", ON);
        let at =
            |release: &str| Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @"
          5 |   disruption: {consolidateAfter: 0s, budgets: [{nodes: '0'}]}
            |                                                        ^^^
        warning NodePool/a spec.disruption.budgets[0] [since 1.15]
          this budget of 0 also forbids node repair: Karpenter leaves unhealthy nodes in the cluster
          help: name the `reasons` of the budget, and write a budget for `Unhealthy`, or set `settings.legacyNodeRepair: true`
        ");
        assert_eq!(findings_with(&RULE, &text, &at("1.14")), "");
        assert!(findings_with(&RULE, &text, &on_upgrade_path("1.8", "1.15")).contains("[since 1.15]"));
    }

    #[test]
    fn accepts_budgets_for_other_reasons_and_the_old_node_repair() {
        silent(&RULE, &with("{nodes: '0', reasons: [Drifted]}", ON));
        silent(&RULE, &with("{nodes: 10%}", ON));
        silent(&RULE, &with("{nodes: '0'}", "isolatedVPC: false"));
        silent(&RULE, &with("{nodes: '0'}", &format!("{ON}, legacyNodeRepair: true")));
    }
}
