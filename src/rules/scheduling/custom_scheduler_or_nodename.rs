use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds pod templates that name a node, or another scheduler than `default-scheduler`.
    ///
    /// ## Why it is bad
    ///
    /// A pod with `nodeName` never passes a scheduler: the kubelet of that node starts it or refuses it, and Karpenter
    /// launches nothing for it. Karpenter launches nodes only for pods that a scheduler has marked as unschedulable;
    /// another scheduler may not do that, or may place pods differently than Karpenter expects.
    ///
    /// ## Example
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
    ///       nodeName: ip-10-0-1-2.eu-west-1.compute.internal
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {requests: {cpu: 100m}}
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
    ///       nodeSelector: {kubernetes.io/arch: amd64}
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {requests: {cpu: 100m}}
    /// ```
    ///
    /// ## References
    ///
    /// - `pkg/utils/pod/scheduling.go` of kubernetes-sigs/karpenter at v1.14.1: `IsProvisionable`, `FailedToSchedule`
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter launches no node for pods that no scheduler marks as unschedulable",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // The scheduler and the API server write the fields of a pod.
    let Some(pod) = Pod::of(object).filter(|pod| object.kind() != "Pod" && !pod.is_daemon()) else { return };
    if let Some(node) = pod.spec().node_name().filter(|node| node.as_str().is_some()) {
        let message = "pods with `nodeName` pass no scheduler, so Karpenter never launches a node for them";
        findings.push(
            Finding::new(&RULE, Place::key(node), message)
                .help("select nodes with `nodeSelector` or node affinity"),
        );
    }
    let scheduler = pod.spec().scheduler_name().filter(|name| *name != "default-scheduler");
    if let Some(name) = scheduler {
        let message = format!(
            "Karpenter launches nodes only for pods that `{name}` marks as unschedulable, and expects them where the default scheduler would place them"
        );
        let place = Place::value(pod.spec().node());
        findings.push(
            Finding::new(&RULE, place, message)
                .help("use the default scheduler, or check that this one sets the condition PodScheduled"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn deployment(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    spec: {{containers: [], {spec}}}
"
        )
    }

    #[test]
    fn reports_node_names_and_other_schedulers() {
        insta::assert_snapshot!(findings(&RULE, &deployment("nodeName: b, schedulerName: volcano")), @"
          6 |     spec: {containers: [], nodeName: b, schedulerName: volcano}
            |     ^^^^
        info Deployment/a spec.template.spec [all]
          Karpenter launches nodes only for pods that `volcano` marks as unschedulable, and expects them where the default scheduler would place them
          help: use the default scheduler, or check that this one sets the condition PodScheduled
          6 |     spec: {containers: [], nodeName: b, schedulerName: volcano}
            |                            ^^^^^^^^
        info Deployment/a spec.template.spec.nodeName [all]
          pods with `nodeName` pass no scheduler, so Karpenter never launches a node for them
          help: select nodes with `nodeSelector` or node affinity
        ");
    }

    #[test]
    fn accepts_the_default_scheduler_and_placed_pods() {
        silent(&RULE, &deployment("schedulerName: default-scheduler"));
        silent(
            &RULE,
            r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: b, containers: []}
",
        );
    }
}
