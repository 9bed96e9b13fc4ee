use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::AnyDefaultPriority;

rule! {
    /// ## What it does
    ///
    /// Finds DaemonSets without a priority class.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter reserves room for DaemonSets when it chooses an instance type, but the scheduler gives the room to
    /// whichever pod comes first. If workloads take it, the pod of the DaemonSet stays Pending forever: Karpenter
    /// launches no node for a DaemonSet. A priority lets it preempt.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: agent
    /// spec:
    ///   selector: {matchLabels: {app: agent}}
    ///   template:
    ///     metadata: {labels: {app: agent}}
    ///     spec:
    ///       containers:
    ///       - name: agent
    ///         image: "example.com/agent:1"
    ///         resources: {requests: {cpu: 100m, memory: 128Mi}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: agent
    /// spec:
    ///   selector: {matchLabels: {app: agent}}
    ///   template:
    ///     metadata: {labels: {app: agent}}
    ///     spec:
    ///       priorityClassName: system-node-critical
    ///       containers:
    ///       - name: agent
    ///         image: "example.com/agent:1"
    ///         resources: {requests: {cpu: 100m, memory: 128Mi}}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#4793, #7406, #9269
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "pods of the DaemonSet stay Pending where workloads take their room first",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|_| object.kind() == "DaemonSet") else { return };
    if pod.spec().has_priority() || context.anywhere(|inventory| *inventory.index::<AnyDefaultPriority>()) {
        return;
    }
    let place = Place::missing(pod.spec().node(), "priorityClassName");
    let message = "without a priority class the pods of this DaemonSet stay Pending where workloads take their room first, and Karpenter launches no node for them";
    findings.push(
        Finding::new(&RULE, place, message)
            .help("set `priorityClassName`; in kube-system `system-node-critical`, elsewhere a class above the workloads"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn daemon_set(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: a}}
spec:
  template:
    spec: {{containers: [], {spec}}}
"
        )
    }

    #[test]
    fn reports_daemon_sets_without_a_class() {
        insta::assert_snapshot!(findings(&RULE, &daemon_set("")), @"
          6 |     spec: {containers: [], }
            |     ^^^^
        info DaemonSet/a spec.template.spec.priorityClassName [all]
          without a priority class the pods of this DaemonSet stay Pending where workloads take their room first, and Karpenter launches no node for them
          help: set `priorityClassName`; in kube-system `system-node-critical`, elsewhere a class above the workloads
        ");
    }

    #[test]
    fn accepts_classes_and_other_workloads() {
        silent(&RULE, &daemon_set("priorityClassName: system-node-critical"));
        silent(&RULE, &daemon_set("").replace("DaemonSet", "Deployment"));
    }
}
