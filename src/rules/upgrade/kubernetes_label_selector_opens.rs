use std::collections::BTreeSet;

use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use objects::object::Object;
use lint::rule::On;
use scheduling::pod::{Expression, Origin, Pod};

rule! {
    /// ## What it does
    ///
    /// Looks for pods that select nodes by a label in the domains of Kubernetes which Karpenter passed over up to 1.8.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.8 a pod with such a key makes Karpenter pass it over. 1.9 lifted the restriction: from then on the pod is
    /// looked at like any other, and gets a node as soon as a NodePool declares the label. Where a pod stayed off
    /// Karpenter's nodes by means of such a label, it does so no more once a pool has it. Whether any pool has it is what
    /// `pod-no-matching-pool` tells; where none in the input does, this rule is silent.
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
    UPGRADE {
        name: "kubernetes-label-selector-opens",
        family: Family::Labels,
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(9),
        summary: "pods that were passed over for a label of Kubernetes are looked at",
        on: &[On::Workload],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| pod.may_ask_for_a_node()) else { return };
    let required = |expression: &Expression<'_>| !matches!(expression.origin, Origin::Preferred { .. });
    // A pod with another key that is restricted in every release is passed over as before.
    if pod.expressions().any(|expression| labels::refused_in_pods(expression.key) == Releases::ALL) {
        return;
    }
    let pools = context.inventory.pools();
    let mut said = BTreeSet::new();
    for expression in pod.expressions().filter(required) {
        let key = expression.key;
        let opens = labels::refused_in_pods(key) == Releases::until(8) && labels::well_known(key).is_empty();
        let wants = matches!(expression.operator, Operator::In | Operator::Exists | Operator::Gt | Operator::Lt);
        if !opens || !said.insert(key) || (wants && !pools.is_empty() && !pools.define(key)) {
            continue;
        }
        let needs = if wants { ", and gets a node where a NodePool declares the label" } else { "" };
        let message = format!("Karpenter no longer passes over this pod for `{key}`: it is looked at like any other{needs}");
        drafts.push(
            Draft::new(&RULE, Place::of_expression(expression), message)
                .help("declare the label on the NodePool that is to serve the pod; to keep pods off Karpenter's nodes, ask for `karpenter.sh/nodepool` with `DoesNotExist`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pod(selector: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  nodeSelector: {{{selector}}}\n")
    }

    fn pool(labels: &str) -> String {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    metadata: {{labels: {{{labels}}}}}\n    spec:\n      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}\n      requirements: []\n"
        )
    }

    #[test]
    fn the_domains_open_with_1_9() {
        let text = pod("node-role.kubernetes.io/worker: ''");
        insta::assert_snapshot!(begins(&super::RULE, "1.8", "1.9.0", &text), @"
        from 1.9 on
          6 |   nodeSelector: {node-role.kubernetes.io/worker: ''}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.nodeSelector [1.9-1.14]
          Karpenter no longer passes over this pod for `node-role.kubernetes.io/worker`: it is looked at like any other, and gets a node where a NodePool declares the label
          help: declare the label on the NodePool that is to serve the pod; to keep pods off Karpenter's nodes, ask for `karpenter.sh/nodepool` with `DoesNotExist`
        ");
        begins_nothing(&super::RULE, "1.0", "1.8", &text);
        begins_nothing(&super::RULE, "1.9.0", "1.14", &text);
        begins_nothing(&super::RULE, "1.14", "1.0", &text);
        for selector in ["kubernetes.io/os: linux", "example.com/a: b", "karpenter.sh/x: y", "kubernetes.io/hostname: a"] {
            begins_nothing(&super::RULE, "1.8", "1.9", &pod(selector));
        }
    }

    #[test]
    fn what_no_pool_declares_gets_no_node_after_either() {
        let text = pod("kubernetes.io/role: worker");
        begins_nothing(&super::RULE, "1.8", "1.9", &(text.clone() + &pool("a: b")));
        assert!(begins(&super::RULE, "1.8", "1.9", &(text + &pool("kubernetes.io/role: worker"))).contains("from 1.9 on"));
    }
}
