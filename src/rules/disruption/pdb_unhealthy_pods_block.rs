use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds PodDisruptionBudgets without `unhealthyPodEvictionPolicy: AlwaysAllow`. The rule is off by default, because
    /// the other policy is right for some applications, such as a database that recovers.
    ///
    /// ## Why it is bad
    ///
    /// With the default policy `IfHealthyBudget`, a pod that is running and not ready can be evicted only while enough
    /// other pods are healthy. If pods crash in a loop and the budget is not met, no eviction succeeds, and Karpenter
    /// cannot drain their nodes until somebody repairs the application or `terminationGracePeriod` ends.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata: {name: web}
    /// spec:
    ///   minAvailable: 1
    ///   selector: {matchLabels: {app: web}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata: {name: web}
    /// spec:
    ///   minAvailable: 1
    ///   unhealthyPodEvictionPolicy: AlwaysAllow
    ///   selector: {matchLabels: {app: web}}
    /// ```
    ///
    /// ## References
    ///
    /// - Unhealthy pod eviction policy, "Specifying a Disruption Budget for your Application" in the documentation of
    ///   Kubernetes
    /// - aws/karpenter-provider-aws#3052; kubernetes-sigs/karpenter#2238
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        opt_in: true,
        summary: "pods that are not ready can block the drain of a node",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::POD_DISRUPTION_BUDGET)],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(budget) = PodDisruptionBudget::of(object) else { return };
    let Some(spec) = object.at(&["spec"]) else { return };
    if context.inventory.index::<PodDisruptionBudgets>().selects_only_tolerating(object) {
        return;
    }
    let policy = budget.unhealthy_pod_eviction_policy();
    // A template or an unknown value may become the other policy.
    if policy.and_then(Node::as_str).is_some_and(|text| text != "IfHealthyBudget") {
        return;
    }
    let place = match policy {
        Some(node) => Place::value(node),
        None => Place::missing(spec, "unhealthyPodEvictionPolicy"),
    };
    let message = "while too few pods are healthy, pods that are not ready cannot be evicted either, and Karpenter cannot drain their nodes";
    findings.push(Finding::new(&RULE, place, message).write("unhealthyPodEvictionPolicy: AlwaysAllow"));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn budget(field: &str) -> String {
        format!(
            r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: a}}
spec:
  minAvailable: 1
  {field}
"
        )
    }

    #[test]
    fn reports_budgets_that_hold_pods_that_are_not_ready() {
        insta::assert_snapshot!(findings(&RULE, &budget("selector: {}")), @"
          4 | spec:
            | ^^^^
        info PodDisruptionBudget/a spec.unhealthyPodEvictionPolicy [all]
          while too few pods are healthy, pods that are not ready cannot be evicted either, and Karpenter cannot drain their nodes
          help: write `unhealthyPodEvictionPolicy: AlwaysAllow`
        ");
        let written = findings(&RULE, &budget("unhealthyPodEvictionPolicy: IfHealthyBudget"));
        assert!(written.contains("spec.unhealthyPodEvictionPolicy"), "{written}");
    }

    #[test]
    fn accepts_budgets_that_let_unhealthy_pods_go() {
        silent(&RULE, &budget("unhealthyPodEvictionPolicy: AlwaysAllow"));
        silent(&RULE, &budget("unhealthyPodEvictionPolicy: '${POLICY}'"));
        let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [], tolerations: [{operator: Exists}]}\n";
        silent(&RULE, &(budget("selector: {}") + pod));
        assert!(
            !findings(
                &RULE,
                &(budget("selector: {}") + &pod.replace("operator: Exists", "key: a, operator: Exists"))
            )
            .is_empty()
        );
    }
}
