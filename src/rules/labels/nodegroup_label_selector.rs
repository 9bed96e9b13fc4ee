use karpenter::labels;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, NodeSelectorTerm, Pod, has_node_expressions};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::{Fix, rename_label};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::{LabelReplacement, capacity_type_of, is_critical, node_group_label};
use scheduling::provisionable::is_provisionable;

use super::pod_no_matching_pool::is_probable;
use crate::rules::indexes::{POOLS, Pools};

rule! {
    /// ## What it does
    ///
    /// Looks for pods that can only run on nodes with a label of a node group or of another autoscaler
    /// (`eks.amazonaws.com/nodegroup`, `eks.amazonaws.com/capacityType`, `alpha.eksctl.io/nodegroup-name`,
    /// `kops.k8s.io/instancegroup`, `node.kubernetes.io/lifecycle`, `k8s.amazonaws.com/accelerator`, `cloud.google.com/…`), and
    /// names the label to use instead.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter's nodes do not have these labels, so Karpenter launches no node for such a pod. The pod stays on the
    /// old node group, or stays Pending once that node group is gone. The log says `label "eks.amazonaws.com/nodegroup"
    /// does not have known values`.
    ///
    /// In a file the finding is an info, because the author may mean a node group. It is a warning in a cluster, with
    /// `--complete`, and if the pod also selects a label that only Karpenter's nodes have.
    ///
    /// ## What is not reported
    ///
    /// - labels that a NodePool in the input sets, as some do to keep old selectors working;
    /// - `NotIn` and `DoesNotExist`, preferences, and alternative terms of which at least one requires no such label;
    /// - pods that the cluster depends on: pods in `kube-system`, and pods with a system priority class or a toleration
    ///   of `CriticalAddonsOnly`. Keeping these on a small node group is good practice;
    /// - pods of a DaemonSet, pods that already have a node or use another scheduler, and pods that stay off
    ///   Karpenter's nodes.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector:
    ///     eks.amazonaws.com/capacityType: SPOT
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector:
    ///     karpenter.sh/capacity-type: spot
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Review the fix: a pod that moves from a node group to Karpenter's nodes may run on other instance types.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2971, #5521
    /// - `NodeLabelInstanceGroup` in pkg/apis/kops/instancegroup.go of kubernetes/kops
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "a pod selects a node group label, which Karpenter's nodes do not have",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[POOLS],
        depends_on_karpenter: true,
        looks_up: has_node_expressions,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod) && !is_critical(*pod)) else {
        return;
    };
    let selects_node_group = |expression: &LabelExpression<'d>| {
        let is_required = !matches!(expression.origin, ExpressionOrigin::Preferred { .. });
        is_required
            && !expression.operator.is_negative()
            && node_group_label(expression).is_some()
            && !context.anywhere(|inventory| inventory.index::<Pools>().sets_label(expression.key))
    };
    // Required terms are alternatives: one term without such a label is enough for Karpenter.
    let needs_node_group = |term: NodeSelectorTerm<'d>| {
        term.expressions(ExpressionOrigin::Required { term: 0 }).any(|found| selects_node_group(&found))
    };
    let all_terms = pod.spec().required_terms().all(needs_node_group);
    for expression in pod.expressions().filter(selects_node_group) {
        if expression.origin == ExpressionOrigin::NodeSelector || all_terms {
            let severity = if is_probable(pod, context) { Severity::Warning } else { Severity::Info };
            findings.extend(finding(object, expression).map(|finding| finding.severity(severity)));
        }
    }
}

fn finding<'d>(object: Object<'d>, expression: LabelExpression<'d>) -> Option<Finding<'d>> {
    let key = expression.key;
    let instead = node_group_label(&expression)?;
    let help = match instead {
        LabelReplacement::Pool => {
            format!("select `{}`, or a label of your own that the NodePool sets", labels::NODEPOOL)
        }
        LabelReplacement::CapacityType => {
            format!("select `{}` with `spot` or `on-demand`", labels::CAPACITY_TYPE)
        }
        LabelReplacement::Gpu => {
            "select `karpenter.k8s.aws/instance-gpu-name` or another accelerator label".to_owned()
        }
        LabelReplacement::Nothing => "remove it; Karpenter's nodes have no equivalent label".to_owned(),
    };
    let message = format!("this pod selects `{key}`, a node group label: Karpenter launches no node for it");
    let finding = Finding::new(&RULE, expression.place(), message).help(help);
    let changes =
        (instead == LabelReplacement::CapacityType).then(|| capacity_type(object, expression)).flatten();
    Some(match changes {
        Some(changes) => finding.fix(Fix::for_review("select the capacity type", changes)),
        None => finding,
    })
}

/// Edits that replace the key and its values with Karpenter's spelling; `None` if a value is unknown.
fn capacity_type<'d>(object: Object<'d>, expression: LabelExpression<'d>) -> Option<Vec<Change<'d>>> {
    let mut changes = Vec::new();
    let mut count = 0;
    for value in expression.values() {
        count += 1;
        let known = capacity_type_of(value.as_str()?)?;
        changes.push(Change::Set(value, known.to_owned()));
    }
    changes.push(rename_label(expression, object, labels::CAPACITY_TYPE)?);
    (count > 0).then_some(changes)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn pod(spec: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  {spec}
"
        )
    }

    fn terms(terms: &str) -> String {
        pod(&format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}"
        ))
    }

    const GROUP: &str = "{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [a]}]}";

    #[test]
    fn names_the_label_to_use_instead() {
        insta::assert_snapshot!(findings(&super::RULE, &pod("nodeSelector: {eks.amazonaws.com/capacityType: SPOT}")), @r#"
          6 |   nodeSelector: {eks.amazonaws.com/capacityType: SPOT}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.nodeSelector [all]
          this pod selects `eks.amazonaws.com/capacityType`, a node group label: Karpenter launches no node for it
          help: select `karpenter.sh/capacity-type` with `spot` or `on-demand`
          unsafe fix: select the capacity type: "spot", "karpenter.sh/capacity-type"
        "#);
        insta::assert_snapshot!(findings(&super::RULE, &terms(GROUP)), @"
          6 |   affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [a]}]}]}}}
            |                                                                                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [all]
          this pod selects `eks.amazonaws.com/nodegroup`, a node group label: Karpenter launches no node for it
          help: select `karpenter.sh/nodepool`, or a label of your own that the NodePool sets
        ");
        assert!(
            findings(&super::RULE, &pod("nodeSelector: {alpha.eksctl.io/cluster-name: a}"))
                .contains("no equivalent label")
        );
        assert_ne!(findings(&super::RULE, &pod("nodeSelector: {lifecycle: Ec2Spot}")), "");
    }

    #[test]
    fn fixes_only_known_capacity_types() {
        let fix = |value: &str| {
            let found = findings(
                &super::RULE,
                &pod(&format!("nodeSelector: {{eks.amazonaws.com/capacityType: {value}}}")),
            );
            found.split("select the capacity type: ").nth(1).map(|edits| edits.trim_end().to_owned())
        };
        assert_eq!(fix("ON_DEMAND").as_deref(), Some("\"on-demand\", \"karpenter.sh/capacity-type\""));
        assert_eq!(fix("CAPACITY_BLOCK"), None);
        let any = terms("{matchExpressions: [{key: eks.amazonaws.com/capacityType, operator: Exists}]}");
        let found = findings(&super::RULE, &any);
        assert!(found.contains("info Pod/a") && !found.contains("fix:"), "{found}");
    }

    #[test]
    fn accepts_an_alternative_term_without_a_node_group_label() {
        silent(
            &super::RULE,
            &terms(&format!(
                "{GROUP}, {{matchExpressions: [{{key: karpenter.sh/nodepool, operator: Exists}}]}}"
            )),
        );
    }

    #[test]
    fn ignores_pods_that_avoid_node_groups_or_only_prefer_them() {
        silent(&super::RULE, &terms(&GROUP.replace("In", "NotIn")));
        silent(
            &super::RULE,
            &terms("{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: DoesNotExist}]}"),
        );
        silent(
            &super::RULE,
            &pod(&format!(
                "affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, preference: {GROUP}}}]}}}}"
            )),
        );
    }

    #[test]
    fn ignores_critical_pods_on_a_node_group() {
        let selector = "nodeSelector: {eks.amazonaws.com/nodegroup: system}";
        silent(&super::RULE, &pod(&format!("{selector}\n  priorityClassName: system-cluster-critical")));
        silent(
            &super::RULE,
            &pod(&format!("{selector}\n  tolerations: [{{key: CriticalAddonsOnly, operator: Exists}}]")),
        );
        silent(&super::RULE, &pod(selector).replace("{name: a}", "{name: a, namespace: kube-system}"));
        silent(
            &super::RULE,
            &terms(&GROUP.replace("[{key", "[{key: karpenter.sh/nodepool, operator: DoesNotExist}, {key")),
        );
    }

    #[test]
    fn ignores_the_lifecycle_label_with_an_unrelated_value() {
        silent(&super::RULE, &pod("nodeSelector: {lifecycle: production}"));
    }

    #[test]
    fn ignores_labels_that_a_pool_sets() {
        let pool = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {metadata: {labels: {lifecycle: Ec2Spot}}}}
---
";
        silent(&super::RULE, &(pool.to_owned() + &pod("nodeSelector: {lifecycle: Ec2Spot}")));
    }
}
