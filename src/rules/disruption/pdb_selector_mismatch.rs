use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds PodDisruptionBudgets that select no pod: without `selector`, or with one that matches no pod of the input if
    /// the input is complete.
    ///
    /// ## Why it is bad
    ///
    /// The budget protects nothing. Karpenter evicts all pods of the workload at once when it consolidates or replaces
    /// their nodes.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    ///   selector:
    ///     matchLabels: {app: web}
    /// ```
    ///
    /// ## What it needs
    ///
    /// A missing selector shows in the budget alone. For a selector that matches no pod, the setting `completeInventory`
    /// must say that the input contains every workload.
    ///
    /// ## References
    ///
    /// - pkg/apis/policy/types.go of kubernetes/kubernetes: a null selector matches no pods, an empty one all pods of the
    ///   namespace
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        fix: Fixes::None,
        summary: "a PodDisruptionBudget selects no pod, so it protects none",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::POD_DISRUPTION_BUDGET)],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((budget, spec)) = PodDisruptionBudget::of(object).zip(object.at(&["spec"])) else { return };
    if spec.as_str().is_some_and(has_placeholder) {
        return;
    }
    let Some(selector) = budget.selector() else {
        let message =
            "without `selector` this PodDisruptionBudget selects no pod: it does not slow down evictions";
        findings.push(
            Finding::new(&RULE, Place::key(spec), message)
                .help("add `selector.matchLabels` with the labels of the pods"),
        );
        return;
    };
    let labels = selector.get("matchLabels").map(Node::members);
    let is_unrendered = labels
        .into_iter()
        .flatten()
        .any(|(key, value)| has_placeholder(key) || value.as_str().is_none_or(has_placeholder));
    let inventory = context.inventory;
    if is_unrendered
        || !inventory.is_complete()
        || inventory.index::<PodDisruptionBudgets>().selects_any(object)
    {
        return;
    }
    let message =
        "no pod of this namespace has these labels: the PodDisruptionBudget does not slow down evictions";
    findings.push(
        Finding::new(&RULE, Place::key(selector), message)
            .help("write the labels of the pod template, `spec.template.metadata.labels` of the workload"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn manifest(selector: &str, labels: &str) -> String {
        format!(
            r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec:
  maxUnavailable: 1
  {selector}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    metadata: {{labels: {labels}}}
    spec: {{nodeSelector: {{karpenter.sh/nodepool: a}}, containers: []}}
"
        )
    }

    fn complete() -> Settings {
        Settings { complete_inventory: true, ..Settings::default() }
    }

    #[test]
    fn reports_a_budget_without_selector() {
        insta::assert_snapshot!(findings(&RULE, &manifest("", "{app: web}")), @"
          4 | spec:
            | ^^^^
        warning PodDisruptionBudget/web spec [all]
          without `selector` this PodDisruptionBudget selects no pod: it does not slow down evictions
          help: add `selector.matchLabels` with the labels of the pods
        ");
        silent(&RULE, &manifest("selector: {}", "{app: web}"));
    }

    #[test]
    fn reports_labels_that_no_pod_has_if_the_input_is_complete() {
        let text = manifest("selector: {matchLabels: {app: wbe}}", "{app: web}");
        insta::assert_snapshot!(findings_with(&RULE, &text, &complete()), @"
          6 |   selector: {matchLabels: {app: wbe}}
            |   ^^^^^^^^
        warning PodDisruptionBudget/web spec.selector [all]
          no pod of this namespace has these labels: the PodDisruptionBudget does not slow down evictions
          help: write the labels of the pod template, `spec.template.metadata.labels` of the workload
        ");
        silent(&RULE, &text);
        for selector in ["{matchLabels: {app: web}}", "{}", "{matchLabels: {app: '${APP}'}}"] {
            let text = manifest(&format!("selector: {selector}"), "{app: web}");
            assert_eq!(findings_with(&RULE, &text, &complete()), "", "{selector}");
        }
    }
}
