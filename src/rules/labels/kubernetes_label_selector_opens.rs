use std::collections::BTreeSet;

use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{On, Runs};
use scheduling::provisionable::is_provisionable;

use crate::rules::indexes::Pools;

rule! {
    /// ## What it does
    ///
    /// Finds pods that select nodes by a label in one of the Kubernetes domains that Karpenter restricted until 1.8.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.8 Karpenter ignores a pod with such a key. 1.9 lifted the restriction: Karpenter now schedules the pod
    /// like any other, and creates a node for it as soon as a NodePool declares the label. A pod that used such a label
    /// to stay off Karpenter's nodes no longer stays off them once a NodePool has the label. If the input contains
    /// NodePools and none of them declares the label, this rule is silent, and `pod-no-matching-pool` reports the pod.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.8 to 1.9
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector: {kubernetes.io/role: worker}
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.8 to 1.9
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector: {example.com/role: worker}
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2586; aws/karpenter-provider-aws#8161
    /// - pkg/apis/v1/labels.go of kubernetes-sigs/karpenter at v1.8.3 and v1.9.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(9),
        summary: "Karpenter no longer ignores pods that select nodes by a Kubernetes label",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let required =
        |expression: &LabelExpression<'_>| !matches!(expression.origin, ExpressionOrigin::Preferred { .. });
    // A key that every release restricts makes 1.9 and later ignore the pod as well.
    if pod.expressions().any(|expression| labels::refused_in_pods(expression.key) == Releases::ALL) {
        return;
    }
    let pools = context.inventory.index::<Pools>();
    let mut reported = BTreeSet::new();
    for expression in pod.expressions().filter(required) {
        let key = expression.key;
        let opens = labels::refused_in_pods(key) == Releases::until(8) && labels::well_known(key).is_empty();
        let wants =
            matches!(expression.operator, Operator::In | Operator::Exists | Operator::Gt | Operator::Lt);
        if !opens || !reported.insert(key) || (wants && !pools.is_empty() && !pools.sets_label(key)) {
            continue;
        }
        let needs = if wants { ", and creates a node for it if a NodePool declares the label" } else { "" };
        let message = format!(
            "Karpenter no longer ignores this pod because of `{key}`: it schedules the pod like any other{needs}"
        );
        findings.push(
            Finding::new(&RULE, expression.place(), message)
                .help("declare the label on the NodePool that should run the pod; to keep pods off Karpenter's nodes, require `karpenter.sh/nodepool` with `DoesNotExist`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pod(selector: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  nodeSelector: {{{selector}}}
"
        )
    }

    fn pool(labels: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    metadata: {{labels: {{{labels}}}}}
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: []
"
        )
    }

    #[test]
    fn reports_domains_that_1_9_no_longer_restricts() {
        let text = pod("node-role.kubernetes.io/worker: ''");
        insta::assert_snapshot!(begins(&super::RULE, "1.8", "1.9.0", &text), @"
        from 1.9 on
          6 |   nodeSelector: {node-role.kubernetes.io/worker: ''}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.nodeSelector [since 1.9]
          Karpenter no longer ignores this pod because of `node-role.kubernetes.io/worker`: it schedules the pod like any other, and creates a node for it if a NodePool declares the label
          help: declare the label on the NodePool that should run the pod; to keep pods off Karpenter's nodes, require `karpenter.sh/nodepool` with `DoesNotExist`
        ");
        begins_nothing(&super::RULE, "1.0", "1.8", &text);
        begins_nothing(&super::RULE, "1.9.0", "1.14", &text);
        begins_nothing(&super::RULE, "1.14", "1.0", &text);
        for selector in
            ["kubernetes.io/os: linux", "example.com/a: b", "karpenter.sh/x: y", "kubernetes.io/hostname: a"]
        {
            begins_nothing(&super::RULE, "1.8", "1.9", &pod(selector));
        }
    }

    #[test]
    fn labels_that_no_pool_declares_are_not_reported() {
        let text = pod("kubernetes.io/role: worker");
        begins_nothing(&super::RULE, "1.8", "1.9", &(text.clone() + &pool("a: b")));
        assert!(
            begins(&super::RULE, "1.8", "1.9", &(text + &pool("kubernetes.io/role: worker")))
                .contains("from 1.9 on")
        );
    }
}
