use karpenter::labels::HOSTNAME;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Looks for `kubernetes.io/hostname` in the node selector and the node affinity of pods and pod templates.
    ///
    /// ## Why it is bad
    ///
    /// A node gets its name only when it is created, so Karpenter restricts this key. Karpenter ignores a pending pod
    /// that has the key in its node selector or in any required term, whatever the operator (`ignoring pod, … label
    /// kubernetes.io/hostname is restricted`). Even a `NotIn` that only avoids one bad node has this effect, and so
    /// does one of several alternative terms. In 1.4 and earlier, a preferred term has the same effect; 1.5 and later
    /// drop the preference.
    ///
    /// To keep pods apart or together, use `podAntiAffinity`, `podAffinity` or `topologySpreadConstraints` with the
    /// `topologyKey` `kubernetes.io/hostname`. Karpenter supports all three.
    ///
    /// ## What is not reported
    ///
    /// - pods of a DaemonSet, pods that already have a node or use another scheduler, and pods that stay off
    ///   Karpenter's nodes;
    /// - a Pod that belongs to no workload and selects a node by name: it is meant for a node that already exists.
    ///
    /// A workload that selects a node by name is an info, because the author means a node that exists. A preference
    /// that Karpenter only drops is an info. Everything else is an error.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       affinity:
    ///         nodeAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///             nodeSelectorTerms:
    ///               - matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [ip-10-0-1-7]}]
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Taint or cordon the node. To spread pods:
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       topologySpreadConstraints:
    ///         - maxSkew: 1
    ///           topologyKey: kubernetes.io/hostname
    ///           whenUnsatisfiable: DoNotSchedule
    ///           labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#4671, #6844, #1200
    /// - `RestrictedLabels` in pkg/apis/v1/labels.go of kubernetes-sigs/karpenter, v1.0.0 to v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod selects nodes by hostname, so Karpenter ignores the pod",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let is_workload = object.kind() != "Pod" || object.metadata().owner_references().is_some();
    for expression in pod.expressions().filter(|expression| expression.key == HOSTNAME) {
        let names_nodes = expression.values().next().is_some() && !expression.operator.is_negative();
        if matches!(expression.origin, ExpressionOrigin::Preferred { .. }) {
            preferred(expression, findings);
        } else if is_workload || !names_nodes {
            let message = "Karpenter launches no node for this pod while it is pending: a new node cannot be selected by name";
            // An author who names nodes means nodes that exist.
            let severity = if names_nodes { Severity::Info } else { Severity::Error };
            findings.push(finding(expression, message, severity));
        }
    }
}

fn preferred<'d>(expression: LabelExpression<'d>, findings: &mut Vec<Finding<'d>>) {
    let before = Releases::until(4);
    let message = format!(
        "Karpenter launches no node for this pod while it is pending: a new node cannot be selected by name, not even as a preference ({before})"
    );
    findings.push(finding(expression, &message, Severity::Error).releases(before));
    if !expression.operator.is_negative() {
        let since = Releases::since(5);
        let message =
            format!("Karpenter drops this preference: a new node cannot be selected by name ({since})");
        findings.push(finding(expression, &message, Severity::Info).releases(since));
    }
}

fn finding<'d>(expression: LabelExpression<'d>, message: &str, severity: Severity) -> Finding<'d> {
    let help = if expression.operator.is_negative() {
        "remove this expression; to keep pods off a node, cordon or taint the node"
    } else {
        "select a label that the NodePool sets; to spread pods, use `topologySpreadConstraints`"
    };
    Finding::new(&RULE, expression.place(), message).severity(severity).help(help)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn deployment(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    spec:
      containers: []
      {spec}
"
        )
    }

    fn affinity(operator: &str) -> String {
        deployment(&format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [\n        {{matchExpressions: [{{key: kubernetes.io/hostname, operator: {operator}}}]}}]}}}}}}"
        ))
    }

    #[test]
    fn reports_every_operator_and_a_named_node_as_info() {
        insta::assert_snapshot!(findings(&super::RULE, &affinity("NotIn, values: [ip-10-0-1-7]")), @"
          9 |         {matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [ip-10-0-1-7]}]}]}}}
            |                                   ^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [all]
          Karpenter launches no node for this pod while it is pending: a new node cannot be selected by name
          help: remove this expression; to keep pods off a node, cordon or taint the node
        ");
        insta::assert_snapshot!(findings(&super::RULE, &deployment("nodeSelector: {kubernetes.io/hostname: rack-7}")), @"
          8 |       nodeSelector: {kubernetes.io/hostname: rack-7}
            |                      ^^^^^^^^^^^^^^^^^^^^^^
        info Deployment/a spec.template.spec.nodeSelector [all]
          Karpenter launches no node for this pod while it is pending: a new node cannot be selected by name
          help: select a label that the NodePool sets; to spread pods, use `topologySpreadConstraints`
        ");
        for operator in ["Exists", "DoesNotExist", "In, values: [a]"] {
            assert_ne!(findings(&super::RULE, &affinity(operator)), "", "{operator}");
        }
    }

    #[test]
    fn preference_blocks_the_pod_until_1_4_and_is_dropped_since_1_5() {
        let text = deployment(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [\n        {weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}}]}}",
        );
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &range), @"
          9 |         {weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [until 1.4]
          Karpenter launches no node for this pod while it is pending: a new node cannot be selected by name, not even as a preference (until 1.4)
          help: select a label that the NodePool sets; to spread pods, use `topologySpreadConstraints`
          9 |         {weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^
        info Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [since 1.5]
          Karpenter drops this preference: a new node cannot be selected by name (since 1.5)
          help: select a label that the NodePool sets; to spread pods, use `topologySpreadConstraints`
        ");
        silent(&super::RULE, &text.replace("operator: In", "operator: NotIn"));
    }

    #[test]
    fn reports_an_affinity_that_several_templates_share_once() {
        let text = r"apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: a}
spec:
  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}}]}}
  templates: [{name: x, container: {image: a}}, {name: y, container: {image: a}}]
";
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let output = findings_with(&super::RULE, text, &range);
        let found: Vec<_> = output.lines().filter(|line| line.contains(" Workflow/a ")).collect();
        assert_eq!(found.len(), 2, "{output}");
        assert!(found[0].starts_with("error Workflow/a spec.affinity.") && found[0].ends_with("[until 1.4]"));
        assert!(found[1].starts_with("info Workflow/a spec.affinity.") && found[1].ends_with("[since 1.5]"));
    }

    #[test]
    fn ignores_daemon_sets_and_pods_meant_for_an_existing_node() {
        silent(
            &super::RULE,
            &deployment("nodeSelector: {kubernetes.io/hostname: a}").replace("Deployment", "DaemonSet"),
        );
        let pod = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [], nodeSelector: {kubernetes.io/hostname: a}}
";
        silent(&super::RULE, pod);
        silent(&super::RULE, &deployment("nodeSelector: {kubernetes.io/hostname: a}\n      nodeName: a"));
    }

    #[test]
    fn accepts_hostname_as_topology_key() {
        silent(
            &super::RULE,
            &deployment("topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}]"),
        );
    }
}
