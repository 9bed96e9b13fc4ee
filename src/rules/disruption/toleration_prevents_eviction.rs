use karpenter::release::Releases;
use objects::object::{Object, Operation};
use objects::pod::Pod;
use objects::pod_disruption_budget::PodDisruptionBudget;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::is_meant_for_other_nodes;
use scheduling::provisionable::is_provisionable;
use scheduling::state::DISRUPTED;
use scheduling::taints::Toleration;

use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds workloads that tolerate every taint (`operator: Exists` without a key), if a PodDisruptionBudget selects their pods or
    /// they run a single pod. Pods of a DaemonSet are not reported: they are meant to stay.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter taints a node with `karpenter.sh/disrupted:NoSchedule` before it drains the node. It takes a pod that tolerates
    /// this taint for an agent of the node: it does not evict the pod, does not wait for it, and ignores its
    /// PodDisruptionBudget. The pod ends with the instance, and a new pod starts only afterwards. Evicted pods with the
    /// toleration can also return to the node that is drained.
    ///
    /// ## What is not reported
    ///
    /// A toleration that names the key `karpenter.sh/disrupted`, whose author knows the effect.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 3
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       nodeSelector: {karpenter.sh/nodepool: default}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ---
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    ///   selector: {matchLabels: {app: web}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// Tolerate the taints by name:
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 3
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       tolerations: [{key: example.com/dedicated, operator: Exists}]
    ///       nodeSelector: {karpenter.sh/nodepool: default}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ---
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    ///   selector: {matchLabels: {app: web}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the workload with its PodDisruptionBudget, if it has one.
    ///
    /// ## References
    ///
    /// - `IsDrainable`, `IsEvictable` and `ToleratesDisruptedNoScheduleTaint` in pkg/utils/pod/scheduling.go of
    ///   kubernetes-sigs/karpenter at v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod tolerates every taint, so Karpenter never evicts it from a node that it drains",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let is_shown = object.operation() == Operation::Apply;
    let Some(pod) = Pod::of(object).filter(|pod| is_shown && is_provisionable(*pod)) else { return };
    if is_meant_for_other_nodes(pod) {
        return;
    }
    let tolerates_all = pod.spec().tolerations().find(|item| {
        let toleration = Toleration::from_item(*item);
        toleration.key.is_empty() && toleration.operator == "Exists" && toleration.tolerates(&DISRUPTED)
    });
    let Some(item) = tolerates_all else { return };
    let budgets = context.inventory.index::<PodDisruptionBudgets>();
    let budget = budgets.budget_of(object);
    let is_single = matches!(object.kind(), "Deployment" | "StatefulSet")
        && budgets.least_replicas(object).is_some_and(|least| least.number == 1);
    let (surprise, severity) = match (budget, is_single) {
        (Some(_), _) => ("whatever its PodDisruptionBudget allows", Severity::Warning),
        (None, true) => ("and its only pod ends with the instance", Severity::Info),
        (None, false) => return,
    };
    let message = format!(
        "this toleration also matches the taint `karpenter.sh/disrupted`: Karpenter removes a node without evicting the pod, {surprise}"
    );
    let finding = Finding::at(&RULE, item.node(), message)
        .severity(severity)
        .help("tolerate the taints that the pod needs by their keys");
    findings.push(match budget {
        Some(budget) => finding.related(name_of(budget), "this PodDisruptionBudget does not protect the pod"),
        None => finding,
    });
}

fn name_of(budget: PodDisruptionBudget<'_>) -> Place<'_> {
    Place::value(budget.object().name_node())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn workload(kind: &str, replicas: i64, tolerations: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{karpenter.sh/nodepool: a}}
      containers: []
      tolerations: [{tolerations}]
"
        )
    }

    const BUDGET: &str = r"---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
";
    const ALL: &str = "{operator: Exists}";

    #[test]
    fn reports_pods_whose_budget_does_not_count() {
        let text = workload("Deployment", 3, ALL) + BUDGET;
        insta::assert_snapshot!(findings(&RULE, &text), @"
         12 |       tolerations: [{operator: Exists}]
            |                      ^^^^^^^^
        warning Deployment/web spec.template.spec.tolerations[0] [all]
          this toleration also matches the taint `karpenter.sh/disrupted`: Karpenter removes a node without evicting the pod, whatever its PodDisruptionBudget allows
          help: tolerate the taints that the pod needs by their keys
          see line 16 metadata.name: this PodDisruptionBudget does not protect the pod
        ");
        let no_schedule = workload("StatefulSet", 3, "{operator: Exists, effect: NoSchedule}") + BUDGET;
        assert!(!findings(&RULE, &no_schedule).is_empty());
    }

    #[test]
    fn informs_about_single_pods() {
        assert!(findings(&RULE, &workload("Deployment", 1, ALL)).contains("info Deployment/web"));
        silent(&RULE, &workload("Deployment", 2, ALL));
    }

    #[test]
    fn accepts_other_tolerations_and_agents_of_nodes() {
        for tolerations in [
            "{operator: Exists, effect: NoExecute}",
            "{key: karpenter.sh/disrupted, operator: Exists}",
            "{key: CriticalAddonsOnly, operator: Exists}",
            "",
        ] {
            silent(&RULE, &(workload("Deployment", 1, tolerations) + BUDGET));
        }
        silent(&RULE, &(workload("DaemonSet", 1, ALL) + BUDGET));
        let control_plane = workload("Deployment", 1, ALL)
            .replace("karpenter.sh/nodepool: a", "node-role.kubernetes.io/control-plane: ''");
        silent(&RULE, &(control_plane + BUDGET));
    }
}
