use cluster::index::Index;
use cluster::inventory::Inventory;
use std::collections::BTreeSet;

use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{PodAffinityTerm, TopologySpreadConstraint};
use objects::requirement::LabelRequirement;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Pods;

rule! {
    /// ## What it does
    ///
    /// Finds requirements with the operator `Exists` on a label of your own that no pod of the input selects or spreads over.
    ///
    /// ## Why it is bad
    ///
    /// `Exists` does not reserve the NodePool for pods that select the label: every pod that fits gets its node from the NodePool. If the
    /// pod selects no value, Karpenter gives the node a random number as the value of the label.
    ///
    /// ## Example
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: example.com/gpu, operator: Exists}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// A taint reserves the NodePool for the pods that tolerate it, and a label of the template lets them select it.
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels: {example.com/gpu: "true"}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints: [{key: example.com/gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have all pods, and `--complete` must say so. The policy does not look up pods, so the finding is only in the report of
    /// files.
    ///
    /// ## References
    ///
    /// - `Any` in `pkg/scheduling/requirement.go` of kubernetes-sigs/karpenter at v1.0.0 and v1.14.1
    /// - aws/karpenter-provider-aws#5537, #6058, #7636
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool requires a label that no pod selects, so its nodes get a random value",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let inventory = context.inventory;
    let sees_pods = context.is_text && inventory.is_complete() && !inventory.index::<Pods>().is_empty();
    let Some(pool) = NodePool::of(object).filter(|_| sees_pods) else { return };
    let is_own = |item: &LabelRequirement<'d>| {
        item.operator == "Exists"
            && labels::well_known(item.label()).is_empty()
            && !has_placeholder(item.key)
            && !inventory.index::<SelectedLabels>().contains(item.key)
    };
    let labelled: BTreeSet<&str> = pool.node_labels().map(|(key, _)| key).collect();
    for item in pool.requirements().parsed().filter(|item| is_own(item) && !labelled.contains(item.key)) {
        let message = format!(
            "no pod of this input selects `{}`: the requirement keeps no pods away from this NodePool, and its nodes get a random number as the value of the label",
            item.key
        );
        findings.push(
            Finding::new(&RULE, Place::value(item.item.node()), message)
                .help("set the label in `spec.template.metadata.labels`, and add a taint if the NodePool is for some pods only"),
        );
    }
}

/// The labels of nodes that pods select or spread over.
struct SelectedLabels;

impl Index for SelectedLabels {
    type Value<'d> = BTreeSet<&'d str>;

    fn compute<'d>(inventory: &Inventory<'d>) -> BTreeSet<&'d str> {
        let mut labels = BTreeSet::new();
        for pod in inventory.index::<Pods>() {
            labels.extend(pod.expressions().map(|expression| expression.key));
            let spreads = pod.spec().topology_spread_constraints();
            let spreads = spreads.filter_map(TopologySpreadConstraint::topology_key);
            let affinity = pod.spec().pod_affinity_terms().filter_map(PodAffinityTerm::topology_key);
            labels.extend(spreads.chain(affinity).filter_map(Node::as_str));
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::Settings;

    fn text(requirement: &str, pod: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{{requirement}}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec: {{containers: [], {pod}}}
"
        )
    }

    fn complete(text: &str) -> String {
        findings_with(&RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    const GPU: &str = "key: example.com/gpu, operator: Exists";

    #[test]
    fn reports_a_label_that_no_pod_selects() {
        let text = text(GPU, "nodeSelector: {example.com/other: a}");
        insta::assert_snapshot!(complete(&text), @"
          8 |       requirements: [{key: example.com/gpu, operator: Exists}]
            |                       ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          no pod of this input selects `example.com/gpu`: the requirement keeps no pods away from this NodePool, and its nodes get a random number as the value of the label
          help: set the label in `spec.template.metadata.labels`, and add a taint if the NodePool is for some pods only
        ");
        silent(&RULE, &text);
    }

    #[test]
    fn accepts_labels_that_pods_use() {
        for pod in [
            "nodeSelector: {example.com/gpu: a}",
            "topologySpreadConstraints: [{topologyKey: example.com/gpu, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
            "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: example.com/gpu}]}}",
        ] {
            assert_eq!(complete(&text(GPU, pod)), "", "{pod}");
        }
    }

    #[test]
    fn accepts_well_known_labels_and_other_operators() {
        for requirement in [
            "key: karpenter.k8s.aws/instance-local-nvme, operator: Exists",
            "key: '${KEY}', operator: Exists",
            "key: example.com/gpu, operator: In, values: [a]",
        ] {
            assert_eq!(complete(&text(requirement, "")), "", "{requirement}");
        }
        let labelled =
            text(GPU, "").replace("template:\n", "template:\n    metadata: {labels: {example.com/gpu: a}}\n");
        assert_eq!(complete(&labelled), "");
        let no_pod = text(GPU, "");
        assert_eq!(complete(no_pod.split("---").next().unwrap()), "");
    }
}
