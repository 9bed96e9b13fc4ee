use disruption::budget as budgets;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Severity};
use lint::rule::{On, Phase};
use objects::chart_values;
use objects::node_pool::NodePool;
use objects::object::Object;

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
    /// ```yaml,from=1.14 to 1.15
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
    /// ```yaml,from=1.14 to 1.15
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
    UPGRADE {
        name: "node-repair-obeys-budgets",
        family: Family::Disruption,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        summary: "budgets start to apply to node repair, and forbid it",
        phase: Phase::With,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(all) = NodePool::of(object).and_then(budgets::of) else { return };
    let blocking = budgets::blocking_always(&all, "Unhealthy");
    let Some(first) = blocking.first() else { return };
    let is_on = context.inventory.feature_gates().get("NodeRepair") == Some(true);
    if !is_on || is_legacy(context) {
        return;
    }
    let message = "this budget also forbids node repair: Karpenter leaves unhealthy nodes in the cluster";
    findings.push(
        Finding::new(&RULE, first.place(), message)
            .help("add `reasons` to the budget during the upgrade, and a budget for `Unhealthy`, or set `settings.legacyNodeRepair: true`"),
    );
}

/// Whether values of the chart keep the old node repair.
fn is_legacy(context: &Context<'_, '_>) -> bool {
    let mut values = context.inventory.objects().iter().filter_map(|object| chart_values::of(*object));
    values.any(|values| values.switch("legacyNodeRepair").is_some_and(|node| node.as_bool() == Some(true)))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn with(budgets: &str, settings: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  disruption: {{consolidateAfter: 0s, budgets: [{budgets}]}}\n---\nsettings: {{clusterName: a, {settings}}}\n"
        )
    }

    const ON: &str = "featureGates: {nodeRepair: true}";

    #[test]
    fn budgets_apply_to_node_repair_since_1_15() {
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.15", &with("{nodes: '0'}", ON)), @"
        from 1.15 on
          5 |   disruption: {consolidateAfter: 0s, budgets: [{nodes: '0'}]}
            |                                                        ^^^
        warning NodePool/a spec.disruption.budgets[0] [since 1.15]
          this budget also forbids node repair: Karpenter leaves unhealthy nodes in the cluster
          help: add `reasons` to the budget during the upgrade, and a budget for `Unhealthy`, or set `settings.legacyNodeRepair: true`
        ");
        begins_nothing(&super::RULE, "1.0", "1.14", &with("{nodes: '0'}", ON));
        begins_nothing(&super::RULE, "1.14", "1.15", &with("{nodes: '0', reasons: [Drifted]}", ON));
        begins_nothing(&super::RULE, "1.14", "1.15", &with("{nodes: 10%}", ON));
        begins_nothing(&super::RULE, "1.14", "1.15", &with("{nodes: '0'}", "logLevel: info"));
        let legacy = format!("{ON}, legacyNodeRepair: true");
        begins_nothing(&super::RULE, "1.14", "1.15", &with("{nodes: '0'}", &legacy));
    }
}
