use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use objects::object::{Object, Operation};
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::provisionable::is_provisionable;
use scheduling::state::tolerates_disruption;

use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds Deployments and StatefulSets of one pod that no PodDisruptionBudget selects and that have no annotation
    /// `karpenter.sh/do-not-disrupt`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter evicts the pod each time it consolidates or replaces the node. The workload is down until its pod runs on
    /// another node.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 1
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 2
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ---
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
    /// The input must contain the workload with its budgets and its autoscaler, as far as it has them. The policy looks up
    /// neither, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5232, #6129; kubernetes-sigs/karpenter#740
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "Pod-Level Controls"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a workload of one pod is down each time Karpenter replaces its node",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let is_replicated = object.group() == "apps" && matches!(object.kind(), "Deployment" | "StatefulSet");
    let is_shown = object.operation() == Operation::Apply;
    let Some(pod) = Pod::of(object).filter(|_| is_shown && is_replicated) else { return };
    // Karpenter does not evict a pod that tolerates the taint of disrupted nodes.
    if !is_provisionable(pod)
        || tolerates_disruption(pod)
        || pod.metadata().annotation(DO_NOT_DISRUPT).is_some()
    {
        return;
    }
    let budgets = context.inventory.index::<PodDisruptionBudgets>();
    let Some(least) = budgets.least_replicas(object).filter(|least| least.number == 1) else { return };
    if budgets.has_budget(object) {
        return;
    }
    let Some(spec) = object.at(&["spec"]) else { return };
    let place = least.node.map_or(Place::missing(spec, "replicas"), Place::value);
    let message = "this workload runs one pod: it is down each time Karpenter evicts the pod to consolidate or replace the node";
    findings.push(Finding::new(&RULE, place, message).help(
        "run two replicas with a PodDisruptionBudget, or annotate the pod with `karpenter.sh/do-not-disrupt`",
    ));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn workload(spec: &str, pod: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {spec}
  template:
    metadata: {{labels: {{app: web}}{pod}}}
    spec: {{containers: []}}
"
        )
    }

    fn budget(app: &str) -> String {
        format!(
            r"---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: {app}}}}}}}
"
        )
    }

    #[test]
    fn reports_one_pod_without_protection() {
        insta::assert_snapshot!(findings(&RULE, &(workload("replicas: 1", "") + &budget("api"))), @"
          5 |   replicas: 1
            |             ^
        info Deployment/web spec.replicas [all]
          this workload runs one pod: it is down each time Karpenter evicts the pod to consolidate or replace the node
          help: run two replicas with a PodDisruptionBudget, or annotate the pod with `karpenter.sh/do-not-disrupt`
        ");
        assert!(findings(&RULE, &workload("paused: false", "")).contains("spec.replicas"));
    }

    #[test]
    fn accepts_several_pods_budgets_and_protected_pods() {
        silent(&RULE, &workload("replicas: 2", ""));
        silent(&RULE, &workload("replicas: 0", ""));
        silent(&RULE, &workload("replicas: '${REPLICAS}'", ""));
        silent(&RULE, &(workload("replicas: 1", "") + &budget("web")));
        silent(&RULE, &workload("replicas: 1", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}"));
        let tolerating = "containers: [], tolerations: [{key: karpenter.sh/disrupted, operator: Exists}]";
        silent(&RULE, &workload("replicas: 1", "").replace("containers: []", tolerating));
        for kind in ["DaemonSet", "ReplicaSet"] {
            silent(&RULE, &workload("replicas: 1", "").replace("Deployment", kind));
        }
        let autoscaler = r"---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, scaleTargetRef: {kind: Deployment, name: web}}
";
        silent(&RULE, &(workload("replicas: 1", "") + autoscaler));
    }

    #[test]
    fn reads_the_number_of_pods_from_a_scaled_object_of_keda() {
        let scaled = |kind: &str, least: &str| {
            let scaler = format!(
                r"---
apiVersion: {kind}
metadata: {{name: web}}
spec: {{scaleTargetRef: {{name: web}}{least}}}
"
            );
            findings(&RULE, &(workload("replicas: 1", "") + &scaler))
        };
        let scaled_object = "keda.sh/v1alpha1\nkind: ScaledObject";
        assert_eq!(scaled(scaled_object, ", minReplicaCount: 2"), "");
        assert_eq!(scaled(scaled_object, ""), "");
        assert_ne!(scaled(scaled_object, ", minReplicaCount: 1"), "");
        for other in ["keda.sh/v1alpha1\nkind: ScaledJob", "example.com/v1\nkind: ScaledObject"] {
            assert_ne!(scaled(other, ", minReplicaCount: 2"), "", "{other}");
        }
    }
}
